"""The seams of the house: each port has two implementations, or one and its shipped double.

| port | method | may raise |
| --- | --- | --- |
| `EventSink` | `emit` | anything: the sink is left out from then on |
| `CodeWriter` | `write` | `WriterFailed`, `ModelUnreachable`, `BudgetReached` |
| `Granter` | `grant` | `Interrupted` |
| `ExternalTool` | `spec`, `effects`, `version`, `missing` | nothing |
| `ExternalTool` | `call` | nothing: a failure is a value |
| `ToolSource` | `open` | `UserError` |
| `ToolSource` | `aclose` | nothing |
| `Purse` | `reserve` | `BudgetReached`, `Interrupted` |
| `Purse` | `limit`, `settle` | nothing |
| `Sandbox` | `run` | `OSError` when the process cannot be started |
| `RunStore` | `lease` | `LeaseHeld`, `PlaceError`, `UserError` |
| `RunStore` | `write`, `keep`, `renew` | `LeaseLost`, `PlaceError`; `write` also `StoreConflict` for a `Swap` |
| `RunStore` | `read`, `names`, `blob` | `PlaceError`; `blob` also `UserError` for one that is lost or damaged |
| `RunStore` | `release`, `close` | nothing |

Whatever is cancelled raises `CancelledError` besides. Four ports speak in the words of a room and stand with them:
`Describer` (`contract/runnable.py`), `Judge` (`evaluation/scoring/scorers.py`), `BatchRunner`
(`training/runners/job.py`) and `StepAbsorber` (`training/shelf.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from habilis.core.events import Event
from habilis.core.types import CallOutcome, Effects, GrantRequest, Purpose, ToolSpec
from habilis.core.usage import Amount, Ceiling


class EventSink(Protocol):
    """Observes a run. What it does or raises cannot change the run (`context.task.Events` sees to that)."""

    def emit(self, event: Event) -> None: ...


class CodeWriter(Protocol):
    """Turns a prompt into a reply that holds code, or calls of a tool.

    `write` returns the whole reply (the LAST ```python block in it is the code; for the purpose `calls` it is one JSON
    object per line) and raises `WriterFailed` when there is none to be had, `ModelUnreachable` when no further attempt
    can help.
    """

    name: str

    async def write(self, system: str, user: str, *, purpose: Purpose = "code") -> str: ...


class Granter(Protocol):
    """Asks a person whether a tool may have what it needs. None when nobody says so either way; counts as no.

    Raises `Interrupted` when the person ends the run instead of answering.
    """

    async def grant(self, request: GrantRequest) -> bool | None: ...


class ExternalTool(Protocol):
    """A tool that is no module of the library: an operation of an API, a tool of an MCP server, a search in documents.

    No generated code is in it, so it runs in our process or on its own server. `version` changes when what it does may
    have changed. `missing` says why it cannot work here, whatever it is called with. `call` never raises for a failure
    of the tool; whoever cancels it finds nothing of it left running.
    """

    @property
    def spec(self) -> ToolSpec: ...

    @property
    def effects(self) -> Effects: ...

    @property
    def version(self) -> str: ...

    def missing(self) -> tuple[str, ...]: ...

    async def call(self, arguments: Mapping[str, Any], *, workspace: Path) -> CallOutcome: ...


class ToolSource(Protocol):
    """Where external tools come from. Opened once for a task, closed in `finally`, also after a failed `open`.

    `open` raises `UserError` for what a person must mend first.
    """

    async def open(self) -> Sequence[ExternalTool]: ...

    async def aclose(self) -> None: ...


class Purse(Protocol):
    """What a request passes on its way out. `SpendingPurse`, and what stands for it in a task's own process."""

    @property
    def limits(self) -> Ceiling:
        """Tokens and money in all; without any, nothing need be set aside."""
        ...

    async def reserve(self, most: Amount) -> None:
        """Set aside what a request may come to at most. Raises `HabilisError` when nothing may be sent any more."""
        ...

    def settle(self, reserved: Amount, used: Amount) -> None:
        """The request is over: it had `reserved` set aside and took `used`."""
        ...


@dataclass(frozen=True)
class SandboxLimits:
    """Ceiling of one sandboxed process tree. Seconds, bytes, counts."""

    wall_s: float = 120.0
    cpu_s: int = 120
    memory_bytes: int = 1 << 30
    file_bytes: int = 256 << 20
    open_files: int = 256
    processes: int = 64
    output_bytes: int = 8 << 20
    disk_bytes: int = 1 << 30


@dataclass(frozen=True)
class SandboxJob:
    """One process to run: `argv` with `request` on a private pipe, confined to what is listed.

    `workspace` is its working folder and the only place that it may write; `read_only` are files and folders that
    it may read besides the system's libraries; `env` is its whole environment. The guest reads the request from the
    descriptor named by HABILIS_IN and writes the reply to the one named by HABILIS_OUT.

    `door` is a unix socket of a proxy (`runtime/egress/proxy.py`), the job's only way to the network; without it there
    is none. A level that could not hold the job to its door does not start it; one without walls has no use for one.
    `packages` are the folders among `read_only` that the guest will import from, the base environment's last.
    """

    argv: Sequence[str]
    request: bytes
    workspace: Path
    read_only: Sequence[Path] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    limits: SandboxLimits = SandboxLimits()
    door: Path | None = None
    packages: Sequence[Path] = ()


@dataclass(frozen=True)
class SandboxExit:
    """How a sandboxed process ended. `reply` is what came over the private pipe, None if nothing whole came.

    `stopped` says why the host ended it, if it did: `time`, `output` (reply too long), `printed` (too much text on
    stdout and stderr), `memory` or `disk` (of the whole process tree). `returncode` is 128 + the signal's number for a
    process that a signal ended.
    """

    reply: bytes | None
    returncode: int
    printed: str
    timed_out: bool = False
    over_output: bool = False
    seconds: float = 0.0
    stopped: str = ""


class Sandbox(Protocol):
    """Runs one process under confinement. `level` is what stands in every record (`bubblewrap`, `landlock`, `off`)."""

    level: str

    async def run(self, job: SandboxJob) -> SandboxExit: ...


@dataclass(frozen=True)
class Lease:
    """The right to write what `name` stands for, until it is given back or somebody else holds the next one.

    `owner` says who that is. `epoch` grows with every lease of the name: a write that bears an earlier one is refused,
    so that whoever was cut off and comes back changes nothing.
    """

    name: str
    owner: str
    epoch: int


@dataclass(frozen=True)
class Append:
    """Whole lines for the end of the log `name`, which need not be there."""

    name: str
    lines: bytes


@dataclass(frozen=True)
class Put:
    """The document `name` from now on; None removes it."""

    name: str
    content: bytes | None


@dataclass(frozen=True)
class Swap:
    """`after` in the place of `before` (None: nothing) under `name`, if that is what stands there."""

    name: str
    before: bytes | None
    after: bytes


Change = Append | Put | Swap


@dataclass(frozen=True)
class Unused:
    """Contents of a store that none of its documents refers to, as bytes by digest.

    `free` may go. What is `held` may stay in use: somebody who still has the right to write may have kept it for a
    document that is yet to come.
    """

    free: Mapping[str, int]
    held: Mapping[str, int]


class RunStore(Protocol):
    """Where runs are kept: logs and documents by name, contents by their digest, and leases.

    A name is a relative path with `/`, of a run's file for example: `first/tasks/7/tape.jsonl`. A log and a document
    are read alike. `FileStore` keeps each in the file of its name, `PostgresStore` in a database.
    """

    def lease(self, name: str, owner: str, *, over: str = "") -> Lease:
        """Hold `name`. One that ran out may be taken over, and one of the owner `over`, who is known to be dead."""
        ...

    def renew(self, lease: Lease) -> None:
        """Hold it for its full time again."""
        ...

    def release(self, lease: Lease) -> None:
        """Give it back: its epoch is over."""
        ...

    def write(self, lease: Lease, changes: Sequence[Change]) -> None:
        """Make these changes in their order; they are on the disk when this returns."""
        ...

    def read(self, name: str) -> bytes | None:
        """What stands under `name`; None where nothing does."""
        ...

    def names(self, under: str) -> list[str]:
        """All names that begin with `under`, in order."""
        ...

    def keep(self, lease: Lease, contents: Iterable[bytes]) -> list[str]:
        """Keep these contents; their names, SHA-256 in hexadecimal."""
        ...

    def blob(self, digest: str) -> bytes:
        """The content of that name."""
        ...

    def unused(self) -> Unused:
        """The contents that nothing refers to."""
        ...

    def remove(self, digests: Collection[str]) -> list[str]:
        """Remove those of these contents that are free now, whatever others keep meanwhile; returns which."""
        ...

    def close(self) -> None:
        """Let go of what it holds open, leases included as far as they end with their holder."""
        ...
