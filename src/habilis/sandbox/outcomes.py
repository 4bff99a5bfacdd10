"""From how a sandboxed process ended to what its tool call came to."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from habilis.core.ports import SandboxExit, SandboxJob
from habilis.core.types import CallError, CallOutcome
from habilis.sandbox.ownership.workspace import Scrubber, shown
from habilis.sandbox.processes.frames import frames_of
from habilis.sandbox.processes.walls import system_paths

_MIB = 1 << 20
_OWN = ("/dev", "/proc")
_PRINTED_HINT = 600
_MESSAGE, _NAME = 8_000, 4_096
"""Characters of a reported failure: more than the guest ever says, so that only a forged one is cut."""


class NotStarted(Exception):
    """Of a call nothing ran, not a line of its tool: the place may be to blame, or what this call was given."""


def outcomes_of(
    ended: SandboxExit, job: SandboxJob, steps: Sequence[str], made: tuple[str, ...], *, shared: bool, level: str
) -> dict[str, CallOutcome]:
    """The outcome of each step that was reached. `shared`: other calls worked in the same workspace meanwhile, so a
    changed file counts as made only when the tool itself says that it wrote it. Raises `NotStarted`."""
    scrub = Scrubber(job.workspace)
    printed = scrub.text(ended.printed)
    started, frames = frames_of(ended.reply or b"")
    found: dict[str, CallOutcome] = {}
    for step in steps:
        frame = frames.get(step)
        error, output = None, None
        if frame is None:
            error = ending(ended, job, started, printed)
        elif "error" in frame:
            error = reported(frame["error"], job, scrub)
        else:
            output = scrub.value(frame["result"])
        written = set(map(shown, names(frame, "written")))
        found[step] = CallOutcome(
            output=output,
            error=error,
            printed=printed,
            opened=names(frame, "opened"),
            made=tuple(name for name in made if not shared or frame is None or name in written),
            seconds=ended.seconds,
            level=level,
        )
        if error is not None:
            break
    return found


def names(frame: dict[str, Any] | None, key: str) -> tuple[str, ...]:
    """A list of strings out of a frame, whatever the frame really holds."""
    value = (frame or {}).get(key)
    return tuple(name for name in value if isinstance(name, str)) if isinstance(value, list) else ()


def reported(error: Any, job: SandboxJob, scrub: Scrubber) -> CallError:
    """The failure that the guest reports, with texts scrubbed.

    A path that lies nowhere that a tool may look is `denied` at every level, whether or not something is there: the
    back ends differ in what they let a tool find out.
    """
    try:
        found = CallError.model_validate(error)
    except ValidationError:
        return CallError(kind="bad_output", message="the tool sent a reply that is none")
    path = found.missing_file
    hidden = path is not None and found.kind in ("crashed", "denied") and not visible(path, job)
    message = found.message if len(found.message) <= _MESSAGE else found.message[:_MESSAGE] + " …"
    if hidden and found.kind == "crashed":
        message = f"a tool sees its task's files and its working folder, and this path is neither; {message}"
    keep = path is not None and (hidden or found.kind == "crashed")
    return found.model_copy(
        update={
            "kind": "denied" if hidden else found.kind,
            "message": scrub.text(message),
            "exception": found.exception and found.exception[:_NAME],
            "missing_file": scrub.text(path[:_NAME]) if keep and path is not None else None,
        }
    )


def visible(path: str, job: SandboxJob) -> bool:
    """Whether `path`, relative ones from the workspace, lies where a tool may look."""
    place = Path(os.path.normpath(job.workspace / path))
    roots = (job.workspace, job.workspace.resolve(), *job.read_only, *map(Path, _OWN), *system_paths())
    return any(place.is_relative_to(root) for root in roots)


def ending(ended: SandboxExit, job: SandboxJob, started: bool, printed: str) -> CallError:
    """Why there is no reply: the host stopped the tool, a limit or a signal did, or it left by itself.

    Raises `NotStarted`.
    """
    limits = job.limits
    stopped = {
        "time": ("timeout", f"stopped after {limits.wall_s:g} s, its time limit"),
        "output": ("bad_output", f"stopped: its output is larger than {limits.output_bytes // _MIB} MiB"),
        "printed": ("crashed", f"stopped: it printed more than {limits.output_bytes // _MIB} MiB"),
        "memory": ("crashed", f"stopped: its processes took more than {limits.memory_bytes // _MIB} MiB of memory"),
        "lost": ("crashed", "its process was ended from outside before it gave a result"),
        "disk": ("crashed", f"stopped: it wrote more than {limits.disk_bytes // _MIB} MiB to disk"),
    }
    if ended.stopped in stopped:
        kind, text = stopped[ended.stopped]
        return CallError.model_validate({"kind": kind, "message": text})
    said = f"; it printed: {printed[-_PRINTED_HINT:].strip()}" if printed.strip() else ""
    if not started:
        raise NotStarted(f"the sandbox did not start (code {ended.returncode}){said}")
    if ended.returncode > 128:
        return CallError(kind="crashed", message=f"{killed_by(ended.returncode - 128, job)}{said}")
    return CallError(kind="crashed", message=f"its process ended without a result (exit code {ended.returncode}){said}")


def killed_by(number: int, job: SandboxJob) -> str:
    """What a signal means to someone who wants to mend the tool."""
    if number == signal.SIGXCPU:
        return f"stopped: it used its {job.limits.cpu_s} s of processor time"
    if number == signal.SIGXFSZ:
        return f"stopped: a file grew over {job.limits.file_bytes // _MIB} MiB"
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = str(number)
    hints = {
        signal.SIGSEGV: ", an invalid memory access",
        signal.SIGKILL: ", as when memory or processor time runs out",
    }
    return f"killed by signal {name}{hints.get(signal.Signals(number), '') if name.startswith('SIG') else ''}"
