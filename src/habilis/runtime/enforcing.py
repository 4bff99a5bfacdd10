"""Puts a grant around one sandboxed call: the variables, paths, memory and hosts that it names, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.config import tell_granted
from habilis.contract.capabilities import NO_PROGRAMS, Grant
from habilis.contract.records import with_text
from habilis.core.locations import here
from habilis.core.masker import MASKER, Masker
from habilis.core.place import raise_place
from habilis.core.ports import SandboxJob
from habilis.core.types import CallError, CallOutcome, Traffic
from habilis.runtime.calls import CallSpec
from habilis.runtime.egress.cassette import NOT_RECORDED, Recorder, Recording, Replaying, Stored
from habilis.runtime.packages.environments import Environment
from habilis.sandbox.syscalls import seccomp

if TYPE_CHECKING:
    from habilis.runtime.egress.proxy import Proxy, ProxyDoor

Outcomes = dict[str, CallOutcome]
Runs = Callable[[SandboxJob, bool], Awaitable[Outcomes]]
_MIB = 1 << 20
MAX_REFUSED = 20
"""Refused hosts that an outcome names; a tool can ask for hosts without end."""
WITH_DOORS = frozenset({"bubblewrap", "landlock"})
"""Levels at which a tool reaches the granted hosts alone."""
FOR_ANY = frozenset({"landlock"})
"""Those of them where a filter is the only wall before the network: it stands there under the policy `any` alone."""
WITHOUT_WALLS = frozenset({"unconfined", "off"})
WITH_VIEW = frozenset({"bubblewrap"})
"""Levels at which a tool sees files where the task has them, wherever this machine has them."""


class Doors:
    """Doors of a proxy that is set up when the first one is needed; most runs need none.

    `inspect`: the tunnels of https are looked into.
    """

    def __init__(self, upstream: str | None = None, *, inspect: bool = False) -> None:
        self._upstream, self._inspect = upstream, inspect
        self._proxy: Proxy | None = None

    async def door(self, hosts: Sequence[str], *, traffic: Recorder | Stored | None = None) -> ProxyDoor:
        """A door to `hosts`. Raises ValueError for a host or an `upstream` that is none, or a package that lacks."""
        if self._proxy is None:
            from habilis.runtime.egress.proxy import Proxy

            self._proxy = Proxy(upstream=self._upstream)
        inspect = traffic.encrypted if isinstance(traffic, Stored) else self._inspect
        return await self._proxy.door(hosts, traffic=traffic, inspect=inspect)

    async def aclose(self) -> None:
        """Shut all of them."""
        if self._proxy is not None:
            await self._proxy.aclose()


async def under_grant(
    spec: CallSpec, job: SandboxJob, steps: Sequence[str], run: Runs, *, level: str, doors: Doors
) -> Outcomes:
    """The outcomes of `run` with `job` widened by the grant of `spec`. What was refused stands in each, secrets in
    none.

    `run` is told whether the job is wider than one without a grant; such a call needs an interpreter of its own.
    """
    grant, network = spec.grant, spec.network
    if isinstance(network, Replaying):
        return await _replayed(grant or Grant(), job, steps, run, level=level, doors=doors, network=network)
    if grant is None:
        return await run(job, False)
    if lacking := _cannot_be_held(grant, level):
        refusal = CallError(kind="denied", message=f"not started: {'; '.join(lacking)}")
        refused = tuple(dict.fromkeys((*grant.denied, *lacking)))
        return {steps[0]: CallOutcome(error=refusal, level=level, refused=refused)}
    values = grant.values()
    grant = grant.holding(values)
    if grant.empty:
        return {step: told(outcome, grant) for step, outcome in (await run(job, False)).items()}
    tell_granted(values)
    wider, secrets = _wider(job, grant, values), Masker(values)
    recorder = (
        Recorder(lambda data: MASKER.data(secrets.data(data)))
        if isinstance(network, Recording) and grant.network
        else None
    )
    async with AsyncExitStack() as opened:
        door = None
        if level in WITH_DOORS and (grant.network or (grant.watched and level not in FOR_ANY)):
            try:
                door = await opened.enter_async_context(await doors.door(grant.network, traffic=recorder))
            except (ValueError, OSError) as error:
                return _no_door(steps, level, error, grant.denied)
            wider = replace(wider, door=door.socket)
        outcomes = await run(wider, True)
        refused = tuple(f"network {host}: not granted" for host in door.refused[:MAX_REFUSED]) if door else ()
    found = {step: told(secrets.outcome(outcome), grant, refused) for step, outcome in outcomes.items()}
    if recorder is not None and isinstance(network, Recording) and door is not None:
        traffic = await asyncio.to_thread(_kept, recorder, network)
        found = {step: outcome.model_copy(update={"traffic": traffic}) for step, outcome in found.items()}
    return found


async def _replayed(
    grant: Grant,
    job: SandboxJob,
    steps: Sequence[str],
    run: Runs,
    *,
    level: str,
    doors: Doors,
    network: Replaying,
) -> Outcomes:
    """The outcomes of `run` behind a door that leads nowhere: a fixture answers. No granted variable is given, each
    holds its own name in brackets, as the record has it."""
    if level not in WITH_DOORS:
        text = f"not started: at the level {level} recorded traffic cannot be given again, in a sandbox it can"
        return {steps[0]: CallOutcome(error=CallError(kind="unavailable", message=text), level=level)}
    kept = tuple(reason for reason in grant.denied if reason == NO_PROGRAMS)
    grant = grant.model_copy(update={"network": (), "env": (), "watched": False, "denied": kept})
    if lacking := _cannot_be_held(grant, level):
        refusal = CallError(kind="denied", message=f"not started: {'; '.join(lacking)}")
        return {steps[0]: CallOutcome(error=refusal, level=level, refused=lacking)}
    values = {name: f"[{name}]" for name in network.env}
    secrets = Masker(values)
    stored = Stored(network.fixture, secrets.data)
    try:
        opened = await doors.door((), traffic=stored)
    except (ValueError, OSError) as error:
        return _no_door(steps, level, error, ())
    async with opened as door:
        outcomes = await run(replace(_wider(job, grant, values), door=door.socket), True)
    if not stored.unknown:
        return {step: secrets.outcome(outcome) for step, outcome in outcomes.items()}
    missed = CallError(kind="crashed", message=f"{NOT_RECORDED}: {next(iter(stored.unknown))}")
    return {step: outcome.model_copy(update={"error": missed, "output": None}) for step, outcome in outcomes.items()}


def _wider(job: SandboxJob, grant: Grant, values: Mapping[str, str]) -> SandboxJob:
    """`job` with what `grant` gives it, hosts left out, and with the variables `values`."""
    limits = job.limits
    if grant.memory_mb:
        limits = replace(limits, memory_bytes=grant.memory_mb * _MIB)
    read_only = (*job.read_only, *map(Path, grant.read))
    return replace(job, env={**job.env, **values}, read_only=read_only, limits=limits)


def _no_door(steps: Sequence[str], level: str, error: ValueError | OSError, refused: tuple[str, ...]) -> Outcomes:
    raise_place(error, ours=True)
    refusal = CallError(kind="unavailable", message=f"not started: no way to granted hosts: {error}")
    return {steps[0]: CallOutcome(error=refusal, level=level, refused=refused)}


def _kept(recorder: Recorder, network: Recording) -> Traffic:
    """What was recorded, stored; where it cannot be, why not."""
    fixture = recorder.result()
    if isinstance(fixture, str):
        return Traffic(lost=fixture)
    try:
        digests, why_not = network.keep({"traffic": fixture.dump()})
    except OSError as error:
        return Traffic(lost=f"it could not be kept: {error.strerror}")
    return Traffic(lost=why_not) if why_not else Traffic(digest=digests["traffic"])


def _cannot_be_held(grant: Grant, level: str) -> tuple[str, ...]:
    """Why a call with `grant` is not started: programs that its tool may not start, hosts at a level without doors."""
    programs = (NO_PROGRAMS,) if NO_PROGRAMS in grant.denied else ()
    if level in WITH_DOORS - FOR_ANY | WITHOUT_WALLS or (level in FOR_ANY and grant.any_host):
        return programs
    why = f"at the level {level} a tool has hosts only where capabilities.network is any, at bubblewrap by a list too"
    return (*programs, *(f"network {host}: {why}" for host in grant.network))


def told(outcome: CallOutcome, grant: Grant, refused: tuple[str, ...] = ()) -> CallOutcome:
    """`outcome` with what it was given and what not. A failure for want of that is `denied`, and names the setting."""
    lacking = (*grant.denied, *refused)
    noted = outcome.model_copy(update={"granted": grant.shown(), "refused": lacking})
    if not lacking:
        return noted
    said = outcome.error.message if outcome.error is not None else _own_error(outcome.output)
    if said is None or not _for_want_of_it(outcome, grant, refused):
        return noted
    reasons = "; ".join(lacking)
    asked = " (settings: capabilities)" if refused else ""
    old = outcome.error or CallError(kind="denied", message="")
    error = old.model_copy(update={"kind": "denied", "message": f"it lacks {reasons}{asked}; {said}"})
    return noted.model_copy(update={"error": error, "output": None})


def _for_want_of_it(outcome: CallOutcome, grant: Grant, refused: tuple[str, ...]) -> bool:
    """Whether a failed call failed because something was refused, as far as that shows."""
    error = outcome.error
    if refused or (error is not None and error.kind == "denied"):
        return True
    if error is not None and error.kind not in ("crashed", "unavailable"):
        return False
    text = error.message if error is not None else _own_error(outcome.output) or ""
    offline = any(reason.startswith("network ") for reason in grant.denied) and error is None
    names = [reason.partition(": ")[0].partition(" ")[2] for reason in grant.denied]
    return offline or any(name and name in text for name in names)


def _own_error(output: object) -> str | None:
    """What a tool's output says in its `error` field, if it is set."""
    error = output.get("error") if isinstance(output, dict) else None
    return str(error) if error else None


def request_for(spec: CallSpec, steps: Sequence[str], source: str, found: Environment, *, level: str) -> dict[str, Any]:
    """What the guest is told of a call."""
    unsealed = level in WITHOUT_WALLS or (spec.grant is not None and spec.grant.subprocess)
    return {
        "name": spec.tool.name,
        "source": source,
        "packages": [str(path) for path in found.paths],
        "steps": list(steps),
        "arguments": spec.given if level in WITH_VIEW else with_text(spec.given, _here),
        "files": [[str(path), str(here(path))] for path in spec.files],
        "workspace": str(spec.workspace),
        "sealed": "" if unsealed else seccomp.seal(),
    }


def _here(text: str) -> str:
    """An argument that is the path of a task's file, as this machine has it; any other stays as it is."""
    place = here(text)
    return str(place) if place != Path(text) else text
