"""A file's content in other words: rows left out, doubled and in another order, cells that changed places, another
encoding, delimiter or quoting, blank and missing cells, one row, none."""

from __future__ import annotations

import codecs
import csv
import io
import random
import re
from collections.abc import Iterator
from typing import Any, Literal

from habilis.inputs.formats import as_date

MAX_BYTES = 256 << 10
"""Larger files are given as they are."""
DELIMITERS = ",;\t|"
_ALWAYS = ("beyond ASCII", "quoted", "rows end in CRLF")
"""What any text file may hold, whatever those held that were seen."""


def always(trait: str) -> bool:
    """Whether a trait of a file is one that every reader of such files has to expect."""
    return trait.startswith("file ") and trait.endswith(_ALWAYS)


def labels(name: str, content: bytes) -> Iterator[str]:
    """The traits of a file."""
    kind = f"file *.{name.rpartition('.')[2].lower()}" if "." in name else "file"
    encoding, text = _read(content)
    if text is None:
        yield f"{kind} of {encoding}"
        return
    if encoding != "utf-8":
        yield f"{kind} in {encoding}"
    if not text.isascii():
        yield f"{kind} beyond ASCII"
    if "\r\n" in text:
        yield f"{kind} rows end in CRLF"
    lines = text.splitlines()
    if not lines:
        yield f"{kind} empty"
    delimiter = _delimiter(lines)
    if delimiter is None:
        if any(not line.strip() for line in lines):
            yield f"{kind} with a blank line"
        return
    yield f"{kind} parted by {delimiter!r}"
    if '"' in text:
        yield f"{kind} quoted"
    rows = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    if len(rows) == 1:
        yield f"{kind} without rows"
    if any(not cell.strip() for row in rows for cell in row):
        yield f"{kind} with a blank cell"
    if any(len(row) != len(rows[0]) for row in rows):
        yield f"{kind} with a missing cell"


def variant(content: bytes, lot: random.Random) -> bytes:
    """Another content of the same kind; the same where it is no text, or too large."""
    encoding, text = _read(content)
    if text is None or len(content) > MAX_BYTES or not text.strip():
        return content
    delimiter = _delimiter(text.splitlines())
    changed = _table(text, delimiter, lot) if delimiter is not None else _lines(text, lot)
    return changed.encode(encoding, "replace")


def odd_variants(content: bytes) -> Iterator[tuple[bytes, bytes | None]]:
    """The same content in other encodings, with other delimiters, with cells that are blank or missing, with none; each
    beside a content that says the very same, where there is one."""
    _, text = _read(content)
    if text is None or len(content) > MAX_BYTES or not text.strip():
        return
    head, end, rest = text.partition("\n")
    foreign = f"{head}{end}{_with_accents(rest)}" if rest.strip() else _with_accents(text)
    plain = foreign.encode("utf-8")
    yield plain, None
    yield codecs.BOM_UTF8 + text.encode("utf-8"), text.encode("utf-8")
    latin = foreign.encode("latin-1", "replace")
    yield latin, plain if latin.decode("latin-1") == foreign else None
    yield foreign.encode("utf-16"), plain
    lines = text.splitlines()
    delimiter = _delimiter(lines)
    if delimiter is not None and len(lines) > 1:
        other = ";" if delimiter != ";" else ","
        same = text.encode("utf-8") if other not in text and '"' not in text else None
        yield text.replace(delimiter, other).encode("utf-8"), same
        cells = lines[-1].split(delimiter)
        yield "\n".join([*lines[:-1], delimiter.join([*cells[:-1], ""])]).encode("utf-8"), None
        yield "\n".join([*lines[:-1], delimiter.join(cells[:-1])]).encode("utf-8"), None
        yield (lines[0] + "\n").encode("utf-8"), None
    yield b"", None


def _read(content: bytes) -> tuple[str, str | None]:
    """The encoding of a content, and its text; none where it is no text."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16", content.decode("utf-16", "replace")
    if b"\0" in content:
        return "bytes", None
    try:
        if content.startswith(codecs.BOM_UTF8):
            return "utf-8-sig", content.decode("utf-8-sig")
        return "utf-8", content.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1", content.decode("latin-1")


def _delimiter(lines: list[str]) -> str | None:
    """What parts the cells of a table; None where the lines are none."""
    full = [line for line in lines if line.strip()]
    for delimiter in DELIMITERS:
        if full and delimiter in full[0] and 2 * sum(delimiter in line for line in full) > len(full):
            return delimiter
    return None


def _table(text: str, delimiter: str, lot: random.Random) -> str:
    head, *rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row]
    kind = lot.choice(("cells", "cells", "digits", "digits", "quoted", "accents", "rows", "one", "lines end"))
    if not rows:
        return text
    if kind == "rows":
        rows = _reordered(rows, lot)
    elif kind == "one":
        rows = [lot.choice(rows)]
    elif kind == "cells":
        column = lot.randrange(len(head))
        known = [row[column] for row in rows if column < len(row)]
        rows = [[lot.choice(known) if n == column else cell for n, cell in enumerate(row)] for row in rows]
    elif kind == "digits":
        rows = [[_other_digits(cell, lot) for cell in row] for row in rows]
    elif kind == "accents":
        rows = [[_with_accents(cell) for cell in row] for row in rows]
    out = io.StringIO()
    quoting: Literal[0, 1] = csv.QUOTE_ALL if kind == "quoted" else csv.QUOTE_MINIMAL
    end = "\r\n" if kind == "lines end" else "\n"
    csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows([head, *rows])
    return out.getvalue()


def _lines(text: str, lot: random.Random) -> str:
    lines = text.splitlines()
    kind = lot.choice(("lines", "words", "digits", "accents", "one", "lines end"))
    if kind == "lines":
        lines = _reordered(lines, lot)
    elif kind == "one":
        lines = [lot.choice(lines)]
    elif kind == "words":
        words = text.split()
        lines = [" ".join(lot.choice(words) for _ in line.split()) for line in lines]
    elif kind == "digits":
        lines = [_other_digits(line, lot) for line in lines]
    elif kind == "accents":
        lines = [_with_accents(line) for line in lines]
    end = "\r\n" if kind == "lines end" else "\n"
    return end.join(lines) + (end if text.endswith("\n") else "")


def _reordered(items: list[Any], lot: random.Random) -> list[Any]:
    kind = lot.choice(("reversed", "shuffled", "fewer", "twice"))
    if kind == "reversed":
        return items[::-1]
    if kind == "shuffled":
        return lot.sample(items, len(items))
    if kind == "twice":
        return [*items, lot.choice(items)]
    left = lot.randrange(len(items))
    return items[:left] + items[left + 1 :] or items


def _other_digits(text: str, lot: random.Random) -> str:
    """Each number with its last digit changed, and never zero; a date stays one."""
    if as_date(text.strip()):
        return text
    return re.sub(r"\d(?!\d)", lambda found: str(lot.randint(1, 9)), text)


def _with_accents(text: str) -> str:
    """The first word of small letters with an accent in it; tags of a page and keys of a document keep theirs."""
    left = 2

    def accented(found: re.Match[str]) -> str:
        nonlocal left
        if found.group().startswith(("<", '"')) or not left:
            return found.group()
        left -= 1
        return "é" if found.group() == "e" else "ä"

    return re.sub(r"<[^<>]*>|\"\w+\" ?:|[ae](?=[a-z]|\b)", accented, text)
