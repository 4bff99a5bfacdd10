"""What an event belongs to: the build, the tool call or the round in which it happens.

A task builds tools and calls them side by side, so the place of an event follows the course of its own work. It is told
to observers alone; nothing decides by it.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from secrets import token_hex
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")
_PARENT: ContextVar[str] = ContextVar("parent", default="")


def parent_id() -> str:
    """The id of what happens here and now; empty outside of everything that has one."""
    return _PARENT.get()


@contextmanager
def under(parent: str) -> Iterator[None]:
    """Let all that happens in the block belong to `parent`."""
    before = _PARENT.set(parent)
    try:
        yield
    finally:
        _PARENT.reset(before)


def as_build(work: Callable[_P, Coroutine[Any, Any, _T]]) -> Callable[_P, Coroutine[Any, Any, _T]]:
    """Let each run of `work` be a build with an id of its own."""

    @wraps(work)
    async def build(*args: _P.args, **named: _P.kwargs) -> _T:
        with under(f"build-{token_hex(6)}"):
            return await work(*args, **named)

    return build
