"""A library's tools in any LangChain program, from ordinary code and from an event loop, each call sandboxed."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import Any

import pytest
from langchain_core.messages import ToolMessage

from habilis import Library

pytestmark = pytest.mark.sandbox


@pytest.fixture
async def library(exchange: Any) -> Library:
    await exchange.has(exchange.double(), "double_it")
    fails = exchange.double("fail", body="    return OutputModel(error=f'no {input.number}')")
    await exchange.has(fails, "fail")
    return Library(exchange.ours)


def running() -> int:
    return sum(thread.name == "habilis-tools" for thread in threading.enumerate())


async def test_tools_work_both_ways_and_failures_are_results(library: Library) -> None:
    with library.as_langchain_tools() as tools:
        by_name = {tool.name: tool for tool in tools}
        assert sorted(by_name) == ["double_it", "fail"]
        double = by_name["double_it"]
        assert double.tool_call_schema["properties"].keys() == {"number"}
        assert await double.ainvoke({"number": 4}) == {"result": 8}
        assert await asyncio.to_thread(double.invoke, {"number": 5}) == {"result": 10}
        call = {"name": "fail", "args": {"number": 3}, "id": "c1", "type": "tool_call"}
        said = await by_name["fail"].ainvoke(call)
        assert isinstance(said, ToolMessage)
        assert (said.content, said.status) == ("no 3", "error")
        assert "do not fit" in await double.ainvoke({"number": "x"})
    assert running() == 0
    with pytest.raises(RuntimeError, match="closed"):
        await double.ainvoke({"number": 1})


async def test_a_name_that_is_not_there_is_an_error_that_leaves_nothing_running(library: Library) -> None:
    with pytest.raises(KeyError, match="nothing"):
        library.as_langchain_tools("nothing")
    gc.collect()
    assert running() == 0
