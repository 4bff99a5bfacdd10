"""What a person could not see of a run if a page left it out, or showed it wrong."""

from __future__ import annotations

import json
import re
import shutil
from decimal import Decimal
from pathlib import Path

import pytest

from habilis.core import events as ev
from habilis.core.types import Plan, TaskResult, ToolRequest, Usage
from habilis.rundir import RunDir
from habilis.terminal.wording import plan_text
from habilis.view.curves import curves
from habilis.view.log import PAGE_EVENTS, read_page
from habilis.view.rendering import relative
from habilis.view.runs import Runs
from habilis.view.site import NoSuchPage, Site

from .conftest import USED, course

ROLE_ROW = r'<tr><th scope="row">(basic|builder)</th>(.*?)</tr>'


def links(page: str) -> list[str]:
    return re.findall(r'href="([^"]+)"', page)


def test_the_list_shows_each_run_with_what_it_took(written, look):
    written.ended("first")
    written.task("second", "How many?")
    page = look("")
    for said in ("first", "What is the mean?", "answered", "1,234", "3.00 s", "second", "How many?", "2 runs"):
        assert said in page, said
    assert "runs/first/" in links(page)


def test_the_list_is_filtered_sorted_and_searched(written, look):
    written.ended("cheap", "apples")
    written.ended("dear", "pears", seconds=90.0)
    written.task("open", "Pears again?")
    assert "cheap" not in look("", q="PEARS")
    assert "open" not in look("", status="answered")
    by_time = look("", sort="seconds", down="1")
    assert by_time.index("runs/dear/") < by_time.index("runs/cheap/") < by_time.index("runs/open/")
    assert "fit" in look("", q="nothing has this")


def test_a_list_of_many_runs_comes_in_pages_and_reads_only_those_it_shows(written, tmp_path):
    RunDir.create(written.root, "run-000")
    for number in range(1, 205):
        shutil.copytree(written.root / "run-000", written.root / f"run-{number:03}")
    runs = Runs(written.root)
    site = Site(runs, tmp_path)
    first, last = site.page("").body.decode(), site.page("page/3/").body.decode()
    assert first.count('scope="row"') == 100
    assert last.count('scope="row"') == 5
    assert len(runs._rows) == 105
    with pytest.raises(NoSuchPage):
        site.page("page/4/")


def test_a_task_shows_plan_builds_calls_verdicts_review_answer_and_roles(written, look):
    written.ended("one")
    page = look("runs/one/tasks/task/")
    told = ["Attempt 1", "do this", "build", "Attempt 1 refused", "it fails", "after 2 attempts", "passed"]
    told += ["1 2 3", "{&#34;mean&#34;: 2}", "fits", "So it is 2.", "accepted", "right", "builder", "by counting"]
    for said in told:
        assert said in page, said


def test_a_task_of_the_short_way_shows_plan_build_call_and_answer(written, look):
    """The build begins before its tool has a name; the page speaks of the one that its writer gave it."""
    wish = ToolRequest(name="tool_for_the_question", description="What?", input_schema={}, output_schema={})
    events = [event for event in course() if event.kind != "tool_rejected"]
    places = {event.kind: place for place, event in enumerate(events)}
    events[places["planned"]] = ev.Planned(attempt=1, plan=Plan(build=(wish,), by="rule"))
    events[places["tool_build_started"]] = ev.ToolBuildStarted(tool=wish.name, build_id="build-1")
    written.happens(written.task("run"), *events)
    page = look("runs/run/tasks/task/")
    assert wish.name not in page
    said = ("One new tool, written with its first call", "Build of mean", "1 2 3", "{&#34;mean&#34;: 2}", "So it is 2.")
    places = [page.index(word, page.index("What happened")) for word in said]
    assert places == sorted(places)
    assert "build mean" in page, "in the picture of where time went"


def test_a_plan_by_rule_that_reuses_a_tool_speaks_of_no_new_one(written, look):
    events = list(course())
    place = next(number for number, event in enumerate(events) if event.kind == "planned")
    reused = {"mean": "it answered a question of the same words"}
    events[place] = ev.Planned(attempt=1, plan=Plan(reuse=("mean",), serves=reused, by="rule"))
    written.happens(written.task("run"), *events)
    page = look("runs/run/tasks/task/")
    assert "Use: mean" in page
    assert "A rule planned this; no model was asked." in page
    assert "new tool, written" not in page.lower()
    assert plan_text(events[place].plan.model_dump()) == "use mean: it answered a question of the same words"


def test_a_mend_is_shown_as_a_change_of_code(written, look):
    written.ended("one")
    page = look("runs/one/tasks/task/")
    assert "attempt 2 against attempt 1" in page
    assert '<span class="del">-    return 1' in page
    assert '<span class="add">+    return 2' in page


def test_a_record_from_before_ids_shows_the_same_course(written, look):
    task = written.task("old")
    lines = [
        '{"at": 1.0, "kind": "tool_build_started", "tool": "mean", "purpose": "build"}',
        '{"at": 1.5, "kind": "model_call_started", "role": "builder", "purpose": "write tool", "model": "m"}',
        '{"at": 2.0, "kind": "model_call_ended", "role": "builder", "purpose": "write tool", "model": "m"}',
        '{"at": 2.5, "kind": "tool_rejected", "tool": "mean", "purpose": "build", "attempt": 1, "reason": "no luck"}',
        '{"at": 3.0, "kind": "tool_built", "tool": "mean", "version": "v", "attempts": 2, "smoke": "passed"}',
    ]
    task.events.write_text("\n".join(lines) + "\n", "utf-8")
    page = look("runs/old/tasks/task/")
    assert "after 2 attempts" in page
    assert "no luck" in page
    assert page.count('class="bar build"') == page.count('class="bar model"') == 1


def test_calls_side_by_side_stand_below_each_other_in_the_picture(written, look):
    task = written.task("both")
    started = '{{"at": {}, "kind": "tool_call_started", "call_id": "{}", "tool": "t", "arguments": {{}}}}'
    ended = '{{"at": {}, "kind": "tool_call_ended", "call_id": "{}", "tool": "t", "seconds": 1}}'
    lines = [started.format(1, "a"), started.format(2, "b"), ended.format(5, "a"), ended.format(6, "b")]
    task.events.write_text("\n".join(lines) + "\n", "utf-8")
    rows = re.findall(r'<rect x="[\d.]+" y="(\d+)"', look("runs/both/tasks/task/"))
    assert len(set(rows)) == 2


def test_a_long_log_comes_in_pages_that_miss_no_event(written, look):
    task = written.task("long")
    written.happens(task, *(ev.Notice(text=f"number-{n}-") for n in range(PAGE_EVENTS + 7)))
    task.set_state("finished")
    first, second = look("runs/long/tasks/task/"), look(f"runs/long/tasks/task/from/{PAGE_EVENTS + 1}/")
    assert f"from/{PAGE_EVENTS + 1}/" in first
    told = [int(found) for page in (first, second) for found in re.findall(r"number-(\d+)-", page)]
    assert told == list(range(PAGE_EVENTS + 7))


def test_a_task_under_way_shows_its_newest_events(written, look):
    task = written.task("long")
    written.happens(task, *(ev.Notice(text=f"number-{n}-") for n in range(PAGE_EVENTS + 7)))
    with task.lock():
        page = look("runs/long/tasks/task/")
    assert f"number-{PAGE_EVENTS + 6}-" in page
    assert "number-0-" not in page
    assert "data-live" in page


def test_a_page_of_the_log_begins_at_any_line(tmp_path: Path):
    log = tmp_path / "events.jsonl"
    pad = "x" * 3000
    log.write_text("".join(f'{{"kind": "notice", "text": "{n}{pad}"}}\n' for n in range(300)) + '{"torn', "utf-8")
    for first in (1, 2, 87, 88, 175, 300):
        assert read_page(log, first).events[0].number == first
        assert read_page(log, first).events[0].text("text").startswith(f"{first - 1}x")
    assert read_page(log).lines == 300
    assert read_page(log, 301).events == ()


def test_a_training_shows_steps_curves_and_the_tasks_of_a_step(written, look):
    written.training("evolved")
    page = look("runs/evolved/")
    for said in ("Accuracy", "Reuse", "Library, tools", "Tokens per task", "<polyline", "3 steps", "3,000 tokens"):
        assert said in page, said
    assert "Cost per task</figcaption>" not in page
    step = look("runs/evolved/steps/2/")
    assert "Question 2?" in step
    assert "answer 2" in step
    assert "Question 1?" not in step


def test_a_curve_takes_what_there_is():
    found = curves([{"step": 1, "accuracy": None}, {"step": 2, "accuracy": 0.5}, {"step": 4, "accuracy": 1.0}])
    assert [one.title for one in found] == ["Accuracy"]
    assert [(dot[2], dot[3]) for dot in found[0].dots] == [(2, "50%"), (4, "100%")]


def test_two_runs_side_by_side_show_what_ended_otherwise(written, look):
    written.ended("before", final_answer="three", status="gave_up")
    written.ended("after", final_answer="two")
    page = look("compare/before/after/")
    for said in ("three", "two", "gave_up", "answered", "1,234"):
        assert said in page, said
    assert "before" in look("compare/")


def test_two_trainings_side_by_side_pair_their_tasks(written, look):
    written.training("one", 2)
    written.training("two", 3)
    page = look("compare/one/two/")
    assert "Question 3?" in page
    assert "not there" in page
    assert "Accuracy of the last step" in page


@pytest.mark.parametrize(
    "path", ["nope/", "runs/nope/", "runs/one/tasks/x/", "runs/one/steps/0/", "runs/one/tasks/task/from/x/", "assets/x"]
)
def test_what_is_not_there_is_no_page(written, look, path):
    written.ended("one")
    with pytest.raises(NoSuchPage):
        look(path)


@pytest.mark.parametrize(
    ("page", "path", "way"),
    [
        ("", "runs/a/", "runs/a/"),
        ("runs/a/", "", "../../"),
        ("runs/a/", "runs/a/", "./"),
        ("runs/a/tasks/t/", "assets/view.css", "../../../../assets/view.css"),
        ("page/2/", "runs/a/", "../../runs/a/"),
    ],
)
def test_links_lead_from_any_page_to_any_other(page, path, way):
    assert relative(page, path, static=False) == way


def test_a_mend_says_which_calls_it_was_held_against(written, look):
    task = written.task("mended")
    call = {"call_id": "c1", "tool": "mean"}
    written.happens(
        task,
        ev.ToolCallStarted(**call, version="v1", arguments={"values": "1;2"}),
        ev.ToolCallEnded(**call, seconds=0.1, error="it cannot read this"),
        ev.Judged(**call, verdict="failure", reason="an error", by="rule"),
        ev.ToolBuildStarted(tool="mean", build_id="b", purpose="enhance"),
        ev.ToolEnhanced(tool="mean", build_id="b", version="v2", previous="v1", attempts=1, replayed=3, records=3),
        ev.ToolCallStarted(call_id="c2", tool="mean", version="v2", arguments={"values": "later"}),
    )
    page = look("runs/mended/tasks/task/")
    mend = page[page.index('aria-label="Build of mean"') :]
    mend = mend[: mend.index("</article>")]
    for said in ("passed 3 of 3 recorded calls", 'href="#e1"', "1;2", "from the library"):
        assert said in mend, said
    assert "later" not in mend


def test_a_mend_says_exactly_which_calls_it_passed_and_how(written, look):
    task = written.task("mended")
    passed = (
        ev.ReplayedCall(call_id="c1", input='{"values": "1;2"}', word="mended", why="it is right now"),
        ev.ReplayedCall(call_id="far", input='{"values": "7"}', word="same", times=3),
        ev.ReplayedCall(call_id="lost", input='{"values": "9"}', word="not_run", why="its files are gone"),
    )
    better = {"version": "v2", "previous": "v1", "attempts": 1, "replayed": 4, "records": 5, "calls": passed}
    written.happens(
        task,
        ev.ToolCallStarted(call_id="c1", tool="mean", version="v1", arguments={"values": "1;2"}),
        ev.ToolCallStarted(call_id="c0", tool="mean", version="v1", arguments={"values": "not held against"}),
        ev.ToolBuildStarted(tool="mean", build_id="b", purpose="enhance"),
        ev.ToolEnhanced(tool="mean", build_id="b", **better),
    )
    page = look("runs/mended/tasks/task/")
    mend = page[page.index('aria-label="Build of mean"') :]
    items = re.findall(r"<li>.*?</li>", mend[: mend.index("</article>")])
    mended, same, left = (re.sub("<[^>]+>", "", item).replace("&#34;", '"') for item in items)
    assert mended == 'call mended {"values": "1;2"}: it is right now'
    assert 'href="#e1"' in items[0]
    assert same == 'same result {"values": "7"}, 3 times'
    assert left == 'not run {"values": "9"}: its files are gone'
    assert "not held against" not in mend


def test_two_tasks_stand_side_by_side_with_what_happened_in_each(written, look):
    written.ended("before")
    after = written.task("after")
    written.happens(after, ev.ToolCallStarted(call_id="c", tool="found", version="v", arguments={"a": "new way"}))
    after.set_state("stopped")
    (way,) = [link for link in links(look("compare/before/after/")) if link.endswith("task/task/")]
    assert way == "task/task/"
    page = look("compare/before/after/task/task/")
    for said in (
        "before › task",
        "after › task",
        "plan: build",
        "1 2 3",
        "new way",
        "of builder",
        "stopped",
        "after 2",
    ):
        assert said in page, said
    with pytest.raises(NoSuchPage):
        look("compare/before/after/task/nope/")


def test_a_training_shows_where_its_time_went(written, look):
    run = written.training("evolved")
    rows = [
        {"kind": "step_started", "at": 100.0, "step": 1},
        {"kind": "step_task_ended", "at": 110.0, "step": 1, "task_id": "quick", "status": "answered", "seconds": 10.0},
        {"kind": "step_task_ended", "at": 120.0, "step": 1, "task_id": "slow", "status": "answered", "seconds": 20.0},
        {"kind": "step_ended", "at": 150.0, "step": 1},
        {"kind": "step_task_ended", "at": "soon", "seconds": []},
    ]
    (run.path / "events.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    page = look("runs/evolved/")
    for said in ("Where time went", "tasks 30 s", "work on the library 30 s", "slow, 20 s", "step 1: library, 30 s"):
        assert said in page, said


def test_a_sum_with_an_unknown_cost_is_unknown_and_costs_sort_the_list(written, look):
    cheap, dear = (Usage(model_calls=1, prompt_tokens=10, cost=Decimal(cost)) for cost in ("0.25", "7.5"))
    written.ended("a-dear", usage=dear)
    written.ended("b-cheap", usage=cheap)
    written.ended("c-mixed", usage=dear)
    other = written.task("c-mixed", task_id="other")
    other.save_result(TaskResult(task_id="other", status="answered", question="?", usage=USED))
    page = look("", sort="cost")
    assert page.index("runs/a-dear/") < page.index("runs/b-cheap/") < page.index("runs/c-mixed/")
    assert page[page.index("runs/c-mixed/") :].count("7.5") == 0
    assert "cost 7.5" in look("runs/a-dear/")


def test_a_task_says_what_each_role_cost_and_an_unknown_cost_is_none(written, look):
    plans, writes = Usage(model_calls=2, prompt_tokens=10, cost=Decimal("0.25")), Usage(model_calls=1, prompt_tokens=5)
    written.ended("priced", usage=plans, usage_by_role={"basic": plans, "builder": writes})
    written.ended("unpriced", usage_by_role={"builder": writes})
    page = look("runs/priced/tasks/task/")
    rows = {role: re.findall(r'data-of="Cost">([^<]*)<', row) for role, row in re.findall(ROLE_ROW, page)}
    assert rows == {"basic": ["0.25"], "builder": ["–"]}
    assert 'data-of="Cost"' not in look("runs/unpriced/tasks/task/")


def test_a_run_lists_its_tasks_with_their_questions(written, look):
    written.task("both", "How many?", "one")
    written.task("both", "How long?", "two")
    page = look("runs/both/")
    assert "How many?" in page
    assert "How long?" in page
