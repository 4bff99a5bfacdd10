"""What a user would lose: an account in which the answer stands before its heading, or is read without it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .. import nursery

ASKED = [sys.executable, "-m", "habilis", "run", "-c", "offline", "What is 2+3*4?", "--no-absorb"]


@pytest.fixture
def here(tmp_path: Path, sandbox_level: str) -> Path:
    return tmp_path


def test_in_one_pipe_the_heading_stands_before_the_answer(here: Path) -> None:
    """As by `2>&1 |`."""
    pipe, none = subprocess.PIPE, subprocess.DEVNULL
    with nursery.Program(ASKED, cwd=here, stdin=none, stdout=pipe, stderr=subprocess.STDOUT) as process:
        lines = process.communicate(timeout=120)[0].decode().splitlines()
    assert lines[0] == "question: What is 2+3*4?"
    at = lines.index("answer")
    assert lines[at + 1] == "14"
    assert "model calls" in lines[at + 2]


def test_what_was_printed_first_is_read_first(here: Path) -> None:
    """Standard output of a pipe is held back; whatever goes to standard error sends it on its way."""
    program = (
        "import sys\nfrom habilis.terminal.streams import masked_streams\n"
        "with masked_streams():\n"
        "    print('one')\n    print('two', file=sys.stderr)\n    print('three')\n    print('four', file=sys.stderr)\n"
    )
    command = [sys.executable, "-c", program]
    process = nursery.Program(command, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.communicate(timeout=60)[0].split() == [b"one", b"two", b"three", b"four"]
