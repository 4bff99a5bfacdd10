"""`make mutants` is only worth what it changes: each kind of change is made, and each place that it names is there."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]


def _loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "benchmarks" / "mutants.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutants"] = module  # its dataclasses look their module up
    spec.loader.exec_module(module)
    return module


TOOL = _loaded()
SOURCE = '''
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os


def judge(rows: list[int], limit: int = 5) -> int | None:
    """More than zero of them."""
    assert rows
    total = 0
    for row in rows:
        if row < 1 and limit:
            raise ValueError(f"é {row + 1}")
        total += row
    seen = [row for row in rows if row]
    print(seen, zip(rows, seen, strict=True))
    return total - 1
'''


def test_every_step_condition_and_border_is_changed_and_nothing_else() -> None:
    assert [str(mutant) for mutant in TOOL.mutants(SOURCE)] == [
        "line 11: 1 in place of 0",
        "line 13: 2 in place of 1",
        "line 13: border moved: row < 1",
        "line 13: condition turned round: row < 1 and limit",
        "line 13: or in place of its opposite: row < 1 and limit",
        "line 14: left out: raise ValueError(f'é {row + 1}')",
        "line 15: left out: total += row",
        "line 16: condition turned round: row",
        "line 17: left out: print(seen, zip(rows, seen, strict=True))",
        "line 18: 2 in place of 1",
        "line 18: None in place of total - 1",
        "line 18: sign turned round: total - 1",
    ]


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("border moved: row < 1", "        if (row <= 1) and limit:"),
        ("condition turned round: row", "    seen = [row for row in rows if (not (row))]"),
        ("left out: raise ValueError(f'é {row + 1}')", "            pass"),
        ("None in place of total - 1", "    return None"),
    ],
)
def test_a_change_changes_its_line_alone(what: str, line: str) -> None:
    changed = next(mutant for mutant in TOOL.mutants(SOURCE) if mutant.what == what).source
    assert [new for old, new in zip(SOURCE.splitlines(), changed.splitlines(), strict=True) if old != new] == [line]


@pytest.mark.parametrize("place", TOOL.PLACES)
def test_a_place_and_its_tests_are_there(place: str) -> None:
    file, tests = TOOL.PLACES[place]
    assert (ROOT / TOOL.HOUSE / file).is_file()
    assert [test for test in tests if not (ROOT / test).exists()] == []


@pytest.mark.parametrize("place", sorted({place for place, _, _ in TOOL.EQUIVALENT}))
def test_a_change_that_nobody_can_notice_is_one_that_would_be_made(place: str) -> None:
    source = (ROOT / TOOL.HOUSE / TOOL.PLACES[place][0]).read_text(encoding="utf-8")
    lines = source.splitlines()
    made = {(place, lines[mutant.line - 1].strip(), mutant.what) for mutant in TOOL.mutants(source)}
    named = {key for key in TOOL.EQUIVALENT if key[0] == place}
    assert named - made == set()
    told = {(place, lines[mutant.line - 1].strip(), mutant.what) for mutant in TOOL.telling(place, source)}
    assert made - told == named
