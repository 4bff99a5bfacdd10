"""Questions that only the user's documents answer, and tools of the web that are there only where they are granted."""

import json
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage

from habilis.core.errors import UserError
from habilis.testing import RecordingSink

from .conftest import World

QUESTION = "What does the handbook say about the notice period?"
HANDBOOK = """# Handbook

## Leave

Everybody has thirty days of leave a year.

## Leaving

The notice period is three months, to the end of a month.
"""
SENTENCE = "The notice period is three months, to the end of a month."
SOURCE = "handbook.md, Handbook > Leaving, line 9"


@pytest.fixture
def documents(world: World) -> str:
    folder = world.home / "documents"
    folder.mkdir()
    (folder / "handbook.md").write_text(HANDBOOK, encoding="utf-8")
    (folder / "canteen.txt").write_text("Lunch is served from noon to two.", encoding="utf-8")
    return f"knowledge.folders=[{json.dumps(str(folder))}]"


async def test_an_answer_out_of_documents_carries_its_source(world: World, documents: str) -> None:
    result = await world.team(documents).run(QUESTION, base=world.home)
    assert (result.status, result.final_answer) == ("answered", f"{SENTENCE} [{SOURCE}]")
    assert result.tools_made == ()
    (call,) = result.invocations
    assert call.tool == "search_documents"
    assert call.outcome.output["passages"][0]["source"] == SOURCE


async def test_the_model_that_writes_the_answer_is_given_the_sources_to_cite(world: World, documents: str) -> None:
    asked = []
    offline = world.server.answer

    def answer(messages, tools, form):  # type: ignore[no-untyped-def]
        text = str(messages[-1].content)
        if "<findings>" not in text:
            return offline(messages, tools, form)
        asked.append(f"{messages[0].content}\n{text}")
        return AIMessage(json.dumps({"final_answer": f"Three months [{SOURCE}]", "reasoning_summary": ""}))

    world.server.answer = answer
    result = await world.team(documents).run(QUESTION, base=world.home)
    assert result.final_answer == f"Three months [{SOURCE}]"
    assert f"<sources>\n- {SOURCE}" in asked[0]
    assert "each in square brackets" in asked[0]
    asked.clear()
    await world.team().run("What is 2+3*4?", base=world.home)
    assert "sources" not in asked[0]  # other tasks pay no word for it


async def test_what_the_documents_do_not_say_is_not_answered(world: World, documents: str) -> None:
    result = await world.team(documents).run("What does the handbook say about football results?", base=world.home)
    assert result.status == "gave_up"
    assert "notice period" not in result.final_answer


async def test_other_questions_are_answered_as_ever_beside_documents(world: World, documents: str) -> None:
    result = await world.team(documents).run("What is the average price in sales.csv?", base=world.home)
    assert (result.status, result.final_answer) == ("answered", "20")
    assert "search_documents" not in result.tools_used


async def test_a_folder_that_is_not_there_ends_the_task_before_a_model_is_asked(world: World) -> None:
    with pytest.raises(UserError, match=r"knowledge\.folders: .*nowhere is not a folder"):
        await world.team(f"knowledge.folders=[{world.home}/nowhere]").run(QUESTION, base=world.home)
    assert world.server.requests == []


async def test_without_a_grant_the_tools_of_the_web_are_absent_and_named(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TAVILY_API_KEY", raising=False)
    sink = RecordingSink()
    team = world.team("web.read_page=true", "web.search.service=tavily", sink=sink)
    result = await team.run("What is 2+3*4?", base=world.home)
    assert (result.status, result.final_answer) == ("answered", "14")
    told = " ".join(notice.text for notice in sink.of("notice"))
    assert "read_page: network *: nobody is there to be asked" in told
    assert "web_search: env TAVILY_API_KEY: not set" in told
    assert not any("read_page" in json.dumps(request.body) for request in world.server.requests)
    offered = RecordingSink()
    granted = world.team("web.read_page=true", "capabilities.network_list=[example.org]", sink=offered)
    await granted.run("What is 2+3*4?", base=world.home, run_dir=world.home / "runs" / "granted")
    assert not any("read_page" in notice.text for notice in offered.of("notice"))
    assert any("- read_page(url)" in json.dumps(request.body) for request in world.server.requests)


async def test_a_resumed_or_replayed_task_searches_no_second_time(world: World, documents: str) -> None:
    first = await world.team(documents).run(QUESTION, base=world.home)
    again = await world.team(documents).run(QUESTION, base=world.home, replay=Path(first.run_dir))
    assert (again.status, again.final_answer) == ("answered", first.final_answer)
