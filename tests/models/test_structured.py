"""Answers in a fixed form from servers that differ. What a user would lose: small local models, or money on resume."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from habilis.config import ModelsSettings, RoleSettings
from habilis.core.errors import ModelReplyUnusable, ModelUnreachable
from habilis.models.chat import Models
from habilis.models.client import Client
from habilis.models.structured import Conversation
from habilis.models.tape import Tape
from habilis.models.usage import Budget
from habilis.testing import Fault, FaultKind, ScriptedModel, SeenRequest, when


class Review(BaseModel):
    status: Literal["FINISH", "RETRY"]
    reason: str = Field(max_length=40)
    tags: list[str] = Field(default_factory=list, max_length=3)


ASK = [SystemMessage("You judge."), HumanMessage("Is 4 right?")]
GOOD = '{"status": "FINISH", "reason": "it is"}'
MODES = ["json_schema", "function_calling", "json_mode", "text"]


def says(*texts: str) -> Any:
    rows = iter(texts)
    return lambda *_: AIMessage(next(rows, texts[-1]))


async def ask(models: Models) -> Review:
    return await models.structured("basic", ASK, Review, purpose="review")


async def test_the_schema_goes_out_bounded_and_comes_back_as_data(bench: Any) -> None:
    server = bench.serve(says(GOOD))
    assert await ask(bench.models()) == Review(status="FINISH", reason="it is")
    form = server.requests[0].body["response_format"]["json_schema"]
    assert form["name"] == "Review"
    assert form["schema"]["properties"]["reason"]["maxLength"] == 40
    assert form["schema"]["properties"]["tags"]["maxItems"] == 3
    assert form["schema"]["properties"]["tags"]["items"]["maxLength"]


@pytest.mark.parametrize("refused", [0, 1, 2, 3])
async def test_modes_are_tried_in_order_and_the_one_that_works_is_remembered(bench: Any, refused: int) -> None:
    server = bench.serve(says(GOOD), refuse=MODES[:refused])
    for _ in range(2):
        assert (await ask(bench.models())).status == "FINISH"
        (bench.folder / "tape.jsonl").unlink()
    modes = [seen.mode or "text" for seen in server.requests]
    assert modes == [*MODES[: refused + 1], MODES[refused]]


async def test_a_server_that_takes_no_mode_at_all_ends_the_task_clearly(bench: Any) -> None:
    bench.serve(says(GOOD), faults=["bad_request"] * 4)
    with pytest.raises(ModelUnreachable, match="HTTP 400"):
        await ask(bench.models())


async def test_a_mode_that_is_set_is_the_only_one(bench: Any) -> None:
    server = bench.serve(says(GOOD), refuse=["json_mode"])
    with pytest.raises(ModelUnreachable):
        await ask(bench.models(structured_mode="json_mode"))
    assert [seen.mode for seen in server.requests] == ["json_mode"]
    assert (await ask(bench.models(structured_mode="text"))).status == "FINISH"


class Long(BaseModel):
    text: str = Field(max_length=8_000)


async def test_a_server_that_can_make_no_grammar_of_large_bounds_gets_small_ones(bench: Any) -> None:
    def too_large(seen: SeenRequest) -> bool:
        form = seen.body.get("response_format", {}).get("json_schema")
        return bool(form) and form["schema"]["properties"]["text"]["maxLength"] >= 2_000

    server = bench.serve(
        says('{"text": "' + "x" * 3_000 + '"}'),
        faults=when(too_large, [Fault("bad_request", text="failed to parse grammar")] * 9),
    )
    models = bench.models()
    for n in range(2):
        answer = await models.structured("basic", [HumanMessage(str(n))], Long, purpose="answer")
        assert len(answer.text) == 3_000
    assert [seen.mode for seen in server.requests] == ["json_schema"] * 3
    assert server.finished == 2


async def test_a_form_without_large_bounds_is_not_asked_for_twice(bench: Any) -> None:
    server = bench.serve(says(GOOD), faults=[Fault("bad_request", text="failed to parse grammar")])
    assert (await ask(bench.models())).status == "FINISH"
    assert [seen.mode for seen in server.requests] == ["json_schema", "function_calling"]


async def test_a_set_schema_mode_that_is_refused_ends_the_task_clearly(bench: Any) -> None:
    bench.serve(says(GOOD), refuse=["json_schema"])
    with pytest.raises(ModelUnreachable, match="not supported"):
        await ask(bench.models(structured_mode="json_schema"))


async def test_what_does_not_fit_is_sent_back_with_the_reason(bench: Any) -> None:
    server = bench.serve(says('{"status": "MAYBE", "reason": "hm"}', "no json", GOOD))
    models = bench.models()
    assert (await ask(models)).status == "FINISH"
    last = server.requests[-1].body["messages"]
    assert [m["role"] for m in last] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert "status" in last[3]["content"]
    assert "MAYBE" in last[3]["content"]
    assert "no JSON object" in last[5]["content"]
    assert models.usage.model_calls == 3


async def test_three_replies_of_no_use_end_the_question_the_last_asked_for_in_words(bench: Any) -> None:
    server = bench.serve(says("I would rather not."))
    with pytest.raises(ModelReplyUnusable, match="no usable review in 3 replies"):
        await ask(bench.models())
    assert [seen.mode or "text" for seen in server.requests] == ["json_schema", "function_calling", "text"]
    assert "JSON schema" in server.requests[-1].prompt


async def test_a_form_that_was_asked_for_in_vain_is_asked_for_once_until_it_comes(bench: Any) -> None:
    server = bench.serve(says(*["no"] * 4, GOOD, "no", GOOD))
    models = bench.models()
    for replies in (3, 1):
        with pytest.raises(ModelReplyUnusable, match=f"in {replies} replies"):
            await ask(models)
    assert (await ask(models)).status == "FINISH"
    assert (await ask(models)).status == "FINISH"
    assert len(server.requests) == 3 + 1 + 1 + 2


@pytest.mark.parametrize("bad", ["no json", '{"status": "MAYBE"}', "", "{", "[]", "null"])
async def test_two_replies_of_no_use_and_then_a_good_one_are_an_answer(bench: Any, bad: str) -> None:
    bench.serve(says(bad, bad, GOOD))
    assert (await ask(bench.models())).status == "FINISH"


async def test_a_refused_mode_is_learnt_once_for_all_roles_and_tasks(bench: Any) -> None:
    """Even where nothing that can be used came of it."""
    server = bench.serve(says("no"), refuse=MODES[:3])
    with pytest.raises(ModelReplyUnusable):
        await ask(bench.models())
    (bench.folder / "tape.jsonl").unlink()
    server.answer = says(GOOD)
    before = len(server.requests)
    models = bench.models()
    await models.structured("judge", ASK, Review, purpose="review")
    await models.structured("builder", ASK, Review, purpose="plan")
    assert [seen.mode for seen in server.requests[before:]] == ["", ""]


async def test_what_a_server_says_of_one_schema_is_not_said_of_all(bench: Any) -> None:
    wrong = Fault("bad_request", text="Invalid schema for function 'Review': 'format' is not supported in schema")
    server = bench.serve(says(GOOD), refuse=["json_schema"], faults=[None, wrong])
    await ask(bench.models())
    assert "tools" not in bench.modes.quirks.of(server.base_url, "m").refused


async def test_over_long_values_are_cut_and_not_refused(bench: Any) -> None:
    bench.serve(says('{"status": "FINISH", "reason": "' + "x" * 500 + '", "tags": ["a", "b", "c", "d"]}'))
    review = await ask(bench.models())
    assert (len(review.reason), review.tags) == (40, ["a", "b", "c"])


@pytest.mark.parametrize("kind", ["empty", "cut", "malformed_json", "server_error", "drop", "no_usage"])
async def test_faults_on_the_way_cost_a_try_and_no_more(bench: Any, kind: FaultKind) -> None:
    bench.serve(says(GOOD), faults=[kind])
    assert (await ask(bench.models())).status == "FINISH"


async def test_malformed_arguments_of_the_answers_own_call_are_corrected(bench: Any) -> None:
    bench.serve(says(GOOD), refuse=["json_schema"], faults=[None, "malformed_arguments"])
    assert (await ask(bench.models())).status == "FINISH"


async def test_a_refusal_is_not_asked_again(bench: Any) -> None:
    server = bench.serve(says(GOOD), faults=["refusal"])
    with pytest.raises(ModelReplyUnusable, match="refuses to answer"):
        await ask(bench.models())
    assert len(server.requests) == 1


async def test_a_resumed_process_that_has_learnt_nothing_replays_the_very_sequence(bench: Any) -> None:
    server = bench.serve(says("what?", GOOD), refuse=["json_schema", "json_mode"])
    first = bench.models()
    review = await ask(first)
    asked = len(server.requests)
    bench.fresh_process()
    second = bench.models()
    assert await ask(second) == review
    assert len(server.requests) == asked
    assert second.usage == first.usage
    await second.structured("basic", [HumanMessage("another")], Review, purpose="review")
    assert [seen.mode for seen in server.requests[asked:]] == ["function_calling"]


async def test_a_process_that_has_learnt_another_mode_replays_it_too(bench: Any) -> None:
    server = bench.serve(says(GOOD), refuse=["json_schema"])
    review = await ask(bench.models())
    asked = len(server.requests)
    assert await ask(bench.models()) == review
    replay = bench.models(replay_only=True)
    assert await ask(replay) == review
    assert len(server.requests) == asked


async def test_a_users_model_that_translates_tools_is_asked_by_a_call(bench: Any) -> None:
    class Translating(ScriptedModel):
        def bind_tools(self, tools: Any, *, tool_choice: Any = None, **kwargs: Any) -> Any:
            return self.bind(tools=list(tools), choice=tool_choice)

    call: Any = {"name": "Review", "args": {"status": "RETRY", "reason": "r"}, "id": "1"}
    own = Translating(script=[AIMessage("", tool_calls=[call])])
    models = Models(
        ModelsSettings(),
        tape=Tape(bench.folder / "t"),
        emit=bench.sink.emit,
        budget=Budget(),
        clients=lambda role, settings: own,
        modes=bench.modes,
    )
    assert (await ask(models)).status == "RETRY"
    assert own.asked[0][1]["choice"] == "any"


def test_only_openai_itself_is_sent_strict_schemas() -> None:
    for where, strict in (("https://api.openai.com/v1", True), ("http://127.0.0.1:1/v1", None)):
        client = Client(ScriptedModel(script=[]), "m", where, RoleSettings())
        asked = Conversation("basic", list(ASK), Review, "review").exchange(client, "json_schema", refusable=True)
        form = (asked.wire.response_format or {})["json_schema"]
        assert form.get("strict") is strict
        assert ("maxLength" in str(form["schema"])) is (strict is None)
