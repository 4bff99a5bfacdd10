"""The program as a person meets it: a process, its output, its exit code, what it leaves behind. No double."""

from __future__ import annotations

import json
import os
import pty
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from habilis.rundir import RunDir, list_runs

from .. import nursery

ROOT = Path(__file__).resolve().parents[2]


def main_py(*words: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return nursery.run([sys.executable, str(ROOT / "main.py"), *words], cwd=cwd, env={**os.environ, **env}, text=True)


def habilis(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return nursery.run([sys.executable, "-m", "habilis", *words], cwd=cwd, text=True)


@pytest.fixture
def silent_server() -> Iterator[str]:
    """The address of a server that takes connections and never says anything."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


def test_a_question_about_a_file_is_answered_recorded_shown_and_replayed(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("name,price\na,1.5\nb,2.5\n")
    done = main_py("What is the average price in mine.csv?", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["status"] == "answered"
    assert "2" in result["final_answer"]
    assert "offline demonstration model" in done.stderr
    (run,) = list_runs(tmp_path / "runs")
    assert run.read_run()["sandbox_level"] == result["sandbox_level"]
    (task,) = run.tasks()
    assert list(task.tools.glob("*.py"))
    shown = habilis("runs", "show", run.name, cwd=tmp_path)
    assert shown.returncode == 0
    assert "average price in mine.csv" in shown.stdout
    assert "thought  1:" in shown.stdout
    again = main_py("--replay", run.name, "--quiet", cwd=tmp_path)
    assert (again.returncode, again.stdout.strip()) == (0, result["final_answer"])


def test_what_cannot_be_answered_ends_honestly(tmp_path: Path) -> None:
    done = main_py("What is the capital of France?", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "OPENAI_API_KEY" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = main_py("q", "--quiet", cwd=tmp_path, OPENAI_BASE_URL="http://127.0.0.1:9/v1", OPENAI_MODEL="m")
    assert (done.returncode, done.stdout) == (3, "")
    assert len(done.stderr.splitlines()) == 1
    assert "127.0.0.1:9" in done.stderr


def test_a_budget_that_is_used_up_has_its_own_exit_code(tmp_path: Path) -> None:
    done = main_py("What is 2+3*4?", "--max-tokens", "10", "--json", cwd=tmp_path)
    assert done.returncode == 4
    assert json.loads(done.stdout)["status"] == "budget"
    more = main_py("--resume", "--max-tokens", "100000", "--quiet", cwd=tmp_path)
    assert (more.returncode, more.stdout.strip()) == (0, "14")


@pytest.mark.parametrize("signals", [[signal.SIGINT, signal.SIGINT], [signal.SIGTERM]], ids=["ctrl-c twice", "term"])
def test_a_stopped_program_writes_its_result_leaves_no_process_and_can_go_on(
    tmp_path: Path, silent_server: str, signals: list[signal.Signals]
) -> None:
    env = {**os.environ, "OPENAI_BASE_URL": silent_server, "OPENAI_MODEL": "m"}
    command = [sys.executable, str(ROOT / "main.py"), "What is 2+3*4?", "--json"]
    with nursery.Program(
        command, cwd=tmp_path, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        while b"question" not in process.stderr.readline():
            pass
        family = psutil.Process(process.pid)
        children = family.children(recursive=True)
        for index, number in enumerate(signals):
            process.send_signal(number)
            if index + 1 < len(signals):
                while b"Ctrl-C again" not in process.stderr.readline():
                    pass
        out, err = process.communicate()
    assert process.returncode == 130, err
    assert json.loads(out)["status"] == "interrupted"
    assert b"Traceback" not in err
    assert not [child for child in children if child.is_running()]
    (run,) = list_runs(tmp_path / "runs")
    assert run.state() == "stopped"
    done = main_py("--resume", "--quiet", cwd=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "14")


def test_a_full_disk_is_one_line_and_leaves_no_half_run(tmp_path: Path) -> None:
    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    done = subprocess.run(
        [sys.executable, str(ROOT / "main.py"), "What is 2+2?"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=no_room,
    )
    assert done.returncode == 5
    assert done.stderr.startswith("habilis: runs/")
    assert "run.yaml: File too large; raise the limit" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list((tmp_path / "runs").iterdir()) == []


def test_two_programs_never_run_one_task(tmp_path: Path, silent_server: str) -> None:
    env = {**os.environ, "OPENAI_BASE_URL": silent_server, "OPENAI_MODEL": "m"}
    command = [sys.executable, str(ROOT / "main.py"), "q", "--run-dir", "mine"]
    process: Any
    with nursery.Program(command, cwd=tmp_path, env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        while b"question" not in process.stderr.readline():
            pass
        other = main_py("--resume", "--run-dir", "mine", cwd=tmp_path)
        listed = habilis("runs", "list", "--json", cwd=tmp_path)
        state = RunDir.open(tmp_path / "mine").state()
        process.kill()
    assert other.returncode == 2
    assert "by another process" in other.stderr.splitlines()[-1]
    assert state == "running"
    assert json.loads(listed.stdout) == []
    assert RunDir.open(tmp_path / "mine").state() == "stopped"


# --- a question of the task's own, over the real team ---

ASKING = """
import sys
from langchain_core.messages import AIMessage
from habilis import Team
from habilis.cli import main
from habilis.testing import ScriptedModel

def script(messages, tools, form):
    last = str(messages[-1].content)
    if "<candidates>" in last:
        return {}
    if "<answer>" in last:
        return {"status": "FINISH", "reason": "fine"}
    if "<findings>" in last:
        said = next(word for word in ("größte", "price", "nothing") if word in last)
        return {"final_answer": "as you say: " + said, "reasoning_summary": "so"}
    if any(message.type == "tool" for message in messages):
        return "It is as you say: " + last
    call = {"name": "ask_user", "args": {"question": "Which\\x1b[2J column?"}, "id": "c1"}
    return AIMessage("", tool_calls=[call])

def factory(settings, **options):
    return Team(settings, clients=lambda *_: ScriptedModel(script=script), **options)

sys.exit(main(sys.argv[1:], team_factory=factory))
"""


def test_a_task_asks_at_the_terminal_and_goes_on_with_the_answer(tmp_path: Path) -> None:
    leader, follower = pty.openpty()
    command = [sys.executable, "-c", ASKING, "run", "q", "--json"]
    with nursery.Program(command, cwd=tmp_path, stdin=follower, stderr=follower, stdout=subprocess.PIPE) as process:
        os.close(follower)
        seen = b""
        while b"> " not in seen:
            seen += os.read(leader, 4096)
        os.write(leader, "größte\n".encode())
        out, _ = process.communicate()
    os.close(leader)
    assert b"\x1b[2J column" not in seen
    assert seen.count(b"column?") == 1
    result = json.loads(out)
    assert (process.returncode, result["status"]) == (0, "answered")
    assert result["final_answer"] == "as you say: größte"


def test_with_nobody_there_the_task_waits_and_the_answer_comes_later(tmp_path: Path) -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", ASKING, *words]
        return nursery.run(command, cwd=tmp_path, text=True)

    asked = run("run", "q", "--json", "--run-dir", "runs/w")
    assert (asked.returncode, json.loads(asked.stdout)["question_asked"]) == (0, "Which\x1b[2J column?")
    assert "--answer" in asked.stderr
    listed = run("runs", "list", "--json")
    assert json.loads(listed.stdout)[0]["state"] == "waiting"
    done = run("runs", "resume", "w", "--answer", "price", "--quiet")
    assert (done.returncode, done.stdout) == (0, "as you say: price\n"), done.stderr
