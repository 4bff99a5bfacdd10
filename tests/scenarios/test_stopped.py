"""Stopped while a tool runs in the sandbox: no process stays, and the workspace is the user's again."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from langchain_core.messages import AIMessage, BaseMessage

from habilis.demo import reply
from habilis.testing import ScriptedServer

from .. import nursery
from .conftest import ROOT, World

QUESTION = "What is the average price in sales.csv?"
HEAD = "def run(input: InputModel) -> OutputModel:\n"
HANGING = f"""{HEAD}    import os, time
    if os.path.lexists("sales.csv") and not os.path.exists("started"):
        open("started", "w").close()
        time.sleep(600)
"""
"""In the task's workspace the first call never ends; a trial, and a call after it, do."""
PATIENCE_S = 60.0


def hanging(messages: list[BaseMessage], tools: list[dict[str, Any]], form: dict[str, Any] | None) -> AIMessage:
    """The offline model, whose tools hang when they are first called for the task."""
    said = reply(messages, tools, form)
    for head, body in ((HEAD, HANGING), (json.dumps(HEAD)[1:-1], json.dumps(HANGING)[1:-1])):
        said = said.model_copy(update={"content": str(said.content).replace(head, body)})
    return said


@pytest.fixture
def stuck(world: World) -> Iterator[World]:
    """A world whose tools hang."""
    with ScriptedServer(hanging) as server:
        yield World(world.home, server)


def main_py(world: World, *words: str) -> list[str]:
    return [sys.executable, str(ROOT / "main.py"), *words]


def waited_for(pattern: str, home: Path, process: subprocess.Popen[bytes]) -> Path:
    """The file of that pattern, once it is there."""
    ends = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends and process.poll() is None:
        if found := list(home.glob(pattern)):
            return found[0]
        time.sleep(0.02)
    said = process.communicate()[1] if process.poll() is not None else b""
    raise AssertionError(f"no {pattern} in time: {said.decode()[-2000:]}")


def gone(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that still live when patience has ended."""
    _, living = psutil.wait_procs(processes, timeout=PATIENCE_S)
    return living


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.parametrize("signals", [(signal.SIGINT, signal.SIGINT), (signal.SIGKILL,)], ids=["ctrl-c", "kill -9"])
def test_stopped_in_a_tools_call_nothing_of_the_sandbox_stays_and_the_task_goes_on(
    stuck: World, signals: tuple[signal.Signals, ...]
) -> None:
    with nursery.Program(
        main_py(stuck, QUESTION, "--json"),
        cwd=stuck.home,
        env=stuck.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        workspace = waited_for("runs/**/workspace/started", stuck.home, process).parent
        family = psutil.Process(process.pid).children(recursive=True)
        assert len(family) > 2, "the sandbox has processes of its own"
        assert process.stderr is not None
        for index, number in enumerate(signals):
            process.send_signal(number)
            while index + 1 < len(signals) and b"Ctrl-C again" not in process.stderr.readline():
                pass
        process.communicate()
    assert process.returncode == (-9 if signals == (signal.SIGKILL,) else 130)
    assert gone(family) == []
    if signals != (signal.SIGKILL,):
        assert {path.lstat().st_uid for path in (workspace, *workspace.rglob("*"))} == {os.getuid()}
    done = nursery.run(main_py(stuck, "--resume", "--json", "--no-absorb"), cwd=stuck.home, env=stuck.environment())
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    assert json.loads(done.stdout)["final_answer"] == "20"
    assert {path.lstat().st_uid for path in (workspace, *workspace.rglob("*"))} == {os.getuid()}
