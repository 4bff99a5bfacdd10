"""Replies that repeat themselves: the same piece of text again and again, to the end.

Only what is the same letter by letter counts: numbered lists, tables and rows of figures go on, and do not repeat. What
honest text repeats, it ends; so a run counts only where it reaches the end, and one that is still growing must be long.
"""

from __future__ import annotations

RUN_CHARS, RUN_TIMES = 2_000, 20
"""What a reply may repeat to its end: a row of dashes, rows of a table that are all the same."""
CUT_CHARS, CUT_TIMES = 600, 4
"""The same for a reply that was cut off while it repeated itself, and so would have gone on."""
LONGEST = 1_000
"""Letters of the longest piece that is looked for."""
STRIDE = 256
"""Letters between two looks at a reply that is still coming."""


def repeats(text: str, *, cut: bool = False) -> bool:
    """Whether `text` ends in a piece of it that comes again and again. `cut`: it was cut off there.

    The time that it takes does not grow with the text.
    """
    return bool(period(text, cut=cut))


def period(text: str, *, cut: bool = False) -> int:
    """Letters of the piece that `text` repeats to its end; 0 if it repeats nothing."""
    least, times = (CUT_CHARS, CUT_TIMES) if cut else (RUN_CHARS, RUN_TIMES)
    for size in range(1, min(LONGEST, len(text) // times) + 1):
        run = max(least, size * times)
        if len(text) < run:
            return 0
        if text[-1] == text[-1 - size] and text.endswith(text[-run:-size]):
            return size
    return 0


def before_repetition(text: str) -> str:
    """`text` without what it repeats to its end, but for the first time."""
    size = period(text) or period(text, cut=True)
    at = len(text) - size
    while size and at > 0 and text[at - 1] == text[at - 1 + size]:
        at -= 1
    return text[: at + size] if size else text


class RepetitionWatch:
    """Looks at a reply as it comes, and ends one that repeats itself or outgrows `tokens`."""

    CHARS_PER_TOKEN = 16
    """More than any text has: a server that does not keep to its bound is ended by size."""

    def __init__(self, tokens: int | None = None) -> None:
        self._most = tokens * self.CHARS_PER_TOKEN if tokens else None
        self._tail = ""
        self._size = self._looked = 0

    def sees(self, piece: str) -> str:
        """Why the reply is to be ended behind `piece`: `repetition`, `length`, or nothing."""
        self._tail = (self._tail + piece)[-LONGEST * RUN_TIMES :] if piece else self._tail
        self._size += len(piece)
        if self._most is not None and self._size > self._most:
            return "length"
        if self._size - self._looked < STRIDE:
            return ""
        self._looked = self._size
        return "repetition" if repeats(self._tail) else ""
