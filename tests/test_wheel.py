"""The wheel: what `pip install` gives must work in a folder that knows nothing of this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CACHES = {"__pycache__", ".mypy_cache", ".ruff_cache"}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's content in a folder of its own."""
    folder = tmp_path_factory.mktemp("wheel")
    code = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    command = [sys.executable, "-c", code, str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()[-1]
    zipfile.ZipFile(folder / built).extractall(folder / "site")
    return folder / "site"


def _python(installed: Path, cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"PYTHONPATH": str(installed)}
    return subprocess.run([sys.executable, *words], cwd=cwd, env=env, capture_output=True, text=True, check=False)


def test_prompts_and_configs_are_inside(installed: Path, tmp_path: Path) -> None:
    code = "from habilis.config import shipped; print(shipped('prompts')); print(shipped('configs'))"
    folders = [Path(line) for line in _python(installed, tmp_path, "-c", code).stdout.splitlines()]
    for folder, name in zip(folders, ("prompts", "configs"), strict=True):
        assert folder.is_relative_to(installed)
        assert {p.name for p in folder.iterdir()} == {p.name for p in (ROOT / name).iterdir()}


def test_every_file_of_the_source_is_inside(installed: Path) -> None:
    source = ROOT / "src"
    wanted = {p.relative_to(source) for p in source.rglob("*") if p.is_file() and not CACHES & set(p.parts)}
    found = {p.relative_to(installed) for p in installed.rglob("*") if p.is_file()}
    assert wanted <= found


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.sandbox
def test_it_answers_a_question_from_another_folder(installed: Path, tmp_path: Path) -> None:
    done = _python(installed, tmp_path, "-m", "habilis", "run", "--json", "What is 2+3*4?")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["status"], result["final_answer"]) == ("answered", "14")
    assert (tmp_path / "runs").is_dir()
