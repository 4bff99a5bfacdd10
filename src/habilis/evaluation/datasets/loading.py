"""From a path or a name on the hub to rows: read, map, resolve files, check. See `load`."""

from __future__ import annotations

import difflib
import hashlib
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, get_args

from habilis.core.errors import UserError
from habilis.curation.ledger.reports import Row, Scorer
from habilis.evaluation.datasets import hub
from habilis.evaluation.datasets.attachments import BadFile, files_of
from habilis.evaluation.datasets.fields import RowFields, chosen
from habilis.evaluation.datasets.formats import CONTAINERS, BrokenRow, Container, RawRow, read_records
from habilis.evaluation.datasets.published import BENCHMARKS, Parts, Published, of_repository, recognised

log = logging.getLogger(__name__)
Notice = Callable[[str], None]
FORMATS = ("auto", *CONTAINERS, *BENCHMARKS)
PEEKED = 50
"""Rows that columns are told by."""
SCORERS = get_args(Scorer)
_PARTS = ("id", "question", "answer", "files", "scorer", "rubric")


_MOST_ID = 1_000


class _BadRow(ValueError):
    """A row that cannot become a task. Its text says why."""


def load(
    path: str,
    *,
    format: str = "auto",
    fields: Mapping[str, str] | None = None,
    limit: int | None = None,
    skip_broken: bool = False,
    notice: Notice | None = None,
) -> list[Row]:
    """The tasks of the data set at `path`: a file, a folder with one, or `hub:OWNER/NAME`.

    `format` is one of `FORMATS`: a form of file, or a published benchmark; `auto` goes by ending and columns. `fields`
    maps meanings (`fields.USUAL`) to columns or dotted paths. `limit` stops after that many rows. What was chosen
    unasked goes to `notice` (default: the log), and so does each broken row that `skip_broken` passes over.

    Raises `UserError`, one line that names file, row and reason: for a file that cannot be read, a broken row, a
    question that is missing, an id that came before, a file outside the data set's folder, and a set without rows.
    """
    tell = notice or log.info
    if format not in FORMATS:
        near = difflib.get_close_matches(format, FORMATS, 1, 0.5)
        raise UserError(f"format {format}: " + (f"did you mean {near[0]}?" if near else f"known: {', '.join(FORMATS)}"))
    files = _files(path)
    if format == "auto" and hub.is_hub(path) and not fields and (known := of_repository(hub.parsed(path).repository)):
        format = known.name
    rows: dict[str, Row] = {}
    faults: list[str] = []
    for where, made in _made(files, format, fields or {}, tell):
        if isinstance(made, Row) and made.id in rows:
            made = _BadRow(f"the id {made.id!r} came before")
        if isinstance(made, Row):
            rows[made.id] = made
            if limit is not None and len(rows) >= limit:
                break
        else:
            faults.append(f"{where}: {made}")
            if not skip_broken:
                raise UserError(f"{faults[0]}; correct it, or skip broken rows with --skip-broken")
            tell(f"passed over {faults[-1]}")
    if not rows:
        raise UserError(f"{path}: no row can be used" + (f"; the first: {faults[0]}" if faults else ""))
    return list(rows.values())


def _files(path: str) -> list[Path]:
    if hub.is_hub(path):
        return hub.fetch(path)
    place = Path(path).expanduser()
    if place.is_dir():
        return hub.tables(place, path)
    if not place.is_file():
        hint = f"; for the published set say hub:{path}" if path in BENCHMARKS else ""
        raise UserError(f"data set {path}: no such file or folder{hint}")
    return [place]


Made = tuple[str, Row | _BadRow]


def _made(files: list[Path], format: str, fields: Mapping[str, str], tell: Notice) -> Iterator[Made]:
    """Each row of all files with its place in words."""
    benchmark, form = BENCHMARKS.get(format), _container(format)
    left_out = benchmark.leave_out if benchmark else frozenset()
    records = chain.from_iterable(
        ((file, record) for record in read_records(file, form, leave_out=left_out)) for file in files
    )
    first = list(islice(records, PEEKED))
    seen = [record.values for _, record in first if isinstance(record, RawRow)]
    if format == "auto" and not fields:
        benchmark = recognised(name for values in seen[:1] for name in values)
        if benchmark:
            tell(f"{files[0]}: read as {benchmark.name}, by its columns")
    if benchmark and fields:
        raise UserError(f"fields are for plain data; {benchmark.name} has columns of its own (--format csv, json, …)")
    read = _reader(benchmark, fields, seen, files[0], tell) if seen else None
    beside = cache(benchmark.beside) if benchmark and benchmark.beside else None
    left = 0
    for file, record in chain(first, records):
        where = f"{file}, {record.place}"
        if isinstance(record, BrokenRow) or read is None:
            yield where, _BadRow(record.reason if isinstance(record, BrokenRow) else "no row before it could be read")
            continue
        try:
            parts = read(record.values)
            left += parts is None
            if parts is not None and beside is not None:
                yield where, _row(beside(file).complete(parts), beside(file).folder, benchmark)
            elif parts is not None:
                yield where, _row(parts, file.parent, benchmark)
        except RecursionError:
            yield where, _BadRow("nested too deep")
        except (_BadRow, BadFile, ValueError) as error:
            yield where, error if isinstance(error, _BadRow) else _BadRow(_one_line(error))
    if left and benchmark:
        tell(f"{files[0]}: left out {left:,} rows that are not of {benchmark.name}")


def _container(format: str) -> Container | None:
    return next((known for known in CONTAINERS if known == format), None)


def _reader(
    benchmark: Published | None, fields: Mapping[str, str], seen: list[Mapping[str, Any]], file: Path, tell: Notice
) -> Callable[[Mapping[str, Any]], Parts | None]:
    if benchmark:
        missing = sorted(benchmark.signature - {name for values in seen for name in values})
        if missing:
            raise UserError(f"{file}: not {benchmark.name} as published; it has no column {', '.join(missing)}")
        return benchmark.read
    mapping, told = chosen(fields, seen, str(file))
    if told:
        tell(f"{file}: read with {told}")
    return lambda values: _plain_parts(mapping, values)


def _plain_parts(mapping: RowFields, values: Mapping[str, Any]) -> Parts:
    return {meaning: mapping.get(values, meaning) for meaning in mapping.columns}


def _row(parts: Parts, folder: Path, benchmark: Published | None) -> Row:
    """The row that `parts` describe. Raises `_BadRow` and `BadFile`."""
    question = _text(parts.get("question"))
    if not question.strip():
        raise _BadRow("the question is missing")
    files = files_of(parts.get("files"), folder)
    extra = {key: value for key, value in parts.items() if key not in _PARTS and value is not None}
    if benchmark:
        extra["benchmark"] = benchmark.name.partition("-")[0]
        extra |= {"guarded": True} if benchmark.guarded else {}
    if "category" in extra:
        extra["category"] = _text(extra["category"])
    if "tolerance" in extra:
        extra["tolerance"] = _tolerance(extra["tolerance"])
    return Row(
        id=_id(parts.get("id"), question, files),
        question=question,
        answer=_answer(parts.get("answer")),
        files=files,
        scorer=_scorer(parts.get("scorer")),
        rubric=_text(parts.get("rubric")) or None,
        extra=extra,
    )


def _text(value: Any) -> str:
    """`value` as text that can be stored; a lone surrogate, which no file can hold, becomes a question mark."""
    if value is None:
        return ""
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False, default=str)
    return str(value).encode("utf-8", "replace").decode()


def _id(value: Any, question: str, files: tuple[str, ...]) -> str:
    """The row's own id, else one of its content: the same question with the same files keeps it for ever."""
    if isinstance(value, bool | list | dict):
        raise _BadRow(f"the id is {json.dumps(value, default=str)[:60]}; a text or a number was expected")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    own = _text(value).strip()
    if len(own) > _MOST_ID or not own.isprintable():
        raise _BadRow(f"the id {own[:60]!r} is not one plain line of at most {_MOST_ID:,} letters")
    if own:
        return own
    names = [Path(name).name for name in files]
    content = json.dumps([question, names], ensure_ascii=False).encode("utf-8", "replace")
    return f"row-{hashlib.sha256(content).hexdigest()[:12]}"


def _answer(value: Any) -> Any:
    """The answer as JSON-plain data; blank text is none."""
    if isinstance(value, str):
        return _text(value) if value.strip() else None
    return json.loads(json.dumps(value, default=str)) if isinstance(value, list | dict) else _plain(value)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _scorer(value: Any) -> Scorer:
    for known in SCORERS:
        if value == known or (value in (None, "") and known == "auto"):
            found: Scorer = known
            return found
    raise _BadRow(f"scorer {value!r} is none of {', '.join(SCORERS)}")


def _tolerance(value: Any) -> float:
    try:
        tolerance = float(value)
    except (TypeError, ValueError):
        tolerance = -1.0
    if not 0 <= tolerance < 1:
        raise _BadRow(f"tolerance {value!r}; a share such as 0.01 was expected")
    return tolerance


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())
