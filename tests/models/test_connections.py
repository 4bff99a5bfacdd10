"""Wrong connections, played on loopback. What a user would lose: an hour, to advice that names the wrong part."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from habilis.config import RoleSettings, load_settings
from habilis.core.errors import HabilisError, ModelMisconfigured, UserError
from habilis.models.chat import Models
from habilis.models.failures import Failure
from habilis.models.reaching import looked_into
from habilis.models.tape import Tape
from habilis.models.usage import Budget
from habilis.testing import FakeClock, RecordingSink

from .wires import BareServer, Play, answering, certificate

ASK = [HumanMessage("What is 2+2?")]
MODELS = json.dumps({"data": [{"id": name} for name in ("qwen3:8b", "llama3.2", "gemma3")]})
PAGE = "<!DOCTYPE html><html><head><title>Welcome to the router</title></head><body>Log in</body></html>"


def error(status: int, text: str, **more: Any) -> Play:
    return answering(status, json.dumps({"error": {"message": text, "type": "invalid_request_error", **more}}))


def listing(otherwise: Play, *, below: str = "/v1", models: str = MODELS) -> Play:
    """Lists models below a path, and answers all else with `otherwise`."""

    def play(server: BareServer, link: socket.socket, line: str) -> None:
        known = line.startswith(f"GET {below}/models ")
        return (answering(200, models) if known else otherwise)(server, link, line)

    return play


def hanging_up(server: BareServer, link: socket.socket, line: str) -> None:
    """Closes the connection without a word."""


def cutting(server: BareServer, link: socket.socket, line: str) -> None:
    link.sendall(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"cho')


def silent(server: BareServer, link: socket.socket, line: str) -> None:
    server.closing.wait()


def base(change: Callable[[str], str]) -> Callable[[BareServer], dict[str, str]]:
    return lambda server: {"OPENAI_BASE_URL": change(server.base_url)}


SAME = base(str)
ANTHROPIC = ("models.basic.provider=anthropic", "models.basic.model=qwen3", "models.basic.base_url=")
"""With the server's address behind the last, and whatever stands in one more."""


@dataclass(frozen=True)
class Wrong:
    """A connection that is wrong. `named`: what the line must hold; `code`: of the command; `posts`: paid requests."""

    play: Play
    named: tuple[str, ...]
    code: int
    posts: int
    environ: Callable[[BareServer], dict[str, str]] = SAME
    sets: tuple[str, ...] = ()
    tls: dict[str, Any] | None = field(default=None)


NOT_FOUND = answering(404, "<html><head><title>404 Not Found</title></head></html>", "text/html")
CASES = {
    "no scheme": Wrong(hanging_up, ("OPENAI_BASE_URL", "scheme", "http://127"), 2, 0, base(lambda url: url[7:])),
    "another scheme": Wrong(hanging_up, ("OPENAI_BASE_URL", "scheme", "htp"), 2, 0, base(lambda url: "htp" + url[4:])),
    "quotation marks": Wrong(hanging_up, ("OPENAI_BASE_URL", "quotation"), 2, 0, base(lambda url: f"“{url}”")),
    "white space inside": Wrong(hanging_up, ("OPENAI_BASE_URL", "space"), 2, 0, base(lambda url: url + " x")),
    "no host": Wrong(hanging_up, ("OPENAI_BASE_URL", "host"), 2, 0, base(lambda url: "http:///v1")),
    "no port": Wrong(hanging_up, ("OPENAI_BASE_URL", "ort"), 2, 0, base(lambda url: "http://127.0.0.1:http/v1")),
    "the whole path": Wrong(
        hanging_up,
        ("OPENAI_BASE_URL", "leave out /chat/completions"),
        2,
        0,
        base(lambda url: url + "/chat/completions"),
    ),
    "https at an http port": Wrong(
        hanging_up, ("speaks http, not https", "OPENAI_BASE_URL", "http://"), 2, 0, base(lambda url: "https" + url[4:])
    ),
    "http at an https port": Wrong(
        hanging_up,
        ("speaks https, not http", "OPENAI_BASE_URL"),
        2,
        0,
        base(lambda url: url.replace("https", "http")),
        tls={},
    ),
    "http at an https port that says so": Wrong(
        answering(400, "Client sent an HTTP request to an HTTPS server.\n", "text/plain"),
        ("speaks https, not http", "OPENAI_BASE_URL"),
        2,
        1,
    ),
    "unknown host": Wrong(
        hanging_up,
        ("no host has this name", "127.0.0.1.invalid"),
        2,
        0,
        base(lambda url: "http://127.0.0.1.invalid/v1"),
    ),
    "nobody listens": Wrong(
        hanging_up, ("refused", "start the server", "OPENAI_BASE_URL"), 3, 0, base(lambda url: "http://127.0.0.1:1/v1")
    ),
    "nobody answers": Wrong(silent, ("no answer in time", "timeout_s"), 3, 3, sets=("models.basic.timeout_s=0.1",)),
    "hangs up": Wrong(hanging_up, ("connection failed", "OPENAI_BASE_URL"), 3, 3),
    "self-signed": Wrong(hanging_up, ("certificate is not trusted", "SSL_CERT_FILE", "verify_ssl"), 2, 0, tls={}),
    "certificate of another": Wrong(
        hanging_up, ("for another name", "OPENAI_BASE_URL"), 2, 0, tls={"names": ("elsewhere.example",)}
    ),
    "an expired certificate": Wrong(
        hanging_up, ("not valid at this time", "clock"), 3, 0, tls={"names": ("127.0.0.1",), "days": -5}
    ),
    "a web page": Wrong(answering(200, PAGE, "text/html"), ("Welcome to the router", "path", "OPENAI_BASE_URL"), 2, 1),
    "no /v1": Wrong(
        listing(NOT_FOUND), ("below /v1", "/v1 into OPENAI_BASE_URL"), 3, 1, base(lambda url: url.removesuffix("/v1"))
    ),
    "no /v1, and a page": Wrong(
        listing(answering(200, PAGE, "text/html")),
        ("below /v1", "/v1 into OPENAI_BASE_URL"),
        2,
        1,
        base(lambda url: url.removesuffix("/v1")),
    ),
    "another path": Wrong(
        listing(NOT_FOUND), ("below /v1", "OPENAI_BASE_URL"), 3, 1, base(lambda url: url[:-2] + "api/v2")
    ),
    "a proxy's page": Wrong(NOT_FOUND, ("404 Not Found", "path", "OPENAI_BASE_URL"), 3, 1),
    "a proxy that is gone": Wrong(
        hanging_up,
        ("proxy in HTTP_PROXY", "127.0.0.1:1"),
        3,
        0,
        lambda server: {"OPENAI_BASE_URL": "http://model.example/v1", "HTTP_PROXY": "http://127.0.0.1:1"},
    ),
    "a proxy that wants a password": Wrong(
        answering(407, "<html><head><title>Who are you?</title></head></html>", "text/html"),
        ("proxy in HTTP_PROXY",),
        2,
        1,
        lambda server: {"OPENAI_BASE_URL": "http://model.example/v1", "HTTP_PROXY": server.base_url[:-3]},
    ),
    "no key": Wrong(error(401, "You didn't provide an API key."), ("no key is set", "OPENAI_API_KEY"), 3, 1),
    "a refused key": Wrong(
        error(401, "Incorrect API key provided"),
        ("check the key in OPENAI_API_KEY",),
        3,
        1,
        lambda server: {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-abcdefghijkl"},
    ),
    "smart quotes round the key": Wrong(
        hanging_up,
        ("OPENAI_API_KEY", "quotation mark"),
        2,
        0,
        lambda server: {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "“sk-abcdefghijkl”"},
    ),
    "quotes round the key": Wrong(
        error(401, "Incorrect API key provided"),
        ("OPENAI_API_KEY", "quotation marks"),
        3,
        1,
        lambda server: {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": '"sk-abcdefghijkl"'},
    ),
    "a line break in the key": Wrong(
        hanging_up,
        ("OPENAI_API_KEY", "U+000A"),
        2,
        0,
        lambda server: {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-abcdef\nghijkl"},
    ),
    "a key of another service": Wrong(
        error(401, "Incorrect API key provided"),
        ("OPENAI_API_KEY", "those of Anthropic", "OPENAI_BASE_URL"),
        3,
        1,
        lambda server: {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-ant-abcdefghijkl"},
    ),
    "the key in place of its variable": Wrong(
        hanging_up,
        ("--set models.basic.api_key_env", "name of the variable"),
        2,
        0,
        sets=("models.basic.api_key_env=sk-ab",),
    ),
    "a wrong model": Wrong(
        listing(error(404, "model 'qwen3' not found")),
        ("no model qwen3", "OPENAI_MODEL to one of qwen3:8b, "),
        3,
        1,
    ),
    "a wrong model, by 400": Wrong(
        listing(error(400, "The model `qwen3` does not exist.")), ("OPENAI_MODEL to one of qwen3:8b, ",), 2, 1
    ),
    "a wrong model, told by a bare 404": Wrong(
        listing(error(404, "Not Found")), ("OPENAI_MODEL to one of qwen3:8b, ",), 3, 1
    ),
    "no functions, insisted on": Wrong(
        error(400, "tools are not supported"),
        ("strategy to auto",),
        2,
        1,
        sets=("models.basic.strategy=function_call",),
    ),
    "no JSON mode, insisted on": Wrong(
        error(400, "response_format is not supported"),
        ("structured_mode to auto",),
        2,
        1,
        sets=("models.basic.structured_mode=json_mode",),
    ),
    "too long": Wrong(
        error(400, "maximum context length is 8192 tokens", code="context_length_exceeded"),
        ("longer than the model's context", "token_limit"),
        3,
        1,
    ),
    "no credit": Wrong(error(429, "You exceeded your quota", code="insufficient_quota"), ("no credit",), 3, 1),
    "too many requests": Wrong(error(429, "slow down"), ("try again later",), 3, 3),
    "an empty body": Wrong(answering(200, ""), ("empty reply",), 3, 3),
    "an empty body of text": Wrong(answering(200, "", "text/plain"), ("empty reply",), 3, 3),
    "plain text": Wrong(answering(200, "hello", "text/plain"), ("plain text in place of an answer",), 3, 3),
    "half a body": Wrong(answering(200, '{"choices": [{"mess'), ("not JSON",), 3, 3),
    "a cut body": Wrong(cutting, ("broke off in the middle",), 3, 3),
    "a server's failure behind a proxy": Wrong(
        answering(502, "<html><head><title>502 Bad Gateway</title></head></html>", "text/html"),
        ("HTTP 502", "502 Bad Gateway", "try again later"),
        3,
        3,
    ),
    "a redirect": Wrong(
        answering(301, "", location="https://model.example/v1/chat/completions"),
        ("sends on", "write https://model.example/v1 into OPENAI_BASE_URL"),
        2,
        1,
    ),
    "Anthropic's, the whole path": Wrong(
        hanging_up, ("--set models.basic.base_url", "leave out /messages"), 2, 0, sets=(*ANTHROPIC, "/v1/messages")
    ),
    "Anthropic's, a page": Wrong(answering(200, PAGE, "text/html"), ("Welcome to", "path"), 2, 1, sets=ANTHROPIC),
    "Anthropic's, another's key": Wrong(
        error(401, "invalid x-api-key"),
        ("ANTHROPIC_API_KEY", "those of OpenAI", "--set models.basic.base_url"),
        3,
        1,
        lambda server: {"ANTHROPIC_API_KEY": "sk-proj-abcdefghijkl"},
        sets=ANTHROPIC,
    ),
    "Anthropic's, a wrong model": Wrong(
        listing(error(404, "model: qwen3")), ("--set models.basic.model to one of qwen3:8b",), 3, 1, sets=ANTHROPIC
    ),
    "packed as nobody asked": Wrong(answering(200, b"\x1f\x8bno", content_encoding="br"), ("packed as 'br'",), 3, 3),
}


async def asked(server: BareServer, wrong: Wrong, folder: Path, monkeypatch: pytest.MonkeyPatch) -> HabilisError:
    """What a person is told of `wrong`."""
    environ = {"OPENAI_MODEL": "qwen3", **wrong.environ(server)}
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    sets = wrong.sets
    if sets[:1] == ANTHROPIC[:1]:
        pytest.importorskip("langchain_anthropic")
        here = server.base_url.removesuffix("/v1")
        sets = (*ANTHROPIC[:2], ANTHROPIC[2] + here + "".join(sets[3:]))
    settings = load_settings((), ("models.basic.max_retries=2", *sets), environ)
    tape, emit = Tape(folder / "tape.jsonl"), RecordingSink().emit
    try:
        models = Models(settings.models, tape=tape, emit=emit, budget=Budget(), sleep=FakeClock().sleep)
        try:
            await models.chat("basic", ASK, purpose="step")
        finally:
            await models.aclose()
    except HabilisError as error:
        return error
    pytest.fail("the connection was not wrong at all")


@pytest.mark.parametrize("name", CASES)
async def test_the_right_part_is_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = CASES[name]
    secure = certificate(tmp_path, **wrong.tls) if wrong.tls is not None else None
    if wrong.tls and "names" in wrong.tls:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "issuer.pem"))
    with BareServer(wrong.play, secure) as server:
        told = await asked(server, wrong, tmp_path, monkeypatch)
        posts = server.posts
    line = str(told)
    assert all(part in line for part in wrong.named), line
    assert "\n" not in line
    assert "sk-a" not in line.replace("api_key_env", "")
    assert (2 if isinstance(told, UserError | ModelMisconfigured) else 3) == wrong.code, line
    assert posts == wrong.posts, server.asked


class Mute(BareServer):
    """Takes the connection, and neither reads nor closes it."""

    def _answer(self, link: socket.socket) -> None:
        self.closing.wait()


def test_a_look_at_a_port_that_speaks_tls_leaves_no_socket_open(tmp_path: Path) -> None:
    """Closing such a connection politely waits for the server's own word, and a program that ends does not wait."""
    dropped = Failure("retry", "the connection was dropped", part="dropped")
    with Mute(hanging_up, certificate(tmp_path)) as server, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        here = RoleSettings(base_url=server.base_url.replace("https", "http"))
        assert asyncio.run(looked_into(dropped, here)).part == "needs_tls"
        gc.collect()
    assert not [str(warning.message) for warning in told]
