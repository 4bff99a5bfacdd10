"""A library as a person tends it: every change is one generation, and what it leaves stays.

The same drafting, gates and account as the curator's: a tool is taken into use when it passes, merged when the one that
goes on repeats its calls, and never deleted. One writer at a time; readers keep the generation that they opened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from habilis.config import load_settings
from habilis.contract.records import RecordedCall
from habilis.core.errors import UserError
from habilis.curation.manual.change import Back, Change, ChangeRefused, HandReport, revivable
from habilis.curation.manual.gates import Gates, gates
from habilis.curation.manual.merging import Promotion, merged, promoted
from habilis.curation.manual.rollback import roll_back
from habilis.curation.merging.publish import check_conserved
from habilis.library import Library
from habilis.library.generations import Generations, in_use
from habilis.synthesis.gate import Rejected

if TYPE_CHECKING:
    from habilis.config import Settings
    from habilis.core.events import Event
    from habilis.models.client import Factory
    from habilis.runtime.host import ToolHost

WAIT_S = 60.0
"""Seconds to wait for another who writes to the library."""


class Tending:
    """The library at `library`, tended by hand. Programs find it as `Curator.by_hand`.

    `host` runs tools, one of its own where none is given; `clients` makes chat models for the merge policy `model`;
    `told` hears whom a change waits for. With `dry_run` a change is made aside, reported, and not published.

    Raises `UserError` for a library that is not there or cannot be published to.
    """

    def __init__(
        self,
        library: Path | str,
        settings: Settings | None = None,
        *,
        host: ToolHost | None = None,
        clients: Factory | None = None,
        emit: Callable[[Event], None] = lambda event: None,
        told: Callable[[str], None] | None = None,
        wait_s: float | None = WAIT_S,
    ) -> None:
        self._generations = Generations(Path(library))
        if not self._generations.library.is_dir():
            raise UserError(f"no library at {library}")
        if (self._generations.library.parent / "task.json").exists():
            raise UserError(f"{library} holds the tools of one task, which do not change; promote the tools instead")
        self._settings = settings if settings is not None else load_settings()
        self._host, self._clients, self._emit = host, clients, emit
        self._told, self._wait_s = told, wait_s

    @property
    def library(self) -> Library:
        """The library as it is now."""
        return Library(self._generations.library)

    async def retire(self, names: Sequence[str], reason: str, *, dry_run: bool = False) -> HandReport:
        """Take tools out of use, their recorded calls along. A request close to one, or `revive`, brings it back."""
        return await self._each(
            "retire", names, lambda change, name: change.take_out(name, "retired", "retired", reason), reason, dry_run
        )

    async def quarantine(self, names: Sequence[str], reason: str, *, dry_run: bool = False) -> HandReport:
        """Take tools out of use that are not to come back by themselves."""
        return await self._each(
            "quarantine",
            names,
            lambda change, name: change.take_out(name, "quarantine", "quarantined", reason),
            reason,
            dry_run,
        )

    async def pin(self, names: Sequence[str], *, pinned: bool = True, dry_run: bool = False) -> HandReport:
        """Have tools stay whatever the curator thinks: neither merged into others nor retired. Or let go of them."""
        verb = "pin" if pinned else "unpin"
        return await self._each(verb, names, lambda change, name: change.pin(name, pinned), "", dry_run)

    async def revive(self, name: str, *, under: str = "", dry_run: bool = False) -> HandReport:
        """Put a tool that is out of use (`name`, or `name@version`) back, if it passes the gate; `under` a new name.

        A merged one becomes a tool of its own again. Raises `ChangeRefused` when it does not pass.
        """
        asked = f"revive {name}{f' as {under}' if under else ''}"
        async with self._turn(asked), self._gates() as tried:
            back: Back = revivable(self.library, self._generations.catalogue(), name, under)
            try:
                await tried.passes(back.tool, back.name, back.records)
            except Rejected as rejected:
                raise ChangeRefused(
                    f"{name} is not revived: it does not pass the gate", str(rejected).splitlines()
                ) from None

            def work(change: Change) -> None:
                change.revive(back.tool, back.place, back.name, back.records, back.heir)

            return await self._drafted(asked, work, dry_run=dry_run)

    async def rollback(self, generation: int | None = None, *, dry_run: bool = False) -> HandReport:
        """Make the library what it was in `generation`, by default the one before. What came since stays in it, out
        of use, and so does the generation that is left."""
        async with self._turn("rollback"):
            current = self._generations.current()
            goal = generation if generation is not None else self._before(current)
            if goal == current:
                raise UserError(f"generation {goal} is the one in force")
            if not self._generations.unpack(goal):
                there = ", ".join(map(str, self._generations.numbers()[-8:])) or "none"
                raise UserError(f"no generation {goal} of {self._generations.library}; there are {there}")
            known = self._generations.path(goal)
            return await self._drafted(
                f"rollback to generation {goal}",
                lambda change: roll_back(change, known, goal),
                dry_run=dry_run,
                start=goal,
            )

    async def merge(
        self,
        names: Sequence[str],
        *,
        into: str = "",
        policy: Literal["best", "model"] = "best",
        dry_run: bool = False,
    ) -> HandReport:
        """Make one tool of several, through the curator's gate alone. `into`: which of them goes on.

        Raises `ChangeRefused` with the evidence when no tool may take the place of another.
        """
        asked = f"merge {', '.join(names)}{f' into {into}' if into else ''} ({policy})"
        async with self._turn(asked), self._gates() as tried:
            filling, evidence = await merged(
                tried, self._generations.catalogue(), names, into, policy, self._settings, self._clients, self._emit
            )
            if filling is None:
                raise ChangeRefused(f"{', '.join(names)} stay as they are", evidence)
            return await self._filled(asked, filling, evidence, dry_run)

    async def promote(self, file: Path, *, under: str = "", dry_run: bool = False) -> HandReport:
        """Take the tool in `file` into the library, if it passes the gate: one of a task's own, with its recorded
        calls, or a file of yours. Raises `ChangeRefused` when it does not, `UserError` for what is no tool."""
        asked = f"promote {file.stem}{f' as {under}' if under else ''}"
        async with self._turn(asked), self._gates() as tried:
            found: Promotion = await promoted(tried, self._generations.catalogue(), file, under)
            return await self._filled(asked, found.filling, found.evidence, dry_run)

    async def keep_calls(
        self, asked: str, calls: Mapping[str, Sequence[RecordedCall]], contents: Mapping[str, bytes]
    ) -> HandReport:
        """Add recorded calls to tools; `asked` says what for, `contents` are the calls' files by digest."""

        def whole(change: Change) -> None:
            for name, made in sorted(calls.items()):
                change.keep_calls(name, made, contents)

        async with self._turn(asked):
            return await self._drafted(asked, whole)

    async def prune(self, keep: int, *, runs: Path | None = None, dry_run: bool = False) -> list[int]:
        """Pack all but the newest `keep` generations; returns which. A rollback unpacks what it needs.

        The one in force stays, and so do those that tasks below `runs` began with.
        """
        if keep < 1:
            raise UserError("keep at least one generation")
        async with self._turn(f"prune to {keep} generations"):
            generations = self._generations
            spared = in_use(generations.library, runs) if runs is not None else set()
            numbers = generations.numbers()
            kept = {*numbers[-keep:], *spared, generations.current()}
            if not dry_run:
                await asyncio.to_thread(generations.pack_old, keep, spared=spared)
            return [number for number in numbers if number not in kept]

    # --- one generation

    def _turn(self, asked: str) -> AbstractAsyncContextManager[None]:
        return self._generations.turn(f"a change by hand: {asked}", wait_s=self._wait_s, told=self._told)

    def _gates(self) -> AbstractAsyncContextManager[Gates]:
        return gates(self.library, self._generations.folder / ".staging", self._settings, self._host)

    async def _each(
        self, verb: str, names: Sequence[str], work: Callable[[Change, str], None], reason: str, dry_run: bool
    ) -> HandReport:
        """One generation in which `work` was done on each of `names`."""
        asked = f"{verb} {', '.join(names)}"

        def whole(change: Change) -> None:
            for name in names:
                work(change, name)

        async with self._turn(asked):
            return await self._drafted(asked, whole, reason=reason, dry_run=dry_run)

    async def _drafted(
        self,
        asked: str,
        work: Callable[[Change], None],
        *,
        reason: str = "",
        dry_run: bool = False,
        start: int | None = None,
    ) -> HandReport:
        def made() -> HandReport:
            with self._generations.draft(start) as folder:
                change = Change(folder, self.library, self._generations.catalogue())
                work(change)
                report = change.report(asked, reason, self._generations.current())
                return self._published(folder, report, dry_run)

        return await asyncio.to_thread(made)

    async def _filled(
        self, asked: str, filling: Callable[[Path], HandReport], evidence: Sequence[str], dry_run: bool
    ) -> HandReport:
        def made() -> HandReport:
            with self._generations.draft() as folder:
                current = self._generations.current()
                update = {"asked": asked, "evidence": tuple(evidence), "generation": current, "parent": current or None}
                return self._published(folder, filling(folder).model_copy(update=update), dry_run)

        return await asyncio.to_thread(made)

    def _published(self, folder: Path, report: HandReport, dry_run: bool) -> HandReport:
        check_conserved(report, folder)
        if dry_run or not report.changed:
            return report.model_copy(update={"dry_run": dry_run})
        kept = report.model_dump(mode="json", exclude={"seconds", "usage", "changed", "dry_run"})
        number = self._generations.publish(folder, kept)
        parent = (self._generations.report(number) or {}).get("parent")
        return report.model_copy(update={"generation": number, "parent": parent})

    def _before(self, current: int) -> int:
        parent = (self._generations.report(current) or {}).get("parent")
        if not isinstance(parent, int):
            raise UserError(f"{self._generations.library} has no generation before this one; nothing to go back to")
        return parent
