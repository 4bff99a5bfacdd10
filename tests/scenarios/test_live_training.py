"""What a user would lose: what a training is doing, and after it a terminal that can be read."""

from __future__ import annotations

import codecs
import json
import os
import pty
import re
import signal
import sys
import termios
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from rich.cells import cell_len

from habilis.demo import reply
from habilis.testing import ScriptedServer

from .. import nursery
from ..runners import APART, words
from ..screens import Screen

ROWS = [{"id": "first", "question": "What is 2+3*4?"}, {"id": "second", "question": "What is 7*8?"}]
FRAME = re.compile(r"\x1b\[\?7l(.*?)\x1b\[\?7h", re.DOTALL)


@pytest.fixture
def here(tmp_path: Path, sandbox_level: str) -> Path:
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path


class Training:
    """`habilis evolve` on a terminal of its own."""

    def __init__(self, here: Path, *words: str, program: str = "", **environ: str) -> None:
        self._ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (24, 80))
        known: dict[str, Any] = {**os.environ, "TERM": "xterm-256color", **environ}
        for name in ("CI", "NO_COLOR", "COLUMNS", "LINES"):
            if name not in environ:
                known.pop(name, None)
        begin = ["-c", program] if program else ["-m", "habilis"]
        command = [sys.executable, *begin, "evolve", "--dataset", "tasks.jsonl", "--run-name", "one", *words]
        self.process = nursery.Program(command, cwd=here, env=known, stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        self._decoded = codecs.getincrementaldecoder("utf-8")("replace")
        self.written = ""

    def __enter__(self) -> Training:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        os.close(self._ours)

    def resize(self, columns: int, rows: int) -> None:
        termios.tcsetwinsize(self._ours, (rows, columns))

    def until(self, said: str) -> None:
        """Read on until `said` was written behind what was read before."""
        start = len(self.written)
        while said not in self.written[start:]:
            assert self._read(), self.written

    def end(self) -> int:
        while self._read():
            pass
        return int(self.process.wait(timeout=60))

    @property
    def frames(self) -> list[list[str]]:
        """The lines of each frame, without colours."""
        return [re.sub(r"\x1b\[[\d;]*[mKJ]", "", frame).split("\r\n") for frame in FRAME.findall(self.written)]

    @property
    def screen(self) -> str:
        screen = Screen(80, 24)
        screen.feed(self.written)
        return screen.text

    def _read(self) -> bool:
        try:
            data = os.read(self._ours, 65_536)
        except OSError:  # the terminal is gone with its last program
            return False
        self.written += self._decoded.decode(data)
        return bool(data)


@pytest.mark.slow
@pytest.mark.promise
def test_a_training_is_seen_while_it_runs_and_leaves_its_account_alone(here: Path) -> None:
    with Training(here, "-c", "offline") as training:
        assert training.end() == 0
    assert any(frame[0].startswith("step 1 of 1 · 0 of 2 tasks") for frame in training.frames)
    assert any("1 of 2 tasks · 1 answered" in frame[0] for frame in training.frames)
    kept = training.screen
    assert "step     1: 2 tasks\n" in kept
    assert sorted(re.findall(r"✓ (\w+), ", kept)) == ["first", "second"]
    assert "absorbed step 1: EGL" in kept
    assert "outcome  done\n" in kept
    assert not re.search(r"of 2 tasks|asking|at work|curator", kept)


@pytest.mark.slow
def test_where_no_view_is_wanted_there_is_none(here: Path) -> None:
    with Training(here, "-c", "offline", NO_COLOR="1") as training:
        assert training.end() == 0
    assert not training.frames
    assert "absorbed step 1: EGL" in training.written


FAILING = """
import sys
from habilis.cli.evolve import evolve
from habilis.cli.parser import parse
from habilis.core.events import StepStarted

class Failing:
    def __init__(self, settings, sinks, **more):
        self.sinks = sinks
    async def run(self, rows, **more):
        self.sinks[0].emit(StepStarted(step=1, tasks=("first", "second"), left=2))
        raise RuntimeError("torn")

evolve(parse(sys.argv[1:]), Failing)
"""


def test_a_failure_takes_the_view_away_before_it_is_told(here: Path) -> None:
    with Training(here, "-c", "offline", program=FAILING) as training:
        assert training.end() == 1
    assert training.frames[0][0].startswith("step 1 of 1")
    lines = training.screen.splitlines()
    assert lines[:2] == ["step     1: 2 tasks", "Traceback (most recent call last):"]
    assert lines[-1] == "RuntimeError: torn"


@pytest.fixture
def stuck() -> Iterator[ScriptedServer]:
    """A model that does not reply before the test is over."""
    over = threading.Event()

    def waiting(messages: list[BaseMessage], tools: list[dict[str, Any]], form: dict[str, Any] | None) -> AIMessage:
        over.wait(timeout=120)
        return reply(messages, tools, form)

    with ScriptedServer(waiting) as server:
        yield server
        over.set()


@pytest.mark.parametrize("runner", ["local", *(pytest.param(name, marks=pytest.mark.slow) for name in APART)])
def test_it_follows_the_terminal_and_ctrl_c_leaves_it_clean(here: Path, stuck: ScriptedServer, runner: str) -> None:
    server = {"OPENAI_BASE_URL": stuck.base_url, "OPENAI_MODEL": "scripted"}
    with Training(here, *words(runner), **server) as training:
        training.until("planning: asking scripted")
        training.resize(40, 10)
        while not all(cell_len(line) < 40 for line in training.frames[-1]):
            training.until("\x1b[?7h")
        training.resize(80, 24)
        os.kill(training.process.pid, signal.SIGINT)
        training.until("Ctrl-C again stops at once")
        os.kill(training.process.pid, signal.SIGINT)
        assert training.end() == 130
    assert not re.search(r"of 2 tasks|asking|at work", training.screen)
    assert "outcome  interrupted" in training.screen
