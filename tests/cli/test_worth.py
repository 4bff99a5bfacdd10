"""`habilis library worth`: what a person is told of a tool's worth, by its record and by taped tasks without it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from habilis.cli import main

from .test_tending import Captured, Run, _desk, desk, run

__all__ = ["_desk", "desk", "run"]


def test_the_record_of_each_tool_is_told_those_of_most_worth_first(run: Run) -> None:
    code, out, _ = run("worth", "--json")
    told = json.loads(out)
    assert code == 0
    assert [one["worth"] for one in told["tools"]] == sorted((one["worth"] for one in told["tools"]), reverse=True)
    words = next(one for one in told["tools"] if one["name"] == "count_words")
    assert (words["calls"], words["success"], words["failure"]) == (2, 2, 0)
    assert words["saved_tokens"] == words["tasks"] * words["new_tokens"]
    assert words["new_tokens"] > 50
    assert words["last_used"].startswith("2")
    code, out, _ = run("worth", "count_words")
    head, row = out.splitlines()
    assert head.split()[:5] == ["NAME", "WORTH", "CALLS", "GOOD", "FAILED"]
    assert row.split()[0] == "count_words"


def test_what_cannot_be_told_is_one_line(run: Run) -> None:
    for words, told in (
        (("worth", "count_wrds"), "did you mean count_words"),
        (("worth", "--offline"), "--offline belongs to --replay RUN"),
        (("worth", "--replay", "nowhere"), "no run named nowhere"),
    ):
        code, out, err = run(*words)
        assert (code, out) == (2, "")
        assert told in err
        assert err.count("\n") == 1


def test_a_taped_task_is_run_again_without_a_tool_and_asks_no_model_offline(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, sandbox_level: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("one two three\n")
    question = ["How many words are in a.txt?", "--file", "a.txt", "--quiet"]
    assert main(["run", *question]) == 0  # makes the tool, and the library takes it in
    assert main(["run", *question, "--run-dir", "runs/second"]) == 0
    capsys.readouterr()
    (name,) = [path.stem for path in (tmp_path / "runs" / "library").glob("*.py")]
    assert main(["library", "worth", name, "--replay", "second", "--offline", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["tools"]
    (task,) = told["tasks"]
    assert task["with_it"]["answered"]
    assert task["without_it"] is None
    assert task["parted"].startswith("model call 1")
    assert main(["library", "worth", name, "--replay", "second"]) == 0  # the demonstration model writes it anew
    out = capsys.readouterr().out
    assert f"{name}: 1 of 1 taped tasks" in out
    assert "with it     answered 1 of 1" in out
    assert "without it  answered 1 of 1" in out
