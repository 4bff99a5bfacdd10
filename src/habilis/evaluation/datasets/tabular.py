"""Two benchmarks of questions over tables, as they are given out: rows, answers and tables lie in files of their own.

DABench (InfiAgent, Hu et al., 2024; InfiAgent/InfiAgent, `examples/DA-Agent/data`): questions and labels are JSON lines
that share their ids, the tables a folder beside them. WikiTableQuestions (Pasupat and Liang, 2015;
ppasupat/WikiTableQuestions): `data/*.tsv` with escapes of its own, tables below `csv/`, and the answers as numbers and
dates in `tagged/data/*.tagged`, where that folder is there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from habilis.core.errors import UserError
from habilis.evaluation.datasets.formats import Container, RawRow, read_records

Values = Mapping[str, Any]
Parts = dict[str, Any]
DABENCH_COLUMNS = frozenset({"id", "question", "constraints", "format", "file_name"})
WIKITABLES_COLUMNS = frozenset({"id", "utterance", "context", "targetValue"})
_TABLE_FOLDERS = ("da-dev-tables", "tables", ".")
_ESCAPES = {"n": "\n", "p": "|", "\\": "\\"}


@dataclass(frozen=True)
class Beside:
    """What lies beside one file of rows: the `folder` that its tables are below, and how a row is completed from it."""

    folder: Path
    complete: Callable[[Parts], Parts]


def dabench(values: Values) -> Parts:
    """DABench: what is asked, what to mind, and the form of the answer, `@name[value]` for each value."""
    asked = [values.get("question"), values.get("constraints"), f"The table is {values.get('file_name')}."]
    form = f"Give the answer in this form: {values.get('format')}"
    return {
        "id": values.get("id"),
        "question": "\n".join(str(part).strip() for part in (*asked, form) if part) if values.get("question") else "",
        "files": values.get("file_name"),
        "category": values.get("level"),
    }


def beside_dabench(path: Path) -> Beside:
    """The labels and the tables of a file of questions. Raises `UserError` where there are no labels."""
    labels = path.with_name(path.name.replace("questions", "labels"))
    if labels == path or not labels.is_file():
        wanted = (
            f"put {labels.name} beside it" if labels != path else "name it …questions.jsonl, with …labels.jsonl beside"
        )
        raise UserError(f"{path}: the answers of DABench lie in a file of their own; {wanted}")
    known = {str(values.get("id")): _named(labels, place, values) for place, values in _whole(labels, "jsonl")}
    folders = [path.parent / name for name in _TABLE_FOLDERS]
    tables = next((folder for folder in folders if folder.is_dir()), path.parent)

    def complete(parts: Parts) -> Parts:
        name = str(parts["files"] or "")
        placed = str((tables / name).relative_to(path.parent)) if name else None
        return {**parts, "answer": known.get(str(parts["id"])), "files": [placed] if placed else None}

    return Beside(path.parent, complete)


def _named(labels: Path, place: str, values: Values) -> str:
    """The answers of a label, in the form that is asked for."""
    answers = values.get("common_answers")
    if not isinstance(answers, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in answers):
        raise UserError(f"{labels}, {place}: common_answers is not a list of pairs of a name and a value")
    return ", ".join(f"@{name}[{value}]" for name, value in answers)


def wikitables(values: Values) -> Parts:
    """WikiTableQuestions: the answer is a set of values, divided by `|`; so is the one that is asked for."""
    asked, table = unescaped(str(values.get("utterance") or "")), str(values.get("context") or "")
    form = f"The table is {table}; in it a backslash goes before a quotation mark inside a value.\n"
    form += "Give the value alone; where there are several, put | between them."
    return {
        "id": values.get("id"),
        "question": f"{asked}\n{form}" if asked.strip() else "",
        "answer": items(values.get("targetValue")),
        "files": [table] if table else None,
    }


def beside_wikitables(path: Path) -> Beside:
    """The folder that `csv/` is in, and the answers as numbers and dates where they are tagged."""
    home = next((folder for folder in (path.parent, path.parent.parent) if (folder / "csv").is_dir()), path.parent)
    tagged = home / "tagged" / "data" / f"{path.stem}.tagged"
    rows = _whole(tagged, "tsv") if tagged.is_file() else ()
    known = {str(values.get("id")): items(values.get("targetCanon")) for _, values in rows}

    def complete(parts: Parts) -> Parts:
        canonical = known.get(str(parts["id"]), [])
        same = len(canonical) == len(parts["answer"])
        return {**parts, "canonical": canonical} if same and canonical != parts["answer"] else parts

    return Beside(home, complete)


def items(cell: Any) -> list[str]:
    """The values of a cell that holds a list."""
    return [unescaped(item) for item in str(cell).split("|")] if cell is not None else []


def unescaped(text: str) -> str:
    r"""`text` with its escapes undone: `\n` a line feed, `\p` a vertical bar, `\\` a backslash."""
    return re.sub(r"\\([np\\])", lambda found: _ESCAPES[found[1]], text)


def _whole(path: Path, form: Container) -> Iterator[tuple[str, Values]]:
    """The rows of a file that others need, with their places. Raises `UserError` for one that cannot be read."""
    for record in read_records(path, form):
        if not isinstance(record, RawRow):
            raise UserError(f"{path}, {record.place}: {record.reason}")
        yield record.place, record.values
