"""Replies are bounded by their purpose. What a user would lose: ten minutes and 8,000 tokens to one answer, or, by a
bound that is too tight, the second page of a report."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from pydantic import BaseModel, Field

from habilis.config import LimitsSettings, ModelsSettings, RoleSettings, load_settings
from habilis.core.errors import ModelReplyUnusable, ModelUnreachable, ReplyTooSlow, UserError, WriterFailed
from habilis.core.types import ToolSpec
from habilis.messages.bounds import Bound, cut_of, last_whole_sentence, whole_part
from habilis.messages.calls import check_calls
from habilis.models.chat import Models
from habilis.models.continuing import joined
from habilis.models.structured import Modes
from habilis.models.tape import Tape
from habilis.models.usage import Budget
from habilis.prompts import Prompts
from habilis.synthesis.writers import ModelWriter
from habilis.testing import FakeClock, RecordingSink
from habilis.tool_calling.strategies import Strategies

from .providers import Answer, StandIn, call, delta, in_turn, refused, said, stream

ASK = [HumanMessage("Tell me.")]
ADD = ToolSpec(name="add", description="", parameters={"type": "object", "properties": {"x": {"type": "string"}}})
LONG = " ".join(f"Sentence {n} of the report says something of its own." for n in range(600))
LOOP = "The answer is 42.\n" * 400


class Answered(BaseModel):
    final_answer: str = Field(max_length=8_000)


class World:
    """A stand-in for a server, and models on one tape that ask it."""

    def __init__(self, folder: Any) -> None:
        self.folder, self.sink, self.modes, self.opened = folder, RecordingSink(), Modes(), list[Models]()
        self.server: Any = None

    def models(self, *, limits: LimitsSettings | None = None, replay: bool = False, **role: Any) -> Models:
        given = {"base_url": self.server.base_url, "model": "m", "timeout_s": 5.0, "max_retries": 0, **role}
        made = Models(
            ModelsSettings(basic=RoleSettings(**given)),
            limits=limits,
            tape=Tape(self.folder / "tape.jsonl", replay_only=replay),
            emit=self.sink.emit,
            budget=Budget(),
            sleep=FakeClock().sleep,
            modes=self.modes,
        )
        self.opened.append(made)
        return made

    def strategies(self, models: Models) -> Strategies:
        return Strategies(models, Prompts(), self.sink.emit, self.folder / "memory")


@pytest.fixture
async def world(tmp_path: Any) -> Any:
    made = World(tmp_path)
    yield made
    for models in made.opened:
        await models.aclose()


@contextmanager
def serving(world: World, answer: Answer) -> Iterator[StandIn]:
    with StandIn(answer) as server:
        world.server = server
        yield server


def cut(text: str | None, **more: Any) -> Any:
    """A reply that its bound cut off."""
    return {**said(text, finish="length", **more), "usage": {"prompt_tokens": 10, "completion_tokens": 1024}}


# ---- how many tokens


@pytest.mark.parametrize(
    ("purpose", "tokens"),
    [("plan", 1024), ("step", 1024), ("code", 2048), ("review", 1024), ("answer", 1024), ("summary", 1024)],
)
async def test_no_reply_is_longer_than_its_purpose_allows(world: World, purpose: Any, tokens: int) -> None:
    with serving(world, lambda _: said("4")) as server:
        await world.models().chat("basic", ASK, purpose=purpose)
    assert server.bodies[0]["max_tokens"] == tokens


async def test_the_smaller_counts_of_what_purpose_and_role_have(world: World) -> None:
    with serving(world, lambda _: said("4")) as server:
        for most in (300, 5_000):
            await world.models(max_tokens=most).chat("basic", ASK, purpose="code")
            (world.folder / "tape.jsonl").unlink()
        mine = LimitsSettings(code_tokens=77)
        await world.models(limits=mine).chat("basic", ASK, purpose="code")
    assert [body["max_tokens"] for body in server.bodies] == [300, 2048, 77]


def test_a_bound_says_which_setting_it_comes_from() -> None:
    limits = LimitsSettings()
    plain = Bound.of("code", limits, "builder", RoleSettings())
    assert (plain.tokens, plain.tokens_by, plain.thinking) == (2048, "limits.code_tokens", 8192)
    small = Bound.of("code", limits, "builder", RoleSettings(max_tokens=500))
    assert (small.tokens, small.tokens_by, small.thinking) == (500, "models.builder.max_tokens", 0)
    window = Bound.of("code", limits, "builder", RoleSettings(token_limit=1024, max_tokens=4096))
    assert (window.tokens, window.tokens_by) == (1024, "models.builder.token_limit")


@pytest.mark.parametrize("wrong", ["reply_tokens=0", "code_tokens=0", "reply_seconds=-1", "reply_tokens.plan=5"])
def test_a_bound_that_is_none_is_one_line(wrong: str) -> None:
    with pytest.raises(UserError, match=rf"limits\.{wrong.partition('=')[0]}") as caught:
        load_settings(overrides=[f"limits.{wrong}"], environ={})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "This model's maximum context length is 8192 tokens. However, you requested 8524 tokens (7500 in the messages, "
        "1024 in the completion). Please reduce the length of the messages or completion.",
        "'max_tokens' or 'max_completion_tokens' is too large: 1024. This model's maximum context length is 8192 "
        "tokens and your request has 7500 input tokens (1024 > 8192 - 7500).",
    ],
)
async def test_a_window_that_is_nearly_full_still_gives_a_reply(world: World, text: str) -> None:
    def answer(body: Any) -> Any:
        return refused(text) if body.get("max_tokens") else said("4")

    with serving(world, answer) as server:
        assert (await world.models().chat("basic", ASK, purpose="step")).content == "4"
        assert len(server.bodies) == 2
        (world.folder / "tape.jsonl").unlink()
        with pytest.raises(ModelUnreachable, match="token_limit"):
            await world.models(max_tokens=1024).chat("basic", ASK, purpose="step")


# ---- models that think first


@pytest.mark.parametrize(
    "thinking",
    [
        cut(""),
        cut("<think>Let me see. First"),
        cut("", reasoning_content="Let me see. First"),
        {**cut("It is"), "usage": {"completion_tokens": 1024, "completion_tokens_details": {"reasoning_tokens": 1000}}},
    ],
    ids=["hidden", "tag", "field", "counted"],
)
async def test_a_model_that_thinks_gets_room_for_it_once_it_shows(world: World, thinking: Any) -> None:
    def answer(body: Any) -> Any:
        return said("It is 4.") if body["max_tokens"] > 1024 else thinking

    with serving(world, answer) as server:
        models = world.models()
        assert (await models.chat("basic", ASK, purpose="step")).content == "It is 4."
        await models.chat("basic", [HumanMessage("Again?")], purpose="step")
    assert [body["max_tokens"] for body in server.bodies] == [1024, 1024 + 8192, 1024 + 8192]
    assert models.usage.model_calls == 3, "what was asked twice is paid twice"


async def test_a_model_that_says_nothing_is_not_taken_for_one_that_thinks(world: World) -> None:
    with serving(world, lambda _: cut("")) as server:
        models = world.models()
        for text in ("a", "b"):
            await models.chat("basic", [HumanMessage(text)], purpose="step")
    assert [body["max_tokens"] for body in server.bodies] == [1024, 1024 + 8192, 1024]


# ---- how many seconds


class Drip:
    """A server that sends its headers, then a letter whenever the connection takes one, and never ends."""

    def __init__(self, head: str, piece: bytes) -> None:
        self.sent = 0
        self.left = threading.Event()
        self._head, self._piece = head, piece
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/v1"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        connection, _ = self._listening.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(f"HTTP/1.1 200 OK\r\ncontent-type: {self._head}\r\n\r\n".encode())
            while not self.left.wait(0.01):
                try:
                    connection.sendall(self._piece)
                except OSError:
                    return self.left.set()
                self.sent += 1
        return None

    def close(self) -> None:
        self.left.set()
        self._thread.join()
        self._listening.close()


@pytest.mark.parametrize(
    ("streamed", "head", "piece"),
    [
        (False, "application/json", b" "),
        (True, "text/event-stream", b": keep-alive\n\n"),
        (True, "text/event-stream", f"data: {json.dumps(delta(content='x'))}\n\n".encode()),
    ],
)
async def test_a_server_that_drips_is_left_and_the_setting_named(
    world: World, streamed: bool, head: str, piece: bytes
) -> None:
    world.server = Drip(head, piece)
    limits = LimitsSettings(reply_seconds=0.3)
    models = world.models(limits=limits, stream=streamed, max_retries=3)
    say = (lambda: lambda _: None) if streamed else None
    try:
        with pytest.raises(ReplyTooSlow) as caught:
            await models.chat("basic", ASK, purpose="review", say=say)
        assert world.server.sent, "it never began to drip"
        assert world.server.left.wait(5), "the connection stays open"
    finally:
        await asyncio.to_thread(world.server.close)
    assert "(review) within 0.3 s: raise limits.reply_seconds" in str(caught.value)
    assert "running" not in str(caught.value)
    assert models.usage.model_calls == 1, "it is not tried again"
    with pytest.raises(ReplyTooSlow) as again:
        await world.models(limits=limits, replay=True).chat("basic", ASK, purpose="review")
    assert str(again.value) == str(caught.value)


# ---- repetition


async def test_a_stream_that_repeats_itself_is_closed(world: World) -> None:
    pieces = [delta(content="The answer is 42.\n") for _ in range(5_000)]
    heard: list[str] = []
    with serving(world, lambda _: stream(*pieces, delta("stop"))):
        models = world.models(stream=True)
        reply = await models.chat("basic", ASK, purpose="step", say=lambda: heard.append)
    found = cut_of(reply)
    assert found is not None
    assert found.why == "repetition"
    assert len("".join(heard)) < 3_000
    replayed = await world.models(replay=True).chat("basic", ASK, purpose="step")
    assert replayed == reply.model_copy(update={"usage_metadata": None})


@pytest.mark.parametrize("finish", ["length", "stop"])
async def test_a_whole_reply_that_repeats_itself_is_known_for_it(world: World, finish: str) -> None:
    with serving(world, lambda _: said(LOOP, finish=finish)):
        reply = await world.models().chat("basic", ASK, purpose="step")
    assert str(cut_of(reply)) == "repeated itself and was cut off"


async def test_thoughts_and_arguments_that_repeat_themselves_are_ended_too(world: World) -> None:
    thought = [delta(reasoning_content="Wait, no. ") for _ in range(4_000)]
    calls = [delta(tool_calls=[{"index": 0, "id": "a", **call("add", '{"x": "')}])]
    calls += [delta(tool_calls=[{"index": 0, "function": {"arguments": "ha "}}]) for _ in range(4_000)]
    for pieces in (thought, calls):
        with serving(world, lambda _, pieces=pieces: stream(*pieces, delta("stop"))):
            models = world.models(stream=True)
            reply = await models.chat("basic", ASK, tools=[ADD], purpose="step", say=lambda: lambda _: None)
        assert "repeated itself" in str(cut_of(reply))
        (world.folder / "tape.jsonl").unlink()


# ---- what a cut reply becomes


async def test_a_writer_whose_module_is_cut_is_told_to_write_a_shorter_one(world: World) -> None:
    module = "```python\n" + "\n".join(f"x{n} = {n}" for n in range(900))
    with serving(world, lambda _: {**cut(module), "usage": {"completion_tokens": 2048}}):
        told = r"cut off at 2,048 tokens \(limits\.code_tokens\).*shorter"
        with pytest.raises(WriterFailed, match=told):
            await ModelWriter(world.models()).write("Write.", "a tool")
    whole = "```python\nx = 1\n```\nThis module sets x. It"
    (world.folder / "tape.jsonl").unlink()
    with serving(world, lambda _: cut(whole)):
        assert "x = 1" in await ModelWriter(world.models()).write("Write.", "a tool")


async def test_a_cut_call_is_told_as_one(world: World) -> None:
    half = call("add", '{"x": "' + LONG[:3_500], id="a")
    with serving(world, lambda _: cut(None, tool_calls=[half])):
        reply = await world.models().chat("basic", ASK, tools=[ADD], purpose="step")
    (problem,) = check_calls(reply, [ADD]).problems
    assert problem.text == "Tool call 'add' was cut off at 1,024 tokens. Send the call again, with shorter arguments."


async def test_a_form_that_is_cut_is_told_so_and_given_up_after_three(world: World) -> None:
    half = '{"final_answer": "' + " ".join(str(n) for n in range(800))
    with serving(world, lambda _: cut(half)) as server:
        told = r"cut off at 1,024 tokens \(limits\.reply_tokens\)"
        with pytest.raises(ModelReplyUnusable, match=told):
            await world.models().structured("basic", ASK, Answered, purpose="plan")
    assert len(server.bodies) == 3
    assert "cut off at 1,024 tokens before the JSON object was complete" in server.bodies[1]["messages"][-1]["content"]
    assert len(server.bodies[1]["messages"][-2]["content"]) < 500


async def test_a_form_that_repeats_itself_is_asked_for_in_another_way(world: World) -> None:
    def answer(body: Any) -> Any:
        return said('{"final_answer": "4"}') if body.get("tools") else cut('{"final_answer": "' + "\\n" * 1_000)

    with serving(world, answer) as server:
        assert (await world.models().structured("basic", ASK, Answered, purpose="review")).final_answer == "4"
    assert len(server.bodies) == 2


async def test_an_object_that_is_whole_stands_whatever_was_cut_behind_it(world: World) -> None:
    with serving(world, lambda _: cut('{"final_answer": "4"}\n\nI chose 4 because')) as server:
        assert (await world.models().structured("basic", ASK, Answered, purpose="review")).final_answer == "4"
    assert len(server.bodies) == 1


@pytest.mark.parametrize("again", ["", "exact", "fence"])
async def test_a_long_answer_comes_in_parts(world: World, again: str) -> None:
    text = LONG[:7_500]
    raw = json.dumps({"final_answer": text})
    second = raw[3_480:] if again == "exact" else "```json\n" + raw[3_500:] + "\n```" if again else raw[3_500:]
    with serving(world, in_turn(cut(raw[:3_500]), said(second))) as server:
        reply = await world.models().structured("basic", ASK, Answered, purpose="answer")
        assert reply.final_answer == text
        assert len(server.bodies) == 2
        assert "response_format" not in server.bodies[1]
    again_read = await world.models(replay=True).structured("basic", ASK, Answered, purpose="answer")
    assert again_read == reply, "a replay reads the same parts"


async def test_a_written_call_that_was_cut_is_told_as_one_and_never_gone_on_with(world: World) -> None:
    half = 'I look.\n<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": '
    with serving(world, lambda _: cut(half)) as server:
        models = world.models(strategy="function_call")
        step = await world.strategies(models).step(ASK, [], label="step 1", parts=3)
    assert "was cut off at 1,024 tokens, in a tool call" in step.doubt
    assert len(server.bodies) == 1


@pytest.mark.parametrize("strategy", ["function_call", "react_text"])
async def test_a_long_step_comes_in_parts_and_not_without_end(world: World, strategy: str) -> None:
    begin = "Final Answer: " if strategy == "react_text" else ""
    parts = [cut(begin + LONG[:3_500]), cut(LONG[3_480:7_000]), said(LONG[6_980:9_000])]
    with serving(world, in_turn(*parts)) as server:
        models = world.models(strategy=strategy)
        step = await world.strategies(models).step(ASK, [], label="step 1", parts=3)
        assert step.message.content == LONG[:9_000]
        assert cut_of(step.message) is None
        assert len(server.bodies) == 3
    (world.folder / "tape.jsonl").unlink()
    with serving(world, in_turn(*parts[:2], cut(LONG[7_000:10_500]))) as server:
        models = world.models(strategy=strategy)
        step = await world.strategies(models).step(ASK, [], label="step 1", parts=3)
        assert len(server.bodies) == 3
    found = cut_of(step.message)
    assert found is not None, "what never ends is no answer"
    assert found.in_full == "was cut off at 1,024 tokens (limits.reply_tokens)"


def test_parts_are_joined_where_the_model_begins_a_little_before_or_anew() -> None:
    one = "The report begins here, on the first page, and goes"
    assert joined(one, " on there.") == f"{one} on there."
    assert joined(one, "first page, and goes on there.") == f"{one} on there."
    assert joined(one, one + " on there.") == f"{one} on there."


def test_a_summary_that_was_cut_ends_with_its_last_whole_sentence() -> None:
    def reply(text: str, finish: str) -> AIMessage:
        return AIMessage(text, response_metadata={"finish_reason": finish})

    assert whole_part(reply("It is 4. The file holds 3.5 mill", "length")) == "It is 4."
    assert whole_part(reply("- a: 1\n- b: 2\n- c", "length")) == "- a: 1\n- b: 2"
    assert whole_part(reply("It is 4. The", "stop")) == "It is 4. The"
    assert whole_part(reply(f"It is 4.\n{'Wait. ' * 500}", "repetition")) == "It is 4.\nWait."
    assert last_whole_sentence("half a sentence") == ""
