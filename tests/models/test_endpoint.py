"""What goes over the line to a server, and what is read from it, whatever the pieces in which it comes."""

from __future__ import annotations

import asyncio
import itertools
import json
import shutil
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from habilis.config import ModelsSettings, RoleSettings
from habilis.core.errors import ModelMisconfigured, ModelUnreachable, UserError
from habilis.models import providers
from habilis.models.chat import Models
from habilis.models.compatible import row
from habilis.models.endpoint import Endpoint
from habilis.models.failures import BadReply, StatusError
from habilis.models.tape import Tape
from habilis.models.usage import Budget
from habilis.testing import Said, ScriptedService, SeenCall

from .providers import StandIn, said
from .wires import BareServer, answering, certificate

EVENTS = ({"text": "a\u2028b\x85c"}, {"text": "naïve café"}, [1], "two")


class InPieces(httpx.AsyncByteStream):
    """A body that comes in `pieces`."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self.pieces, self.closed = pieces, False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece

    async def aclose(self) -> None:
        self.closed = True


def endpoint(pieces: Sequence[bytes], kind: str = "text/event-stream", status: int = 200) -> tuple[Endpoint, InPieces]:
    """One whose server sends a body in `pieces`."""
    body = InPieces(pieces)

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(status, headers={"content-type": kind}, stream=body)

    http = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    return Endpoint(http, "http://127.0.0.1:1/v1", "k"), body


def heard(pieces: Sequence[bytes], kind: str = "text/event-stream") -> list[Any]:
    async def hear() -> list[Any]:
        made, body = endpoint(pieces, kind)
        found = [event async for event in made.events("/chat/completions", {})]
        assert body.closed
        return found

    return asyncio.run(hear())


@given(st.sampled_from(("\n", "\r\n", "\r")), st.lists(st.integers(0, 400), max_size=12), st.booleans())
def test_events_are_the_same_in_whatever_pieces_they_come(end: str, cuts: list[int], spaced: bool) -> None:
    colon = "data: " if spaced else "data:"
    lines = [f": a comment{end}{end}"]
    lines += [f"event: m{end}{colon}{json.dumps(one, ensure_ascii=False)}{end}{end}" for one in EVENTS]
    sent = "".join([*lines, f"{colon}[DONE]{end}{end}"]).encode()
    places = sorted({0, *(min(cut, len(sent)) for cut in cuts), len(sent)})
    pieces = [sent[a:b] for a, b in itertools.pairwise(places)]
    assert heard(pieces) == list(EVENTS)


def test_data_of_several_lines_is_one_event_and_one_that_broke_off_is_none() -> None:
    assert heard([b'data: {"a":\ndata: 1}\n\n', b'data: {"b": 2}\n']) == [{"a": 1}]


def test_a_server_that_does_not_stream_is_heard_all_at_once() -> None:
    assert heard([b'{"a"', b": 1}"], "application/json; charset=utf-8") == [{"a": 1}]


def test_an_event_that_is_no_json_is_said() -> None:
    with pytest.raises(BadReply, match="not JSON"):
        heard([b"data: {oops\n\n"])


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (
            b'{"error": {"message": "no", "code": 7, "type": "t"}}',
            ({"message": "no", "code": 7, "type": "t"}, "7", "t"),
        ),
        (b'{"message": "no"}', ({"message": "no"}, None, None)),
        (b"plain words", ("plain words", None, None)),
        (b"", ("", None, None)),
        (b"[" * 100_000, ("[" * 100_000, None, None)),
        (b"\xff\xfe", ("\ufffd\ufffd", None, None)),
    ],
)
async def test_an_error_holds_what_the_server_says_of_it(body: bytes, found: tuple[Any, Any, Any]) -> None:
    made, _ = endpoint([body], "application/json", 418)
    with pytest.raises(StatusError) as caught:
        await made.post("/chat/completions", {})
    assert (caught.value.body, caught.value.code, caught.value.type) == found
    assert caught.value.status_code == 418


@pytest.mark.parametrize("kind", ["application/json", "text/plain", ""])
async def test_a_reply_is_read_whatever_the_server_calls_it(kind: str) -> None:
    made, _ = endpoint([b'{"a": 1}'], kind)
    assert await made.get("/models") == {"a": 1}


async def test_half_a_character_is_sent_escaped_and_the_rest_arrives() -> None:
    def answer(seen: SeenCall) -> Any:
        return {"got": seen.data}

    with ScriptedService(answer) as service:
        async with httpx.AsyncClient() as http:
            got = await Endpoint(http, service.url, "k").post("/x", {"text": "é\ud83d!"})
    assert got == {"got": {"text": "é\ud83d!"}}


async def test_headers_of_a_user_stand_above_ours() -> None:
    seen: list[SeenCall] = []

    def answer(call: SeenCall) -> Any:
        seen.append(call)
        return {}

    with ScriptedService(answer) as service:
        async with httpx.AsyncClient() as http:
            await Endpoint(http, service.url, "k", {"authorization": "Token t", "X-Mine": "1"}).post("/x", {})
            await Endpoint(http, service.url, "k").get("/x")
    heads = [{name.lower(): value for name, value in call.headers.items()} for call in seen]
    assert [head["authorization"] for head in heads] == ["Token t", "Bearer k"]
    assert heads[0]["x-mine"] == "1"
    assert heads[0]["user-agent"].startswith("habilis/")


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("X-Mine", "é", r"models\.basic\.headers: 'X-Mine' has a value that cannot be sent"),
        ("X-Mine", "two\nlines", "cannot be sent"),
        ("X-Mine", " secret", "cannot be sent; write ASCII on one line, no space at either end"),
        ("X Mine", "v", "'X Mine' is no name of a header"),
        ("", "v", "'' is no name of a header"),
    ],
)
def test_a_header_that_cannot_be_sent_is_named_before_anything_is_asked(
    tmp_path: Path, name: str, value: str, told: str
) -> None:
    basic = RoleSettings(base_url="http://127.0.0.1:1/v1", model="m", headers={name: value})
    with pytest.raises(UserError, match=told) as caught:
        Models(ModelsSettings(basic=basic), tape=Tape(tmp_path / "t.jsonl"), emit=lambda _: None, budget=Budget())
    assert "secret" not in str(caught.value)


def test_headers_as_people_set_them_pass(tmp_path: Path) -> None:
    headers = {"HTTP-Referer": "https://example.org/a?b=c", "X-Title": "My app (test)", "X-Empty": "", "a": "b"}
    basic = RoleSettings(base_url="http://127.0.0.1:1/v1", model="m", headers=headers)
    tape = Tape(tmp_path / "t.jsonl")
    models = Models(ModelsSettings(basic=basic), tape=tape, emit=lambda _: None, budget=Budget())
    assert models.settings("basic").headers == headers
    tape.close()


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        (
            "ALL_PROXY",
            "socks5://127.0.0.1:1",
            "ALL_PROXY: a SOCKS proxy needs one package more; install it: pip install",
        ),
        ("HTTPS_PROXY", "foo://u:secret@127.0.0.1:1", "HTTPS_PROXY: 'foo://127.0.0.1:1' is no address of a proxy"),
        ("SSL_CERT_FILE", "/nowhere.pem", "SSL_CERT_FILE.*certificates cannot be read there: No such file"),
        ("SSL_CERT_FILE", "/dev/null", "SSL_CERT_FILE.*certificates cannot be read there"),
    ],
)
async def test_an_environment_that_keeps_from_asking_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, told: str
) -> None:
    """A task crashed, or blamed a folder."""
    for name in ("ALL_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv(variable, value)
    monkeypatch.setitem(sys.modules, "socksio", None)
    basic = RoleSettings(base_url="https://models.example/v1", model="m", max_retries=0)
    tape = Tape(tmp_path / "t.jsonl")
    models = Models(ModelsSettings(basic=basic), tape=tape, emit=lambda _: None, budget=Budget())
    with pytest.raises(ModelMisconfigured, match=told) as caught:
        await models.chat("basic", [HumanMessage("2+2?")], purpose="step")
    await models.aclose()
    assert "secret" not in str(caught.value)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system itself is asked what it trusts")
@pytest.mark.parametrize("kept", ["file", "folder", "nowhere"])
async def test_a_company_s_own_certificate_is_trusted_where_the_machine_trusts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: str
) -> None:
    """The certificates that come with a library know no company."""
    (tmp_path / "store").mkdir()
    secure = certificate(tmp_path)
    (tmp_path / "store" / "notes.txt").write_text("no certificate")
    if kept == "folder":  # the name is that of openssl-rehash(1)
        if shutil.which("openssl") is None:
            pytest.skip("there is no openssl to name the file")
        name_it = ["openssl", "x509", "-hash", "-noout", "-in", tmp_path / "issuer.pem"]
        named = subprocess.run(name_it, capture_output=True, text=True, check=True)
        (tmp_path / "store" / f"{named.stdout.strip()}.0").write_bytes((tmp_path / "issuer.pem").read_bytes())
    at = tmp_path / "issuer.pem" if kept == "file" else tmp_path / "none.pem"
    paths = ssl.get_default_verify_paths()._replace(openssl_cafile=str(at), openssl_capath=str(tmp_path / "store"))
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: paths)
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(providers, "is_loopback", lambda _: False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with BareServer(answering(200, json.dumps(said("Four."))), secure) as server:
        basic = RoleSettings(base_url=server.base_url, model="m", max_retries=0)
        tape = Tape(tmp_path / "t.jsonl")
        models = Models(ModelsSettings(basic=basic), tape=tape, emit=lambda _: None, budget=Budget())
        if kept == "nowhere":
            with pytest.raises(ModelMisconfigured, match="certificate is not trusted"):
                await models.chat("basic", [HumanMessage("2+2?")], purpose="step")
        else:
            assert (await models.chat("basic", [HumanMessage("2+2?")], purpose="step")).content == "Four."
        await models.aclose()


async def test_one_connection_serves_stream_after_stream() -> None:
    """What comes behind the last event is read as well: a connection that was left in the middle is lost."""
    with StandIn(lambda _: said("Four.")) as server:
        async with httpx.AsyncClient() as http:
            made = Endpoint(http, server.base_url, "k")
            for _ in range(3):
                assert [event async for event in made.events("/chat/completions", {})]
            transport: Any = http._transport
            assert len(transport._pool.connections) == 1


def test_messages_are_written_as_chat_completions_have_them() -> None:
    image = {"type": "image", "base64": "QUJD", "mime_type": "image/png"}
    call = {"name": "f", "args": {"x": "é"}, "id": "c1", "type": "tool_call"}
    rows = [
        row(message)
        for message in (
            SystemMessage("Be brief."),
            HumanMessage(["look", image]),
            AIMessage("", tool_calls=[call], additional_kwargs={"reasoning_content": "hm"}),
            ToolMessage("r", tool_call_id="c1", name="f", status="error"),
        )
    ]
    assert rows == [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "look"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "hm",
            "tool_calls": [{"type": "function", "id": "c1", "function": {"name": "f", "arguments": '{"x": "é"}'}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "r"},
    ]


# --- the models of OpenAI's own service


@pytest.fixture
async def service_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Callable[..., Models]]:
    """Models of a server on loopback that is taken for OpenAI's own."""
    monkeypatch.setattr(providers, "is_official", lambda _: True)
    opened: list[Models] = []

    def made(base_url: str, **role: Any) -> Models:
        basic = RoleSettings(base_url=base_url, timeout_s=5.0, max_retries=0, **role)
        tape = Tape(tmp_path / "tape.jsonl")
        opened.append(Models(ModelsSettings(basic=basic), tape=tape, emit=lambda _: None, budget=Budget()))
        return opened[-1]

    yield made
    for models in opened:
        await models.aclose()


@pytest.mark.parametrize("stream", [False, True])
async def test_the_service_itself_is_asked_in_its_own_words(service_at: Callable[..., Models], stream: bool) -> None:
    heard: list[str] = []
    with StandIn(lambda _: said("Four.")) as server:
        models = service_at(server.base_url, model="gpt-4o", max_tokens=50, stream=stream, options={"seed": 7})
        reply = await models.chat("basic", [HumanMessage("2+2?")], purpose="step", say=lambda: heard.append)
    assert reply.content == "Four."
    assert (server.bodies[0]["max_completion_tokens"], server.bodies[0]["seed"]) == (50, 7)
    assert "max_tokens" not in server.bodies[0]
    assert "".join(heard) == ("Four." if stream else "")


async def test_a_model_of_the_service_that_wants_the_responses_api_is_asked_there(
    service_at: Callable[..., Models],
) -> None:
    paths: list[str] = []

    def answer(seen: SeenCall) -> Any:
        paths.append(seen.path)
        part = {"type": "output_text", "text": "Four.", "annotations": []}
        message = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]}
        head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5-pro", "status": "completed"}
        more = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None}
        return {**head, **more, "output": [message]}

    with ScriptedService(answer) as service:
        models = service_at(f"{service.url}/v1", model="gpt-5-pro")
        reply = await models.chat("basic", [HumanMessage("2+2?")], purpose="step")
    assert paths == ["/v1/responses"]
    assert reply.text == "Four."


async def test_a_refusal_of_the_service_names_what_to_do(service_at: Callable[..., Models]) -> None:
    said_no = {"error": {"message": "bad key", "code": "invalid_api_key"}}
    with StandIn(lambda _: Said(401, said_no)) as server:
        models = service_at(server.base_url, model="gpt-4o")
        with pytest.raises(ModelUnreachable, match=r"bad key.*no key is set"):
            await models.chat("basic", [HumanMessage("2+2?")], purpose="step")
