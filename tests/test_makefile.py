"""`make run Q="…"` is the first command that a newcomer types: what stands in Q must arrive, and run nothing else."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ECHO = """#!/bin/sh
exec python3 -c 'import json, os, sys; print(json.dumps([sys.argv[1:], os.environ.get("HABILIS_QUESTION")]))' "$@"
"""

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not here")


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """The Makefile over a set-up that does nothing and a `habilis` that says what it was given."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name, text in {".ci/set-up": "", ".venv/bin/habilis": ECHO}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
        path.chmod(0o755)
    return tmp_path


def _make(house: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")} | environ
    return subprocess.run(["make", *words], cwd=house, env=env, capture_output=True, text=True, check=False)


QUESTIONS = [
    "What is 2+3*4?",
    "What is the average price in examples/data/sales.csv?",
    'She said "why?" and left',
    "it's Ada's",
    "costs $5, $(shell touch owned), ${HOME}, $$, $HOME and $(touch owned)",
    "`touch owned`; touch owned & touch owned | cat > owned",
    "# not a comment # at all",
    "back\\slash \\n and a trailing one\\",
    "100% of %s and %d",
    "two\nlines, and\ta tab",
    "a=b := c += d ?= e",
    "Wie groß ist π? 平均价格是多少？ ما هو المتوسط؟ 🦴",
    "--help",
    "-",
    "* ? [a-z] ~ !! {a,b}",
]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("by", ["argument", "environment"])
def test_a_question_arrives_as_typed_and_nothing_in_it_runs(question: str, by: str, house: Path) -> None:
    done = _make(house, "run", f"Q={question}") if by == "argument" else _make(house, "run", Q=question)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [["run", "--", question], question]
    assert done.stderr == ""
    assert not (house / "owned").exists()


def test_further_options_go_before_the_question(house: Path) -> None:
    done = _make(house, "run", "Q=How many rows?", "ARGS=--file 'my data.csv' --json")
    assert json.loads(done.stdout)[0] == ["run", "--file", "my data.csv", "--json", "--", "How many rows?"]


def test_without_a_question_it_says_how_to_ask_one(house: Path) -> None:
    done = _make(house, "run")
    assert done.returncode != 0
    assert 'usage: make run Q="your question"' in done.stderr
    assert done.stdout == ""


def test_evolve_trains_on_the_shipped_benchmark_with_or_without_a_picture(house: Path) -> None:
    done = _make(house, "evolve", "ARGS=--batch-size 4")
    assert done.returncode == 0, done.stderr
    words = json.loads(done.stdout)[0]
    assert words[:5] == ["evolve", "-c", "offline", "--dataset", "examples/benchmark/tasks.jsonl"]
    assert words[-2:] == ["--batch-size", "4"]
    assert "--plot" not in words
    assert "no picture" in done.stderr
    (house / ".venv/bin/python").write_text("#!/bin/sh\n")
    (house / ".venv/bin/python").chmod(0o755)
    assert "--plot" in json.loads(_make(house, "evolve").stdout)[0]


def test_make_alone_lists_every_target(house: Path) -> None:
    listed = {line.split()[1] for line in _make(house).stdout.splitlines()}
    named = [line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith(".PHONY")]
    assert listed == set(named[0].split()[1:])


def test_continuous_integration_runs_the_tests_the_docs_and_the_promises() -> None:
    """In this order, each as a target that exists, and the runner's closing line last."""
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    said = [line.removeprefix("exec ").split() for line in lines if line.startswith(("make", "exec"))]
    assert [words[-1] for words in said] == [
        "test",
        "docs",
        "test-browser",
        "test-postgres",
        "test-ray",
        "test-promises",
    ]
    assert lines[-1].startswith("exec make")
    rules = (ROOT / "Makefile").read_text()
    assert "-m promise" in rules.partition("test-promises:")[2].partition("\n\n")[0]


def test_each_long_test_that_is_named_exists() -> None:
    """A line that names nothing would leave a test that takes long to everybody who runs the quick ones."""
    lines = (ROOT / "tests" / "long_tests.txt").read_text(encoding="utf-8").splitlines()[1:]
    assert lines == sorted(set(lines))
    for path, _, name in (line.partition("::") for line in lines):
        assert re.search(rf"^(async )?def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE), name


PROMISES = ("crashes", "kill_and_resume", "faults", "attack_table", "conformance", "conservation")


@pytest.mark.parametrize("what", PROMISES)
def test_the_slow_tests_of_a_promise_are_marked(what: str) -> None:
    """What continuous integration leaves out nobody runs before a release."""
    (path,) = (ROOT / "tests").rglob(f"test_{what}.py")
    text = path.read_text(encoding="utf-8")
    assert text.count("mark.slow") == text.count("mark.promise")
    assert "mark.promise" in text or "PROMISE" in text


LOCKS = ("requirements.lock", "requirements-browser.lock")


@pytest.mark.parametrize("name", LOCKS)
def test_no_locked_file_names_a_registry_and_each_has_its_hash(name: str) -> None:
    lock = (ROOT / name).read_text()
    assert "://" not in lock
    assert "--index-url" not in lock
    packages = [line for line in lock.splitlines() if line and not line.startswith((" ", "#"))]
    assert packages
    assert all("==" in line and line.endswith("\\") for line in packages)
    assert lock.count("--hash=sha256:") >= len(packages)


def test_every_dependency_stands_in_a_lock() -> None:
    import tomllib

    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = project["dependency-groups"]
    wanted = project["project"]["dependencies"] + groups["dev"] + groups["browser"]
    lock = dict(
        line.split(" ")[0].split("==")
        for name in LOCKS
        for line in (ROOT / name).read_text().splitlines()
        if line and not line.startswith((" ", "#"))
    )
    for requirement in map(Requirement, wanted):
        assert requirement.specifier.contains(lock[canonicalize_name(requirement.name)]), "run: make lock"
