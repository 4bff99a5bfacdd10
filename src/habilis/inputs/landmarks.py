"""What a tool's code looks for in its arguments: numbers among items, lengths, letters and signs in texts.

Whoever wrote it meant to be asked for those, whatever was sent so far: there versions part that agree anywhere else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from habilis.core.parsing import nodes_of, tree_of

_ASKING = frozenset(
    """
    count endswith find index lstrip partition removeprefix removesuffix replace rfind rindex rpartition rsplit rstrip
    split startswith strip""".split()  # noqa: SIM905
)
"""Methods of a text whose arguments are what is looked for in it."""
_STRIPPING = frozenset({"lstrip", "rstrip", "strip"})
_KINDS = {"isalpha": "7", "isdecimal": "7", "isdigit": "7", "islower": "b", "isnumeric": "7", "isspace": " "}
_KINDS |= {"isupper": "B", "lower": "B", "swapcase": "B", "upper": "b"}
"""Methods that tell kinds of characters apart, or take them for one, each with a character of the other kind."""
_ALPHABETS = {"ascii_lowercase": "b", "ascii_uppercase": "B", "digits": "7", "punctuation": "!"}
"""Constants of the standard library that list a kind, each with a character of it."""
_MOST_BITS = 32
_LOOKING_UP = frozenset({"find", "get", "index"})
_LISTED = 3
"""Texts of a list that are taken for the words that an argument may be."""
_SHORT = 2
"""A longer text that something is compared with is a word, and no sign."""


@dataclass(frozen=True)
class Landmarks:
    """`items` are numbers that parts of a parameter are compared with; `units`, what it is divided by; `lengths`, what
    its length is; `signs` are single characters that its text is searched for; `words`, texts that are listed, or that
    one thing is compared with in turn. `empty`: it is asked whether anything was given at all."""

    items: frozenset[float] = frozenset()
    units: frozenset[int] = frozenset()
    lengths: frozenset[int] = frozenset()
    signs: frozenset[str] = frozenset()
    words: tuple[tuple[str, ...], ...] = ()
    empty: bool = False


NO_LANDMARKS = Landmarks()


def landmarks(*sources: str) -> Landmarks:
    """Those of `sources`; what is no code has none."""
    trees = [tree for source in sources if (tree := tree_of(source)) is not None]
    functions = [one for tree in trees for one in nodes_of(tree) if isinstance(one, ast.FunctionDef)]
    return Landmarks(
        frozenset(value for function in functions for value in _items(function)),
        frozenset(unit for tree in trees for unit in _units(tree)),
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


def _units(tree: ast.AST) -> Iterator[int]:
    """By what it divides, be it said as a division, a remainder, a mask of bits or a shift of them."""
    named = _assigned(tree)
    for node in nodes_of(tree):
        if isinstance(node, (ast.BinOp, ast.AugAssign)):
            right = node.right if isinstance(node, ast.BinOp) else node.value
            number = _number(named.get(right.id, right) if isinstance(right, ast.Name) else right)
            if isinstance(number, int) and (unit := _unit(node.op, number)) > 1:
                yield unit


def _assigned(tree: ast.AST) -> dict[str, ast.expr]:
    """What stands behind the names of a module."""
    return {
        target.id: node.value
        for node in ast.iter_child_nodes(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _unit(operator: ast.operator, number: int) -> int:
    if isinstance(operator, (ast.Mod, ast.FloorDiv, ast.Div)):
        return number
    if isinstance(operator, ast.RShift):
        return 1 << number if 0 <= number <= _MOST_BITS else 0
    return number + 1 if isinstance(operator, ast.BitAnd) else 0


def _lengths(function: ast.FunctionDef) -> Iterator[int]:
    own = _own(function)
    for sides in _compared(function):
        if any(_is_length(side) and _names(side, own) for side in sides):
            for number in map(_number, sides):
                if isinstance(number, int):
                    yield number


def _signs(function: ast.FunctionDef) -> Iterator[str]:
    for sides in _compared(function):
        yield from (sign for text in _texts(sides) if len(text) <= _SHORT for sign in text)
        yield from (_ALPHABETS[name] for side in sides if (name := _name(side)) in _ALPHABETS)
    for node in nodes_of(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _KINDS:
                yield _KINDS[node.func.attr]
            if node.func.attr in _STRIPPING and not node.args:
                yield " "
            texts = _texts(node.args[:1]) if node.func.attr in _ASKING else []
            yield from (sign for text in texts if len(text) <= _SHORT for sign in text)


def _words(tree: ast.AST) -> Iterator[tuple[str, ...]]:
    for node in nodes_of(tree):
        if isinstance(node, (ast.List, ast.Tuple, ast.Set, ast.Dict)):
            parts = node.keys if isinstance(node, ast.Dict) else node.elts
            texts = tuple(one.value for one in parts if isinstance(one, ast.Constant) and isinstance(one.value, str))
            if len(texts) == len(parts) and len(set(texts)) >= _LISTED:
                yield texts
    yield from _looked_up(tree)


def _looked_up(tree: ast.AST) -> Iterator[tuple[str, ...]]:
    """The texts that one thing, by its name, is compared with, or looked up among, all over the code."""
    named = _assigned(tree)
    asked: dict[str, list[str]] = {}
    for node in nodes_of(tree):
        for what, among in _asked(node):
            listed = named.get(among.id, among) if isinstance(among, ast.Name) else among
            asked.setdefault(_name(what), []).extend(_listed(listed))
    yield from (tuple(dict.fromkeys(texts)) for name, texts in asked.items() if name and len(set(texts)) > 1)


def _asked(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What is compared or looked up, and with what or among what."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.In, ast.NotIn)):
        yield node.left, node.comparators[0]
    elif isinstance(node, ast.Subscript):
        yield node.slice, node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _LOOKING_UP:
        yield from ((one, node.func.value) for one in node.args[:1])
    elif isinstance(node, ast.Match):
        patterns = (part for case in node.cases for part in nodes_of(case.pattern))
        yield from ((node.subject, part.value) for part in patterns if isinstance(part, ast.MatchValue))


def _listed(node: ast.expr) -> list[str]:
    """The texts of a list, the keys of a dictionary, or one text."""
    if isinstance(node, (ast.List, ast.Tuple, ast.Set, ast.Dict)):
        return _texts(node.keys if isinstance(node, ast.Dict) else node.elts)
    return _texts([node])


def _texts(nodes: Iterable[ast.expr | None]) -> list[str]:
    return [one.value for one in nodes if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def _asks_for_nothing(function: ast.FunctionDef) -> bool:
    """Whether it compares a parameter with an empty text or list, its length with 0, or takes its truth."""
    own = _own(function)
    turned = (node.operand for node in nodes_of(function) if isinstance(node, ast.UnaryOp) and _is_not(node))
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


def _name(node: ast.expr) -> str:
    """The last name of `string.digits` or of `input.unit.lower()`, and that of `units` in `units[0]`; else none."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _name(node.func.value)
    if isinstance(node, ast.Subscript):
        return _name(node.value)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _compared(function: ast.FunctionDef) -> Iterator[list[ast.expr]]:
    for node in nodes_of(function):
        if isinstance(node, ast.Compare):
            yield [node.left, *node.comparators]


def _own(function: ast.FunctionDef) -> frozenset[str]:
    """The names of a function's parameters, of those within it, and of what it takes from them one by one."""
    own = {arg.arg for arg in nodes_of(function) if isinstance(arg, ast.arg)}
    for node in nodes_of(function):
        if isinstance(node, (ast.For, ast.comprehension)) and _names(node.iter, own):
            own |= {part.id for part in nodes_of(node.target) if isinstance(part, ast.Name)}
    return frozenset(own)


def _names(node: ast.expr, own: set[str] | frozenset[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in own for part in nodes_of(node))


def _is_length(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"


def _number(node: ast.expr) -> float | None:
    """A number as it stands in the code, with its sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _number(node.operand)
        return None if value is None else -value
    found = node.value if isinstance(node, ast.Constant) else None
    return found if isinstance(found, (int, float)) and not isinstance(found, bool) and abs(found) < 1e9 else None
