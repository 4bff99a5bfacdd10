"""Python source as a syntax tree, from any thread, without a word about odd escapes: they are its writer's concern."""

from __future__ import annotations

import ast
import threading
import warnings
from typing import Any, Literal

from habilis.core.errors import PlaceError
from habilis.core.place import NO_MEMORY

_ONE_AT_A_TIME = threading.RLock()
"""CPython 3.11 and 3.12 count the depth of a tree that is made in one place for all threads: two that parse at once now
and then end with a SystemError that says nothing of the source (CPython issue 106905 and its like)."""
_TRIES = 10
"""The lock does not bind the libraries, LangChain among them, which parse in threads of their own."""

_ROOM_BYTES = 16 << 20
"""What a machine that has memory for us always has."""


def syntax_tree(source: str) -> ast.Module:
    """The tree of a module. Raises what `ast.parse` raises for a source: SyntaxError, ValueError, RecursionError,
    MemoryError for one that is nested too deep; `PlaceError` where it is this machine that has no memory."""
    tree: ast.Module = _parsed(source, "exec")
    return tree


def tree_of(source: str) -> ast.Module | None:
    """The tree of a module, None for what does not parse."""
    try:
        return syntax_tree(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """`tree` and all nodes below it, in the order of `ast.walk`, which takes nearly twice the time."""
    found = [tree]
    for node in found:
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                found += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                found.append(value)
    return found


def expression_tree(source: str) -> ast.expr:
    """The tree of one expression. Raises as `syntax_tree` does."""
    tree: ast.Expression = _parsed(source, "eval")
    return tree.body


def literal_value(source: str) -> Any:
    """The value that a Python literal stands for. Raises as `syntax_tree` does, and TypeError for an unhashable key."""
    return ast.literal_eval(expression_tree(source.strip()))


def _parsed(source: str, mode: Literal["exec", "eval"]) -> Any:
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(_TRIES):
            try:
                return ast.parse(source, mode=mode)
            except MemoryError:
                _check_room()
                raise
            except SystemError as error:  # a library's parse came between, or the compiler has no room to say so
                _check_room()
                failed = error
        raise failed


def _check_room() -> None:
    """The parser says the same of a source that is nested too deep and of a machine without memory."""
    try:
        bytearray(_ROOM_BYTES)
    except MemoryError as error:
        raise PlaceError(NO_MEMORY) from error
