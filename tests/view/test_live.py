"""Whoever watches a task sees each event without asking for it, and learns that it ended."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from urllib.parse import urlsplit

from habilis.view import app

from .conftest import course


class Watcher:
    """Reads the events of a page's stream, one at a time."""

    def __init__(self, address: str, path: str) -> None:
        parts = urlsplit(address)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        self._connection.request("GET", f"/?{parts.query}")
        welcome = self._connection.getresponse()
        welcome.read()
        cookie = str(welcome.headers["set-cookie"]).partition(";")[0]
        self._headers = {"Cookie": cookie}
        self._parts = parts
        self._connection.request("GET", path, headers=self._headers)
        self.reply = self._connection.getresponse()

    def next(self) -> str:
        """The name of the next event; it is waited for."""
        while True:
            line = self.reply.readline()
            if not line:
                return ""
            if line.startswith(b"event: "):
                return line[7:].strip().decode()

    def page(self, path: str) -> str:
        """What the page says now."""
        connection = http.client.HTTPConnection(self._parts.hostname or "", self._parts.port, timeout=60)
        connection.request("GET", path, headers=self._headers)
        text = connection.getresponse().read().decode()
        connection.close()
        return text

    def close(self) -> None:
        self.reply.close()
        self._connection.close()


@contextmanager
def watching(address: str, path: str) -> Iterator[Watcher]:
    watcher = Watcher(address, path)
    try:
        yield watcher
    finally:
        watcher.close()


def test_a_task_is_followed_from_its_first_event_to_its_last(written, address):
    task, here = written.task("live"), "/runs/live/tasks/task/"
    events = course("word")
    with task.lock(), watching(address, f"{here}live") as watcher:
        assert watcher.reply.headers["content-type"].startswith("text/event-stream")
        assert watcher.next() == "changed"
        assert "Nothing is recorded yet" in watcher.page(here)
        for number, event in enumerate(events):
            written.happens(task, event)
            assert watcher.next() == "changed", number
            if event.kind == "tool_call_started":
                assert 'badge busy">running' in watcher.page(here)
        task.set_state("finished", status="answered")
        assert watcher.next() == "ended"
        assert watcher.next() == ""
        page = watcher.page(here)
    assert "task ended" in page
    assert "data-live" not in page


def test_a_training_is_followed_as_its_tasks_end(written, address):
    run = written.training("evolved", 1)
    training = run.training
    training.set_state("running")
    with training.lock(), watching(address, "/runs/evolved/live") as watcher:
        assert watcher.next() == "changed"
        with training.predictions.open("a") as file:
            file.write('{"task_id": "t2", "step": 2, "status": "answered", "question": "Next?"}\n')
        assert watcher.next() == "changed"
        assert "steps/2/" in watcher.page("/runs/evolved/")
        training.set_state("finished")
        assert watcher.next() == "ended"


def test_a_task_that_ended_before_anybody_looked_is_not_waited_for(written, address):
    written.ended("one")
    with watching(address, "/runs/one/tasks/task/live") as watcher:
        assert [watcher.next(), watcher.next(), watcher.next()] == ["changed", "ended", ""]


def test_a_killed_task_ends_the_stream(written, address):
    task = written.task("killed")
    with watching(address, "/runs/killed/tasks/task/live") as watcher:
        with task.lock():
            pass
        assert "ended" in (watcher.next(), watcher.next())


async def test_a_silent_task_is_asked_for_its_process_now_and_then_and_looked_at_often(tmp_path, monkeypatch):
    """Whoever looks at the lock holds it for an instant: not ten times a second."""
    log, state, asked, looks = tmp_path / "events.jsonl", tmp_path / "state.json", list[int](), list[float]()

    async def passed(seconds: float) -> None:
        looks.append(seconds)

    monkeypatch.setattr(app, "asyncio", SimpleNamespace(sleep=passed))
    stream = app._changes([log], state, lambda: not asked.append(1), lambda: len(looks) > 320)
    assert [event.split()[1] async for event in stream] == ["changed", "still", "still"]
    assert len(looks) == 321
    assert len(asked) <= 33


async def test_the_last_event_is_told_before_the_end(tmp_path):
    log, state = tmp_path / "events.jsonl", tmp_path / "state.json"
    live = [True]
    stream = app._changes([log], state, lambda: live[0], lambda: False)
    assert "changed" in await anext(stream)
    log.write_text("{}\n")
    state.write_text("{}")
    live[0] = False
    assert [event.split()[1] async for event in stream] == ["changed", "ended"]
