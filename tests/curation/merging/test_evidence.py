"""What a user would lose: a right tool to a wrong one that the few easy calls on record cannot tell from it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from habilis.library import Library

from .conftest import Stage, clusters, module

IMPORTS = "    import collections, csv, datetime, io, math, pathlib, re, statistics\n"
Calls = Sequence[Mapping[str, Any]]

RIGHT_MATH = module(
    "eval_math_expression",
    """    import ast, operator
    known = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
             ast.Pow: operator.pow}
    def value(node):
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.UnaryOp):
            return -value(node.operand)
        return known[type(node.op)](value(node.left), value(node.right))
    return OutputModel(result=value(ast.parse(input.expression, mode='eval').body))""",
    "expression: str",
    "result: float | None",
)
WRONG_MATH = (
    RIGHT_MATH.replace("eval_math_expression", "calculate_math")
    .replace(", ast.Div: operator.truediv,\n             ast.Pow: operator.pow", "")
    .replace(
        "return known[",
        "if type(node.op) not in known: raise ValueError('an operator that is not known')\n        return known[",
    )
    .replace("expression", "formula")
    .replace("result", "value")
)
COUNT_WORDS = module(
    "count_file_words",
    "    return OutputModel(words=len(open(input.path, encoding='utf-8').read().split()))",
    "path: str",
    "words: int | None",
)
COUNT_ASCII = module(
    "word_counter",
    """    import re
    return OutputModel(count=len(re.findall(r'[A-Za-z]+', open(input.path, encoding='ascii').read())))""",
    "path: str",
    "count: int | None",
)


async def told_one(stage: Stage, tools: Mapping[str, tuple[str, Calls]], files: Mapping[str, str] = {}) -> Any:
    """A step over one task per tool, with a model that calls all of them one."""
    tasks = []
    for number, (name, (source, calls)) in enumerate(tools.items(), 1):
        workspace = stage.folder / "run" / "tasks" / f"t{number}" / "workspace"
        workspace.mkdir(parents=True)
        for file, text in files.items():
            (workspace / file).write_text(text, encoding="utf-8")
        plain = re.sub(r"'examples': \[\{.*?\}\]", "'examples': []", source)
        tasks.append(await stage.task(f"t{number}", {name: plain}, {name: calls}))
    return await stage.curator(clusters(list(tools))).step(1, tasks)


# --- never to the wrong one


async def test_one_that_knows_fewer_operators_never_takes_the_place_of_one_that_knows_all(stage: Stage) -> None:
    tools = {
        "eval_math_expression": (RIGHT_MATH, [{"expression": "12 + 30"}]),
        "calculate_math": (WRONG_MATH, [{"formula": f"{n} + 2 * 3"} for n in range(6)]),
    }
    report = await told_one(stage, tools)
    assert (await stage.call("eval_math_expression", expression="7 / 2"))["result"] == 3.5, report.evidence
    assert (await stage.call("eval_math_expression", expression="2 ** 5"))["result"] == 32
    assert (await stage.call("calculate_math", formula="2 + 2"))["value"] == 4
    assert stage.names() == ["eval_math_expression"], report.evidence


async def test_one_that_reads_ascii_alone_never_takes_the_place_of_one_that_reads_every_text(stage: Stage) -> None:
    call = [{"path": "a.txt"}]
    tools = {"count_file_words": (COUNT_WORDS, call), "word_counter": (COUNT_ASCII, call * 3)}
    report = await told_one(stage, tools, {"a.txt": "one two three\nfour five\n"})
    assert stage.names() == ["count_file_words"], report.evidence
    (stage.folder / "b.txt").write_text("naïve café au lait", encoding="utf-8")
    assert (await stage.call("count_file_words", path="b.txt"))["words"] == 4


async def test_nothing_told_is_no_proof(stage: Stage) -> None:
    constant = {
        name: (module(name, f"    return OutputModel(total={body})"), [{"a": 2, "b": 3}])
        for name, body in (("five", "5"), ("five_too", "2 + 3"))
    }
    report = await told_one(stage, constant)
    assert stage.names() == ["five", "five_too"]
    assert any(
        "5 with 3 distinct results are needed" in line and "1 distinct result;" in line for line in report.evidence
    )


TEXTS = [{"text": "one two"}, {"text": "three"}, {"text": "one two three"}]
NUMBERS = [{"values": [3, 1, 2]}, {"values": [4, 9]}, {"values": [5]}]
KIN: Sequence[tuple[str, str, str, str, Calls]] = (
    ("values: list[int]", "n: int | None", "max(input.values)",
     "input.values[0] if len(input.values) > 3 else max(input.values)", NUMBERS),
    ("values: list[int]", "n: float | None", "sorted(input.values)[len(input.values) // 2]",
     "input.values[len(input.values) // 2]", [{"values": [1, 2, 3]}, {"values": [4, 5, 9]}]),
    ("text: str", "n: int | None", "len(input.text.split())", "1 + input.text.count(' ')",
     [*TEXTS, {"text": "a b c d"}]),
    ("text: str", "n: str | None", "input.text.title()", "input.text.capitalize()",
     [{"text": "one"}, {"text": "two b"}]),
    ("text: str", "n: str | None", "input.text[::-1]", "input.text", [{"text": "level"}, {"text": "noon"}]),
    ("a: int; b: int", "n: int | None", "input.a ** input.b", "input.a * input.b",
     [{"a": 2, "b": 2}, {"a": 1, "b": 1}]),
    ("a: int; b: int", "n: int | None", "input.a * input.b", "input.a + input.b", [{"a": 2, "b": 2}]),
    ("day: str", "n: int | None", "datetime.date.fromisoformat(input.day).timetuple().tm_yday",
     "int(input.day[5:7]) * 31 - 31 + int(input.day[8:])", [{"day": "2024-01-20"}, {"day": "2024-02-11"}]),
)  # fmt: skip


@pytest.mark.parametrize("case", KIN, ids=[case[3] for case in KIN])
@pytest.mark.parametrize("how", ["newer", "smaller", "more calls"])
async def test_a_wrong_one_never_goes_on_be_it_newer_smaller_or_called_more_often(
    stage: Stage, case: tuple[str, str, str, str, Calls], how: str
) -> None:
    takes, gives, right, wrong, calls = case
    padding = "    # " + "x" * 400 + "\n"
    good = module(
        "right_one", (padding if how == "smaller" else "") + f"{IMPORTS}    return OutputModel(n={right})", takes, gives
    )
    bad = module("wrong_one", f"{IMPORTS}    return OutputModel(n={wrong})", takes, gives)
    often = calls if how == "more calls" else calls[:2]
    tools = {"right_one": (good, calls[:2]), "wrong_one": (bad, often)}
    if how == "newer":
        tools = dict(reversed(tools.items()))
    report = await told_one(stage, tools)
    kept = stage.get("right_one")
    assert kept.alias is None, report.evidence
    assert right in kept.source()


# --- but what does the same still becomes one


ROWS = "name,city,amount\nAda,Paris,10\nBob,Rome,25\nCleo,Paris,40\nDan,Oslo,5\n"
CSV = [{"path": "a.csv", "column": "amount"}]
ALIKE: Sequence[tuple[str, str, str, str, Calls]] = (
    ("values: list[int]", "n: int | None", "sum(input.values)", "math.fsum(input.values)", NUMBERS),
    ("values: list[int]", "n: float | None", "sum(input.values) / len(input.values)",
     "statistics.mean(input.values)", NUMBERS),
    ("values: list[int]", "n: list[int] | None", "sorted(input.values)",
     "[v for _, v in sorted(enumerate(input.values), key=lambda p: p[1])]", NUMBERS),
    ("values: list[int]", "n: int | None", "max(input.values) - min(input.values)",
     "sorted(input.values)[-1] - sorted(input.values)[0]", NUMBERS),
    ("text: str", "n: int | None", "len(input.text.split())", "len(re.findall(r'\\S+', input.text))", TEXTS),
    ("text: str", "n: str | None", "input.text[::-1]", "''.join(reversed(input.text))", TEXTS),
    ("text: str", "n: dict[str, int] | None", "{c: input.text.count(c) for c in input.text}",
     "dict(collections.Counter(input.text))", TEXTS),
    ("text: str", "n: bool | None", "input.text == input.text[::-1]",
     "all(a == b for a, b in zip(input.text, reversed(input.text)))", [{"text": "noon"}, {"text": "noun"}]),
    ("a: int; b: int", "n: int | None", "math.gcd(input.a, input.b)",
     "max(d for d in range(1, input.a + input.b) if input.a % d == 0 and input.b % d == 0)",
     [{"a": 12, "b": 18}, {"a": 7, "b": 14}]),
    ("day: str; other: str", "n: int | None",
     "(datetime.date.fromisoformat(input.other) - datetime.date.fromisoformat(input.day)).days",
     "datetime.date.fromisoformat(input.other).toordinal() - "
     "datetime.date.fromisoformat(input.day).toordinal()",
     [{"day": "2024-01-20", "other": "2024-02-11"}, {"day": "2023-03-01", "other": "2023-03-02"}]),
    ("celsius: float", "n: float | None", "input.celsius * 9 / 5 + 32", "32 + 1.8 * input.celsius",
     [{"celsius": 20.5}, {"celsius": 3.0}]),
    ("path: str; column: str", "n: float | None",
     "sum(float(r[input.column]) for r in csv.DictReader(pathlib.Path(input.path).read_text('utf-8').splitlines()))",
     "(lambda rows: sum(float(r[rows[0].index(input.column)]) for r in rows[1:]))"
     "(list(csv.reader(io.StringIO(pathlib.Path(input.path).read_text()))))", CSV),
    ("path: str; column: str", "n: float | None",
     "max(float(r[input.column]) for r in csv.DictReader(pathlib.Path(input.path).read_text('utf-8').splitlines()))",
     "(lambda rows: sorted(float(r[rows[0].index(input.column)]) for r in rows[1:])[-1])"
     "(list(csv.reader(io.StringIO(pathlib.Path(input.path).read_bytes().decode('utf-8-sig')))))",
     CSV),
    ("path: str", "n: int | None",
     "sum(1 for _ in csv.DictReader(pathlib.Path(input.path).read_text('utf-8').splitlines()))",
     "len(list(csv.reader(io.StringIO(pathlib.Path(input.path).read_text())))) - 1", [{"path": "a.csv"}]),
)  # fmt: skip


@pytest.mark.parametrize("case", ALIKE, ids=[case[3][:60] for case in ALIKE])
async def test_two_writers_tools_that_do_the_same_still_become_one(
    stage: Stage, case: tuple[str, str, str, str, Calls]
) -> None:
    takes, gives, one, other, calls = case
    tools = {
        name: (module(name, f"{IMPORTS}    return OutputModel(n={body})", takes, gives), calls)
        for name, body in (("first_one", one), ("other_one", other))
    }
    report = await told_one(stage, tools, {"a.csv": ROWS})
    assert len(stage.names()) == 1, (report.evidence, report.fates)
    (line,) = report.lineage
    assert line.told >= 5
    assert line.distinct >= (2 if "bool" in gives else 3)
    assert len(Library(stage.library).aliases()) == 1


async def test_each_answers_where_the_other_fails_and_both_stay(stage: Stage) -> None:
    even = "    return OutputModel(total=input.a + input.b if input.a % 3 else 1 // 0)"
    odd = "    return OutputModel(total=input.a + input.b if input.a % 3 != 1 else 1 // 0)"
    calls = [{"a": 2, "b": 3}, {"a": 5, "b": 1}, {"a": 8, "b": 2}]
    tools = {"one_sum": (module("one_sum", even), calls), "other_sum": (module("other_sum", odd), calls)}
    report = await told_one(stage, tools)
    assert stage.names() == ["one_sum", "other_sum"]
    assert sum("ZeroDivisionError" in line for line in report.evidence) >= 1


async def test_where_there_are_only_so_many_inputs_all_of_them_are_proof(stage: Stage) -> None:
    takes, gives = "a: bool; b: bool", "both: bool | None"
    tools = {
        name: (module(name, f"    return OutputModel(both={body})", takes, gives), [{"a": True, "b": True}])
        for name, body in (("conjunction", "input.a and input.b"), ("both_of", "not (not input.a or not input.b)"))
    }
    await told_one(stage, tools)
    assert len(stage.names()) == 1
    other = Stage(stage.folder / "other")
    wrong = module("same_truth", "    return OutputModel(both=input.a == input.b)", takes, gives)
    await told_one(other, {"conjunction": tools["conjunction"], "same_truth": (wrong, [{"a": True, "b": True}])})
    assert len(other.names()) == 2


async def test_which_field_goes_with_which_is_told_by_calls(stage: Stage) -> None:
    one = module("power_of", "    return OutputModel(total=input.x ** input.y)", "x: int; y: int")
    other = module("raise_to_power", "    return OutputModel(total=input.n ** input.m)", "m: int; n: int")
    tools = {
        "power_of": (one, [{"x": 2, "y": 3}, {"x": 3, "y": 4}]),
        "raise_to_power": (other, [{"m": 2, "n": 5}, {"m": 4, "n": 2}]),
    }
    report = await told_one(stage, tools)
    assert len(stage.names()) == 1, report.evidence
    assert (await stage.call("power_of", x=5, y=2))["total"] == 25
    assert (await stage.call("raise_to_power", m=2, n=5))["total"] == 25


FORMS = {"with a BOM": "utf-8-sig", "in UTF-16": "utf-16", "in Latin-1": "latin-1"}


@pytest.mark.parametrize("encoding", FORMS.values(), ids=FORMS)
async def test_one_that_reads_a_file_in_one_encoding_alone_never_takes_the_place_of_one_that_reads_all(
    stage: Stage, encoding: str
) -> None:
    whole = """    data = open(input.path, 'rb').read()
    if data[:2] in (b'\\xff\\xfe', b'\\xfe\\xff'):
        text = data.decode('utf-16')
    else:
        try:
            text = data.decode('utf-8-sig')
        except UnicodeDecodeError:
            text = data.decode('latin-1')
    return OutputModel(words=[word.lower() for word in text.split()])"""
    lossy = {
        "utf-16": whole.replace("if data[:2] in", "if data[:0] in"),
        "utf-8-sig": whole.replace("'utf-8-sig'", "'utf-8'"),
        "latin-1": whole.replace("data.decode('latin-1')", "data.decode('utf-8', 'replace')"),
    }[encoding]
    assert lossy != whole
    gives = "words: list[str] | None"
    tools = {
        "words_of": (module("words_of", whole, "path: str", gives), [{"path": "a.txt"}]),
        "list_words": (module("list_words", lossy, "path: str", gives), [{"path": "a.txt"}] * 3),
    }
    report = await told_one(stage, tools, {"a.txt": "one two three\nfour five\n"})
    (stage.folder / "b.txt").write_bytes("naïve café".encode(encoding))
    assert (await stage.call("words_of", path="b.txt"))["words"] == ["naïve", "café"], report.evidence
