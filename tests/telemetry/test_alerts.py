"""What a person is told of while a task works, and what not: alerts, each once, and the command that hears them."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from habilis.cli.training import TrainingConsole
from habilis.config import Settings, load_settings
from habilis.context.task import Events
from habilis.core import events as ev
from habilis.core.masker import MASKER
from habilis.telemetry import command
from habilis.telemetry.observing import TaskObservation, TrainingObservation
from habilis.terminal.console import ConsoleSink, make_console
from habilis.testing import RecordingSink

from .conftest import asked, begun, called, ended

MESSENGER = Path(command.__file__).with_name("messenger.py")


def rounds(count: int) -> list[Any]:
    return [
        ev.Thought(position=number, stage=stage) for number in range(1, count + 1) for stage in ("asked", "replied")
    ]


def calls(count: int, failed: int = 0, seconds: float = 0.1) -> list[Any]:
    """Calls of which the first ones fail."""
    return [e for n in range(count) for e in called(f"c{n}", error="no" if n < failed else None, seconds=seconds)]


def models(count: int, slow: int = 0, **more: Any) -> list[Any]:
    return [e for n in range(count) for e in asked(f"k{n}", seconds=11.0 if n < slow else 1.0, **more)]


def settings(*more: str) -> Settings:
    return load_settings(overrides=["models.basic.provider=offline", *more])


async def watched(*events: ev.Event, with_: Settings | None = None, **options: Any) -> list[ev.Alert]:
    """The alerts of one task."""
    sink = RecordingSink()
    async with TaskObservation(with_ or settings(), Path("tape"), {"habilis.task": "one"}, **options) as observed:
        emit = Events([sink, *observed.sinks])
        observed.tell_to(emit)
        for event in events:
            emit(event)
    return sink.of("alert")


@pytest.mark.parametrize(
    ("events", "name", "value", "text"),
    [
        (rounds(12), "rounds", 9, "the task is in round 9; the limit is 8 (alerts.rounds)"),
        (calls(30, 2), "tool_errors", 0.2, "2 of 10 tool calls failed; the limit is 10 % (alerts.tool_errors)"),
        (models(40, 2), "slow_models", 11.0, "the P95 of 20 model calls is 11.0 s; the limit is 10 s (alerts.p95_s)"),
        (
            calls(40, seconds=30.0),
            "slow_tools",
            30.0,
            "the P95 of 20 tool calls is 30.0 s; the limit is 10 s (alerts.p95_s)",
        ),
    ],
)
async def test_a_figure_beyond_its_limit_is_told_once(events: list[Any], name: str, value: float, text: str) -> None:
    (alert,) = await watched(begun(), *events, ended())
    assert (alert.name, alert.value, alert.text) == (name, value, text)
    assert (alert.scope, alert.about) == ("task", "one")


async def test_tokens_have_no_limit_unless_one_is_set() -> None:
    assert await watched(*models(15)) == []
    (alert,) = await watched(*models(15), with_=settings("alerts.tokens=1000"))
    assert (alert.name, alert.value, alert.text) == (
        "tokens",
        1080,
        "the task has taken 1,080 tokens; the limit is 1,000 (alerts.tokens)",
    )


@pytest.mark.parametrize(
    "events",
    [
        [*rounds(8), *calls(30, 0), *models(30)],
        calls(9, 9),  # nine calls are too few for a share
        [*calls(10, 0), *calls(10, 1)],  # one of twenty
        models(19, 19),  # and nineteen for a P95
        [*models(95), *models(5, 5)],
        [*models(30, 30, replayed=True), *[e.model_copy(update={"reused": True}) for e in calls(30, 30)[1::2]]],
    ],
    ids=["none", "few calls", "a twentieth failed", "few model calls", "five of a hundred are slow", "replayed"],
)
async def test_a_task_without_a_fault_raises_none(events: list[Any]) -> None:
    assert await watched(begun(), *events, ended()) == []


async def test_a_limit_that_is_unset_is_none() -> None:
    off = settings("alerts.rounds=null", "alerts.tool_errors=null", "alerts.p95_s=null")
    assert await watched(*rounds(50), *calls(50, 50, 60.0), *models(50, 50), with_=off) == []


async def test_a_training_looks_at_all_its_calls_together_and_at_the_rounds_of_each_task() -> None:
    sink = RecordingSink()
    async with TrainingObservation(settings(), "first") as training:
        training.tell_to(Events([sink, *training.sinks]))
        for _ in range(4):  # five calls with one failure each: too few in each task
            for event in calls(5, 1):
                training.watching(lambda *_: None)("t", event)
    (alert,) = sink.of("alert")
    assert (alert.name, alert.scope, alert.about) == ("tool_errors", "run", "first")
    among = await watched(*rounds(9), *calls(30, 30), *models(30, 30), part_of="")
    assert [alert.name for alert in among] == ["rounds"]


def test_an_alert_is_one_line_of_the_account() -> None:
    alert = ev.Alert(name="rounds", scope="task", about="one", value=9, limit=8, text="the task is in round 9")
    out = io.StringIO()
    ConsoleSink(make_console(out), live=False).emit(alert)
    console = TrainingConsole(make_console(out), live=False)
    console.heard("one", alert)
    console.emit(alert)
    assert out.getvalue().splitlines() == [
        "alert: the task is in round 9",
        "alert: one: the task is in round 9",
        "alert: the task is in round 9",
    ]


KEEP = (
    "import os, sys, json; open(sys.argv[1], 'w').write(json.dumps([sys.stdin.read(), dict(os.environ), sys.argv[2:]]))"
)


def commanded(*words: str) -> Settings:
    return settings(f"alerts.command={json.dumps(words)}")


async def told(tmp_path: Path, *words: str) -> tuple[dict[str, Any], dict[str, str], list[str]]:
    """What the command of an alert found on its input, in its environment, as its arguments."""
    kept = tmp_path / "kept"
    await watched(*rounds(9), with_=commanded(sys.executable, "-c", KEEP, str(kept), *words))
    while not kept.is_file() or not kept.read_text():  # nobody waits for a command: it may be at work still
        os.sched_yield()
    said, environment, arguments = json.loads(kept.read_text())
    return json.loads(said), environment, arguments


async def test_the_command_finds_the_alert_as_json_and_no_secret_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "swordfish-4711")
    monkeypatch.setenv("MY_TOKEN", "swordfish-4712")
    said, environment, _ = await told(tmp_path)
    assert (said["name"], said["about"], said["value"], said["limit"]) == ("rounds", "one", 9, 8)
    assert "swordfish" not in json.dumps(environment)
    assert environment["PATH"] == os.environ["PATH"]


async def test_arguments_are_no_shell_s(tmp_path: Path) -> None:
    words = ["; touch gone", "$(touch gone)", "`touch gone`", "a b", "*"]
    _, _, arguments = await told(tmp_path, *words)
    assert arguments == words


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["/no/such/program"], "the command of alerts.command could not be started"),
        (["false"], "the command of alerts.command ended with exit code 1"),
    ],
)
def test_a_command_that_fails_is_one_line(words: list[str], line: str, caplog: pytest.LogCaptureFixture) -> None:
    alert = ev.Alert(name="rounds", scope="task", about="one", value=9, limit=8, text="t")
    started = command.AlertCommand(words)
    for _ in range(2):
        started.emit(alert)
    started.end(60.0)
    assert [record.getMessage() for record in caplog.records] == [line]
    assert caplog.records[0].levelno == logging.WARNING


async def test_a_command_that_takes_its_time_holds_no_task_up(tmp_path: Path) -> None:
    """It waits for a word that comes only after the task has ended; a task that waited for it would never end."""
    pipe, kept = tmp_path / "pipe", tmp_path / "kept"
    os.mkfifo(pipe)
    waiting = f"said = open({str(pipe)!r}).read(); open({str(kept)!r}, 'w').write(said)"
    await watched(*rounds(9), with_=commanded(sys.executable, "-c", waiting))
    assert command.TIME_S > 0.5
    assert not kept.exists()
    pipe.write_text("go")
    while not kept.is_file() or kept.read_text() != "go":
        os.sched_yield()


def test_a_command_is_ended_with_all_it_started_when_its_time_is_over() -> None:
    program = [sys.executable, "-I", "-S", str(MESSENGER)]
    two = ["sh", "-c", "sleep 1000 & echo one; echo two; exec sleep 1000"]
    for seconds in (0.3, 3, 30):  # on a busy machine they need longer to begin
        # Its output ends when nobody is left who could write to it.
        done = subprocess.run([*program, f"{seconds}", *two], stdout=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 124
        if done.stdout:
            break
    assert done.stdout == "one\ntwo\n"
    assert subprocess.run([*program, "9", "/no/such"], check=False).returncode == 127
    assert subprocess.run([*program, "60", "sh", "-c", "exit 3"], check=False).returncode == 3


async def test_what_a_command_is_told_is_masked(tmp_path: Path) -> None:
    MASKER.add("NAME_KEY", "swordfish-4711")
    kept = tmp_path / "kept"
    started = command.AlertCommand([sys.executable, "-c", KEEP, str(kept)])
    started.emit(ev.Alert(name="rounds", scope="task", about="swordfish-4711", value=9, limit=8, text="t"))
    started.end(60.0)
    assert "swordfish" not in kept.read_text()
    assert "[NAME_KEY]" in kept.read_text()


def test_a_storm_of_alerts_starts_few_programs(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    started = command.AlertCommand([sys.executable, "-c", f"open({str(pipe)!r}).read()"])
    alert = ev.Alert(name="rounds", scope="task", about="one", value=9, limit=8, text="t")
    for _ in range(command.MOST_AT_ONCE + 2):
        started.emit(alert)
    assert [record.getMessage() for record in caplog.records] == [
        "the command of alerts.command is still at work for earlier alerts"
    ]
    writer = os.open(pipe, os.O_RDWR)
    pipe.unlink()
    os.close(writer)  # who reads comes to the end, and who has not begun finds nothing to read
    for process in started._running:
        process.wait()
