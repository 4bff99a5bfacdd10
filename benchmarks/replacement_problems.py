"""Public problems with tests, as tools: what is called, and the module that Habilis would run."""

from __future__ import annotations

import ast
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import replacement_child
from habilis.contract.runnable import Runnable
from habilis.core.types import CallError, CallOutcome, JsonSchema
from habilis.runtime.calls import CallSpec

MOST_TEXT = 20_000
MOST_LATE = 3
"""Once it was late so often, a function is taken to be late each time."""
RESERVED = frozenset({"copy", "dict", "json", "schema", "validate", "construct", "error", "input"})


@dataclass(frozen=True)
class Problem:
    """A function with tests. `solutions` are sources that others published, right or wrong."""

    name: str
    source: str
    entry: str
    tests: tuple[str, ...]
    solutions: tuple[str, ...] = ()

    @property
    def tuned(self) -> bool:
        """Whether it lies in the half that rules may be fitted to."""
        return hashlib.sha256(self.name.encode()).digest()[0] % 2 == 0


@dataclass(frozen=True)
class Called:
    """A problem with the arguments of its tests' calls, as JSON, and the text that makes a source a tool."""

    problem: Problem
    calls: tuple[dict[str, Any], ...]
    head: str
    tail: str

    def module(self, source: str) -> str:
        """The module of the tool that `source` makes."""
        return f"{self.head}\n{source}\n{self.tail}"


class InProcess:
    """A host that runs tools in this process, which is to be a limited one."""

    def __init__(self) -> None:
        self.runs = 0
        self.late: Counter[str] = Counter()

    def run(self, tool: Runnable, arguments: dict[str, Any]) -> CallOutcome:
        self.runs += 1
        path = str(tool.module)
        late = {"kind": "timeout", "error": "it was late too often"}
        answer = replacement_child.call(path, arguments) if self.late[path] < MOST_LATE else late
        self.late[path] += answer.get("kind") == "timeout"
        if "error" in answer:
            return CallOutcome(error=CallError(kind=answer["kind"], message=answer["error"]))
        return CallOutcome(output=answer["output"])

    async def call(self, spec: CallSpec) -> CallOutcome:
        return self.run(spec.tool, spec.given)

    def schemas(self, module: Path) -> tuple[JsonSchema, JsonSchema] | None:
        """Its input's and its output's; None when it cannot be loaded."""
        answer = replacement_child.describe(str(module))
        return None if "error" in answer else (answer["input"], answer["output"])


def problems(folder: Path) -> list[Problem]:
    """Those of `folder`: HumanEval.jsonl, mbpp.jsonl, solutions/*.jsonl, and exercism/. Raises OSError."""
    published = _solutions(folder / "solutions")
    found = []
    for row in _rows(folder / "HumanEval.jsonl"):
        source = row["prompt"] + row["canonical_solution"]
        tests = (row["test"], "check(candidate)")
        name, entry = row["task_id"], row["entry_point"]
        own = [body if f"def {entry}" in body else row["prompt"] + body for body in published.get(name, ())]
        found.append(Problem(name, source, entry, tests, tuple(_distinct(source, own))))
    for row in _rows(folder / "mbpp.jsonl"):
        source = row["code"].replace("\r", "").expandtabs(4)
        tests = (row["test_setup_code"], *row["test_list"], *row["challenge_test_list"])
        entry = _entry(source, row["test_list"])
        if entry is not None:
            name = f"MBPP/{row['task_id']}"
            found.append(Problem(name, source, entry, tests, tuple(_distinct(source, published.get(name, ())))))
    return [*found, *_exercises(folder / "exercism")]


def _exercises(folder: Path) -> Iterator[Problem]:
    """Those whose tests call one function of the example: each method of a test is a test by itself."""
    for example in sorted(folder.glob("*/.meta/example.py")):
        source, slug = example.read_text("utf-8"), example.parts[-3]
        whole = ast.parse((folder / slug / f"{slug.replace('-', '_')}_test.py").read_text("utf-8"))
        own = [one for one in whole.body if not isinstance(one, ast.ClassDef) and not _imports(one, slug)]
        bodies = [method.body for method in ast.walk(whole) if isinstance(method, ast.FunctionDef)]
        head = "\n".join(["import unittest", "self = unittest.TestCase()", *map(ast.unparse, own)])
        tests = ["\n".join(map(ast.unparse, body)) for body in bodies]
        entry = _entry(source, tests)
        if entry is not None:
            yield Problem(f"exercism/{slug}", source, entry, (head, *tests))


def _imports(node: ast.stmt, slug: str) -> bool:
    """Whether it takes names from the module that the exercise asks for."""
    return isinstance(node, ast.ImportFrom) and node.module == slug.replace("-", "_")


def called(problem: Problem) -> Called | None:
    """None where its calls cannot be said as JSON, or it does not pass its own tests."""
    answer = replacement_child.record(problem.source, problem.entry, list(problem.tests))
    if "error" in answer:
        return None
    try:
        made = [ast.literal_eval(text) for text in answer["calls"]]
    except (ValueError, SyntaxError):
        return None
    names = answer["parameters"]
    if not made or any(set(given) != set(names) for given, _ in made):
        return None
    fields = {name: f"{name.strip('_')}_" if name in RESERVED or name.startswith("_") else name for name in names}
    calls: dict[str, dict[str, Any]] = {}
    for given, _ in made:
        plain = {fields[name]: _plain(value) for name, value in given.items()}
        calls.setdefault(json.dumps(plain, sort_keys=True), plain)
    typed = {fields[name]: annotation([given[name] for given, _ in made]) for name in names}
    tail = _tail(problem.entry, typed, annotation([result for _, result in made]))
    fits = len("".join(calls)) <= MOST_TEXT
    return Called(problem, tuple(calls.values()), "from pydantic import BaseModel\n", tail) if fits else None


def _tail(entry: str, fields: dict[str, str], result: str) -> str:
    lines = "\n".join(f"    {name}: {kind}" for name, kind in fields.items())
    given = ", ".join(f"input.{name}" for name in fields)
    return (
        f"\n_entry = {entry}\n\nclass InputModel(BaseModel):\n{lines}\n\n"
        f"class OutputModel(BaseModel):\n    result: {result} | None = None\n    error: str | None = None\n\n"
        f"def run(input: InputModel) -> OutputModel:\n    return OutputModel(result=_entry({given}))\n"
    )


def annotation(values: list[Any]) -> str:
    """The type that a writer would give to a field with these values."""
    kinds = {type(value) for value in values}
    if type(None) in kinds:
        rest = [value for value in values if value is not None]
        return f"{annotation(rest)} | None" if rest else "None"
    if kinds <= {int, float} and kinds:
        return "int | float" if len(kinds) > 1 else kinds.pop().__name__
    if kinds == {bool}:
        return "bool"
    if kinds == {str}:
        return "str"
    for kind in (list, tuple, set):
        if kinds == {kind}:
            items = [item for value in values for item in value]
            inner = annotation(items) if items else "int"
            return f"tuple[{inner}, ...]" if kind is tuple else f"{kind.__name__}[{inner}]"
    if kinds == {list, tuple}:
        return annotation([list(value) for value in values])
    if kinds == {dict}:
        keys = [key for value in values for key in value]
        items = [item for value in values for item in value.values()]
        return f"dict[{annotation(keys)}, {annotation(items)}]" if keys else "dict[str, int]"
    parts = sorted({annotation([value]) for value in values})
    return " | ".join(parts)


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((_plain(item) for item in value), key=repr)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text("utf-8").splitlines():
        if line.strip():
            yield json.loads(line)


def _solutions(folder: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for row in _rows(path):
            if row.get("solution"):
                found.setdefault(row["task_id"], []).append(row["solution"])
    return found


def _distinct(reference: str, sources: Iterable[str]) -> Iterator[str]:
    """Those that are code, and neither the reference nor each other in other words."""
    seen = {_shape(reference)}
    for source in sources:
        shape = _shape(source)
        if shape and shape not in seen:
            seen.add(shape)
            yield source


def _shape(source: str) -> str:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return ""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None and len(node.body) > 1:
            del node.body[0]
    return ast.dump(tree)


def _entry(source: str, tests: list[str]) -> str | None:
    """The function that `tests` call."""
    try:
        defined = [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
        asked = [
            node.func.id
            for test in tests
            for node in ast.walk(ast.parse(test))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        ]
    except SyntaxError:
        return None
    return next((name for name in asked if name in defined), None)
