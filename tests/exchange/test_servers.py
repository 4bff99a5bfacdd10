"""Tools of an MCP server as tools of a library: held like any other, and they reach their server alone."""

from __future__ import annotations

import json
import sys
import threading
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from habilis.config import AuthSettings, CapabilitiesSettings, McpSettings, SandboxSettings, Settings, SourceSettings
from habilis.contract.contract import read_contract
from habilis.core.errors import UserError
from habilis.exchange.calling import Caller
from habilis.exchange.importing import Importer
from habilis.exchange.servers import tools_of_server
from habilis.exchange.standalone import speaking
from habilis.exchange.surveying import ImportCandidate, Unfit
from habilis.library import Library
from habilis.runtime.host import ToolHost
from habilis.testing import Said, ScriptedService, SeenCall

DOUBLE = Path(__file__).parents[1] / "sources" / "mcp_server.py"
PLACE = {
    "type": "object",
    "properties": {"city": {"type": "string", "minLength": 1}, "near": {"$ref": "#/$defs/Place"}},
    "required": ["city"],
}
TOOLS: list[dict[str, Any]] = [
    {
        "name": "find-weather",
        "description": "The weather\nof a place.",
        "annotations": {"readOnlyHint": True},
        "inputSchema": {
            "type": "object",
            "properties": {
                "place": {"$ref": "#/$defs/Place", "description": "Where."},
                "class": {"type": "string", "enum": ["day", "week"]},
            },
            "required": ["place"],
            "$defs": {"Place": PLACE},
        },
    },
    {"name": "odd", "description": "Odd.", "inputSchema": {"type": "object", "properties": {}}},
]


class Server:
    """An MCP server by the protocol alone. `results` are what its tools give; `said` is what it was told."""

    def __init__(self, *, stream: bool = False, session: str = "") -> None:
        self.results: dict[str, Any] = {}
        self.said: list[dict[str, Any]] = []
        self._stream, self._session = stream, session

    def __call__(self, seen: SeenCall) -> Any:
        if seen.method != "POST":
            return Said(405)
        message = seen.data
        self.said.append(message)
        if "id" not in message:
            return Said(202)
        return self._answered({"jsonrpc": "2.0", "id": message["id"], **self._answer(message)})

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        method, params = message["method"], message.get("params") or {}
        if method == "initialize":
            about = {"name": "double", "version": "1"}
            version = params["protocolVersion"]
            return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}}
        if method == "tools/list":
            return {"result": {"tools": TOOLS}}
        if method == "tools/call" and params["name"] in self.results:
            return dict(self.results[params["name"]])
        return {"error": {"code": -32601, "message": "no such thing"}}

    def _answered(self, message: dict[str, Any]) -> Said:
        headers = {"mcp-session-id": self._session} if self._session else {}
        if not self._stream:
            return Said(200, body=json.dumps(message).encode(), headers={"content-type": "application/json", **headers})
        other = json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}})
        body = f": hello\n\nevent: message\ndata: {other}\n\nevent: message\ndata: {json.dumps(message)}\n\n".encode()
        return Said(200, body=body, headers={"content-type": "text/event-stream", **headers})


async def found(service: ScriptedService, **more: Any) -> dict[str, ImportCandidate | Unfit]:
    things = await tools_of_server(f"mcp:{service.url}/mcp", Settings(), **more)
    return {thing.label.rpartition("#")[2]: thing for thing in things}


def called(url: str, tool: str = "odd", **given: Any) -> dict[str, Any]:
    """What the program inside such a tool makes of a call."""
    return speaking.result_of({"url": url, "tool": tool, "secret": None}, given)


# ---- what they are


async def test_each_tool_asks_for_its_server_and_its_secret_and_keeps_its_schema(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WEATHER_TOKEN", "secret-of-the-weather")
    with ScriptedService(Server()) as service:
        tools = await found(service, secret_env="WEATHER_TOKEN")
        assert {call.headers["authorization"] for call in service.calls} == {"Bearer secret-of-the-weather"}
    one = tools["find-weather"]
    assert isinstance(one, ImportCandidate)
    source = one.source.decode()
    contract = read_contract(source)
    assert (contract.name, contract.description) == ("find_weather", "The weather of a place.")
    assert contract.effects == "writes"  # whatever a server says of itself
    assert contract.capabilities.network == (service.url.removeprefix("http://"),)
    assert contract.capabilities.env == ("WEATHER_TOKEN",)
    assert "secret-of-the-weather" not in source
    module = types.ModuleType("made")
    exec(compile(source, "made", "exec", dont_inherit=True), module.__dict__)
    schema = module.InputModel.model_json_schema()
    assert schema["required"] == ["place"]
    assert schema["properties"]["class"]["enum"] == ["day", "week"]
    place = schema["properties"]["place"]
    assert (place["description"], place["required"]) == ("Where.", ["city"])
    assert place["properties"]["city"] == {"type": "string", "minLength": 1}
    assert place["properties"]["near"] == {}  # a place in a place in a place: anything goes there


@pytest.mark.parametrize(
    ("source", "more", "message"),
    [
        ("mcp:somewhere", {}, "give the address of an MCP server"),
        ("mcp:http://me:pw@127.0.0.1/mcp", {}, "--secret-env"),
        ("mcp:local", {}, "cannot be started"),
        ("mcp:known", {"secret_env": "A"}, "has its own auth"),
        ("mcp:http://127.0.0.1/mcp", {"secret_env": "a-b"}, "expected the name of an environment variable"),
    ],
)
async def test_what_is_no_server_that_a_tool_can_reach_is_said(source: str, more: Any, message: str) -> None:
    known = SourceSettings(mcp=McpSettings(url="http://127.0.0.1:9/mcp"), auth=AuthSettings(secret_env="K"))
    local = SourceSettings(mcp=McpSettings(command=("a-server-that-is-not-there",)))
    with pytest.raises(UserError, match=message):
        await tools_of_server(source, Settings(sources={"known": known, "local": local}), **more)


async def test_a_service_that_is_no_server_is_said_in_one_line() -> None:
    with ScriptedService(lambda seen: Said(404)) as service, pytest.raises(UserError, match="no MCP server answers"):
        await found(service)


# ---- programs


def program(*words: str) -> Settings:
    """Settings with the source `local`: a server that is a program of this interpreter's."""
    return Settings(sources={"local": SourceSettings(mcp=McpSettings(command=(sys.executable, *words)))})


async def test_tools_of_a_program_are_refused_one_by_one_with_the_reason() -> None:
    tools = await tools_of_server("mcp:local", program(str(DOUBLE)))
    assert {thing.label for thing in tools} >= {"mcp:local#echo", "mcp:local#data"}
    for thing in tools:
        assert isinstance(thing, Unfit)
        assert "runs outside the sandbox" in thing.reason


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.sandbox
async def test_a_library_served_with_its_sources_comes_back_the_same(exchange: Any) -> None:
    await exchange.has(exchange.double(), "double_it")
    await exchange.has(exchange.shout(), "shout")
    key = "    token = 'ghp_" + 36 * "a" + "'\n    return OutputModel(result=1)"
    await exchange.has(exchange.double("keyed", body=key), "keyed")
    serve = ("-m", "habilis", "serve", "--library", str(exchange.ours))
    exchange.settings = program(*serve, "--sources")
    back = await exchange.take("mcp:local", into=exchange.home / "back")
    assert {line.source.rpartition("#")[2]: line.ending for line in back.lines} == {
        "double_it": "imported",
        "keyed": "refused",
        "shout": "imported",
    }
    theirs = exchange.digests(exchange.ours)
    assert exchange.digests(exchange.home / "back") == {name: theirs[name] for name in ("double_it", "shout")}
    again = await exchange.take("mcp:local")
    assert [line.ending for line in again.lines] == ["same", "refused", "same"]
    exchange.settings = program(*serve)
    assert {line.ending for line in (await exchange.take("mcp:local")).lines} == {"refused"}


# ---- what a call comes to


@pytest.mark.parametrize("stream", [False, True])
def test_a_call_gives_what_the_server_gives(stream: bool) -> None:
    server = Server(stream=stream, session="s1")
    server.results["odd"] = {"result": {"content": [{"type": "text", "text": "8"}], "structuredContent": {"n": 8}}}
    with ScriptedService(server) as service:
        assert called(f"{service.url}/mcp", a=1) == {"result": {"n": 8}}
        assert [call.method for call in service.calls] == ["POST", "POST", "POST", "DELETE"]
        assert {call.headers.get("mcp-session-id") for call in service.calls[1:]} == {"s1"}
    assert server.said[-1]["params"] == {"name": "odd", "arguments": {"a": 1}}


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ({"result": {"content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}}, "one\ntwo"),
        ({"result": {"content": []}}, ""),
        (
            {"result": {"content": [{"type": "resource_link", "uri": "file:///a", "name": "a"}]}},
            {"link": "file:///a", "name": "a", "type": None},
        ),
        ({"result": {"content": [{"type": "resource", "resource": {"uri": "x:y", "text": "inside"}}]}}, "inside"),
        ({"result": {"content": [{"type": "image", "data": "&&&", "mimeType": "image/png"}]}}, "(a part of the type"),
    ],
)
def test_each_kind_of_content_comes_back(result: Any, told: Any) -> None:
    server = Server()
    server.results["odd"] = result
    with ScriptedService(server) as service:
        said = called(f"{service.url}/mcp")["result"]
    assert said.startswith(told) if isinstance(told, str) and told else said == told


def test_an_image_becomes_a_file_of_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    server = Server()
    server.results["odd"] = {"result": {"content": [{"type": "image", "data": "aGFsbG8=", "mimeType": "image/png"}]}}
    with ScriptedService(server) as service:
        said = called(f"{service.url}/mcp")["result"]
    assert said["type"] == "image/png"
    assert said["file"].endswith(".png")
    assert (tmp_path / said["file"]).read_bytes() == b"hallo"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Said(401), "HTTP 401"),
        (Said(500, body=b"out of order"), "out of order"),
        (Said(200, body=b"<html>"), "holds no answer"),
        (Said(200, body=b"[" * 100_000), "holds no answer"),
        (Said(200, body=b"data: [1]\n\n", headers={"content-type": "text/event-stream"}), "holds no answer"),
        (Said(fault="drop"), "the server"),
        (Said(302, headers={"location": "http://localhost:9/x"}), "another place"),
    ],
)
def test_a_server_that_does_wrong_is_an_error_in_words(answer: Said, told: str) -> None:
    with ScriptedService(lambda seen: answer) as service:
        said = called(f"{service.url}/mcp")
    assert told in said["error"]


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ({"error": {"code": -32602, "message": "text must be\nshort"}}, "the server refuses: text must be short"),
        ({"result": {"isError": True, "content": [{"type": "text", "text": "no disk"}]}}, "the tool failed: no disk"),
    ],
)
def test_a_failure_of_the_tool_says_why(result: Any, told: str) -> None:
    server = Server()
    server.results["odd"] = result
    with ScriptedService(server) as service:
        assert called(f"{service.url}/mcp") == {"error": told}


def test_an_answer_without_end_is_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speaking, "MAX_BYTES", 1_000)
    for stream in (False, True):
        server = Server(stream=stream)
        server.results["odd"] = {"result": {"content": [{"type": "text", "text": "x" * 5_000}]}}
        with ScriptedService(server) as service:
            assert "larger than" in called(f"{service.url}/mcp")["error"]


# ---- with a server of the official SDK


@pytest.fixture
def sums() -> Iterator[str]:
    """A server by the official SDK on loopback; its address."""
    import uvicorn
    from mcp.server import MCPServer

    server = MCPServer("Sums")

    @server.tool()
    def add_up(numbers: list[float], unit: str = "m") -> dict[str, str]:
        """Add numbers up."""
        return {"sum": f"{sum(numbers):g} {unit}"}

    @server.tool()
    def fail() -> str:
        """Never works."""
        raise ValueError("no luck")

    config = uvicorn.Config(server.streamable_http_app(), host="127.0.0.1", port=0, log_level="critical", ws="none")
    running = uvicorn.Server(config)
    ready = threading.Event()
    startup = running.startup

    async def started(*args: Any, **more: Any) -> None:
        await startup(*args, **more)
        ready.set()

    running.startup = started  # type: ignore[method-assign]
    thread = threading.Thread(target=running.run)
    thread.start()
    assert ready.wait(30)
    yield f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}/mcp"
    running.should_exit = True
    thread.join()


@pytest.mark.sandbox
async def test_they_pass_the_gate_and_reach_their_server(tmp_path: Path, sums: str, sandbox_level: str) -> None:
    if sandbox_level != "bubblewrap":
        pytest.skip("hosts are granted at the level bubblewrap alone")
    host = ToolHost(SandboxSettings())
    try:
        tried = await Importer(tmp_path / "library", Settings(), host).run([f"mcp:{sums}"], dry_run=True)
        assert not (tmp_path / "library").exists()
        report = await Importer(tmp_path / "library", Settings(), host).run([f"mcp:{sums}"])
        again = await Importer(tmp_path / "library", Settings(), host).run([f"mcp:{sums}"])
    finally:
        await host.aclose()
    assert [line.ending for line in tried.lines] == [line.ending for line in report.lines] == ["imported", "imported"]
    assert [line.ending for line in again.lines] == ["same", "same"]
    rules = CapabilitiesSettings(network="listed", network_list=(sums.removeprefix("http://").removesuffix("/mcp"),))
    library = Library(tmp_path / "library")
    denied, caller = Caller(library, Settings()), Caller(library, Settings(capabilities=rules))
    try:
        assert denied.tools() == []
        tools = {tool.name: tool for tool in caller.tools()}
        added = await caller.call(tools["add_up"], {"numbers": [1.5, 2], "unit": "km"})
        assert added.output == {"result": {"sum": "3.5 km"}, "error": None}
        assert (await caller.call(tools["add_up"], {"numbers": [1]})).output["result"] == {"sum": "1 m"}
        assert "the tool failed" in (await caller.call(tools["fail"], {})).output["error"]
        wrong = await caller.call(tools["add_up"], {"numbers": "x"})
        assert wrong.error is not None
        assert wrong.error.kind == "invalid_arguments"
    finally:
        await denied.aclose()
        await caller.aclose()
