"""Blocks put together to passages of a bounded size: what a search finds, shows and cites.

A passage stays under one heading. Code and tables are not torn while they fit into four passages; beyond that each
part of a table keeps its head and each part of code its fence, if that is short. Neighbours in prose share their
border's last sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from habilis.messages.truncation import estimated
from habilis.sources.documents.blocks import Block

OVERLAP = 0.12
"""Share of a passage that its follower in the same section begins with."""
_WHOLE = 4
"""How many times a passage's size code or a table may have before it is torn."""
_MOST_LETTERS = 4
"""More letters a token never has, as `estimated` counts: a part is looked for among so many, not in all the rest."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n")


@dataclass(frozen=True)
class Chunk:
    """A passage of a document with its place. Lines and pages count from 1; line 0: the document has none to cite."""

    text: str
    headings: tuple[str, ...]
    first_line: int
    last_line: int
    page: int | None = None

    @property
    def place(self) -> str:
        """Where in its document it stands, for people."""
        where = f"page {self.page}" if self.page is not None else _lines(self.first_line, self.last_line)
        return ", ".join(filter(None, (" > ".join(self.headings[-3:]), where)))


def chunks_of(blocks: Iterable[Block], size: int) -> Iterator[Chunk]:
    """The passages of a document's blocks, each of about `size` tokens at most."""
    gathered: list[Block] = []
    room = size
    for block in (part for whole in blocks for part in _parts(whole, size)):
        tokens = estimated(block.text)
        starts = gathered and (block.headings, block.page) != (gathered[0].headings, gathered[0].page)
        if gathered and (starts or tokens > room):
            yield _chunk(gathered)
            gathered = [] if starts else _overlap(gathered[-1], size)
            room = size - sum(estimated(one.text) for one in gathered)
        gathered.append(block)
        room -= tokens
    if gathered:
        yield _chunk(gathered)


def _chunk(blocks: list[Block]) -> Chunk:
    text = "\n\n".join(block.text for block in blocks)
    first = blocks[0]
    return Chunk(text, first.headings, first.first_line, blocks[-1].last_line, first.page)


def _overlap(block: Block, size: int) -> list[Block]:
    """The last sentences of `block`, to begin the next passage with; nothing of code or a table."""
    if block.shape != "prose":
        return []
    kept: list[str] = []
    room = int(size * OVERLAP)
    for sentence in reversed(_sentences(block.text)):
        room -= estimated(sentence)
        if room < 0:
            break
        kept.insert(0, sentence)
    text = " ".join(kept)
    if not text or text == block.text:
        return []
    return [replace(block, text=text, first_line=block.last_line)]


def _parts(block: Block, size: int) -> Iterator[Block]:
    """`block`, or parts of it that fit."""
    tokens = estimated(block.text)
    if tokens <= size or (block.shape != "prose" and tokens <= _WHOLE * size):
        yield block
    elif block.shape == "prose":
        yield from _packed(block, _pieces(block.text, size), size, "", "")
    else:
        lines = block.text.split("\n")
        head = lines[:2] if block.shape == "table" else lines[:1]
        if estimated("\n".join(head)) > size:  # repeated with each part it would be most of what is kept
            head = []
        last = lines[0].strip()[:3] if block.shape == "code" else ""
        body = lines[len(head) : -1] if last and lines[-1].strip().startswith(last) else lines[len(head) :]
        rows = [piece for line in body for piece in _pieces(line, size)]
        yield from _packed(replace(block, first_line=block.first_line + len(head)), rows, size, "\n".join(head), last)


def _packed(block: Block, pieces: list[str], size: int, head: str, foot: str) -> Iterator[Block]:
    """Pieces of `block` put together as far as they fit, each part with `head` and `foot`. Lines are followed."""
    glue = "" if block.shape == "prose" else "\n"
    part: list[str] = []
    room, line = size, block.first_line
    for piece in pieces:
        tokens = estimated(piece)
        if part and tokens > room:
            yield _part(block, part, glue, head, foot, line)
            line = min(line + _line_breaks(part, glue), block.last_line)
            part, room = [], size
        part.append(piece)
        room -= tokens
    if part:
        yield _part(block, part, glue, head, foot, line)


def _part(block: Block, part: list[str], glue: str, head: str, foot: str, line: int) -> Block:
    text = glue.join(part).strip() if not glue else glue.join(part)
    last = min(line + max(_line_breaks(part, glue) - 1, 0), block.last_line)
    return replace(block, text="\n".join(filter(None, (head, text, foot))), first_line=line, last_line=max(last, line))


def _line_breaks(part: list[str], glue: str) -> int:
    return sum(piece.count("\n") for piece in part) + (len(part) if glue else 0)


def _pieces(text: str, size: int) -> list[str]:
    """`text` in sentences, and what is longer than a passage in runs of letters; joined they are `text` again."""
    found: list[str] = []
    begin = 0
    for match in _SENTENCE.finditer(text):
        if match.end() > begin:
            found.append(text[begin : match.end()])
            begin = match.end()
    found.append(text[begin:])
    return [part for piece in found if piece for part in _runs(piece, size)]


def _runs(text: str, size: int) -> Iterator[str]:
    """`text` cut at spaces, or anywhere where there are none, so that each part fits."""
    at = 0
    while at < len(text):
        part = text[at : at + _MOST_LETTERS * size]
        while len(part) > 1 and (tokens := estimated(part)) > size:
            part = part[: max(len(part) * size // tokens, 1)]
        space = part.rfind(" ", len(part) // 2) if at + len(part) < len(text) else -1
        yield part[: space + 1] if space > 0 else part
        at += space + 1 if space > 0 else len(part)


def _sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE.split(text) if part and part.strip()]


def _lines(first: int, last: int) -> str:
    if not first:
        return ""
    return f"line {first}" if last <= first else f"lines {first}-{last}"
