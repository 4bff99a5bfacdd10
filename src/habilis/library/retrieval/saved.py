"""A saved index: a header in JSON that names the digest of the columns beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import ValidationError

from habilis.core.types import Frozen
from habilis.rundir import atomic_write
from habilis.rundir.plain import own_folder, read_plain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Posting = tuple[NDArray[np.int32], NDArray[np.float32]]

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
        import numpy as np

        self.header = header
        rows = len(header.terms) + 1
        self._starts = np.frombuffer(payload, np.int64, rows)
        self._places = np.frombuffer(payload, np.int32, header.postings, self._starts.nbytes)
        self._impacts = np.frombuffer(payload, np.float32, header.postings, self._starts.nbytes + self._places.nbytes)

    def posting(self, term: str) -> Posting | None:
        """Places and impacts of `term`, None when no card has it."""
        row = self._rows.get(term)
        if row is None:
            return None
        part = slice(self._starts[row], self._starts[row + 1])
        return self._places[part], self._impacts[part]

    def counts(self, without: set[int]) -> list[int]:
        """How many cards have each term, those at the places `without` left out."""
        import numpy as np

        counts = np.diff(self._starts)
        if without:
            gone = np.nonzero(np.isin(self._places, list(without)))[0]
            np.subtract.at(counts, np.searchsorted(self._starts, gone, side="right") - 1, 1)
        return [int(count) for count in counts]

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {term: row for row, term in enumerate(self.header.terms)}


def write(folder: Path, header: Header, postings: Sequence[Sequence[Posting]]) -> None:
    """Write the postings of each term of `header`. Two files, each by one rename; the digest tells whether they fit."""
    import numpy as np

    flat = [posting for row in postings for posting in row]
    sizes = [sum(len(places) for places, _ in row) for row in postings]
    payload = b"".join(
        (
            np.cumsum([0, *sizes], dtype=np.int64).tobytes(),
            *(places.astype(np.int32, copy=False).tobytes() for places, _ in flat),
            *(impacts.astype(np.float32, copy=False).tobytes() for _, impacts in flat),
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
