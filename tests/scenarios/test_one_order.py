"""What a user would lose: an account in which the answer stands before its heading, or a pipe with more than it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .. import nursery

ASKED = [sys.executable, "-m", "habilis", "run", "-c", "offline", "What is 2+3*4?", "--no-absorb"]


@pytest.fixture
def here(tmp_path: Path, sandbox_level: str) -> Path:
    return tmp_path


def ran(here: Path, *, apart: bool) -> tuple[str, str]:
    """Standard output and error of one question, apart or into one pipe as by `2>&1 |`."""
    environ: dict[str, Any] = {**os.environ, "NO_COLOR": "1"}
    errors = subprocess.PIPE if apart else subprocess.STDOUT
    process = nursery.Program(
        ASKED, cwd=here, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors
    )
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0
    return out.decode(), (err or b"").decode()


def test_in_one_pipe_the_heading_stands_before_the_answer(here: Path) -> None:
    lines = ran(here, apart=False)[0].splitlines()
    assert lines[0] == "question: What is 2+3*4?"
    at = lines.index("answer")
    assert lines[at + 1] == "14"
    assert "model calls" in lines[at + 2]


def test_standard_output_is_the_answer_alone(here: Path) -> None:
    out, err = ran(here, apart=True)
    assert out == "14\n"
    assert "answer\n" in err


def test_what_was_printed_first_is_read_first(here: Path) -> None:
    """Standard output of a pipe is held back; whatever goes to standard error sends it on its way."""
    program = (
        "import sys\nfrom habilis.cli.terminal.streams import masked_streams\n"
        "with masked_streams():\n"
        "    print('one')\n    print('two', file=sys.stderr)\n    print('three')\n    print('four', file=sys.stderr)\n"
    )
    command = [sys.executable, "-c", program]
    process = nursery.Program(command, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.communicate(timeout=60)[0].split() == [b"one", b"two", b"three", b"four"]
