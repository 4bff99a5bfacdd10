"""The descriptors between the host and one confined call, and listening to them without blocking the event loop."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field

from habilis.core.ports import SandboxLimits

PRINTED_TAIL = 4_000
_BLOCK = 1 << 16


@dataclass
class Pipes:
    """The descriptors of one run. `request`, `reply`, `printed` and `about` are the child's ends.

    On `about` a program that makes a process namespace says, as JSON, the `child-pid` of the namespace's first
    process: it is the last to end, so its end says that all are gone.
    """

    request: int
    reply: int
    reply_out: int
    printed: int
    printed_out: int
    about: int
    about_out: int
    extra: list[int] = field(default_factory=list)

    @classmethod
    def open(cls, request: bytes, *, reply: int | None = None) -> Pipes:
        """New descriptors; the request lies ready in an unnamed file, so that no writer has to wait. `reply`: hand this
        over as the child's way back instead of a new pipe."""
        try:
            given, ((reply_out, own), (printed_out, printed), (about_out, about)) = channels(request, 3)
        except OSError:
            if reply is not None:
                os.close(reply)
            raise
        if reply is None:
            reply = own
        else:
            os.close(own)
        return cls(given, reply, reply_out, printed, printed_out, about, about_out)

    def hand_over(self, content: bytes) -> int:
        """A further descriptor that the child inherits, ready to be read from its beginning."""
        self.extra.append(unnamed_file(content))
        return self.extra[-1]

    def for_child(self, *, about: bool) -> tuple[int, ...]:
        """What the child inherits; both ends of `about` are for a program that closes them before the tool runs."""
        return (self.request, self.reply, *([self.about, self.about_out] if about else []), *self.extra)

    def close_childs(self) -> None:
        for end in (self.request, self.reply, self.printed, self.about, *self.extra):
            os.close(end)

    def close_ours(self) -> None:
        for end in (self.reply_out, self.printed_out, self.about_out):
            os.close(end)


def channels(request: bytes, pipes: int) -> tuple[int, list[tuple[int, int]]]:
    """An unnamed file with `request`, and so many pipes, whose ends for reading do not block.

    Raises OSError where not all can be had; nothing is open then.
    """
    opened: list[int] = []
    try:
        opened.append(unnamed_file(request))
        for _ in range(pipes):
            opened += os.pipe()
    except OSError:
        for end in opened:
            os.close(end)
        raise
    for end in opened[1::2]:
        os.set_blocking(end, False)
    return opened[0], list(zip(opened[1::2], opened[2::2], strict=True))


def unnamed_file(content: bytes) -> int:
    """A descriptor of an unnamed file that holds `content`, at its beginning."""
    if hasattr(os, "memfd_create"):
        opened = os.memfd_create("habilis")
    else:
        with tempfile.TemporaryFile() as file:
            opened = os.dup(file.fileno())
    view = memoryview(content)
    try:
        while view:
            view = view[os.write(opened, view) :]
    except OSError:
        os.close(opened)
        raise
    os.lseek(opened, 0, os.SEEK_SET)
    return opened


class Ears:
    """Hears the reply and what is printed, up to a limit. `stopped` gets the reason when the host has to end the call,
    `""` when it ended by itself. `deaf`: we had no memory for what was said. `told` is called when
    more of the reply has come."""

    def __init__(self, reply_out: int, printed_out: int, limits: SandboxLimits) -> None:
        self.reply = bytearray()
        self.printed = bytearray()
        self._reply_out, self._printed_out, self._limits = reply_out, printed_out, limits
        self._heard = 0
        self.deaf = False
        self.told: Callable[[], None] = lambda: None
        self._loop = asyncio.get_running_loop()
        self.stopped: asyncio.Future[str] = self._loop.create_future()
        self._loop.add_reader(reply_out, self._hear, self._hear_reply)
        self._loop.add_reader(printed_out, self._hear, self._hear_printed)

    def stop_for(self, reason: str) -> None:
        if not self.stopped.done():
            self.stopped.set_result(reason)

    def again(self) -> None:
        """Begin anew with the reply, and with the wait for the end; what was printed stays."""
        self.told = lambda: None
        self.reply.clear()
        self.stopped = self._loop.create_future()

    def close(self) -> None:
        """Hear what is left, and let go of the pipes."""
        for end in (self._reply_out, self._printed_out):
            self._loop.remove_reader(end)
        self._hear(self._hear_reply)
        self._hear(self._hear_printed)
        for end in (self._reply_out, self._printed_out):
            os.close(end)

    def _hear(self, hear: Callable[[], None]) -> None:
        try:
            hear()
        except MemoryError:  # nobody waits for a callback: who waits for the call is told
            self.deaf = True
            self.stop_for("")

    def _hear_reply(self) -> None:
        # whatever else stopped the tool, a flood must neither fill our memory nor keep us here
        while len(self.reply) <= self._limits.output_bytes and (data := read_some(self._loop, self._reply_out)):
            self.reply += data
            self.told()
        if len(self.reply) > self._limits.output_bytes:
            self._loop.remove_reader(self._reply_out)
            self.stop_for("output")

    def _hear_printed(self) -> None:
        data = read_some(self._loop, self._printed_out)
        while data:
            self._heard += len(data)
            self.printed += data
            del self.printed[:-PRINTED_TAIL]
            if self._heard > self._limits.output_bytes:
                self.stop_for("printed")
                return
            data = read_some(self._loop, self._printed_out)


def read_some(loop: asyncio.AbstractEventLoop, end: int) -> bytes | None:
    """What there is to read: b"" at the end, where the loop stops listening, None when there is nothing yet."""
    try:
        data = os.read(end, _BLOCK)
    except BlockingIOError:
        return None
    if not data:
        loop.remove_reader(end)
    return data
