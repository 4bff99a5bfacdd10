"""The shipped server speaks the real protocol: a stock client streams from it and sees its faults."""

from __future__ import annotations

import contextlib
import json
import socket
from types import SimpleNamespace
from typing import Any
from urllib import request as http

import pytest
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from habilis.testing import Fault, ScriptedModel, ScriptedServer, SeenRequest, seeded, when
from habilis.testing.service import QuietHandler, QuietServer


def calling(messages: Any, tools: Any, form: Any) -> AIMessage:
    calls: Any = [{"name": "add", "args": {"a": 2, "text": "long " * 20}, "id": "c1"}] if tools else []
    return AIMessage("a text that needs several chunks", tool_calls=calls)


def client(server: ScriptedServer, **more: Any) -> ChatOpenAI:
    return ChatOpenAI(model="m", base_url=server.base_url, api_key=SecretStr("k"), max_retries=0, **more)


async def test_a_stock_client_gets_the_same_streamed_or_not() -> None:
    tool = {"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {}}}}
    with ScriptedServer(calling) as server:
        whole = await client(server).bind_tools([tool]).ainvoke("hi")
        parts = [part async for part in client(server, stream_usage=True).bind_tools([tool]).astream("hi")]
    streamed: Any = parts[0]
    for part in parts[1:]:
        streamed = streamed + part
    assert len(parts) > 5
    assert streamed.content == whole.content
    assert streamed.tool_calls == whole.tool_calls
    assert streamed.usage_metadata["total_tokens"] > 0
    assert server.finished == 2


async def test_a_dropped_stream_is_not_counted_as_finished() -> None:
    with ScriptedServer(calling, faults=["drop_body"]) as server:
        with pytest.raises(Exception, match=r"(?i)connection|incomplete|peer"):
            _ = [part async for part in client(server).astream("hi")]
        assert server.finished == 0


def test_paid_twice_is_seen() -> None:
    with ScriptedServer(calling, faults=["server_error"]) as server:
        for _ in range(3):
            body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "q"}]}).encode()
            try:
                with http.urlopen(http.Request(f"{server.base_url}/chat/completions", body)) as reply:
                    reply.read()
            except OSError:
                continue
        assert (len(server.requests), server.finished, len(server.repeated())) == (3, 2, 1)


def seen(index: int, text: str = "q") -> SeenRequest:
    return SeenRequest(index, "/", {"model": "m", "messages": [{"role": "user", "content": text}]}, {})


def test_a_seed_gives_the_same_weather_every_time() -> None:
    faults = [seeded(3)(seen(n)) for n in range(50)]
    assert faults == [seeded(3)(seen(n)) for n in range(50)]
    assert 5 < sum(fault is not None for fault in faults) < 30


def test_faults_are_aimed_by_prompt_model_or_predicate() -> None:
    schedule = when("plan", ["hang", None, Fault("rate_limit", retry_after=1)])
    assert schedule(seen(0, "other")) is None
    assert [schedule(seen(n, "the plan")) for n in range(4)] == [
        Fault("hang"),
        None,
        Fault("rate_limit", retry_after=1),
        None,
    ]
    assert when("m", ["drop"])(seen(0)) == Fault("drop")
    assert when(lambda one: one.index == 7, ["drop"])(seen(7)) == Fault("drop")


def test_a_script_that_runs_out_says_so() -> None:
    model = ScriptedModel(script=[{"a": 1}])
    assert model.invoke("x").content == '{"a": 1}'
    with pytest.raises(AssertionError, match="no reply left for request 2"):
        model.invoke("x")


async def test_the_time_to_find_a_reply_is_part_of_the_latency(monkeypatch: pytest.MonkeyPatch) -> None:
    now, waited = [100.0], []

    def slow(messages: Any, tools: Any, form: Any) -> AIMessage:
        now[0] += 0.3 if len(waited) == 0 else 0.9
        return AIMessage("found")

    monkeypatch.setattr("habilis.testing.server.time", SimpleNamespace(monotonic=lambda: now[0]))
    with ScriptedServer(slow, latency_s=0.5) as server:
        monkeypatch.setattr(server.closing, "wait", lambda seconds: waited.append(round(seconds, 6)))
        await client(server).ainvoke("hi")
        await client(server).ainvoke("hi")
    assert waited == [0.2, 0.0]


def test_a_hundred_clients_may_wait_to_be_let_in() -> None:
    with QuietServer(("127.0.0.1", 0), QuietHandler) as server, contextlib.ExitStack() as stack:
        for _ in range(100):  # nobody lets them in
            stack.enter_context(socket.create_connection(server.server_address[:2], timeout=2))
