"""A tool's source looked through once, and which thing a name in it means, as far as its syntax tells: `r` after
`from os import remove as r`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from habilis.core.parsing import nodes_of

_INNER = {"os", "sys", "shutil", "subprocess", "io", "builtins", "importlib", "pathlib", "socket", "ctypes", "codecs"}
"""Modules that others hold as attributes: `logging.os` is `os`."""


@dataclass(frozen=True)
class Code:
    """The nodes of a module that do something, and what its names mean."""

    nodes: tuple[ast.AST, ...]
    bindings: Bindings

    @classmethod
    def of(cls, tree: ast.Module) -> Code:
        nodes = nodes_of(tree)
        quiet = {id(node) for node in _said_only(nodes)}
        return cls(tuple(node for node in nodes if id(node) not in quiet), Bindings(nodes))


class Bindings:
    """The imports and plain text constants of a module, wherever in it they stand."""

    def __init__(self, nodes: Iterable[ast.AST]) -> None:
        self.modules: dict[str, int] = {}
        self._meant: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        for node in nodes:
            if isinstance(node, ast.Import):
                self._import(node)
            elif isinstance(node, ast.ImportFrom):
                self._import_from(node)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    self._constant(target, node.value)
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                self._constant(node.target, node.value)

    def dotted(self, node: ast.AST) -> str | None:
        """The dotted name that an expression means: `os.remove`, `open` for a builtin; None for anything else.

        `getattr(x, "name")` is `x.name`. A name that nothing imports stands for itself.
        """
        if isinstance(node, ast.Name):
            return self._meant.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            return self._below(node.value, node.attr)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            name = self.text(node.args[1]) if len(node.args) > 1 else None
            return self._below(node.args[0], name) if name is not None else None
        return None

    def is_module(self, node: ast.AST) -> bool:
        """Whether an expression is a name that was imported as a module."""
        return isinstance(node, ast.Name) and self._meant.get(node.id) in self.modules

    def is_imported(self, node: ast.AST) -> bool:
        """Whether an expression is something that an import brought, or an attribute of that."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self._meant

    def text(self, node: ast.AST) -> str | None:
        """The text that an expression is: a literal, or the name of a constant that is one."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        if isinstance(node, ast.Name):
            return self._texts.get(node.id)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self.text(node.left), self.text(node.right)
            return left + right if left is not None and right is not None else None
        return None

    def _below(self, value: ast.AST, name: str) -> str | None:
        base = self.dotted(value)
        if base is None:
            return None
        if base == "builtins":
            return name
        return name if name in _INNER and base.split(".")[0] in self.modules else f"{base}.{name}"

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.modules.setdefault(alias.name, node.lineno)
            top = alias.name.split(".")[0]
            self.modules.setdefault(top, node.lineno)
            self._meant[alias.asname or top] = alias.name if alias.asname else top

    def _import_from(self, node: ast.ImportFrom) -> None:
        module = "." * node.level + (node.module or "")
        self.modules.setdefault(module, node.lineno)
        for alias in node.names:
            meant = alias.name if alias.name in _INNER and module != "builtins" else f"{module}.{alias.name}"
            if meant in _INNER:
                self.modules.setdefault(meant, node.lineno)
            self._meant[alias.asname or alias.name] = meant.removeprefix("builtins.")

    def _constant(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, str):
            self._texts.setdefault(target.id, value.value)


def _said_only(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Parts of a module that describe it and do nothing: docstrings, `__TOOL_META__`, descriptions of fields."""
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value
        elif (
            isinstance(node, ast.Assign)
            and any(isinstance(t, ast.Name) and t.id == "__TOOL_META__" for t in node.targets)
        ) or (isinstance(node, ast.keyword) and node.arg in ("description", "title", "examples", "json_schema_extra")):
            yield from nodes_of(node.value)
