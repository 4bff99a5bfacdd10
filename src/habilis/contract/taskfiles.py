"""A task's files: which the question and the options name, how tools find them, how prompts show them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from habilis.contract.columns import columns_of
from habilis.contract.json_outline import outline
from habilis.contract.odd_cells import odd_cells
from habilis.core.errors import UserError
from habilis.core.locations import here
from habilis.core.patterns import lazy_pattern
from habilis.core.types import TaskFile

_QUOTED = lazy_pattern(r"[`\"'“”‘’]([^`\"'“”‘’\n]{1,400})[`\"'“”‘’]")
_WORD = lazy_pattern(r"[^\s`\"'“”‘’<>|]+")
_ENDING = lazy_pattern(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")
_DATA_ENDING = lazy_pattern(
    r"\.(csv|tsv|json|jsonl|ndjson|txt|md|log|xml|html?|ya?ml|toml|ini|xlsx?|parquet|pdf|png|jpe?g|gif|webp|zip|gz|sqlite|db|py|sql)$",
    re.IGNORECASE,
)
_TABLE = lazy_pattern(r"\.(?:csv|tsv)$", re.IGNORECASE)
_NUMBER = lazy_pattern(r"[-+]?[0-9][0-9.,]*")
_YEAR = lazy_pattern(r"(?:1[89]|20)[0-9]{2}")
BEGINS_LINES, BEGINS_WIDTH = 3, 120
TABLE_LINES = 4
"""Lines that prompts show of a table in a note: names, dashes, two rows."""
_DASHES = lazy_pattern(r"\|?(?: *:?-+:? *\|)+(?: *:?-+:?)?")
_RECORD = lazy_pattern(r"[A-Za-z][\w .-]{0,40}: ?(?:[^,;|:]|:\d)*(?:[,;|] ?[A-Za-z][\w .-]{0,40}: ?(?:[^,;|:]|:\d)*)+")
NAMES_WIDTH = 480
"""Characters of a table's first line that prompts show: without all its names a table cannot be asked about."""
OUTLINE_WIDTH, OUTLINED_BYTES = 720, 2_000_000
"""Characters of the outline of a JSON document, and the bytes of the largest that is read for one."""


def gather(
    question: str, given: Sequence[str | Path], base: Path, within: Path | None = None
) -> tuple[tuple[TaskFile, ...], tuple[str, ...]]:
    """The task's files and the paths in `question` that do not exist.

    `given` are files the user named apart from the question: a missing one raises `UserError`. Relative names mean
    `base`. With `within` (questions from a data set) only files below that folder count from the question's text.
    """
    files: dict[Path, TaskFile] = {}
    for name in given:
        path = _absolute(str(name), base)
        if not path.exists():
            raise UserError(f"--file {name}: no such file or folder")
        files.setdefault(path, _file(str(name), path))
    missing: list[str] = []
    for name in _names_in(question):
        try:
            path = _absolute(name, base)
            exists = path.is_file() or path.is_dir()  # a pipe or a device has no content to show
        except (OSError, ValueError, RuntimeError):
            continue
        inside = within is None or path.is_relative_to(within.resolve())
        if exists and inside:
            files.setdefault(path, _file(name, path))
        elif _DATA_ENDING.search(name) and not any(name in known.named for known in files.values()):
            missing.append(name)
    return tuple(files.values()), tuple(dict.fromkeys(missing))


def link_into(workspace: Path, files: Iterable[TaskFile]) -> None:
    """Put a link under each relative name into `workspace`, so that tools find the file as the user named it.

    Names that leave the workspace (`../x`) get none: the prompt gives their absolute path.
    """
    for file in files:
        name = Path(file.named)
        if name.is_absolute() or ".." in name.parts or file.named.startswith("~"):
            continue
        link = workspace / name
        if link.is_symlink() or link.exists():
            continue
        try:
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(here(file.path))
        except (FileExistsError, NotADirectoryError):
            continue  # it lies below a folder that is linked as a whole


def view(files: Iterable[TaskFile]) -> list[dict[str, object]]:
    """What prompts show of each file: name, absolute path, first lines of a text or first names of a folder, and what
    is `odd` about the numbers of a table (see `odd_cells`)."""
    shown = []
    for file in files:
        begins = _begins(here(file.path))
        shown.append({"named": plain(file.named), "path": plain(file.path), "is_dir": file.is_dir, "begins": begins})
        nameless = bool(_TABLE.search(file.path)) and not file.is_dir and is_nameless(begins)
        shown[-1]["kind"] = "other" if nameless else kind_of(file, begins)
        if nameless:
            shown[-1]["nameless"] = True
        elif shown[-1]["kind"] != "other" and (odd := odd_cells(columns_of(here(file.path), head=True))):
            shown[-1]["odd"] = odd
    return shown


def kind_of(file: TaskFile, begins: str) -> str:
    """What a file seems to be by its name and first lines: a `table` with names of columns, `json`, or `other`."""
    if file.is_dir or not begins:
        return "other"
    if file.path.lower().endswith(".json"):
        return "json"
    lines = [line for line in begins.splitlines() if line.strip()]
    divided = len({tuple(map(line.count, ",;\t|")) for line in lines}) == 1 and any(map(lines[0].count, ";\t|"))
    return "table" if divided or _TABLE.search(file.path) else "other"


def is_nameless(begins: str) -> bool:
    """Whether the first row of a table looks like those below it, so that it holds data where names would stand.

    A year over numbers may be a name.
    """
    divider = max(",;\t|", key=begins.count)
    rows = [[cell.strip() for cell in line.split(divider)] for line in begins.splitlines() if line.strip()]
    if len(rows) < 2 or len({len(row) for row in rows}) > 1:
        return False
    columns = [[bool(_NUMBER.fullmatch(cell)) for cell in column] for column in zip(*rows, strict=True)]
    alike = all(len(set(column)) == 1 for column in columns)
    return alike and any(column[0] and not _YEAR.fullmatch(cell) for column, cell in zip(columns, rows[0], strict=True))


def _begins(path: Path) -> str:
    """The first lines or names; nothing of what cannot be read or is no regular file (a pipe would be waited for)."""
    try:
        if path.is_dir():
            return _names_below(path)
        if not path.is_file():
            return ""
        with path.open("rb") as stream:
            head = stream.read(4 * (BEGINS_LINES * BEGINS_WIDTH + NAMES_WIDTH))
    except OSError:
        return ""
    if b"\0" in head:
        return ""
    text = head.decode("utf-8-sig", errors="replace")
    if path.suffix.lower() == ".json":  # indented, its first lines are little but brackets
        text, width = " ".join(text.split()), BEGINS_LINES * BEGINS_WIDTH
        if len(text) > width and (outlined := _outlined(path)):
            return f"    {outlined}"
        return f"    {text[:width]}{'…' if len(text) > width else ''}" if text else ""
    widths = [NAMES_WIDTH if _TABLE.search(path.name) else BEGINS_WIDTH, *[BEGINS_WIDTH] * (BEGINS_LINES - 1)]
    shown = [*zip(text.splitlines(), widths, strict=False)]
    if path.suffix.lower() in (".md", ".markdown", ".txt"):
        shown = _with_table(text.rpartition("\n")[0].splitlines(), shown)  # without what may be cut off
    return "\n".join(f"    {line[:width]}{'…' if len(line) > width else ''}" for line, width in shown)


def _outlined(path: Path) -> str | None:
    """The outline of a JSON document; None for what is no such document, or too large to be read for a prompt."""
    try:
        if path.stat().st_size > OUTLINED_BYTES:
            return None
        return outline(json.loads(path.read_text(encoding="utf-8-sig")), OUTLINE_WIDTH)
    except (OSError, ValueError, RecursionError):
        return None


def _with_table(lines: list[str], shown: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """What is shown of a note, and the first lines of a table in it: without the names of its columns it cannot be
    asked about. A table has a line of dashes below its names, or names all cells in each line."""
    for start, (line, below) in enumerate(pairwise(lines)):
        bars = line.startswith("|") and _DASHES.fullmatch(below.strip())
        if bars or (_RECORD.fullmatch(line) and _RECORD.fullmatch(below)):
            first, last = min(start, BEGINS_LINES), start + (TABLE_LINES if bars else BEGINS_LINES)
            gap = [("…", BEGINS_WIDTH)] if start > BEGINS_LINES else []
            return [*shown[:first], *gap, *((one, NAMES_WIDTH) for one in lines[start:last] if one.strip())]
    return shown


def _names_below(folder: Path) -> str:
    with os.scandir(folder) as entries:
        names = sorted(plain(entry.name) + ("/" if entry.is_dir() else "") for entry in entries)
    shown = "\n".join(f"    {name}" for name in names[:10])
    return f"{shown}\n    … {len(names)} entries" if len(names) > 10 else shown


def plain(name: str) -> str:
    """`name` in one line and without what no text can hold, for a prompt."""
    return name.encode("utf-8", "replace").decode("utf-8").replace("\n", "\\n").replace("\r", "\\r")


def _names_in(question: str) -> list[str]:
    """Everything in `question` that may be a path, quoted names (which may hold spaces) first."""
    quoted = [name.strip() for name in _QUOTED.findall(question)]
    words = [word.rstrip(".,;:!?)]}»").lstrip("([{«") for word in _WORD.findall(question)]
    names = [name for name in quoted if "/" in name or _ENDING.search(name)]
    names += [word for word in words if ("/" in word or _ENDING.search(word)) and "://" not in word]
    return [name for name in dict.fromkeys(names) if name.strip("./~")]


def _absolute(name: str, base: Path) -> Path:
    return (base / Path(name).expanduser()).resolve()


def _file(name: str, path: Path) -> TaskFile:
    return TaskFile(named=name.rstrip("/") or name, path=str(path), is_dir=path.is_dir())
