"""LangChain tools, and plain functions, as external tools."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import functools
import hashlib
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.core.errors import UserError
from habilis.core.ports import ExternalTool
from habilis.core.types import CallOutcome, Effects, ToolSpec
from habilis.sources.foreign.answers import as_outcome, failed
from habilis.sources.foreign.apart import TOO_DEEP, apart, too_deep
from habilis.sources.foreign.presenting import one_line
from habilis.sources.python.needs import is_command, need_of_a_graph

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

SHOWN_CHARS = 800


class LangChainTools:
    """The port `ToolSource` over LangChain tools or plain functions with annotated arguments and a docstring.

    They run in this process, without a sandbox. `effects` is what a call of them may do. Seconds. A tool with a
    callable `cleanup` (or `aclose`) has it called when the task ends, however it ends.
    """

    def __init__(
        self, tools: Sequence[BaseTool | Callable[..., Any]], *, effects: Effects = "writes", timeout_s: float = 60.0
    ) -> None:
        self._given, self._effects, self._timeout_s = list(tools), effects, timeout_s

    async def open(self) -> Sequence[ExternalTool]:
        """Raises `UserError` for what is no tool, and for a tool that needs a graph around it."""
        return [LangChainTool(_alone(_as_tool(given)), self._effects, self._timeout_s) for given in self._given]

    async def aclose(self) -> None:
        """Have each tool clean up; what fails in one keeps no other from it."""
        failures = []
        for given in self._given:
            clean = next((f for name in ("cleanup", "aclose") if callable(f := getattr(given, name, None))), None)
            try:
                done = clean() if clean is not None else None
                if inspect.isawaitable(done):
                    await done
            except Exception as error:  # a stranger's code
                failures.append(f"{getattr(given, 'name', given)}: {error}")
        if failures:
            raise RuntimeError("; ".join(failures))


@dataclass(frozen=True)
class LangChainTool:
    """One of them (the port `ExternalTool`)."""

    tool: BaseTool
    effects: Effects
    timeout_s: float

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(name=self.tool.name, description=self.tool.description, parameters=_schema(self.tool))

    @property
    def version(self) -> str:
        said = json.dumps(self.spec.model_dump(), sort_keys=True, default=str)
        code = inspect.unwrap(getattr(self.tool, "func", None) or type(self.tool))
        with contextlib.suppress(OSError, TypeError):
            said += inspect.getsource(code)
        return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def missing(self) -> tuple[str, ...]:
        return ()

    async def call(self, arguments: Mapping[str, Any], *, workspace: Path) -> CallOutcome:
        if too_deep():
            return TOO_DEEP
        call: Any = {"type": "tool_call", "id": "call", "name": self.tool.name, "args": dict(arguments)}
        try:
            async with asyncio.timeout(self.timeout_s):
                message = await apart(self.tool.ainvoke(call))
        except TimeoutError:
            return failed("timeout", f"no answer within {self.timeout_s:g} s; ask for less, or go on without.")
        except _Left as left:
            return raised(left.why)
        except Exception as error:  # whatever the tool raises is a value for the model
            return raised(error)
        if is_command(message):
            return failed("bad_output", "the tool returned a Command, which only a graph of LangGraph can carry out")
        content = getattr(message, "content", message)
        if getattr(message, "status", "success") == "error":
            return failed("crashed", f"the tool failed: {one_line(str(content), SHOWN_CHARS)}")
        return as_outcome(content, workspace)


def raised(error: BaseException) -> CallOutcome:
    """The outcome of a call that raised."""
    kind = type(error).__name__
    told = one_line(f"{kind}: {error}", SHOWN_CHARS)
    outcome = failed("invalid_arguments" if kind == "ValidationError" else "crashed", f"the tool failed: {told}")
    assert outcome.error is not None
    return outcome.model_copy(update={"error": outcome.error.model_copy(update={"exception": kind})})


class _Left(Exception):
    """A tool's code raised what would end the program. `why` is that."""

    def __init__(self, why: BaseException) -> None:
        super().__init__(str(why))
        self.why = why


def _alone(tool: BaseTool) -> BaseTool:
    """`tool` so that it cannot end the program. Raises `UserError` for one that cannot be called without a graph."""
    need = need_of_a_graph(tool)
    if need:
        raise UserError(f"the tool {tool.name} cannot be used here: {need}, and there is none around it")
    kept = copy.copy(tool)
    # Where LangChain awaits the code, a task of its own would hand SystemExit to the event loop.
    kept.__dict__ |= {"_run": _held(kept._run), "_arun": _held_async(kept._arun)}
    return kept


def _held(run: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(run)
    def held(*args: Any, **kwargs: Any) -> Any:
        try:
            return run(*args, **kwargs)
        except Exception:
            raise
        except BaseException as error:  # in a thread of its own: what the user interrupts is elsewhere
            raise _Left(error) from None

    return held


def _held_async(run: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(run)
    async def held(*args: Any, **kwargs: Any) -> Any:
        try:
            return await run(*args, **kwargs)
        except (Exception, asyncio.CancelledError, KeyboardInterrupt):
            raise
        except BaseException as error:
            raise _Left(error) from None

    return held


def _as_tool(given: Any) -> BaseTool:
    from langchain_core.tools import BaseTool, StructuredTool

    if isinstance(given, BaseTool):
        return given
    if not callable(given):
        raise UserError(f"{given!r} is neither a LangChain tool nor a function")
    try:
        if inspect.iscoroutinefunction(given):
            return StructuredTool.from_function(coroutine=given)
        return StructuredTool.from_function(given)
    except (ValueError, TypeError) as error:
        raise UserError(f"{getattr(given, '__name__', given)} is not a tool: {one_line(str(error), 200)}") from None


def _schema(tool: BaseTool) -> dict[str, Any]:
    """The schema of what a model gives; what LangChain injects is not in it."""
    schema: Any = tool.tool_call_schema
    return dict(schema) if isinstance(schema, dict) else dict(schema.model_json_schema())
