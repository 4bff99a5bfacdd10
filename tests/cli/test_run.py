"""`habilis run` and `habilis runs resume` against a team that does as it is told: output, exit codes, signals."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from habilis.cli import main
from habilis.core.errors import ModelUnreachable, SandboxUnavailable
from habilis.core.events import TaskStarted
from habilis.core.types import Status, Task, TaskResult
from habilis.rundir import RunDir, TaskDir

from .. import nursery


class DoubleTeam:
    """Stands in for the team: writes what a team writes, ends as `status` says, remembers how it was called."""

    status: Status = "answered"
    raises: Exception | None = None
    made: list[DoubleTeam]

    def __init__(self, settings: Any, *, library: Path | None, sinks: Any, asker: Any, granter: Any) -> None:
        self.granter = granter
        self.settings, self.library, self.sinks, self.asker = settings, library, sinks, asker
        self.called: dict[str, Any] = {}
        self.made.append(self)

    async def run(self, question: str | Task, **options: Any) -> TaskResult:
        self.called = {"question": question, **options}
        task = options["run_dir"].task(options["task_id"] or "task")
        asked = question if isinstance(question, Task) else Task(id=task.id, question=question)
        task.save_task(asked, {"library": str(self.library or "runs/library")})
        if self.raises:
            raise self.raises
        return self._end(task, asked.question)

    async def resume(self, run_dir: RunDir, task_id: str | None = None, answer: str | None = None) -> TaskResult:
        self.called = {"run_dir": run_dir, "task_id": task_id, "answer": answer}
        task = run_dir.task(task_id or "task")
        return self._end(task, "q")

    def interrupt(self) -> None:
        raise AssertionError("nobody pressed Ctrl-C")

    def _end(self, task: TaskDir, question: str) -> TaskResult:
        for sink in self.sinks:
            sink.emit(TaskStarted(task_id=task.id, question=question))
        result = TaskResult(
            task_id=task.id,
            status=self.status,
            question=question,
            final_answer="fourteen",
            error=None if self.status in ("answered", "waiting") else "because",
            question_asked="Which one?" if self.status == "waiting" else None,
            run_dir=str(task.run.path),
        )
        task.save_result(result)
        return result


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> type[DoubleTeam]:
    monkeypatch.chdir(tmp_path)

    return type("Fresh", (DoubleTeam,), {"made": []})


def run_names(folder: Path = Path("runs")) -> list[str]:
    return sorted(p.name for p in folder.iterdir()) if folder.exists() else []


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ("answered", 0),
        ("waiting", 0),
        ("gave_up", 1),
        ("timed_out", 1),
        ("crashed", 1),
        ("unreachable", 3),
        ("misconfigured", 2),
        ("budget", 4),
        ("interrupted", 130),
    ],
)
def test_the_exit_code_and_the_json_tell_the_outcome(
    team: type[DoubleTeam], capsys: pytest.CaptureFixture[str], status: Status, code: int
) -> None:
    team.status = status
    assert main(["run", "q", "--json"], team_factory=team) == code
    said = capsys.readouterr()
    document = json.loads(said.out)
    assert document["status"] == status
    assert document["question_asked"] == ("Which one?" if status == "waiting" else None)
    assert "q" in said.err


def test_quiet_is_the_answer_and_nothing_else(team: type[DoubleTeam], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "q", "--quiet"], team_factory=team) == 0
    assert capsys.readouterr() == ("fourteen\n", "")
    team.status = "gave_up"
    assert main(["run", "q", "--quiet"], team_factory=team) == 1
    assert capsys.readouterr() == ("", "habilis: no answer: because\n")


def test_json_and_quiet_together_are_one_document_and_nothing_else(
    team: type[DoubleTeam], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "q", "--quiet", "--json"], team_factory=team) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["final_answer"] == "fourteen"
    assert said.err == ""


def test_the_words_of_the_command_line_reach_the_team(team: type[DoubleTeam], tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    words = ["run", "q", "--file", "a.csv", "--file", str(tmp_path), "--output", "kept", "--task-id", "t1"]
    words += ["--library", "lib", "--max-tokens", "5000", "--max-time", "2m", "--set", "limits.max_rounds=3"]
    assert main(words, team_factory=team) == 0
    made = team.made[0]
    assert made.called["files"] == ["a.csv", str(tmp_path)]
    assert made.called["task_id"] == "t1"
    assert made.called["run_dir"].path.parent == Path("kept")
    assert made.library == tmp_path / "lib"
    assert made.asker is None
    assert made.granter is None
    limits = made.settings.limits
    assert (limits.max_tokens, limits.max_time_s, limits.max_rounds) == (5000, 120.0, 3)
    assert run_names() == []


def test_the_question_comes_unharmed_from_the_environment(
    team: type[DoubleTeam], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = 'What\'s `x` in "$HOME"; 平均 -- %s?'
    monkeypatch.setenv("HABILIS_QUESTION", text)
    assert main(["run"], team_factory=team) == 0
    assert main(["run", "mine"], team_factory=team) == 0
    assert [made.called["question"] for made in team.made] == [text, "mine"]


def test_a_question_that_begins_with_a_dash_can_be_asked(team: type[DoubleTeam]) -> None:
    assert main(["run", "--", "--what is this?"], team_factory=team) == 0
    assert main(["run", "-5 + 3?"], team_factory=team) == 0
    assert [made.called["question"] for made in team.made] == ["--what is this?", "-5 + 3?"]


def test_a_run_that_cannot_start_leaves_no_folder(team: type[DoubleTeam], capsys: pytest.CaptureFixture[str]) -> None:
    team.raises = SandboxUnavailable("nothing confines tools here; see SECURITY.md")
    assert main(["run", "q"], team_factory=team) == 5
    assert capsys.readouterr().err.endswith("habilis: nothing confines tools here; see SECURITY.md\n")
    team.raises = ModelUnreachable("no server at http://127.0.0.1:1/v1")
    assert main(["run", "q"], team_factory=team) == 3
    team.raises = OSError(28, "No space left on device", "runs/x/tape.jsonl")
    assert main(["run", "q"], team_factory=team) == 5
    told = "habilis: runs/x/tape.jsonl: No space left on device; free space on this disk\n"
    assert capsys.readouterr().err.endswith(told)
    assert run_names() == []


def test_a_fault_of_ours_is_one_line_unless_debug_is_asked_for(
    team: type[DoubleTeam], capsys: pytest.CaptureFixture[str]
) -> None:
    team.raises = ZeroDivisionError("division\nby zero")
    assert main(["run", "q", "--quiet"], team_factory=team) == 1
    assert capsys.readouterr().err == (
        "habilis: internal error: ZeroDivisionError: division by zero; --debug shows where\n"
    )
    assert main(["run", "q", "--quiet", "--debug"], team_factory=team) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_run_dir_that_holds_other_tasks_keeps_them_when_a_new_one_cannot_start(team: type[DoubleTeam]) -> None:
    assert main(["run", "q", "--run-dir", "mine", "--task-id", "a"], team_factory=team) == 0
    team.raises = SandboxUnavailable("no")
    assert main(["run", "q", "--run-dir", "mine", "--task-id", "b"], team_factory=team) == 5
    assert RunDir.open(Path("mine")).task("a").load_result() is not None


# --- going on ---


def test_resume_takes_the_newest_unfinished_task_with_the_settings_it_was_started_with(
    team: type[DoubleTeam], tmp_path: Path
) -> None:
    (tmp_path / "c.yaml").write_text("limits: {max_rounds: 7}\nmodels: {basic: {headers: {X-Key: secret}}}\n")
    team.status = "interrupted"
    assert main(["run", "first", "-c", "c.yaml", "--set", "limits.max_attempts=2"], team_factory=team) == 130
    stored = yaml.safe_load((Path("runs") / run_names()[0] / "run.yaml").read_text())
    assert stored["chosen_settings"] == {"limits.max_rounds": 7, "limits.max_attempts": 2}
    team.status = "answered"
    assert main(["run", "--resume", "--set", "limits.max_attempts=4"], team_factory=team) == 0
    limits = team.made[-1].settings.limits
    assert (limits.max_rounds, limits.max_attempts) == (7, 4)
    assert team.made[-1].called["run_dir"].name == run_names()[0]
    assert main(["run", "--resume"], team_factory=team) == 2


def test_a_run_of_an_earlier_version_goes_on_without_the_settings_that_are_gone(team: type[DoubleTeam]) -> None:
    team.status = "interrupted"
    assert main(["run", "first", "--set", "limits.max_rounds=7"], team_factory=team) == 130
    record = Path("runs") / run_names()[0] / "run.yaml"
    written = record.read_text()
    assert "limits.max_rounds: 7" in written
    record.write_text(written.replace("limits.max_rounds: 7", "limits.max_rounds: 7\n  limits.max_parts: 5"))
    team.status = "answered"
    assert main(["run", "--resume", "--trust"], team_factory=team) == 0
    assert team.made[-1].settings.limits.max_rounds == 7


def test_a_task_goes_on_with_the_library_that_it_was_started_with(team: type[DoubleTeam], tmp_path: Path) -> None:
    team.status = "interrupted"
    assert main(["run", "q", "--run-dir", "a", "--library", "mine"], team_factory=team) == 130
    assert main(["runs", "resume", "a"], team_factory=team) == 130
    assert team.made[-1].library == tmp_path / "mine"
    assert main(["runs", "resume", "a", "--library", "other"], team_factory=team) == 130
    assert team.made[-1].library == tmp_path / "other"
    assert main(["run", "q", "--run-dir", "b"], team_factory=team) == 130
    assert main(["runs", "resume", "b"], team_factory=team) == 130
    assert team.made[-1].library is None


def test_a_waiting_task_shows_its_question_and_takes_the_answer(
    team: type[DoubleTeam], capsys: pytest.CaptureFixture[str]
) -> None:
    team.status = "waiting"
    assert main(["run", "q", "--run-dir", "w"], team_factory=team) == 0
    capsys.readouterr()
    assert main(["runs", "resume", "w"], team_factory=team) == 0
    assert "Which one?" in capsys.readouterr().err
    assert team.made[-1].called == {}
    assert main(["runs", "resume", "w", "--answer", ""], team_factory=team) == 2
    team.status = "answered"
    assert main(["runs", "resume", "w", "--answer", "the second"], team_factory=team) == 0
    assert team.made[-1].called["answer"] == "the second"
    capsys.readouterr()
    assert main(["runs", "resume", "w", "--answer", "again"], team_factory=team) == 2
    assert "asks nothing" in capsys.readouterr().err


def test_replay_asks_what_was_asked_and_names_the_run(team: type[DoubleTeam]) -> None:
    assert main(["run", "the question", "--run-dir", "runs/old", "--task-id", "t"], team_factory=team) == 0
    assert main(["run", "--replay", "old"], team_factory=team) == 0
    called = team.made[-1].called
    assert called["question"] == Task(id="t", question="the question")
    assert called["replay"] == Path("runs/old")
    assert called["run_dir"].path != Path("runs/old")


def test_of_several_tasks_one_must_be_named(team: type[DoubleTeam], capsys: pytest.CaptureFixture[str]) -> None:
    team.status = "interrupted"
    for task_id in ("a", "b"):
        main(["run", "q", "--run-dir", "m", "--task-id", task_id], team_factory=team)
    capsys.readouterr()
    assert main(["runs", "resume", "m"], team_factory=team) == 2
    assert "--task-id" in capsys.readouterr().err
    assert main(["runs", "resume", "m", "--task-id", "c"], team_factory=team) == 2
    assert "it has: a, b" in capsys.readouterr().err
    assert main(["runs", "resume", "m", "--task-id", "b"], team_factory=team) == 130


# --- signals and the terminal, in a process of its own ---

SLOW_TEAM = """
import asyncio, sys
from habilis.cli import main
from habilis.core.events import TaskStarted
from habilis.core.types import TaskResult

class Team:
    def __init__(self, settings, *, library, sinks, asker, granter):
        self.sinks, self.asker, self.asked_to_end = sinks, asker, asyncio.Event()
        self.granter = granter
    async def run(self, question, **options):
        for sink in self.sinks:
            sink.emit(TaskStarted(task_id="task", question=question))
        try:
            {body}
        except asyncio.CancelledError:
            print("cancelled", file=sys.stderr, flush=True)
            raise
        return TaskResult(task_id="task", status=status, question=question, final_answer=text, error="stopped")
    def interrupt(self):
        self.asked_to_end.set()
    def wind_down(self):
        return None

sys.exit(main(["run", "q", *sys.argv[1:]], team_factory=Team))
"""
WAITS = 'print("on", file=sys.stderr, flush=True); await self.asked_to_end.wait(); status, text = "interrupted", ""'
STUBBORN = 'print("on", file=sys.stderr, flush=True); await asyncio.Event().wait()'
ASKS = 'text = await self.asker("Which\\x1b[2J one?"); status = "answered"'

GRANTS = """from habilis.core.types import GrantRequest
            needs = ("network a.org", "network b.org")
            about = "Safe!\\x1b[2J " + 200 * "so safe "
            wanted = GrantRequest(tool="fetch", version="1", needs=needs, description=about)
            text, status = str(await self.granter.grant(wanted)), "answered"
            """

PID = "import os; print(f'pid {os.getpid()}.', file=sys.stderr, flush=True)\n            "


def script(body: str) -> list[str]:
    return [sys.executable, "-c", textwrap.dedent(SLOW_TEAM).replace("{body}", body)]


def until(stream: Any, word: bytes) -> bytes:
    seen = b""
    while word not in seen:
        line = stream.readline()
        assert line, seen
        seen += line
    return seen


@pytest.mark.parametrize(
    ("body", "signals", "cancelled"),
    [
        (WAITS, [signal.SIGINT], False),
        (STUBBORN, [signal.SIGINT, signal.SIGINT], True),
        (STUBBORN, [signal.SIGTERM], True),
        (STUBBORN, [signal.SIGHUP], True),
    ],
)
def test_ctrl_c_once_finishes_the_step_twice_stops_at_once(
    tmp_path: Path, body: str, signals: list[signal.Signals], cancelled: bool
) -> None:
    with nursery.Program(
        [*script(body), "--json"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        until(process.stderr, b"on\n")
        seen = b""
        for index, number in enumerate(signals):
            process.send_signal(number)
            if index + 1 < len(signals):  # two signals sent at once would arrive as one
                seen += until(process.stderr, b"Ctrl-C again")
        out, err = process.communicate()
    assert process.returncode == 130
    assert json.loads(out)["status"] == "interrupted"
    assert (b"cancelled" in seen + err) == cancelled
    assert b"Traceback" not in err


def at_a_terminal(
    command: list[str], cwd: Path, talk: Callable[[Callable[[bytes], bytes], int], None]
) -> tuple[int, bytes]:
    """Run `command` with a terminal as its standard input and error; returns exit code and standard output."""
    leader, follower = pty.openpty()
    with nursery.Program(
        command, cwd=cwd, stdin=follower, stderr=follower, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        os.close(follower)
        seen = bytearray()

        def expect(word: bytes) -> bytes:
            while word not in seen:
                seen.extend(os.read(leader, 4096))
            return bytes(seen)

        talk(expect, leader)
        out, _ = process.communicate()
    os.close(leader)
    return process.returncode, out


def test_a_person_at_the_terminal_is_asked_and_answers(tmp_path: Path) -> None:
    def talk(expect: Callable[[bytes], bytes], leader: int) -> None:
        seen = expect(b"> ")
        assert b"Which\\x1b[2J one?" in seen
        os.write(leader, "  \nthe größte\n".encode())

    code, out = at_a_terminal(script(ASKS), tmp_path, talk)
    assert (code, out.decode()) == (0, "the größte\n")


@pytest.mark.parametrize(("said", "granted"), [("maybe\nYES\n", "True"), ("n\n", "False"), ("\x04", "None")])
def test_a_person_at_the_terminal_says_what_a_tool_may_have(tmp_path: Path, said: str, granted: str) -> None:
    def talk(expect: Callable[[bytes], bytes], leader: int) -> None:
        seen = b" ".join(expect(b"> ").split())
        assert b"The tool fetch" in seen
        assert b"asks for: network a.org, network b.org. Allow it for this task? [yes/no]" in seen
        assert b"\x1b[2J" not in seen
        assert len(seen) < 400
        os.write(leader, said.encode())

    assert at_a_terminal(script(GRANTS), tmp_path, talk) == (0, f"{granted}\n".encode())


@pytest.mark.parametrize(("ending", "status"), [("eof", "waiting"), ("ctrl-c", "interrupted")])
def test_a_person_may_leave_the_question_open_or_end_the_program(tmp_path: Path, ending: str, status: str) -> None:
    body = (
        "from habilis.core.errors import Interrupted\n            text = ''\n            try:\n"
        "                status = 'waiting' if await self.asker('Which?') is None else 'answered'\n"
        "            except Interrupted:\n                status = 'interrupted'"
    )

    def talk(expect: Callable[[bytes], bytes], leader: int) -> None:
        expect(b"> ")
        if ending == "eof":
            os.write(leader, b"\x04")
        else:
            os.kill(int(expect(b".").split(b"pid ")[1].split(b".")[0]), signal.SIGINT)

    code, out = at_a_terminal([*script(PID + body), "--json"], tmp_path, talk)
    assert json.loads(out)["status"] == status
    assert code == (0 if status == "waiting" else 130)


def test_the_event_loop_is_free_while_a_person_thinks(tmp_path: Path) -> None:
    body = (
        "ticks = []\n            async def tick():\n                while True:\n"
        "                    ticks.append(1); await asyncio.sleep(0.01)\n"
        "                    if len(ticks) == 5: print('five ticks', file=sys.stderr, flush=True)\n"
        "            task = asyncio.ensure_future(tick())\n            " + ASKS + "; task.cancel()"
    )

    def talk(expect: Callable[[bytes], bytes], leader: int) -> None:
        expect(b"> ")
        expect(b"five ticks")
        os.write(leader, b"yes\n")

    code, out = at_a_terminal(script(body), tmp_path, talk)
    assert (code, out) == (0, b"yes\n")


def test_asking_two_things_at_once_asks_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    from habilis.terminal.asking import TerminalAsker

    leader, follower = pty.openpty()
    with os.fdopen(follower) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)

        async def both() -> list[str]:
            asker = TerminalAsker(None)
            os.write(leader, b"one\ntwo\n")
            return list(await asyncio.gather(asker("first?"), asker("second?")))

        assert asyncio.run(both()) == ["one", "two"]
    os.close(leader)
