"""What a user would lose: a paid model call, a finished tool call, or a replay that says what differs."""

from __future__ import annotations

import contextlib
import json
import resource
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from habilis.core.errors import ReplayMismatch, UserError
from habilis.core.types import CallOutcome, Usage
from habilis.models.tape import ModelRequest, Slot, Tape
from habilis.rundir.kept import KeptFolder, as_kept
from habilis.rundir.store import FileStore

PAID = Usage(model_calls=1, prompt_tokens=10, completion_tokens=5)


def request(*texts: str, role: Any = "basic", purpose: str = "plan") -> ModelRequest:
    return ModelRequest(role, purpose, tuple({"type": "human", "content": text} for text in texts))


def ask(tape: Tape, *texts: str, answer: str, **more: Any) -> Slot:
    slot = tape.slot(request(*texts, **more))
    assert slot.entry is None
    tape.record_reply(slot, {"content": answer}, PAID, model="m", mode="json_schema")
    return slot


def replies(tape: Tape, *texts: str, **more: Any) -> Any:
    entry = tape.slot(request(*texts, **more)).entry
    return entry and entry.reply


def test_a_finished_call_is_answered_from_the_tape_after_a_kill(tmp_path: Path) -> None:
    ask(Tape(tmp_path / "tape.jsonl"), "q", answer="a")  # never closed
    slot = Tape(tmp_path / "tape.jsonl").slot(request("q"))
    assert slot.entry is not None
    assert (slot.entry.reply, slot.entry.usage, slot.entry.mode) == ({"content": "a"}, PAID, "json_schema")


def test_equal_requests_are_told_apart_by_how_often_they_came(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "t")
    ask(tape, "q", answer="first")
    ask(tape, "q", answer="second")
    again = Tape(tmp_path / "t")
    assert [replies(again, "q"), replies(again, "q"), replies(again, "q")] == [
        {"content": "first"},
        {"content": "second"},
        None,
    ]


def test_role_messages_tools_and_form_make_a_request_another(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "t")
    ask(tape, "q", answer="a")
    plain = request("q")
    assert tape.slot(request("q", role="judge")).entry is None
    assert tape.slot(ModelRequest("basic", "plan", plain.messages, ({"name": "t"},))).entry is None
    assert tape.slot(ModelRequest("basic", "plan", plain.messages, (), {"name": "P"})).entry is None
    again = Tape(tmp_path / "t")
    assert replies(again, "q", purpose="another purpose") == {"content": "a"}


def test_a_torn_last_line_counts_as_never_written(tmp_path: Path) -> None:
    path = tmp_path / "t"
    ask(Tape(path), "q", answer="a")
    whole = path.read_bytes()
    ask(Tape(path), "q2", answer="b")
    path.write_bytes(path.read_bytes()[:-7])
    tape = Tape(path)
    assert replies(tape, "q") == {"content": "a"}
    ask(tape, "q2", answer="b again")
    assert path.read_bytes().startswith(whole)
    last = Tape(path)
    assert (replies(last, "q"), replies(last, "q2")) == ({"content": "a"}, {"content": "b again"})


@pytest.mark.parametrize("cut", range(1, 40, 3))
def test_a_kill_at_any_byte_leaves_a_tape_that_opens(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "t"
    tape = Tape(path)
    ask(tape, "q", answer="ü" * 5)
    tape.call_started("c1", "tool", "writes")
    path.write_bytes(path.read_bytes()[:-cut])
    ask(Tape(path), "next", answer="n")
    assert replies(Tape(path), "next") == {"content": "n"}


def test_damage_before_the_end_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t"
    ask(Tape(path), "q", answer="a")
    path.write_text("garbage\n" + path.read_text())
    with pytest.raises(UserError, match="damaged at line 1"):
        Tape(path)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t").write_text('{"kind": "tape", "format": 99}\n')
    with pytest.raises(UserError, match="newer version"):
        Tape(tmp_path / "t")


def test_each_message_is_stored_once(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "t")
    ask(tape, "long " * 100, answer="a")
    ask(tape, "long " * 100, "more", answer="b")
    kinds = [json.loads(line)["kind"] for line in (tmp_path / "t").read_text().splitlines()]
    assert kinds == ["tape", "message", "reply", "message", "reply"]


def test_a_call_that_was_broken_off_gives_its_place_back(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "t")
    tape.release(tape.slot(request("q")))
    ask(tape, "q", answer="a")
    assert replies(Tape(tmp_path / "t"), "q") == {"content": "a"}


def test_a_refusal_that_ended_the_task_is_asked_again_but_replayed_as_it_was(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "t")
    tape.record_refusal(tape.slot(request("q")), "HTTP 401", PAID, final=True)
    replay = Tape(tmp_path / "t", replay_only=True).slot(request("q")).entry
    assert replay is not None
    assert replay.error == "HTTP 401"
    mended = Tape(tmp_path / "t")
    ask(mended, "q", answer="now it works")
    assert replies(Tape(tmp_path / "t"), "q") == {"content": "now it works"}


def test_a_refusal_that_could_be_gone_on_from_is_not_asked_again(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "t")
    tape.record_refusal(tape.slot(request("q")), "HTTP 400", PAID, mode="json_schema", final=False)
    entry = Tape(tmp_path / "t").slot(request("q")).entry
    assert entry is not None
    assert (entry.error, entry.mode) == ("HTTP 400", "json_schema")


def test_a_resumed_task_counts_from_its_checkpoint(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "t")
    ask(tape, "q", answer="before the checkpoint")
    checkpoint = tape.position()
    ask(tape, "q", answer="behind it")
    resumed = Tape(tmp_path / "t")
    resumed.resume_at(checkpoint)
    assert resumed.paid() == {"basic": PAID + PAID}
    assert replies(resumed, "q") == {"content": "behind it"}
    assert resumed.position() == 2
    assert resumed.paid() == {"basic": PAID + PAID}


def test_the_first_request_that_differs_is_named(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "t")
    ask(tape, "system", "What is the mean of a.csv?", answer="a")
    ask(tape, "system", "Judge the answer", answer="b", role="judge", purpose="review")
    replay = Tape(tmp_path / "t", replay_only=True)
    assert replies(replay, "system", "What is the mean of a.csv?") == {"content": "a"}
    with pytest.raises(ReplayMismatch) as caught:
        replay.slot(request("system", "Judge the question", role="judge", purpose="review"))
    said = str(caught.value)
    assert "model call 2 (judge, review)" in said
    assert "message 2 differs" in said
    assert "Judge the answer" in said
    assert "Judge the question" in said


def test_a_replay_past_the_end_and_one_with_more_messages_say_so(tmp_path: Path) -> None:
    ask(Tape(tmp_path / "t"), "q", answer="a")
    with pytest.raises(ReplayMismatch, match="2 messages now, 1 then"):
        Tape(tmp_path / "t", replay_only=True).slot(request("q", "r"))
    with pytest.raises(ReplayMismatch, match="no further call of this role"):
        Tape(tmp_path / "t", replay_only=True).slot(request("q", role="judge"))


def test_a_replay_writes_nothing_and_needs_a_recording(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no recorded model call"):
        Tape(tmp_path / "none", replay_only=True)
    ask(Tape(tmp_path / "t"), "q", answer="a")
    before = (tmp_path / "t").read_bytes()
    replay = Tape(tmp_path / "t", replay_only=True)
    replay.call_started("c1", "tool", "pure")
    replay.answered("q1", "yes")
    assert (tmp_path / "t").read_bytes() == before
    assert replay.call_state("c1") == "started"


def test_tool_calls_and_answers_are_known_after_a_kill(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "t")
    done = CallOutcome(output={"mean": 3.5}, made=("out.csv",))
    tape.call_started("c1", "mean", "reads")
    tape.call_ended("c1", done)
    tape.call_started("c2", "write", "writes")
    tape.answered("ask1", "the second one")
    assert (tape.call_state("c1"), tape.answer("ask1")) == (done, "the second one"), "known at once"
    again = Tape(tmp_path / "t")
    assert again.call_state("c1") == done
    assert again.call_state("c2") == "started"
    assert again.call_state("c3") is None
    again.call_withdrawn("c2")
    again.call_started("c4", "write", "writes")
    again.call_started("c4", "write", "writes")
    last = Tape(tmp_path / "t")
    assert [last.call_state(key) for key in ("c1", "c2", "c4")] == [done, None, "started"]
    assert (tmp_path / "t").read_text().count('"c4"') == 1, "counted as one call"
    assert again.answer("ask1") == "the second one"
    assert again.answer("ask2") is None


def test_concurrent_callers_lose_nothing(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "t")

    def many(name: str) -> None:
        for number in range(20):
            ask(tape, f"{name}{number}", answer=name)
            tape.call_started(f"{name}{number}", "t", "pure")

    threads = [threading.Thread(target=many, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    again = Tape(tmp_path / "t")
    assert all(replies(again, f"{name}{n}") == {"content": name} for name in "abcd" for n in range(20))
    assert all(again.call_state(f"{name}{n}") == "started" for name in "abcd" for n in range(20))


def test_what_was_paid_is_the_sum_of_all_calls_of_models_and_of_tools_that_ask_models(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "t")
    for number in range(3):
        ask(tape, f"q{number}", answer="a")
        tape.call_ended(f"c{number}", CallOutcome(output=1, usage=PAID))
    ask(tape, "other", answer="a", role="judge")
    tape.call_ended("free", CallOutcome(output=1))
    assert Tape(tmp_path / "t").paid() == {"basic": PAID + PAID + PAID, "judge": PAID, "tools": PAID + PAID + PAID}
    assert Tape(tmp_path / "t", replay_only=True).paid() == {}, "a replay costs nothing"


def test_a_tape_torn_in_its_first_line_begins_anew(tmp_path: Path) -> None:
    for begun in (b"", b'{"kind": "ta'):
        (tmp_path / "t").write_bytes(begun)
        ask(Tape(tmp_path / "t"), "q", answer="a")
        first, *_ = (tmp_path / "t").read_text().splitlines()
        assert json.loads(first)["kind"] == "tape"
        assert replies(Tape(tmp_path / "t"), "q") == {"content": "a"}


def test_the_folder_of_a_tape_is_made_when_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "t"
    tape = Tape(path)
    assert not path.parent.exists()
    ask(tape, "q", answer="a")
    assert replies(Tape(path), "q") == {"content": "a"}


def test_a_tape_in_a_kept_folder_reaches_the_store_line_by_line_and_with_the_files_of_a_call(tmp_path: Path) -> None:
    root, store = tmp_path / "run", FileStore(tmp_path / "store")
    task = root / "tasks" / "one"
    (task / "workspace").mkdir(parents=True)
    kept = KeptFolder(root, store, store.lease("run", "a test"), "run")
    with as_kept(kept):
        tape = Tape(task / "tape.jsonl")
        ask(tape, "q", answer="a")
        assert store.read("run/tasks/one/tape.jsonl") == (task / "tape.jsonl").read_bytes()
        (task / "workspace" / "out.txt").write_text("made by the call")
        tape.call_ended("c1", CallOutcome(output=1))
        assert store.read("run/tasks/one/tape.jsonl") == (task / "tape.jsonl").read_bytes()
        tree = store.read("run/tasks/one/tree.json")
        assert tree is not None
        assert b"workspace/out.txt" in tree, "what the call left is there no later than its end"
        tape.close()
    store.close()


def test_odd_text_comes_back_as_it_was(tmp_path: Path) -> None:
    odd = "line\u2028sep \ud800 \x00 \U0001f600"
    ask(Tape(tmp_path / "t"), odd, answer=odd)
    assert replies(Tape(tmp_path / "t"), odd) == {"content": odd}


def test_closing_and_going_on_keeps_everything(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "t")
    ask(tape, "a", answer="1")
    tape.close()
    ask(tape, "b", answer="2")
    again = Tape(tmp_path / "t")
    assert (replies(again, "a"), replies(again, "b")) == ({"content": "1"}, {"content": "2"})


@contextlib.contextmanager
def _files_end_at(size: int) -> Iterator[None]:
    """The disk takes no byte of a file beyond `size`, as if it were full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_said_with_the_name_of_the_tape_and_leaves_no_half_line(tmp_path: Path) -> None:
    path = tmp_path / "t"
    tape = Tape(path)
    ask(tape, "a", answer="1")
    tape.close()
    whole = path.read_bytes()
    with _files_end_at(len(whole) + 20), pytest.raises(OSError, match="too large") as refused:
        ask(tape, "b", answer="2")
    assert refused.value.filename == str(path)
    assert path.read_bytes() == whole
    ask(tape, "c", answer="3")
    again = Tape(path)
    assert (replies(again, "a"), replies(again, "b"), replies(again, "c")) == ({"content": "1"}, None, {"content": "3"})


def test_a_tape_that_was_used_beyond_a_checkpoint_goes_back_to_it(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "t")
    ask(tape, "q", answer="first")
    checkpoint = tape.position()
    ask(tape, "q", answer="second")
    tape.resume_at(checkpoint)
    assert replies(tape, "q") == {"content": "second"}, "it is paid for already"
