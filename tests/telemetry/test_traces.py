"""What a collector is told of a task, and what a task is spared of a collector."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest

from habilis.config import OFFLINE_NOTICE, load_settings
from habilis.context.task import Events
from habilis.core import events as ev
from habilis.core.masker import MASKER
from habilis.telemetry import pipeline
from habilis.telemetry.observing import TaskObservation, TrainingObservation

from .conftest import Collector, Happen, asked, begun, called, ended, sending

INTERNAL, CLIENT = 1, 3
BUILD = [
    ev.ToolBuildStarted(tool="look", build_id="build-1"),
    *asked("k-2", parent="build-1"),
    ev.ToolRejected(tool="look", build_id="build-1", purpose="build", attempt=1, reason="it opens nothing"),
    ev.ToolBuilt(tool="look", build_id="build-1", version="v1", attempts=2, smoke="passed", path="p"),
]


async def test_a_task_is_one_trace_with_the_names_that_the_conventions_give(
    happens: Happen, collector: Collector
) -> None:
    await happens(begun(), *asked(), *BUILD, *called(), ended())
    run, task, build = (collector.span(name) for name in ("invoke_workflow run", "invoke_agent habilis", "build look"))
    plan, write = (span for span in collector.spans() if span.name == "chat m")
    tool = collector.span("execute_tool look")
    assert {span.trace for span in collector.spans()} == {run.trace}
    assert (run.parent, task.parent) == ("", run.id)
    assert [span.parent for span in (plan, build, write, tool)] == [task.id, task.id, build.id, task.id]
    assert [span.kind for span in (run, task, plan, tool)] == [INTERNAL, INTERNAL, CLIENT, INTERNAL]
    operations = [span.attributes.get("gen_ai.operation.name") for span in (run, task, plan, tool)]
    assert operations == ["invoke_workflow", "invoke_agent", "chat", "execute_tool"]
    assert not any(span.failed for span in collector.spans())
    assert build.events == ["habilis.rejected"]


async def test_each_span_says_what_the_conventions_ask_of_it(happens: Happen, collector: Collector) -> None:
    await happens(begun(), *asked(), *called(), ended())
    chat = collector.span("chat m").attributes
    assert chat == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m",
        "server.address": "127.0.0.1",
        "server.port": 9,
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.cache_read.input_tokens": 40,
        "gen_ai.usage.cache_creation.input_tokens": 0,
        "habilis.role": "basic",
        "habilis.purpose": "step 1",
    }
    tool = collector.span("execute_tool look").attributes
    assert {key: tool[key] for key in tool if key.startswith("gen_ai")} == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "c1",
    }
    task = collector.span("invoke_agent habilis").attributes
    assert (task["gen_ai.agent.name"], task["gen_ai.request.model"], task["habilis.status"]) == (
        "habilis",
        "m",
        "answered",
    )
    assert collector.resource()["service.name"] == "habilis"


async def test_tokens_durations_and_tool_errors_are_measured(happens: Happen, collector: Collector) -> None:
    await happens(begun(), *asked(), *asked("k-2", seconds=1.5), *called(), *called("c2", error="it is stuck"), ended())
    tokens = {
        at["gen_ai.token.type"]: (total, count) for at, total, count in collector.points("gen_ai.client.token.usage")
    }
    assert tokens == {"input": (200, 2), "output": (40, 2)}
    ((about, total, count),) = collector.points("gen_ai.client.operation.duration")
    assert (total, count) == (2.0, 2)
    assert about["gen_ai.request.model"] == "m"
    tools = {at.get("error.type", ""): count for at, _, count in collector.points("gen_ai.execute_tool.duration")}
    assert tools == {"": 1, "tool_error": 1}
    assert [count for _, _, count in collector.points("gen_ai.invoke_agent.duration")] == [1]


async def test_what_failed_is_marked_as_failed(happens: Happen, collector: Collector) -> None:
    given_up = [BUILD[0], ev.ToolGivenUp(tool="look", build_id="build-1", purpose="build", reason="no way")]
    await happens(begun(), *called(error="stuck"), *asked(error="HTTP 500"), *given_up, ended("unreachable", "gone"))
    errors = {span.name: span.attributes.get("error.type") for span in collector.spans() if span.failed}
    assert errors == {
        "invoke_workflow run": "unreachable",
        "invoke_agent habilis": "unreachable",
        "execute_tool look": "tool_error",
        "chat m": "model_error",
        "build look": "given_up",
    }


async def test_a_replayed_call_counts_no_tokens_and_no_time(happens: Happen, collector: Collector) -> None:
    await happens(begun(), *asked(replayed=True), *called(reused=True), *asked("live"), ended())
    old, new = (span for span in collector.spans() if span.name == "chat m")
    assert old.attributes["habilis.replayed"] is True
    assert not [key for key in old.attributes if "usage" in key]
    assert new.attributes["gen_ai.usage.input_tokens"] == 100
    assert [count for _, _, count in collector.points("gen_ai.client.token.usage")] == [1, 1]
    assert [count for _, _, count in collector.points("gen_ai.client.operation.duration")] == [1]
    assert collector.points("gen_ai.execute_tool.duration") == []


async def test_a_task_that_is_broken_off_ends_its_open_spans_and_marks_them(
    happens: Happen, collector: Collector
) -> None:
    await happens(begun(), BUILD[0], asked(parent="build-1")[0], called()[0])
    assert {span.name: span.attributes.get("error.type") for span in collector.spans()} == dict.fromkeys(
        ("invoke_workflow run", "invoke_agent habilis", "build look", "chat m", "execute_tool look"), "interrupted"
    )
    assert all(span.failed for span in collector.spans())


PRIVATE = ("drawer", "spoon", "stuck", "opens nothing")


async def test_no_word_of_questions_arguments_results_or_errors_is_sent_unasked(
    happens: Happen, collector: Collector
) -> None:
    await happens(begun(), *BUILD, *called(error="it is stuck"), ended())
    assert collector.spans()
    assert [word for word in PRIVATE if word.encode() in collector.raw] == []


async def test_contents_are_sent_on_request_and_secrets_never(
    happens: Happen, collector: Collector, tmp_path: Path
) -> None:
    MASKER.add("DRAWER_KEY", "swordfish-4711")
    said = {"type": "ai", "content": "open swordfish-4711", "tool_calls": []}
    tape = [
        {"kind": "message", "digest": "d", "message": {"type": "human", "content": "<question>Where?</question>"}},
        {"kind": "reply", "key": "k", "n": 1, "messages": ["d"], "reply": MASKER.value(said)},
    ]
    (tmp_path / "tape.jsonl").write_text("".join(json.dumps(row) + "\n" for row in tape))
    start, end = called(error="the key swordfish-4711 is stuck")
    start = start.model_copy(update={"arguments": {"key": "swordfish-4711"}})
    settings = sending(collector.address, "telemetry.contents=true")
    await happens(begun(), *asked(), *BUILD, start, end, ended(), settings=settings)
    assert b"swordfish" not in collector.raw
    assert [word for word in PRIVATE if word.encode() not in collector.raw] == []
    tool = collector.span("execute_tool look")
    assert tool.attributes["gen_ai.tool.call.arguments"] == '{"key": "[DRAWER_KEY]"}'
    assert tool.message == "the key [DRAWER_KEY] is stuck"
    chat = next(span for span in collector.spans() if span.name == "chat m").attributes
    assert json.loads(chat["gen_ai.input.messages"]) == [
        {"role": "user", "parts": [{"type": "text", "content": "<question>Where?</question>"}]}
    ]
    assert "open [DRAWER_KEY]" in chat["gen_ai.output.messages"]


async def test_what_was_said_has_the_form_that_the_conventions_give(
    happens: Happen, collector: Collector, tmp_path: Path
) -> None:
    call = {"name": "look", "args": {"key": 1}, "id": "c1"}
    tape = [
        {"kind": "message", "digest": "a", "message": {"type": "ai", "calls": [["c1", "look", {"key": 1}]]}},
        {"kind": "message", "digest": "t", "message": {"type": "tool", "content": "a drawer", "call_id": "c1"}},
        {
            "kind": "reply", "key": "k", "n": 1, "messages": ["a", "t"],
            "reply": {"content": "", "tool_calls": [call], "metadata": {"finish_reason": "tool_calls"}},
        },
    ]  # fmt: skip
    (tmp_path / "tape.jsonl").write_text("".join(json.dumps(row) + "\n" for row in tape))
    settings = sending(collector.address, "telemetry.contents=true")
    await happens(begun(), *asked(), ended(), settings=settings)
    chat = collector.span("chat m").attributes
    asking = {"type": "tool_call", "id": "c1", "name": "look", "arguments": {"key": 1}}
    told = {"type": "tool_call_response", "id": "c1", "response": "a drawer"}
    messages = [{"role": "assistant", "parts": [asking]}, {"role": "tool", "parts": [told]}]
    assert json.loads(chat["gen_ai.input.messages"]) == messages
    reply = {"role": "assistant", "parts": [asking], "finish_reason": "tool_call"}
    assert json.loads(chat["gen_ai.output.messages"]) == [reply]
    (answer,) = json.loads(collector.span("invoke_agent habilis").attributes["gen_ai.output.messages"])
    assert (answer["role"], answer["finish_reason"]) == ("assistant", "stop")


async def test_a_build_is_no_tool_call_to_a_reader_of_the_conventions(happens: Happen, collector: Collector) -> None:
    await happens(begun(), *BUILD, ended())
    build = collector.span("build look").attributes
    assert [name for name in build if name.startswith("gen_ai.")] == []
    assert build["habilis.tool"] == "look"


async def test_where_nobody_listens_a_task_ends_and_one_line_says_so(
    happens: Happen, nobody: str, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        await happens(begun(), *asked(), ended(), settings=sending(nobody))
    lines = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert lines == ["traces do not reach 127.0.0.1; the work goes on without them"]


async def test_a_collector_that_never_answers_holds_nothing_up(
    happens: Happen, collector: Collector, caplog: pytest.LogCaptureFixture
) -> None:
    collector.gate.clear()
    await happens(begun(), *asked(), ended())  # would wait for ever: the gate is opened by nobody
    assert collector.asked.is_set()
    assert not collector.gate.is_set()
    assert pipeline.CLOSE_S < 0.5
    assert [record.levelno for record in caplog.records if record.levelno >= logging.WARNING] == [logging.WARNING]


@pytest.mark.parametrize(("refused", "lines"), [("/v1/metrics", 0), ("/v1/traces", 1)])
async def test_a_collector_that_takes_no_metrics_is_nothing_to_tell(
    happens: Happen, collector: Collector, caplog: pytest.LogCaptureFixture, refused: str, lines: int
) -> None:
    collector.refuses = refused
    await happens(begun(), *asked(), ended())
    assert collector.traces
    assert collector.metrics
    assert len([record for record in caplog.records if record.levelno >= logging.WARNING]) == lines


async def test_the_tasks_of_a_training_are_parts_of_its_trace_and_share_its_way(
    collector: Collector, tmp_path: Path
) -> None:
    settings = sending(collector.address)
    async with TrainingObservation(settings, "first") as training:
        emit = Events(training.sinks)
        for name in ("a", "b"):
            about = {"habilis.task": name}
            async with TaskObservation(settings, tmp_path / name, about, part_of=training.trace) as task:
                for event in (begun(name), *asked(), ended()):
                    Events(task.sinks)(event)
            assert list(pipeline._OPEN) == [collector.address]
        for event in asked("k-9"):
            Events(training.curator_sinks)(event)
        emit(ev.StepTaskEnded(step=1, task_id="c", status="crashed"))
        emit(ev.StepEnded(step=1))
    assert pipeline._OPEN == {}
    root = collector.span("invoke_workflow training")
    tasks = [span for span in collector.spans() if span.name == "invoke_agent habilis"]
    assert {span.trace for span in collector.spans()} == {root.trace}
    assert [(span.parent, span.attributes["habilis.task"]) for span in tasks] == [(root.id, "a"), (root.id, "b")]
    curator = collector.span("invoke_agent curator")
    assert curator.parent == root.id
    assert [span.parent for span in collector.spans() if span.name == "chat m"][-1] == curator.id
    assert root.events == ["habilis.task_ended"]


async def test_the_variables_of_the_standard_are_enough(
    happens: Happen, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=swordfish-4711")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "mine")
    settings = load_settings(overrides=["models.basic.provider=offline"])
    await happens(begun(), ended(), settings=settings)
    assert collector.resource()["service.name"] == "mine"
    assert {headers["x-key"] for headers in collector.headers} == {"swordfish-4711"}
    assert MASKER.text("swordfish-4711") == "[OTEL_EXPORTER_OTLP_HEADERS]"
    before = len(collector.headers)
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    await happens(begun(), ended(), settings=settings)
    assert len(collector.headers) == before


async def test_a_variable_that_is_wrong_ends_no_task(
    happens: Happen, collector: Collector, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "1")  # less than a batch
    await happens(begun(), ended())
    assert pipeline._OPEN == {}
    assert [record.levelno for record in caplog.records if record.name.startswith("habilis")] == [logging.WARNING]


async def test_a_turn_of_a_conversation_names_it(tmp_path: Path, collector: Collector) -> None:
    about = {"habilis.task": "1", "gen_ai.conversation.id": "sales"}
    async with TaskObservation(sending(collector.address), tmp_path / "tape", about) as observed:
        Events(observed.sinks)(begun())
    assert collector.span("invoke_agent habilis").attributes["gen_ai.conversation.id"] == "sales"


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(Exception, match=r"telemetry\.endpoint"):
        load_settings(overrides=["telemetry.endpoint=localhost:4318"])


OFF = """
import sys
import contextlib, io
import habilis
from habilis.cli import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main(["--help"])
from pathlib import Path
from habilis.config import OFFLINE_NOTICE, load_settings
from habilis.telemetry.observing import TaskObservation
TaskObservation(load_settings(overrides=[]), Path("tape"), {"habilis.task": "one"})
print(sorted(name for name in sys.modules if name.startswith("opentelemetry")))
"""


def test_nothing_of_it_is_loaded_where_nothing_is_sent() -> None:
    done = subprocess.run([sys.executable, "-c", OFF], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


async def test_a_task_that_is_cancelled_at_its_end_is_not_held_up(collector: Collector, tmp_path: Path) -> None:
    collector.gate.clear()
    observed = TaskObservation(sending(collector.address), tmp_path / "tape", {"habilis.task": "one"})
    Events(observed.sinks)(begun())
    closing = asyncio.create_task(observed.__aexit__())
    await asyncio.to_thread(collector.asked.wait)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert pipeline._OPEN == {}


async def test_the_offline_model_is_said_to_be_of_no_provider(happens: Happen, collector: Collector) -> None:
    await happens(begun().model_copy(update={"model": OFFLINE_NOTICE}), ended())
    task = collector.span("invoke_agent habilis").attributes
    assert (task["gen_ai.provider.name"], task["gen_ai.request.model"]) == ("offline", OFFLINE_NOTICE)
