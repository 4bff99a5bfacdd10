"""An MCP server that is a program of ours: started in a group of its own, heard within bounds, ended with its children.

The transport of the protocol: one JSON-RPC message a line on the standard streams (MCP specification 2025-11-25,
"stdio"). What the program writes to its standard error goes to the log.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from habilis.config import environment, harmless_environment, tell_granted
from habilis.core.errors import UserError
from habilis.core.masker import MASKER, Masker
from habilis.core.types import CallOutcome
from habilis.sandbox.processes.attached import attached
from habilis.sources.foreign.presenting import one_line

log = logging.getLogger(__name__)

GRACE_S = 2.0
"""Seconds that it has to end by itself once its input is closed, and again after it was told to."""
_ID = re.compile(rb'"id"\s*:\s*(\d{1,18}|"[^"\\]{1,80}")')
_EDGE = 2_048
"""Bytes at both ends of a message that is too long in which its id is looked for."""
_LOG_CHARS = 400


@dataclass
class Program:
    """A program to start. `env` are names of further variables. `last_words` is the end of what it wrote as errors."""

    name: str
    command: Sequence[str]
    env: Sequence[str] = ()
    cwd: str | None = None
    max_bytes: int = 8 << 20
    last_words: str = ""
    pid: int | None = None
    _secrets: Masker = field(default_factory=Masker, repr=False)

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[tuple[Any, Any]]:
        """Start it; the streams of messages from and to it. However this is left, its whole group is gone after.

        Raises `UserError` if it cannot be started.
        """
        import anyio

        process = await self._started()
        sent_in, messages_in = anyio.create_memory_object_stream[Any](0)
        messages_out, to_send = anyio.create_memory_object_stream[Any](0)
        work = [
            asyncio.create_task(self._hear(process, sent_in)),
            asyncio.create_task(_say(process, to_send, sent_in)),
            asyncio.create_task(self._note_errors(process)),
        ]
        try:
            yield messages_in, messages_out
        finally:
            try:
                await _ended(process)
            finally:
                _kill_group(process.pid)
                for task in work:
                    task.cancel()
                await asyncio.gather(*work, return_exceptions=True)
                for stream in (sent_in, messages_in, messages_out, to_send):
                    stream.close()
                _close_pipes(process)
                self.pid = None

    def kill(self) -> None:
        """End it at once, with all that it started."""
        if self.pid is not None:
            _kill_group(self.pid)

    def cleaned(self, text: str) -> str:
        """`text` without the values of the variables that it was given by name."""
        return MASKER.text(self._secrets.text(text))

    def outcome(self, outcome: CallOutcome) -> CallOutcome:
        """A call's outcome without them."""
        return MASKER.outcome(self._secrets.outcome(outcome))

    async def _started(self) -> asyncio.subprocess.Process:
        everything = environment()
        given: Mapping[str, str] = {name: everything[name] for name in self.env if name in everything}
        self._secrets = Masker(given)
        tell_granted(given)
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *attached(self.command, cwd=self.cwd),
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                cwd=self.cwd,
                env={**harmless_environment(), **given},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            told = error.strerror if isinstance(error, OSError) else error
            raise UserError(f"{self.command[0]} cannot be started: {told}") from None
        self.pid = process.pid
        return process

    async def _hear(self, process: asyncio.subprocess.Process, heard: Any) -> None:
        """Messages from the program, until it falls silent."""
        import anyio

        assert process.stdout is not None
        try:
            async for line in _lines(process.stdout, self.max_bytes):
                message = line if not isinstance(line, bytes) else _message(line)
                if isinstance(message, Unread):
                    told = f"the answer is larger than {self.max_bytes >> 20} MiB; ask for less"
                    message = message.as_answer(told)
                elif message is None and isinstance(line, bytes) and b'"jsonrpc"' in line[:_EDGE]:
                    message = Unread(line[:_EDGE] + b" " + line[-_EDGE:]).as_answer("the answer cannot be read")
                if message is None:
                    text = line.decode("utf-8", "replace") if isinstance(line, bytes) else "a message without an id"
                    log.debug("%s said what is no message: %s", self.name, self._clean(text))
                else:
                    await heard.send(message)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            pass  # nobody listens any more
        finally:
            heard.close()

    async def _note_errors(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        async for line in _lines(process.stderr, 1 << 16):
            text = self._clean(line.decode("utf-8", "replace")) if isinstance(line, bytes) else "…"
            if text:
                self.last_words = text
                log.info("%s: %s", self.name, text)

    def _clean(self, text: str) -> str:
        return one_line(self.cleaned(text[: 8 * _LOG_CHARS]), _LOG_CHARS)


@dataclass(frozen=True)
class Unread:
    """A message that was longer than allowed, or no message, and was not kept; `edges`: its beginning and its end."""

    edges: bytes

    def as_answer(self, told: str) -> Any:
        """An error in its place, None if it does not show which request it answers."""
        import mcp_types as types
        from mcp.shared.message import SessionMessage

        found = _ID.search(self.edges)
        if found is None:
            return None
        raw = found[1].decode()
        error = types.ErrorData(code=types.INTERNAL_ERROR, message=told)
        call_id = raw.strip('"') if raw.startswith('"') else int(raw)
        return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=call_id, error=error))


async def _lines(stream: asyncio.StreamReader, limit: int) -> AsyncIterator[bytes | Unread]:
    """Lines of a stream; of one longer than `limit` bytes no more than its edges is ever held."""
    buffer, dropped, head = bytearray(), False, b""
    while chunk := await stream.read(1 << 16):
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            buffer += chunk[start:end]
            yield Unread(head + b" " + bytes(buffer[-_EDGE:])) if dropped or len(buffer) > limit else bytes(buffer)
            buffer, dropped, head, start = bytearray(), False, b"", end + 1
        buffer += chunk[start:]
        if len(buffer) > limit:
            head, dropped = head or bytes(buffer[:_EDGE]), True
            buffer = buffer[-_EDGE:]
    if buffer and not dropped:
        yield bytes(buffer)


def _message(line: bytes) -> Any:
    """A line as a message; None for what is none."""
    import mcp_types as types
    from mcp.shared.message import SessionMessage

    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except (ValueError, RecursionError):
        return None


async def _say(process: asyncio.subprocess.Process, to_send: Any, heard: Any) -> None:
    """Messages to the program, as long as it takes them."""
    assert process.stdin is not None
    try:
        async for message in to_send:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(text.encode("utf-8", "replace") + b"\n")
            await process.stdin.drain()
    except OSError:
        heard.close()  # it is gone: who waits for an answer must hear of it


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Have the program end: by closing its input, then by asking its group."""
    if process.stdin is not None:
        process.stdin.close()
    for told in (None, signal.SIGTERM):
        if told is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, told)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_S):
                await process.wait()
            return


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _close_pipes(process: asyncio.subprocess.Process) -> None:
    """Let go of pipes that a child of the program may hold open in another group; nothing public does."""
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()
