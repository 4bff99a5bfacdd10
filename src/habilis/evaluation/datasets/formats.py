"""Rows out of files, as they stand there: JSON lines, JSON, CSV and its kin, Parquet.

A record is a mapping of column names to values with the place it came from, for messages. What cannot be read as a
record is a `BrokenRow` in its place, so that the caller decides whether one bad row ends the work.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from habilis.core.errors import UserError

Container = Literal["jsonl", "json", "csv", "tsv", "parquet"]
CONTAINERS: tuple[Container, ...] = get_args(Container)
ENDINGS: Mapping[str, Container] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
DELIMITERS = ",;\t|"
SNIFFED = 20
"""Rows that the delimiter is told by."""
MAX_CELL = 1 << 28
"""Characters of one cell; images come as text."""
MAX_LINE = 1 << 27
"""Bytes of one line of JSON lines; it may hold files of 64 MB in base64."""
MAX_FILE = 1 << 30
"""Bytes of a file that is read as a whole, and of a Parquet row group unpacked."""
BATCH = 16
"""Rows of a Parquet file in memory at once; a row may hold an image of megabytes."""
UNQUOTED = frozenset({"utterance", "context", "targetValue"})
"""Columns that tell a tab-separated file in which a quotation mark is a letter like others (WikiTableQuestions)."""
LIST_NAMES = ("data", "rows", "examples", "questions", "tasks", "items", "samples", "records")


@dataclass(frozen=True)
class RawRow:
    """One row as it was read. `place` says where: `line 7`, `row 3`."""

    place: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class BrokenRow:
    """A row that could not be read, and why."""

    place: str
    reason: str


Read = Iterator[RawRow | BrokenRow]


def read_records(path: Path, container: Container | None = None, *, leave_out: frozenset[str] = frozenset()) -> Read:
    """The rows of `path` in order; its form is told by its ending unless given. `leave_out` names columns to pass over.

    Raises `UserError` for a file that as a whole cannot be read in that form.
    """
    form = container or ENDINGS.get(path.suffix.lower())
    if form is None:
        known = ", ".join(ENDINGS)
        raise UserError(f"{path}: its ending is none of {known}; name its format with --format")
    if form == "parquet":
        return _parquet(path, leave_out)
    if form == "jsonl":
        return _json_lines(path)
    text = _text(path)
    if form in ("csv", "tsv"):
        return _table(path, text, "\t" if form == "tsv" else None)
    return _whole(path, text)


def _text(path: Path) -> str:
    """The text of a file: UTF-8 with or without a mark, or UTF-16 with one."""
    try:
        if path.stat().st_size > MAX_FILE:
            wanted = "save it as JSON lines in UTF-8 (.jsonl) or as Parquet"
            raise UserError(f"{path}: larger than {MAX_FILE >> 30} GB; {wanted}")
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None


def _json_lines(path: Path) -> Read:
    """The lines of a file, one after another, so that no more of it is held than a row."""
    try:
        with path.open("rb") as stream:
            if stream.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
                yield from _lines(path, _text(path))
                return
            stream.seek(0)
            before = 0
            for number, line in enumerate(iter(lambda: stream.readline(MAX_LINE + 1), b""), 1):
                if len(line) > MAX_LINE:
                    yield BrokenRow(f"line {number}", f"longer than {MAX_LINE >> 20} MB")
                    return  # what of the rest is a row cannot be told without reading it
                yield from _line(path, number, line.removeprefix(codecs.BOM_UTF8) if number == 1 else line, before)
                before += len(line)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None


def _line(path: Path, number: int, line: bytes, before: int) -> Read:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text (byte {before + error.start}); save it as UTF-8") from None
    if text.strip():
        yield _record(f"line {number}", *_parsed(text))


def _lines(path: Path, text: str) -> Read:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield _record(f"line {number}", *_parsed(line))


def _parsed(text: str) -> tuple[Any, str]:
    """The JSON value in `text`, or None and what is wrong with it."""
    try:
        return json.loads(text, strict=False), ""
    except (ValueError, RecursionError) as error:
        return None, f"not JSON: {' '.join(str(error).split())}"


def _record(place: str, value: Any, problem: str = "") -> RawRow | BrokenRow:
    if isinstance(value, dict):
        return RawRow(place, value)
    return BrokenRow(place, problem or f"an object was expected, not {_kind(value)}")


def _kind(value: Any) -> str:
    return {list: "a list", str: "a text", type(None): "null"}.get(type(value), f"a {type(value).__name__}")


def _whole(path: Path, text: str) -> Read:
    """A list of objects, alone or inside an object; and JSON lines in a file called .json, which is common."""
    value, problem = _parsed(text)
    if problem:
        first = next((line for line in text.split("\n") if line.strip()), "")
        if "Extra data" in problem and isinstance(_parsed(first)[0], dict):
            yield from _lines(path, text)
            return
        raise UserError(f"{path}: {problem}")
    for number, item in enumerate(_list_in(path, value), 1):
        yield _record(f"row {number}", item)


def _list_in(path: Path, value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        lists = {name: held for name, held in value.items() if isinstance(held, list)}
        names = [name for name in LIST_NAMES if name in lists]
        if names or len(lists) == 1:
            return lists[names[0] if names else next(iter(lists))]
        if len(lists) > 1:
            raise UserError(f"{path}: several lists ({', '.join(lists)}) and none called {LIST_NAMES[0]}; keep one")
    raise UserError(f"{path}: a list of objects was expected, or an object that holds one, not {_kind(value)}")


def _table(path: Path, text: str, delimiter: str | None) -> Read:
    csv.field_size_limit(max(MAX_CELL, csv.field_size_limit()))
    stream, divided = io.StringIO(text, newline=""), delimiter or _delimiter(text)
    if divided == "\t" and _is_unquoted(text):
        rows = csv.reader(stream, delimiter=divided, quoting=csv.QUOTE_NONE)
    else:
        rows = csv.reader(stream, delimiter=divided, strict=True)
    try:
        head = next(rows, [])
    except csv.Error as error:
        raise UserError(f"{path}: {error}") from None
    names = [name.strip() for name in head]
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise UserError(
            f"{path}: two columns are called {twice[:60]!r}" if twice else f"{path}: two columns have no name"
        )
    number = 0
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            yield BrokenRow(f"row {number + 1} (line {rows.line_num})", str(error))
            return  # where the next row begins cannot be told any more
        if row is None:
            return
        if not row:
            continue
        number += 1
        if len(row) != len(names):
            yield BrokenRow(f"row {number} (line {rows.line_num})", f"{len(row)} fields, and {len(names)} column names")
        else:
            yield RawRow(f"row {number}", {n: v if v.strip() else None for n, v in zip(names, row, strict=True)})


def _is_unquoted(text: str) -> bool:
    return UNQUOTED.issubset(text.partition("\n")[0].strip().split("\t"))


def _delimiter(text: str) -> str:
    """The character that divides the first rows into most columns, the same number in each."""

    def columns(delimiter: str) -> int:
        widths = []
        try:
            for row in csv.reader(io.StringIO(text[: 1 << 20], newline=""), delimiter=delimiter):
                if row:
                    widths.append(len(row))
                if len(widths) >= SNIFFED:
                    break
        except csv.Error:
            pass
        alike = sum(width == widths[0] for width in widths) if widths else 0
        return widths[0] * alike if widths and widths[0] > 1 else 0

    return max(DELIMITERS, key=columns)


def _parquet(path: Path, leave_out: frozenset[str]) -> Read:
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ModuleNotFoundError:
        raise UserError(f"{path}: reading Parquet needs pyarrow; install it: pip install 'habilis[datasets]'") from None
    if not path.is_file():
        raise UserError(f"{path}: no such file")

    return _batches(path, parquet, leave_out, (pyarrow.ArrowException, OSError))


def _batches(path: Path, parquet: Any, leave_out: frozenset[str], errors: tuple[type[Exception], ...]) -> Read:
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            sizes = [file.metadata.row_group(n).total_byte_size for n in range(file.metadata.num_row_groups)]
            if max(sizes, default=0) > MAX_FILE:
                raise UserError(
                    f"{path}: a row group of more than {MAX_FILE >> 30} GB unpacked; save it in smaller ones"
                )
            columns = [name for name in file.schema_arrow.names if name not in leave_out]
            for batch in file.iter_batches(batch_size=BATCH, columns=columns):
                for values in batch.to_pylist():
                    number += 1
                    yield RawRow(f"row {number}", values)
    except errors as error:
        raise UserError(f"{path}: not a Parquet file that can be read: {' '.join(str(error).split())}") from None
