"""What stands on the disk: in which form, who may read it, how much room is kept; and what a replay says of it."""

from __future__ import annotations

import json
import os
import re
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from habilis.core.errors import ReplayMismatch, UserError
from habilis.core.types import CallOutcome, Usage
from habilis.models.tape import LONGEST_REPLY, ModelRequest, Tape
from habilis.rundir import ahead

from .test_tape import ask, replies, request


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_equal_requests_are_counted_from_one_as_every_tape_has_them(tmp_path: Path) -> None:
    """A tape of before is read by these numbers."""
    path = tmp_path / "t"
    tape = Tape(path)
    assert tape.position() == 0
    for answer in ("first", "second"):
        ask(tape, "q", answer=answer)
    assert [line["n"] for line in lines(path) if line["kind"] == "reply"] == [1, 2]


def test_what_is_asked_stands_under_its_label_where_it_has_one(tmp_path: Path) -> None:
    path = tmp_path / "t"
    tape = Tape(path)
    ask(tape, "q", answer="a")
    named = ModelRequest("basic", "plan", request("r").messages, label="a closer word")
    tape.record_reply(tape.slot(named), {"content": "b"}, Usage())
    assert [line["purpose"] for line in lines(path) if line["kind"] == "reply"] == ["plan", "a closer word"]


def test_a_tape_is_for_its_owner_and_readable_in_every_script(tmp_path: Path) -> None:
    path = tmp_path / "t"
    ask(Tape(path), "Wie groß?", answer="五")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "Wie groß?" in path.read_text(encoding="utf-8")
    assert "五" in path.read_text(encoding="utf-8")


def test_a_tape_whose_file_was_removed_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "t"
    tape = Tape(path)
    ask(tape, "q", answer="a")
    tape.close()
    path.unlink()
    tape.note("k", "v")
    assert [line["kind"] for line in lines(path)] == ["tape", "noted"]


def test_what_is_damaged_is_said_in_one_line_that_stays_short(tmp_path: Path) -> None:
    path = tmp_path / "t"
    ask(Tape(path), "q", answer="a")
    outcome = {"error": {"kind": "no such kind", "message": 5, "exception": "x " * 300}}
    with path.open("a") as file:
        file.write(json.dumps({"kind": "ended", "key": "c1", "outcome": outcome}) + "\n")
    with pytest.raises(UserError) as told:
        Tape(path)
    (what,) = re.findall("is damaged at line 4: (.*); 'habilis runs check --repair'", str(told.value))
    assert len(what) == 200


# --- choices and calls


def test_a_choice_is_known_at_once_and_after_a_kill_and_written_once(tmp_path: Path) -> None:
    path = tmp_path / "t"
    tape = Tape(path)
    for text in ("yes", "yes", "no"):
        tape.note("judge/one", text)
        assert tape.noted("judge/one") == text
    tape.note("other", "x")
    again = Tape(path)
    assert [again.noted(key) for key in ("judge/one", "other", "none")] == ["no", "x", None]
    assert again.noted_under("judge/") == {"judge/one": "no"}
    assert [line["text"] for line in lines(path) if line["kind"] == "noted"] == ["yes", "no", "x"]


def test_only_a_call_that_is_under_way_can_be_withdrawn_and_is_forgotten_at_once(tmp_path: Path) -> None:
    tape, done = Tape(tmp_path / "t"), CallOutcome(output=1)
    tape.call_started("c1", "tool", "writes")
    tape.call_withdrawn("c1")
    assert tape.call_state("c1") is None
    tape.call_started("c2", "tool", "writes")
    tape.call_ended("c2", done)
    tape.call_withdrawn("c2")
    assert (tape.call_state("c2"), Tape(tmp_path / "t").call_state("c2")) == (done, done)


def test_a_place_goes_back_only_where_nothing_was_written_and_nobody_came_behind(tmp_path: Path) -> None:
    path = tmp_path / "t"
    tape = Tape(path)
    first, second = tape.slot(request("q")), tape.slot(request("q"))
    tape.release(first)  # the second one keeps its number
    tape.record_reply(second, {"content": "second"}, Usage())
    tape.release(second)
    ask(tape, "q", answer="third")
    assert [line["n"] for line in lines(path) if line["kind"] == "reply"] == [2, 3]


def test_asking_again_what_was_refused_moves_no_checkpoint_before_it_is_answered(tmp_path: Path) -> None:
    """Killed in between, a task would go on behind the answer that it never got."""
    tape = Tape(tmp_path / "t")
    tape.record_refusal(tape.slot(request("q")), "HTTP 401", Usage(), final=True)
    mended = Tape(tmp_path / "t")
    assert mended.slot(request("q")).entry is None
    assert mended.position() == 0


# --- the disk


class Disk:
    """Notes how long the file at `path` was each time that it was brought to the disk; the first time takes until
    `go`. A tape that another test left open may be brought there at the same time: it does not count."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
        self.begun, self.go, self.synced = threading.Event(), threading.Event(), list[int]()
        self._path = path
        self._sync = os.fsync
        monkeypatch.setattr(os, "fdatasync", self.sync, raising=False)

    def sync(self, descriptor: int) -> None:
        if not os.path.samestat(os.fstat(descriptor), self._path.stat()):
            self._sync(descriptor)
            return
        self.begun.set()
        self.go.wait()
        self._sync(descriptor)
        self.synced.append(os.fstat(descriptor).st_size)


def test_what_is_written_is_on_the_disk_when_the_tape_is_closed_and_a_slow_disk_is_asked_once_for_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t"
    disk = Disk(monkeypatch, path)
    tape, other = Tape(path), Tape(tmp_path / "other")
    other.note("k", "v")
    other.close()
    tape.note("k0", "v")
    disk.begun.wait()
    for number in range(1, 6):
        tape.note(f"k{number}", "v")
    syncer, closing = tape._syncer, threading.Thread(target=tape.close)
    closing.start()
    while closing.is_alive() and not syncer._shutdown:
        pass  # now it waits for the disk, or does not wait at all
    disk.go.set()
    closing.join()
    assert len(disk.synced) == 2
    assert disk.synced[-1] == path.stat().st_size


def test_a_tape_that_goes_on_after_it_was_closed_is_brought_to_the_disk_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t"
    disk = Disk(monkeypatch, path)
    disk.go.set()
    tape = Tape(path)
    for key in "ab":
        tape.note(key, "v")
        tape.close()
        assert disk.synced[-1] == path.stat().st_size


def room(path: Path) -> int:
    """Bytes that the disk keeps for a file."""
    return path.stat().st_blocks * 512


def test_room_for_a_reply_is_kept_before_it_is_paid_for_and_given_back(tmp_path: Path) -> None:
    with (tmp_path / "probe").open("wb") as probe:
        if not ahead.reserve(probe.fileno(), 1):
            pytest.skip("this file system keeps no room")
    path = tmp_path / "t"
    tape = Tape(path)
    tape.reserve()
    assert room(path) >= LONGEST_REPLY
    ask(tape, "q", answer="a")
    tape.close()
    assert room(path) < LONGEST_REPLY
    Tape(path, replay_only=True).reserve()
    assert room(path) < LONGEST_REPLY, "a replay pays for nothing"
    assert replies(Tape(path), "q") == {"content": "a"}


def test_a_tape_that_was_never_written_can_be_closed(tmp_path: Path) -> None:
    Tape(tmp_path / "t").close()
    assert not (tmp_path / "t").exists()


# --- what a replay says


def difference(path: Path, *texts: str, **more: Any) -> str:
    replay = Tape(path, replay_only=True)
    assert replies(replay, "one") == {"content": "1"}
    with pytest.raises(ReplayMismatch) as caught:
        replay.slot(request(*texts, **more))
    return str(caught.value)


def test_a_request_that_differs_is_held_against_the_one_that_it_stands_for(tmp_path: Path) -> None:
    """What was asked already is not meant, and of the rest the one that was asked for the same purpose."""
    path = tmp_path / "t"
    tape = Tape(path)
    ask(tape, "one", answer="1")
    ask(tape, "two", answer="2", purpose="review")
    ask(tape, "three", answer="3")
    told = difference(path, "four")
    assert "three" in told
    assert not re.search("one|two", told)
    assert "two" in difference(path, "four", purpose="review")
    assert "two" in difference(path, "four", purpose="a new one"), "the next one, where no purpose is the same"


def test_a_request_of_the_same_messages_with_other_tools_is_said_to_be_one(tmp_path: Path) -> None:
    path = tmp_path / "t"
    tape = Tape(path)
    ask(tape, "one", answer="1")
    ask(tape, "two", answer="2")
    replay = Tape(path, replay_only=True)
    assert replies(replay, "one") == {"content": "1"}
    with pytest.raises(ReplayMismatch, match="same messages, but other tools or another form of answer"):
        replay.slot(ModelRequest("basic", "plan", request("two").messages, ({"name": "t"},)))
