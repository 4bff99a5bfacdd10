"""A saved index: a header in JSON that names the digest of the columns beside it."""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from habilis.core.types import Frozen
from habilis.library.retrieval.sums import Posting
from habilis.rundir import atomic_write
from habilis.rundir.plain import own_folder, read_plain

_HEADER, _COLUMNS = "index.json", "index.bin"


class Header(Frozen):
    """What the columns hold: cards by place (name and mark), terms by row, how many postings, and their digest."""

    format: Literal[1] = 1
    parameters: str
    names: tuple[str, ...]
    marks: tuple[str, ...]
    terms: tuple[str, ...]
    postings: int = 0
    digest: str = ""


class Columns:
    """Postings as three columns: where each row begins, then places and impacts of all rows."""

    def __init__(self, header: Header, payload: bytes) -> None:
        self.header = header
        whole, rows = memoryview(payload), 8 * (len(header.terms) + 1)
        places = rows + 4 * header.postings
        self._starts = whole[:rows].cast("q")
        self._places = whole[rows:places].cast("i")
        self._impacts = whole[places:].cast("f")

    def posting(self, term: str) -> Posting | None:
        """Places and impacts of `term`, None when no card has it."""
        row = self._rows.get(term)
        if row is None:
            return None
        part = slice(self._starts[row], self._starts[row + 1])
        return self._places[part], self._impacts[part]

    def counts(self, without: set[int]) -> list[int]:
        """How many cards have each term, those at the places `without` left out."""
        starts = self._starts.tolist()
        counts = [end - begin for begin, end in pairwise(starts)]
        if without:
            for number, place in enumerate(self._places):
                if place in without:
                    counts[bisect_right(starts, number) - 1] -= 1
        return counts

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {term: row for row, term in enumerate(self.header.terms)}


def write(folder: Path, header: Header, postings: Sequence[Sequence[Posting]]) -> None:
    """Write the postings of each term of `header`. Two files, each by one rename; the digest tells whether they fit."""
    flat = [posting for row in postings for posting in row]
    sizes = [sum(len(places) for places, _ in row) for row in postings]
    payload = b"".join(
        (
            array("q", accumulate(sizes, initial=0)).tobytes(),
            *(memoryview(places).tobytes() for places, _ in flat),
            *(memoryview(impacts).tobytes() for _, impacts in flat),
        )
    )
    digest = hashlib.sha256(payload).hexdigest()
    whole = header.model_copy(update={"postings": sum(sizes), "digest": digest})
    own_folder(folder)
    atomic_write(folder / _COLUMNS, payload)
    atomic_write(folder / _HEADER, whole.model_dump_json())


def read(folder: Path, parameters: str) -> Columns | None:
    """What `write` left in `folder`; None when nothing whole is there, or it was made with other `parameters`."""
    try:
        header = Header.model_validate_json(read_plain(folder / _HEADER))
        payload = read_plain(folder / _COLUMNS)
    except (OSError, ValidationError):
        return None
    if header.parameters != parameters or hashlib.sha256(payload).hexdigest() != header.digest:
        return None
    if len(payload) != 8 * (len(header.terms) + 1) + 8 * header.postings or len(header.names) != len(header.marks):
        return None
    return Columns(header, payload)
