"""Libraries that mean harm, at the command line: what they hold forges no line, leads nowhere, and stops nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from habilis.cli import main
from habilis.exchange.surveying import ImportCandidate, Unfit, look_through
from habilis.exchange.verifying import verified

Captured = pytest.CaptureFixture[str]
TOOL = """
from pydantic import BaseModel
__TOOL_META__ = {"name": "double_it", "description": "Twice a number.\\n\\x1b[31mlist: forged", "dependencies": []}
class InputModel(BaseModel):
    number: int
class OutputModel(BaseModel):
    result: int | None = None
def run(input: InputModel) -> OutputModel:
    return OutputModel(result=2 * input.number)
"""
FORGED = "theirs/good.py: imported as good"
NAMES = (
    f"x\n{FORGED}.py".replace("/", "\N{FRACTION SLASH}"),
    "\x1b[2J\x1b[1;1Hclear.py",
    "back\rwards.py",
    "side\u202eyp.exe",
    "line\u2028break.txt",
    "wide\x85.json",
)


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of somebody else, beside a file that it must not reach."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.py").write_text(TOOL.replace("double_it", "secret"))
    folder = tmp_path / "theirs"
    folder.mkdir()
    return folder


def _lines_are_ours(said: str) -> None:
    """Every line begins as a report of ours does, and nothing in it steers a terminal."""
    for line in said.splitlines():
        assert line.isprintable(), line
        assert line.startswith(("theirs/", "habilis: ", "note ")) or " looked at: " in line, line


@pytest.mark.sandbox
def test_no_name_forges_a_line_of_the_report(theirs: Path, capsys: Captured) -> None:
    for name in NAMES:
        (theirs / name).write_text("(")
    (theirs / "sub\nfolder: refused").mkdir()
    (theirs / "sub\nfolder: refused" / "a.py").write_text("(")
    assert main(["library", "import", "theirs", "--dry-run"]) == 1
    said = capsys.readouterr()
    _lines_are_ours(said.out)
    _lines_are_ours(said.err)
    assert len(said.out.splitlines()) == len(NAMES) + 2
    main(["library", "verify", "theirs"])
    assert all(line.isprintable() for line in "".join(capsys.readouterr()).splitlines())


def test_nothing_in_a_library_forges_a_line_of_what_shows_it(theirs: Path, capsys: Captured) -> None:
    (theirs / "double_it.py").write_text(TOOL)
    (theirs / "records").mkdir()
    (theirs / "records" / "evil\nforged: fine.jsonl").write_text("{")
    for words in (["list"], ["show", "double_it"], ["search", "twice"], ["doctor"], ["verify"]):
        main(["library", *words, "--library", "theirs"])
        said = "".join(capsys.readouterr())
        assert said
        for line in said.splitlines():
            assert "\x1b" not in line
            assert not line.startswith(("list: forged", "forged")), words


def test_what_lies_in_the_way_is_a_line_and_is_not_read(theirs: Path) -> None:
    """Pipes are not waited for, links not followed, what is too big not held."""
    os.mkfifo(theirs / "pipe.py")
    os.mkfifo(theirs / "habilis.json")
    (theirs / "link.py").symlink_to("../secret.py")
    (theirs / "away").symlink_to("/etc")
    for name in ("big.py", "tool.json"):
        with (theirs / name).open("wb") as stream:
            stream.truncate(1 << 33)
    (theirs / "tool.py").write_text(TOOL)
    records = theirs / "records"
    records.mkdir()
    os.mkfifo(records / "tool.jsonl")
    (theirs / "nested.py").write_text(TOOL)
    (theirs / "nested.json").write_text("[" * 500_000)
    (records / "nested.jsonl").write_text("[" * 500_000 + "\n" + json.dumps({"call_id": "../../x"}) + "\n")
    rows = {Path(row.label).name: row for row in look_through(theirs)}
    assert {name for name, row in rows.items() if isinstance(row, ImportCandidate)} == {"tool.py", "nested.py"}
    refused = {name: row.reason for name, row in rows.items() if isinstance(row, Unfit)}
    assert refused["link.py"] == refused["away"] == "it is a symbolic link"
    assert "longer" in refused["big.py"]
    assert "plain file" in refused["pipe.py"]
    assert "its manifest cannot be read" in rows["tool.py"].notes[0]  # type: ignore[union-attr]
    assert "2 of its recorded calls cannot be read" in rows["nested.py"].notes  # type: ignore[union-attr]


def test_an_export_that_claims_files_of_others_gives_none_of_them(theirs: Path) -> None:
    row = {"name": "double_it", "digest": "0" * 64, "source": "../secret.py", "manifest": "a.json"}
    manifest = {"kind": "skills", "made_by": "x\n", "tools": [row], "files": {"../secret.py": "0" * 64, "a\nb": ""}}
    (theirs / "habilis.json").write_text(json.dumps(manifest))
    (found,) = look_through(theirs)
    assert isinstance(found, Unfit)
    assert "outside its folder" in found.reason


def test_looking_whether_a_library_is_whole_waits_for_nothing_and_holds_little(theirs: Path) -> None:
    (theirs / "double_it.py").write_text(TOOL)
    (theirs / "records" / "files").mkdir(parents=True)
    os.mkfifo(theirs / "records" / "double_it.jsonl")
    (theirs / "records" / "other.jsonl").symlink_to("/etc/passwd")
    (theirs / "records" / "files" / ("0" * 64)).symlink_to("/etc/passwd")
    with (theirs / "records" / "long.jsonl").open("wb") as stream:
        stream.truncate(1 << 33)
    found = "\n".join(verified(theirs).differences)
    for name in ("double_it.jsonl", "other.jsonl", "long.jsonl", "0" * 64):
        assert name in found
    assert "root:" not in found
