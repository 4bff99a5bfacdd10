"""`habilis view` as a person types it: its address, its errors in one line, its end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from habilis.cli import main

from .. import nursery
from .conftest import Written
from .test_live import Watcher


@pytest.fixture
def here(tmp_path, monkeypatch, written):
    monkeypatch.chdir(tmp_path)
    return written


@pytest.mark.slow
@pytest.mark.promise
def test_an_interrupt_ends_it_at_once_even_while_somebody_watches(here, tmp_path):
    task = here.task("live")
    words = [sys.executable, "-m", "habilis", "view", "live"]
    pipe = subprocess.PIPE
    with task.lock(), nursery.Program(words, stdout=pipe, stderr=pipe, cwd=tmp_path) as program:
        address = program.stdout.readline().decode().strip()
        assert address.startswith("http://127.0.0.1:")
        assert "?token=" in address
        watcher = Watcher(address, "/runs/live/tasks/task/live")
        assert watcher.next() == "changed"
        mine, its = os.getpriority(os.PRIO_PROCESS, 0), os.getpriority(os.PRIO_PROCESS, program.pid)
        assert its >= min(mine + 5, 19), "the work goes first"
        program.send_signal(signal.SIGINT)
        assert watcher.next() == ""
        watcher.close()
        out, errors = program.communicate(timeout=60)
    assert program.returncode == 130
    assert out == b""
    assert errors.decode().splitlines() == ["habilis: interrupted"]


def test_a_port_that_is_taken_is_one_line(here, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["view", "--port", str(port)]) == 2
    told = capsys.readouterr()
    assert f"port {port} " in told.err
    assert "--port" in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nope"], "no run named nope"),
        (["--port", "70000"], "0 to 65535"),
        (["--static", "out", "--open"], "leave out --open"),
        (["--static", "runs"], "not an empty folder"),
    ],
)
def test_what_cannot_be_shown_is_one_line(here, capsys, words, said):
    here.ended("one")
    assert main(["view", *words]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1


def test_without_its_extra_it_says_what_to_install(here, capsys, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("habilis.view")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["view"]) == 2
    told = capsys.readouterr().err
    assert "pip install 'habilis[view]'" in told
    assert told.count("\n") == 1


def test_a_conversation_is_named_by_its_folder(here, capsys):
    Written(here.root / "threads").ended("sales")
    here.ended("other")
    assert main(["view", "threads/sales", "--static", "out"]) == 0
    capsys.readouterr()
    page = Path("out/index.html").read_text("utf-8")
    assert "runs/sales/" in page
    assert "other" not in page
    assert "What is the mean?" in Path("out/runs/sales/index.html").read_text("utf-8")


def test_static_pages_say_where_they_are(here, capsys):
    here.ended("one")
    assert main(["view", "one", "--static", "out"]) == 0
    assert "out/index.html" in capsys.readouterr().out
