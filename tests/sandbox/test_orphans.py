"""What a killed command would leave to its user: processes that go on, and temporary folders that nobody removes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from habilis.sandbox.processes import temporary
from habilis.sandbox.processes.attached import attached

from .. import nursery

WITHIN_S = 5.0
PARENT = """
    import subprocess, sys, time
    from habilis.sandbox.processes.attached import attached
    # At once, and in its very start: nothing of the child's own has run yet.
    for command in ([sys.executable, "-c", "import time; time.sleep(600)"], ["sleep", "600"]):
        print(subprocess.Popen(attached(command)).pid, flush=True)
    time.sleep(600)
"""
HOLDER = """
    import sys, time
    from habilis.sandbox.processes.temporary import new_folder, temporary
    kept = new_folder("kept")
    (kept / "file").write_text("x")
    print(kept, flush=True)
    sys.stdin.readline()
"""


@contextlib.contextmanager
def started(body: str, folder: Path) -> Iterator[Any]:
    program = [sys.executable, "-c", textwrap.dedent(body)]
    environment = {**os.environ, "TMPDIR": str(folder)}
    with nursery.Program(
        program, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="PR_SET_PDEATHSIG")
def test_children_of_a_killed_process_are_gone_even_while_they_start(tmp_path: Path) -> None:
    with started(PARENT, tmp_path) as process:
        assert process.stdout is not None
        children = [psutil.Process(int(process.stdout.readline())) for _ in range(2)]
        process.send_signal(signal.SIGKILL)
        process.wait()
        _, alive = psutil.wait_procs(children, timeout=WITHIN_S)
        assert not alive


def test_a_child_whose_parent_is_gone_before_it_begins_does_not_begin() -> None:
    command = attached([sys.executable, "-c", "print('begun')"])
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"begun\n"
    command[command.index(str(os.getpid()))] = "1"
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, b"")


def test_what_cannot_be_started_says_so_before_anything_is(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="No such file or directory: 'no-such-program'"):
        attached(["no-such-program"])
    (tmp_path / "text").write_text("no program")
    with pytest.raises(PermissionError, match="Permission denied"):
        attached(["./text"], cwd=tmp_path)


def test_a_killed_process_temporary_folders_are_cleared_by_the_next_and_a_living_ones_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with started(HOLDER, tmp_path) as living, started(HOLDER, tmp_path) as dying:
        theirs, orphan = (Path(one.stdout.readline().decode().strip()) for one in (living, dying))
        begun = tmp_path / f"{temporary.BEGUN}now"
        foreign = tmp_path / f"{temporary.MADE}report"
        begun.mkdir()
        foreign.mkdir()
        dying.kill()
        dying.wait()
        assert orphan.is_dir(), "it was left"
        temporary.clear.cache_clear()
        temporary.clear()
        assert not orphan.parent.exists()
        assert (theirs / "file").read_text() == "x"
        assert begun.is_dir(), "somebody may be making it now"
        assert foreign.is_dir(), "no lock, so none of ours"
        living.stdin.close()
        living.wait()
    temporary.clear.cache_clear()
    temporary.clear()
    assert set(tmp_path.iterdir()) == {begun, foreign}


def test_a_folder_for_a_while_is_gone_and_its_process_leaves_nothing(tmp_path: Path) -> None:
    body = "from habilis.sandbox.processes.temporary import temporary\nwith temporary('a') as a: print(a.is_dir())"
    done = nursery.run([sys.executable, "-c", body], cwd=tmp_path, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert done.stdout == b"True\n", done.stderr
    assert list(tmp_path.iterdir()) == []
