"""Folders of strangers are data: whoever lists, shows, scores, replays or resumes one runs nothing of it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from habilis.cli import main
from habilis.contract.records import RecordStore
from habilis.core.errors import UserError
from habilis.core.events import Notice
from habilis.core.types import Task, TaskFile
from habilis.curation.ledger.journal import Journal
from habilis.library import Library
from habilis.library.generations import Generations
from habilis.models.tape import Tape
from habilis.rundir import JsonlSink, KeyedRows, RunDir, ScoresDir, ThreadDir, append_line, read_jsonl

Captured = pytest.CaptureFixture[str]
SECONDS = 30
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user with a key of their own; what waits for ever is a failure after a while."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HABILIS_DATA_DIR", str(tmp_path / "mine"))

    def stuck(number: int, frame: Any) -> None:
        raise AssertionError(f"still not done after {SECONDS} s")

    before = signal.signal(signal.SIGALRM, stuck)
    signal.alarm(SECONDS)
    yield tmp_path
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def theirs(monkeypatch: pytest.MonkeyPatch, here: Path) -> Callable[..., RunDir]:
    """Makes a run with another user's key."""

    def make(name: str = "gift", *, training: bool = False, task: Task | None = None, **record: Any) -> RunDir:
        with monkeypatch.context() as other:
            other.setenv("HABILIS_DATA_DIR", str(here / "theirs"))
            return made(name, training=training, task=task, **record)

    return make


def made(name: str, *, training: bool = False, task: Task | None = None, **record: Any) -> RunDir:
    run = RunDir.create(Path("runs"), name)
    run.write_run(**record)
    folder = run.task("task")
    folder.save_task(task or Task(id="task", question="What is 2+3*4?"), {"library": "", "generation": 0})
    folder.set_state("stopped")
    for path in (folder.tape, folder.events):
        path.write_text('{"kind": "tape", "format": 1}\n')
    if training:
        (run.path / "rows.jsonl").write_text('{"id": "task", "question": "What is 2+3*4?"}\n')
        (run.path / "state.json").write_text('{"format": 1, "state": "stopped", "tokens": 0, "seconds": 0}')
    return run


LOOKING = (
    ["runs", "list"],
    ["runs", "show", "gift"],
    ["runs", "show", "gift", "--json"],
    ["score", "gift"],
    ["threads", "list"],
)
GOING_ON = (
    ["run", "--resume", "--run-dir", "runs/gift"],
    ["run", "--resume", "--run-dir", "runs/gift", "--trust"],
    ["runs", "resume", "gift"],
    ["run", "--replay", "gift"],
    ["run", "What is 1+1?", "--replay", "gift"],
    ["run", "What is 1+1?", "--run-dir", "runs/gift", "--task-id", "more"],
)
TRAINING = (
    ["evolve", "--resume", "--run-name", "gift"],
    ["evolve", "--resume", "--run-name", "gift", "--trust"],
    ["runs", "resume", "gift"],
)


def one_line(words: list[str], capsys: Captured) -> int:
    """Run a command; what it says on standard error is one line at most, and no internal error."""
    code = main(words)
    told = capsys.readouterr().err
    assert told.count("\n") <= 1, (words, told)
    assert "internal error" not in told, (words, told)
    assert "Traceback" not in told
    return code


# --- whose a run is


@pytest.mark.parametrize("words", [words for words in GOING_ON if "--trust" not in words and "--replay" not in words])
def test_a_run_of_a_stranger_is_not_gone_on_with_unasked(words: list[str], theirs: Any, capsys: Captured) -> None:
    theirs(chosen_settings={"writer.command": ["x"], "models.basic.base_url": "http://elsewhere/v1"})
    assert main(words) == 2
    told = capsys.readouterr().err
    assert "--trust" in told
    assert "models.basic.base_url, writer.command" in told or "writer.command, models.basic.base_url" in told
    assert told.count("\n") == 1


@pytest.mark.parametrize("words", [words for words in TRAINING if "--trust" not in words])
def test_nor_is_a_training_run(words: list[str], theirs: Any, capsys: Captured) -> None:
    theirs(training=True, training_=1)
    assert main(words) == 2
    assert "--trust" in capsys.readouterr().err


@pytest.mark.sandbox
@pytest.mark.parametrize("trusted", [True, False])
def test_settings_of_a_stranger_start_a_program_only_where_a_person_trusts_them(
    theirs: Any, here: Path, trusted: bool
) -> None:
    """With --trust the program is started: the control that the settings are live."""
    canary = here / "canary"
    source = {"mcp": {"command": ["/bin/sh", "-c", f"touch {canary}"]}, "open_timeout_s": 60.0}
    theirs(chosen_settings={"models.basic.model": "offline", "sources.evil": source})
    code = main(["run", "--resume", "--run-dir", "runs/gift", "--quiet", *(["--trust"] if trusted else [])])
    assert canary.exists() == trusted
    assert code == (0 if trusted else 2)


def test_a_run_stays_its_makers_wherever_it_lies(here: Path) -> None:
    run = made("mine")
    assert run.is_ours()
    (here / "elsewhere").mkdir()
    shutil.move(run.path, here / "elsewhere" / "renamed")
    moved = RunDir.open(here / "elsewhere" / "renamed")
    moved.write_run({"limits": {}}, sandbox_level="bubblewrap")
    assert moved.is_ours()


CHANGES: dict[str, Callable[[RunDir], object]] = {
    "a setting": lambda run: change(
        run.path / "run.yaml", "format: 1", "format: 1\nchosen_settings: {writer.command: x}"
    ),
    "a question": lambda run: change(run.path / "tasks/task/task.json", "2+3*4", "9+9"),
    "a file": lambda run: change(run.path / "tasks/task/task.json", '"files": []', '"files": ["/etc/passwd"]'),
    "a task of another run": lambda run: shutil.copy(
        made("other").path / "tasks/task/task.json", run.path / "tasks/task/task.json"
    ),
    "the mark taken off": lambda run: change(run.path / "run.yaml", "mark: ", "mork: "),
    "no task file at all, but a record": lambda run: (run.path / "tasks/task/task.json").write_text("[]"),
}


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize("what", CHANGES)
def test_what_was_changed_since_is_nobodys(what: str) -> None:
    run = made("mine")
    assert run.is_ours()
    CHANGES[what](run)
    assert not run.is_ours()
    run.write_run()
    assert not run.is_ours(), "to write a record must not make it ours"


def test_a_refusal_names_the_record_that_it_is_about_and_not_that_of_another_task(here: Path) -> None:
    run = made("mine")
    for name in ("first", "second"):
        run.task(name).save_task(Task(id=name, question="q"))
        run.task(name).task.write_text("{}")
    with pytest.raises(UserError, match="tasks/second/task"):
        run.accept(trust=False, tasks=[run.task("second")])


def test_rows_that_were_changed_are_not_trained_on(theirs: Any, capsys: Captured) -> None:
    run = made("mine", training=True)
    (run.path / "rows.jsonl").write_text('{"id": "a", "question": "q"}\n')
    run.write_run(training={"batch_size": 1, "rows": "0" * 64})
    assert one_line(["evolve", "--resume", "--run-name", "mine", "--quiet"], capsys) == 2


def test_a_trusted_run_is_ones_own_from_then_on(theirs: Any) -> None:
    run = theirs(chosen_settings={"a.b": 1})
    with pytest.raises(UserError, match="--trust"):
        run.accept(trust=False)
    run.accept(trust=True)
    run.accept(trust=False)
    assert run.read_run()["chosen_settings"] == {"a.b": 1}
    assert run.tasks()[0].load_task() is not None


def test_the_key_is_for_ones_own_eyes_and_a_key_for_others_is_none(here: Path) -> None:
    run = made("mine")
    key = here / "mine" / "key"
    assert (key.stat().st_mode & 0o777, key.stat().st_size) == (0o600, 32)
    assert key.read_bytes().hex() not in (run.path / "run.yaml").read_text()
    key.chmod(0o644)
    with pytest.raises(UserError, match="chmod 600"):
        run.is_ours()


def test_where_no_key_can_be_kept_runs_are_made_and_resumed_with_trust(
    monkeypatch: pytest.MonkeyPatch, here: Path
) -> None:
    (here / "file").write_text("")
    monkeypatch.setenv("HABILIS_DATA_DIR", str(here / "file"))
    run = made("mine")
    with pytest.raises(UserError, match="HABILIS_DATA_DIR"):
        run.accept(trust=False)
    run.accept(trust=True)


def test_a_conversation_of_a_stranger_is_not_gone_on_with_unasked(
    monkeypatch: pytest.MonkeyPatch, here: Path, capsys: Captured
) -> None:
    with monkeypatch.context() as other:
        other.setenv("HABILIS_DATA_DIR", str(here / "theirs"))
        thread = ThreadDir.named(Path("runs"), "talk")
        thread.begin()
        thread.run.task("0001").save_task(Task(id="0001", question="q"))
    assert one_line(["run", "And now?", "--thread", "talk"], capsys) == 2
    assert one_line(["run", "--resume", "--thread", "talk"], capsys) == 2
    assert not thread.run.is_ours()


def test_a_replay_hands_no_file_to_tools_that_a_stranger_named(theirs: Any, here: Path, capsys: Captured) -> None:
    secret = here / "secret.txt"
    secret.write_text("s")
    theirs(task=Task(id="task", question="q", files=(TaskFile(named="secret.txt", path=str(secret)),)))
    assert main(["run", "--replay", "gift"]) == 2
    assert "names files of this machine" in capsys.readouterr().err


def test_scoring_reads_no_file_that_a_stranger_names(theirs: Any, here: Path, capsys: Captured) -> None:
    secret = here / "secret.jsonl"
    secret.write_text('{"id": "task", "question": "q", "answer": "planted-secret"}\n')
    run = theirs(dataset={"path": str(secret)})
    (run.path / "predictions.jsonl").write_text('{"task_id": "task", "prediction": "x", "status": "answered"}\n')
    assert main(["score", "gift"]) == 2
    told = capsys.readouterr()
    assert "planted-secret" not in told.out + told.err


# --- hostile files, looked at and gone on with

DEEP = "[" * 100_000
FILES = ("run.yaml", "events.jsonl", "predictions.jsonl", "rows.jsonl", "metrics.jsonl", "journal.jsonl", "state.json")
TASK_FILES = ("task.json", "state.json", "events.jsonl", "tape.jsonl", "result.json", "checkpoints.sqlite", ".lock")


def deep(path: Path, here: Path) -> None:
    line = '{"kind": "ended", "task_id": "x", "step": 1, "x": ' + DEEP
    path.write_text(f"format: 1\nx: {DEEP}\n" if path.name == "run.yaml" else f"{line}\n")


def pipe(path: Path, here: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def link(path: Path, here: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(here / "outside")


def device(path: Path, here: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/zero")


def sparse(path: Path, here: Path) -> None:
    path.write_bytes(b"")
    os.truncate(path, 1 << 30)


HOSTILE = {"deep": deep, "a pipe": pipe, "a link": link, "a device": device, "1 GB in one line": sparse}
PLACES = [*FILES, *(f"tasks/task/{name}" for name in TASK_FILES)]


@pytest.mark.slow
@pytest.mark.parametrize("training", [False, True], ids=["task", "training"])
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_under_every_command(
    kind: str, training: bool, theirs: Any, here: Path, capsys: Captured
) -> None:
    signal.alarm(4 * SECONDS)
    tried(kind, (*LOOKING, *(TRAINING if training else GOING_ON[:4])), training, theirs, here, capsys)


@pytest.mark.parametrize("kind", ["deep", "a pipe", "a link"])
def test_a_hostile_file_in_a_run_is_one_line_and_touches_nothing(
    kind: str, theirs: Any, here: Path, capsys: Captured
) -> None:
    tried(kind, (LOOKING[1], GOING_ON[0]), False, theirs, here, capsys)


def tried(kind: str, commands: Any, training: bool, theirs: Any, here: Path, capsys: Captured) -> None:
    """Each file of a run in turn, under commands that look at one or go on with it."""
    outside = here / "outside"
    outside.write_text("precious")
    for place in PLACES:
        if training and place.startswith("tasks"):
            continue
        shutil.rmtree("runs", ignore_errors=True)
        run = theirs(training=training)
        HOSTILE[kind](run.path / place, here)
        for words in commands:
            trusted_at_work = "--trust" in words and kind not in ("a pipe", "a link", "a device")
            if trusted_at_work:
                continue  # it would go on with what is left: another test's affair
            code = one_line(words, capsys)
            assert code in ((0, 2) if words in LOOKING else (2,)), (place, words)
        assert outside.read_text() == "precious", place


@pytest.mark.parametrize("part", ["tasks", "tasks/task", "tasks/task/workspace", "tasks/task/tools"])
def test_a_link_in_the_place_of_a_folder_leads_nowhere(part: str, theirs: Any, here: Path, capsys: Captured) -> None:
    outside = here / "outside"
    run = theirs()
    shutil.copytree(run.path / part, outside)
    before = sorted(path.relative_to(outside) for path in outside.rglob("*"))
    shutil.rmtree(run.path / part)
    (run.path / part).symlink_to(outside)
    for words in (*LOOKING, *GOING_ON):
        one_line(words, capsys)
    if not part.endswith("tasks"):
        with pytest.raises(UserError, match="link"):
            run.task("task")
    assert sorted(path.relative_to(outside) for path in outside.rglob("*")) == before


def test_a_run_that_is_a_link_is_removed_without_what_it_leads_to(theirs: Any, here: Path, capsys: Captured) -> None:
    outside = here / "outside"
    run = theirs()
    run.path.rename(outside)
    (outside / "tasks/task").chmod(0o500)
    run.path.symlink_to(outside)
    assert main(["runs", "clean", "--keep", "0", "--yes", "--force"]) == 0
    assert (outside / "tasks/task/task.json").exists()
    assert (outside / "tasks/task").stat().st_mode & 0o777 == 0o500


PAIRS = zip("abcdefgh", "bcdefghi", strict=True)
YAML = {
    "a tag that calls": "x: !!python/object/apply:os.system ['touch canary']",
    "a billion laughs": "a: &a [x]\n" + "\n".join(f"{c}: &{c} [{('*' + p + ', ') * 9}]" for p, c in PAIRS),
    "nested lists": "x:\n  " + "- " * 100_000,
    "nested flow": "x: " + "{a: " * 100_000,
    "no mapping": "",
}


@pytest.mark.parametrize("text", YAML)
def test_a_hostile_record_is_one_line(text: str, theirs: Any, here: Path, capsys: Captured) -> None:
    """Where nothing looks first, deep nesting ends the interpreter inside libyaml."""
    run = theirs()
    (run.path / "run.yaml").write_text(f"format: 1\n{YAML[text]}\n" if YAML[text] else "- 1\n")
    for words in (["runs", "list"], ["runs", "show", "gift"], *GOING_ON[:3]):
        code = one_line(words, capsys)
        assert code == (0 if words[1] == "list" else 2)
    assert not (here / "canary").exists()


def test_names_that_climb_stay_inside(theirs: Any, here: Path, capsys: Captured) -> None:
    run = theirs(task=Task(id="../../../outside", question="q"))
    assert main(["run", "--resume", "--run-dir", "runs/gift", "--task-id", "../../../outside"]) == 2
    assert run.task("../../x").path.parent == run.path / "tasks"
    assert not (here / "outside").exists()


# --- what is written

WRITERS: dict[str, Callable[[Path], object]] = {
    "events": lambda path: JsonlSink(path).emit(Notice(text="x")),
    "a tape": lambda path: Tape(path).note("a", "b"),
    "a line": lambda path: append_line(path, b"x\n"),
    "rows": lambda path: KeyedRows(path, "k").put({"k": 1}),
    "a journal": lambda path: Journal(path).write(1, "tasks", {}),
    "scores": lambda path: _score(path),
    "a whole file": lambda path: RunDir(path.parent).task("t").set_state("x"),
}


def _score(path: Path) -> None:
    scores = ScoresDir(path.parent)
    scores.part = path
    with scores.adding() as add:
        add({"x": 1})


@pytest.mark.parametrize("what", WRITERS)
@pytest.mark.parametrize("text", ["precious", "precious\nand half a line"])
def test_nothing_is_written_through_a_link(what: str, text: str, here: Path) -> None:
    outside, path = here / "outside", here / "run" / "file"
    outside.write_text(text)
    path.parent.mkdir()
    path.symlink_to(outside)
    with contextlib.suppress(OSError, UserError):
        WRITERS[what](path)
    assert outside.read_text() == text


BIG: dict[str, Callable[[], str]] = {
    "deep": lambda: f'{{"kind": "ended", "key": "k", "outcome": {DEEP}\n',
    "long": lambda: '{"kind": "' + "x" * (65 << 20) + '"}\n',
}


@pytest.mark.parametrize("size", BIG)
@pytest.mark.parametrize("reader", [Tape, Journal])
def test_a_line_that_habilis_cannot_have_written_is_named(size: str, reader: Any, here: Path) -> None:
    path = here / "file"
    path.write_text(BIG[size]())
    with pytest.raises(UserError, match="damaged at line 1"):
        reader(path)


def test_a_row_of_rows_without_end_is_named(here: Path) -> None:
    (here / "rows").write_text(BIG["long"]())
    with pytest.raises(UserError, match="line 1"):
        list(read_jsonl(here / "rows"))


# --- libraries

TOOL = '"""A tool."""\nopen("canary", "w")\n'


def test_looking_at_a_library_of_a_stranger_runs_nothing_and_waits_for_nothing(here: Path, capsys: Captured) -> None:
    library = here / "library"
    for place in ("records", ".index", "retired", "archive", "quarantine"):
        (library / place).mkdir(parents=True)
    (library / "evil.py").write_text(TOOL)
    (library / "linked.py").symlink_to("/dev/zero")
    for name in ("waits.py", "waits.json", "records/evil.jsonl", ".index/tools.json", ".index/index.json"):
        os.mkfifo(library / name)
    for name in ("retired/old.json", "archive/old.json", "report.json"):
        os.mkfifo(library / name)
    (library / "retired/old.py").write_text(TOOL)
    for words in (["list"], ["show", "evil"], ["search", "sums"], ["check"], ["history", "evil"]):
        main(["library", *words, "--library", str(library)])
        told = capsys.readouterr().err
        assert "internal error" not in told, (words, told)
    assert not (here / "canary").exists()


def test_a_lock_that_is_a_link_does_not_empty_what_it_leads_to(here: Path) -> None:
    outside = here / "outside"
    outside.write_text("precious")
    (here / "generations").mkdir()
    (here / "library").mkdir()
    (here / "generations" / ".lock").symlink_to(outside)
    generations = Generations(here / "library")
    with pytest.raises(OSError, match="link"), generations._locked():
        pass
    assert outside.read_text() == "precious"


def test_a_note_of_a_stranger_makes_no_library_of_another_folder(here: Path) -> None:
    (here / "generations").mkdir()
    (here / "private").mkdir()
    (here / "generations" / ".converting").write_text("private")
    Generations(here / "library")
    assert not (here / "library").is_symlink()


def test_records_are_not_added_through_a_link(here: Path) -> None:
    outside = here / "outside"
    outside.mkdir()
    (here / "library").mkdir()
    (here / "library" / "records").symlink_to(outside)
    with pytest.raises(OSError, match="link"):
        RecordStore(here / "library" / "records").keep({"a": b"x"})
    assert list(outside.iterdir()) == []
    assert Library(here / "library").names() == []


def test_json_is_read_to_a_bounded_depth(here: Path) -> None:
    from habilis.rundir import plain_json

    assert plain_json("[" * 200 + "]" * 200)
    for text in ("[" * 400 + "]" * 400, DEEP, f"[1, {'[' * 400 + ']' * 400}]"):
        with pytest.raises(ValueError, match=r"deep|delimiter|Expecting"):
            plain_json(text)
    assert plain_json(json.dumps([{"a": [1]}] * 1_000))
