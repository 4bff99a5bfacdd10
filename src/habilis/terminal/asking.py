"""Asking the person at the terminal, without blocking the loop that runs the task."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from habilis.core.errors import Interrupted, UserError
from habilis.terminal.wording import plain, report_line

if TYPE_CHECKING:
    from habilis.terminal.console import ConsoleSink


def removal_confirmed(many: str, shown: Iterable[str]) -> bool:
    """Whether a person wants `many` things removed, which are `shown` a line each. Raises `UserError` where nobody is
    there to be asked."""
    if not (sys.stdin is not None and sys.stdin.isatty()):
        raise UserError(f"{many} would be removed; confirm with --yes, or look first with --dry-run")
    for line in shown:
        print(report_line(f"  {line}"), file=sys.stderr)
    print(f"remove {many}? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


class TerminalAsker:
    """Prompts on standard error and reads one line from the terminal.

    None when the person ends the input (Ctrl-D): the question stays open. Raises `Interrupted` on Ctrl-C.
    """

    def __init__(self, sink: ConsoleSink | None) -> None:
        self._sink = sink
        self._pending: asyncio.Future[str | None] | None = None
        self._turn = asyncio.Lock()

    async def __call__(self, question: str) -> str | None:
        async with self._turn:
            while True:
                answer = await self._read(question)
                if answer is None:
                    raise Interrupted("interrupted while a question was open; resume to answer it")
                if not answer:
                    return None
                if answer.strip():
                    return answer.strip()

    def give_up(self) -> None:
        """End a prompt that is open, because the run is to end."""
        if self._pending is not None and not self._pending.done():
            self._pending.set_result(None)

    async def _read(self, question: str) -> str | None:
        if self._sink:
            self._sink.pause()
        if not (self._sink and self._sink.asked == question):
            print(f"\n{plain(question)}", file=sys.stderr)
        print("> ", end="", file=sys.stderr, flush=True)
        loop = asyncio.get_running_loop()
        self._pending = loop.create_future()
        loop.add_reader(sys.stdin.fileno(), self._ready)
        try:
            return await self._pending
        finally:
            loop.remove_reader(sys.stdin.fileno())
            self._pending = None

    def _ready(self) -> None:
        # A terminal hands over one whole line, so this does not block; nothing is the end of the input. Not through
        # sys.stdin, whose buffer could hold back a second line that the loop then never hears of.
        line = os.read(sys.stdin.fileno(), 65_536).decode("utf-8", "replace")
        if self._pending is not None and not self._pending.done():
            self._pending.set_result(line)
