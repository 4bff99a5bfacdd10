"""What a weak model is not shown it cannot misuse: no tool that does not fit, none that the task cannot feed."""

from __future__ import annotations

from pathlib import Path

import pytest

from habilis.terminal.wording import plan_text

from .conftest import Script, Stage, call, calling, tool_source

AVERAGE = tool_source(
    "average_of_column",
    "return OutputModel(result=2)",
    "path: str\n    column: str",
    description="Average of a numeric column in a CSV file.",
)
SALES = "region,price\nnorth,1\nsouth,3\n"


def candidates(script: Script, nth: int = 0) -> str:
    prompt = str(script.of("plans")[nth][0][-1].content)
    return prompt.split("<candidates>")[1].split("</candidates>")[0].strip()


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("What is the highest price in sales.csv?", False),
        ("What is 48317 times 9274?", False),
        ("What is the SHA-256 of sales.csv?", False),
        ("How many days are there from 2024-02-10 to 2025-03-01?", False),
        ("What is the average of 3, 4 and 5?", False),  # a path, and no file
        ("What is the average price in sales.csv?", True),
    ],
)
async def test_the_one_tool_of_a_library_is_shown_where_it_fits(stage: Stage, question: str, shown: bool) -> None:
    stage.add("average_of_column", AVERAGE)
    (stage.root / "sales.csv").write_text(SALES)
    script = Script(["42"])
    await stage.play(script, question=question)
    assert candidates(script).startswith("- average_of_column(" if shown else "none")


async def test_the_rules_of_a_plan_are_the_same_whatever_the_library_holds(stage: Stage) -> None:
    (stage.root / "sales.csv").write_text(SALES)
    question = "What is the average price in sales.csv?"
    empty, full = Script(["42"]), Script(["42"])
    await stage.play(empty, question=question)
    stage.add("average_of_column", AVERAGE)
    await stage.team(full).run(question, run_dir=stage.root / "second", base=stage.root)
    assert candidates(empty) == "none"
    assert candidates(full) != "none"
    assert str(empty.of("plans")[0][0][0].content) == str(full.of("plans")[0][0][0].content)
    assert empty.of("steps")[0][1] == full.of("steps")[0][1]


async def test_a_plan_whose_word_gives_its_only_tool_away_is_sent_back_once(stage: Stage) -> None:
    stage.add("average_of_column", AVERAGE)
    (stage.root / "sales.csv").write_text(SALES)
    misfit = {"required_tool_names": [{"name": "average_of_column", "serves": "finds the highest price"}]}
    fair = {"required_tool_names": [{"name": "average_of_column", "serves": "the average price"}]}
    script = Script(["42"], plans=[misfit, fair])
    await stage.play(script, question="What are the average and the highest price in sales.csv?")
    assert "highest, not average" in str(script.asked[1][1][-1].content)
    planned = stage.sink.of("planned")[0].plan
    assert planned.serves == {"average_of_column": "the average price"}
    assert plan_text(planned.model_dump()).startswith("use average_of_column: the average price")


async def test_a_tool_that_makes_files_keeps_those_that_need_one(stage: Stage) -> None:
    stage.add("average_of_column", AVERAGE)
    draw = tool_source("draw_numbers", "return 1", "n: int", description="Draw numbers by lot.", effects="writes")
    stage.add("draw_numbers", draw)
    script = Script(["42"])
    await stage.play(script, question="Draw numbers by lot and give me the average of the column.")
    assert "average_of_column" in candidates(script)
    assert "draw_numbers" in candidates(script)


async def test_nobody_is_offered_where_nobody_is_and_who_asks_all_the_same_is_told(stage: Stage) -> None:
    script = Script([calling(call("ask_user", {"question": "Which?"}, "q")), "42"])
    result = await stage.team(script, alone=True).run("Is it 42 or 43?", run_dir=stage.root / "run", base=stage.root)
    assert script.of("steps")[0][1] == []
    assert "Nobody is there" in str(script.of("steps")[1][0][-1].content)
    assert result.status == "answered"


async def test_an_image_that_a_tool_made_can_be_looked_at_from_then_on(stage: Stage) -> None:
    body = "open('chart.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n')\nreturn OutputModel(result='chart.png')"
    stage.add("draw_chart", tool_source("draw_chart", body, description="Draw a chart.", effects="writes"))
    plan = {"required_tool_names": ["draw_chart"]}
    script = Script([calling(call("draw_chart", {"x": 1})), "It shows a chart."], plans=[plan])
    await stage.play(script, question="Draw a chart and say what it shows.")
    bound = [[tool["function"]["name"] for tool in tools] for _, tools in script.of("steps")]
    assert bound == [["draw_chart", "ask_user"], ["draw_chart", "image_text_query", "ask_user"]]
    assert Path(stage.root / "run").is_dir()
