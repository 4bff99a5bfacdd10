"""What a user would lose: a conversation that forgets, that one bad question ends, or that cannot be taken up again."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from habilis.testing import ScriptedServer

from .. import nursery

SELECTS = {"23", "270", "72"}
"""Numbers of select and pselect6 (x86-64, x86-64, aarch64): what reading a line waits in."""


@pytest.fixture
def home(tmp_path: Path, sandbox_level: str) -> Path:
    (tmp_path / "sales.csv").write_text("region,price\nnorth,10\nsouth,20\neast,30\n", encoding="utf-8")
    return tmp_path


def chat(home: Path, text: str, *words: str, command: str = "chat") -> subprocess.CompletedProcess[str]:
    """The program with the offline model, `text` piped into it."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    return nursery.run(
        [sys.executable, "-m", "habilis", command, *words],
        cwd=home,
        env={**env, "HABILIS_CACHE_DIR": str(home / "cache")},
        input=text,
        text=True,
        timeout=240,
    )


def results(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.slow
@pytest.mark.promise
def test_a_whole_story(home: Path) -> None:
    """Numbers, a file, follow-ups on both; then the same conversation again, from another process."""
    story = "What is 2+3*4?\nand times two?\n\nWhat is the average price in sales.csv?\nAnd the maximum?\n"
    done = chat(home, story, "--thread", "story")
    assert (done.returncode, done.stdout) == (0, "14\n28\n20\n30\n"), done.stderr
    assert "went into the library" in done.stderr
    again = chat(home, "and the minimum?\nminus 1\nWhat is 5*5?\n", "--thread", "story", "--json", "--quiet")
    rows = results(again)
    assert [row["final_answer"] for row in rows] == ["10", "9", "25"], again.stderr
    assert [row["task_id"] for row in rows] == ["0005", "0006", "0007"]
    assert rows[2]["tools_made"] == [], "the library has that tool by now"
    listed = json.loads(chat(home, "", "list", "--json", command="threads").stdout)
    assert [(row["name"], row["turns"], row["last"]) for row in listed] == [("story", 7, "What is 5*5?")]
    shown = chat(home, "", "show", "story", command="threads").stdout
    assert "2. and times two?" in shown
    assert "\n   28\n" in shown
    assert json.loads(chat(home, "", "list", "--json", command="runs").stdout) == []
    asked = chat(home, "", "--thread", "story", "--quiet", "plus 5", command="run")
    assert (asked.returncode, asked.stdout) == (0, "30\n"), asked.stderr


@pytest.mark.slow
def test_a_question_without_an_answer_ends_nothing(home: Path) -> None:
    done = chat(home, "What is the meaning of life?\nWhat is 6*7?\n", "--quiet")
    assert done.stdout == "42\n"
    assert done.returncode == 1, "a script can tell that one was not answered"
    assert "could not answer the question" in done.stderr


@pytest.mark.slow
def test_tools_of_a_conversation_that_keeps_them_serve_it(home: Path) -> None:
    done = chat(home, "What is 2+3?\nplus 4\n", "--no-absorb", "--json", "--quiet")
    first, second = results(done)
    assert (first["final_answer"], second["final_answer"]) == ("5", "9")
    assert first["tools_made"]
    assert (second["tools_made"], second["tools_used"]) == ([], first["tools_made"])
    assert not (home / "runs" / "library").exists()


def test_what_is_typed_behind_a_slash(home: Path) -> None:
    text = (
        "/help\n/file sales.csv\n/files\nHow many rows are in the file?\n/files\n/tools\n/nonsense\n/file nowhere.csv\n"
    )
    done = chat(home, text + "/new other\n/files\n/quit\nWhat is 1+1?\n", "--thread", "one")
    assert (done.returncode, done.stdout) == (2, "3\n"), "a file that is not there is told by the exit code"
    told = done.stderr
    assert "/continue" in told
    assert "goes with the next question" in told
    assert f"sales.csv  ({home / 'sales.csv'})" in told
    assert "there is no /nonsense" in told
    assert "nowhere.csv: no such file" in told
    assert "no files yet" in told, "another conversation has files of its own"


def test_bad_names_and_wrong_company_are_usage_errors(home: Path) -> None:
    for words in (["--thread", "../x"], ["--thread", ""]):
        done = chat(home, "Hi\n", *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert "cannot name a thread" in done.stderr
    done = chat(home, "", "--thread", "a", "--run-dir", "b", "Hi", command="run")
    assert done.returncode == 2
    assert "--run-dir" in done.stderr
    done = chat(home, "", "--thread", "a", "--resume", command="run")
    assert done.returncode == 2
    assert "there is no thread a" in done.stderr
    assert not (home / "runs").exists()


@pytest.mark.slow
def test_a_turn_that_failed_is_gone_on_with(home: Path) -> None:
    first = chat(home, "", "--thread", "t", "--quiet", "--max-tokens", "1", "What is 2+3*4?", command="run")
    assert (first.returncode, first.stdout) == (4, "")
    done = chat(home, "", "--thread", "t", "--resume", "--quiet", "--max-tokens", "100000", command="run")
    assert (done.returncode, done.stdout) == (0, "14\n"), done.stderr
    again = chat(home, "", "--thread", "t", "--resume", command="run")
    assert again.returncode == 2
    assert "thread t has no unfinished turn" in again.stderr


@pytest.mark.slow
def test_a_conversation_is_removed_when_it_is_said_twice(home: Path) -> None:
    chat(home, "What is 1+1?\n", "--thread", "gone", "--quiet")
    refused = chat(home, "", "remove", "gone", command="threads")
    assert (refused.returncode, (home / "runs" / "threads" / "gone").exists()) == (2, True)
    assert chat(home, "", "remove", "gone", "--yes", command="threads").returncode == 0
    assert not (home / "runs" / "threads" / "gone").exists()
    assert chat(home, "", "show", "gone", command="threads").returncode == 2


class Asks:
    """A model that asks for a colour, and answers with what it was told."""

    def __call__(self, messages: list[BaseMessage], tools: list[Any], form: Any) -> AIMessage:
        last = messages[-1]
        if "<candidates>" in str(last.content):
            return AIMessage("{}")
        if "<answer>" in str(last.content):
            return AIMessage(json.dumps({"status": "FINISH", "reason": "said"}))
        if "<findings>" in str(last.content):
            findings = str(last.content).split("<findings>\n")[1].split("\n</findings>")[0]
            return AIMessage(json.dumps({"final_answer": findings, "reasoning_summary": ""}))
        if last.type == "tool":
            return AIMessage(f"The colour is {last.content}.")
        call = {"name": "ask_user", "args": {"question": "Which colour?"}, "id": f"ask-{len(messages)}"}
        return AIMessage("", tool_calls=[call])


def test_a_question_of_the_model_is_answered_by_the_next_line(home: Path) -> None:
    with ScriptedServer(Asks()) as server:
        setting = ("--set", f"models.basic.base_url={server.base_url}", "--set", "models.basic.model=scripted")
        done = chat(home, "Paint it\nteal\n", "--thread", "paint", "--quiet", *setting)
        assert (done.returncode, done.stdout) == (0, "The colour is teal.\n"), done.stderr
        assert "Which colour?" in done.stderr
        left = chat(home, "Paint another\n", "--thread", "paint", *setting)
        assert (left.returncode, left.stdout) == (0, ""), left.stderr
        taken_up = chat(home, "rose\n", "--thread", "paint", "--json", *setting)
        assert [row["final_answer"] for row in results(taken_up)] == ["The colour is rose."], taken_up.stderr
        assert "waits for you: Which colour?" in taken_up.stderr


@pytest.mark.slow
@pytest.mark.promise
def test_ctrl_c_interrupts_the_question_and_not_the_conversation(home: Path) -> None:
    with ScriptedServer(latency_s=0.2) as server:
        words = ["--thread", "slow", "--json", "--quiet", "--set", f"models.basic.base_url={server.base_url}"]
        env = {**os.environ, "HABILIS_CACHE_DIR": str(home / "cache")}
        with nursery.Program(
            [sys.executable, "-m", "habilis", "chat", *words, "--set", "models.basic.model=scripted"],
            cwd=home,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("What is 2+3*4?\n")
            process.stdin.flush()
            assert server.wait_for(1, 60.0)
            process.send_signal(signal.SIGINT)
            first = json.loads(process.stdout.readline())
            asked = len(server.requests)
            out, said = process.communicate("/continue\nand times two?\n", timeout=120)
        assert first["status"] == "interrupted"
        assert asked < 6
        assert [json.loads(line)["final_answer"] for line in out.splitlines()] == ["14", "28"], said
        assert process.returncode == 130, "a script can tell that one was interrupted"
        assert server.repeated() == [], "nothing is paid twice"


def test_input_that_is_no_text_is_one_clear_line(home: Path) -> None:
    done = nursery.run([sys.executable, "-m", "habilis", "chat"], cwd=home, input=b"\xff\xfe\n", timeout=120)
    assert done.returncode == 2
    assert b"not UTF-8" in done.stderr


class Terminal:
    """The program at a terminal of its own."""

    def __init__(self, home: Path, *words: str) -> None:
        env = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
        env |= {"HABILIS_CACHE_DIR": str(home / "cache"), "TERM": "dumb"}
        self.master, slave = pty.openpty()
        self.process = nursery.Program(
            [sys.executable, "-m", "habilis", "chat", *words],
            cwd=home,
            env={**env, "COLUMNS": "100"},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self.raw, self.place = b"", 0

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def wait_for(self, text: str) -> str:
        """What was shown until `text` came, since the last time."""
        while (at := self.raw.find(text.encode(), self.place)) < 0:
            ready, _, _ = select.select([self.master], [], [], 120.0)
            assert ready, f"{text!r} did not come after {self.raw!r}"
            try:
                piece = os.read(self.master, 65_536)
            except OSError:  # the other end is closed
                piece = b""
            assert piece, f"ended before {text!r}: {self.raw!r}"
            self.raw += piece
        before, self.place = self.raw[self.place : at], at + len(text.encode())
        return before.decode("utf-8", "replace")

    def interrupt_at_prompt(self) -> None:
        """Ctrl-C once it waits for a line. A signal between the prompt and that wait is heard with the next one only,
        which no person is fast enough for: where the system does not say what it waits for, a second one follows."""
        self.wait_for("› ")
        while not self._waits_for_a_line():
            assert self.process.poll() is None, "it waits for a line"
        self.process.send_signal(signal.SIGINT)
        if not select.select([self.master], [], [], 30.0)[0]:
            self.process.send_signal(signal.SIGINT)

    def _waits_for_a_line(self) -> bool:
        """Asleep, and not for a lock."""
        at = Path(f"/proc/{self.process.pid}")
        if (at / "stat").read_text().rpartition(")")[2].split()[0] != "S":
            return False
        try:
            call = (at / "syscall").read_text().split()
        except OSError:  # not told to everyone
            return "futex" not in (at / "wchan").read_text()
        return call[0] in SELECTS


def test_at_a_terminal_a_person_sees_the_work_and_the_answer(home: Path) -> None:
    with Terminal(home, "--thread", "tty") as terminal:
        terminal.wait_for("/help says what can be typed")
        terminal.wait_for("› ")
        terminal.type("What is the average price in sales.csv?\n")
        seen = terminal.wait_for("model calls")
        assert "written" in seen
        assert '→ {"average": 20' in seen, "its tool work, one line a call"
        assert "\n20\r\n" in seen
        terminal.interrupt_at_prompt()
        terminal.wait_for("Ctrl-C again, or Ctrl-D, ends the conversation")
        terminal.type("And the \\\nmaximum?\n")
        assert "\n30\r\n" in terminal.wait_for("model calls")
        terminal.wait_for("› ")
        terminal.type("\x04")
        terminal.wait_for("habilis chat --thread tty continues this conversation")
        assert terminal.process.wait(120) == 0
    assert "average price" in (home / "cache" / "chat-history").read_text(encoding="utf-8")
    assert (home / "cache" / "chat-history").stat().st_mode & 0o077 == 0
