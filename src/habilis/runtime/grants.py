"""Decides what a tool is given of what it needs: by settings, and where they say so by asking a person, once."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from habilis.config import CapabilitiesSettings, environment
from habilis.contract.bindings import Code
from habilis.contract.capabilities import NO_PROGRAMS, NOT_SET, UNKNOWN_HOST, Capabilities, Grant, Need, inside
from habilis.contract.constructs import constructs
from habilis.contract.contract import ContractError, read_contract
from habilis.contract.hosts import ANY, HostGrant, HostGrants
from habilis.contract.inference import refused_in
from habilis.core.errors import Interrupted, UserError
from habilis.core.events import Event, GrantDecided
from habilis.core.parsing import tree_of
from habilis.core.types import CallOutcome, GrantRequest

if TYPE_CHECKING:
    from habilis.core.ports import Granter
    from habilis.library import Tool
    from habilis.models.tape import Tape

_SUSPICIOUS = re.compile(
    r"habilis|__main__|ctypes|cffi|\bpip\b|ensurepip|setprofile|settrace|monitoring|get_objects|get_referrers|_getframe"
    r"|_current_frames|addaudithook|__builtins__|__subclasses__|__globals__|\beval\b|\bexec\b|fork|install|['\"]/"
)
"""A source without any of these holds no construct that is refused, and need not be parsed."""


class Grants:
    """The decisions of one task. An answer of the person counts for a version of a tool and one need, while the task
    lasts; it stands on the tape, so that a resumed task does not ask again."""

    def __init__(
        self,
        settings: CapabilitiesSettings | None = None,
        *,
        env_allow: Sequence[str] = (),
        files: Sequence[Path] = (),
        granter: Granter | None = None,
        tape: Tape | None = None,
        emit: Callable[[Event], object] = lambda event: None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """`files` are the task's, which every tool may read; `environ` is where variables are looked for and taken
        from, as it is now. Raises `UserError` for a host that is none."""
        self.settings = settings or CapabilitiesSettings()
        self._allowed_names, self._granter, self._tape, self._emit = frozenset(env_allow), granter, tape, emit
        self.listed = _hosts(self.settings.network_list)
        self._files = [os.path.realpath(path) for path in files]
        self._environ = environment() if environ is None else dict(environ)
        self._said: dict[str, bool] = {}
        self._learnt: dict[str, Capabilities] = {}
        self._known: dict[tuple[str, Capabilities], Grant] = {}
        self._turns: dict[str, asyncio.Lock] = {}
        self._inspected: dict[str, tuple[Capabilities, tuple[str, ...]]] = {}
        self._interrupted = False

    async def of(self, tool: Tool) -> Grant:
        """What `tool` is given. May ask; raises `Interrupted` when the person ends the run instead of answering."""
        needs, _ = self._seen(tool)
        return await self.decide(tool.name, tool.version, needs, description=tool.description)

    async def decide(self, name: str, version: str, needs: Capabilities, *, description: str = "") -> Grant:
        """What a version of a tool is given of `needs`, those that its runs have shown among them."""
        key = f"{name}@{version}"
        if key in self._learnt:
            needs = needs.with_inferred(self._learnt[key])
        if not needs.needs and not needs.unknown_host:
            return Grant()
        async with self._turns.setdefault(key, asyncio.Lock()):
            if (key, needs) not in self._known:
                asked = await self._ask(name, version, needs, description)
                grant = self._known[key, needs] = self._decided(key, needs)
                by: Literal["settings", "person"] = "person" if asked else "settings"
                if not grant.empty or grant.denied or grant.subprocess:
                    shown = grant.shown()
                    self._emit(GrantDecided(tool=name, version=version, granted=shown, denied=grant.denied, by=by))
            return self._known[key, needs]

    def needs_of(self, tool: Tool) -> Capabilities:
        """What a tool of a library needs, read from its source where its manifest does not say."""
        return self._seen(tool)[0]

    def faults_of(self, tool: Tool) -> tuple[str, ...]:
        """What stands in a tool's source and should not, with its lines; nothing where settings only warn of it."""
        return self._seen(tool)[1]

    def learn(self, name: str, version: str, outcome: CallOutcome, arguments: object) -> Capabilities:
        """Take in what a run was refused: from now on the tool asks for that too. Returns what is new."""
        key = f"{name}@{version}"
        before = self._learnt.get(key, Capabilities())
        found = refused_in(outcome, arguments).beyond(before)
        if found.needs:
            self._learnt[key] = before.with_inferred(found)
        return found

    def missing(self, tool: Tool) -> tuple[str, ...]:
        """Why `tool` cannot be of use here, whoever is asked: a secret, a grant, a path that it fails without."""
        needs, faults = self._seen(tool)
        if faults:
            return faults
        grant = self._decided(f"{tool.name}@{tool.version}", needs, hoping=True)
        lost = {Need("env", name) for name in needs.env if name not in (*grant.env, *needs.optional)}
        lost |= {Need("read", p) for p in needs.read if str(Need("read", p)) not in needs.inferred} - {
            Need("read", p) for p in needs.read if self._readable(p) or p in grant.read
        }
        if (needs.network or needs.unknown_host) and not (grant.network or grant.watched):
            lost |= {Need("network", host) for host in needs.network}
            if needs.unknown_host:
                return (self._host_reason(UNKNOWN_HOST),)
        if needs.subprocess and not grant.subprocess:
            lost.add(Need("subprocess"))
        return tuple(self._reason(need) for need in needs.needs if need in lost)

    def refusals(self, name: str, version: str, needs: Capabilities) -> tuple[str, ...]:
        """What of `needs` is refused, with the reason, even if every open question were answered with yes."""
        return self._decided(f"{name}@{version}", needs, hoping=True).denied

    def widened(self, key: str, now: Capabilities, before: Capabilities) -> tuple[str, ...]:
        """Why a new version may not need more than the one before: what it asks for beyond that and settings refuse.

        What a person can be asked about is refused here too: a better version does not get more by the way.
        """
        more = now.beyond(before)
        grant = self._decided(key, more)
        lost = [need for need in more.needs if need.kind == "env" and need.name in more.optional]
        kept = {str(need) for need in lost}
        hidden = (self._host_reason(UNKNOWN_HOST),) if more.unknown_host and not grant.network else ()
        return (*(reason for reason in grant.denied if reason.partition(": ")[0] not in kept), *hidden)

    def faults(self, source: str, needs: Capabilities) -> tuple[str, ...]:
        """What stands in a source and should not, with its lines."""
        return _faults(source, needs)

    # --- inside

    def _seen(self, tool: Tool) -> tuple[Capabilities, tuple[str, ...]]:
        """What a tool of a library needs, and why its source is refused; read once for each version."""
        if tool.version not in self._inspected:
            self._inspected[tool.version] = self._inspect(tool)
        return self._inspected[tool.version]

    def _inspect(self, tool: Tool) -> tuple[Capabilities, tuple[str, ...]]:
        needs = tool.manifest.capabilities
        if needs.timeout_s is None and tool.timeout_s is not None:
            needs = needs.model_copy(update={"timeout_s": tool.timeout_s})
        try:
            if not tool.manifest.inspected:  # of before anyone looked for needs
                needs = read_contract(tool.source()).capabilities
            return needs, _faults_of(tool.path, tool.version, needs) if self.settings.constructs == "refuse" else ()
        except (OSError, UnicodeDecodeError, ContractError):
            return needs, ()

    async def _ask(self, name: str, version: str, needs: Capabilities, description: str) -> bool:
        """Put what is open to the person, all in one question. Whether anyone answered."""
        key = f"{name}@{version}"
        open_needs = [need for need in needs.needs if self._is_open(key, need)]
        if not open_needs or self._granter is None:
            return False
        if self._interrupted:
            raise Interrupted("interrupted while a question was open; resume to answer it")
        wanted = tuple(str(need) for need in open_needs)
        try:
            said = await self._granter.grant(
                GrantRequest(tool=name, version=version, needs=wanted, description=description)
            )
        except Interrupted:
            self._interrupted = True
            raise
        for need in open_needs:
            self._said[_question(key, need)] = bool(said)
            if self._tape is not None and said is not None:
                self._tape.answered(_question(key, need), "yes" if said else "no")
        return said is not None

    def _is_open(self, key: str, need: Need) -> bool:
        """Whether a person has to say what becomes of `need`."""
        asked_about = need.kind == "network" and self.settings.network == "ask"
        return asked_about and self.listed.common(need.name) != (need.name,) and self._answer(key, need) is None

    def _answer(self, key: str, need: Need) -> bool | None:
        """What the person said, now or before a resume."""
        question = _question(key, need)
        if question not in self._said and self._tape is not None and (text := self._tape.answer(question)) is not None:
            self._said[question] = text == "yes"
        return self._said.get(question)

    def _decided(self, key: str, needs: Capabilities, *, hoping: bool = False) -> Grant:
        """The grant for `needs`, with all answers in. `hoping`: as if every open question were answered with yes."""
        rules = self.settings
        denied: list[str] = []
        network: list[str] = []
        for host in needs.network:
            given = self._given_hosts(key, host, hoping)
            network += given
            denied += [] if given else [self._reason(Need("network", host))]
        if needs.unknown_host:
            listed = map(str, self.listed.entries) if rules.network in ("listed", "ask") else ()
            network += [ANY] if rules.network == "any" else listed
        read = [path for path in needs.read if not self._readable(path)]
        given_paths = [path for path in read if self._path_listed(path)]
        denied += [self._reason(Need("read", path)) for path in read if path not in given_paths]
        env = [name for name in needs.env if name in self._allowed_names and self._environ.get(name)]
        denied += [self._reason(Need("env", name)) for name in needs.env if name not in env]
        subprocess = needs.subprocess and rules.subprocess == "allow"
        denied += [self._reason(Need("subprocess"))] if needs.subprocess and not subprocess else []
        for what, wanted, most in (
            ("timeout", needs.timeout_s, rules.max_timeout_s),
            ("memory", needs.memory_mb, rules.max_memory_mb),
        ):
            if wanted is not None and wanted > most:
                setting = "max_timeout_s" if what == "timeout" else "max_memory_mb"
                denied.append(f"{what} {wanted:g}: cut to {most:g} (capabilities.{setting})")
        return Grant(
            network=tuple(dict.fromkeys(network)),
            read=tuple(given_paths),
            env=tuple(env),
            subprocess=subprocess,
            timeout_s=min(needs.timeout_s, rules.max_timeout_s) if needs.timeout_s else None,
            memory_mb=min(needs.memory_mb, rules.max_memory_mb) if needs.memory_mb else None,
            watched=needs.unknown_host and not network and rules.network == "ask" and self._granter is not None,
            any_host=bool(network) and rules.network == "any",
            denied=tuple(denied),
        ).decided_on(self._environ)

    def _given_hosts(self, key: str, host: str, hoping: bool) -> Sequence[str]:
        rule = self.settings.network
        if rule == "any":
            return (host,)
        if rule == "deny":
            return ()
        if rule == "ask":
            need = Need("network", host)
            hopeful = hoping and self._granter is not None and self._answer(key, need) is None
            if self._answer(key, need) or hopeful:
                return (host,)
        return self.listed.common(host)

    def _readable(self, path: str) -> bool:
        """Whether every tool of the task may read `path`, being one of its files."""
        real = os.path.realpath(path)
        return any(inside(real, folder) for folder in self._files)

    def _path_listed(self, path: str) -> bool:
        """Whether settings give `path`: as it is written, and where its links lead."""
        real = os.path.realpath(path)
        roots = [os.path.realpath(root) for root in self.settings.read_list]
        return Path(real).exists() and any(inside(real, root) for root in roots)

    def _reason(self, need: Need) -> str:
        """Why `need` is not given, with the setting that would."""
        if need.kind == "network":
            return self._host_reason(str(need))
        if need.kind == "env":
            allowed = need.name in self._allowed_names
            why = NOT_SET if allowed else "not in sandbox.env_allow"
        elif need.kind == "read":
            why = "not below capabilities.read_list, or not there"
        else:
            return NO_PROGRAMS
        return f"{need}: {why}"

    def _host_reason(self, need: str) -> str:
        rule = self.settings.network
        if rule == "deny":
            return f"{need}: capabilities.network is deny"
        if rule == "listed":
            return f"{need}: not in capabilities.network_list"
        if self._granter is not None:
            return f"{need}: not allowed when asked (capabilities.network_list needs no asking)"
        return f"{need}: nobody is there to be asked; put it into capabilities.network_list"


def _question(key: str, need: Need) -> str:
    """Under which name an answer stands on the tape."""
    return f"grant {key} {need}"


def _hosts(listed: Sequence[str]) -> HostGrants:
    try:
        return HostGrants(tuple(dict.fromkeys(map(HostGrant.meant, listed))))
    except ValueError as error:
        raise UserError(f"capabilities.network_list: {error}") from None


@lru_cache(maxsize=4096)
def _faults_of(path: Path, version: str, needs: Capabilities) -> tuple[str, ...]:
    """What stands in the source of `version` of a tool and should not; looked at once for all tasks of a process."""
    source = path.read_text(encoding="utf-8")
    if not _SUSPICIOUS.search(source):
        return ()
    anywhere = needs.model_copy(update={"network": (ANY,)})  # that it does not say where is no fault any more
    return _faults(source, anywhere)


def _faults(source: str, needs: Capabilities) -> tuple[str, ...]:
    tree = tree_of(source)  # what does not parse does not run
    return tuple(str(found) for found in constructs(Code.of(tree), needs)) if tree is not None else ()
