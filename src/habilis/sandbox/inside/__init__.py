"""Programs that run behind the wall, each one file that imports nothing of ours; `program` finds them."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent


def program(name: str) -> Path:
    """The file of the program called `name`."""
    return _HERE / f"{name}.py"
