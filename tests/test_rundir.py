"""What a run leaves on disk: names that cannot escape, files that are whole, states that tell the truth."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from datetime import datetime
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from habilis.core.errors import UserError
from habilis.core.events import Notice
from habilis.core.types import Task, TaskResult
from habilis.rundir import (
    Cleaning,
    JsonlSink,
    RunDir,
    TaskDir,
    atomic_write,
    check_run_name,
    cleanable,
    find_run,
    finish_removals,
    list_runs,
    masked,
    newest_unfinished,
    plain_json,
    read_jsonl,
    safe_id,
    slugify,
)
from habilis.rundir.files import row_of
from habilis.rundir.locks import held
from habilis.rundir.seals import sealed

NOON = datetime(2026, 1, 2, 12, 0, 0)


def finished(root: Path, name: str, created: str = "2026-01-01T00:00:00+00:00", status: str = "answered") -> RunDir:
    run = RunDir.create(root, name)
    run.write_run(created=created)
    run.task("t").save_result(TaskResult(task_id="t", status=status, question="q"))  # type: ignore[arg-type]
    return run


# --- names ---


@given(st.text())
def test_no_question_makes_a_name_that_leaves_the_folder_or_is_too_long(text: str) -> None:
    slug = slugify(text)
    assert len(slug.encode()) <= 80
    assert all(character.isalnum() or character == "-" for character in slug)
    assert not slug.startswith("-")
    assert Path("root", f"x{slug}").parent == Path("root")


@given(st.text())
def test_no_task_id_leaves_the_folder(text: str) -> None:
    name = safe_id(text)
    assert name.isascii()
    assert 0 < len(name) <= 80
    assert name not in {".", ".."}
    assert not name.startswith((".", "-"))
    assert "/" not in name
    assert safe_id(name) == name


@given(st.text(), st.text())
def test_two_task_ids_never_share_a_folder(one: str, other: str) -> None:
    assert (safe_id(one) == safe_id(other)) == (one == other) or one in (safe_id(other),) or other in (safe_id(one),)


@pytest.mark.parametrize(
    "name", ["library", "Library", "LIBRARY", "..", ".", "", "a/b", "/etc", ".x", "-x", "a\nb", "x" * 300]
)
def test_a_run_cannot_take_the_librarys_place_or_leave_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError):
        RunDir.create(tmp_path / "runs", name)
    assert not (tmp_path / "runs").exists()


def test_a_default_name_tells_time_and_question(tmp_path: Path) -> None:
    run = RunDir.create(tmp_path, label="What is the AVERAGE price/cost?", now=NOON)
    assert run.name == "20260102-120000-what-is-the-average-price-cost"
    assert RunDir.create(tmp_path, label="平均价格是多少?", now=NOON).name == "20260102-120000-平均价格是多少"


def test_runs_started_in_the_same_second_never_share_a_folder(tmp_path: Path) -> None:
    names: list[str] = []

    def start() -> None:
        names.append(RunDir.create(tmp_path, label="q", now=NOON).name)

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(names)) == 8


def test_a_named_run_is_not_overwritten(tmp_path: Path) -> None:
    RunDir.create(tmp_path, "mine")
    with pytest.raises(UserError, match="exists"):
        RunDir.create(tmp_path, "mine")


def test_a_folder_with_other_files_is_not_taken_for_a_run(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match="not empty"):
        RunDir.at(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_runs_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("")
    with pytest.raises(UserError, match="runs: a file of that name is in the way"):
        RunDir.create(tmp_path / "runs")


# --- run.yaml ---


def test_secrets_never_reach_the_disk(tmp_path: Path) -> None:
    settings = {
        "models": {
            "basic": {
                "base_url": "https://me:hunter2@host/v1",
                "api_key_env": "sk-abcdefghijklmnop1234",
                "headers": {"X-Anything": "hunter2"},
                "options": {"api_key": "hunter2", "nested": {"password": "hunter2"}, "note": "Bearer hunter2"},
                "token_limit": 4000,
            }
        },
        "writer": {"command": ["prog", "--api-key", "hunter2", "--token=hunter2", "-v"]},
    }
    run = RunDir.create(tmp_path)
    run.write_run(settings, sandbox_level="bubblewrap")
    text = (run.path / "run.yaml").read_text()
    assert "hunter2" not in text
    assert "sk-abc" not in text
    stored = yaml.safe_load(text)
    assert stored["format"] == 1
    assert stored["sandbox_level"] == "bubblewrap"
    assert stored["settings"]["models"]["basic"]["token_limit"] == 4000
    assert stored["settings"]["writer"]["command"] == ["prog", "--api-key", "***", "--token=***", "-v"]
    assert stored["versions"]["habilis"]


def test_masking_leaves_what_is_no_secret() -> None:
    plain = {"api_key_env": "OPENAI_API_KEY", "max_tokens": 5, "base_url": "http://localhost:1/v1", "model": "sk"}
    assert masked(plain) == plain


def test_a_run_of_a_later_version_is_refused_not_misread(tmp_path: Path) -> None:
    run = RunDir.create(tmp_path)
    (run.path / "run.yaml").write_text("format: 99\n")
    with pytest.raises(UserError, match="format 99"):
        run.read_run()


def test_a_second_write_keeps_when_the_run_was_made(tmp_path: Path) -> None:
    run = RunDir.create(tmp_path)
    run.write_run(created="2020-01-01T00:00:00+00:00")
    run.write_run({"a": 1})
    assert run.read_run()["created"] == "2020-01-01T00:00:00+00:00"
    assert run.created == 1577836800.0


# --- tasks ---


def test_what_was_asked_and_what_came_of_it_come_back_whole(tmp_path: Path) -> None:
    task = RunDir.create(tmp_path).task("t/1")
    asked = Task(id="t/1", question="Wie weit? \udc80 \x00")
    result = TaskResult(task_id="t/1", status="gave_up", question="q", error="no \ud800")
    task.save_task(asked, {"library": "lib"})
    task.save_result(result)
    assert task.load_task() == (asked, {"library": "lib"})
    assert task.load_result() == result
    assert task.workspace.is_dir()
    assert task.tools.is_dir()


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    task = RunDir.create(tmp_path).task("t")
    assert task.load_task() is None
    assert task.load_result() is None
    task.result.write_text('{"format": 1, "status":')
    with pytest.raises(UserError, match=r"result\.json"):
        task.load_result()
    task.task.write_text("[]")
    with pytest.raises(UserError, match=r"task\.json"):
        task.load_task()


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("answered", "finished"),
        ("gave_up", "finished"),
        ("waiting", "waiting"),
        ("interrupted", "stopped"),
        ("crashed", "failed"),
        ("budget", "failed"),
    ],
)
def test_the_state_follows_from_the_result(tmp_path: Path, status: str, state: str) -> None:
    run = finished(tmp_path, "r", status=status)
    assert run.task("t").read_state() == state
    assert run.state() == state


def test_a_running_task_is_seen_running_and_a_killed_one_stopped(tmp_path: Path) -> None:
    task = RunDir.create(tmp_path, "r").task("t")
    script = (
        "import sys, pathlib; from habilis.rundir import RunDir\n"
        "task = RunDir.open(pathlib.Path(sys.argv[1])).task('t')\n"
        "with task.lock():\n    task.set_state('running'); print('held', flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(task.run.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert task.read_state() == "running"
        assert newest_unfinished(tmp_path) is None
        with pytest.raises(UserError, match="another process"), task.lock():
            pass
        with pytest.raises(UserError, match="another process"):
            task.run.remove()
        holder.send_signal(signal.SIGKILL)
    assert task.read_state() == "stopped"
    assert newest_unfinished(tmp_path) == task
    with task.lock():
        pass


# --- files that survive a kill ---


def test_a_write_killed_anywhere_leaves_the_old_or_the_new_file(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    script = (
        "import sys, pathlib; from habilis.rundir import atomic_write\n"
        "print('on', flush=True)\n"
        "for n in range(10**9): atomic_write(pathlib.Path(sys.argv[1]), str(n) * 5000, durable=False)\n"
    )
    for _ in range(3):
        with subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            while not path.exists():
                os.sched_yield()
            seen = {path.read_text()[:20] for _ in range(200)}
            writer.send_signal(signal.SIGKILL)
        text = path.read_text()
        size = len(text) // 5000
        assert seen
        assert len(text) == 5000 * size
        assert text == text[:size] * 5000


def test_a_write_that_fails_leaves_what_was_there_and_no_litter(tmp_path: Path) -> None:
    path = tmp_path / "in_the_way"
    (path / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match="in_the_way"):
        atomic_write(path, "new")
    assert [p.name for p in tmp_path.iterdir()] == ["in_the_way"]


def test_events_survive_a_kill_and_a_torn_line_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "events.jsonl"
    script = (
        "import sys, os, pathlib; from habilis.rundir import JsonlSink; from habilis.core.events import Notice\n"
        "sink = JsonlSink(pathlib.Path(sys.argv[1]))\n"
        "for n in range(50): sink.emit(Notice(text=str(n)))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([sys.executable, "-c", script, str(path)], check=False).returncode == -9
    assert [row["text"] for row in read_jsonl(path)] == [str(n) for n in range(50)]
    with path.open("a") as out:
        out.write('{"kind": "noti')
    sink = JsonlSink(path)
    sink.emit(Notice(text="after"))
    sink.close()
    assert [row["text"] for row in read_jsonl(path)][-2:] == ["49", "after"]


def test_each_event_is_one_line_of_json_with_its_time(tmp_path: Path) -> None:
    sink = JsonlSink(tmp_path / "e.jsonl")
    sink.emit(Notice(text="two\nlines \u2028 \udc80 平均"))
    sink.close()
    lines = (tmp_path / "e.jsonl").read_bytes().split(b"\n")
    assert len(lines) == 2
    row = json.loads(lines[0])
    assert isinstance(row["at"], float)
    assert row["text"] == "two\nlines \u2028 \udc80 平均"


def test_a_record_that_cannot_be_written_does_not_break_the_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    sink = JsonlSink(tmp_path / "file" / "events.jsonl")
    sink.emit(Notice(text="a"))
    sink.emit(Notice(text="b"))
    assert [record.message.split(":")[0] for record in caplog.records] == [
        f"events are no longer recorded in {tmp_path / 'file' / 'events.jsonl'}"
    ]


# --- finding and cleaning ---


def test_runs_are_listed_newest_first_and_the_library_is_none(tmp_path: Path) -> None:
    assert list_runs(tmp_path / "nowhere") == []
    finished(tmp_path, "a", "2026-01-01T00:00:00+00:00")
    finished(tmp_path, "b", "2026-01-03T00:00:00+00:00")
    finished(tmp_path, "c", "2026-01-02T00:00:00+00:00")
    (tmp_path / "library").mkdir()
    (tmp_path / "notes.txt").write_text("")
    assert [run.name for run in list_runs(tmp_path)] == ["b", "c", "a"]


def test_a_run_is_found_by_path_name_or_start_and_a_near_miss_is_named(tmp_path: Path) -> None:
    finished(tmp_path, "20260101-average")
    finished(tmp_path, "20260102-primes")
    assert find_run(tmp_path, "20260101-average").name == "20260101-average"
    assert find_run(tmp_path, "20260102").name == "20260102-primes"
    assert find_run(Path("elsewhere"), str(tmp_path / "20260102-primes")).name == "20260102-primes"
    with pytest.raises(UserError, match="any of 2"):
        find_run(tmp_path, "202601")
    with pytest.raises(UserError, match="did you mean 20260101-average"):
        find_run(tmp_path, "20260101-avreage")
    with pytest.raises(UserError, match="no run named"):
        find_run(tmp_path, "")


@pytest.mark.parametrize(
    ("status", "found"),
    [("budget", True), ("unreachable", True), ("misconfigured", True), ("interrupted", True), ("gave_up", False)],
)
def test_what_can_go_on_is_found_without_its_name(tmp_path: Path, status: str, found: bool) -> None:
    finished(tmp_path, "old", "2026-01-01T00:00:00+00:00", status=status)
    finished(tmp_path, "new", "2026-01-02T00:00:00+00:00")
    task = newest_unfinished(tmp_path)
    assert (task is not None and task.run.name == "old") == found


def names(pairs: list[tuple[RunDir, int]] | list[tuple[RunDir, str]]) -> list[str]:
    return [run.name for run, _ in pairs]


def test_cleaning_takes_finished_runs_by_age_size_and_number(tmp_path: Path) -> None:
    for day in range(1, 6):
        run = finished(tmp_path, f"r{day}", f"2026-01-0{day}T00:00:00+00:00")
        (run.path / "big").write_bytes(b"x" * 100_000)
    now = datetime.fromisoformat("2026-01-06T00:00:00+00:00").timestamp()
    day_s = 86_400.0
    assert names(cleanable(tmp_path, Cleaning(older_than_s=2.5 * day_s), now)[0]) == ["r1", "r2", "r3"]
    assert names(cleanable(tmp_path, Cleaning(older_than_s=2.5 * day_s, keep=4), now)[0]) == ["r1"]
    assert names(cleanable(tmp_path, Cleaning(max_bytes=250_000), now)[0]) == ["r1", "r2", "r3"]
    assert names(cleanable(tmp_path, Cleaning(keep=2), now)[0]) == ["r1", "r2", "r3"]
    assert names(cleanable(tmp_path, Cleaning(older_than_s=100 * day_s), now)[0]) == []


def test_cleaning_never_takes_work_that_is_not_finished(tmp_path: Path) -> None:
    waiting = finished(tmp_path, "asks", status="waiting")
    running = finished(tmp_path, "runs")
    task: TaskDir = running.task("t")
    with task.lock():
        task.set_state("running")
        go, stay = cleanable(tmp_path, Cleaning(keep=0), 2e9)
        assert (names(go), sorted(names(stay))) == ([], ["asks", "runs"])
        go, stay = cleanable(tmp_path, Cleaning(keep=0, force=True), 2e9)
        assert (names(go), names(stay)) == (["asks"], ["runs"])
    assert waiting.path.exists()


def test_cleaning_takes_a_run_that_was_killed_before_its_task_began_but_none_that_begins_now(tmp_path: Path) -> None:
    run = RunDir.create(tmp_path, "empty")
    assert names(cleanable(tmp_path, Cleaning(keep=0), run.created + 10)[0]) == []
    assert names(cleanable(tmp_path, Cleaning(keep=0), run.created + 7200)[0]) == ["empty"]


def test_removal_copes_with_folders_a_tool_made_unwritable_and_leaves_links_targets_alone(tmp_path: Path) -> None:
    run = finished(tmp_path / "runs", "r")
    outside = tmp_path / "mine.csv"
    outside.write_text("kept")
    workspace = run.task("t").workspace
    (workspace / "mine.csv").symlink_to(outside)
    (workspace / "shut").mkdir()
    (workspace / "shut" / "f").write_text("")
    (workspace / "shut").chmod(0)
    assert run.size() < 100_000
    run.remove()
    assert list((tmp_path / "runs").iterdir()) == []
    assert outside.read_text() == "kept"


def test_a_removal_that_was_killed_is_finished_by_the_next(tmp_path: Path) -> None:
    run = finished(tmp_path, "r")
    run.path.rename(tmp_path / ".removing-r")
    assert list_runs(tmp_path) == []
    finish_removals(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_could_not_start_leaves_nothing(tmp_path: Path) -> None:
    run = RunDir.create(tmp_path, "r")
    run.task("t").save_task(Task(id="t", question="q"))
    run.discard_if_unused()
    assert not run.path.exists()
    kept = finished(tmp_path, "k")
    kept.discard_if_unused()
    assert kept.path.exists()


def test_plain_names_are_taken_as_they_are() -> None:
    check_run_name("my run 2")
    assert safe_id("task-1.b") == "task-1.b"


def test_room_for_a_reply_is_kept_on_the_disk_and_the_file_stays_as_long_as_it_is(tmp_path: Path) -> None:
    from habilis.rundir.ahead import reserve

    path = tmp_path / "tape"
    path.write_bytes(b"line\n")
    with path.open("ab") as stream:
        if not reserve(stream.fileno(), 1 << 20):
            pytest.skip("this file system keeps no room")
        assert (path.stat().st_size, path.stat().st_blocks * 512 >= 1 << 20) == (5, True)
        os.ftruncate(stream.fileno(), 5)
    assert path.stat().st_blocks * 512 < 1 << 20
    assert path.read_bytes() == b"line\n"


def test_every_bit_of_a_sealed_record_that_turns_is_seen() -> None:
    """Those of the checksum's own name and quotes included: a record must not pass for one that never had any."""
    record = {"kind": "tool_built", "confirmed": 2, "text": 'crc32":"00000000', "é": [1.5, None, True]}
    line = sealed(json.dumps(record, ensure_ascii=False).encode("utf-8"))
    assert row_of(line) == record
    believed = []
    for at in range(len(line) - 1):  # the line feed at the end is no part of it
        for bit in range(8):
            turned = line[:at] + bytes([line[at] ^ (1 << bit)]) + line[at + 1 :]
            with contextlib.suppress(ValueError):
                believed.append((at, bit, row_of(turned)))
    assert believed == []


BRACKETS = st.text(st.sampled_from('[]{}"\\ a\u00e9'), max_size=8)
NESTED = st.recursive(
    BRACKETS | st.integers(), lambda held: st.lists(held) | st.dictionaries(BRACKETS, held), max_leaves=60
)


@given(NESTED, st.integers(0, 303), st.booleans(), st.sampled_from([None, "utf-8", "utf-16", "utf-32"]))
def test_how_deep_a_document_is_nested_is_told_whatever_its_texts_hold(
    value: object, more: int, ascii_only: bool, encoding: str | None
) -> None:
    def depth(held: object) -> int:
        items = held.values() if isinstance(held, dict) else held if isinstance(held, list) else None
        return 0 if items is None else 1 + max(map(depth, items), default=0)

    deep = depth(value) + more
    for number in range(more):
        value = [value] if number % 2 else {'"]': value, "{": 0}
    text = json.dumps([value] + [[]] * 301, ensure_ascii=ascii_only)  # many brackets, few of them deep
    given_text = text.encode(encoding) if encoding else text
    if deep + 1 > 300:
        with pytest.raises(ValueError, match="nested too deep"):
            plain_json(given_text)
    else:
        assert plain_json(given_text) == json.loads(text)


def test_the_lock_of_a_process_that_is_still_dying_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    holding = "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX); print('held', flush=True)"
    command = [sys.executable, "-c", f"{holding}; sys.stdin.read()", str(tmp_path / ".lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        pauses: list[float] = []

        def pause(seconds: float) -> None:
            pauses.append(seconds)
            if sum(pauses) > 0.6:
                other.kill()
                other.wait()

        monkeypatch.setattr("habilis.rundir.locks.time.sleep", pause)
        with held(tmp_path / ".lock", "in use"):
            pass
    assert 0.6 < sum(pauses) <= 1.0


def test_a_lock_that_is_held_is_refused_after_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("habilis.rundir.locks.time.sleep", pauses.append)
    first, second = (held(tmp_path / ".lock", "in use") for _ in range(2))
    with first, pytest.raises(UserError, match="in use"), second:
        pass
    assert sum(pauses) == pytest.approx(1.0)
