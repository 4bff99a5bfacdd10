"""The header of the table, of the list of JSON objects or of the log that a prompt shows the beginning of."""

from __future__ import annotations

import csv
import json
import re
from pathlib import PurePosixPath

from habilis.questions.header import TableHeader
from habilis.questions.language import stems, words
from habilis.questions.nouns import CONTAINERS, DONE, MONTHS, NO_NOUN
from habilis.questions.prompts import SeenFile
from habilis.questions.world import divider_of

_LOGGED = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)\S* +\[?([A-Z]+)\]?:? +(?:\[([^\]]+)\]:? +)?(.*)")


def header_of(file: SeenFile) -> TableHeader | None:
    """The header of a table, of a list of JSON objects or of a log; None where the prompt shows none, or only its
    beginning."""
    if file.named.lower().endswith(".json"):
        return _of_objects(file)
    if file.named.lower().endswith(".log"):
        return _of_log(file)
    lines = [line for line in file.begins.splitlines() if line.strip()]
    if not lines or lines[0].endswith("…"):
        return None
    names, *rows = csv.reader([_whole(line, divider_of(lines[0])) for line in lines], delimiter=divider_of(lines[0]))
    names = [name.strip() for name in names]
    if len(names) < 2 or not all(names) or len(set(names)) < len(names):
        return None
    return TableHeader(tuple(names), tuple(map(tuple, rows)), _rows_are(PurePosixPath(file.named).stem))


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
    """Time, level, source and message, where the first lines are entries of that form."""
    found = [_LOGGED.match(line) for line in file.begins.splitlines() if line.strip()]
    rows = [entry.groups("") for entry in found if entry]
    names = ("time", "level", "source", "message")
    return TableHeader(names, tuple(rows), "log") if rows and len(rows) == len(found) else None
