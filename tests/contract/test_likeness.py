"""What a user would lose: two tools of one code kept side by side, or two that differ taken for one."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.contract.likeness import code_digest

IMPORTS = ["import csv", "import math", "from pathlib import Path", "from pydantic import BaseModel"]
REST = """
__TOOL_META__ = {"name": "mean_above", "description": "Mean above a bound.", "dependencies": []}
LIMIT = 10


class InputModel(BaseModel):
    path: str
    bound: float | None = None


class OutputModel(BaseModel):
    result: float | None = None
    error: str | None = None


def kept(rows, least=2):
    total = 0
    for row in rows:
        total = total + math.sqrt(row) - least
    doubled = [cell * 2 for cell in rows if cell > least]
    return total / (len(doubled) or LIMIT)


def run(given: InputModel) -> OutputModel:
    try:
        with Path(given.path).open() as stream:
            table = list(csv.reader(stream))
    except OSError as problem:
        return OutputModel(error=str(problem))

    def width(line):
        return len(line) ** 2 // len(table)

    chosen = sorted(table, key=lambda part: width(part) % 7)
    if (size := len(chosen)) >= 3 and given.bound:
        return OutputModel(result=kept([width(each) for each in chosen]) - size)
    return OutputModel(result=0.5)
"""
LOCALS = re.findall(
    r"\w+",
    "kept rows least total row doubled cell given stream table problem width line chosen part size each LIMIT",
)
SOURCE = "\n".join(IMPORTS) + REST
SAME = code_digest(SOURCE)
SPOTS = [
    match.span() for match in re.finditer(r"(?<=[\w)]) ([-+/*%><]|//|\*\*|>=) (?=[\w(])|(?<=[ (=])\d+(\.\d+)?", REST)
]
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", ">", "<", ">=", "<=", "=="]


@given(st.permutations(LOCALS), st.permutations(IMPORTS), st.randoms(use_true_random=False))
def test_names_docstrings_comments_and_imports_in_order_make_no_difference(
    names: list[str], imports: list[str], chance: random.Random
) -> None:
    said = dict(zip(LOCALS, names, strict=True))
    body = re.sub(r"(?<![.\w\"])(?:" + "|".join(LOCALS) + r")\b", lambda found: said[found.group()], REST)
    lines = []
    for line in body.splitlines():
        lines.append(line + chance.choice(["", "  # so it is", "\n"] if line.endswith((")", ":")) else [""]))
        if line.startswith(("class", "def")) and chance.random() < 0.5:
            lines.append('    """Says what it is."""')
    assert code_digest("\n".join([*imports, *lines])) == SAME


@given(st.sampled_from(SPOTS), st.sampled_from(OPERATORS), st.integers(0, 99))
def test_another_operator_comparison_or_constant_makes_another_tool(
    spot: tuple[int, int], operator: str, number: int
) -> None:
    start, end = spot
    before = REST[start:end]
    after = str(number) if before.strip().replace(".", "").isdigit() else f" {operator} "
    if after.strip() == before.strip():
        return
    changed = code_digest("\n".join(IMPORTS) + REST[:start] + after + REST[end:])
    assert changed
    assert changed != SAME


def test_there_is_something_to_change() -> None:
    changed = {REST[start:end].strip() for start, end in SPOTS}
    assert {"+", "-", "/", "**", "//", "%", ">", ">=", "2", "7", "0.5"} <= changed


@given(
    st.sampled_from(["-", "/", "//", "%", "**", "<", ">", "<=", ">="]), st.sampled_from("abc"), st.sampled_from("abc")
)
def test_the_order_of_operands_counts(operator: str, one: str, other: str) -> None:
    there = code_digest(f"def run(a, b, c):\n    return {one} {operator} {other}")
    back = code_digest(f"def run(a, b, c):\n    return {other} {operator} {one}")
    assert (there == back) is (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "import math\ndef run(x):\n    return math.sqrt(x)",
            "from math import sqrt as root\ndef run(y):\n    return root(y)",
        ),
        (
            "import os.path as p\ndef run(x):\n    return p.join(x)",
            "from os.path import join\ndef run(x):\n    return join(x)",
        ),
        ("class InputModel:\n    n: Optional[int] = None", "class InputModel:\n    n: int | None = None"),
        (
            "class InputModel:\n    n: List[int] = Field(description='a')",
            "class InputModel:\n    n: list[int] = Field()",
        ),
        ("def run(a: int) -> int:\n    b: int = a\n    return b", "def run(x):\n    y = x\n    return y"),
    ],
)
def test_spellings_of_one_thing_are_one(one: str, other: str) -> None:
    assert code_digest(one) == code_digest(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("class InputModel:\n    path: str", "class InputModel:\n    file: str"),  # how it is called
        ("class InputModel:\n    n: int", "class InputModel:\n    n: float"),
        (
            "def f(a, b):\n    return a - b\ndef run():\n    return f(a=1, b=2)",
            "def f(b, a):\n    return b - a\ndef run():\n    return f(a=1, b=2)",
        ),
        ("x = 1\ndef run(a):\n    return x", "x = 1\ndef run(a):\n    return a"),
        ("def run(a):\n    return [a for a in a]", "def run(a):\n    return [b for a in a]"),
        (
            "def run():\n    n = 0\n    def g():\n        nonlocal n\n        n = 1\n    g()\n    return n",
            "def run():\n    n = 0\n    def g():\n        n = 1\n    g()\n    return n",
        ),
        (
            "from math import sin as f\ndef run(x):\n    return f(x)",
            "from math import cos as f\ndef run(x):\n    return f(x)",
        ),
        ("def run(a):\n    return locals()['a']", "def run(b):\n    return locals()['a']"),
    ],
)
def test_what_runs_otherwise_is_kept_apart(one: str, other: str) -> None:
    assert code_digest(one)
    assert code_digest(one) != code_digest(other)


@pytest.mark.parametrize("source", ["def run(:", "\0", "-" * 50_000 + "1"])
def test_what_is_no_python_is_like_nothing(source: str) -> None:
    assert code_digest(source) == ""
