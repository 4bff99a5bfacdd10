"""Bad input: one clear line that says what to do, exit code 2, nothing half written. In the real program."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from habilis.cli.parser import parse

from .. import nursery

ROOT = Path(__file__).resolve().parents[2]


def habilis(
    *words: str | bytes, cwd: Path, stdin: bytes = b"", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    return nursery.run(
        [sys.executable, str(ROOT / "main.py"), *words[1:]]
        if words and words[0] == "main.py"
        else [sys.executable, "-m", "habilis", *words],
        cwd=cwd,
        input=stdin,
        env={**os.environ, **(env or {})},
        timeout=60,
    )


CASES: list[tuple[list[str | bytes], str]] = [
    (["run"], "no question"),
    (["run", ""], "the question is empty"),
    (["run", " \n\t"], "the question is empty"),
    (["run", "-"], "the question is empty"),
    (["run", "q", "--fiel", "x"], "did you mean --file?"),
    (["run", "what", "is", "this"], "put the question in quotes"),
    (["run", b"\xff\xfe"], "not valid UTF-8"),
    (["rnu"], "did you mean run?"),
    (["runs", "lst"], "did you mean list?"),
    (["runs"], "VERB"),
    (["run", "q", "--file", "absent.csv"], "--file absent.csv: no such file or folder"),
    (["run", "q", "--file", "a\nb"], "no such file"),
    (["run", "q", "--file", "/dev/null"], "--file /dev/null: a pipe or device"),
    (["run", "q", "--library", "bad.yaml"], "bad.yaml is not a folder"),
    (["config", "show", "--output", "x"], "habilis config show has no option --output"),
    (["run", "q", "-c", "absent.yaml"], "absent.yaml does not exist"),
    (["run", "q", "-c", "."], ". is a folder"),
    (["run", "q", "-c", "bad.yaml"], "bad.yaml"),
    (["run", "q", "-c", "latin.yaml"], "latin.yaml"),
    (["run", "q", "--set", "limits.max_round=3"], "did you mean limits.max_rounds?"),
    (["run", "q", "--set", "limits.max_rounds=many"], "limits.max_rounds"),
    (["run", "q", "--set", "nothing"], "expected key=value"),
    (["run", "q", "--max-time", "soon"], "--max-time soon: expected a time"),
    (["run", "q", "--max-tokens", "-5"], "--max-tokens"),
    (["run", "q", "--max-tokens", "0"], "limits.max_tokens"),
    (["run", "q", "--max-cost", "much"], "limits.max_cost"),
    (["run", "q", "--output", "bad.yaml"], "bad.yaml: a file of that name is in the way"),
    (["run", "q", "--run-dir", "somewhere/library"], "library"),
    (["run", "q", "--run-dir", "full"], "is not empty and holds no run"),
    (["run", "q", "--replay", "absent"], "no run named absent"),
    (["run", "q", "--resume"], "leave out the question"),
    (["run", "--resume"], "nothing to resume"),
    (["runs", "show"], "no runs in"),
    (["runs", "show", "x"], "no run named x"),
    (["runs", "resume", "x"], "no run named x"),
    (["runs", "clean"], "say what to clean"),
    (["runs", "clean", "--older-than", "old"], "--older-than old: expected a time"),
    (["runs", "clean", "--max-size", "big"], "--max-size big: expected a size"),
    (["library"], "VERB"),
    (["library", "cal"], "did you mean call?"),
    (["library", "call", "x"], "no library at"),
    (["library", "env", "prune", "--older-than", "old"], "--older-than old: expected a time"),
    (["config", "init", "bad.yaml"], "bad.yaml exists"),
    (["config", "init", "full"], "full is a folder"),
    (["config", "show", "-c", "list.yaml"], "mapping"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bad.yaml").write_text("limits: [1, 2\n")
    (tmp_path / "latin.yaml").write_bytes(b"prompts_dir: caf\xe9\n")
    (tmp_path / "list.yaml").write_text("- 1\n")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("")
    return tmp_path


@pytest.mark.parametrize(("words", "said"), CASES, ids=[" ".join(map(repr, words)) for words, _ in CASES])
def test_bad_input_is_one_line_and_leaves_nothing(folder: Path, words: list[str | bytes], said: str) -> None:
    before = sorted(p.name for p in folder.iterdir())
    done = habilis(*words, cwd=folder)
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("habilis: ")
    assert said in lines[0]
    assert done.returncode == 2
    assert done.stdout == b""
    assert sorted(p.name for p in folder.iterdir()) == before


def test_a_money_budget_is_refused_where_the_price_is_unknown(tmp_path: Path) -> None:
    model = ["--set", "models.basic.base_url=http://127.0.0.1:9/v1", "--set", "models.basic.model=nobodys"]
    done = habilis("run", "q", "--max-cost", "1", *model, cwd=tmp_path)
    said = "habilis: limits.max_cost is set, but the price of nobodys is unknown: set models.prices"
    assert (done.returncode, done.stderr.decode().splitlines()[0][: len(said)]) == (2, said)


def test_a_question_that_is_no_text_is_refused(folder: Path) -> None:
    done = habilis("run", "-", cwd=folder, stdin=b"caf\xe9")
    assert (done.returncode, done.stderr) == (2, b"habilis: the question on standard input is not UTF-8 (byte 3)\n")
    done = habilis("run", "-", cwd=folder, stdin=b"x" * (2 << 20))
    assert done.returncode == 2
    assert b"--file" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write and read everywhere")
def test_folders_and_files_without_permission_are_named(folder: Path) -> None:
    (folder / "full").chmod(0o500)
    (folder / "bad.yaml").chmod(0)
    done = habilis("run", "q", "--output", "full/runs", cwd=folder)
    assert (done.returncode, b"full/runs: Permission denied" in done.stderr) == (2, True)
    done = habilis("run", "q", "-c", "bad.yaml", cwd=folder)
    assert (done.returncode, b"bad.yaml: Permission denied" in done.stderr) == (2, True)
    done = habilis("run", "q", "--file", "bad.yaml", cwd=folder)
    assert (done.returncode, b"bad.yaml: Permission denied" in done.stderr) == (2, True)


def test_a_traceback_is_for_those_who_ask(folder: Path) -> None:
    assert b"Traceback" not in habilis("run", "--resume", cwd=folder).stderr
    assert b"Traceback" in habilis("run", "--resume", "--debug", cwd=folder).stderr


def test_help_and_version_cost_no_heavy_import(tmp_path: Path) -> None:
    for words in (["--help"], ["run", "--help"], ["library", "call", "--help"], ["--version"], ["rnu"]):
        script = (
            "import sys, habilis; from habilis.cli import main; code = main(sys.argv[1:])\n"
            "heavy = {'pydantic', 'yaml', 'rich', 'langchain_core', 'langgraph', 'asyncio'} & set(sys.modules)\n"
            "heavy |= {'opentelemetry', 'genai_prices', 'starlette', 'jinja2', 'uvicorn'} & set(sys.modules)\n"
            "sys.exit(f'imported {heavy}' if heavy else 0)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


def test_main_py_is_run_even_when_the_question_is_a_commands_name(folder: Path) -> None:
    done = habilis("main.py", "doctor", "--file", "absent", cwd=folder)
    assert (done.returncode, done.stderr) == (2, b"habilis: --file absent: no such file or folder\n")


def test_a_reader_that_goes_away_early_is_no_error(folder: Path) -> None:
    done = subprocess.run(
        f"{sys.executable} -m habilis config show --all | head -1",
        shell=True,
        cwd=folder,
        capture_output=True,
        check=False,
    )
    assert done.stderr == b""


def test_a_settings_file_that_init_wrote_changes_nothing_and_any_line_can_be_used(folder: Path) -> None:
    assert habilis("config", "init", "mine.yaml", cwd=folder).returncode == 0
    before = habilis("config", "show", "--all", cwd=folder).stdout
    assert habilis("config", "show", "--all", "-c", "mine.yaml", cwd=folder).stdout == before
    text = (folder / "mine.yaml").read_text()
    lines = [
        line.removeprefix("#") if line.startswith("#") and line[1:2].isalpha() else line for line in text.splitlines()
    ]
    (folder / "mine.yaml").write_text("\n".join(lines))
    done = habilis("config", "show", "-c", "mine.yaml", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert re.search(rb"limits.max_rounds +10 +file mine.yaml", done.stdout)


def test_what_one_command_was_given_another_does_not_have() -> None:
    """The parser is made once: a list that a command adds to must not be what the next one begins with."""
    first = parse(["library", "call", "double", "--args", "{}"])
    for name, value in vars(first).items():
        if isinstance(value, list):
            value.append(name)
    again = parse(["library", "call", "double", "--args", "{}"])
    assert (again.config, again.set, again.file, again.tools) == ([], [], [], ["double"])
