"""`habilis library import | export | verify` at the command line: lines for people, JSON for programs, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from habilis.cli import main
from habilis.library import Library

Captured = pytest.CaptureFixture[str]

DOUBLE = """
from pydantic import BaseModel
__TOOL_META__ = {"name": "double_it", "description": "Twice a number.", "dependencies": []}
class InputModel(BaseModel):
    number: int
class OutputModel(BaseModel):
    result: int | None = None
def run(input: InputModel) -> OutputModel:
    return OutputModel(result=2 * input.number)
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with tools of somebody else in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "double_it.py").write_text(DOUBLE)
    return tmp_path


@pytest.mark.sandbox
def test_tools_go_in_and_out_and_in_again(here: Path, capsys: Captured) -> None:
    assert main(["library", "import", "theirs", "--dry-run"]) == 0
    assert "nothing was changed" in capsys.readouterr().out
    assert not (here / "runs").exists()
    (here / "theirs" / "bad.py").write_text("(")
    assert main(["library", "import", "theirs"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("theirs/bad.py: refused: The code does not parse")
    assert lines[1] == "theirs/double_it.py: imported as double_it"
    assert lines[2].startswith("2 looked at: 1 taken, 0 tried, 1 not tried (1 the tool brings no example), 1 refused ")
    assert main(["library", "export", "--to", "package", "mine", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tools"][0]["name"] == "double_it"
    assert main(["library", "verify", "mine"]) == 0
    assert capsys.readouterr().out.startswith("mine: 1 tools, ")
    assert main(["library", "import", "mine", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [line["ending"] for line in report["lines"]] == ["same"]
    assert report["generation"] == 1
    assert main(["library", "import", "mine", "--library", "fresh"]) == 0
    assert Library(here / "fresh").names() == ["double_it"]
    (here / "mine" / "README.md").write_text("other")
    capsys.readouterr()
    assert main(["library", "verify", "mine"]) == 1
    assert capsys.readouterr().out == "README.md: it is not what was exported\n"
    assert main(["library", "verify", "--library", "fresh"]) == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["library", "import", "nowhere"], "nowhere: no such file or folder"),
        (["library", "import"], "SOURCE"),
        (["library", "export", "mine"], "--to"),
        (["library", "export", "--to", "packge", "mine"], "did you mean package?"),
        (["library", "export", "--to", "folder", "mine"], "no library at"),
        (["library", "export", "--to", "folder", "theirs", "--library", "theirs"], "theirs is there already"),
        (["library", "export", "--to", "folder", "mine", "--library", "theirs", "--tools", "x"], "there is no tool x"),
        (["library", "verify", "nowhere"], "nowhere: no such folder"),
        (["library", "verify", "--set", "exchange.redact_patterns=['(']"], "is no regular expression"),
        (["serve"], "no library at"),
        (["serve", "--library", "theirs", "--workspace", "nowhere"], "--workspace nowhere: no such folder"),
        (["serve", "--library", "theirs", "--tools", "nothing"], "--tools nothing: there is no such tool"),
        (["serve", "nothing"], "unexpected argument"),
    ],
)
@pytest.mark.sandbox
def test_bad_usage_is_one_line_and_writes_nothing(words: list[str], told: str, here: Path, capsys: Captured) -> None:
    before = sorted(here.rglob("*"))
    assert main(words) == 2
    said = capsys.readouterr().err
    assert told in said
    assert said.count("\n") == 1
    assert sorted(here.rglob("*")) == before


def test_an_mcp_server_that_cannot_be_imported_is_named(here: Path, capsys: Captured) -> None:
    (here / "my.yaml").write_text("sources: {local: {mcp: {command: [a-server-that-is-not-there]}}}")
    assert main(["library", "import", "mcp:local", "-c", "my.yaml"]) == 2
    assert "mcp:local: a-server-that-is-not-there cannot be started" in capsys.readouterr().err
    assert main(["library", "import", "mcp:elsewhere"]) == 2
    assert "give the address of an MCP server" in capsys.readouterr().err
    assert not (here / "runs").exists()
