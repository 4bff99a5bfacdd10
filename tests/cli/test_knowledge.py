"""`--knowledge` names folders wherever the task is resumed from, and one that is none ends with one clear line."""

from __future__ import annotations

from pathlib import Path

import pytest

from habilis.cli import main
from habilis.cli.parser import parse
from habilis.terminal.choices import load


def test_folders_are_absolute_and_each_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    args = parse(["run", "q", "--knowledge", "a b", "--knowledge", str(tmp_path / "c")])
    assert load(args).settings.knowledge.folders == (str(tmp_path / "a b"), str(tmp_path / "c"))


@pytest.mark.sandbox
def test_a_folder_that_is_none_is_a_usage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "What is 2+2?", "-c", "offline", "--quiet", "--knowledge", "nowhere"]) == 2
    said = capsys.readouterr().err
    assert "knowledge.folders" in said
    assert "Traceback" not in said
