"""What the same work costs without Habilis: a bare LangGraph loop over the same model, with the same checkpoints."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command
from typing_extensions import TypedDict

Ask = Callable[[list[AnyMessage]], Awaitable[AIMessage]]


class State(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]


async def run(ask: Ask, run_tool: Callable[[dict[str, Any]], Awaitable[str]], folder: Path, thread: str) -> float:
    """Wall seconds of one task: ask, run the calls of the reply, ask again, until a reply has none."""

    async def act(state: State) -> Command[Literal["call_tools", "__end__"]]:
        reply = await ask(state["messages"])
        return Command(update={"messages": [reply]}, goto="call_tools" if reply.tool_calls else "__end__")

    async def call_tools(state: State) -> Command[Literal["act"]]:
        last = state["messages"][-1]
        assert isinstance(last, AIMessage)
        results = [ToolMessage(await run_tool(c["args"]), tool_call_id=c["id"] or "") for c in last.tool_calls]
        return Command(update={"messages": results}, goto="act")

    graph = StateGraph(State)
    graph.add_node("act", act)
    graph.add_node("call_tools", call_tools)
    graph.add_edge(START, "act")
    async with AsyncSqliteSaver.from_conn_string(str(folder / "checkpoints.sqlite")) as saver:
        compiled = graph.compile(checkpointer=saver)
        start = time.perf_counter()
        await compiled.ainvoke(
            {"messages": [HumanMessage("What is the average price?")]},
            {"configurable": {"thread_id": thread}, "recursion_limit": 1000},
            durability="sync",
        )
        return time.perf_counter() - start
