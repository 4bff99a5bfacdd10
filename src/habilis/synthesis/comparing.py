"""Two versions side by side: what a tool has to show before it takes the place of another.

On one input they *agree* when both give a result and the results are equal; it is a *counter* when both give one and
they differ; an *asymmetry* when one gives a result and the other raises or sets `error`. All else tells nothing.

- A counter inside the domain ends it; of many inputs (`crowds.py`), inside a wide one. Outside it tells nothing, but
  for a file in another encoding or with another delimiter: who gives what it gives to the plain one is right there.
- Only the version that answers can go on. Where each answers where the other fails, both stay; outside the domain that
  tells nothing, since then neither is the one that answers.
- Agreement outside the domain counts where nothing outside contradicts it.
- What is left has to be enough: every recorded call repeated, and five comparisons that agree with three distinct
  results (fewer where a tool can give no more, or gave no third on plenty of inputs), or every possible input. Recorded
  calls count among them.

A version that mends another is meant to differ where that was wrong: a call that the old one fails speaks for it, and a
counter is no counter where the input shares with a call that was answered wrongly what no good call shows. Where there
is a judge, it is asked once which result is right (`divergences.py`), and its word stands above these rules; what many
inputs find speaks against a mend of wrong answers only by that word. What it settled for the new version is kept as a
recorded call, and known to whoever compares the two again.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from habilis.contract.records import RecordedCall, equal, gave
from habilis.core.types import CallOutcome
from habilis.inputs.by_rule import spread, telling
from habilis.inputs.constants import Constants, constants
from habilis.inputs.domain import Domain
from habilis.inputs.landmarks import Landmarks, landmarks
from habilis.inputs.relations import Given
from habilis.inputs.search import Input, Search, possible, results
from habilis.synthesis.crowds import ANEW, Crowd
from habilis.synthesis.divergences import Divergence, Ruling, chosen
from habilis.synthesis.real_calls import RealCalls
from habilis.synthesis.replay import AT_ONCE, Replayer
from habilis.synthesis.told import Reading, Telling, told_by_same

if TYPE_CHECKING:
    from habilis.contract.aliases import Alias
    from habilis.contract.runnable import Runnable
    from habilis.judging.preference import Preferred
    from habilis.library import LayeredLibrary, Tool

NEEDED, NEEDED_RESULTS = 5, 3
PLENTY = 15
"""Comparisons that agree after which two distinct results are enough: the tool says yes or no in its own words."""
SILENT = 8
"""Inputs on which a version had no word, after which no more are made: it reaches for what nobody grants here."""
MAX_CALLS = 24
"""Real calls from which inputs are made, the newest."""
TIMEOUT_S = 10.0
TELLING = 6
"""Inputs of a crowd that are called for themselves, since they gave what no other gave."""


@dataclass(frozen=True)
class Comparison:
    """What comparing came to: of `made` inputs `told` told something; `agreed` are the results on which both agree.

    `against` is what ends it, in a line; `whole` says that every possible input was tried. `results` is how many
    distinct ones are needed. `settled` are calls on which a judge called the new version right.
    """

    made: int = 0
    told: int = 0
    agreed: tuple[str, ...] = ()
    gained: int = 0
    against: str = ""
    whole: bool = False
    results: int = NEEDED_RESULTS
    settled: tuple[Divergence, ...] = ()

    def lacking(self, repeated: Sequence[str], *, mends: bool = False) -> str:
        """What is missing for one to take the place of the other, with recorded calls that gave `repeated`; empty when
        nothing is."""
        agreed = [*repeated, *self.agreed]
        number = len(agreed) + (self.gained if mends else 0)
        distinct = len(set(agreed))
        if self.whole and self.told == self.made and agreed:
            return ""
        if number >= NEEDED and distinct >= min(self.results, 2 if number >= PLENTY else NEEDED_RESULTS):
            return ""
        told = self.told + len(repeated)
        calls = "1 call that tells" if told == 1 else f"{told} calls that tell"
        results = "1 distinct result" if distinct == 1 else f"{distinct} distinct results"
        needed = f"{NEEDED} with {self.results} distinct results are needed"
        return f"it agrees on {number} of {calls} something, with {results}; {needed}"


@dataclass(frozen=True)
class Versions:
    """The two that are compared. `alias` leads from calls of `old` to calls of `new`; `mends`: `new` is made to do
    better than `old` where that was wrong. Neither is granted anything: what nobody asked for reaches no host."""

    old: Tool
    new: Runnable
    alias: Alias | None = None
    mends: bool = False


async def compare(
    versions: Versions, evidence: RealCalls, replayer: Replayer, library: LayeredLibrary, scratch: Path
) -> Comparison:
    """Run both versions on inputs made from what was really called. Raises OSError, and as asking a judge does."""
    return await _Comparing(versions, evidence, replayer, library, scratch).run()


@dataclass
class _Comparing:
    versions: Versions
    evidence: RealCalls
    replayer: Replayer
    library: LayeredLibrary
    scratch: Path
    _reading: Reading = field(init=False)
    _marked: Domain = field(init=False)

    async def run(self) -> Comparison:
        schema = self.versions.old.input_schema
        self._reading = self._known()
        every = possible(schema)
        said: list[tuple[Input, Telling]] = []
        async for batch in self._batches(every, said):
            start = len(said)
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._one(start + n, one)) for n, one in enumerate(batch)]
            said += [(one, task.result()) for one, task in zip(batch, tasks, strict=True)]
            if self._ended(said):
                break
        said, settled = await self._ruled(said)
        told = [result for _, result in said if result.word]
        doubted = any(result.word == "counter" for one, result in said if not one.inside)
        return Comparison(
            made=len(said),
            told=len(told),
            agreed=tuple(r.output for one, r in said if r.word == "agrees" and (one.inside or not doubted)),
            gained=sum(result.word == "gained" for result in told),
            against=_against(said),
            whole=every is not None,
            results=results(self.versions.old.output_schema),
            settled=settled,
        )

    def _ended(self, said: Sequence[tuple[Input, Telling]]) -> bool:
        """Whether more inputs could change nothing. A judge is asked only once, so all are made for it before."""
        asks = self.versions.mends and self.replayer.has_judge
        ended = any(result.sure for _, result in said) if asks else bool(_inside(said))
        return ended or _hopeless([result for _, result in said])

    async def _ruled(
        self, said: list[tuple[Input, Telling]]
    ) -> tuple[list[tuple[Input, Telling]], tuple[Divergence, ...]]:
        """`said` after a judge's word on where the versions differ, and where that was for the new one."""
        found = {n: result.differs for n, (_, result) in enumerate(said) if result.differs is not None}
        if not found or not self.replayer.has_judge or any(result.sure for _, result in said):
            return said, ()
        asked = chosen(list(found.values()))
        words = await self._words(asked)
        places = {id(one): n for n, one in found.items()}
        ruling = Ruling({places[id(one)]: word for one, word in zip(asked, words, strict=True)})
        ruled = [(one, result.after(ruling.word(n))) for n, (one, result) in enumerate(said)]
        return ruled, tuple(one for one, word in zip(asked, words, strict=True) if word == "new" and not one.failed)

    async def _words(self, asked: Sequence[Divergence]) -> list[Preferred]:
        """A judge's word on each. One for the old version, which ends all, has to stand when both change places."""
        words = await self.replayer.preferred(self.versions.old, [one.shown for one in asked])
        doubted = [n for n, word in enumerate(words) if word == "old"]
        if doubted:
            turned = [replace(asked[n].shown, turned=True) for n in doubted]
            again = await self.replayer.preferred(self.versions.old, turned)
            for n, word in zip(doubted, again, strict=True):
                words[n] = word if word == "old" else "unclear"
        return words

    async def _batches(
        self, every: Sequence[Input] | None, said: Sequence[tuple[Input, Telling]]
    ) -> AsyncIterator[Sequence[Input]]:
        """All inputs, a few at a time; the later ones by what `said` has by then."""
        first = [Input(given, True) for given in self._of_others()] if every is None else every
        for start in range(0, len(first), AT_ONCE):
            yield first[start : start + AT_ONCE]
        if every is not None:
            return
        old, new = self.versions.old, self.versions.new.module
        sources = old.source(), new.read_text("utf-8", "replace")
        known, either = constants(*sources), landmarks(*sources)
        for again in ("", ":more"):
            seed = f"{old.version}:{_digest(new)}{again}"
            search = Search(self._reading.domain, old.input_schema, seed, known, either.words)
            while batch := search.next(AT_ONCE):
                fresh = [one for one in batch if not again or all(one.given != before.given for before, _ in said)]
                yield fresh
                for one, result in said[len(said) - len(fresh) :]:
                    if result.word == "agrees":
                        search.learned(one, result.output)
            if not again:
                for some in self._by_rule(said, either):
                    yield some
                async for some in self._of_crowd(said, known, either):
                    yield some
            if _enough(said):
                return

    def _by_rule(self, said: Sequence[tuple[Input, Telling]], either: Landmarks) -> Iterator[Sequence[Input]]:
        """Inputs at what either version's code looks for."""
        tried = [one.given for one, _ in said] + list(self._reading.domain.calls)
        found = [Input(given, True) for given in telling(self._marked, either, tried.__contains__)]
        for start in range(0, len(found), AT_ONCE):
            yield found[start : start + AT_ONCE]
        if sum(one.inside and result.word == "agrees" for one, result in said) < NEEDED:
            old = self.versions.old
            more = [given for given in spread(old.input_schema, f"{old.version}:spread") if given not in tried]
            yield [Input(given, self._reading.domain.holds(given)) for given in more]

    async def _of_crowd(
        self, said: Sequence[tuple[Input, Telling]], known: Constants, either: Landmarks
    ) -> AsyncIterator[Sequence[Input]]:
        """Of hundreds of inputs without files, those on which the versions part; where too little was told, those too
        that give what no other gave.

        A version that mends wrong answers may part from the old one anywhere: there they only are to be judged.
        """
        old, new = self.versions.old, replace(self.versions.new, alias=self.versions.alias)
        domain = self._reading.domain
        speaks = not domain.excuses
        if not (speaks or self.replayer.has_judge) or any(call.files for call in domain.calls):
            return
        search = Search(domain.widened(), old.input_schema, f"{old.version}:crowd", known, either.words, anew=ANEW)
        results = {result.output for _, result in said if result.word == "agrees"}
        crowd = Crowd(old.runnable, new, self.replayer, self.scratch, search, results)
        async for parted in crowd.parted():
            yield [Input(given, speaks) for given in sorted(parted, key=domain.explained)[:AT_ONCE]]
        if not _enough(said):
            yield [Input(given, True) for given in crowd.telling[:TELLING]]

    def _known(self) -> Reading:
        evidence = self.evidence
        good = [self._given(r) for r in evidence.records if r.verdict == "success"]
        failed = [r for r in (*evidence.records, *evidence.others) if r.verdict == "failure"]
        judged = [self._given(r) for r in evidence.others if r.kind == "judged"]
        wrong = [*(self._given(r) for r in failed if r in evidence.records), *judged]
        calls = [*good, *wrong, *(self._given(r) for r in evidence.others if r.verdict == "success")]
        answered = [*(self._given(r) for r in evidence.records if r in failed and gave(r)), *judged]
        distinct = [call for number, call in enumerate(calls) if call not in calls[:number]]
        known = [*distinct[-MAX_CALLS:], *(one for one in evidence.examples if one not in distinct)]
        sure = [self._given(r) for r in evidence.records if r.verdict == "success" and r.used]
        source, mends = self.versions.old.source(), self.versions.mends
        borders, marks = constants(source).borders, landmarks(source)
        self._marked = Domain(known, borders=borders, asks=marks)
        asks, excuse = Landmarks(words=marks.words), answered if mends else ()
        return Reading(Domain(known, good=sure, wrong=excuse, borders=borders, asks=asks), wrong, mends)

    def _of_others(self) -> list[Given]:
        """Real calls that the old version never had, or failed."""
        others = [self._given(r) for r in self.evidence.others if r.replayable and not r.online]
        found: list[Given] = []
        for given in [*others[-MAX_CALLS:], *self.evidence.examples]:
            if given not in found:
                found.append(given)
        return found

    def _given(self, record: RecordedCall) -> Given:
        contents = {name: self.library.content(digest) for name, digest in record.files.items()}
        return Given(record.arguments, {name: content for name, content in contents.items() if content is not None})

    async def _one(self, number: int, one: Input) -> Telling:
        versions, place = self.versions, self.scratch / f"{number}"
        before = await self._ran(versions.old.runnable, one.given, place / "old")
        now = await self._ran(replace(versions.new, alias=versions.alias), one.given, place / "new")
        result = self._reading.told(one, before, now)
        if one.same is not None and not result.silent:
            plain = await self._ran(versions.old.runnable, one.same, place / "same")
            result = told_by_same(one, plain, before, now) or result
        if result.word in ("counter", "lost") or result.differs is not None:
            again = await self._ran(versions.old.runnable, one.given, place / "again")
            if not equal(again.output, before.output):
                return Telling("")  # it does not even agree with itself
        return result

    async def _ran(self, tool: Runnable, given: Given, place: Path) -> CallOutcome:
        contents = {hashlib.sha256(content).hexdigest(): content for content in given.files.values()}
        call = RecordedCall(
            call_id="trial",
            tool=tool.name,
            version="",
            arguments=given.arguments,
            files={name: hashlib.sha256(content).hexdigest() for name, content in given.files.items()},
        )
        outcome = await self.replayer.run(tool, call, place, TIMEOUT_S, contents=contents)
        assert outcome is not None, "its files are at hand"
        return outcome


def _enough(said: Sequence[tuple[Input, Telling]]) -> bool:
    """Whether as much was told as a replacement needs, whatever the recorded calls add to it."""
    agreed = [result.output for _, result in said if result.word == "agrees"]
    return len(agreed) >= NEEDED and len(set(agreed)) >= NEEDED_RESULTS


def _inside(said: Sequence[tuple[Input, Telling]]) -> str:
    """What ends a comparison at once; empty when nothing does."""
    ends = (result for one, result in said if result.sure or (one.inside and result.word in ("counter", "lost")))
    return next((result.text for result in ends), "")


def _against(said: Sequence[tuple[Input, Telling]]) -> str:
    """What speaks against the new version, be it that at the borders the old one alone answers; empty when nothing."""
    words = [result.word for one, result in said if not one.inside]
    lost = next((result.text for _, result in said if result.word == "lost"), "")
    return _inside(said) or ("" if "gained" in words else lost)


def _hopeless(said: Sequence[Telling]) -> bool:
    """Whether nothing was told, since what the tool reaches for is not granted here."""
    return sum(result.silent for result in said) >= SILENT and not any(result.word for result in said)


def _digest(module: Path) -> str:
    return hashlib.sha256(module.read_bytes()).hexdigest()[:16]
