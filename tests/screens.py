"""A terminal as far as Habilis uses one: what stands on its screen, and above it, after what was written."""

from __future__ import annotations

import re

_PARTS = re.compile(r"\x1b\[\??(\d*)(?:;\d+)*([A-Za-z])|([\r\n])|([^\x1b\r\n]+)")


class Screen:
    """Lines that scrolled away stay in `lines`. Made narrower, it breaks lines anew, as most terminals do."""

    def __init__(self, columns: int = 80, rows: int = 24) -> None:
        self.columns, self.rows = columns, rows
        self.lines = [""]
        self._y = self._x = 0
        self._wraps = True

    def feed(self, text: str) -> None:
        end = 0
        for found in _PARTS.finditer(text):
            assert found.start() == end, f"no such sequence is known here: {text[end : end + 20]!r}"
            end = found.end()
            count, what, move, plain = found.groups()
            if what:
                self._steer(what, int(count or 1))
            elif move:
                self._x = 0
                self._y += move == "\n"
                self._reach()
            else:
                self._put(plain)
        assert end == len(text), text[end:]

    def resize(self, columns: int, rows: int) -> None:
        broken: list[str] = []
        for number, line in enumerate(self.lines):
            pieces = [line[at : at + columns] for at in range(0, max(1, len(line)), columns)]
            broken += pieces
            if number == self._y:
                self._y, self._x = len(broken) - 1, len(pieces[-1])
        self.lines, self.columns, self.rows = broken, columns, rows

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.lines).rstrip("\n")

    def _steer(self, what: str, count: int) -> None:
        if what == "A":
            self._y = max(self._y - count, len(self.lines) - self.rows, 0)
        elif what == "K":
            self.lines[self._y] = self.lines[self._y][: self._x]
        elif what == "J":
            self.lines[self._y] = self.lines[self._y][: self._x]
            del self.lines[self._y + 1 :]
        elif what in "lh":
            assert count == 7
            self._wraps = what == "h"
        else:
            assert what == "m", f"no such sequence is known here: {what}"

    def _put(self, text: str) -> None:
        for letter in text:
            if self._x >= self.columns and self._wraps:
                self._y, self._x = self._y + 1, 0
                self._reach()
            line = self.lines[self._y].ljust(self._x)
            self.lines[self._y] = line[: self._x] + letter + line[self._x + 1 :]
            self._x += 1

    def _reach(self) -> None:
        self.lines += [""] * (self._y + 1 - len(self.lines))
