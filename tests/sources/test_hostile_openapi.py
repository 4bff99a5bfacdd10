"""OpenAPI documents and services that mean harm: each is a line or a value and leads nowhere inwards."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from habilis.config import SourceSettings
from habilis.core.errors import UserError
from habilis.core.types import CallOutcome
from habilis.sources.openapi import OpenApiSource
from habilis.sources.openapi.document import read_document
from habilis.sources.openapi.operations import operations
from habilis.testing import Said, ScriptedService

from .test_hostile_mcp import MEGA, memory_within, packed

HEAD = "openapi: 3.0.0\ninfo: {title: x, version: '1'}\n"
GET = {"responses": {}, "operationId": "ask"}


def paths(**more: Any) -> dict[str, Any]:
    return {"openapi": "3.0.0", "paths": {"/x": {"get": {**GET, **more}}}, "servers": [{"url": "http://127.0.0.1:9"}]}


def laughs(levels: int) -> str:
    """Anchors that stand for ten of the one before."""
    rows = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return HEAD + "\n".join(rows) + "\npaths: {}\n"


def merges(levels: int) -> str:
    rows = ["a0: &a0 {k: v}"] + [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, levels)]
    return HEAD + "\n".join(rows) + "\npaths: {}\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(laughs(12), id="anchors of anchors"),
        pytest.param(merges(12), id="merges of merges"),
        pytest.param(HEAD + "x: &x [*x]\npaths: {}\n", id="an anchor that holds itself"),
        pytest.param(HEAD + "x: " + "[" * 200_000, id="nested without end"),
        pytest.param(HEAD + "x: " + "[" * 150 + "]" * 150, id="nested deep"),
        pytest.param(lambda: HEAD + "x: 1" + ":59" * 2_000_000, id="a number in base 60"),
        pytest.param('{"openapi": "3.0.0", "x": ' + "[" * 100_000, id="JSON without end"),
        pytest.param('{"openapi": "3.0.0", "x": 1' + "0" * 100_000 + "}", id="a long number"),
    ],
)
async def test_a_document_that_is_a_bomb_is_a_line(text: str | Callable[[], str], tmp_path: Path) -> None:
    path = tmp_path / "api.yaml"
    path.write_text(text if isinstance(text, str) else text())
    with memory_within(200), pytest.raises(UserError) as refused:
        await read_document(str(path), timeout_s=1)
    assert "\n" not in str(refused.value)
    assert str(path) in str(refused.value)


async def test_reading_a_document_can_be_broken_off(tmp_path: Path) -> None:
    """A signal cancels: what reads a bomb must not be waited for."""
    path = tmp_path / "api.yaml"
    path.write_text(HEAD + "x: 1" + ":59" * 2_000_000)
    reading = asyncio.create_task(read_document(str(path), timeout_s=60))
    done, _ = await asyncio.wait([reading], timeout=0.3)
    assert not done
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading


async def test_a_pipe_in_a_document_s_place_is_not_waited_for(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "api.json")
    with pytest.raises(UserError, match="not a plain file"):
        await read_document(str(tmp_path / "api.json"), timeout_s=5)


async def test_a_document_that_unpacks_without_end_is_a_line() -> None:
    said = Said(body=packed(200), headers={"content-encoding": "gzip"})
    with ScriptedService(lambda seen: said) as service, memory_within(120), pytest.raises(UserError) as refused:
        await read_document(f"{service.url}/openapi.json", timeout_s=20)
    assert "larger than 32 MiB" in str(refused.value)


WIDE: dict[str, Callable[[], dict[str, Any]]] = {
    "a thousand references to much": lambda: {
        "openapi": "3.0.0",
        "servers": [{"url": "http://127.0.0.1:9"}],
        "paths": {f"/x{n}": {"get": {**GET, "parameters": [{"$ref": "#/p"}]}} for n in range(1_000)},
        "p": {"name": "q", "in": "query", "schema": {"default": ["x" * 100] * 20_000, "enum": ["e" * 100] * 20_000}},
    },
    "parameters without number": lambda: (
        paths(parameters=[{"name": f"p{n}", "in": "query", "schema": {"$ref": "#/s"}} for n in range(5_000)])
        | {"s": {"properties": {f"f{n}": {"type": "string"} for n in range(1_000)}}}
    ),
    "fields without number": lambda: paths(
        requestBody={"content": {"application/json": {"schema": {"properties": {f"f{n}": {} for n in range(30_000)}}}}}
    ),
    "a chain of references": lambda: {
        **paths(parameters=[{"$ref": "#/r0"}] * 2_000),
        **{f"r{n}": {"$ref": f"#/r{n + 1}"} for n in range(20_000)},
    },
    "an address that doubles": lambda: {
        **paths(),
        "servers": [
            {
                "url": "http://{v0}",
                "variables": {f"v{n}": {"default": f"{{v{n + 1}}}{{v{n + 1}}}"} for n in range(40)},
            }
        ],
    },
}


@pytest.mark.parametrize("kind", WIDE)
async def test_a_document_of_any_width_becomes_small_tools(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "api.json"
    path.write_text(json.dumps(WIDE[kind]()))
    document = await read_document(str(path), timeout_s=20)
    with memory_within(200):
        found = await asyncio.to_thread(operations, document)
        assert found
        assert sum(len(json.dumps(one.schema)) + len(one.url) for one in found) < 16 * MEGA
        assert all(one.version for one in found)


class Canary:
    """A listener on loopback that nothing may reach."""

    def __init__(self) -> None:
        self.service = ScriptedService(lambda seen: {"secret": "inside"})

    def __enter__(self) -> ScriptedService:
        return self.service.__enter__()

    def __exit__(self, *_: object) -> None:
        self.service.__exit__()


async def _asked(where: str, folder: Path, **said: Any) -> CallOutcome:
    source = OpenApiSource(SourceSettings(openapi=where, **said))
    try:
        (tool,) = await source.open()
        return await tool.call({}, workspace=folder)
    finally:
        await source.aclose()


@pytest.mark.parametrize(
    "server", ["http://127.0.0.1:{port}", "http://localhost:{port}", "http://[::ffff:127.0.0.1]:{port}"]
)
async def test_a_document_of_others_leads_to_no_service_of_this_machine(server: str, tmp_path: Path) -> None:
    with Canary() as canary:
        port = canary.url.rpartition(":")[2]
        document = {**paths(), "servers": [{"url": server.format(port=port)}]}
        with ScriptedService(lambda seen: document) as service:
            outcome = await _asked(f"{service.url}/openapi.json", tmp_path)
            assert service.calls  # the document was read
            assert outcome.error is not None
            assert outcome.error.kind == "denied"
            assert "loopback address and not in the settings" in outcome.error.message
            assert canary.calls == []
            granted = await _asked(f"{service.url}/openapi.json", tmp_path, base_url=canary.url)
            assert granted.output == {"secret": "inside"}


@pytest.mark.parametrize("server", ["http://169.254.169.254/latest", "http://0.0.0.0:9"])
async def test_no_document_leads_to_a_cloud_s_metadata(server: str, tmp_path: Path) -> None:
    path = tmp_path / "api.json"
    path.write_text(json.dumps({**paths(), "servers": [{"url": server}]}))
    outcome = await _asked(str(path), tmp_path)
    assert outcome.error is not None
    assert "not in the settings" in outcome.error.message


async def test_neither_references_nor_redirects_lead_out_of_the_document(tmp_path: Path) -> None:
    with Canary() as canary:
        out = [{"$ref": f"{canary.url}/p"}, {"$ref": "file:///etc/passwd"}, {"$ref": "other.json#/p"}]
        document = paths(parameters=[*out, {"name": "q", "in": "query", "schema": {"$ref": "file:///etc/passwd"}}])
        away = Said(302, headers={"location": f"{canary.url}/x"})
        answers = {"/openapi.json": document, "/moved.json": away, "/x": away}
        with ScriptedService(lambda seen: answers[seen.path]) as service:
            outcome = await _asked(f"{service.url}/openapi.json", tmp_path, base_url=service.url)
            assert outcome.error is not None
            assert "not followed" in outcome.error.message
            with pytest.raises(UserError, match="redirects are not followed"):
                await _asked(f"{service.url}/moved.json", tmp_path)
            assert [seen.path for seen in service.calls] == ["/openapi.json", "/x", "/moved.json"]
        assert canary.calls == []


async def test_an_answer_that_unpacks_without_end_is_a_value(tmp_path: Path) -> None:
    path = tmp_path / "api.json"
    path.write_text(json.dumps(paths()))
    said = Said(body=packed(200), headers={"content-encoding": "gzip", "content-type": "text/plain"})
    with ScriptedService(lambda seen: said) as service, memory_within(100):
        outcome = await _asked(str(path), tmp_path, base_url=service.url)
    assert outcome.error is not None
    assert "larger than 8 MiB" in outcome.error.message
