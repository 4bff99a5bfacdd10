"""A library of somebody else's is taken over: an interruption loses nothing, and the sums say what was not tried."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from habilis.curation.manual.history import history_of
from habilis.exchange.dependencies import missing_from, with_dependencies
from habilis.exchange.importing import Importer
from habilis.exchange.reports import MISSING
from habilis.exchange.surveying import ImportCandidate
from habilis.library import Library
from habilis.library.generations import Generations


@pytest.fixture
def theirs(exchange: Any) -> Path:
    """Four tools, one with an example; and one that is no Python."""
    folder: Path = exchange.home / "theirs"
    folder.mkdir()
    for name in ("aaa", "bbb", "ccc", "ddd"):
        plain = {} if name == "ddd" else {"meta": "'dependencies': []"}
        (folder / f"{name}.py").write_text(exchange.double(name, **plain))
    (folder / "bad.py").write_text("def (")
    return folder


class Watch:
    """Sees how far an import is, and asks for its end once `after` files are tried."""

    def __init__(self, after: int = 99) -> None:
        self.after, self.seen = after, list[tuple[int, int]]()

    def step(self, done: int, total: int) -> None:
        self.seen.append((done, total))

    def stopped(self) -> bool:
        return len(self.seen) >= self.after


async def take(exchange: Any, theirs: Path, watch: Watch, **how: bool) -> Any:
    importer = Importer(exchange.ours, exchange.settings, exchange.host, step=watch.step, stopped=watch.stopped)
    return await importer.run([theirs], **how)


async def test_what_was_taken_before_an_interruption_stays_and_the_rest_follows(exchange: Any, theirs: Path) -> None:
    first = await take(exchange, theirs, Watch(after=2))
    assert first.published
    there = Library(exchange.ours).names()
    assert 0 < len(there) < 4
    assert first.sums.left == 5 - len(there) - sum(first.sums.refused.values()) > 0
    watch = Watch()
    second = await take(exchange, theirs, watch, resume=True)
    assert Library(exchange.ours).names() == ["aaa", "bbb", "ccc", "ddd"]
    assert (second.sums.already_there, second.sums.left) == (len(there), 0)
    assert not list(Generations(exchange.ours).folder.glob(".import*"))


async def test_what_was_refused_is_not_tried_again(exchange: Any, theirs: Path) -> None:
    (theirs / "aaa.py").write_text(exchange.double("aaa", body="    raise ValueError('no')"))
    first = await take(exchange, theirs, Watch(after=3))
    assert any("ValueError" in line.reason for line in first.lines)
    before = len(exchange.host.calls) if hasattr(exchange.host, "calls") else None
    second = await take(exchange, theirs, Watch(), resume=True)
    assert second.lines[0].reason == first.lines[0].reason
    assert before is None or all(spec.tool.name != "aaa" for spec in exchange.host.calls[before:])


async def test_progress_counts_every_file_that_is_tried(exchange: Any, theirs: Path) -> None:
    watch = Watch()
    await take(exchange, theirs, watch)
    assert watch.seen == [(number, 5) for number in range(1, 6)]


async def test_the_sums_say_how_many_were_only_looked_at(exchange: Any, theirs: Path) -> None:
    sums = (await take(exchange, theirs, Watch())).sums
    assert (sums.taken, sums.tried) == (4, 1)
    assert sums.not_tried == {"the tool brings no example": 3}
    assert sums.refused == {"The code does not parse": 1}
    assert sums.text.startswith("4 taken, 1 tried, 3 not tried (3 the tool brings no example), 1 refused")


async def test_a_name_that_the_file_takes_from_the_tool_is_said(exchange: Any, theirs: Path) -> None:
    (theirs / "eee.py").write_text(
        exchange.double("eee", body="    return OutputModel(result=7)").replace("eee", "seven")
    )
    lines = {line.name: line.reason for line in (await take(exchange, theirs, Watch())).lines}
    assert "it calls itself seven; the name of the file counts" in lines["eee"]
    assert not lines["aaa"]


async def test_the_history_of_a_tool_says_where_it_was_imported_from(exchange: Any, theirs: Path) -> None:
    await take(exchange, theirs, Watch())
    (event,) = history_of(exchange.ours, "aaa")
    assert any(line.endswith(f"imported from {theirs}/aaa.py") for line in event.lines)


@pytest.mark.parametrize(
    ("source", "named", "missing"),
    [
        ("import yaml, json\nfrom PIL import Image", (), ["pillow", "pyyaml"]),
        ("import pandas.io.sql", ("pandas>=2",), []),
        ("from sklearn import svm", ("Scikit_Learn",), []),
        ("from . import near\nimport pydantic", (), []),
        ("try:\n    import orjson\nexcept ImportError:\n    orjson = None", (), []),
        ("def run():\n    import bs4", (), ["beautifulsoup4"]),
        ("try:\n    import chess\nexcept KeyError:\n    pass", (), ["chess"]),
    ],
)
def test_what_an_import_needs_is_inferred_where_nobody_names_it(
    source: str, named: tuple[str, ...], missing: list[str]
) -> None:
    assert missing_from(source, named) == missing


def test_a_dependency_is_added_to_what_a_tool_names_and_said(exchange: Any) -> None:
    source = exchange.double("é_tool", meta="'dependencies': ['attrs']").replace("\nclass", "\nimport yaml\nclass", 1)
    thing = ImportCandidate("x.py", "x", source.encode())
    found = with_dependencies(thing)
    assert isinstance(found, ImportCandidate)
    assert "['attrs', 'pyyaml']" in found.source.decode()
    assert found.notes == ("dependencies inferred from its imports: pyyaml",)
    assert with_dependencies(found) == found


def test_a_missing_package_is_one_reason_whatever_it_is_called(exchange: Any) -> None:
    from habilis.exchange.reports import ImportLine, ImportReport

    told = "It cannot be loaded: no package {} in the tool's environment; name it in the tool's dependencies line 3"
    lines = [ImportLine(source=name, ending="refused", reason=told.format(name)) for name in ("PIL", "bs4")]
    assert ImportReport(library="x", lines=tuple(lines)).sums.refused == {MISSING: 2}
