"""Figures over runs: what `habilis runs stats` says, and what a scraper reads."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from habilis.cli import main
from habilis.core import events as ev
from habilis.core.types import Task
from habilis.rundir import JsonlSink, RunDir, TaskDir
from habilis.telemetry import recorded
from habilis.telemetry.figures import quantile
from habilis.view.app import app_of
from habilis.view.guard import Guard
from habilis.view.runs import Runs
from habilis.view.site import NoSuchPage, Site

from .conftest import asked, called


@pytest.mark.parametrize(("count", "median", "p95"), [(1, 1, 1), (2, 1, 2), (20, 10, 19), (100, 50, 95), (101, 51, 96)])
def test_quantiles_are_by_nearest_rank(count: int, median: float, p95: float) -> None:
    values = [float(n) for n in range(1, count + 1)]
    assert (quantile(values, 0.5), quantile(values, 0.95)) == (median, p95)
    assert quantile([], 0.5) is None


def _task(root: Path, name: str, *events: ev.Event, status: str = "answered") -> TaskDir:
    run = RunDir.create(root, name)
    task = run.task("task")
    task.save_task(Task(id="task", question="q"))
    sink = JsonlSink(task.events)
    for event in events:
        sink.emit(event)
    sink.close()
    task.set_state("finished" if status == "answered" else "failed", status=status)
    return task


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Three tasks: answered in two rounds, failed in four with a failed call, and a replay of the first."""
    root = tmp_path / "runs"
    one = [ev.Thought(position=n, stage="replied") for n in (1, 2)]
    _task(root, "one", *asked(seconds=1.0), *asked("k2", seconds=3.0), *called(seconds=0.5), *one)
    more = [ev.Thought(position=n, stage="replied") for n in (1, 2, 3, 4)]
    _task(root, "two", *asked(seconds=7.0), *called(error="no", seconds=2.0), *more, status="budget")
    replay = [*asked(seconds=0.0, replayed=True), called(reused=True)[1], one[0]]
    _task(root, "again", *replay)
    return root


EXPECTED = {
    "runs": 3,
    "tasks": {"ended": 3, "statuses": {"answered": 2, "budget": 1}, "success_rate": 2 / 3},
    "rounds": {"tasks": 3, "median": 2, "p95": 4},
    "model_calls": {"count": 3, "median_s": 3.0, "p95_s": 7.0},
    "tool_calls": {"count": 2, "failed": 1, "error_rate": 0.5, "median_s": 0.5, "p95_s": 2.0},
    "tokens": {"input": 300, "output": 60},
}


def test_the_figures_of_all_runs_are_printed(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "stats", "--json", "--output", str(runs)]) == 0
    assert json.loads(capsys.readouterr().out) == EXPECTED
    assert main(["runs", "stats", "--output", str(runs)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "runs     3",
        "tasks    3: 2 answered, 1 budget, success rate 66.7 %",
        "tokens   300 in, 60 out",
        "failed   1 of 2 tool calls, 50.0 %",
        "",
        "                  COUNT  MEDIAN  P95",
        "rounds of a task  3      2       4",
        "model calls       3      3.0 s   7.0 s",
        "tool calls        2      0.5 s   2.0 s",
    ]


def test_the_figures_of_named_runs_are_theirs(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "stats", "one", "one", "--json", "--output", str(runs)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["runs"], found["model_calls"]["count"], found["tasks"]["success_rate"]) == (1, 2, 1.0)
    assert main(["runs", "stats", "nothing", "--output", str(runs)]) == 2


def test_no_runs_have_no_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "stats", "--json", "--output", str(tmp_path / "none")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["tasks"] == {"ended": 0, "statuses": {}, "success_rate": None}


def test_what_is_broken_or_a_stranger_s_is_passed_over(runs: Path) -> None:
    odd = {"kind": "model_call_ended", "role": "basic", "purpose": "p", "model": "m"}
    usage = {"prompt_tokens": 7, "colour": "red"}
    lines = [
        "torn",
        json.dumps({**odd, "seconds": "long"}),
        json.dumps({**odd, "seconds": float("inf")}),
        json.dumps({**odd, "seconds": -1.0}),
        json.dumps({**odd, "seconds": 1.0, "usage": usage}),
        json.dumps({**odd, "seconds": 1.0, "of_a_later_version": 1, "usage": {"prompt_tokens": 7}}),
    ]
    folder = runs / "one" / "tasks" / "task"
    with (folder / "events.jsonl").open("a") as log:
        log.write("\n".join(lines) + "\n")
    (runs / "two" / "tasks" / "task" / "events.jsonl").unlink()
    (runs / "two" / "tasks" / "task" / "events.jsonl").symlink_to(folder / "events.jsonl")
    state = {"state": "finished", "status": 'x"} 1\n'}
    (runs / "again" / "tasks" / "task" / "state.json").write_text(json.dumps(state))
    found = recorded.Recorded().of(Runs(runs).all())
    assert (sorted(found.model_s), found.prompt_tokens) == ([1.0, 1.0, 3.0], 207)
    assert dict(found.ends) == {"answered": 1, "budget": 1, "other": 1}


def _samples(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
def guard(runs: Path) -> Guard:
    return Guard(app_of(Site(Runs(runs), runs / "library")), 8123)


@pytest.fixture
def scraper(guard: Guard) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(guard), base_url="http://127.0.0.1:8123")


async def test_a_scraper_reads_the_same_figures(scraper: httpx.AsyncClient, guard: Guard) -> None:
    reply = await scraper.get("/metrics", headers={"authorization": f"Bearer {guard.token}"})
    assert (reply.status_code, reply.headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert _samples(reply.text) == {
        ("habilis_runs", ()): 3,
        ("habilis_tasks_total", (("status", "answered"),)): 2,
        ("habilis_tasks_total", (("status", "budget"),)): 1,
        ("habilis_tool_calls_total", (("outcome", "error"),)): 1,
        ("habilis_tool_calls_total", (("outcome", "ok"),)): 1,
        ("habilis_tokens_total", (("type", "input"),)): 300,
        ("habilis_tokens_total", (("type", "output"),)): 60,
        ("habilis_task_rounds", (("quantile", "0.5"),)): 2,
        ("habilis_task_rounds", (("quantile", "0.95"),)): 4,
        ("habilis_task_rounds_sum", ()): 7,
        ("habilis_task_rounds_count", ()): 3,
        ("habilis_model_call_duration_seconds", (("quantile", "0.5"),)): 3,
        ("habilis_model_call_duration_seconds", (("quantile", "0.95"),)): 7,
        ("habilis_model_call_duration_seconds_sum", ()): 11,
        ("habilis_model_call_duration_seconds_count", ()): 3,
        ("habilis_tool_call_duration_seconds", (("quantile", "0.5"),)): 0.5,
        ("habilis_tool_call_duration_seconds", (("quantile", "0.95"),)): 2,
        ("habilis_tool_call_duration_seconds_sum", ()): 2.5,
        ("habilis_tool_call_duration_seconds_count", ()): 2,
    }


async def test_a_scraper_without_the_token_reads_nothing_and_one_with_it_nothing_else(
    scraper: httpx.AsyncClient, guard: Guard
) -> None:
    for header in ({}, {"authorization": "Bearer "}, {"authorization": f"Basic {guard.token}"}):
        reply = await scraper.get("/metrics", headers=header)
        assert (reply.status_code, "habilis_" in reply.text) == (403, False)
    bearer = {"authorization": f"Bearer {guard.token}"}
    assert (await scraper.get("/", headers=bearer)).status_code == 403
    assert (await scraper.get("/metrics", headers={**bearer, "host": "evil.example:8123"})).status_code == 421
    assert (await scraper.get("/metrics", headers={**bearer, "origin": "http://evil.example"})).status_code == 403
    await scraper.get(f"/?token={guard.token}")
    assert (await scraper.get("/metrics")).status_code == 200  # a browser that was let in


async def test_a_log_is_read_again_only_when_it_changed(runs: Path) -> None:
    held = recorded.Recorded()
    first = held.of(Runs(runs).all())
    known = {path: figures for path, (_, figures) in held._known.items()}
    sink = JsonlSink(runs / "one" / "tasks" / "task" / "events.jsonl")
    sink.emit(asked("k9")[1])
    sink.close()
    assert len(held.of(Runs(runs).all()).model_s) == len(first.model_s) + 1
    same = [path.parent.parent.name for path, (_, figures) in held._known.items() if known[path] is figures]
    assert sorted(same) == ["again", "two"]


def test_files_have_no_page_for_scrapers(runs: Path) -> None:
    with pytest.raises(NoSuchPage):
        Site(Runs(runs), runs / "library", static=True).page("metrics")
