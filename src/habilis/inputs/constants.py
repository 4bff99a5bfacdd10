"""The numbers and short texts that stand in a tool's code: where it may take another way."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from habilis.core.parsing import nodes_of, tree_of

MOST, MOST_CHARS = 40, 40
_ABOUT = ("InputModel", "OutputModel")
_CHOICE = re.compile(r"\((?:\?:)?(\w{1,20}(?:\|\w{1,20}){1,11})\)")


@dataclass(frozen=True)
class Constants:
    """In order, each once; at most forty of a kind."""

    numbers: tuple[int | float, ...] = ()
    texts: tuple[str, ...] = ()
    borders: frozenset[int | float] = frozenset()
    """Numbers that a parameter itself is compared with: the code means to be asked for them."""
    choices: tuple[tuple[str, ...], ...] = ()
    """Words of which a regular expression takes any: `(ms|s|sec)`."""


NO_CONSTANTS = Constants()


def constants(*sources: str) -> Constants:
    """Those of `sources`; what is no code has none. What code says of itself, such as its docstrings, is left out."""
    numbers: set[int | float] = set()
    texts: set[str] = set()
    borders: set[int | float] = set()
    choices: set[tuple[str, ...]] = set()
    for source in sources:
        tree = tree_of(source)
        if tree is None:
            continue
        borders.update(_borders(tree))
        for value in _values(tree):
            if isinstance(value, str):
                texts.add(value)
                choices.update(tuple(found.split("|")) for found in _CHOICE.findall(value))
            elif not isinstance(value, bool) and isinstance(value, (int, float)) and abs(value) < 1e9:
                numbers.add(value)
    short = sorted(text for text in texts if 0 < len(text) <= MOST_CHARS)
    return Constants(tuple(sorted(numbers)[:MOST]), tuple(short[:MOST]), frozenset(borders), tuple(sorted(choices)))


def _borders(tree: ast.AST) -> Iterator[int | float]:
    for function in nodes_of(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        own = {arg.arg for arg in nodes_of(function.args) if isinstance(arg, ast.arg)}
        for node in nodes_of(function):
            if not isinstance(node, ast.Compare):
                continue
            sides = [node.left, *node.comparators]
            if any(_parameter(side, own) for side in sides):
                values = [side.value for side in sides if isinstance(side, ast.Constant)]
                yield from (v for v in values if isinstance(v, (int, float)) and not isinstance(v, bool))


def _parameter(node: ast.expr, own: set[str]) -> bool:
    """Whether `node` is a parameter of its function, or a field of one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in own


def _values(node: ast.AST) -> Iterator[object]:
    """The constants below `node`, but for docstrings, the tool's description and the declarations of its fields."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue
        if isinstance(child, ast.ClassDef) and child.name in _ABOUT:
            continue
        if isinstance(child, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id.startswith("__") for t in child.targets
        ):
            continue
        if isinstance(child, ast.Constant):
            yield child.value
        yield from _values(child)
