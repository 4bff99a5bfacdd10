"""Standard input and output as a stream of lines for the Model Context Protocol, and for nothing else.

Our own ends instead of the SDK's: a read that waits can be given up (a signal ends the server at once), and a program
at the other end that does not read holds up no call. What anyone else prints goes to standard error.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator

from habilis.core.masker import MASKER

MAX_LINE = 32 << 20
"""Bytes of one message; a longer one ends the connection."""
DRAIN_S = 2.0
_CHUNK = 1 << 16
_END = b""


class Lines:
    """What comes in, line by line, as an async iterator of text. Ends with the input, with `close`, and with a line
    that is too long."""

    def __init__(self, descriptor: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        threading.Thread(target=self._read, args=(descriptor,), daemon=True, name="habilis-input").start()

    def close(self) -> None:
        """End the stream now, whatever is still to come."""
        self._lines.put_nowait(None)

    async def __aiter__(self) -> AsyncIterator[str]:
        while (line := await self._lines.get()) is not None:
            yield line

    def _read(self, descriptor: int) -> None:
        held = bytearray()
        while len(held) <= MAX_LINE:
            try:
                chunk = os.read(descriptor, _CHUNK)
            except OSError:
                break
            if not chunk:
                if held:
                    self._hand_over(held.decode("utf-8", "replace"))
                break
            held += chunk
            *whole, rest = held.split(b"\n") if b"\n" in chunk else (held,)
            held = bytearray(rest)
            for line in whole:
                self._hand_over(line.decode("utf-8", "replace"))
        self._hand_over(None)

    def _hand_over(self, line: str | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits for it any more
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)


class Output:
    """Where messages go, in their order. `lost` is called once nobody reads any more."""

    def __init__(self, descriptor: int, lost: Callable[[], None]) -> None:
        self._descriptor, self._lost, self._loop = descriptor, lost, asyncio.get_running_loop()
        self._waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, daemon=True, name="habilis-output")
        self._thread.start()

    async def write(self, text: str) -> None:
        self._waiting.put(MASKER.document(text.encode("utf-8", "replace")))

    async def flush(self) -> None:
        """Nothing is held back."""

    async def aclose(self) -> None:
        """Wait until all is written, or nobody has read for a while."""
        self._waiting.put(_END)
        await asyncio.to_thread(self._thread.join, DRAIN_S)

    def _write(self) -> None:
        while data := self._waiting.get():
            view = memoryview(data)
            try:
                while view:
                    view = view[os.write(self._descriptor, view) :]
            except OSError:
                with contextlib.suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(self._lost)
                return


@contextlib.contextmanager
def taken() -> Iterator[tuple[int, int]]:
    """Descriptors of standard input and output that nobody else has: 0 reads nothing now, 1 leads to standard error."""
    sys.stdout.flush()
    source, target = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        yield source, target
    finally:
        sys.stdout.flush()
        os.dup2(source, 0)
        os.dup2(target, 1)
        os.close(target)  # `source` stays open: a thread may still wait on it
