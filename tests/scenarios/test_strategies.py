"""What a user would lose: another answer, or no tools, because their model cannot call functions or streams."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from habilis import Team, load_settings
from habilis.core.types import TaskResult
from habilis.demo import reply
from habilis.testing import Fault, RecordingSink, ScriptedServer, SeenRequest, in_plain_text

from ..marks import PROMISE
from .conftest import LONG, World

TASKS = [
    "What is 2+3*4?",
    "What is the average price in sales.csv?",
    "What is the sum of price in sales.csv?",
    "What is the highest price in sales.csv?",
    "How many rows does sales.csv have?",
    "Is 97 a prime number?",
    "What is the greatest common divisor of 84 and 36?",
    "How many days are between 2024-01-01 and 2024-03-01?",
    "What is 15 % of 80?",
    "What is the factorial of 10?",
]


async def solve(world: World, server: ScriptedServer, name: str, question: str, *settings: str) -> TaskResult:
    loaded = load_settings(
        overrides=[
            f"runs_dir={world.home / name}",
            f"models.basic.base_url={server.base_url}",
            "models.basic.model=scripted",
            LONG,
            *settings,
        ]
    )
    return await Team(loaded, library=world.home / name / "library").run(question, base=world.home)


async def compare(world: World, questions: list[str]) -> None:
    with ScriptedServer(in_plain_text(reply)) as plain:
        for question in questions:
            found = []
            for stream in ("false", "true"):
                asked = [f"models.basic.stream={stream}"]
                found.append(
                    await solve(
                        world, world.server, f"f{stream}", question, *asked, "models.basic.strategy=function_call"
                    )
                )
                found.append(
                    await solve(world, plain, f"t{stream}", question, *asked, "models.basic.strategy=react_text")
                )
            assert {one.status for one in found} == {"answered"}, question
            assert len({one.final_answer for one in found}) == 1, question
            assert len({one.tools_used for one in found}) == 1, question
            assert found[0].tools_used
        assert not any(seen.body.get("tools") for seen in plain.requests)
        streamed = [seen for seen in plain.requests if seen.body.get("stream")]
        assert streamed


@pytest.mark.slow
async def test_a_task_is_answered_alike_by_functions_and_as_text_streamed_or_not(world: World) -> None:
    await compare(world, TASKS[1:2])


@pytest.mark.slow
async def test_ten_tasks_are_answered_alike_by_functions_and_as_text_streamed_or_not(world: World) -> None:
    await compare(world, TASKS)


@pytest.mark.parametrize(
    ("strategy", "stream"),
    [
        ("react_text", "true"),
        pytest.param("function_call", "true", marks=PROMISE),
        pytest.param("function_call", "false", marks=PROMISE),
        pytest.param("react_text", "false", marks=PROMISE),
    ],
)
async def test_anthropic_answers_alike_with_the_same_tools(world: World, strategy: str, stream: str) -> None:
    pytest.importorskip("langchain_anthropic", reason="the extra anthropic is not installed")
    with ScriptedServer(reply if strategy == "function_call" else in_plain_text(reply)) as server:
        asked = ["models.basic.provider=anthropic", f"models.basic.base_url={server.anthropic_url}"]
        asked += [f"models.basic.strategy={strategy}", f"models.basic.stream={stream}"]
        found = await solve(world, server, "anthropic", TASKS[1], *asked)
        same = await solve(world, world.server, "openai", TASKS[1])
    assert (found.status, found.final_answer, found.tools_used) == ("answered", "20", same.tools_used)
    assert {seen.path for seen in server.requests} == {"/v1/messages"}
    assert found.usage.prompt_tokens > 0


async def test_anthropic_gets_its_thinking_back_through_a_whole_task(world: World) -> None:
    pytest.importorskip("langchain_anthropic", reason="the extra anthropic is not installed")
    with ScriptedServer() as server:
        asked = ["models.basic.provider=anthropic", f"models.basic.base_url={server.anthropic_url}"]
        asked += ["models.basic.options={thinking: {type: enabled, budget_tokens: 1024}}"]
        found = await solve(world, server, "thinking", TASKS[1], *asked)
    # The server refuses calls in a history that come without the thinking before them.
    assert (found.status, found.final_answer) == ("answered", "20")
    assert any("signed-" in json.dumps(seen.body) for seen in server.requests)
    assert {seen.status for seen in server.requests} == {200}


async def test_a_server_that_wants_thoughts_back_gets_its_own_through_a_whole_task(world: World) -> None:
    def thinking(*asked: Any) -> AIMessage:
        said = reply(*asked)
        return said.model_copy(update={"additional_kwargs": {"reasoning_content": f"I think, {len(asked[0])}."}})

    def without_thoughts(seen: SeenRequest) -> Fault | None:
        rows = [row for row in seen.body["messages"] if row["role"] == "assistant"]
        text = "The `reasoning_content` in the thinking mode must be passed back to the API."
        return Fault("bad_request", text=text) if any(not row.get("reasoning_content") for row in rows) else None

    with ScriptedServer(thinking, faults=without_thoughts) as server:
        found = await solve(world, server, "thoughts", TASKS[1])
    assert (found.status, found.final_answer) == ("answered", "20")
    assert [seen.status for seen in server.requests].count(400) == 1
    assert any("I think, 2." in json.dumps(seen.body["messages"]) for seen in server.requests)


async def test_a_task_asked_as_text_resumes_and_replays_without_paying_twice(world: World) -> None:
    question = TASKS[1]
    with ScriptedServer(in_plain_text(reply), faults=[None] * 3 + ["unauthorized"]) as plain:
        loaded = [f"models.basic.base_url={plain.base_url}", "models.basic.strategy=react_text"]
        stopped = await world.team(LONG, *loaded).run(question, base=world.home)
        assert stopped.status == "unreachable"
        result = await world.team(LONG, *loaded).resume(Path(stopped.run_dir))
        assert (result.status, result.final_answer) == ("answered", "20")
        assert plain.repeated() == []
        paid = sum(seen.finished for seen in plain.requests)
        assert result.usage.model_calls >= paid
        asked = len(plain.requests)
        again = await world.team(LONG, *loaded).run(question, base=world.home, replay=Path(result.run_dir))
        assert (again.final_answer, len(plain.requests)) == ("20", asked)


async def test_a_server_that_knows_no_chat_is_enough_for_the_executor(world: World) -> None:
    with ScriptedServer(in_plain_text(reply)) as plain:
        result = await solve(world, plain, "completion", TASKS[1], "models.basic.strategy=react_completion")
        assert (result.status, result.final_answer) == ("answered", "20")
        assert any(seen.path.endswith("/v1/completions") for seen in plain.requests)


async def test_what_the_model_can_is_found_out_in_the_middle_of_a_task(world: World) -> None:
    sink = RecordingSink()
    with ScriptedServer(in_plain_text(reply), models=["only-text"]) as plain:
        loaded = [f"models.basic.base_url={plain.base_url}", "models.basic.model=only-text"]
        result = await world.team(LONG, *loaded, sink=sink).run(TASKS[1], base=world.home)
    assert (result.status, result.final_answer) == ("answered", "20")
    assert any("calls are written as text" in event.text for event in sink.of("notice"))


async def test_a_budget_ends_work_as_text_and_keeps_it(world: World) -> None:
    with ScriptedServer(in_plain_text(reply)) as plain:
        loaded = [f"models.basic.base_url={plain.base_url}", "models.basic.strategy=react_text"]
        stopped = await world.team(LONG, *loaded, "limits.max_tokens=1800").run(TASKS[1], base=world.home)
        assert stopped.status == "budget"
        result = await world.team(LONG, *loaded).resume(Path(stopped.run_dir))
        assert (result.status, result.final_answer) == ("answered", "20")
        assert plain.repeated() == []


async def test_what_is_streamed_is_shown_and_only_the_whole_is_recorded(world: World) -> None:
    sink = RecordingSink()
    result = await world.team(LONG, "models.basic.stream=true", sink=sink).run(TASKS[0], base=world.home)
    assert result.final_answer == "14"
    pieces = sink.of("thought_piece")
    thoughts = [event for event in sink.of("thought") if event.stage == "replied"]
    for thought in thoughts:
        assert "".join(piece.text for piece in pieces if piece.position == thought.position) == thought.thought
    recorded = (Path(result.run_dir) / "tasks" / result.task_id / "events.jsonl").read_text(encoding="utf-8")
    assert "thought_piece" not in {json.loads(line)["kind"] for line in recorded.splitlines()}
