"""A document as blocks: paragraphs, lists, tables and code, each under its headings and with its place.

Reads Markdown (CommonMark's headings, fences and pipe tables) and plain text, whose underlined lines are headings.
Documents are strangers' work: whatever a line holds, the time it takes grows with its length and no faster. So no
expression here can match one text in two ways.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Shape = Literal["prose", "code", "table"]

_BLANKS = " \t"
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_UNDERLINE = re.compile(r"([=\-~^\"*+#])\1{2,}[ \t]*$")
_DELIMITING = frozenset("|:-" + _BLANKS)
_MOST_HEADING = 200


@dataclass(frozen=True)
class Block:
    """A piece of a document that belongs together. Lines count from 1; `page` is None where there are no pages."""

    text: str
    headings: tuple[str, ...]
    first_line: int
    last_line: int
    shape: Shape = "prose"
    page: int | None = None


def blocks_of(text: str, *, markdown: bool, page: int | None = None) -> Iterator[Block]:
    """The blocks of `text` in their order."""
    reader = _Reader(text.splitlines(), markdown, page)
    while reader.at < len(reader.lines):
        yield from reader.next()
    yield from reader.bare_heading(0)


class _Reader:
    """Where reading stands: the line, and the headings that are open, each with its level."""

    def __init__(self, lines: Sequence[str], markdown: bool, page: int | None) -> None:
        self.lines, self.markdown, self.page = lines, markdown, page
        self.at = 0
        self.open: list[tuple[int, str]] = []
        self.underlines: list[str] = []
        self.bare = 0
        """The line of a heading under which nothing stood yet; 0 for none."""

    def next(self) -> Iterator[Block]:
        """Read on by one block or heading."""
        line = self.lines[self.at]
        if not line.strip():
            self.at += 1
        elif self.markdown and (found := _heading_in(line)):
            yield from self._heading(*found, 1)
        elif level := self._underlined():
            yield from self._heading(level, line, 2)
        elif self.markdown and (fence := _FENCE.match(line)):
            yield self._block(self._end_of_fence(fence[1]), "code")
        elif self.markdown and self._is_table():
            yield self._block(self._end_of_paragraph(), "table")
        else:
            yield self._block(self._end_of_paragraph(), "prose")

    def bare_heading(self, level: int) -> Iterator[Block]:
        """A heading that had nothing under it when one of `level` came: it is all that there is of its section."""
        if self.bare and self.open and self.open[-1][0] >= level:
            headings = tuple(words for _, words in self.open)
            yield Block(headings[-1], headings, self.bare, self.bare, page=self.page)

    def _heading(self, level: int, text: str, lines: int) -> Iterator[Block]:
        yield from self.bare_heading(level)
        self.open = [one for one in self.open if one[0] < level]
        if words := " ".join(text.split())[:_MOST_HEADING]:
            self.open.append((level, words))
            self.bare = self.at + 1
        self.at += lines

    def _underlined(self) -> int:
        """The level of a heading that is underlined; 0 when the line is none. Its level is the order of its sign."""
        if self.at + 1 >= len(self.lines):
            return 0
        line, below = self.lines[self.at], self.lines[self.at + 1]
        found = _UNDERLINE.match(below)
        if not found or len(line) > 100 or (self.at and self.lines[self.at - 1].strip()) or line[:1] in " \t-|":
            return 0
        if self.markdown:
            return {"=": 1, "-": 2}.get(found[1], 0)
        if len(below.rstrip()) < len(line.rstrip()):
            return 0
        if found[1] not in self.underlines:
            self.underlines.append(found[1])
        return self.underlines.index(found[1]) + 1

    def _is_table(self) -> bool:
        following = self.lines[self.at + 1] if self.at + 1 < len(self.lines) else ""
        return "|" in self.lines[self.at] and "|" in following and _is_delimiter(following)

    def _end_of_fence(self, mark: str) -> int:
        """The line behind the fence's end; an open fence ends with the document."""
        closing = re.compile(rf" {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$")
        for number in range(self.at + 1, len(self.lines)):
            if closing.match(self.lines[number]):
                return number + 1
        return len(self.lines)

    def _end_of_paragraph(self) -> int:
        for number in range(self.at + 1, len(self.lines)):
            line = self.lines[number]
            if not line.strip() or (self.markdown and (_heading_in(line) or _FENCE.match(line))):
                return number
        return len(self.lines)

    def _block(self, end: int, shape: Shape) -> Block:
        text = "\n".join(line.rstrip() for line in self.lines[self.at : end])
        headings = tuple(words for _, words in self.open)
        block = Block(text, headings, self.at + 1, end, shape, self.page)
        self.at, self.bare = end, 0
        return block


def _heading_in(line: str) -> tuple[int, str] | None:
    """Level and words of the heading that `line` is (CommonMark 0.31, ATX headings); None for one that is none."""
    if "#" not in line[:4]:
        return None
    text = line[:4].lstrip(" ") + line[4:]
    level = len(text[:7]) - len(text[:7].lstrip("#"))
    if not 1 <= level <= 6 or text[level : level + 1] not in (" ", "\t"):
        return None
    words = text[level:].strip(_BLANKS)
    unclosed = words.rstrip("#")
    return level, unclosed.rstrip(_BLANKS) if unclosed.endswith((" ", "\t")) else words


def _is_delimiter(line: str) -> bool:
    """Whether `line` divides a table's head from its rows."""
    if not _DELIMITING.issuperset(line):
        return False
    first, *others = line.strip(_BLANKS).removeprefix("|").removesuffix("|").split("|")
    return "--" in first and all(map(_is_dashes, (first, *others)))


def _is_dashes(cell: str) -> bool:
    return not cell.strip(_BLANKS).removeprefix(":").removesuffix(":").strip("-")
