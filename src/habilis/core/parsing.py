"""Python source as a syntax tree, from any thread, without a word about odd escapes: they are its writer's concern."""

from __future__ import annotations

import ast
import threading
import warnings

_ONE_AT_A_TIME = threading.RLock()
"""CPython 3.11 and 3.12 count the depth of a tree that is made in one place for all threads: two that parse at once now
and then end with a SystemError that says nothing of the source (CPython issue 106905 and its like)."""


def syntax_tree(source: str) -> ast.Module:
    """The tree of a module. Raises what `ast.parse` raises for a source: SyntaxError, ValueError, RecursionError,
    MemoryError."""
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def tree_of(source: str) -> ast.Module | None:
    """The tree of a module, None for what does not parse."""
    try:
        return syntax_tree(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def expression_tree(source: str) -> ast.expr:
    """The tree of one expression. Raises as `syntax_tree` does."""
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source, mode="eval").body
