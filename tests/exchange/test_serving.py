"""A library as an MCP server: the official client finds and calls every tool, over real pipes, in the sandbox."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from habilis.library import Library

if TYPE_CHECKING:
    from mcp import ClientSession

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(importlib.util.find_spec("mcp") is None, reason="the extra mcp is not installed"),
]
SOURCE = Path(__file__).resolve().parents[2] / "src"
ENDED_S = 60.0
DOUBLING = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(60)} | {"d60": False}
BOMBS: dict[str, dict[str, Any]] = {
    "pattern": {"properties": {"result": {"pattern": "^(a+)+$|!$"}}},
    "doubling": {"properties": {"result": {"$ref": "#/$defs/d0"}}, "$defs": DOUBLING},
    "itself": {"allOf": [{"$ref": "#"}]},
}


def words(library: Path, *more: str) -> list[str]:
    return ["-m", "habilis", "serve", "--library", str(library), *more]


@contextlib.asynccontextmanager
async def client(library: Path, *more: str, told: list[Any] | None = None) -> AsyncIterator[ClientSession]:
    """The official client of a server that runs as a program of its own."""
    from mcp import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client

    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    server = StdioServerParameters(command=sys.executable, args=words(library, *more), env=env)

    async def hear(message: Any) -> None:
        if told is not None:
            told.append(message)

    # Its default is what stderr was when it was first imported, which in a test may be no file.
    errors = sys.__stderr__
    assert errors is not None
    async with (
        stdio_client(server, errlog=errors) as (reading, writing),
        ClientSession(reading, writing, message_handler=hear) as session,
    ):
        await session.initialize()
        yield session


async def until(true: Any) -> None:
    async with asyncio.timeout(ENDED_S):
        while not true():
            await asyncio.sleep(0.02)


@pytest.fixture
async def served(exchange: Any) -> Any:
    """A library of four tools: good ones, one that fails, one that waits."""
    await exchange.has(exchange.double(), "double_it")
    await exchange.has(exchange.shout(), "shout")
    fails = exchange.double("fail", body="    print('noise')\n    return OutputModel(error=f'no {input.number}')")
    await exchange.has(fails, "fail")
    waits = "    import time\n    open('begun', 'w').close()\n    time.sleep(input.number)\n"
    waits += "    open('ended', 'w').close()\n"
    await exchange.has(exchange.double("wait", body=f"{waits}    return OutputModel(result=1)"), "wait")
    exchange.workspace.mkdir()
    (exchange.workspace / "a.txt").write_text("hello")
    return exchange


async def test_the_official_client_lists_and_calls_every_tool(served: Any) -> None:
    async with client(served.ours, "--workspace", str(served.workspace)) as session:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert sorted(tools) == ["double_it", "fail", "shout", "wait"]
        library = Library(served.ours)
        for name, shown in tools.items():
            tool = library.get(name)
            assert tool is not None
            assert (shown.input_schema, shown.output_schema) == (tool.input_schema, tool.output_schema)
            assert shown.annotations is not None
            assert shown.annotations.read_only_hint is (tool.effects != "writes")
        calls: dict[str, tuple[dict[str, Any], Any]] = {
            "double_it": ({"number": 4}, 8),
            "shout": ({"path": "a.txt"}, "HELLO"),
            "wait": ({"number": 0}, 1),
        }
        for name, (arguments, result) in calls.items():
            done = await session.call_tool(name, arguments)
            assert not done.is_error, done
            assert done.structured_content == {"result": result, "error": None}
            assert json.loads(done.content[0].text) == done.structured_content


async def test_what_fails_is_a_result_that_says_so(served: Any) -> None:
    async with client(served.ours) as session:
        failed = await session.call_tool("fail", {"number": 3})
        assert failed.is_error
        assert failed.structured_content == {"result": None, "error": "no 3"}
        wrong = await session.call_tool("double_it", {"number": "x"})
        assert wrong.is_error
        assert wrong.content[0].text.startswith("invalid_arguments: ")
        assert (await session.call_tool("nothing", {})).is_error
        assert (await session.call_tool("double_it", {"number": 1})).structured_content == {"result": 2, "error": None}


async def unchecked(name: str, result: Any) -> None:
    """The official client checks as we once did."""


@pytest.mark.parametrize("bomb", BOMBS)
async def test_a_tools_own_schema_holds_no_server_up(served: Any, bomb: str) -> None:
    schema = {"type": "object", **BOMBS[bomb]}
    said = f"    model_json_schema = classmethod(lambda cls, **how: {schema!r})\n    result:"
    source = served.double("bomb", body="    return OutputModel(result='a' * 60 + '!')", result="str | None")
    await served.has(source.replace("    result:", said), "bomb")
    async with asyncio.timeout(ENDED_S), client(served.ours) as session:
        session.validate_tool_result = unchecked  # type: ignore[method-assign]
        done = await session.call_tool("bomb", {"number": 1})
        assert "aaaa" in done.content[0].text, "it did run"
        assert done.is_error is (bomb != "pattern"), "what cannot be checked does not fit"
        assert (await session.call_tool("double_it", {"number": 1})).structured_content == {"result": 2, "error": None}


async def test_a_tool_gets_nothing_that_settings_do_not_give(served: Any) -> None:
    reads = "    return OutputModel(result=open('/etc/hostname').read())"
    nosy = served.source(
        "nosy", body=reads, fields="    number: int = 0", result="str | None", meta="'dependencies': []"
    )
    await served.has(nosy, "nosy")
    asks = "'dependencies': [], 'capabilities': {'network': ['example.org']}"
    await served.has(served.double("asks", meta=asks), "asks")
    async with client(served.ours) as session:
        assert "asks" not in [tool.name for tool in (await session.list_tools()).tools]
        assert "network example.org" in (await session.call_tool("asks", {"number": 1})).content[0].text
        assert (await session.call_tool("nosy", {})).is_error


async def test_a_new_generation_is_served_and_told_of(served: Any) -> None:
    told: list[Any] = []
    async with client(served.ours, told=told) as session:
        assert len((await session.list_tools()).tools) == 4
        new = served.home / "new"
        await served.has(served.double("triple", body="    return OutputModel(result=3 * input.number)"), "triple", new)
        await served.take(new)
        await until(lambda: any("list_changed" in str(message) for message in told))
        assert len((await session.list_tools()).tools) == 5
        assert (await session.call_tool("triple", {"number": 2})).structured_content == {"result": 6, "error": None}


async def test_a_call_that_is_given_up_ends_and_others_go_on(served: Any) -> None:
    async with client(served.ours, "--workspace", str(served.workspace)) as session:
        waiting = asyncio.create_task(session.call_tool("wait", {"number": 600}))
        await until((served.workspace / "begun").exists)
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await waiting
        assert (await session.call_tool("double_it", {"number": 1})).structured_content == {"result": 2, "error": None}
        assert not (served.workspace / "ended").exists()


@pytest.mark.parametrize("end", ["input", pytest.param("signal", marks=pytest.mark.slow), "signal in a call"])
async def test_it_ends_cleanly_and_standard_output_is_the_protocols_alone(served: Any, end: str) -> None:
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    pipe = asyncio.subprocess.PIPE
    more = ("--workspace", str(served.workspace))
    process = await asyncio.create_subprocess_exec(
        sys.executable, *words(served.ours, *more), stdin=pipe, stdout=pipe, stderr=pipe, env=env
    )
    assert process.stdin is not None
    assert process.stdout is not None
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    calls = [
        {"id": 1, "method": "initialize", "params": about},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "fail", "arguments": {"number": 1}}},
    ]
    for call in calls:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **call}).encode() + b"\n")
    async with asyncio.timeout(ENDED_S):
        replies = [json.loads(await process.stdout.readline()) for _ in range(2)]
        assert [reply["id"] for reply in replies] == [1, 2]
        if end == "input":
            process.stdin.close()
        else:
            if end == "signal in a call":
                waits = {"id": 3, "method": "tools/call", "params": {"name": "wait", "arguments": {"number": 600}}}
                process.stdin.write(json.dumps({"jsonrpc": "2.0", **waits}).encode() + b"\n")
                await until((served.workspace / "begun").exists)
            process.send_signal(signal.SIGTERM)
        rest, said = await process.communicate()
    assert process.returncode == 0, said
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())
    assert b"Traceback" not in said
    assert not (served.workspace / "ended").exists()
