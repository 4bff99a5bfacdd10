"""The curator: what the tasks of a step made becomes the next generation of a library, and nothing is lost on the way.

collect → cluster → merge → verify → publish. Each point is written to the journal before the next one builds on it,
each model call to a tape; killed anywhere, the same step called again comes to the same library and pays nothing twice.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.core.errors import BudgetReached, ModelReplyUnusable, ModelUnreachable
from habilis.core.events import Event
from habilis.core.gathering import side_by_side
from habilis.curation.ledger.journal import Journal, paid_on
from habilis.curation.ledger.reports import Finished, Point, StepReport
from habilis.curation.merging.cluster import Clusters, asking, cluster, same_words
from habilis.curation.merging.collect import Collected, collect
from habilis.curation.merging.merge import Decided, Made, Merge, Merger
from habilis.curation.merging.publish import Decisions, check_conserved, fill
from habilis.curation.merging.retire import worthless
from habilis.curation.merging.retry import why_not
from habilis.curation.merging.undo import MendsByWriter, Split, Undone, Witness, lossy, undo
from habilis.library import Library, Origin
from habilis.library.catalogue import tool_files
from habilis.library.generations import Generations
from habilis.library.reading import without_collecting
from habilis.prompts import Prompts
from habilis.runtime.grants import Grants
from habilis.synthesis.gate import Gate
from habilis.synthesis.replay import Replayer
from habilis.synthesis.smith import Smith

if TYPE_CHECKING:
    from habilis.config import Settings
    from habilis.core.ports import Purse
    from habilis.curation.manual.tending import Tending
    from habilis.models.chat import Models
    from habilis.models.client import Factory
    from habilis.runtime.host import ToolHost

AT_ONCE = 4
"""New tools that are looked at side by side."""
UNVERIFIED = "it could not be verified"


class Curator:
    """Curates the library at `library` for one run, whose journal and tapes lie in `folder`.

    `models` says whether a model may be asked at all: without one names decide what belongs together, and the merge
    policy `model` works as `best` does. `clients` makes chat models in place of the configured ones, which draw on
    `purse`; `told` hears whom it waits for. A tool that cannot be tried again within `verify_s` seconds stays with its
    task. `run` is the run's name in the reports of a library that several runs feed. Raises `UserError` for a library
    that cannot be published to.
    """

    def __init__(
        self,
        library: Path,
        folder: Path,
        *,
        settings: Settings,
        host: ToolHost,
        models: bool = True,
        journal: Journal | None = None,
        clients: Factory | None = None,
        emit: Callable[[Event], None] = lambda event: None,
        told: Callable[[str], None] | None = None,
        wait_s: float | None = None,
        verify_s: float | None = None,
        purse: Purse | None = None,
        run: str = "",
    ) -> None:
        self._generations, self._folder, self._run = Generations(library), folder, run
        self._settings, self._host, self._emit = settings, host, emit
        self._grants = Grants(settings.capabilities, env_allow=settings.sandbox.env_allow)
        self._may_ask, self._clients, self._told, self._wait_s = models, clients, told, wait_s
        self._verify_s, self._purse = verify_s, purse
        self._journal = journal or Journal(folder / "journal.jsonl")
        self._prompts = Prompts(settings.prompts_dir)

    @staticmethod
    def by_hand(library: Path | str, settings: Settings | None = None, **more: Any) -> Tending:
        """The same library for a person to tend: retire, revive, merge, promote, pin, rollback (see `Tending`)."""
        from habilis.curation.manual.tending import Tending

        return Tending(library, settings, **more)

    async def step(self, number: int, finished: Sequence[Finished]) -> StepReport:
        """Absorb what `finished` tasks made, as step `number` of the run, into the library's next generation.

        A step that was absorbed is reported again, unchanged; one that brings nothing new publishes no generation.
        Raises `UserError` when another writer does not let go of the library in time, OSError when the disk refuses,
        `NotConserved` and `DraftBroken` when the step's own account does not hold; the library is as it was then, and
        the step can be called again.
        """
        started = time.monotonic()
        generations = self._generations
        what = f"step {number} of {self._folder.name}"
        async with generations.turn(what, wait_s=self._wait_s, told=self._told):
            done = self._published(number)
            if done is None:
                async with _Step(self, number) as step:
                    done = await step.run(finished)
        return done.model_copy(update={"seconds": round(time.monotonic() - started, 3)})

    def tape(self, number: int) -> Path:
        """Where the model calls of a step are kept."""
        return self._folder / "curator" / f"step-{number:04d}.jsonl"

    def _published(self, number: int) -> StepReport | None:
        """The report of a step that was published, be it that only its last note was lost."""
        entry = self._journal.entry(number, "published")
        if entry is not None:
            return StepReport.model_validate(entry["report"])
        collected = self._journal.entry(number, "collected")
        if collected is None:
            return None
        for generation in range(self._generations.current(), collected["parent"], -1):
            found = self._generations.report(generation) or {}
            ours = (found.get("run") or "", found.get("step")) == (self._run, number)
            if ours and found.get("went_in") == collected["went_in"]:
                report = StepReport.model_validate({**found, "usage": paid_on(self.tape(number))[0]})
                self._journal.write(number, "published", {"report": report.model_dump(mode="json")})
                return report
        return None


class _Step:
    """One step at work, under the library's lock."""

    def __init__(self, curator: Curator, number: int) -> None:
        self._curator, self._number = curator, number
        self._generations, self._journal = curator._generations, curator._journal
        self._settings = curator._settings.evolution
        self._parent = self._generations.current()
        self._staging = self._generations.folder / ".staging"
        self._models: Models | None = None
        seconds = curator._verify_s
        self._deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds

    async def __aenter__(self) -> _Step:
        shutil.rmtree(self._staging, ignore_errors=True)  # what a killed one left
        return self

    async def __aexit__(self, *_: object) -> None:
        shutil.rmtree(self._staging, ignore_errors=True)
        if self._models is not None:
            await self._models.aclose()

    async def run(self, finished: Sequence[Finished]) -> StepReport:
        public = Library(self._generations.library)
        known, staged = self._generations.catalogue(), self._staging / "library"
        collected = await asyncio.to_thread(collect, finished, public, known, staged, self._curator._run)
        self._gate, self._replayer = self._gates(collected)
        merger = Merger(collected, self._gate, self._replayer)
        retired, lost = worthless(collected), lossy(collected)
        quarantined, groups, notes = await self._tried_and_grouped(collected, {*retired, *lost})
        made, refused = await self._merged(collected, merger, groups)
        decided = await self._verified(merger, groups, made, refused)
        splits = await self._undone(collected, merger, lost, decided)
        told = [one.told(name) for name, witnesses in lost.items() for one in witnesses]
        evidence = [*collected.evidence, *notes, *told, *decided.evidence]
        decisions = Decisions(quarantined, retired, decided.merges, splits)
        return await asyncio.to_thread(self._publish, collected, decisions, evidence)

    # --- the points

    async def _tried_and_grouped(
        self, collected: Collected, left_out: Collection[str]
    ) -> tuple[dict[str, str], list[tuple[str, ...]], tuple[str, ...]]:
        """New tools that do not pass the gate again, with the reason; groups of tools to be tried as one, and notes.

        A model is asked about all of them while the gate tries them: what does not pass drops out of its group. What
        could not be tried in time is taken out of `collected`.
        """
        asking = asyncio.create_task(self._clusters(collected, left_out))
        try:
            quarantined, late = await self._collected(collected)
        except BaseException:
            asking.cancel()
            await asyncio.gather(
                asking, return_exceptions=True
            )  # one failure is told; that of the other is the same disk
            raise
        found = await asking
        for name in late:
            collected.leave(name, f"{UNVERIFIED} within {self._curator._verify_s:g} s")
        groups, notes = self._clustered(found.without({*quarantined, *late}, collected.new))
        return quarantined, groups, notes

    async def _collected(self, collected: Collected) -> tuple[dict[str, str], list[str]]:
        """New tools that do not pass the gate again, with the reason, and those that could not be tried in time."""
        entry = self._entry("collected")
        if entry is None or entry["went_in"] != collected.went_in:
            entry = {"went_in": collected.went_in, **await self._tried(collected)}
            self._write("collected", entry)
        return dict(entry["quarantined"]), list(entry.get("late", ()))

    async def _tried(self, collected: Collected) -> dict[str, Any]:
        """Which new tools break the gate, with the reason, and which were not through with it in time."""

        async def one(_: int, name: str) -> str | None:
            try:
                async with asyncio.timeout_at(self._deadline):
                    return await why_not(collected, name, self._gate)
            except TimeoutError:
                return None

        said = dict(zip(collected.new, await side_by_side(collected.new, one, AT_ONCE), strict=True))
        late = [name for name, reason in said.items() if reason is None]
        return {"quarantined": {name: reason for name, reason in said.items() if reason}, "late": late}

    async def _clusters(self, collected: Collected, left_out: Collection[str]) -> Clusters:
        """Groups of tools that may do the same, whether all of them pass the gate or not."""
        if self._entry("clustered") is not None:
            return Clusters(())
        return await cluster(
            collected,
            asking(self._asked_models, self._curator._prompts) if self._curator._may_ask else None,
            left_out=left_out,
        )

    def _clustered(self, found: Clusters) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
        """Groups of tools to be tried as one, and what is to be said about how they were found."""
        entry = self._entry("clustered")
        if entry is None:
            entry = {"groups": [list(group) for group in found.groups], "notes": list(found.notes)}
            self._write("clustered", entry)
        return [tuple(group) for group in entry["groups"]], tuple(entry["notes"])

    async def _merged(
        self, collected: Collected, merger: Merger, groups: Sequence[tuple[str, ...]]
    ) -> tuple[dict[int, Made], dict[int, str]]:
        """By group, what the writer made of it, or why nothing; nothing where members are to be chosen among."""
        entry = self._entry("merged")
        if entry is None:
            made: dict[str, Any] = {}
            refused: dict[str, str] = {}
            for number, group in enumerate(groups):
                if self._policy(group) != "model":
                    continue
                found = await self._made(collected, merger, group)
                if isinstance(found, Made):
                    made[str(number)] = found.model_dump(mode="json")
                else:
                    refused[str(number)] = found
            entry = {"made": made, "refused": refused}
            self._write("merged", entry)
        made_by = {int(number): Made.model_validate(row) for number, row in entry["made"].items()}
        return made_by, {int(number): reason for number, reason in entry["refused"].items()}

    async def _verified(
        self,
        merger: Merger,
        groups: Sequence[tuple[str, ...]],
        made: Mapping[int, Made],
        refused: Mapping[int, str],
    ) -> Decided:
        """The merges that may be, and the evidence on all that were tried."""
        entry = self._entry("verified")
        if entry is None:
            whole = Decided()
            for number, group in enumerate(groups):
                if number in refused:
                    whole.evidence.append(f"{', '.join(group)} stay: {refused[number]}")
                    continue
                policy = self._settings.merge_policy if self._settings.merge_policy == "naive" else "best"
                try:
                    async with asyncio.timeout_at(self._deadline):
                        found = await (merger.prove(made[number]) if number in made else merger.choose(group, policy))
                except TimeoutError:
                    whole.evidence.append(
                        f"{', '.join(group)} stay: it could not be verified in time that one does for all"
                    )
                    continue
                whole.merges += found.merges
                whole.evidence += found.evidence
            merges = [merge.model_dump(mode="json") for merge in whole.merges]
            entry = {"merges": merges, "evidence": whole.evidence}
            self._write("verified", entry)
        return Decided([Merge.model_validate(merge) for merge in entry["merges"]], list(entry["evidence"]))

    async def _undone(
        self, collected: Collected, merger: Merger, lost: Mapping[str, Sequence[Witness]], decided: Decided
    ) -> list[Split]:
        """The merges of `lost` that are undone; mended tools go to the merges of `decided` instead."""
        entry = self._entry("undone")
        if entry is None:
            mender = None
            if lost and self._settings.merge_policy == "model" and self._curator._may_ask:
                smith, origin = self._smith(collected)
                mender = MendsByWriter(smith, origin, self._generations.library)
            undone = await undo(collected, lost, merger, self._gate, mender)
            entry = undone.model_dump(mode="json")
            self._write("undone", entry)
        undone = Undone.model_validate({key: value for key, value in entry.items() if key != "parent"})
        decided.merges += undone.merges
        decided.evidence += undone.evidence
        return list(undone.splits)

    def _publish(self, collected: Collected, decisions: Decisions, evidence: Sequence[str]) -> StepReport:
        usage, calls = paid_on(self._tape)
        with without_collecting(), self._generations.draft() as draft:
            filled = fill(draft, collected, decisions)
            report = StepReport(
                run=self._curator._run,
                step=self._number,
                generation=self._parent,
                parent=self._parent or None,
                went_in=tuple(collected.went_in),
                fates=filled.fates,
                came_back=filled.came_back,
                lineage=filled.lineage,
                evidence=tuple(evidence),
                tools=len(tool_files(draft)),
                model_calls=calls,
            )
            check_conserved(report, draft)
            if filled.changed or not self._parent:
                kept = report.model_dump(mode="json", exclude={"seconds", "usage"})
                generation = self._generations.publish(draft, kept)
                # What is published first may follow a plain folder, which gets its number only then.
                parent = self._parent or (self._generations.report(generation) or {}).get("parent")
                report = report.model_copy(update={"generation": generation, "parent": parent})
        report = report.model_copy(update={"usage": usage})
        self._write("published", {"report": report.model_dump(mode="json")})
        return report

    # --- what they need

    def _gates(self, collected: Collected) -> tuple[Gate, Replayer]:
        replayer = Replayer(self._curator._host, collected.view, None, self._curator._prompts, live=False)
        return Gate(self._curator._host, collected.view, replayer, self._curator._grants), replayer

    def _policy(self, group: Sequence[str]) -> str:
        """How this group is merged. Names of the same words need no writer."""
        policy = self._settings.merge_policy
        if policy == "model" and (not self._curator._may_ask or same_words(group)):
            return "best"
        return policy

    async def _made(self, collected: Collected, merger: Merger, group: Sequence[str]) -> Made | str:
        smith, origin = self._smith(collected)
        try:
            return await merger.make(group, smith, origin)
        except (ModelUnreachable, ModelReplyUnusable, BudgetReached) as error:
            return f"the writer cannot be asked: {error}"

    def _smith(self, collected: Collected) -> tuple[Smith, Origin]:
        """Who writes for this step, and what a tool of theirs says of where it comes from."""
        from habilis.synthesis.writers import make_writer

        curator, models = self._curator, self._asked_models()
        writer = make_writer(curator._settings.writer, models)
        smith = Smith(
            curator._host,
            collected.view,
            writer,
            models,
            curator._prompts,
            curator._emit,
            grants=curator._grants,
            live=False,
        )
        return smith, Origin(how="merged", writer=writer.name, model=models.name("builder"))

    def _asked_models(self) -> Models:
        """The models of this step, on a tape of its own: asked again after a kill, they answer from it."""
        if self._models is None:
            from habilis.models.chat import Models
            from habilis.models.tape import Tape
            from habilis.models.usage import Budget

            curator = self._curator
            self._models = Models(
                curator._settings.models,
                limits=curator._settings.limits,
                tape=Tape(self._tape),
                emit=curator._emit,
                budget=Budget(None, None, run=curator._purse),
                clients=curator._clients,
            )
        return self._models

    @property
    def _tape(self) -> Path:
        return self._curator.tape(self._number)

    def _entry(self, point: Point) -> dict[str, Any] | None:
        """What the journal holds of a point, if it was reached from the generation that is in force."""
        entry = self._journal.entry(self._number, point)
        return entry if entry is not None and entry.get("parent") == self._parent else None

    def _write(self, point: Point, payload: dict[str, Any]) -> None:
        self._journal.write(self._number, point, {"parent": self._parent, **payload})
