"""Plain text, and the passages of any document: what the host makes of small texts and the sandboxed guest of others.

This module, and those of ours that it imports, run inside the sandbox too: they import the standard library alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from habilis.sources.documents.blocks import blocks_of
from habilis.sources.documents.chunks import Chunk, chunks_of
from habilis.sources.documents.decoding import decoded

NO_TEXT = "is no text, HTML or PDF"
_MOST, _LETTERS_EACH = 20_000, 100
"""Passages that any document may have, and how many letters of it allow one more. Each carries its headings along: a
document of nothing but sections would otherwise be kept a hundred times over."""


def plain_text(content: bytes, declared: str | None = None) -> tuple[str, str, str]:
    """The text of a document that is nothing else; what is to be said of how it was read; why there is none."""
    found = decoded(content, declared)
    if found is None:
        return "", "", NO_TEXT
    return found.text, f"is not UTF-8, read as {found.encoding}" if found.guessed else "", ""


def passages(parts: Iterable[tuple[str, int | None]], kind: str, size: int) -> tuple[list[Chunk], str]:
    """The passages of a document's parts (text and page), of about `size` tokens each, and what is to be said of it.

    What was taken out of HTML does not stand in the file line by line, so its passages have no lines.
    """
    made: list[Chunk] = []
    for text, page in parts:
        most = _MOST + len(text) // _LETTERS_EACH
        found = chunks_of(blocks_of(text, markdown=kind in ("markdown", "html", "page"), page=page), size)
        made += islice(found, most)
        if next(found, None) is not None:
            return made, f"only its first {len(made):,} passages are searched"
    if kind in ("html", "page"):
        made = [replace(chunk, first_line=0, last_line=0) for chunk in made]
    return made, ""
