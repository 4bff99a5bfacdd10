"""Whole tasks and trainings that are traced: scripted and offline models, real tools in the real sandbox."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from habilis import Evolution, Team, load_settings
from habilis.core.masker import MASKER
from habilis.curation.ledger.reports import Row
from habilis.rundir import RunDir, read_jsonl

from ..agents.conftest import Script, Stage, call, calling, tool_source
from ..runners import RUNNERS
from .conftest import Collector

QUESTION = "What is 2+3*4?"
ROWS = [Row(id="one", question=QUESTION, answer="14"), Row(id="two", question="What is 5+6?", answer="11")]


@pytest.fixture
def stage(tmp_path: Path, sandbox_level: str) -> Stage:
    return Stage(tmp_path)


def to(collector: Collector, *more: str) -> tuple[str, ...]:
    return (f"telemetry.endpoint={collector.address}", *more)


@pytest.mark.slow
@pytest.mark.promise
async def test_a_task_without_tools_is_traced_and_raises_no_alert(stage: Stage, collector: Collector) -> None:
    result = await stage.play(Script(steps=["It is 42."]), *to(collector))
    assert result.status == "answered"
    task = collector.span("invoke_agent habilis")
    chats = [span for span in collector.spans() if span.name.startswith("chat ")]
    assert len(chats) == result.usage.model_calls == len(stage.sink.of("model_call_ended"))
    assert {span.parent for span in chats} == {task.id}
    assert not any(span.failed for span in collector.spans())
    assert stage.sink.of("alert") == []


@pytest.mark.slow
@pytest.mark.promise
async def test_a_failed_tool_is_a_failed_span_below_its_task(stage: Stage, collector: Collector) -> None:
    stage.add("broken", tool_source("broken", "raise ValueError('the spoon is bent')"))
    script = Script(steps=[calling(call("broken", {"x": 1})), "It is 42."], plans=[{"required_tool_names": ["broken"]}])
    await stage.play(script, *to(collector))
    assert stage.sink.of("tool_call_ended")[0].error
    tool = collector.span("execute_tool broken")
    assert (tool.failed, tool.attributes["error.type"]) == (True, "tool_error")
    assert tool.parent == collector.span("invoke_agent habilis").id
    assert b"spoon" not in collector.raw
    (about, _, count) = collector.points("gen_ai.execute_tool.duration")[0]
    assert (about["error.type"], count) == ("tool_error", 1)


@pytest.mark.slow
@pytest.mark.promise
async def test_a_build_holds_its_calls_and_a_replay_of_it_all_counts_nothing(
    tmp_path: Path, sandbox_level: str, collector: Collector
) -> None:
    settings = load_settings(overrides=[f"runs_dir={tmp_path}", "models.basic.provider=offline", *to(collector)])
    first = await Team(settings).run(QUESTION, run_dir=tmp_path / "first")
    build = next(span for span in collector.spans() if span.name.startswith("build "))
    assert build.parent == collector.span("invoke_agent habilis").id
    assert [span for span in collector.spans() if span.parent == build.id and span.name.startswith("chat ")]
    tokens = collector.points("gen_ai.client.token.usage")
    assert sum(total for _, total, _ in tokens) == first.usage.total_tokens
    collector.traces.clear()
    collector.metrics.clear()
    again = await Team(settings).run(QUESTION, run_dir=tmp_path / "again", replay=tmp_path / "first")
    assert again.final_answer == first.final_answer
    chats = [span for span in collector.spans() if span.name.startswith("chat ")]
    assert chats
    assert all(span.attributes["habilis.replayed"] for span in chats)
    assert collector.points("gen_ai.client.token.usage") == []
    assert collector.points("gen_ai.client.operation.duration") == []


@pytest.mark.slow
@pytest.mark.promise
async def test_a_secret_in_prompts_arguments_and_results_reaches_no_collector(
    stage: Stage, collector: Collector
) -> None:
    MASKER.add("DRAWER_KEY", "swordfish-4711")
    stage.add("echo", tool_source("echo", "return OutputModel(result=input.x)", "x: str", output="str | None"))
    script = Script(
        steps=[calling(call("echo", {"x": "swordfish-4711"})), "It is 42."],
        plans=[{"required_tool_names": ["echo"]}],
    )
    question = "Which is it: 42 or swordfish-4711?"
    await stage.play(script, *to(collector, "telemetry.contents=true"), question=question)
    assert "DRAWER_KEY" in collector.span("execute_tool echo").attributes["gen_ai.tool.call.result"]
    assert "42 or [DRAWER_KEY]?" in collector.span("invoke_agent habilis").attributes["gen_ai.input.messages"]
    chats = [span.attributes for span in collector.spans() if span.name.startswith("chat ")]
    assert all(json.loads(chat["gen_ai.input.messages"]) for chat in chats)
    spoken = [part for chat in chats for said in json.loads(chat["gen_ai.output.messages"]) for part in said["parts"]]
    assert {"type": "tool_call", "name": "echo", "arguments": {"x": "[DRAWER_KEY]"}}.items() <= next(
        part.items() for part in spoken if part["type"] == "tool_call"
    )
    assert b"swordfish" not in collector.raw


async def test_an_interrupted_task_sends_what_it_was_about(stage: Stage, collector: Collector) -> None:
    team = stage.team(Script(steps=["It is 42."]), *to(collector))
    working = asyncio.create_task(team.run("Which is it: 1 or 42?", run_dir=stage.root / "run"))

    class Watch:
        def emit(self, event: Any) -> None:
            if event.kind == "model_call_started":
                asyncio.get_running_loop().call_soon(working.cancel)

    team._sinks = (*team._sinks, Watch())
    with pytest.raises(asyncio.CancelledError):
        await working
    spans = {span.name: span for span in collector.spans()}
    assert spans["invoke_agent habilis"].attributes["error.type"] == "interrupted"
    assert spans["invoke_workflow run"].failed


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.parametrize("runner", RUNNERS)
async def test_the_tasks_of_a_training_belong_to_its_trace_wherever_they_run(
    tmp_path: Path, sandbox_level: str, collector: Collector, runner: str
) -> None:
    settings = load_settings(
        overrides=[
            f"runs_dir={tmp_path}",
            "models.basic.provider=offline",
            *RUNNERS[runner],
            "evolution.batch_size=2",
            *to(collector),
        ]
    )
    training = await Evolution(settings).run(ROWS, name="first")
    assert (training.stopped, training.statuses) == ("done", {"answered": 2})
    root = collector.span("invoke_workflow training")
    tasks = [span for span in collector.spans() if span.name == "invoke_agent habilis"]
    assert {span.attributes["habilis.task"] for span in tasks} == {"one", "two"}
    assert {span.parent for span in tasks} == {root.id}
    assert {span.trace for span in collector.spans()} == {root.trace}
    for task in tasks:
        below = [span for span in collector.spans() if span.parent == task.id]
        assert {span.name.split()[0] for span in below} >= {"chat", "execute_tool"}


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.parametrize("where", ["nobody", "silent"])
def test_a_command_ends_whoever_listens_or_does_not(
    tmp_path: Path, sandbox_level: str, collector: Collector, nobody: str, where: str
) -> None:
    """The collector answers nothing until the test is over: a process that waited for it would not end before."""
    collector.gate.clear()
    address = nobody if where == "nobody" else collector.address
    done = subprocess.run(
        [sys.executable, "-m", "habilis", "run", "--no-absorb", "--output", str(tmp_path), QUESTION],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": address},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "14" in done.stdout
    assert [line for line in done.stderr.splitlines() if "traces" in line] == [
        "log: traces do not reach 127.0.0.1; the work goes on without them"
    ]
    assert "Traceback" not in done.stderr
    assert collector.asked.is_set() == (where == "silent")


@pytest.mark.slow
async def test_an_alert_stands_in_the_record_of_its_task(stage: Stage) -> None:
    stage.add("echo", tool_source("echo", "return OutputModel(result=input.x)", "x: str", output="str | None"))
    steps = [calling(call("echo", {"x": f"{n}"})) for n in range(3)]
    script = Script(steps=[*steps, "It is 42."], plans=[{"required_tool_names": ["echo"]}])
    result = await stage.play(script, "alerts.rounds=2")
    rows = [row for row in read_jsonl(RunDir(Path(result.run_dir)).tasks()[0].events) if row["kind"] == "alert"]
    assert [(row["name"], row["value"], row["about"]) for row in rows] == [("rounds", 3, "task")]
    assert [alert.name for alert in stage.sink.of("alert")] == ["rounds"]
