"""Operations of an OpenAPI document as tools of a library: held like any other, and they reach their service alone."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.config import CapabilitiesSettings, SandboxSettings, Settings
from habilis.contract.contract import read_contract
from habilis.core.errors import UserError
from habilis.exchange.calling import Caller
from habilis.exchange.importing import Importer
from habilis.exchange.operations import tools_of
from habilis.exchange.standalone.requesting import request_of
from habilis.exchange.surveying import ImportCandidate
from habilis.library import Library
from habilis.runtime.host import ToolHost


class Service(ThreadingHTTPServer):
    """Answers every request with what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.seen: list[str] = []


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _answer(self, body: bytes) -> None:
        assert isinstance(self.server, Service)
        self.server.seen.append(self.path)
        if self.path.startswith("/away"):
            self.send_response(302)
            self.send_header("Location", "http://localhost:9/elsewhere")
            self.end_headers()
            return
        key = self.headers.get("X-Api-Key")
        told = {
            "method": self.command,
            "path": self.path,
            "key": key,
            "body": body.decode(),
            "trace": self.headers["X-Trace"],
        }
        content = json.dumps(told).encode()
        self.send_response(404 if "missing" in self.path else 200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""


@pytest.fixture
def service() -> Iterator[Service]:
    server = Service()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def document(url: str) -> dict[str, Any]:
    pet = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
        "required": ["name"],
    }
    return {
        "openapi": "3.0.3",
        "info": {"title": "Pet shop", "version": "1"},
        "servers": [{"url": url}],
        "security": [{"key": []}],
        "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Api-Key"}}},
        "paths": {
            "/pets/{id}": {
                "get": {
                    "operationId": "getPet",
                    "summary": "One pet.",
                    "parameters": [
                        {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
                        {"name": "fields", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
                        {"name": "X-Trace", "in": "header", "schema": {"type": "string"}, "description": "An 'id'."},
                    ],
                }
            },
            "/pets": {
                "post": {
                    "operationId": "addPet",
                    "requestBody": {"required": True, "content": {"application/json": {"schema": pet}}},
                }
            },
            "/away": {"get": {"operationId": "goAway", "security": []}},
            "/upload": {"post": {"requestBody": {"content": {"multipart/form-data": {"schema": {"type": "object"}}}}}},
        },
    }


async def made(home: Path, url: str) -> dict[str, Any]:
    (home / "shop.json").write_text(json.dumps(document(url)))
    return {thing.label.rpartition("#")[2]: thing for thing in await tools_of(str(home / "shop.json"))}


async def test_each_operation_is_a_tool_that_asks_for_its_host_and_its_secret(tmp_path: Path) -> None:
    found = await made(tmp_path, "https://pets.example.org/v1")
    get, add = found["getPet"], found["addPet"]
    assert isinstance(get, ImportCandidate)
    assert isinstance(add, ImportCandidate)
    contract = read_contract(get.source.decode())
    assert (contract.name, contract.effects, contract.description) == ("getPet", "reads", "One pet.")
    assert contract.capabilities.network == ("pets.example.org",)
    assert contract.capabilities.env == ("PET_SHOP_API_KEY",)
    assert read_contract(add.source.decode()).effects == "writes"
    away = found["goAway"]
    assert isinstance(away, ImportCandidate)
    assert read_contract(away.source.decode()).capabilities.env == ()
    assert "multipart" in found["post_upload"].reason


async def test_a_file_that_is_no_such_document_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(UserError, match="not an OpenAPI document"):
        await tools_of(str(tmp_path / "a.json"))


@pytest.mark.sandbox
async def test_they_pass_the_gate_and_reach_their_service_and_no_other(
    tmp_path: Path, service: Service, sandbox_level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if sandbox_level != "bubblewrap":
        pytest.skip("hosts are granted at the level bubblewrap alone")
    monkeypatch.setenv("PET_SHOP_API_KEY", "abc-secret-123")
    await made(tmp_path, service.url)
    host = ToolHost(SandboxSettings())
    try:
        report = await Importer(tmp_path / "library", Settings(), host).run([str(tmp_path / "shop.json")])
    finally:
        await host.aclose()
    assert [line.ending for line in report.lines] == ["imported", "imported", "imported", "refused"]
    assert service.seen == []
    rules = CapabilitiesSettings(network="listed", network_list=(service.url.removeprefix("http://"),))
    settings = Settings(capabilities=rules, sandbox=SandboxSettings(env_allow=("PET_SHOP_API_KEY",)))
    library = Library(tmp_path / "library")
    denied, caller = Caller(library, Settings()), Caller(library, settings)
    try:
        assert [tool.name for tool in denied.tools()] == []
        tools = {tool.name: tool for tool in caller.tools()}
        asked = await caller.call(tools["getPet"], {"id": "a/../b c", "fields": ["x", "y"], "X-Trace": "t1"})
        assert asked.output["data"] == {
            "method": "GET",
            "path": "/pets/a%2F..%2Fb%20c?fields=x&fields=y",
            "key": "[PET_SHOP_API_KEY]",
            "body": "",
            "trace": "t1",
        }
        added = await caller.call(tools["addPet"], {"name": "Rex", "tags": ["a"]})
        assert json.loads(added.output["data"]["body"]) == {"name": "Rex", "tags": ["a"]}
        assert "HTTP 404" in (await caller.call(tools["getPet"], {"id": "missing"})).output["error"]
        assert "another place" in (await caller.call(tools["goAway"], {})).output["error"]
        assert (await caller.call(tools["getPet"], {"id": ".."})).output["error"].startswith("id must not be")
        wrong = await caller.call(tools["addPet"], {"tags": []})
        assert wrong.error is not None
        assert wrong.error.kind == "invalid_arguments"
    finally:
        await denied.aclose()
        await caller.aclose()


@given(st.text(min_size=1))
def test_no_argument_leaves_its_place_in_the_path(text: str) -> None:
    one = {"name": "id", "place": "path", "wire": "id", "style": "simple", "explode": False, "as_json": False}
    operation = {"method": "GET", "url": "https://h/pets/{id}/x", "media": "", "secret": None, "arguments": [one]}
    try:
        url, _, _ = request_of(operation, {"id": text})
    except (ValueError, UnicodeEncodeError):
        return
    assert url.startswith("https://h/pets/")
    assert url.count("/") == 5
    assert "?" not in url
    assert "#" not in url
