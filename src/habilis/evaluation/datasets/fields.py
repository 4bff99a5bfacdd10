"""Which column means what: the mapping that was given, else the usual names, said aloud."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from habilis.core.errors import UserError

USUAL: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "task_id", "question_id", "prompt_id", "example_id", "uid", "qid"),
    "question": ("question", "problem", "prompt", "query", "task", "instruction", "input", "task_question"),
    "answer": (
        "answer",
        "final_answer",
        "final answer",
        "gold",
        "expected_answer",
        "expected",
        "ground_truth",
        "target",
        "solution",
        "label",
        "response_reference",
    ),
    "files": ("files", "file", "file_name", "file_path", "attachments", "images", "image"),
    "category": ("category", "problem_category", "subject", "topic", "type", "level"),
    "scorer": ("scorer",),
    "rubric": ("rubric",),
    "tolerance": ("tolerance",),
}
"""Names that a column of each meaning usually has, likeliest first; compared without case."""
NONE = "-"
"""Given as a column: there is none of this meaning, whatever the names look like."""
_MISSING = object()


class RowFields:
    """Reads rows by meaning. Make one with `chosen`."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        self.columns = dict(columns)

    def get(self, values: Mapping[str, Any], meaning: str) -> Any:
        """What the row holds under `meaning`; None when there is no such column or it is not in this row."""
        column = self.columns.get(meaning)
        found = at(values, column) if column is not None else _MISSING
        return None if found is _MISSING else found


def check(fields: Mapping[str, str]) -> None:
    """Raises `UserError` for a meaning that there is not."""
    for meaning, column in fields.items():
        if meaning not in USUAL:
            near = difflib.get_close_matches(meaning, USUAL, 1, 0.5)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(USUAL)}"
            raise UserError(f"field {meaning}={column}: no such meaning; {hint}")
        if not column:
            raise UserError(f"field {meaning}: no column is named; for example {meaning}=text or {meaning}=meta.text")


def chosen(given: Mapping[str, str], rows: Sequence[Mapping[str, Any]], path: str) -> tuple[RowFields, str]:
    """The columns to read, told by the first `rows`, and a line that says what was chosen unasked ("": nothing).

    Raises `UserError` when a given column is in none of the rows, and when there is no column for the question.
    """
    check(given)
    unread = {meaning for meaning, column in given.items() if column == NONE}
    given = {meaning: column for meaning, column in given.items() if column != NONE}
    names = list(dict.fromkeys(name for row in rows for name in row))
    for meaning, column in given.items():
        if all(at(row, column) is _MISSING for row in rows):
            raise UserError(f"{path}: no column {column} (for {meaning}); it has: {_listed(names)}")
    by_case = {name.lower(): name for name in reversed(names) if isinstance(name, str)}
    taken = set(given.values())
    found: dict[str, str] = {}
    for meaning in (meaning for meaning in USUAL if meaning not in {*given, *unread}):
        column = next((by_case[n] for n in USUAL[meaning] if n in by_case and by_case[n] not in taken), "")
        if column:
            found[meaning] = column
            taken.add(column)
    if "question" not in {**found, **given}:
        raise UserError(
            f"{path}: no column looks like the question; name it: --fields question=COLUMN (columns: {_listed(names)})"
        )
    told = ", ".join(f"{meaning}={column}" for meaning, column in found.items() if meaning != column)
    return RowFields({**found, **given}), told


def at(values: Mapping[str, Any], column: str) -> Any:
    """What stands at `column`: the column of that very name, else a dotted path (`meta.gold`, `choices.0`).

    Text on the way that holds a JSON object or list is looked into. The module's own mark when there is nothing.
    """
    if column in values:
        return values[column]
    here: Any = values
    for part in column.split("."):
        if isinstance(here, str) and here.lstrip()[:1] in ("{", "["):
            here = _loaded(here)
        if isinstance(here, Mapping) and part in here:
            here = here[part]
        elif isinstance(here, list | tuple) and part.isdecimal() and int(part) < len(here):
            here = here[int(part)]
        else:
            return _MISSING
    return here


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _listed(names: Iterable[str]) -> str:
    shown = [str(name)[:60] for name in names]
    return ", ".join(shown[:12]) + (", …" if len(shown) > 12 else "") or "no columns"
