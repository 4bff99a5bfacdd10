"""What was found damaged, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from habilis.core.errors import UserError
from habilis.rundir import plain_json, read_plain
from habilis.rundir.damage import bad_lines, drop_lines, is_odd, set_aside
from habilis.rundir.files import read_json
from habilis.rundir.seals import unsealed

Outcome = Literal["mended", "mendable", "broken"]


@dataclass(frozen=True)
class Damage:
    """Damage of the file `path`, in `line` (from 1) where it is one line of it.

    `cure` is what was done about it (`mended`), what a repair would do (`mendable`), or what a person can do
    (`broken`).
    """

    path: Path
    what: str
    cure: str
    outcome: Outcome
    line: int = 0

    def __str__(self) -> str:
        where = f"{self.path} line {self.line}" if self.line else str(self.path)
        return f"{where}: {self.what}; {'to mend: ' if self.outcome == 'mendable' else ''}{self.cure}"


@dataclass
class Mender:
    """Collects findings about files below `root`; with `repair` it mends what can be mended."""

    root: Path
    repair: bool
    found: list[Damage] = field(default_factory=list)

    def broken(self, path: Path, what: str, do: str, line: int = 0) -> None:
        """Something that only a person can mend."""
        self.found.append(Damage(path, what, do, "broken", line))

    def mend(self, path: Path, what: str, cure: str, work: Callable[[], Any] | None = None, line: int = 0) -> None:
        """Something that `work` mends (None: whoever needs the file next makes it anew)."""
        try:
            if self.repair and work is not None:
                work()
        except OSError as error:
            self.broken(path, what, f"it cannot be mended: {error.strerror or error}", line)
            return
        self.found.append(Damage(path, what, cure, "mended" if self.repair else "mendable", line))

    def log(self, path: Path, fits: Callable[[dict[str, Any]], object]) -> list[dict[str, Any]]:
        """The rows of a log; what is none of its lines is named and set aside."""
        if self.odd(path) or not path.exists():
            return []
        try:
            rows, bad = bad_lines(path, fits)
        except (OSError, UserError) as error:
            self.aside(path, said(error))
            return []
        for number, why in bad.items():
            self.mend(path, f"damaged: {why}", "that line is set aside", line=number)
        if bad and self.repair:
            drop_lines(path, bad, self.root)
        return rows

    def document(
        self, path: Path, cure: str, sound: Callable[[dict[str, Any]], object] = bool
    ) -> dict[str, Any] | None:
        """A record of one piece; None where there is none, and for a damaged one, which is set aside."""
        if self.odd(path):
            return None
        try:
            record = read_json(path)
            if record is None or sound(record):
                return record
            raise ValueError("it is not a record of this kind")
        except (UserError, ValueError, KeyError, TypeError, AttributeError) as error:
            self.aside(path, said(error).removeprefix(f"{path} ").removeprefix("cannot be read: "), cure)
            return None

    def odd(self, path: Path) -> bool:
        """Whether something else than a file lies in the place of `path`; it is set aside."""
        odd = is_odd(path)
        if odd:
            self.aside(path, "a folder or a link lies in its place")
        return odd

    def aside(self, path: Path, why: str, cure: str = "") -> None:
        """Set `path` aside whole."""
        more = f", {cure}" if cure else ""
        self.mend(path, f"damaged: {why}", f"set aside in damaged/{more}", lambda: set_aside(path, self.root))


def said(error: Exception) -> str:
    """What an error says, on one line."""
    text = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    return " ".join(text.split())[:200] or type(error).__name__


def readable_json(path: Path) -> Any:
    """What the JSON file `path` says, None where it cannot be read."""
    try:
        return plain_json(unsealed(read_plain(path)))
    except (OSError, ValueError):
        return None


def first_whole(paths: Iterable[Path], fits: Callable[[bytes], bool]) -> tuple[Path, bytes] | None:
    """The first of the files whose content fits, with that content."""
    for path in paths:
        try:
            content = read_plain(path)
        except OSError:
            continue
        if fits(content):
            return path, content
    return None
