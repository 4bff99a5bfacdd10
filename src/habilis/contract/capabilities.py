"""What a tool needs, and what it was given: frozen, JSON-plain, without a single value of a secret."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple, get_args

from pydantic import PrivateAttr, model_validator

from habilis.config import environment
from habilis.contract.hosts import ANY, HostGrant
from habilis.core.types import Frozen

Kind = Literal["network", "read", "env", "subprocess", "timeout_s", "memory_mb"]
KINDS: tuple[str, ...] = get_args(Kind)
MAX_ENTRIES = 50
MAX_TIMEOUT_S, MAX_MEMORY_MB = 3_600.0, 1 << 20
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
OURS = re.compile(r"HABILIS_|LD_|PYTHON|(?:https?|all|no)_proxy$", re.IGNORECASE)
"""Variables that are the host's own affair: how it starts a tool, and how the tool reaches the network."""
NO_PROGRAMS = "subprocess: capabilities.subprocess is deny"
"""The reason for which a tool is not run at all: without its programs it does half of what it should."""
UNKNOWN_HOST = "network: unknown host"
NOT_SET = "not set in the environment"


class Malformed(ValueError):
    """A declaration that cannot be understood; the text says what to write instead."""


class Need(NamedTuple):
    """One thing that a tool needs. As text `network example.org`: so it stands in events, records and questions."""

    kind: Kind
    name: str = ""

    def __str__(self) -> str:
        unit = {"timeout_s": "timeout {} s", "memory_mb": "memory {} MiB", "subprocess": "subprocess"}
        return unit.get(self.kind, f"{self.kind} {{}}").format(self.name)


class Capabilities(Frozen):
    """What a tool needs beside the files of its task. Asks, and gives nothing.

    `network` are patterns of hosts, `read` absolute paths, `env` names of variables. `inferred` are those needs, as
    text, that its writer did not declare but its source or its first run shows; `optional` the names among `env` that
    it can do without. `unknown_host`: it reaches for the network, and nothing says where.
    """

    network: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    subprocess: bool = False
    timeout_s: float | None = None
    memory_mb: int | None = None
    unknown_host: bool = False
    optional: tuple[str, ...] = ()
    inferred: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _as_stored_before(cls, data: Any) -> Any:
        """Older manifests hold whatever lists the writer gave, under any key."""
        known = cls.__pydantic_fields__
        if isinstance(data, Mapping) and data.keys() - known.keys():
            return {key: value for key, value in data.items() if key in known}
        return data

    @property
    def needs(self) -> tuple[Need, ...]:
        """All of it, one by one."""
        found = [Need("network", host) for host in self.network]
        found += [Need("read", path) for path in self.read]
        found += [Need("env", name) for name in self.env]
        found += [Need("subprocess")] if self.subprocess else []
        found += [Need("timeout_s", f"{self.timeout_s:g}")] if self.timeout_s is not None else []
        found += [Need("memory_mb", str(self.memory_mb))] if self.memory_mb is not None else []
        return tuple(found)

    def shown(self) -> tuple[str, ...]:
        """Each need as text, with the word that says who found it."""
        rows = [f"{need} ({'inferred' if str(need) in self.inferred else 'declared'})" for need in self.needs]
        return (*rows, f"{UNKNOWN_HOST} (inferred)") if self.unknown_host else tuple(rows)

    def beyond(self, before: Capabilities) -> Capabilities:
        """What this asks for that `before` did not."""
        more_time = self.timeout_s is not None and self.timeout_s > (before.timeout_s or 0)
        more_memory = self.memory_mb is not None and self.memory_mb > (before.memory_mb or 0)
        reached = bool(before.network) or before.unknown_host
        return Capabilities(
            network=tuple(
                n
                for n in self.network
                if not any(HostGrant.read(b).includes(HostGrant.read(n)) for b in before.network)
            ),
            read=tuple(n for n in self.read if not any(inside(n, b) for b in before.read)),
            env=tuple(n for n in self.env if n not in before.env),
            subprocess=self.subprocess and not before.subprocess,
            timeout_s=self.timeout_s if more_time else None,
            memory_mb=self.memory_mb if more_memory else None,
            unknown_host=self.unknown_host and not reached,
            optional=self.optional,
        )

    def with_inferred(self, found: Capabilities) -> Capabilities:
        """This, and what was found out beside it. What is declared of a kind stands; nothing is found twice."""
        more = found.beyond(self)
        added = [str(need) for need in more.needs]
        return together(self, more).model_copy(
            update={
                "inferred": tuple(dict.fromkeys([*self.inferred, *added])),
                "optional": tuple(n for n in found.optional if n in more.env),
                "unknown_host": self.unknown_host or (found.unknown_host and not self.network and not more.network),
            }
        )


class Grant(Frozen):
    """What one version of a tool is given for a call: kinds and names, never values. `denied` are reasons, as text.

    `any_host`: its hosts are given by a policy that gives any. It knows which environment it was decided on, and takes
    the values of its variables from there (`values`); that is neither written nor shown.
    """

    network: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    subprocess: bool = False
    timeout_s: float | None = None
    memory_mb: int | None = None
    watched: bool = False
    any_host: bool = False
    denied: tuple[str, ...] = ()
    _variable: Callable[[str], str | None] | None = PrivateAttr(default=None)

    @property
    def empty(self) -> bool:
        """Whether the call runs exactly as one without a grant, its time limit aside."""
        return not (self.network or self.read or self.env or self.memory_mb or self.watched)

    def shown(self) -> tuple[str, ...]:
        """Each thing given as text."""
        return tuple(
            str(need) for need in Capabilities(**self.model_dump(exclude={"watched", "any_host", "denied"})).needs
        )

    def decided_on(self, environ: Mapping[str, str]) -> Grant:
        """This, with the values of its variables to come from `environ`."""
        grant = self.model_copy()
        if grant.env:  # what holds no value needs none, and stays equal to any other of its kind
            grant._variable = lambda name: environ.get(name)  # unlike a bound method no pickle can hold it
        return grant

    def values(self) -> dict[str, str]:
        """Its variables that are set, from the environment that it was decided on, else from that of the process."""
        variable = self._variable or environment().get
        return {name: value for name in self.env if (value := variable(name))}

    def holding(self, values: Mapping[str, str]) -> Grant:
        """This, as far as `values` hold its variables: what is not set was not given, whoever decided it."""
        lost = tuple(f"env {name}: {NOT_SET}" for name in self.env if name not in values)
        kept = tuple(name for name in self.env if name in values)
        return self.model_copy(update={"env": kept, "denied": (*self.denied, *lost)}) if lost else self


def together(*all_of: Capabilities) -> Capabilities:
    """What several tools need, as one."""
    timeouts = [one.timeout_s for one in all_of if one.timeout_s is not None]
    memories = [one.memory_mb for one in all_of if one.memory_mb is not None]
    return Capabilities(
        network=_once(one.network for one in all_of),
        read=_once(one.read for one in all_of),
        env=_once(one.env for one in all_of),
        subprocess=any(one.subprocess for one in all_of),
        timeout_s=max(timeouts, default=None),
        memory_mb=max(memories, default=None),
        unknown_host=any(one.unknown_host for one in all_of),
        optional=_once(one.optional for one in all_of),
        inferred=_once(one.inferred for one in all_of),
    )


def inside(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or lies in it; both absolute and in normal form."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def declared(given: object) -> Capabilities:
    """The capabilities that a tool's meta data declare. Raises `Malformed` with what to write instead."""
    if given is None:
        return Capabilities()
    if not isinstance(given, Mapping):
        raise Malformed('must be a dict such as {"network": ["api.example.org"], "env": ["API_TOKEN"]}')
    for key in given:
        if key not in KINDS:
            near = difflib.get_close_matches(str(key), KINDS, 1, 0.6)
            hint = f"did you mean {near[0]!r}?" if near else f"the keys are {', '.join(KINDS)}"
            raise Malformed(f"has no key {key!r}; {hint}")
    subprocess = given.get("subprocess") or False
    if not isinstance(subprocess, bool):
        raise Malformed('["subprocess"] must be True or False')
    return Capabilities(
        network=_checked(given, "network", _host),
        read=_checked(given, "read", _path),
        env=_checked(given, "env", _name),
        subprocess=subprocess,
        timeout_s=seconds(given.get("timeout_s"), '["timeout_s"]'),
        memory_mb=_megabytes(given.get("memory_mb")),
    )


def seconds(value: object, what: str) -> float | None:
    """A time limit. Raises `Malformed`."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= MAX_TIMEOUT_S:
        raise Malformed(f"{what} must be a number of seconds up to {MAX_TIMEOUT_S:g}")
    return float(value)


def _megabytes(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 64 <= value <= MAX_MEMORY_MB:
        raise Malformed(f'["memory_mb"] must be a whole number of MiB from 64 to {MAX_MEMORY_MB}')
    return value


def _checked(given: Mapping[Any, Any], kind: str, check: Any) -> tuple[str, ...]:
    values = given.get(kind) or ()
    listed = [values] if isinstance(values, str) else values
    if not isinstance(listed, (list, tuple, set, frozenset)) or not all(isinstance(v, str) for v in listed):
        raise Malformed(f'["{kind}"] must be a list of strings')
    if len(listed) > MAX_ENTRIES:
        raise Malformed(f'["{kind}"] has more than {MAX_ENTRIES} entries')
    ordered = listed if isinstance(listed, (list, tuple)) else sorted(listed)
    return tuple(dict.fromkeys(check(value) for value in ordered))


def _host(text: str) -> str:
    try:
        return str(HostGrant.meant(text))
    except ValueError as error:
        raise Malformed(f'["network"]: {error}; for a tool that is given addresses write "{ANY}"') from None


def _path(text: str) -> str:
    if not text.startswith("/") or "\0" in text or len(text) > 4_096:
        raise Malformed(f'["read"]: {text[:80]!r} is not an absolute path; files that a call names need no capability')
    normal = os.path.normpath(text).replace("//", "/", 1)
    if normal == "/":
        raise Malformed('["read"]: "/" is everything; name the folders that the tool needs')
    return normal


def _name(text: str) -> str:
    if not _ENV_NAME.fullmatch(text):
        raise Malformed(f'["env"]: {text[:80]!r} is not the name of an environment variable')
    if OURS.match(text):
        raise Malformed(f'["env"]: {text} is set for every tool by the host and cannot be asked for')
    return text


def _once(lists: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for items in lists for item in items))
