"""What a tool's code looks for in its arguments: numbers among items, lengths, letters and signs in texts.

Whoever wrote it meant to be asked for those, whatever was sent so far: there versions part that agree anywhere else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from habilis.core.parsing import tree_of

_ASKING = frozenset(
    """
    count endswith find index lstrip partition removeprefix removesuffix replace rfind rindex rpartition rsplit rstrip
    split startswith strip""".split()  # noqa: SIM905
)
"""Methods of a text whose arguments are what is looked for in it."""
_KINDS = {"isalpha": "7", "isdecimal": "7", "isdigit": "7", "islower": "b", "isnumeric": "7", "isspace": " "}
_KINDS |= {"isupper": "B", "lower": "B", "swapcase": "B", "upper": "b"}
"""Methods that tell kinds of characters apart, or take them for one, each with a character of the other kind."""
_LISTED = 3
"""Texts of a list that are taken for the words that an argument may be."""
_SHORT = 2
"""A longer text that something is compared with is a word, and no sign."""


@dataclass(frozen=True)
class Landmarks:
    """`items` are numbers that parts of a parameter are compared with; `lengths`, what its length is; `signs` are
    single characters that its text is searched for; `words`, texts that are listed. `empty`: it is asked whether
    anything was given at all."""

    items: frozenset[float] = frozenset()
    lengths: frozenset[int] = frozenset()
    signs: frozenset[str] = frozenset()
    words: tuple[tuple[str, ...], ...] = ()
    empty: bool = False


def landmarks(*sources: str) -> Landmarks:
    """Those of `sources`; what is no code has none."""
    trees = [tree for source in sources if (tree := tree_of(source)) is not None]
    functions = [one for tree in trees for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
    return Landmarks(
        frozenset(value for function in functions for value in _items(function)),
        frozenset(value for function in functions for value in _lengths(function)),
        frozenset(sign for function in functions for sign in _signs(function)),
        tuple(dict.fromkeys(words for tree in trees for words in _words(tree))),
        any(_asks_for_nothing(function) for function in functions),
    )


def _items(function: ast.FunctionDef) -> Iterator[float]:
    own = _own(function)
    for sides in _compared(function):
        if any(_names(side, own) for side in sides if not isinstance(side, ast.Call)):
            yield from (value for side in sides if (value := _number(side)) is not None)


def _lengths(function: ast.FunctionDef) -> Iterator[int]:
    own = _own(function)
    for sides in _compared(function):
        if any(_is_length(side) and _names(side, own) for side in sides):
            for number in map(_number, sides):
                if isinstance(number, int):
                    yield number


def _signs(function: ast.FunctionDef) -> Iterator[str]:
    for sides in _compared(function):
        texts = [side.value for side in sides if isinstance(side, ast.Constant) and isinstance(side.value, str)]
        yield from (sign for text in texts if len(text) <= _SHORT for sign in text)
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _KINDS:
                yield _KINDS[node.func.attr]
            given = node.args[:1] if node.func.attr in _ASKING else []
            texts = [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            yield from (sign for text in texts if len(text) <= _SHORT for sign in text)


def _words(tree: ast.AST) -> Iterator[tuple[str, ...]]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.List, ast.Tuple, ast.Set, ast.Dict)):
            parts = node.keys if isinstance(node, ast.Dict) else node.elts
            texts = tuple(one.value for one in parts if isinstance(one, ast.Constant) and isinstance(one.value, str))
            if len(texts) == len(parts) and len(set(texts)) >= _LISTED:
                yield texts


def _asks_for_nothing(function: ast.FunctionDef) -> bool:
    """Whether it compares a parameter with an empty text or list, its length with 0, or takes its truth."""
    own = _own(function)
    turned = (node.operand for node in ast.walk(function) if isinstance(node, ast.UnaryOp) and _is_not(node))
    if any(isinstance(one, (ast.Name, ast.Attribute)) and _names(one, own) for one in turned):
        return True
    return 0 in _lengths(function) or any(
        any(_is_empty(side) for side in sides) and any(_names(side, own) for side in sides)
        for sides in _compared(function)
    )


def _is_not(node: ast.UnaryOp) -> bool:
    return isinstance(node.op, ast.Not)


def _is_empty(node: ast.expr) -> bool:
    return (isinstance(node, ast.Constant) and node.value == "") or (isinstance(node, ast.List) and not node.elts)


def _compared(function: ast.FunctionDef) -> Iterator[list[ast.expr]]:
    for node in ast.walk(function):
        if isinstance(node, ast.Compare):
            yield [node.left, *node.comparators]


def _own(function: ast.FunctionDef) -> frozenset[str]:
    """The names of a function's parameters, of those within it, and of what it takes from them one by one."""
    own = {arg.arg for arg in ast.walk(function) if isinstance(arg, ast.arg)}
    for node in ast.walk(function):
        if isinstance(node, (ast.For, ast.comprehension)) and _names(node.iter, own):
            own |= {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)}
    return frozenset(own)


def _names(node: ast.expr, own: set[str] | frozenset[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in own for part in ast.walk(node))


def _is_length(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"


def _number(node: ast.expr) -> float | None:
    """A number as it stands in the code, with its sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _number(node.operand)
        return None if value is None else -value
    found = node.value if isinstance(node, ast.Constant) else None
    return found if isinstance(found, (int, float)) and not isinstance(found, bool) and abs(found) < 1e9 else None
