"""Whatever is done to a library by hand, in whatever order: each change accounts for every tool, and nothing that ever
was in the library, tool or recorded call, is beyond reach."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from habilis.contract.records import RecordStore
from habilis.core.errors import HabilisError
from habilis.curation.manual.change import HandReport
from habilis.library import Library
from habilis.library.generations import digest
from habilis.library.outofuse import PLACES, set_aside
from habilis.runtime.calls import CallSpec

from ..merging.conftest import adding, module
from .conftest import SUMS, Desk

NAMES = ["add_numbers", "plus", "count_words", "sum_up", "take"]
MADE = {
    "sum_up": adding("sum_up", gives="result: int | None"),
    "take": module("take", "    return OutputModel(total=input.a - input.b)"),
    "plus": adding("plus", gives="value: int | None") + "# once more\n",
}
names = st.sampled_from(NAMES)


class Tended(RuleBasedStateMachine):
    """A library, all that ever was in it, and the digests of its generations."""

    @initialize()
    def start(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.desk = asyncio.run(Desk(Path(self._folder.name)).laid())
        self.sources: set[str] = set()
        self.called: set[str] = set()
        self.digests: dict[int, str] = {}
        self.made = 0

    def teardown(self) -> None:
        self._folder.cleanup()

    @rule(name=names)
    def retire(self, name: str) -> None:
        self._try(self.desk.tending().retire([name], "because"))

    @rule(name=names)
    def quarantine(self, name: str) -> None:
        self._try(self.desk.tending().quarantine([name], "because"))

    @rule(name=names, data=st.data())
    def revive(self, name: str, data: Any) -> None:
        there = [one.label for one in set_aside(self.desk.now().path, name)]
        said = data.draw(st.sampled_from([name, *there]))
        self._try(self.desk.tending().revive(said))

    @rule(one=names, other=names)
    def merge(self, one: str, other: str) -> None:
        self._try(self.desk.tending().merge([one, other]))

    @rule(data=st.data())
    def rollback(self, data: Any) -> None:
        goal = data.draw(st.sampled_from(self.desk.generations.numbers()))
        self._try(self.desk.tending().rollback(goal))

    @rule(name=names, pinned=st.booleans())
    def pin(self, name: str, pinned: bool) -> None:
        self._try(self.desk.tending().pin([name], pinned=pinned))

    @rule(name=st.sampled_from(sorted(MADE)))
    def promote(self, name: str) -> None:
        self.made += 1
        task = asyncio.run(self.desk.task(f"m{self.made}", {name: MADE[name]}, {name: SUMS[:3]}))
        self._try(self.desk.tending().promote(Path(task.folder) / "tools" / f"{name}.py"))

    @rule(name=names)
    def dry(self, name: str) -> None:
        before = self.desk.generations.numbers()
        self._try(self.desk.tending().retire([name], "because", dry_run=True))
        assert self.desk.generations.numbers() == before

    @invariant()
    def nothing_is_beyond_reach(self) -> None:
        library = self.desk.now()
        assert library.broken() == []
        self.sources |= {tool.manifest.digest for tool in library.tools()}
        held = {tool.manifest.digest for tool in library.tools()}
        held |= {one.tool.manifest.digest for one in set_aside(library.path)}
        assert self.sources <= held, "a tool is gone"
        calls = _calls(library)
        self.called |= {call for name in (*library.names(), *library.aliases()) for call in _ids(library, name)}
        assert self.called <= calls, "a recorded call is gone"

    @invariant()
    def what_was_published_never_changes(self) -> None:
        for number in self.desk.generations.numbers():
            found = digest(self.desk.generations.path(number))
            assert self.digests.setdefault(number, found) == found

    @invariant()
    def what_is_in_use_works(self) -> None:
        library = self.desk.now()
        for name in (*library.names(), *library.aliases()):
            for record in library.records(name)[:2]:
                tool = library.get(name)
                assert tool is not None
                work = self.desk.host.call(CallSpec(tool.runnable, record.arguments, workspace=self.desk.folder))
                assert asyncio.run(work).output == record.output, f"{name} does not repeat what it gave"

    def _try(self, work: Any) -> None:
        """A change that is made accounts for every tool; one that is refused changes nothing."""
        before = self.desk.generations.current()
        try:
            report: HandReport = asyncio.run(work)
        except HabilisError:
            assert self.desk.generations.current() == before
            return
        assert report.balanced
        if not report.dry_run:
            assert {fate.into for fate in report.fates if fate.into} == set(self.desk.now().names())
            assert report.tools == len(self.desk.now().names())


def _ids(library: Library, name: str) -> set[str]:
    return {call.call_id for call in library.records(name)}


def _calls(library: Library) -> set[str]:
    """All recorded calls that the library holds, in use or not."""
    found = set()
    for folder in (library.path / "records", *(library.path / place for place in PLACES)):
        for path in sorted(folder.glob("*.jsonl")):
            found |= {call.call_id for call in RecordStore(folder).read(path.stem)}
    return found


Tended.TestCase.settings = settings(
    max_examples=15, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
)
test_in_any_order_nothing_is_lost = pytest.mark.promise(pytest.mark.slow(Tended.TestCase))
