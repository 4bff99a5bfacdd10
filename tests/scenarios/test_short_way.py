"""The short way: a question of one job, for which there is no tool, costs four calls. So does one whose words a tool
answered before. No claim comes without a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.tool import tool_call

from habilis import load_settings
from habilis.agents.short_way import plan_as_before
from habilis.contract.expectations import MAX_CALLS
from habilis.core.types import CallOutcome, TaskResult, ToolCard
from habilis.curation.absorb import absorb_task
from habilis.models.tape import Tape
from habilis.testing import RecordingSink

from .conftest import LONG, World

QUESTION = "What is the total price in sales.csv?"
MODULE = """```python
import csv
from decimal import Decimal
from pydantic import BaseModel

__TOOL_META__ = {
    "name": "total_of_column",
    "description": "Add up the numbers in a column of a CSV file.",
    "effects": "reads",
}


class InputModel(BaseModel):
    path: str
    column: str


class OutputModel(BaseModel):
    total: int | Decimal | None = None
    error: str | None = None


def run(input: InputModel) -> OutputModel:
    with open(input.path, encoding="utf-8-sig", newline="") as file:
        total = sum((Decimal(row[input.column]) for row in csv.DictReader(file)), Decimal(0))
    return OutputModel(total=int(total) if total == total.to_integral_value() else total)
```
"""
CALL = '```json\n{"path": "sales.csv", "column": "price"}\n```'
BROKEN = MODULE.replace("Decimal(row[input.column])", "Decimal(row['no such column'])")
EMPTY = MODULE.replace("OutputModel(total=", "OutputModel() if True else OutputModel(total=")
STRANGE, TORN = MODULE.replace("import csv", "import no_such_package"), MODULE.replace("def run(input", "def run(")
WRITES = MODULE.replace('"reads"', '"writes"').replace(
    "    return OutputModel(", '    open("note.txt", "w").write("x")\n    return OutputModel('
)
EXPECTED = (
    '{"arguments": {"path": "s.csv", "column": "a"}, "expected": {"total": 3}, "files": {"s.csv": "a\\n1\\n2\\n"}}'
)
REQUEST = {
    "name": "total_of_column",
    "description": "Add up the numbers in a column of a CSV file.",
    "parameters": [{"name": "path", "type": "string"}, {"name": "column", "type": "string"}],
    "returns": [{"name": "total", "type": "number"}],
}
KINDS = {
    "<job>": "outright",
    "<tool_request>": "build",
    "<tool_code": "build",
    "<tested_tool>": "calls",
    "<candidates>": "plan",
    "<invocations>": "review",
    "<findings>": "answer",
}


class Strong:
    """A model that does every job right but for what a test has it say, once each, in order, by the kind of request."""

    def __init__(self, **said: Any) -> None:
        self.said = {kind: list(replies) for kind, replies in said.items()}
        self.asked: list[str] = []
        self.plans: list[str] = []

    def __call__(self, messages: list[BaseMessage], tools: list[Any], form: Any) -> AIMessage:
        last = str(messages[-1].content)
        kind = next((kind for tag, kind in KINDS.items() if tag in last), "step")
        self.asked.append(kind)
        if kind == "plan":
            self.plans.append(last)
        said = self.said.get(kind)
        reply = said.pop(0) if said else getattr(self, f"_{kind}")(messages, tools)
        if isinstance(reply, AIMessage):
            return reply
        return AIMessage(reply if isinstance(reply, str) else json.dumps(reply))

    def _outright(self, messages: list[BaseMessage], tools: list[Any]) -> str:
        return MODULE + CALL

    def _build(self, messages: list[BaseMessage], tools: list[Any]) -> str:
        return MODULE

    def _calls(self, messages: list[BaseMessage], tools: list[Any]) -> str:
        return EXPECTED

    def _plan(self, messages: list[BaseMessage], tools: list[Any]) -> dict[str, Any]:
        if "- total_of_column(" in str(messages[-1].content):
            return {"required_tool_names": [{"name": "total_of_column", "serves": "the total price"}]}
        return {"tool_requests": [REQUEST]}

    def _step(self, messages: list[BaseMessage], tools: list[Any]) -> AIMessage | str:
        results = [str(message.content) for message in messages if message.type == "tool"]
        if results and "rror" not in results[-1].replace('"error":null', "").replace('"error": null', ""):
            return f"The total price in sales.csv is {json.loads(results[-1])['total']}."
        call = tool_call(name="total_of_column", args={"path": "sales.csv", "column": "price"}, id="c")
        return AIMessage("", tool_calls=[call])

    def _review(self, messages: list[BaseMessage], tools: list[Any]) -> dict[str, str]:
        return {"reason": "The result of the call is what was asked for.", "status": "FINISH"}

    def _answer(self, messages: list[BaseMessage], tools: list[Any]) -> dict[str, str]:
        told = str(messages[-1].content)
        value = told.partition('"total":')[2].strip().strip('"').split('"')[0].split(",")[0].strip(" }")
        value = value or told.partition("sales.csv is ")[2].partition(".\n")[0]
        return {"final_answer": value, "reasoning_summary": "The prices were added up."}


async def run(
    world: World,
    model: Callable[..., AIMessage],
    *settings: str,
    name: str = "short",
    sink: RecordingSink | None = None,
    question: str = QUESTION,
) -> TaskResult:
    world.server.answer = model
    team = world.team(*settings, sink=sink)
    return await team.run(question, base=world.home, run_dir=world.home / "runs" / name)


async def test_four_calls_answer_a_question_for_which_there_is_no_tool(world: World) -> None:
    short, long = Strong(), Strong()
    result = await run(world, short)
    assert (result.status, result.final_answer) == ("answered", "60")
    assert short.asked == ["outright", "calls", "answer", "review"]
    assert result.usage.model_calls == world.server.finished == 4
    assert result.usage.prompt_tokens <= 2_200
    before = await run(world, long, LONG, name="long")
    assert (before.status, before.final_answer) == ("answered", "60")
    assert long.asked == ["plan", "build", "calls", "step", "step", "review", "answer"]


async def test_how_one_call_found_the_answer_is_told_by_what_ran(world: World) -> None:
    result = await run(world, Strong(answer=[{"final_answer": "60", "reasoning_summary": "I added them by hand."}]))
    told = '`total_of_column` with {"path": "sales.csv", "column": "price"} gave {"total": 60}'
    assert (result.final_answer, result.reasoning_summary) == ("60", told)
    (asked,) = [r.body for r in world.server.requests if "<findings>" in str(r.body["messages"][-1]["content"])]
    assert "reasoning_summary" not in json.dumps(asked), "what is known need not be written by a model"


async def test_calls_beyond_those_that_are_asked_for_are_not_waited_for(world: World) -> None:
    await run(world, Strong())
    (asked,) = [r.body for r in world.server.requests if "<tested_tool>" in str(r.body["messages"][-1]["content"])]
    assert asked["stop"] == [f"\n{MAX_CALLS + 1}."]


async def test_the_first_call_stands_in_the_record_like_any_other(world: World) -> None:
    sink = RecordingSink()
    result = await run(world, Strong(), sink=sink)
    (call,) = result.invocations
    assert (call.tool, call.arguments) == ("total_of_column", {"path": "sales.csv", "column": "price"})
    assert (call.outcome.output, call.verdict, call.attempt) == ({"total": 60, "error": None}, "success", 1)
    assert call.outcome.opened == (str(world.home / "sales.csv"),)
    assert call.outcome.level == result.sandbox_level
    assert sink.of("planned")[0].plan.by == "rule"
    assert [event.call_id for event in (*sink.of("tool_call_started"), *sink.of("tool_call_ended"))] == [
        call.call_id
    ] * 2
    folder = Path(result.run_dir) / "tasks" / "task"
    tape = Tape(folder / "tape.jsonl")
    assert isinstance(tape.call_state(call.call_id), CallOutcome)
    tape.close()
    lines = (folder / "tools" / "records" / "total_of_column.jsonl").read_text(encoding="utf-8").splitlines()
    (used,) = [record for line in lines if (record := json.loads(line)).get("kind", "used") == "used"]
    assert used["arguments"] == call.arguments
    assert list(used["files"]) == ["sales.csv"], "a later version is tried on what this one was"


@pytest.mark.parametrize(
    ("prices", "total"),
    [
        ("0.10\n0.20\n", "0.30"),
        ("12345678901234567890\n1\n", "12345678901234567891"),
        ("1234567890123.45\n0.05\n", "1234567890123.50"),
        ("10\n20\n", "30"),
    ],
)
async def test_exact_values_stay_exact(world: World, prices: str, total: str) -> None:
    (world.home / "sales.csv").write_text(f"price\n{prices}", encoding="utf-8")
    result = await run(world, Strong())
    assert (result.status, result.final_answer) == ("answered", total)


# --- what does not end well goes the long way, with what was made

NO_ANSWER = {"answer": [{"final_answer": "", "reasoning_summary": ""}]}
INVENTED = {"answer": [{"final_answer": text, "reasoning_summary": ""} for text in ("61", "62")]}
REFUSED = {"review": [{"reason": "It is another column.", "status": "RETRY"}]}
LOST = MODULE + CALL.replace("sales", "lost")
Said = dict[str, list[Any]]


@pytest.mark.parametrize(
    ("said", "alone"),
    [
        pytest.param({"outright": ["NONE"]}, {}, id="its writer declines"),
        pytest.param({"outright": ["```python\nNONE\n```"]}, {}, id="its writer declines in a block of code"),
        pytest.param({"outright": [MODULE]}, {}, id="no call stands beside the module"),
        pytest.param({"outright": [LOST]}, {}, id="a call with a file that is not there"),
        pytest.param({"outright": [BROKEN + CALL]}, {}, id="the trial fails once"),
        pytest.param(
            {"outright": [STRANGE + CALL, TORN + CALL]}, {"build": [STRANGE, TORN]}, id="its writer fails twice"
        ),
        pytest.param(NO_ANSWER, {}, id="no answer"),
        pytest.param(INVENTED, {}, id="an invented answer"),
        pytest.param(REFUSED, REFUSED, id="the review refuses"),
    ],
)
async def test_what_does_not_end_well_costs_at_most_one_call_more(world: World, said: Said, alone: Said) -> None:
    """… than the long way alone, with a model that fails as often there."""
    short = Strong(**said)
    result = await run(world, short)
    assert (result.status, result.final_answer) == ("answered", "60"), short.asked
    assert result.tools_made == ("total_of_column",), "what was made is kept, and made once"
    long = Strong(**alone)
    before = await run(world, long, LONG, name="long")
    assert (before.status, before.final_answer) == ("answered", "60"), long.asked
    assert len(short.asked) <= len(long.asked) + 1, (short.asked, long.asked)


# --- a question whose words a tool of the library answered before

OTHER_FILE = "What is the total price in more_sales.csv?"


def _add_up(path: str) -> AIMessage:
    call = tool_call(name="total_of_column", args={"path": path, "column": "price"}, id=f"c-{path}")
    return AIMessage("", tool_calls=[call])


OTHER_STEPS = [_add_up("more_sales.csv")]


@pytest.fixture
async def learnt(world: World) -> World:
    """A library whose one tool answered QUESTION."""
    (world.home / "more_sales.csv").write_text("region,price\nnorth,3\nsouth,4\n", encoding="utf-8")
    first = await run(world, Strong(), name="first")
    absorbed = await absorb_task(
        first, world.home / "library", load_settings(overrides=[f"runs_dir={world.home}/runs"])
    )
    assert absorbed is not None
    assert [line.tool.split("@")[0] for line in absorbed.lineage] == ["total_of_column"]
    return world


async def test_the_same_words_about_another_file_need_no_plan_by_a_model(learnt: World) -> None:
    model, sink = Strong(step=OTHER_STEPS), RecordingSink()
    result = await run(learnt, model, sink=sink, question=OTHER_FILE)
    assert (result.status, result.final_answer) == ("answered", "7")
    assert model.asked == ["step", "answer", "review"]
    assert result.usage.prompt_tokens <= 1_200
    (planned,) = sink.of("planned")
    assert (planned.plan.by, planned.plan.reuse, planned.offered) == ("rule", *[("total_of_column",)] * 2)


async def test_other_words_are_planned_by_a_model(learnt: World) -> None:
    model = Strong()
    result = await run(learnt, model, question="What is the total price of all rows in sales.csv?")
    assert (result.status, result.final_answer) == ("answered", "60")
    assert model.asked == ["plan", "step", "answer", "review"]


@pytest.mark.parametrize(
    ("question", "said", "answer"),
    [
        ("What is the total price of all rows in sales.csv, and in which region is it highest?", {}, "60"),
        (
            "What is the total price of all rows in sales.csv?",
            {"answer": [{"final_answer": "about 60 thousand"}] * 2},
            "60",
        ),
        (
            "What is the total price of all rows over sales.csv, more_sales.csv?",
            {
                "step": [_add_up("sales.csv"), _add_up("more_sales.csv"), "The totals are 60 and 7."],
                "answer": [{"final_answer": "60 and 7"}],
            },
            "60 and 7",
        ),
    ],
    ids=["more than one job", "an answer that its call does not bear out", "two files"],
)
async def test_what_one_call_may_not_settle_is_told_by_a_step(
    learnt: World, question: str, said: Said, answer: str
) -> None:
    model = Strong(**said)
    result = await run(learnt, model, question=question)
    assert (result.status, result.final_answer) == ("answered", answer)
    assert model.asked[:2] == ["plan", "step"]
    assert model.asked[-3:] == ["step", "review", "answer"]


async def test_a_question_to_the_user_is_no_call_to_answer_from(learnt: World) -> None:
    asks = AIMessage("", tool_calls=[tool_call(name="ask_user", args={"question": "Net or gross?"}, id="a")])
    model = Strong(step=[asks, _add_up("sales.csv")])
    waiting = await run(learnt, model, question="What is the total price of all rows in sales.csv?")
    assert (waiting.status, waiting.question_asked) == ("waiting", "Net or gross?")
    result = await learnt.team().resume(Path(waiting.run_dir), answer="Net.")
    assert (result.status, result.final_answer) == ("answered", "60")
    assert model.asked == ["plan", "step", "step", "step", "review", "answer"]


async def test_a_tool_used_again_in_vain_is_followed_by_a_plan_that_builds(learnt: World) -> None:
    """The tool is there and is no good for this question: what answered before is no promise."""
    model = Strong(review=REFUSED["review"], plan=[{"tool_requests": [{**REQUEST, "name": "sum_of_prices"}]}])
    result = await run(learnt, model, "limits.max_attempts=2")
    assert model.asked[:4] == ["step", "answer", "review", "plan"]
    assert "- total_of_column\n" in model.plans[0].partition("<tried>")[2]
    assert (result.status, result.final_answer) == ("answered", "60")


def _card(name: str, *answered: str) -> ToolCard:
    return ToolCard(name=name, description="Add up a column.", answered=answered)


@pytest.mark.parametrize(
    ("cards", "reused"),
    [
        ([_card("a", OTHER_FILE), _card("b")], ("a",)),
        ([_card("a", "What is the mean price in sales.csv?")], None),
        ([_card("a", OTHER_FILE), _card("b", OTHER_FILE)], None),
        ([_card("a")], None),
    ],
    ids=["one", "another operation", "two, each of which may have done a part", "never asked"],
)
def test_only_one_tool_that_answered_the_same_words_is_used_without_a_plan(
    cards: list[ToolCard], reused: tuple[str, ...] | None
) -> None:
    plan = plan_as_before(QUESTION, cards)
    assert (plan.reuse if plan else None) == reused
