"""What a user would lose: a command that hears no SIGTERM, so that only `kill -9` of each of its processes ends it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests import nursery

from habilis.cli import watcher
from habilis.cli.watcher import PATIENCE_S, WIND_DOWN_S
from habilis.core import signals

WITHIN_S = 20.0
"""Five, and what a machine that is busy with other tests takes beside."""
STUCK = {
    "a pattern": 're.match("(a+)+$", "a" * 64 + "!")',
    "a sum": "10 ** 10 ** 9",
    "a loop of ours": 'exec("while True: pass")',
    "a thread": 'await asyncio.to_thread(re.match, "(a+)+$", "a" * 64 + "!")',
}
TEAM = """
    import asyncio, os, re, sys
    from pathlib import Path
    from habilis.cli import main

    class Team:
        def __init__(self, settings, **given):
            pass
        async def run(self, question, **options):
            child = await asyncio.create_subprocess_exec(*CHILD, stdout=asyncio.subprocess.PIPE)
            await child.stdout.readline()
            Path("done-so-far").write_text("one reply")
            print("stuck", child.pid, file=sys.stderr, flush=True)
            STUCK
        def interrupt(self):
            pass
        def wind_down(self):
            return asyncio.Event().wait() if REPLY else None  # a reply on its way that never comes

    sys.argv = ["habilis", *ARGV]
    sys.exit(main(team_factory=Team))
"""
CHILD = [
    sys.executable,
    "-c",
    "import ctypes, signal; ctypes.CDLL(None).prctl(1, signal.SIGKILL); print(flush=True); signal.pause()",
]


@contextlib.contextmanager
def started(tmp_path: Path, stuck: str, *, reply: bool = False) -> Iterator[tuple[Any, psutil.Process]]:
    """A command that is stuck, and a process that it started."""
    body = textwrap.dedent(TEAM).replace("STUCK", stuck).replace("CHILD", repr(CHILD)).replace("REPLY", repr(reply))
    body = body.replace("ARGV", repr(["run", "q", "--quiet"]))
    pipe = subprocess.PIPE
    with nursery.Program([sys.executable, "-c", body], cwd=tmp_path, stdout=pipe, stderr=pipe) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert line.startswith(b"stuck "), line + process.stderr.read()
            yield process, psutil.Process(int(line.split()[1]))
        finally:
            if process.poll() is None:
                process.kill()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stuck", "number"), [*((name, signal.SIGTERM) for name in STUCK), ("a pattern", signal.SIGHUP)]
)
def test_a_stuck_command_is_gone_within_five_seconds(tmp_path: Path, stuck: str, number: signal.Signals) -> None:
    with started(tmp_path, STUCK[stuck]) as (process, child):
        began = time.monotonic()
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        assert time.monotonic() - began < WITHIN_S
        assert process.returncode == -signal.SIGKILL, "it was really stuck"
        assert b"it was asked to end, and was stuck" in err
        assert PATIENCE_S < 5
        assert (tmp_path / "done-so-far").read_text() == "one reply", "what was done stays"
        psutil.wait_procs([child], timeout=60)
        assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


def test_a_command_that_ends_by_itself_is_not_killed_and_leaves_no_watcher(tmp_path: Path) -> None:
    with started(tmp_path, "await asyncio.Event().wait()") as (process, _):
        family = psutil.Process(process.pid).children(recursive=True)
        assert len(family) == 2, "the watcher and the child"
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (130, b"habilis: interrupted: stopped at once; continue with --resume\n")
        _, alive = psutil.wait_procs(family, timeout=60)
        assert not alive


def test_watchdog_and_command_mean_the_same() -> None:
    assert (watcher.WIND_DOWN_S, watcher.WINDING_DOWN) == (signals.WIND_DOWN_S, signals.WINDING_DOWN)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_waits_for_a_reply_has_ten_seconds_more_and_no_longer(
    tmp_path: Path, number: signal.Signals
) -> None:
    with started(tmp_path, "await asyncio.Event().wait()", reply=True) as (process, _):
        began = time.monotonic()
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (130, b"habilis: interrupted: stopped at once; continue with --resume\n")
        assert WIND_DOWN_S - 1 < time.monotonic() - began < WIND_DOWN_S + WITHIN_S


@pytest.mark.slow
def test_a_command_that_is_stuck_while_it_waits_for_a_reply_is_killed_all_the_same(tmp_path: Path) -> None:
    stuck = 'asyncio.get_running_loop().call_later(1.0, re.match, "(a+)+$", "a" * 64 + "!")'
    stuck += "; await asyncio.Event().wait()"
    with started(tmp_path, stuck, reply=True) as (process, _):
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL
        assert b"it was asked to end, and was stuck" in err
        assert time.monotonic() - began < WIND_DOWN_S + WITHIN_S


def test_a_second_signal_waits_for_no_reply(tmp_path: Path) -> None:
    with started(tmp_path, "await asyncio.Event().wait()", reply=True) as (process, _):
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGHUP)
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (130, b"habilis: interrupted: stopped at once; continue with --resume\n")
        assert time.monotonic() - began < WIND_DOWN_S


def test_the_watcher_weighs_little_and_holds_no_stream_open(tmp_path: Path) -> None:
    with started(tmp_path, "await asyncio.Event().wait()") as (process, child):
        (watcher,) = (p for p in psutil.Process(process.pid).children() if p.pid != child.pid)
        links = {os.readlink(entry) for entry in Path(f"/proc/{watcher.pid}/fd").iterdir()}  # noqa: PTH115
        assert len(links) <= 3, "a pipe, a handle of the process, standard error"
        assert watcher.memory_full_info().uss < 8 << 20
        process.kill()
        process.communicate(timeout=60)
        _, alive = psutil.wait_procs([watcher, child], timeout=60)
        assert not alive, "it ends with whom it watches"


def test_a_command_in_another_program_is_not_watched(tmp_path: Path) -> None:
    body = f"""
import os
from habilis.cli import main
assert main(["runs", "list", "--set", "runs_dir={tmp_path}"]) == 0
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("alone")
"""
    done = nursery.run([sys.executable, "-c", body], cwd=tmp_path)
    assert done.stdout.endswith(b"alone\n"), done.stderr
