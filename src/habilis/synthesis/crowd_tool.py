"""Runs in the sandbox as a tool does: another tool, called many times in one process.

What it gives says where to look, and is no evidence: a call may leave something behind for the next one.
"""

import asyncio
import json
import sys
import types
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

SOURCE = ""
"""Of the tool; whoever writes this module for it adds a line that says it."""
NAME = "<crowd>"
MOST_LINES, MOST_IN_ALL = 10_000, 500_000
"""Lines of the tool's own code that one call may run, and all together. Not seconds: equal calls end alike."""
MOST_CHARS = 4_000
"""Of one result as JSON; a longer one is not told."""


class InputModel(BaseModel):
    calls: list[dict[str, Any]]


class CrowdCall(BaseModel):
    """What one call came to. `new`: it went from one line to another where none before it had gone."""

    output: Any = None
    failed: bool = False
    silent: bool = False
    new: bool = False


class OutputModel(BaseModel):
    seen: list[CrowdCall]


class Enough(BaseException):
    """The call has run as many lines as it may."""


class Watch:
    """Counts the lines that the tool runs, and knows the steps from line to line that were taken."""

    def __init__(self) -> None:
        self.left, self.in_all = 0, MOST_IN_ALL
        self.steps: set[tuple[int, int]] = set()
        self._last = 0

    def call(self, run: Callable[[Any], Any], given: Any) -> Any:
        """What `run` gives. Raises Enough, and what it raises."""
        self.left, self._last = MOST_LINES, 0
        before = sys.gettrace()
        sys.settrace(self._enters)
        try:
            result = run(given)
            return asyncio.run(_awaited(result)) if hasattr(result, "__await__") else result
        finally:
            sys.settrace(before)
            self.in_all -= MOST_LINES - self.left

    def _enters(self, frame: types.FrameType, event: str, arg: Any) -> Any:
        return self._steps if frame.f_code.co_filename == NAME else None

    def _steps(self, frame: types.FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            self.left -= 1
            if self.left < 0:
                raise Enough
            self.steps.add((self._last, frame.f_lineno))
            self._last = frame.f_lineno
        return self._steps


async def _awaited(awaitable: Any) -> Any:
    return await awaitable


def _tool() -> types.ModuleType:
    module = types.ModuleType("_habilis_tool_in_crowd")
    sys.modules[module.__name__] = module
    exec(compile(SOURCE, NAME, "exec", dont_inherit=True), module.__dict__)
    return module


def _one(tool: types.ModuleType, arguments: dict[str, Any], watch: Watch) -> CrowdCall:
    if watch.in_all < MOST_LINES:
        return CrowdCall(silent=True)
    known = len(watch.steps)
    try:
        result = watch.call(tool.run, tool.InputModel.model_validate(arguments))
        fields = result.model_dump() if isinstance(result, BaseModel) else result
        output = tool.OutputModel.model_validate(fields).model_dump(mode="json")
        silent = len(json.dumps(output)) > MOST_CHARS
    except Enough:
        return CrowdCall(silent=True)
    except BaseException:
        return CrowdCall(failed=True, new=len(watch.steps) > known)
    return CrowdCall(output=None if silent else output, silent=silent, new=len(watch.steps) > known)


def run(input: InputModel) -> OutputModel:
    tool, watch = _tool(), Watch()
    return OutputModel(seen=[_one(tool, arguments, watch) for arguments in input.calls])
