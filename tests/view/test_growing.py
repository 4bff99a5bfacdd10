"""A page that follows its task: it reads and renders what is new alone, and still shows all of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from habilis.core import events as ev
from habilis.rundir import JsonlSink
from habilis.view.log import read_page
from habilis.view.runs import Runs
from habilis.view.site import Site

from .conftest import course

PAD = "x" * 3000


def lines(begin: int, end: int, word: str = "") -> str:
    return "".join(f'{{"at": 5, "kind": "notice", "text": "{word}{n}{PAD}"}}\n' for n in range(begin, end))


@pytest.fixture
def read_bytes(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many bytes were read at places of files since it was asked the last time."""
    read = [0]
    real = os.pread

    def counted(descriptor: int, size: int, at: int) -> bytes:
        found = real(descriptor, size, at)
        read[0] += len(found)
        return found

    def since() -> int:
        found, read[0] = read[0], 0
        return found

    monkeypatch.setattr(os, "pread", counted)
    return since


def test_of_a_log_that_grew_only_what_was_appended_is_counted(tmp_path: Path, read_bytes: Callable[[], int]) -> None:
    log = tmp_path / "events.jsonl"
    log.write_text(lines(0, 3000))
    assert read_page(log, newest=True).events[-1].number == 3000
    assert read_bytes() > 9_000_000
    with log.open("a") as stream:
        stream.write(lines(3000, 3002) + '{"torn')
    page = read_page(log, newest=True)
    assert [event.text("text").rstrip("x") for event in page.events[-2:]] == ["3000", "3001"]
    assert (page.lines, page.events[-1].number) == (3002, 3002)
    assert read_bytes() < 600_000
    assert [read_page(log, first).events[0].number for first in (1, 87, 1500, 3002)] == [1, 87, 1500, 3002]


@pytest.mark.parametrize("how", ["replaced", "cut", "rewritten", "torn and mended"])
def test_a_log_that_is_another_one_now_is_counted_anew(tmp_path: Path, how: str) -> None:
    log = tmp_path / "events.jsonl"
    log.write_text(lines(0, 300) + '{"torn')
    assert read_page(log).lines == 300
    if how == "replaced":
        (tmp_path / "new").write_text(lines(0, 400, "new"))
        (tmp_path / "new").replace(log)
    elif how == "cut":
        os.truncate(log, len(lines(0, 10)))
    elif how == "rewritten":
        log.write_text(lines(0, 400, "new"))
    else:
        sink = JsonlSink(log)
        sink.emit(ev.Notice(text="mended"))
        sink.close()
    expected = {"replaced": 400, "cut": 10, "rewritten": 400, "torn and mended": 302}[how]
    page = read_page(log, newest=True)
    assert (page.lines, page.events[-1].number) == (expected, expected)
    assert page.events[-1].text("text").startswith({"cut": "9x", "torn and mended": "mended"}.get(how, "new399"))


def test_a_page_asked_for_again_and_again_is_what_it_is_at_once(written, site: Site, tmp_path: Path) -> None:
    """After each event of a build with a mend, a call and a verdict: nothing of the page is older than the log."""
    path, task = "runs/live/tasks/task/", written.task("live")
    written.tape(task, {"k1": "def run():\n    return 1\n", "k2": "def run():\n    return 2\n"})
    with task.lock():
        for event in course():
            written.happens(task, event)
            fresh = Site(Runs(tmp_path / "runs"), tmp_path / "runs" / "library")
            assert site.page(path).body == fresh.page(path).body, event.kind
    task.set_state("finished", status="answered")
    assert b"data-live" not in site.page(path).body


def test_what_happened_before_is_rendered_once(written, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    from habilis.view import rendering

    path, task, said = "runs/live/tasks/task/", written.task("live"), list[str]()
    real = rendering.visible

    def noting(text: str) -> str:
        said.append(text)
        return real(text)

    monkeypatch.setattr(rendering, "visible", noting)
    with task.lock():
        written.happens(task, ev.Notice(text="the first"))
        site.page(path)
        assert "the first" in said
        said.clear()
        written.happens(task, ev.Notice(text="the second"))
        page = site.page(path).body
    assert b"the first" in page
    assert "the second" in said
    assert "the first" not in said
