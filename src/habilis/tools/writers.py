"""Code writers (Y14): a model in this process, the Codex CLI, or any program that reads a prompt and prints code."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from habilis.config import WriterSettings, environment
from habilis.core.errors import UserError, WriterFailed

if TYPE_CHECKING:
    from habilis.core.ports import CodeWriter
    from habilis.models.chat import Models

MAX_REPLY_BYTES = 4 << 20
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n]*$", re.MULTILINE)
_PYTHON = frozenset({"python", "py", "python3"})
_TAIL_CHARS = 600


def extract_code(reply: str) -> str:
    """The LAST ```python block of `reply` (`py` and `python3` count as well, a missing last fence is forgiven).

    Raises `WriterFailed` when there is none.
    """
    code: str | None = None
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(reply):
        if opened is None:
            opened = fence
        elif not fence[2] and fence[1].startswith(opened[1]):
            if opened[2].lower() in _PYTHON:
                code = reply[opened.end() + 1 : fence.start()]
            opened = None
        elif fence[2].lower() in _PYTHON and fence[1] == opened[1]:
            # A block that was never closed before the next one began.
            opened = fence
    if opened is not None and opened[2].lower() in _PYTHON:
        code = reply[opened.end() + 1 :]
    if code is None or not code.strip():
        raise WriterFailed("The reply holds no ```python block with code in it.")
    return code.rstrip() + "\n"


class ModelWriter:
    """Writes code with the builder role of this process's models."""

    name = "model"

    def __init__(self, models: Models) -> None:
        self._models = models

    async def write(self, system: str, user: str) -> str:
        from langchain_core.messages import HumanMessage, SystemMessage

        reply = await self._models.chat("builder", [SystemMessage(system), HumanMessage(user)], purpose="write tool")
        text = str(reply.text)
        if not text.strip():
            raise WriterFailed("The reply was empty.")
        return text


class CommandWriter:
    """Writes code with any program: the prompt on its standard input, code in a ```python block on its output.

    The program runs in an empty folder of its own (below `scratch`) with the user's environment, as the user would
    start it. It is killed with all that it started after `timeout_s` seconds, and when the task is cancelled.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        timeout_s: float = 1200.0,
        name: str = "command",
        scratch: Path | None = None,
    ) -> None:
        self.name = name
        self._scratch = scratch
        self._command = tuple(command)
        self._timeout_s = timeout_s

    async def write(self, system: str, user: str) -> str:
        with tempfile.TemporaryDirectory(
            prefix="habilis-writer-", dir=self._scratch, ignore_cleanup_errors=True
        ) as folder:
            prompt = f"{system}\n\n{user}\n".encode("utf-8", "replace")
            ended = await _run(self._command, prompt, Path(folder), environment(), self._timeout_s)
        said = ended.stderr.decode("utf-8", "replace").strip()[-_TAIL_CHARS:]
        if ended.timed_out:
            raise WriterFailed(f"{self.name} did not end within {self._timeout_s:g} seconds.")
        if ended.returncode != 0:
            raise WriterFailed(f"{self.name} ended with code {ended.returncode}{': ' + said if said else ''}.")
        reply = ended.stdout.decode("utf-8", "replace")
        if not reply.strip():
            raise WriterFailed(f"{self.name} printed nothing{': ' + said if said else ''}.")
        return reply


class CodexWriter(CommandWriter):
    """Writes code with the Codex CLI (`codex exec`, prompt on stdin), in its own sandbox, which stays in force."""

    def __init__(self, program: str, *, timeout_s: float = 1200.0, scratch: Path | None = None) -> None:
        command = (program, "exec", "--skip-git-repo-check", "--sandbox", "read-only", "--color", "never", "-")
        super().__init__(command, timeout_s=timeout_s, name="codex", scratch=scratch)


def make_writer(settings: WriterSettings, models: Models, scratch: Path | None = None) -> CodeWriter:
    """The writer that settings ask for; external ones work below `scratch`.

    Raises `UserError` when its program is not there.
    """
    if settings.kind == "codex":
        program = shutil.which("codex")
        if program is None:
            raise UserError("writer.kind is codex, but there is no program codex on the PATH")
        return CodexWriter(program, timeout_s=settings.timeout_s, scratch=scratch)
    if settings.kind == "command":
        if not settings.command:
            raise UserError("writer.kind is command, but writer.command is empty")
        program = shutil.which(settings.command[0])
        if program is None:
            raise UserError(f"writer.command: there is no program {settings.command[0]}")
        return CommandWriter((program, *settings.command[1:]), timeout_s=settings.timeout_s, scratch=scratch)
    return ModelWriter(models)


@dataclass(frozen=True)
class _Ended:
    returncode: int
    stdout: bytes
    stderr: bytes
    timed_out: bool = False


async def _run(
    command: Sequence[str], request: bytes, folder: Path, env: Mapping[str, str], timeout_s: float
) -> _Ended:
    """Run a program in a process group of its own, which is gone when this returns or is cancelled."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=folder,
            env=dict(env),
            start_new_session=True,
        )
    except OSError as error:
        raise WriterFailed(f"{Path(command[0]).name} cannot be started: {error.strerror}.") from None
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        async with asyncio.timeout(timeout_s):
            async with asyncio.TaskGroup() as group:
                group.create_task(_feed(process.stdin, request))
                stdout = group.create_task(_read(process.stdout))
                stderr = group.create_task(_read(process.stderr))
            returncode = await process.wait()
        return _Ended(returncode, stdout.result(), stderr.result())
    except TimeoutError:
        return _Ended(-1, b"", b"", timed_out=True)
    finally:
        # The group, not only the program: a grandchild that it left behind goes too.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        process._transport.close()  # type: ignore[attr-defined]


async def _feed(stdin: asyncio.StreamWriter, request: bytes) -> None:
    """Write the prompt and close the pipe; a program that does not read it to its end is its own affair."""
    with contextlib.suppress(ConnectionError):
        stdin.write(request)
        await stdin.drain()
    stdin.close()
    with contextlib.suppress(ConnectionError):
        await stdin.wait_closed()


async def _read(stream: asyncio.StreamReader) -> bytes:
    """All that a program prints, the last `MAX_REPLY_BYTES` of it."""
    kept = b""
    while chunk := await stream.read(1 << 16):
        kept = (kept + chunk)[-MAX_REPLY_BYTES:]
    return kept
