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

Whatever is cancelled raises `CancelledError` besides. Four ports speak in the words of a room and stand with them:
`Describer` (`contract/runnable.py`), `Judge` (`evaluation/scoring/scorers.py`), `BatchRunner`
(`training/runners/job.py`) and `StepAbsorber` (`training/shelf.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """

    argv: Sequence[str]
    request: bytes
    workspace: Path
    read_only: Sequence[Path] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    limits: SandboxLimits = SandboxLimits()
    door: Path | None = None


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
