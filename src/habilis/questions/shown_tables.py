"""The header of the table, the list of JSON objects, the log or the records that a prompt shows the beginning of."""

from __future__ import annotations

import csv
import json
import re
from pathlib import PurePosixPath

from habilis.questions.header import TableHeader
from habilis.questions.language import stems, words
from habilis.questions.nouns import CONTAINERS, DONE, MONTHS, NO_NOUN
from habilis.questions.prompts import SeenFile
from habilis.questions.row_nouns import file_words
from habilis.questions.world import divider_of

_RECORD = re.compile(r"([A-Za-z][\w .-]{0,40}?): ?([^,;|]*)")
_DASHES = re.compile(r"\|?(?: *:?-+:? *\|)+(?: *:?-+:?)?")
_BEGINS_WITH_DAY = re.compile(r"\d{4}-\d\d-\d\d\b|\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\d{1,2} [A-Z][a-z]{2,8} \d{4}\b")
"""So begins an entry, and no name of a column."""
_NOTES = (".txt", ".text", ".md", ".markdown")
_LOGGED = re.compile(r"\[?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)\S* +\[?([A-Z]+)\]?:? +(?:\[([^\]]+)\]:? +)?(.*)")

_PAIR = re.compile(r'(?<!\S)([A-Za-z][\w.-]*)=("[^"]*"|\S+)')
_TO_THE_SECOND = len("2024-05-01 08:00:00")


def header_of(file: SeenFile) -> TableHeader | None:
    """The header of a table, of a list of JSON objects or of a log; None where the prompt shows none, or only its
    beginning."""
    if file.named.lower().endswith(".json"):
        return _of_objects(file)
    if file.named.lower().endswith(".log"):
        return _of_log(file)
    if header := in_note(file):
        return header
    if file.named.lower().endswith(_NOTES[2:]):
        return None
    lines = [line for line in file.begins.splitlines() if line.strip()]
    if not lines or lines[0].endswith("…"):
        return None
    names, *rows = csv.reader([_whole(line, divider_of(lines[0])) for line in lines], delimiter=divider_of(lines[0]))
    names = [name.strip() for name in names]
    if len(names) < 2 or not all(names) or len(set(names)) < len(names) or _BEGINS_WITH_DAY.match(names[0]):
        return None
    stem = PurePosixPath(file.named).stem
    return TableHeader(tuple(names), tuple(map(tuple, rows)), _rows_are(stem), of_file=file_words(stem))


def in_note(file: SeenFile) -> TableHeader | None:
    """The header of the table in a note: between bars, or of lines that name all their cells."""
    return (_of_bars(file) or _of_records(file)) if file.named.lower().endswith(_NOTES) else None


def is_among_words(file: SeenFile) -> bool:
    """Whether a note shows a table below other words."""
    first = next((line for line in file.begins.splitlines() if line.strip()), "")
    return in_note(file) is not None and record_of(first) is None and not first.startswith("|")


def record_of(line: str) -> tuple[tuple[str, str], ...] | None:
    """Names and cells of a line such as `name: Ada, hours: 12`; None for any other line."""
    parts = [_RECORD.fullmatch(part.strip()) for part in re.split(r"[,;|]", line)]
    named = tuple((part[1].strip(), part[2].strip()) for part in parts if part)
    return named if len(parts) == len(dict(named)) > 1 else None


def _of_records(file: SeenFile) -> TableHeader | None:
    """Of at least two lines that each name all their cells in one way."""
    records = [one for line in file.begins.splitlines() if (one := record_of(line))]
    names = {tuple(name for name, _ in one) for one in records}
    if len(records) < 2 or len(names) > 1:
        return None
    rows = tuple(tuple(cell for _, cell in one) for one in records)
    return TableHeader(names.pop(), rows, _rows_are(PurePosixPath(file.named).stem))


def _of_bars(file: SeenFile) -> TableHeader | None:
    """Of the table in a Markdown file: names between bars, over a line of dashes."""
    lines = [line.strip() for line in file.begins.splitlines()]
    start = next((i for i, line in enumerate(lines[1:], 1) if _DASHES.fullmatch(line)), None)
    if start is None or not lines[start - 1].startswith("|"):
        return None
    barred = [line.strip("|") for line in lines[start - 1 :] if line.startswith("|")]
    rows = [[cell.strip() for cell in line.split("|")] for line in barred]
    names = rows[0]
    if len(names) < 2 or not all(names) or len(set(names)) < len(names) or "…" in lines[start - 1]:
        return None
    shown = [tuple(row) for row in rows[2:] if len(row) == len(names)]
    return TableHeader(tuple(names), tuple(shown), _rows_are(PurePosixPath(file.named).stem))


def _whole(line: str, divider: str) -> str:
    """The cells of a line without the one in which it was cut off."""
    return line.rpartition(divider)[0] if line.endswith("…") and '"' not in line else line.removesuffix("…")


def _rows_are(name: str) -> str:
    kept = [word for word in words(name) if word.isalpha() and word not in NO_NOUN | DONE and not word.endswith("ed")]
    kept = [word for word in kept if word not in CONTAINERS | MONTHS] or kept
    return next(iter(stems(kept[-1])), "") if kept else ""


def _of_objects(file: SeenFile) -> TableHeader | None:
    """The keys of the first object of a list, at the top of a document or under its last key."""
    text = " ".join(file.begins.split())
    opening = re.match(r'(?:\{(?: ?"\w+": ?(?:"[^"]*"|[\w.+-]+),)* ?"(?P<key>\w+)": ?)?\[ ?\{', text)
    if opening is None:
        return None
    cells: dict[str, str] = {}
    position = opening.end()
    while key := re.compile(r' ?"([^"\\]+)": ?').match(text, position):
        try:
            value, position = json.JSONDecoder().raw_decode(text, key.end())
        except ValueError:
            break  # cut off here
        cells[key[1]] = value if isinstance(value, str) else json.dumps(value)
        position += text[position : position + 1] == ","
    if len(cells) < 2 or any(text[: opening.end()].count(f'"{key}"') for key in cells):
        return None
    file_is = _rows_are(PurePosixPath(file.named).stem)
    rows_are = _rows_are(opening["key"] or "") or file_is
    return TableHeader(tuple(cells), (tuple(cells.values()),), rows_are, file_is)


def _of_log(file: SeenFile) -> TableHeader | None:
    """Time, level, source and message, where the first lines are entries of that form; and what messages name, as in
    `status=ok`. Without that, entries whose times lack seconds are left to others."""
    found = [_LOGGED.match(line) for line in file.begins.splitlines() if line.strip()]
    rows = [entry.groups("") for entry in found if entry]
    if not rows or len(rows) < len(found):
        return None
    names = ("time", "level", "source", "message")
    said = [{key: value.strip('"') for key, value in _PAIR.findall(row[3])} for row in rows]
    keys = tuple(dict.fromkeys(key for one in said for key in one if key not in names))
    if not keys and any(len(row[0]) < _TO_THE_SECOND for row in rows):
        return None
    shown = tuple((*row, *(one.get(key, "") for key in keys)) for row, one in zip(rows, said, strict=True))
    return TableHeader((*names, *keys), shown, "log")
