"""What a user would lose: two tools that do the same, whose fields could belong together in more than one way."""

from __future__ import annotations

from pathlib import Path

import pytest

from habilis.config import load_settings
from habilis.curation.manual.duplicates import duplicates
from habilis.library import Library

from ..merging.conftest import Stage, module

CALLS = [(7, 2), (20, 5), (3, 9), (11, 4), (6, 6), (30, 7)]
MINUS = "    return OutputModel({result}=input.{a} - input.{b})"


def minus(name: str, first: str, second: str, result: str, whole: str) -> str:
    """A tool that takes the one field from the other, the fields in any order."""
    return module(
        name,
        MINUS.format(result=result, a=whole, b=second if whole == first else first),
        f"{first}: int; {second}: int",
        f"{result}: int | None",
        description="Difference of two numbers, one taken from the other.",
    )


@pytest.mark.parametrize("whole", ["p", "q"])
async def test_the_way_between_two_tools_that_their_calls_show_is_found(tmp_path: Path, whole: str) -> None:
    stage = Stage(tmp_path)
    one, other = minus("subtract_numbers", "a", "b", "left", "a"), minus("take_numbers", "p", "q", "rest", whole)
    rest = "q" if whole == "p" else "p"
    tasks = [
        await stage.task("t1", {"subtract_numbers": one}, {"subtract_numbers": [{"a": a, "b": b} for a, b in CALLS]}),
        await stage.task("t2", {"take_numbers": other}, {"take_numbers": [{whole: a, rest: b} for a, b in CALLS]}),
    ]
    await stage.curator(models=False, policy="naive").step(1, tasks)  # which tries no pair that words leave open
    found, _ = await duplicates(Library(stage.library), load_settings(environ={}), host=stage.host)  # type: ignore[arg-type]
    assert [(pair.tools, pair.verdict) for pair in found] == [(("subtract_numbers", "take_numbers"), "same")], found
