"""Planted tool calls: failures by the tool's fault or the caller's; results of mended tools, right and wrong."""

from __future__ import annotations

import json
from typing import Any

from habilis.judging.trials import Case


def _failed(right: bool, place: int, tool: str, error: str, named: str, begins: str, **arguments: Any) -> Case:
    """A call that failed. `right`: the tool is not to blame, since `named`, which begins so, has no such thing."""
    return Case(
        right,
        {
            "call_id": f"call_{place}",
            "tool": tool,
            "arguments": json.dumps({"path": named, **arguments}, ensure_ascii=False),
            "result": f"Error: {error}",
            "begins": f"  {named}:\n{begins}",
        },
    )


FAILED_CALLS = (
    _failed(False, 1, "sum_column", "KeyError: 'kilos'", "berries.csv", "bush;kilos\n1;4.5\n2;3.9", column="kilos"),
    _failed(False, 2, "sum_column", "KeyError: 'rent'", "rents.txt", "city|rent\nLund|8400\nOslo|9100", column="rent"),
    _failed(True, 3, "sum_column", "KeyError: 'weight'", "berries.csv", "bush,colour\n1,red\n2,black", column="weight"),
    _failed(True, 4, "nth_line", "IndexError: list index out of range", "notes.txt", "one\ntwo\nthree", number=9),
    _failed(False, 5, "sum_column", "KeyError: 'Menge'", "ernte.csv", "Ort\tMenge\nAue\t12\nHof\t7", column="Menge"),
    _failed(False, 6, "nth_line", "IndexError: list index out of range", "log.txt", "a\n\nb\n\nc\nd", number=2),
    _failed(True, 7, "value_of", "KeyError: 'owner'", "boat.json", '{"name": "Alma", "berth": 12}', key="owner"),
    _failed(False, 8, "sum_column", "KeyError: 'berth'", "boats.csv", "name , berth \nAlma , 12", column="berth"),
    _failed(True, 9, "sum_column", "KeyError: 'precio'", "ventas.csv", "producto,cantidad\npan,3", column="precio"),
    _failed(False, 10, "value_of", "KeyError: 'berth'", "dock.json", '{"Berth": 12, "Name": "Cora"}', key="berth"),
)


def _mended(right: bool, number: int, numbers: list[Any], before: str, now: Any) -> Case:
    """A call of a tool that adds numbers: what it gave before it was mended, and what it gives now."""
    arguments, output = json.dumps({"numbers": numbers}), json.dumps({"result": now, "error": None})
    return Case(right, {"record": f"r{number}", "arguments": arguments, "before": before, "now": output})


_REFUSED = "TypeError: unsupported operand type(s) for +: 'int' and 'str'"
MENDED_TOOL = "total_of_numbers"
MENDED_CALLS = (
    _mended(False, 1, [6, 1], "IndexError: list index out of range", 61),
    _mended(False, 2, ["8", "1"], _REFUSED, "81"),
    _mended(True, 3, ["2", "5"], _REFUSED, 7),
    _mended(True, 4, [3, 4], "IndexError: list index out of range", 7),
    _mended(False, 5, [5, 5, 5], "IndexError: list index out of range", [5, 5, 5]),
    _mended(False, 6, [10, "20"], _REFUSED, "could not add these numbers"),
    _mended(True, 7, [1.5, 2.5], "IndexError: list index out of range", 4.0),
    _mended(False, 8, [2, "2"], _REFUSED, "unknown"),
    _mended(True, 9, ["10", 1], _REFUSED, 11),
    _mended(False, 10, [7, "3"], _REFUSED, 7),
)
