"""One question about a file of the user's own, from plan to answer, over the real protocol."""

import json
from pathlib import Path

import pytest

from habilis import Team
from habilis.testing import RecordingSink

from ..openfiles import held_back, open_files
from .conftest import World

QUESTION = "What is the average price in sales.csv?"


async def test_a_question_about_a_file_is_answered_with_a_tool_that_was_written_proved_and_recorded(
    world: World,
) -> None:
    sink = RecordingSink()
    result = await world.team(sink=sink).run(QUESTION, base=world.home)
    assert (result.status, result.final_answer) == ("answered", "20")
    (tool,) = result.tools_made
    tools = Path(result.run_dir) / "tasks" / "task" / "tools"
    assert "def run(" in (tools / f"{tool}.py").read_text(encoding="utf-8")
    records = [
        json.loads(line) for line in (tools / "records" / f"{tool}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [record.get("kind", "used") for record in records].count("used") == 1
    assert all(record["output"]["error"] is None for record in records)
    assert sink.of("tool_built")[0].smoke == "passed, on the task's own files"
    assert result.usage.model_calls == world.server.finished <= 4
    assert result.usage.prompt_tokens <= 2_200
    assert result.sandbox_level in ("bubblewrap", "landlock")


async def test_a_tool_of_the_library_is_reused_and_costs_less(world: World) -> None:
    first = await world.team().run(QUESTION, base=world.home)
    asked = world.server.finished
    tools = Path(first.run_dir) / "tasks" / "task" / "tools"
    tools.rename(world.home / "library")
    again = await world.team().run("What is the mean price in sales.csv?", base=world.home)
    assert (again.status, again.final_answer, again.tools_made) == ("answered", "20", ())
    assert world.server.finished - asked <= 5
    assert again.usage.prompt_tokens <= 4_000


async def test_a_tool_that_fails_on_harder_input_is_mended_and_used_again(world: World) -> None:
    sink = RecordingSink()
    team = world.team("tools.short_way=false", sink=sink)
    result = await team.run("What is the average price in euro.csv?", base=world.home)
    assert (result.status, result.final_answer) == ("answered", "1500.5")
    assert len(sink.of("tool_enhanced")) == 1
    assert {call.verdict for call in result.invocations} == {"failure", "success"}


async def test_an_empty_file_is_no_number(world: World) -> None:
    result = await world.team().run("What is the average price in empty.csv?", base=world.home)
    assert result.status == "gave_up"
    assert result.error


async def test_a_file_that_is_not_there_is_said(world: World) -> None:
    result = await world.team().run("What is the average price in missing.csv?", base=world.home)
    assert result.status == "gave_up"
    assert "missing.csv" in result.final_answer


async def test_a_task_asked_twice_of_one_team_side_by_side_does_not_mix(world: World) -> None:
    import asyncio

    team = world.team()
    questions = [QUESTION, "What is the sum of price in sales.csv?", "What is 2+3*4?", "What is the gcd of 12 and 18?"]
    results = await asyncio.gather(
        *(team.run(q, base=world.home, run_dir=world.home / "runs" / f"r{n}") for n, q in enumerate(questions))
    )
    assert [r.final_answer for r in results] == ["20", "60", "14", "6"]


async def test_the_same_run_replays_without_a_model(world: World) -> None:
    first = await world.team().run(QUESTION, base=world.home)
    asked = len(world.server.requests)
    again = await world.team().run(QUESTION, base=world.home, replay=Path(first.run_dir))
    assert (again.status, again.final_answer) == ("answered", first.final_answer)
    assert len(world.server.requests) == asked


async def test_a_replay_that_differs_names_the_first_request(world: World) -> None:
    first = await world.team().run(QUESTION, base=world.home)
    (world.home / "sales.csv").write_text("region,price\nnorth,99\n", encoding="utf-8")
    again = await world.team().run(QUESTION, base=world.home, replay=Path(first.run_dir))
    assert again.status == "crashed"
    assert again.error is not None
    assert "write tool" in again.error
    assert "99" in again.error


async def test_a_library_with_broken_files_is_no_obstacle(world: World) -> None:
    library = world.home / "library"
    library.mkdir()
    (library / "broken.py").write_text("def (", encoding="utf-8")
    (library / "odd.py").write_bytes(b"\xff\xfe\x00")
    (library / "notes.txt").write_text("hello", encoding="utf-8")
    result = await world.team().run(QUESTION, base=world.home)
    assert result.status == "answered"
    assert sorted(path.name for path in library.iterdir() if path.is_file() and path.suffix in (".py", ".txt")) == [
        "broken.py",
        "notes.txt",
        "odd.py",
    ]


async def test_events_stream_and_end_with_the_result(world: World) -> None:
    items = [item async for item in world.team().stream(QUESTION, base=world.home)]
    assert items[-1].status == "answered"
    kinds = [getattr(item, "kind", "result") for item in items]
    assert kinds[0] == "task_started"
    assert kinds[-2:] == ["task_ended", "result"]


async def test_tasks_leave_nothing_open(world: World) -> None:
    left = []
    for _ in range(5):
        assert (await world.team().run(QUESTION, base=world.home)).status == "answered"
        left.append(open_files())
    assert held_back(left) == 0, f"a program that asks a thousand questions runs out of files: {left}"


async def test_a_sink_that_raises_changes_nothing(world: World) -> None:
    class Broken:
        def emit(self, event: object) -> None:
            raise RuntimeError("sink")

    team = Team(world.team().settings, library=world.home / "library", sinks=[Broken()])
    assert (await team.run(QUESTION, base=world.home)).status == "answered"


@pytest.mark.parametrize("limit", ["limits.max_tokens=900", "limits.max_tokens=1400"])
async def test_a_used_up_budget_keeps_the_work_and_says_so(world: World, limit: str) -> None:
    result = await world.team(limit).run(QUESTION, base=world.home)
    assert result.status == "budget"
    assert result.tools_made
    resumed = await world.team().resume(Path(result.run_dir))
    assert (resumed.status, resumed.final_answer) == ("answered", "20")
    assert world.server.repeated() == []
