"""What a user of a small machine would lose: a reply that comes slowly and steadily, to a limit on silence."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import AsyncIterator, Callable

import pytest
from langchain_core.messages import HumanMessage

from habilis.core.errors import ModelUnreachable
from habilis.models.chat import Models

from .conftest import Bench
from .providers import delta, said
from .wires import BareServer, Play, answering

ASK = [HumanMessage("What is 2+2?")]
SILENCE_S = 0.4
WORDS = ("The ", "sum ", "of ", "two ", "and ", "two ", "is ", "four.")
"""Pieces that come one after another, each sooner than the silence that is borne, all of them later."""


def laborious(server: BareServer, link: socket.socket, line: str) -> None:
    """A model that needs longer for a reply than a client waits, and sends its words as they come where it may."""
    if not json.loads(server.bodies[-1]).get("stream"):
        server.closing.wait()
        return
    link.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
    for word in WORDS:
        server.closing.wait(SILENCE_S / 4)
        link.sendall(f"data: {json.dumps(delta(content=word))}\n\n".encode())
    link.sendall(f"data: {json.dumps(delta('stop'))}\n\ndata: [DONE]\n\n".encode())


@pytest.fixture
async def slow(bench: Bench) -> AsyncIterator[Callable[[Play], Models]]:
    """Models that ask a server which plays as it is told."""
    with contextlib.ExitStack() as stack:

        def made(play: Play) -> Models:
            bench.server = stack.enter_context(BareServer(play))  # type: ignore[assignment]
            return bench.models(timeout_s=SILENCE_S, max_retries=2)

        yield made


async def test_a_reply_that_comes_slowly_is_waited_for(bench: Bench, slow: Callable[[Play], Models]) -> None:
    models = slow(laborious)
    reply = await models.chat("basic", ASK, purpose="step")
    assert reply.content == "".join(WORDS)
    assert [event.reason for event in bench.sink.of("model_retry")] == ["no answer in time"]


async def test_a_server_that_is_known_to_be_slow_is_not_waited_for_in_vain_again(
    bench: Bench, slow: Callable[[Play], Models]
) -> None:
    models = slow(laborious)
    for text in ("one", "two"):
        await models.chat("basic", [HumanMessage(text)], purpose="step")
    streamed = [bool(json.loads(body).get("stream")) for body in bench.server.bodies]
    assert streamed == [False, True, True]


async def test_a_server_that_cannot_stream_and_had_a_bad_moment_is_heard_all_the_same(
    bench: Bench, slow: Callable[[Play], Models]
) -> None:
    """It answers as a whole, also where pieces are asked for: that is no reply that broke off."""

    def once_silent(server: BareServer, link: socket.socket, line: str) -> None:
        if len(server.asked) == 1:
            server.closing.wait()
        else:
            answering(200, json.dumps(said("Four.")))(server, link, line)

    models = slow(once_silent)
    for text in ("one", "two"):
        assert (await models.chat("basic", [HumanMessage(text)], purpose="step")).content == "Four."
    streamed = [bool(json.loads(body).get("stream")) for body in bench.server.bodies]
    assert streamed == [False, True, True]


async def test_a_server_that_never_says_a_word_is_given_up_as_before(
    bench: Bench, slow: Callable[[Play], Models]
) -> None:
    def silent(server: BareServer, link: socket.socket, line: str) -> None:
        server.closing.wait()

    with pytest.raises(ModelUnreachable, match="no answer in time"):
        await slow(silent).chat("basic", ASK, purpose="step")
    assert len(bench.server.bodies) == 3
