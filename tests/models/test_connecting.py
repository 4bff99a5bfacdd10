"""The connection step by step. What a user would lose: the one line, of all that is said, that names what to mend."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain_core.messages import AIMessage

from habilis.config import load_settings
from habilis.models.connecting import ConnectionStep, steps
from habilis.testing import ScriptedServer

from .test_connections import CASES
from .wires import BareServer, certificate

ORDER = ["address", "host", "port", "http", "path", "key", "model", "reply", "functions", "schema"]
BLAMED = {
    "no scheme": "address",
    "the whole path": "address",
    "smart quotes round the key": "address",
    "unknown host": "host",
    "nobody listens": "port",
    "a proxy that is gone": "port",
    "https at an http port": "tls",
    "self-signed": "tls",
    "http at an https port": "http",
    "no /v1": "path",
    "no key": "key",
    "a key of another service": "key",
    "a wrong model": "model",
    "an empty body": "reply",
    "no credit": "reply",
}


async def walked(environ: dict[str, str], *sets: str) -> list[ConnectionStep]:
    return [step async for step in steps(load_settings((), sets, environ).models, "basic")]


@pytest.mark.parametrize("name", BLAMED)
async def test_it_stops_at_the_part_that_is_wrong(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = CASES[name]
    secure = certificate(tmp_path, **wrong.tls) if wrong.tls is not None else None
    with BareServer(wrong.play, secure) as server:
        environ = {"OPENAI_MODEL": "qwen3", **wrong.environ(server)}
        for key, value in environ.items():
            monkeypatch.setenv(key, value)
        found = await walked(environ)
    assert [step.what for step in found if step.state == "problem"] == [found[-1].what] == [BLAMED[name]], found
    assert found[-1].todo or name == "smart quotes round the key"
    assert all(word in f"{found[-1].text}; {found[-1].todo}" for word in wrong.named), found[-1]
    assert server.posts <= 1


async def test_a_connection_that_works_is_walked_to_its_end_for_three_tiny_calls() -> None:
    call = AIMessage("", tool_calls=[{"name": "add", "args": {"a": 2, "b": 3}, "id": "c1"}])
    with ScriptedServer(lambda messages, tools, form: call if tools else AIMessage("5")) as server:
        found = await walked({"OPENAI_BASE_URL": f"{server.base_url} ", "OPENAI_MODEL": "scripted"})
    assert [(step.what, step.state) for step in found] == [(what, "ok") for what in ORDER]
    assert len(server.requests) == 3
    assert all(request.body["max_tokens"] <= 64 for request in server.requests)


async def test_what_a_server_does_not_take_is_no_end() -> None:
    with ScriptedServer(lambda *_: AIMessage("5"), refuse=("tools", "json_schema")) as server:
        found = await walked({"OPENAI_BASE_URL": server.base_url, "OPENAI_MODEL": "scripted"})
    assert [step.what for step in found if step.state == "warning"] == ["functions", "schema"]
    assert "as text" in found[-2].text
