"""What a LangChain tool needs of a graph of LangGraph around it: such a tool cannot be called alone.

https://docs.langchain.com/oss/python/langchain/tools (state, store and runtime are injected; a `Command` updates the
graph; `interrupt` stops it).
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool


def need_of_a_graph(tool: BaseTool) -> str:
    """What `tool` needs of a graph, in words for a person; '' if it can be called alone."""
    injected = sorted({f"{name} ({kind})" for name, kind in _injected(tool)})
    if injected:
        return f"its {', '.join(injected)} is injected by a graph"
    for function in _functions(tool):
        if any(part.__name__ == "Command" for part in _parts(_hints(function).get("return"))):
            return "it returns a Command to its graph"
        if _interrupts(function):
            return "it interrupts its graph"
    return ""


def is_command(output: Any) -> bool:
    """Whether a tool returned what only a graph can carry out."""
    from langgraph.types import Command

    return isinstance(output, Command) or (isinstance(output, list) and any(map(is_command, output)))


def _functions(tool: BaseTool) -> Iterator[Callable[..., Any]]:
    """The code that a tool runs: a function that it wraps, or its own methods."""
    wrapped = [given for name in ("func", "coroutine") if (given := getattr(tool, name, None)) is not None]
    for function in wrapped or [type(tool)._run, type(tool)._arun]:
        yield inspect.unwrap(function)


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception:  # annotations of a stranger, which need not resolve
        return dict(getattr(function, "__annotations__", {}))


def _injected(tool: BaseTool) -> Iterator[tuple[str, str]]:
    """Parameters without a default that a graph gives, each with the kind of what it is given."""
    for function in _functions(tool):
        parameters = inspect.signature(function).parameters
        for name, hint in _hints(function).items():
            has_default = name in parameters and parameters[name].default is not inspect.Parameter.empty
            if name != "return" and not has_default and (kind := _kind(hint)):
                yield name, kind
    for name, field in getattr(tool.args_schema, "model_fields", {}).items():
        kinds = (_kind(part) for part in (field.annotation, *field.metadata))
        if field.is_required() and (kind := next(filter(None, kinds), "")):
            yield name, kind


def _kind(hint: Any) -> str:
    """The name of what is injected where `hint` says that something is; the id of a call is always known."""
    from langchain_core.tools import InjectedToolArg, InjectedToolCallId

    for part in _parts(hint):
        direct = any(base.__name__ == "_DirectlyInjectedToolArg" for base in part.__mro__)
        if direct or (issubclass(part, InjectedToolArg) and not issubclass(part, InjectedToolCallId)):
            return part.__name__
    return ""


def _parts(hint: Any) -> Iterator[type]:
    """The classes that a type hint is made of, those of its metadata among them."""
    for part in (typing.get_origin(hint), hint, *typing.get_args(hint)):
        if part is hint and not isinstance(part, type):
            part = type(part) if not typing.get_args(hint) else None
        if isinstance(part, type):
            yield part
    for inner in typing.get_args(hint):
        if not isinstance(inner, type):
            yield from _parts(inner)


def _interrupts(function: Callable[..., Any]) -> bool:
    """Whether a function's code names LangGraph's `interrupt`."""
    from langgraph.types import interrupt

    code = getattr(function, "__code__", None)
    seen = {**getattr(function, "__globals__", {}), **_closed_over(function)}
    return code is not None and any(seen.get(name) is interrupt for name in (*code.co_names, *code.co_freevars))


def _closed_over(function: Callable[..., Any]) -> dict[str, Any]:
    cells = getattr(function, "__closure__", None) or ()
    values = {}
    for name, cell in zip(function.__code__.co_freevars, cells, strict=False):
        try:
            values[name] = cell.cell_contents
        except ValueError:  # not filled yet
            continue
    return values
