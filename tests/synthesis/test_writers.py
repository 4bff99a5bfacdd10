"""Code writers: the last block of a reply is the code, and no program outlives its turn."""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.config import WriterSettings
from habilis.core.errors import ModelUnreachable, ReplayMismatch, UserError, WriterFailed
from habilis.models.tape import Tape
from habilis.synthesis.codeblocks import extract_code
from habilis.synthesis.writers import CommandWriter, ModelWriter, make_writer

REPLY = "Here:\n```python\nprint(1)\n```\n"


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("```python\na = 1\n```", "a = 1\n"),
        ("```py\na = 1\n```\nDone.", "a = 1\n"),
        ("```Python\na = 1\n```", "a = 1\n"),
        ("```python\nfirst\n```\ntext\n```python\nlast\n```\n", "last\n"),
        ("```python\na = 1\n```\n```json\n{}\n```", "a = 1\n"),
        ("```python\na = 1\n", "a = 1\n"),
        ("```python\na = 1```", "a = 1\n"),
        ("```python\nfirst\n```python\nlast\n```", "last\n"),
        ("  ```python\n  a = 1\n  ```", "  a = 1\n"),
        ("```python title=x.py\na = 1\n```", "a = 1\n"),
        ("````python\nTEXT = '''\n```\nx\n```\n'''\n````", "TEXT = '''\n```\nx\n```\n'''\n"),
        ("~~~python\na = 1\n~~~", "a = 1\n"),
        ("```python\r\na = 1\r\n```\r\n", "a = 1\n"),
    ],
)
def test_the_last_python_block_is_the_code(reply: str, code: str) -> None:
    assert extract_code(reply) == code


@pytest.mark.parametrize(
    "reply", ["", "no code", "```\na = 1\n```", "```json\n{}\n```", "```python\n\n```", "```python"]
)
def test_a_reply_without_code_is_a_failed_attempt(reply: str) -> None:
    with pytest.raises(WriterFailed, match="no ```python block"):
        extract_code(reply)


@given(st.text(alphabet="`~py thon\n\rx", max_size=60))
def test_any_reply_gives_code_or_a_reason(reply: str) -> None:
    with contextlib.suppress(WriterFailed):
        assert extract_code(reply).strip()


async def test_the_model_writes_in_the_builder_role(said_models: Any) -> None:
    models = said_models([REPLY])
    assert await ModelWriter(models).write("system", "user") == REPLY
    assert models.asked == [("builder", "user")]


async def test_an_empty_reply_of_the_model_is_a_failed_attempt(said_models: Any) -> None:
    with pytest.raises(WriterFailed):
        await ModelWriter(said_models(["  "])).write("s", "u")
    with pytest.raises(ModelUnreachable):
        await ModelWriter(said_models([ModelUnreachable("401")])).write("s", "u")


def program(folder: Path, code: str, name: str = "writer") -> Path:
    """A program of a few lines of Python."""
    path = folder / name
    path.write_text(f"#!{sys.executable}\nimport os, subprocess, sys, time\n{code}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


async def test_a_command_reads_the_prompt_and_prints_code(tmp_path: Path) -> None:
    path = program(tmp_path, "print('```python\\n# ' + sys.stdin.read().replace('\\n', ' ') + '\\n```')")
    reply = await CommandWriter([str(path)]).write("be brief", "count ✓")
    assert extract_code(reply) == "# be brief  count ✓\n"


async def test_a_command_works_in_an_empty_folder_that_is_gone_afterwards(tmp_path: Path) -> None:
    path = program(tmp_path, "open('litter', 'w').close(); print(os.getcwd(), os.listdir())")
    folder, *names = (await CommandWriter([str(path)]).write("s", "u")).split()
    assert Path(folder).name.startswith("writer-")
    assert names == ["['litter']"]
    assert not os.path.exists(folder)  # noqa: PTH110


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("sys.stderr.write('no credits left'); sys.exit(3)", "ended with code 3: no credits left."),
        ("print(chr(96) * 3 + 'python'); print('x = 1'); sys.exit(1)", "ended with code 1."),
        ("sys.stderr.write('hm')", "printed nothing: hm."),
        ("sys.stdin.close()", "printed nothing."),
        ("os.kill(os.getpid(), 9)", "ended with code -9."),
    ],
)
async def test_a_command_that_fails_says_why(tmp_path: Path, code: str, reason: str) -> None:
    with pytest.raises(WriterFailed) as failed:
        await CommandWriter([str(program(tmp_path, code))]).write("s", "u" * 200_000)
    assert str(failed.value) == f"command {reason}"


async def test_a_program_that_cannot_be_started_is_a_failed_attempt(tmp_path: Path) -> None:
    with pytest.raises(WriterFailed, match="cannot be started"):
        await CommandWriter([str(tmp_path / "none")]).write("s", "u")


GRANDCHILD = """
child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])
open(os.environ['NOTE'], 'w').write(str(child.pid))
"""


def is_gone(pid: int) -> bool:
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] == "Z"


async def until(true: Callable[[], bool]) -> bool:
    """Whether `true` becomes so within two seconds."""
    for _ in range(200):
        if true():
            return True
        await asyncio.sleep(0.01)
    return False


async def noted_is_gone(note: Path) -> bool:
    return await until(lambda: is_gone(int(note.read_text())))


@pytest.fixture
def note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "pid"
    monkeypatch.setenv("NOTE", str(path))
    return path


async def test_a_command_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path, note: Path) -> None:
    path = program(tmp_path, GRANDCHILD + "time.sleep(600)")
    with pytest.raises(WriterFailed, match=r"did not end within 1\.5 seconds"):
        await CommandWriter([str(path)], timeout_s=1.5).write("s", "u")
    assert await noted_is_gone(note)


async def test_a_grandchild_that_keeps_the_output_open_costs_nothing(tmp_path: Path, note: Path) -> None:
    path = program(tmp_path, GRANDCHILD + "print('done')")
    assert await CommandWriter([str(path)], timeout_s=30).write("s", "u") == "done\n"
    assert await noted_is_gone(note)


async def test_a_grandchild_left_in_the_background_goes_with_the_command(tmp_path: Path, note: Path) -> None:
    quiet = GRANDCHILD.replace(")'])", ")'], stdin=-3, stdout=-3, stderr=-3)")
    assert "done" in await CommandWriter([str(program(tmp_path, quiet + "print('done')"))]).write("s", "u")
    assert await noted_is_gone(note)


async def test_a_cancelled_task_ends_the_command(tmp_path: Path, note: Path) -> None:
    path = program(tmp_path, "open(os.environ['NOTE'], 'w').write(str(os.getpid())); time.sleep(600)")
    writing = asyncio.create_task(CommandWriter([str(path)]).write("s", "u"))
    assert await until(lambda: note.exists() and bool(note.read_text()))
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert await noted_is_gone(note)


def taped(folder: Path, *, replay_only: bool = False) -> Any:
    """As much of the models as an external writer needs: the task's tape."""
    return SimpleNamespace(tape=Tape(folder / "tape.jsonl", replay_only=replay_only))


async def test_a_programs_reply_is_paid_once_and_its_failure_is_tried_again(tmp_path: Path, note: Path) -> None:
    code = (
        "path = os.environ['NOTE']\n"
        "n = int(open(path).read() or 0) if os.path.exists(path) else 0\n"
        "open(path, 'w').write(str(n + 1))\n"
        "sys.exit(1) if n == 0 else print(f'```python\\nversion = {n}\\n```')"
    )
    settings = WriterSettings(command=(str(program(tmp_path, code)),))
    writer = make_writer(settings, taped(tmp_path))
    with pytest.raises(WriterFailed):
        await writer.write("system", "user")
    first = await writer.write("system", "user")
    assert "version = 1" in first
    again = make_writer(settings, taped(tmp_path))
    assert await again.write("system", "user") == first
    assert note.read_text() == "2"
    with pytest.raises(ReplayMismatch):
        await make_writer(settings, taped(tmp_path, replay_only=True)).write("system", "another")


async def test_codex_is_asked_on_stdin_and_its_sandbox_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "prompt = sys.stdin.read()\nprint('```python\\n#', sys.argv[1:], repr(prompt), '\\n```')"
    program(tmp_path, code, "codex")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    writer = make_writer(WriterSettings(command=("codex",)), taped(tmp_path))
    reply = extract_code(await writer.write("system", "user"))
    assert "'exec'" in reply
    assert "'--sandbox', 'read-only'" in reply
    assert "bypass" not in reply
    assert "system" in reply.split("]", 1)[1], "the prompt is on stdin, not among the arguments"
    assert writer.name == "codex"


def test_a_writer_whose_program_is_missing_is_told_to_the_user(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said_models: Any
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="no program codex"):
        make_writer(WriterSettings(command=("codex",)), said_models())
    with pytest.raises(UserError, match="no program nosuch"):
        make_writer(WriterSettings(command=("nosuch",)), said_models())
    assert isinstance(make_writer(WriterSettings(), said_models()), ModelWriter)
