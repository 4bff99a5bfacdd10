"""What an import that was interrupted leaves for the next: the files that it refused, so that none is tried again.

What it took is in the library, and recognised there. The note lies beside the generations and goes with the next import
that comes to its end.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, ValidationError

from habilis.core.types import FORMAT, Frozen
from habilis.rundir import atomic_write
from habilis.rundir.plain import read_plain

NAME = ".import.json"
MAX_BYTES = 64 << 20


class Left(Frozen):
    """`refused`: the reason, by the digest of the file."""

    format: int = FORMAT
    refused: dict[str, str] = Field(default_factory=dict)


def read(folder: Path) -> Left:
    """What the interrupted import of the library with these generations left; nothing where none was."""
    try:
        return Left.model_validate_json(read_plain(folder / NAME, MAX_BYTES))
    except (OSError, ValidationError, ValueError):
        return Left()


def write(folder: Path, left: Left) -> None:
    """Leave it. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    atomic_write(folder / NAME, left.model_dump_json().encode("utf-8"))


def clear(folder: Path) -> None:
    """It is of no use any more. Raises OSError."""
    (folder / NAME).unlink(missing_ok=True)
