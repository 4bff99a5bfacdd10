"""What a user would lose: a model that cannot call functions and is asked for them for ever, a probe paid for twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from habilis.core.errors import ModelUnreachable
from habilis.prompts import Prompts
from habilis.tool_calling.strategies import Step, Strategies

from .conftest import Bench
from .corpus import SEARCH, SPECS

ASKED: list[BaseMessage] = [SystemMessage("Use tools."), HumanMessage("<question>\nWhat is x?\n</question>")]


def strategies(bench: Bench, *, task: str = "", replay_only: bool = False, **role: Any) -> Strategies:
    """Those of a new task, or of `task`, on its own tape; what models can is remembered beside the tapes."""
    root = bench.folder
    bench.folder = root / (task or f"task{len(bench.opened)}")
    models = bench.models(replay_only=replay_only, **role)
    bench.folder = root
    return Strategies(models, Prompts(), bench.sink.emit, root / "memory")


def calling(name: str = "search", **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": "a"}])


def called(step: Step) -> list[tuple[str, dict[str, Any]]]:
    return [(call["name"], call["args"]) for call in step.message.tool_calls]


async def ask(asking: Strategies, *more: BaseMessage) -> Step:
    return await asking.step([*ASKED, *more], SPECS, label="step", position=1)


def kinds(bench: Bench) -> list[str]:
    """How each request was made: with functions, as text, or as a probe."""
    return [
        "probe" if "127 * 39" in seen.prompt else "functions" if seen.body.get("tools") else "text"
        for seen in bench.server.requests
    ]


async def test_a_model_that_calls_functions_is_never_probed_and_remembered(bench: Bench) -> None:
    bench.serve(lambda *_: calling(query="x"))
    assert called(await ask(strategies(bench))) == [("search", {"query": "x"})]
    bench.server.answer = lambda *_: AIMessage("It is 7.")
    step = await ask(strategies(bench))
    assert (str(step.message.content), step.doubt) == ("It is 7.", "")
    assert kinds(bench) == ["functions", "functions"]


async def test_calls_written_as_text_count_as_calls(bench: Bench) -> None:
    bench.serve(lambda *_: AIMessage('I look.\nsearch("x")'))
    step = await ask(strategies(bench))
    assert called(step) == [("search", {"query": "x"})]
    assert step.message.content == "I look."
    bench.server.answer = lambda *_: AIMessage("search(x)")
    assert "must be text in quotes" in (await ask(strategies(bench))).doubt


async def test_a_plain_answer_of_an_unknown_model_is_probed_once_and_stands_if_the_model_can_call(bench: Bench) -> None:
    def answer(messages: list[BaseMessage], *_: Any) -> AIMessage:
        probe = "127 * 39" in str(messages[-1].content)
        return calling("calculate_expression", expression="127 * 39") if probe else AIMessage("It is 7.")

    bench.serve(answer)
    for _ in range(2):
        assert (await ask(strategies(bench))).message.content == "It is 7."
    assert kinds(bench) == ["functions", "probe", "functions"]


def only_text(messages: list[BaseMessage], *_: Any) -> AIMessage:
    if "Final Answer:" in str(messages[0].content):
        return AIMessage('Thought: I look.\nAction: search\nAction Input: {"query": "x"}\nObservation: 7')
    return AIMessage("I would look for it.")


async def test_a_model_that_cannot_call_is_asked_as_text_from_then_on(bench: Bench) -> None:
    bench.serve(only_text)
    asking = strategies(bench)
    assert called(await ask(asking)) == [("search", {"query": "x"})]
    assert called(await ask(asking)) == [("search", {"query": "x"})]
    assert called(await ask(strategies(bench))) == [("search", {"query": "x"})]
    assert kinds(bench) == ["functions", "probe", "text", "text", "text"]
    assert "calls are written as text" in bench.sink.of("notice")[0].text


async def test_a_server_that_refuses_functions_is_asked_as_text(bench: Bench) -> None:
    bench.serve(only_text, refuse={"tools"})
    assert called(await ask(strategies(bench))) == [("search", {"query": "x"})]
    assert kinds(bench) == ["functions", "text"]


async def test_a_server_that_takes_functions_no_longer_is_asked_as_text(bench: Bench) -> None:
    bench.serve(lambda *_: calling(query="x"))
    await ask(strategies(bench))
    bench.server.answer, bench.server.refuse = only_text, {"tools"}
    for _ in range(2):
        assert called(await ask(strategies(bench))) == [("search", {"query": "x"})]
    assert kinds(bench) == ["functions", "functions", "text", "text"]


async def test_a_refusal_for_another_reason_changes_nothing(bench: Bench) -> None:
    bench.serve(only_text, faults=["bad_request"])
    with pytest.raises(ModelUnreachable):
        await ask(strategies(bench))
    assert kinds(bench) == ["functions"]


async def test_a_replay_asks_in_the_same_way_without_any_memory(bench: Bench, tmp_path: Path) -> None:
    bench.serve(only_text)
    live = await ask(strategies(bench, task="one"))
    for path in (tmp_path / "memory").iterdir():
        path.unlink()
    replayed = await ask(strategies(bench, task="one", replay_only=True))
    assert replayed == live
    assert len(bench.server.requests) == 3


async def test_a_refused_stop_word_is_left_out_and_invented_results_are_not_believed(bench: Bench) -> None:
    bench.serve(only_text, refuse={"stop"})
    asking = strategies(bench, strategy="react_text")
    for _ in range(2):
        assert called(await ask(asking)) == [("search", {"query": "x"})]
    assert [bool(seen.body.get("stop")) for seen in bench.server.requests] == [True, False, False]


async def test_calls_that_a_server_makes_of_the_text_itself_count(bench: Bench) -> None:
    bench.serve(lambda *_: calling(query="x"))
    assert called(await ask(strategies(bench, strategy="react_text"))) == [("search", {"query": "x"})]


@pytest.mark.parametrize("strategy", ["react_text", "react_completion"])
async def test_the_prompt_holds_tools_and_scratchpad_in_both_forms(bench: Bench, strategy: str) -> None:
    bench.serve(lambda *_: AIMessage("Thought: So.\nFinal Answer: It is 7."))
    history = [
        AIMessage("I look.", tool_calls=[{"name": "search", "args": {"query": "x"}, "id": "a"}]),
        ToolMessage("7", tool_call_id="a"),
    ]
    step = await ask(strategies(bench, strategy=strategy), *history)
    assert step.message.content == "It is 7."
    assert step.message.additional_kwargs["reasoning_content"] == "So."
    (seen,) = bench.server.requests
    assert seen.path.endswith("/v1/completions" if strategy == "react_completion" else "/chat/completions")
    assert '{"name": "search"' in seen.prompt
    assert "one of read_rows, search, tell_time" in seen.prompt
    assert 'Thought: I look.\nAction: search\nAction Input: {"query": "x"}\nObservation: 7' in seen.prompt
    roles = [message["role"] for message in seen.body["messages"]]
    assert roles == (["user"] if strategy == "react_completion" else ["system", "user", "assistant", "user"])


async def test_what_is_neither_action_nor_answer_comes_back_with_a_doubt_and_is_sent_back_as_it_was(
    bench: Bench,
) -> None:
    bench.serve(lambda *_: AIMessage("I am thinking about how to help you"))
    asking = strategies(bench, strategy="react_text")
    step = await ask(asking)
    assert "neither an action nor a final answer" in step.doubt
    await ask(asking, step.message, HumanMessage(step.doubt))
    rows = bench.server.requests[-1].body["messages"]
    assert [row["content"] for row in rows[2:]] == ["I am thinking about how to help you", step.doubt]


@pytest.mark.parametrize("strategy", ["function_call", "react_text"])
async def test_a_streamed_reply_is_the_same_and_is_shown_as_it_comes(bench: Bench, strategy: str) -> None:
    def answer(messages: list[BaseMessage], *_: Any) -> AIMessage:
        if strategy == "react_text":
            return AIMessage('Thought: I look for it everywhere.\nAction: search\nAction Input: {"query": "é"}')
        calls: Any = [{"name": "search", "args": {"query": f"{n} é " * 9}, "id": f"i{n}"} for n in range(2)]
        return AIMessage("I look for it everywhere.", tool_calls=calls)

    bench.serve(answer)
    whole = await ask(strategies(bench, strategy=strategy))
    streamed = await ask(strategies(bench, strategy=strategy, stream=True))
    assert streamed == whole
    assert bench.server.requests[1].body["stream"] is True
    pieces = bench.sink.of("thought_piece")
    assert "".join(piece.text for piece in pieces).strip() == "I look for it everywhere."
    assert len(pieces) > 1
    assert all(event.usage.prompt_tokens > 0 for event in bench.sink.of("model_call_ended"))


async def test_a_stream_that_breaks_off_is_asked_for_again(bench: Bench) -> None:
    bench.serve(lambda *_: AIMessage("It is 7. " * 20), faults=["drop_body"])
    step = await ask(strategies(bench, strategy="function_call", stream=True))
    assert step.message.content == ("It is 7. " * 20)
    assert len(bench.server.requests) == 2


async def test_the_last_round_offers_no_tools_in_both(bench: Bench) -> None:
    bench.serve(lambda *_: AIMessage("Final Answer: 7"))
    for strategy in ("function_call", "react_text"):
        await strategies(bench, strategy=strategy).step(ASKED, [], label="last")
    assert not any(seen.body.get("tools") or SEARCH.name in seen.prompt for seen in bench.server.requests)


async def test_special_tokens_are_no_part_of_an_answer(bench: Bench) -> None:
    bench.serve(lambda *_: AIMessage("It is 7.<|im_end|>"))
    step = await ask(strategies(bench, strategy="function_call"))
    assert (step.message.content, step.doubt) == ("It is 7.", "")
