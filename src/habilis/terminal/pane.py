"""The foot of a terminal, drawn anew in place a few times a second. What is printed stands above it and stays.

It asks nothing of the terminal and changes no mode of it beyond one frame: whoever is killed leaves nothing to undo.
Each frame is one write, which overwrites the frame before, so nothing flickers. Control sequences are those of
ECMA-48; switching the wrap of lines off and on is DEC's (DECAWM).
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import io
import os
import signal
import sys
import termios
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

FRAME_S = 0.5
"""Seconds between two frames; one that would look like the one before is not drawn."""
_NO_WRAP, _WRAP = "\x1b[?7l", "\x1b[?7h"
_REST_OF_LINE, _BELOW = "\x1b[K", "\x1b[J"


class Pane:
    """Shows what `lines(columns, rows)` gives, which must fit that, at the foot of the terminal of `console`.

    `typed` tells how many bytes of whole lines a person typed that nobody has read.
    """

    def __init__(
        self, console: Console, lines: Callable[[int, int], Sequence[Text]], typed: Callable[[], int] | None = None
    ) -> None:
        self._console, self._lines = console, lines
        self._typed = typed or bytes_typed
        self._known = self._typed()
        self._colours: Any = console.color_system
        self._lock = threading.RLock()
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None
        self._shown: list[str] = []
        self._widths: list[int] = []
        self._columns = 0
        self._continued = False
        self._before: Any = None

    def open(self) -> None:
        """Begin to draw. Does nothing where that has begun."""
        if self._thread is not None:
            return
        self._ending.clear()
        with contextlib.suppress(ValueError):  # in another thread than the main one nobody hears signals
            self._before = signal.signal(signal.SIGCONT, self._resumed)
        self._thread = threading.Thread(target=self._work, name="terminal", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Take the frame away and draw no more, until it is opened again."""
        if self._thread is None:
            return
        self._ending.set()
        with self._lock:
            self._write(self._taken_away())
        self._thread.join()
        self._thread = None
        if self._before is not None:
            signal.signal(signal.SIGCONT, self._before)
            self._before = None

    def above(self, text: str) -> None:
        """Print `text`, whole lines, above the frame."""
        with self._lock:
            self._write(
                self._taken_away() + text + (self._drawn() if self._thread and not self._ending.is_set() else "")
            )

    def draw(self) -> None:
        """Draw a frame now, if it differs from the one that is there."""
        with self._lock:
            if not self._ending.is_set():
                self._write(self._drawn())

    def _work(self) -> None:
        while not self._ending.wait(FRAME_S):
            self.draw()

    def _resumed(self, number: int, frame: object) -> None:
        """We were stopped, and others wrote to the terminal: our frame is where it was, not where we are."""
        self._continued = True

    def _drawn(self) -> str:
        """What draws the frame over the one before; empty if nothing differs, or the terminal is somebody else's."""
        if self._continued or not self._is_ours():
            self._shown, self._widths, self._continued = [], [], False
            if not self._is_ours():
                return ""
        columns, rows = self._size()
        lines = self._lines(columns, rows)
        shown = [line.plain for line in lines]
        if shown == self._shown and columns == self._columns and self._typed() == self._known:
            return ""
        clearing = self._taken_away() if columns != self._columns else self._to_top()
        self._shown, self._columns = shown, columns
        self._widths = [line.cell_len for line in lines]
        return f"{clearing}{_NO_WRAP}{self._rendered(lines)}{_BELOW}{_WRAP}"

    def _taken_away(self) -> str:
        """What takes the frame away and leaves the cursor where it began."""
        gone = f"{self._to_top()}{_BELOW}" if self._widths else ""
        self._shown, self._widths = [], []
        return gone

    def _to_top(self) -> str:
        """What brings the cursor from the end of the frame to its beginning. In a terminal that became narrower its
        lines take more rows than they had; and whoever pressed Enter moved the cursor down."""
        if not self._widths:
            return ""
        columns, before, self._known = max(1, self._size()[0]), self._known, self._typed()
        up = sum(max(1, -(-width // columns)) for width in self._widths) - (self._known <= before)
        return f"\r\x1b[{up}A" if up else "\r"

    def _rendered(self, lines: Sequence[Text]) -> str:
        """The frame with its colours, as the terminal has them."""
        from rich.console import Console

        paper = io.StringIO()
        console = Console(file=paper, force_terminal=True, color_system=self._colours)
        for line in lines:
            console.print(line, end="", soft_wrap=True)
            paper.write(f"{_REST_OF_LINE}\n")
        return paper.getvalue().removesuffix("\n")

    def _size(self) -> tuple[int, int]:
        """Columns and rows as they are now."""
        with contextlib.suppress(OSError, ValueError, AttributeError):
            size = os.get_terminal_size(self._console.file.fileno())
            if size.columns and size.lines:
                return size.columns, size.lines
        return self._console.width, self._console.height

    def _is_ours(self) -> bool:
        """Whether we are what the terminal shows, not at work behind a shell."""
        try:
            return os.tcgetpgrp(self._console.file.fileno()) == os.getpgrp()
        except (OSError, ValueError, AttributeError):
            return True

    def _write(self, text: str) -> None:
        if text:
            self._console.file.write(text)
            self._console.file.flush()


def bytes_typed() -> int:
    """How many bytes of whole lines wait at the terminal that standard input is; 0 where it is none."""
    waiting = array.array("i", [0])
    with contextlib.suppress(OSError, ValueError, AttributeError):
        if sys.stdin.isatty():
            fcntl.ioctl(sys.stdin.fileno(), termios.FIONREAD, waiting)
    return waiting[0]
