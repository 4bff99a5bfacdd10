"""What a person could not see of who waited for what, if the picture of time left it out."""

from __future__ import annotations

import json

import pytest

from habilis.core import events as ev
from habilis.view.flame import flame, spans_of
from habilis.view.log import LoggedEvent

WAIT = {"kind": "build_awaited", "build_id": "b2", "tool": "average", "builder": "other"}
ENDS = (
    {"kind": "tool_adopted", "build_id": "b2", "tool": "mean"},
    {"kind": "tool_build_started", "build_id": "b2", "tool": "average"},
    {"kind": "build_awaited", "build_id": "b2", "tool": "average", "builder": "third"},
)


def events(*rows: dict[str, object]) -> list[LoggedEvent]:
    """These rows as a log, ten seconds apart."""
    return [LoggedEvent(number, {"at": 100.0 + 10 * number, **row}) for number, row in enumerate(rows, 1)]


@pytest.mark.parametrize("end", ENDS)
def test_a_wait_for_a_neighbours_build_lasts_until_it_goes_on(end):
    first = spans_of(events(WAIT, end, {"kind": "notice"}))[0]
    assert (first.kind, first.begin, first.end, first.open) == ("awaited", 110.0, 120.0, False)
    assert first.label == "waiting for other, which builds much the same as average"


def test_a_wait_that_goes_on_is_open_and_a_wait_is_no_work_of_the_task():
    spans = spans_of(events(WAIT, {"kind": "notice"}))
    assert [(span.kind, span.open, span.seconds) for span in spans] == [("awaited", True, 10.0)]
    picture = flame(spans)
    assert picture is not None
    assert picture.sums == {"awaited": 10.0}


def test_waits_of_two_builds_at_once_are_told_apart():
    other = {**WAIT, "build_id": "b3", "tool": "median"}
    spans = spans_of(events(WAIT, other, ENDS[0], {**ENDS[0], "build_id": "b3"}))
    assert [(span.begin, span.end) for span in spans] == [(110.0, 130.0), (120.0, 140.0)]


def test_the_page_says_who_waits_for_whom_and_leads_there(written, look):
    written.task("step", task_id="other")
    task = written.task("step", task_id="mine")
    rows = events(WAIT, ENDS[0] | {"version": "v", "origin_task": "other", "origin_tool": "mean"})
    task.events.write_text("".join(json.dumps(event.row) + "\n" for event in rows), "utf-8")
    page = look("runs/step/tasks/mine/")
    assert 'class="bar awaited"' in page
    assert "waiting for builds of other tasks 10 s" in page
    said = page[page.index('id="course"') :]
    assert '<a href="../other/">other</a>' in said
    assert "average" in said
    assert "taken over" in said


def test_a_name_that_is_no_task_leads_nowhere(written, look):
    task = written.task("step", task_id="mine")
    written.happens(task, ev.BuildAwaited(tool="average", builder="../../x", build_id="b"))
    page = look("runs/step/tasks/mine/")
    assert "../../x" in page
    assert 'href="../../../x' not in page
