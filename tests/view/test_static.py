"""The pages as files: complete, linked among themselves, and never over what somebody keeps."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from habilis.core.errors import UserError
from habilis.view.export import export
from habilis.view.runs import Runs


def test_every_link_of_the_files_leads_to_a_file_of_theirs(written, tmp_path):
    written.ended("one", "<b>")
    written.ended("two", final_answer="x" * 9000)
    out = tmp_path / "out"
    assert export(Runs(written.root), written.root / "library", out) > 6
    pages = list(out.rglob("*.html"))
    assert out / "index.html" in pages
    for page in pages:
        for link in re.findall(r'(?:href|src)="([^"#]+)"', page.read_text("utf-8")):
            if link != "data:,":
                assert ":" not in link
                assert (page.parent / unquote(link)).is_file(), (page, link)


def test_two_runs_are_written_side_by_side_as_well(written, tmp_path):
    written.ended("one")
    written.ended("two")
    export(Runs(written.root), written.root / "library", tmp_path / "out")
    assert (tmp_path / "out/compare/one/two/index.html").is_file()


def test_only_the_runs_that_were_named_are_written(written, tmp_path):
    one = written.ended("one").run
    written.ended("two")
    export(Runs(written.root, (one,)), written.root / "library", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out/runs").iterdir()] == ["one"]


@pytest.mark.parametrize("what", ["file in it", "file", "link"])
def test_a_folder_that_holds_something_is_left_alone(written, tmp_path, what):
    out = tmp_path / "out"
    kept = out / "kept" if what == "file in it" else out
    if what == "link":
        (tmp_path / "elsewhere").mkdir()
        out.symlink_to(tmp_path / "elsewhere")
    else:
        kept.parent.mkdir(exist_ok=True)
        kept.write_text("mine")
    with pytest.raises(UserError, match="not an empty folder"):
        export(Runs(written.root), written.root / "library", out)
    assert what == "link" or kept.read_text() == "mine"
    assert not list(Path(tmp_path / "elsewhere").glob("*"))


def test_a_run_being_written_costs_its_page_nothing_else(written, tmp_path):
    task = written.task("live")
    with task.lock():
        export(Runs(written.root), written.root / "library", tmp_path / "out")
    page = (tmp_path / "out/runs/live/tasks/task/index.html").read_text()
    assert "data-live" not in page
    assert "EventSource" not in page
