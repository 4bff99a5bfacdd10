"""What a user would lose: a program ended by somebody else's tool, and rounds paid for a tool that can never work."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.tools import BaseTool, InjectedToolArg, InjectedToolCallId, StructuredTool, tool
from langgraph.prebuilt import InjectedState, InjectedStore, ToolRuntime
from langgraph.types import Command, interrupt
from pydantic import BaseModel

from habilis.core.errors import UserError
from habilis.sources.python.langchain import LangChainTools


@tool
def with_state(path: str, state: Annotated[dict[str, Any], InjectedState]) -> str:
    """Read rows."""
    return f"{path}{state}"


@tool
def with_field_of_state(path: str, rows: Annotated[list[str], InjectedState("rows")]) -> str:
    """Read rows."""
    return f"{path}{rows}"


@tool
def with_store(path: str, store: Annotated[Any, InjectedStore()]) -> str:
    """Read rows."""
    return f"{path}{store}"


@tool
def with_runtime(path: str, runtime: ToolRuntime) -> str:
    """Read rows."""
    return f"{path}{runtime}"


@tool
def with_argument(path: str, user: Annotated[str, InjectedToolArg]) -> str:
    """Read rows."""
    return f"{path}{user}"


@tool
def with_command(path: str) -> Command[Any]:
    """Read rows."""
    return Command(update={"rows": [path]})


@tool
def with_interrupt(path: str) -> str:
    """Read rows."""
    return str(interrupt(path))


class Rows(BaseModel):
    path: str
    state: Annotated[dict[str, Any], InjectedState]


class OwnClass(BaseTool):
    name: str = "own_class"
    description: str = "Read rows."
    args_schema: Any = Rows

    def _run(self, path: str, state: Any) -> str:
        return f"{path}{state}"


NEED_A_GRAPH = [
    (with_state, "state (InjectedState)"),
    (with_field_of_state, "rows (InjectedState)"),
    (with_store, "store (InjectedStore)"),
    (with_runtime, "runtime (ToolRuntime)"),
    (with_argument, "user (InjectedToolArg)"),
    (with_command, "returns a Command"),
    (with_interrupt, "interrupts"),
    (OwnClass(), "state (InjectedState)"),
]


@pytest.mark.parametrize(("given", "need"), NEED_A_GRAPH, ids=[given.name for given, _ in NEED_A_GRAPH])
async def test_a_tool_that_needs_a_graph_is_refused_by_name(given: BaseTool, need: str) -> None:
    with pytest.raises(UserError) as refused:
        await LangChainTools([given]).open()
    assert given.name in str(refused.value)
    assert need in str(refused.value)


async def call(function: Any, tmp_path: Path, **arguments: Any) -> Any:
    (external,) = await LangChainTools([function]).open()
    return await external.call(arguments, workspace=tmp_path)


async def test_a_call_id_and_injected_arguments_with_defaults_need_no_graph(tmp_path: Path) -> None:
    @tool
    def read(
        path: str, call_id: Annotated[str, InjectedToolCallId], user: Annotated[str, InjectedToolArg] = "me"
    ) -> str:
        """Read rows."""
        return f"{path} {call_id} {user}"

    assert (await call(read, tmp_path, path="a")).output == "a call me"


def leave(path: str) -> str:
    """Read rows."""
    sys.exit(f"no {path}")


async def leave_async(path: str) -> str:
    """Read rows."""
    sys.exit(f"no {path}")


class Leaving(BaseTool):
    name: str = "leaving"
    description: str = "Read rows."

    def _run(self, path: str) -> str:
        raise KeyboardInterrupt(f"no {path}")


@pytest.mark.parametrize(
    ("function", "raised"),
    [
        (leave, "SystemExit"),
        (leave_async, "SystemExit"),
        (StructuredTool.from_function(leave), "SystemExit"),
        (Leaving(), "KeyboardInterrupt"),
    ],
    ids=["function", "coroutine", "tool", "class"],
)
async def test_a_tool_that_would_end_the_program_gives_an_error(function: Any, raised: str, tmp_path: Path) -> None:
    outcome = await call(function, tmp_path, path="a.csv")
    assert outcome.error is not None
    assert outcome.error.exception == raised
    assert "no a.csv" in outcome.error.message


async def test_a_command_that_nobody_announced_is_an_error(tmp_path: Path) -> None:
    def read(path: str) -> Any:
        """Read rows."""
        return Command(update={"rows": [path]})

    outcome = await call(read, tmp_path, path="a")
    assert outcome.error is not None
    assert "Command" in outcome.error.message
