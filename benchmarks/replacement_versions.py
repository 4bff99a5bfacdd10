"""Other versions of a function: wrong ones, by the usual operators of mutation, and rewrites that mean the same."""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Change = Callable[[], None]
_ORDER = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
_TURNED = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
_FACING = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Eq: ast.Eq, ast.NotEq: ast.NotEq}
_OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.FloorDiv}
_OPERATORS |= {ast.FloorDiv: ast.Div, ast.Mod: ast.Mult, ast.Pow: ast.Mult}


@dataclass(frozen=True)
class Version:
    """`kind` is the operator, or how it was rewritten."""

    source: str
    kind: str


def mutants(source: str, entry: str, most: int, seed: str) -> list[Version]:
    """Up to `most` that differ in one place, drawn from each operator in turn."""
    tree = ast.parse(source)
    by_kind: dict[str, list[str]] = {}
    for number in range(len(list(_changes(tree, entry)))):
        altered = copy.deepcopy(tree)
        kind, change = list(_changes(altered, entry))[number]
        change()
        text = ast.unparse(ast.fix_missing_locations(altered))
        if text != ast.unparse(tree):
            by_kind.setdefault(kind, []).append(text)
    lot = random.Random(seed)
    for texts in by_kind.values():
        lot.shuffle(texts)
    found: list[Version] = []
    while len(found) < most and any(by_kind.values()):
        for kind in lot.sample(sorted(by_kind), len(by_kind)):
            if by_kind[kind] and len(found) < most:
                found.append(Version(by_kind[kind].pop(), kind))
    return found


def _changes(tree: ast.Module, entry: str) -> Iterator[tuple[str, Change]]:
    for function in tree.body:
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                yield from _of_node(node)
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.name == entry:
            yield from _early(function)


def _of_node(node: ast.AST) -> Iterator[tuple[str, Change]]:
    if isinstance(node, ast.Compare):
        kind = type(node.ops[0])
        for table, name in ((_ORDER, "border of a comparison"), (_TURNED, "turned comparison")):
            if kind in table:
                yield name, _put(node, "ops", [table[kind](), *node.ops[1:]])
    elif (isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS) or (
        isinstance(node, ast.AugAssign) and type(node.op) in _OPERATORS
    ):
        yield "arithmetic", _put(node, "op", _OPERATORS[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        yield "boolean", _put(node, "op", ast.And() if isinstance(node.op, ast.Or) else ast.Or())
        yield (
            "dropped condition",
            _put(node, "values", node.values[1:] if len(node.values) > 2 else node.values[1:] * 2),
        )
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "boolean", _put(node, "operand", ast.UnaryOp(ast.Not(), node.operand))
    elif isinstance(node, ast.Constant):
        yield from _of_constant(node)
    elif isinstance(node, ast.Call) and len(node.args) > 1:
        yield "swapped arguments", _put(node, "args", [node.args[1], node.args[0], *node.args[2:]])
    elif isinstance(node, (ast.If, ast.IfExp)):
        yield "turned condition", _put(node, "test", ast.UnaryOp(ast.Not(), node.test))
    if isinstance(node, (ast.If, ast.For, ast.While, ast.FunctionDef)):
        for number, line in enumerate(node.body):
            if isinstance(line, (ast.Assign, ast.AugAssign, ast.Expr, ast.If, ast.Break, ast.Continue)) and not _text(
                line
            ):
                rest = [*node.body[:number], *node.body[number + 1 :]] or [ast.Pass()]
                yield "dropped statement", _put(node, "body", rest)


def _of_constant(node: ast.Constant) -> Iterator[tuple[str, Change]]:
    if isinstance(node.value, bool):
        yield "constant", _put(node, "value", not node.value)
    elif isinstance(node.value, (int, float)):
        yield "off by one", _put(node, "value", node.value + 1)
        yield "off by one", _put(node, "value", node.value - 1)
        if node.value:
            yield "constant", _put(node, "value", 0)
    elif isinstance(node.value, str) and len(node.value) < 20:
        yield "constant", _put(node, "value", node.value[1:] if node.value else "x")


def _early(function: ast.FunctionDef) -> Iterator[tuple[str, Change]]:
    """A return after the first loop's first round, or of the first parameter where there is no loop."""
    for node in ast.walk(function):
        if isinstance(node, (ast.For, ast.While)):
            yield "early end of a loop", _put(node, "body", [*node.body, ast.Break()])


def _put(node: ast.AST, name: str, value: object) -> Change:
    return lambda: setattr(node, name, value)


def _text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


# --- the same in other words


def rewrites(source: str, entry: str) -> list[Version]:
    """Versions that mean the same by how they are made."""
    ways: list[tuple[str, list[ast.NodeTransformer]]] = [
        ("renamed", [_Renamed()]),
        ("loops", [_Whiles(), _Comprehensions()]),
        ("conditions", [_Conditions(), _Facing()]),
        ("all", [_Comprehensions(), _Conditions(), _Facing(), _Whiles(), _Results(), _Copies(entry), _Renamed()]),
    ]
    plain = ast.unparse(ast.parse(source))
    found: list[Version] = []
    for name, steps in ways:
        tree = ast.parse(source)
        for step in steps:
            tree = ast.fix_missing_locations(step.visit(tree))
        text = ast.unparse(tree)
        if text not in (plain, *(one.source for one in found)):
            found.append(Version(text, name))
    return found


class _Renamed(ast.NodeTransformer):
    """Local variables under other names, in functions that hold no other scopes but comprehensions."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        inner = (ast.FunctionDef, ast.Lambda, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.ExceptHandler)
        if any(isinstance(one, inner) for one in ast.walk(node) if one is not node):
            return node
        taken = {arg.arg for arg in ast.walk(node.args) if isinstance(arg, ast.arg)}
        stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and one.id in stored - taken:
                one.id = f"value_{one.id}"
        return node


class _Whiles(ast.NodeTransformer):
    """Loops over sequences as loops over an iterator; a `break` or `continue` means what it did."""

    def __init__(self) -> None:
        self._number = 0

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        if node.orelse:
            return node
        self._number += 1
        over, end = f"over_{self._number}", f"end_{self._number}"
        lines = ast.parse(f"{over} = iter(0)\n{end} = object()\nwhile True:\n    item = next({over}, {end})").body
        made, marked, loop = lines
        assert isinstance(made, ast.Assign)
        assert isinstance(made.value, ast.Call)
        assert isinstance(loop, ast.While)
        made.value.args = [node.iter]
        item = f"item_{self._number}"
        loop.body = ast.parse(f"{item} = next({over}, {end})\nif {item} is {end}:\n    break_()").body
        assert isinstance(loop.body[1], ast.If)
        loop.body[1].body = [ast.Break()]
        loop.body += [ast.Assign([node.target], ast.Name(item, ast.Load())), *node.body]
        return [made, marked, loop]


class _Comprehensions(ast.NodeTransformer):
    """`x = [… for …]` and `return [… for …]` as loops; only where no name of the comprehension is used outside."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self._names = [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]
        self._parameters = {arg.arg for arg in ast.walk(node.args) if isinstance(arg, ast.arg)}
        self.generic_visit(node)
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST | list[ast.stmt]:
        if not isinstance(node.value, ast.ListComp) or not self._alone(node.value):
            return node
        lines: list[ast.stmt] = [
            ast.Expr(ast.Call(ast.Attribute(ast.Name("kept_", ast.Load()), "append", ast.Load()), [node.value.elt], []))
        ]
        for part in reversed(node.value.generators):
            for condition in reversed(part.ifs):
                lines = [ast.If(condition, lines, [])]
            lines = [ast.For(part.target, part.iter, lines, [])]
        first = ast.Assign([ast.Name("kept_", ast.Store())], ast.List([], ast.Load()))
        return [first, *lines, ast.Return(ast.Name("kept_", ast.Load()))]

    def _alone(self, node: ast.ListComp) -> bool:
        bound = {n.id for part in node.generators for n in ast.walk(part.target) if isinstance(n, ast.Name)}
        inside = [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]
        nested = any(isinstance(one, (ast.Lambda, ast.ListComp, ast.GeneratorExp)) for one in ast.walk(node.elt))
        own = all(self._names.count(name) == inside.count(name) for name in bound)
        return own and not bound & self._parameters and not nested


class _Conditions(ast.NodeTransformer):
    """`if a and b` as two, and branches turned round."""

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        if node.orelse:
            return ast.If(ast.UnaryOp(ast.Not(), node.test), node.orelse, node.body)
        if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And):
            inner: list[ast.stmt] = node.body
            for part in reversed(node.test.values):
                inner = [ast.If(part, inner, [])]
            return inner[0]
        return node


class _Facing(ast.NodeTransformer):
    """`a < b` as `b > a`, where both sides only look."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        kind, right = type(node.ops[0]), node.comparators[0]
        calls = any(isinstance(one, (ast.Call, ast.NamedExpr)) for side in (node.left, right) for one in ast.walk(side))
        if len(node.ops) > 1 or kind not in _FACING or calls:
            return node
        return ast.Compare(right, [_FACING[kind]()], [node.left])


class _Results(ast.NodeTransformer):
    """A result has a name before it is returned."""

    def visit_Return(self, node: ast.Return) -> ast.AST | list[ast.stmt]:
        if node.value is None:
            return node
        name = "outcome_"
        return [ast.Assign([ast.Name(name, ast.Store())], node.value), ast.Return(ast.Name(name, ast.Load()))]


class _Copies(ast.NodeTransformer):
    """The function works on copies of what it is given."""

    def __init__(self, entry: str) -> None:
        self._entry = entry

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if node.name == self._entry:
            lines = [f"{arg.arg} = __import__('copy').deepcopy({arg.arg})" for arg in node.args.args]
            node.body = [*ast.parse("\n".join(lines)).body, *node.body]
        return node
