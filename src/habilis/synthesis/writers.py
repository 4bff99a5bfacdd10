"""Code writers: a model in this process, the Codex CLI, or any program that reads a prompt and prints code."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from habilis.config import WriterSettings, environment
from habilis.contract.expectations import MAX_CALLS
from habilis.core.errors import UserError, WriterFailed
from habilis.core.masker import MASKER
from habilis.core.place import raise_place
from habilis.core.types import Purpose, Usage
from habilis.messages.bounds import cut_of
from habilis.sandbox.processes.attached import attached
from habilis.sandbox.processes.temporary import temporary
from habilis.synthesis.codeblocks import ends_a_block

if TYPE_CHECKING:
    from habilis.core.ports import CodeWriter
    from habilis.models.chat import Models
    from habilis.models.tape import Tape

MAX_REPLY_BYTES = 4 << 20
_TAIL_CHARS = 600
WRITING = "write tool"
LABELS: Mapping[Purpose, str] = {"calls": "say what calls give"}
STOPS: Mapping[Purpose, tuple[str, ...]] = {"calls": (f"\n{MAX_CALLS + 1}.",)}
"""Where a reply may end, by what it is for: a weak model numbers calls on and on, far beyond those that it is asked."""


class ModelWriter:
    """Writes code with the builder role of this process's models."""

    name = "model"

    def __init__(self, models: Models) -> None:
        self._models = models

    async def write(self, system: str, user: str, *, purpose: Purpose = "code") -> str:
        from langchain_core.messages import HumanMessage, SystemMessage

        asked = [SystemMessage(system), HumanMessage(user)]
        label, stop = LABELS.get(purpose, WRITING), STOPS.get(purpose, ())
        reply = await self._models.chat("builder", asked, purpose=purpose, label=label, stop=stop)
        text, cut = str(reply.text), cut_of(reply)
        if cut is not None and purpose == "code" and not ends_a_block(text):
            raise WriterFailed(f"The reply with the module {cut.in_full}. Write a shorter module, and nothing but it.")
        if not text.strip():
            raise WriterFailed("The reply was empty.")
        return text


class CommandWriter:
    """Writes code with any program: the prompt on its standard input, code in a ```python block on its output.

    The program runs in an empty folder of its own with the user's environment, as the user would
    start it. It is killed with all that it started after `timeout_s` seconds, and when the task is cancelled.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        timeout_s: float = 1200.0,
        name: str = "command",
    ) -> None:
        self.name = name
        self._command = tuple(command)
        self._timeout_s = timeout_s

    async def write(self, system: str, user: str, *, purpose: Purpose = "code") -> str:
        with temporary("writer") as folder:
            prompt = f"{system}\n\n{user}\n".encode("utf-8", "replace")
            ended = await _run(self._command, prompt, folder, environment(), self._timeout_s)
        said = MASKER.text(ended.stderr.decode("utf-8", "replace")).strip()[-_TAIL_CHARS:]
        if ended.timed_out:
            raise WriterFailed(f"{self.name} did not end within {self._timeout_s:g} seconds.")
        if ended.returncode != 0:
            raise WriterFailed(f"{self.name} ended with code {ended.returncode}{': ' + said if said else ''}.")
        reply = MASKER.text(ended.stdout.decode("utf-8", "replace"))  # it has our environment, and may repeat it
        if not reply.strip():
            raise WriterFailed(f"{self.name} printed nothing{': ' + said if said else ''}.")
        return reply


class CodexWriter(CommandWriter):
    """Writes code with the Codex CLI (`codex exec`, prompt on stdin), in its own sandbox, which stays in force."""

    def __init__(self, program: str) -> None:
        command = (program, "exec", "--skip-git-repo-check", "--sandbox", "read-only", "--color", "never", "-")
        super().__init__(command, name="codex")


class TapedWriter:
    """A program's replies on the task's tape: none is asked for again after a kill, nor in a replay.

    Failures are not kept: a program that timed out may do better the next time.
    """

    def __init__(self, writer: CodeWriter, tape: Tape) -> None:
        self.name = writer.name
        self._writer, self._tape = writer, tape

    async def write(self, system: str, user: str, *, purpose: Purpose = "code") -> str:
        from habilis.models.tape import ModelRequest

        messages = ({"type": "system", "content": system}, {"type": "human", "content": user})
        label = f"{LABELS.get(purpose, WRITING)} by {self.name}"
        slot = self._tape.slot(ModelRequest("builder", purpose, messages, label=label))
        if slot.entry is not None and slot.entry.reply is not None:
            return str(slot.entry.reply["content"])
        try:
            reply = await self._writer.write(system, user, purpose=purpose)
        except BaseException:
            self._tape.release(slot)
            raise
        self._tape.record_reply(slot, {"content": reply}, Usage(), model=self.name)
        return reply


CODEX = ("codex",)
"""The command that stands for the Codex CLI with the options that it needs."""


def make_writer(settings: WriterSettings, models: Models) -> CodeWriter:
    """The writer that settings ask for; external ones have their replies taped.

    Raises `UserError` when its program is not there.
    """
    command = settings.command
    if not command:
        return ModelWriter(models)
    program = shutil.which(command[0])
    if program is None:
        raise UserError(f"writer.command: there is no program {command[0]} on the PATH")
    writer = CodexWriter(program) if command == CODEX else CommandWriter((program, *command[1:]))
    return TapedWriter(writer, models.tape)


@dataclass(frozen=True)
class _Ended:
    returncode: int
    stdout: bytes
    stderr: bytes
    timed_out: bool = False


class _Conversation(asyncio.SubprocessProtocol):
    """What a program says. When it ends, its whole process group does, so that its pipes close in any case."""

    def __init__(self) -> None:
        self.said = {1: bytearray(), 2: bytearray()}
        self.closed = asyncio.get_running_loop().create_future()
        self._pid = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._pid = transport.get_pid()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.said[fd] += data
        del self.said[fd][:-MAX_REPLY_BYTES]

    def process_exited(self) -> None:
        self.end_group()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.closed.done():
            self.closed.set_result(None)

    def end_group(self) -> None:
        """Kill the program and all that it started and did not put into a session of its own."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._pid, signal.SIGKILL)


async def _run(
    command: Sequence[str], request: bytes, folder: Path, env: Mapping[str, str], timeout_s: float
) -> _Ended:
    """Run a program in a process group of its own, which is gone when this returns or is cancelled."""
    loop = asyncio.get_running_loop()
    try:
        transport, talk = await loop.subprocess_exec(
            _Conversation, *attached(command), cwd=folder, env=dict(env), start_new_session=True
        )
    except OSError as error:
        raise_place(error)
        raise WriterFailed(f"{Path(command[0]).name} cannot be started: {error.strerror}.") from None
    stdin = transport.get_pipe_transport(0)
    assert isinstance(stdin, asyncio.WriteTransport)
    stdin.write(request)
    stdin.close()  # once all of it is written
    timed_out = False
    try:
        async with asyncio.timeout(timeout_s):
            await asyncio.shield(talk.closed)
    except TimeoutError:
        timed_out = True
    finally:
        talk.end_group()
        transport.close()
        await asyncio.shield(talk.closed)
    return _Ended(transport.get_returncode() or 0, bytes(talk.said[1]), bytes(talk.said[2]), timed_out)
