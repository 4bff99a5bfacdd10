"""What a question of the agreeing model's test is: its files, the tool that answers it, and ways to go wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILES: dict[str, str] = {
    "rivers.csv": "river,country,length_km,discharge\nEbro,Spain,930,426\nLoire,France,1012,835\nPo,Italy,652,1540\n"
    "Rhine,Germany,1233,2900\nTagus,Spain,1007,500\n",
    "rooms.csv": "room,floor,seats,projector\nA01,0,24,yes\nB12,1,60,no\nB14,1,18,yes\nC30,3,110,yes\nC31,3,9,no\n",
    "weather.json": json.dumps(
        [
            {"city": "Lima", "month": "January", "temp_c": 23.4, "rain_mm": 1.2},
            {"city": "Oslo", "month": "January", "temp_c": -4.3, "rain_mm": 49},
            {"city": "Lima", "month": "July", "temp_c": 16.8, "rain_mm": 3.6},
            {"city": "Oslo", "month": "July", "temp_c": 17.7, "rain_mm": 81},
            {"city": "Pune", "month": "July", "temp_c": 24.9, "rain_mm": 187.5},
        ]
    ),
    "ledger.tsv": "date\taccount\tdebit\tcredit\n2025-01-07\tcash\t250.00\t0\n2025-01-19\tbank\t1200.00\t300.00\n"
    "2025-02-03\tcash\t80.50\t130.25\n2025-03-28\tbank\t0\t415.75\n",
    "letter.txt": "Dear Clara,\nthe piano has arrived at last. It cost 480 florins, more than I had thought.\n"
    "The carrier asked for 12 florins besides. Old Becker tuned the piano on Friday.\nYours, Johanna\n",
    "menu_ja.csv": "料理,値段,人数\n寿司,1800,1\n天ぷら,2150,1\nうどん,780,1\n鍋,4200,3\n",
    "members.csv": "имя,город,возраст\nАнна,Казань,34\nБорис,Тверь,51\nВера,Казань,27\nГлеб,Пермь,45\n"
    "Дарья,Казань,39\n",
    "north.csv": "shop,sales\nElm,310\nOak,275\nYew,120\n",
    "south.csv": "shop,sales\nFig,402\nBay,198\n",
}
SOURCE = '''"""{does}"""
import csv
import json
import math
import re
import statistics
from datetime import date

from pydantic import BaseModel

__TOOL_META__ = {{"name": "{name}", "description": "{does}", "dependencies": [], "effects": "{effects}"}}


class InputModel(BaseModel):
    {inputs}


class OutputModel(BaseModel):
    {outputs}
    error: str | None = None


def text(path: str) -> str:
    with open(path, encoding="utf-8-sig", newline="") as file:
        return file.read()


def rows(path: str) -> list[dict]:
    whole = text(path)
    if path.endswith(".json"):
        return json.loads(whole)
    return list(csv.DictReader(whole.splitlines(), delimiter="\\t" if "\\t" in whole else ","))


def run(input: InputModel) -> OutputModel:
    {body}
'''


@dataclass(frozen=True)
class Job:
    """A tool that really does what it says: `body` are the lines of its `run`."""

    name: str
    does: str
    inputs: dict[str, str]
    outputs: dict[str, str]
    body: str

    @property
    def source(self) -> str:
        def fields(types: dict[str, str], default: str) -> str:
            return "\n    ".join(f"{name}: {kind}{default}" for name, kind in types.items())

        return SOURCE.format(
            name=self.name,
            does=self.does,
            effects="reads" if any("path" in name for name in self.inputs) else "pure",
            inputs=fields(self.inputs, ""),
            outputs=fields({name: f"{kind} | None" for name, kind in self.outputs.items()}, " = None"),
            body="\n    ".join(self.body.splitlines()),
        )


@dataclass(frozen=True)
class Case:
    """`told` says a result of `job` as findings; `final` is the right answer, None where the files do not hold one.

    `wrongly_called` are arguments for the same tool that answer another question, `mistold` are findings that say the
    right result wrongly.
    """

    question: str
    files: tuple[str, ...]
    job: Job
    arguments: dict[str, Any]
    told: Callable[[dict[str, Any]], str]
    final: str | None
    wrongly_called: tuple[dict[str, Any], ...]
    mistold: tuple[str, ...]

    def called(self, number: int) -> dict[str, Any]:
        """The arguments of the `number`-th wrong call."""
        return {**self.arguments, **self.wrongly_called[number % len(self.wrongly_called)]}


def lay_out(folder: Path, files: dict[str, str]) -> None:
    """Write the files of the questions into `folder`."""
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")


_WHERE = "where: str\n    equals: str"
TOP = Job(
    "row_with_maximum",
    "Find the row that holds the highest value in a column of a table, and what another column says there.",
    {"path": "str", "column": "str", "label": "str"},
    {"label": "str", "maximum": "float"},
    "best = max(rows(input.path), key=lambda row: float(row[input.column]))\n"
    "return OutputModel(label=str(best[input.label]), maximum=float(best[input.column]))",
)
SUM_WHERE = Job(
    "sum_where",
    "Sum a column over the rows of a table whose other column has a given value.",
    {"path": "str", "column": "str", "where": "str", "equals": "str"},
    {"total": "float", "rows": "int"},
    "kept = [row for row in rows(input.path) if str(row[input.where]) == input.equals]\n"
    "return OutputModel(total=sum(float(row[input.column]) for row in kept), rows=len(kept))",
)
COUNT_WHERE = Job(
    "count_where",
    "Count the rows of a table whose column has a given value.",
    {"path": "str", "column": "str", "value": "str"},
    {"count": "int"},
    "return OutputModel(count=sum(str(row[input.column]) == input.value for row in rows(input.path)))",
)
LOOK_UP = Job(
    "look_up_row",
    "Give the row of a table whose column has a given value.",
    {"path": "str", "column": "str", "value": "str"},
    {"row": "dict"},
    "found = [row for row in rows(input.path) if str(row.get(input.column)) == input.value]\n"
    "return OutputModel(row=found[0]) if found else OutputModel(error=f'no row has {input.value}')",
)
MEAN_WHERE = Job(
    "mean_where",
    "Average a column over the rows of a table whose other column has a given value.",
    {"path": "str", "column": "str", "where": "str", "equals": "str"},
    {"mean": "float", "rows": "int"},
    "kept = [float(row[input.column]) for row in rows(input.path) if str(row[input.where]) == input.equals]\n"
    "mean = round(sum(kept) / len(kept), 6) if kept else None\n"
    "return OutputModel(mean=mean, rows=len(kept), error=None if kept else 'no rows')",
)
TOP_WHERE = Job(
    "row_with_maximum_where",
    "Find the row with the highest value of a column, of those whose other column has a given value.",
    {"path": "str", "column": "str", "where": "str", "equals": "str"},
    {"row": "dict"},
    "kept = [row for row in rows(input.path) if str(row[input.where]) == input.equals]\n"
    "return OutputModel(row=max(kept, key=lambda row: float(row[input.column])))",
)
BALANCE = Job(
    "subtract_columns_where",
    "Subtract the sum of one column from that of another, over the rows with a given value.",
    {"path": "str", "plus": "str", "minus": "str", "where": "str", "equals": "str"},
    {"balance": "float"},
    "kept = [row for row in rows(input.path) if row[input.where] == input.equals]\n"
    "return OutputModel(balance=round(sum(float(r[input.plus]) - float(r[input.minus]) for r in kept), 6))",
)
SPAN = Job(
    "days_between_entries",
    "Count the days between the earliest and the latest date in a column of a table.",
    {"path": "str", "column": "str"},
    {"first": "str", "last": "str", "days": "int"},
    "days = sorted(row[input.column] for row in rows(input.path))\n"
    "gap = date.fromisoformat(days[-1]) - date.fromisoformat(days[0])\n"
    "return OutputModel(first=days[0], last=days[-1], days=gap.days)",
)
SENTENCES = Job(
    "find_sentences",
    "Find the sentences of a text file that hold a word.",
    {"path": "str", "word": "str"},
    {"sentences": "list"},
    "parts = re.split(r'(?<=[.!?])\\s+', ' '.join(text(input.path).split()))\n"
    "return OutputModel(sentences=[part for part in parts if input.word.lower() in part.lower()])",
)
LAST_LINE = Job(
    "last_line_of_text",
    "Give the last line of a text file.",
    {"path": "str"},
    {"line": "str"},
    "return OutputModel(line=text(input.path).strip().splitlines()[-1])",
)
OCCURRENCES = Job(
    "count_occurrences",
    "Count how often a word occurs in a text file.",
    {"path": "str", "word": "str"},
    {"count": "int"},
    "found = re.findall(rf'\\b{re.escape(input.word)}\\b', text(input.path), re.IGNORECASE)\n"
    "return OutputModel(count=len(found))",
)
TOTALS = Job(
    "compare_totals",
    "Sum one column in each of two tables, and say which sum is higher.",
    {"first_path": "str", "second_path": "str", "column": "str"},
    {"totals": "dict", "higher": "str", "together": "float"},
    "totals = {p.rsplit('/', 1)[-1]: sum(float(r[input.column]) for r in rows(p))\n"
    "          for p in (input.first_path, input.second_path)}\n"
    "return OutputModel(totals=totals, higher=max(totals, key=totals.get), together=sum(totals.values()))",
)
PERCENT = Job(
    "percent_of",
    "Compute a percentage of a number.",
    {"percent": "float", "number": "float"},
    {"result": "float"},
    "return OutputModel(result=round(input.percent * input.number / 100, 9))",
)
PRIME = Job(
    "is_prime",
    "Tell whether a whole number is prime.",
    {"number": "int"},
    {"is_prime": "bool"},
    "n = input.number\nreturn OutputModel(is_prime=n > 1 and all(n % d for d in range(2, math.isqrt(n) + 1)))",
)


def whole(value: float) -> str:
    """A number without a point where it needs none."""
    return f"{value:g}" if abs(value) < 1e6 else str(round(value, 6))
