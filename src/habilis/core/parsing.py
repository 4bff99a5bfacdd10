"""Python source as a syntax tree, from any thread, without a word about odd escapes: they are its writer's concern."""

from __future__ import annotations

import ast
import contextlib
import threading
import warnings
from collections.abc import Iterator

from habilis.core.errors import PlaceError
from habilis.core.place import NO_MEMORY

_ONE_AT_A_TIME = threading.RLock()
"""CPython 3.11 and 3.12 count the depth of a tree that is made in one place for all threads: two that parse at once now
and then end with a SystemError that says nothing of the source (CPython issue 106905 and its like)."""


_ROOM_BYTES = 16 << 20
"""What a machine that has memory for us always has."""


def syntax_tree(source: str) -> ast.Module:
    """The tree of a module. Raises what `ast.parse` raises for a source: SyntaxError, ValueError, RecursionError,
    MemoryError for one that is nested too deep; `PlaceError` where it is this machine that has no memory."""
    with _parsing():
        return ast.parse(source)


def tree_of(source: str) -> ast.Module | None:
    """The tree of a module, None for what does not parse."""
    try:
        return syntax_tree(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def expression_tree(source: str) -> ast.expr:
    """The tree of one expression. Raises as `syntax_tree` does."""
    with _parsing():
        return ast.parse(source, mode="eval").body


@contextlib.contextmanager
def _parsing() -> Iterator[None]:
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except (MemoryError, SystemError):  # the latter from a compiler that has no room to say which
            _check_room()
            raise


def _check_room() -> None:
    """The parser says the same of a source that is nested too deep and of a machine without memory."""
    try:
        bytearray(_ROOM_BYTES)
    except MemoryError as error:
        raise PlaceError(NO_MEMORY) from error
