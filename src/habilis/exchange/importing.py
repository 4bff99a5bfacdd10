"""Tools of others become tools of a library: each passes the gate in the sandbox, all become one generation.

What is the same source is recognised, also as an older version of a tool that is here; what differs under one name
survives as two. A line says of each thing what became of it. The sources are only read.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

from habilis.config import Settings
from habilis.contract.aliases import Alias
from habilis.contract.names import RESERVED, free_name, is_plain
from habilis.contract.records import RecordedCall
from habilis.core.errors import UserError
from habilis.core.gathering import side_by_side
from habilis.exchange import interrupted
from habilis.exchange.arriving import (
    Tried,
    another_name,
    check_conserved,
    failures,
    fate_of,
    file_name,
    leads_nowhere,
    manifest_of,
    short,
)
from habilis.exchange.dependencies import with_dependencies
from habilis.exchange.known import Holdings, unknown
from habilis.exchange.operations import is_document, tools_of
from habilis.exchange.proving import Prover
from habilis.exchange.reports import Ending, ImportLine, ImportReport
from habilis.exchange.servers import is_server, tools_of_server
from habilis.exchange.surveying import ImportCandidate, Unfit, look_through
from habilis.library import LayeredLibrary, Library, Tool
from habilis.library.catalogue import tool_files
from habilis.library.drafting import DraftLibrary
from habilis.library.generations import Generations
from habilis.prompts import Prompts
from habilis.runtime.grants import Grants
from habilis.runtime.host import ToolHost
from habilis.sandbox.processes.temporary import temporary
from habilis.synthesis.gate import Gate, Passed, Rejected, Wanted
from habilis.synthesis.replay import Replayer

AT_ONCE = 2
"""Tools that are tried side by side: one in the warm server for trials, one that gets ready; more would run cold."""


class Importer:
    """Imports into the library at `library`. `told` hears whom it waits for, `step` how many files are tried and how
    many there are; what is not begun once it is `stopped` is left for an import that resumes. `secret_env` names the
    variable with the secret of an MCP server that is given by address. Raises `UserError` for a library that cannot be
    published to."""

    def __init__(
        self,
        library: Path,
        settings: Settings,
        host: ToolHost,
        *,
        told: Callable[[str], None] | None = None,
        wait_s: float | None = None,
        secret_env: str = "",
        step: Callable[[int, int], None] = lambda done, total: None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        if (library.parent / "task.json").exists():
            raise UserError(
                f"{library} holds the tools of one task, which do not change; copy the folder to build on it"
            )
        self._generations, self._host, self._told, self._wait_s = Generations(library), host, told, wait_s
        self._settings, self._secret_env, self._step, self._stopped = settings, secret_env, step, stopped
        self._grants = Grants(settings.capabilities, env_allow=settings.sandbox.env_allow)

    async def run(
        self, sources: Sequence[Path | str], *, dry_run: bool = False, resume: bool = False, infer: bool = False
    ) -> ImportReport:
        """Import all that `sources` hold as one new generation; none where nothing is new. `dry_run`: only say it.
        `resume`: what an interrupted import refused is not tried again. `infer`: dependencies that a tool does not name
        are inferred from its imports.

        A source is a file or folder, the path or address of an OpenAPI document, or an MCP server (`mcp:`, then its
        address or its name in the settings).

        Raises `UserError` for a source that is not there and for a library that another writer does not let go of,
        OSError when the disk refuses, and `NotConserved` or `DraftBroken` when the account does not hold; the library
        is as it was then.
        """
        things = [thing for source in sources for thing in await self._looked_through(source)]
        things = [with_dependencies(thing) for thing in things] if infer else things
        async with self._turn(dry_run), self._staging(dry_run) as staging:
            work = _Import(self._generations, self._host, self._settings, self._grants, staging)
            work.step, work.stopped = self._step, self._stopped
            work.refused = dict(interrupted.read(self._generations.folder).refused) if resume else {}
            lines = await work.decide(things)
            if dry_run:
                return self._report(lines, False, True)
            published = await asyncio.to_thread(work.publish, [str(source) for source in sources], lines)
            await asyncio.to_thread(self._note, work, lines)
            return self._report(lines, published, False)

    def _note(self, work: _Import, lines: Sequence[ImportLine]) -> None:
        """Leave what an import that resumes needs to know; nothing once all is looked at."""
        folder = self._generations.folder
        if any(line.ending == "left" for line in lines):
            interrupted.write(folder, interrupted.Left(refused=work.refused))
        else:
            interrupted.clear(folder)

    def _report(self, lines: Sequence[ImportLine], published: bool, dry_run: bool) -> ImportReport:
        library = self._generations.library
        return ImportReport(
            library=str(library),
            lines=tuple(lines),
            generation=self._generations.current(),
            published=published,
            tools=len(tool_files(library)),
            dry_run=dry_run,
        )

    async def _looked_through(self, source: Path | str) -> list[ImportCandidate | Unfit]:
        if is_server(str(source)):
            return await tools_of_server(str(source), self._settings, self._secret_env)
        if is_document(str(source)):
            return await tools_of(str(source))
        return await asyncio.to_thread(look_through, Path(source))

    def _turn(self, dry_run: bool) -> contextlib.AbstractAsyncContextManager[None]:
        if dry_run:
            return contextlib.nullcontext()
        return self._generations.turn("an import", wait_s=self._wait_s, told=self._told)

    @contextlib.asynccontextmanager
    async def _staging(self, dry_run: bool) -> AsyncIterator[Path]:
        """A folder to try tools in: beside the generations, where a killed import's is swept up by the next writer."""
        if dry_run:
            with temporary("import") as folder:
                yield folder
            return
        staging = self._generations.folder / ".staging"
        shutil.rmtree(staging, ignore_errors=True)
        try:
            staging.mkdir(parents=True)
            yield staging
        finally:
            shutil.rmtree(staging, ignore_errors=True)


class _Import:
    """One import at work."""

    def __init__(
        self, generations: Generations, host: ToolHost, settings: Settings, grants: Grants, staging: Path
    ) -> None:
        self._generations, self._host, self._grants = generations, host, grants
        self._staged = Library(staging / "library")
        self._staged.path.mkdir()
        prompts = Prompts(settings.prompts_dir)
        view = LayeredLibrary(self._staged, Library(generations.library))
        replayer = Replayer(host, view, None, prompts, live=False)
        self._gate = Gate(host, view, replayer, grants)
        self._prover = Prover(replayer, grants)
        self._known = Holdings(generations)
        self._scratch = staging / "scratch"
        self._new: dict[str, Tried] = {}
        self._aliases: dict[str, dict[str, Alias]] = {}
        self._calls: dict[str, list[RecordedCall]] = {}
        self.refused: dict[str, str] = {}
        self.step: Callable[[int, int], None] = lambda done, total: None
        self.stopped: Callable[[], bool] = lambda: False

    # --- deciding

    async def decide(self, things: Sequence[ImportCandidate | Unfit]) -> list[ImportLine]:
        """What becomes of each thing, in their order."""
        tried = await self._tried(things)
        lines = []
        for number, thing in enumerate(things):
            if isinstance(thing, Unfit):
                problem = thing.python
                lines.append(ImportLine(source=thing.label, ending="refused", reason=thing.reason, problem=problem))
            elif (known := self._known.of(thing.digest[:16])) is not None:
                lines.append(await self._same(thing, known[0], known[1], number))
            elif (why := self._known.out_of_use(thing.digest[:16])) is not None:
                lines.append(ImportLine(source=thing.label, ending="refused", reason=why))
            elif (known_tried := tried[thing.digest]) is None:
                lines.append(ImportLine(source=thing.label, ending="left"))
            else:
                lines.append(self._taken(thing, known_tried))
        return [
            self._with_aliases(line) if line.name in self._new and line.ending != "same" else line for line in lines
        ]

    async def _tried(self, things: Sequence[ImportCandidate | Unfit]) -> dict[str, Tried | None]:
        """Every source that is not here yet, tried once; by digest. None where it was stopped before.
        Equal files bring their calls together."""
        wanted: dict[str, ImportCandidate] = {}
        for thing in things:
            if isinstance(thing, ImportCandidate) and not self._known.has(thing.digest[:16]):
                wanted.setdefault(thing.digest, thing)
        if wanted:
            self._host.start_trials(self._staged.aside_root())

        done = 0

        async def one(number: int, found: ImportCandidate) -> Tried | None:
            nonlocal done
            if found.digest in self.refused:
                tried: Tried | None = Tried(found, self.refused[found.digest])
            elif self.stopped():
                return None
            else:
                tried = await self._try(found, self._scratch / f"{number}")
            done += 1
            self.step(done, len(wanted))
            if tried is not None and tried.passed is None:
                self.refused[found.digest] = tried.reason
            return tried

        return dict(zip(wanted, await side_by_side(wanted.values(), one, AT_ONCE), strict=True))

    async def _try(self, found: ImportCandidate, scratch: Path) -> Tried:
        """The file through the gate, and then through its own recorded calls."""
        name = file_name(found)
        try:
            source = found.source.decode("utf-8")
        except UnicodeDecodeError as error:
            return Tried(found, f"it is not UTF-8 (byte {error.start})")
        try:
            passed = await self._gate.check(source, Wanted(name))
        except Rejected as rejected:
            return Tried(found, str(rejected))
        tool = self._tool(found, passed, scratch)
        aliases = {a: to for a, to in tool.manifest.aliases.items() if not leads_nowhere(to, passed)}
        proven: dict[str, tuple[RecordedCall, ...]] = {}
        tried = failed = 0
        for called, calls in found.records.items():
            if called != found.name and called not in aliases:
                continue
            under = tool.known_as(called) if called in aliases else tool
            proof = await self._prover.prove(under, self._kept(calls, found), scratch / "calls")
            proven[called] = proof.kept
            tried, failed = tried + proof.tried, failed + proof.failed
        if tried and tried == failed:
            return Tried(found, f"none of its {tried} recorded calls gives what was recorded")
        notes = (*found.notes, *failures(failed, tried), *filter(None, [passed.flaw]))
        return Tried(found, passed=passed, tool=tool, proven=proven, notes=notes, proofs=tried - failed)

    def _tool(self, found: ImportCandidate, passed: Passed, scratch: Path) -> Tool:
        """`found` as a tool that can be called, in a folder of its own."""
        scratch.mkdir(parents=True)
        name = file_name(found)
        path = scratch / f"{name}.py"
        path.write_bytes(found.source)
        return Tool(name=name, path=path, manifest=manifest_of(found, passed, name))

    async def _same(self, found: ImportCandidate, name: str, reason: str, number: int) -> ImportLine:
        """A file whose source is here: those of its calls come along that are new and give the same here."""
        new = self._new.get(name)
        tool = new.tool if new is not None else self._known.tool(name)
        there = [*self._calls.get(name, ()), *(new.proven.get(new.found.name, ()) if new else self._known.calls(name))]
        kept: tuple[RecordedCall, ...] = ()
        notes: list[str] = [*found.notes]
        calls = unknown(found.records.get(found.name, ()), there)
        good = tuple(call for call in calls if call.verdict == "success" and call.replayable)
        if tool is not None and good:
            proof = await self._prover.prove(tool, self._kept(good, found), self._scratch / f"same-{number}")
            kept = proof.kept
            notes += failures(proof.failed, proof.tried)
        self._calls.setdefault(name, []).extend(kept)
        told = "; ".join(filter(None, [reason, *notes]))
        version = found.digest[:16]
        return ImportLine(source=found.label, ending="same", name=name, version=version, reason=told, calls=len(kept))

    def _taken(self, found: ImportCandidate, tried: Tried) -> ImportLine:
        """A new tool under a free name, or the reason why it is none."""
        if tried.passed is None:
            reason = short(tried.reason)
            return ImportLine(source=found.label, ending="refused", reason=reason, problem=True)
        name = free_name(file_name(found), lambda choice: self._known.is_taken(choice) or choice in RESERVED)
        self._known.add(name, found.digest[:16])
        self._new[name] = tried
        ending: Ending = "imported" if found.name == name else "kept"
        count = sum(map(len, tried.proven.values()))
        told = "; ".join([*tried.notes, *another_name(found, tried.passed)])
        return ImportLine(
            source=found.label,
            ending=ending,
            name=name,
            version=found.digest[:16],
            reason=told,
            calls=count,
            tried=bool(tried.proofs) or tried.passed.smoke.startswith("passed"),
            untried=tried.passed.smoke,
        )

    def _with_aliases(self, line: ImportLine) -> ImportLine:
        """The old names that a new tool brings along are settled once all new names are; what is taken stays so."""
        tried = self._new[line.name]
        assert tried.passed is not None
        wanted = tried.found.manifest.aliases if tried.found.manifest is not None else {}
        kept = {
            old: alias
            for old, alias in sorted(wanted.items())
            if is_plain(old) and not self._known.is_taken(old) and not leads_nowhere(alias, tried.passed)
        }
        self._aliases[line.name] = kept
        for old in kept:
            self._known.add(old, "")
        lost = [old for old in sorted(wanted) if old not in kept]
        told = [line.reason] if line.reason else []
        told += [f"its old name {', '.join(lost)} is not taken over"] if lost else []
        return line.model_copy(update={"reason": "; ".join(told)})

    def _kept(self, calls: Sequence[RecordedCall], found: ImportCandidate) -> list[RecordedCall]:
        """`calls` with their files in the staged library, where replays and the draft find them."""
        return [self._staged.store.bring(call, found.content) for call in calls]

    # --- publishing

    def publish(self, sources: Sequence[str], lines: Sequence[ImportLine]) -> bool:
        """Make what was decided the next generation; whether there is one."""
        before = {name: self._known.digest(name) for name in self._known.before}
        with self._generations.draft() as folder:
            draft = DraftLibrary(folder, self._staged.content)
            lineage = [self._put(draft, name, tried) for name, tried in self._new.items()]
            called = [name for name, calls in self._calls.items() if draft.add_records(name, calls)]
            for name in called:
                draft.count(name)
            check_conserved(folder, before, self._new)
            if not lineage and not called:
                return False
            kept = [{"tool": label, "ending": "kept", "into": label.split("@")[0]} for label in self._known.labels()]
            report = {
                "import": list(sources),
                "went_in": [*self._known.labels(), *(line.source for line in lines)],
                "fates": kept + [fate_of(line) for line in lines],
                "lineage": lineage,
                "evidence": [line.text for line in lines],
                "tools": len(tool_files(folder)),
            }
            self._generations.publish(folder, report)
        return True

    def _put(self, draft: DraftLibrary, name: str, tried: Tried) -> dict[str, Any]:
        assert tried.passed is not None
        found, aliases = tried.found, self._aliases[name]
        assert tried.tool is not None
        manifest = tried.tool.manifest
        if name != manifest.name:
            origin = manifest.origin.model_copy(update={"our_suffix": True})
            manifest = manifest.model_copy(update={"name": name, "origin": origin})
        manifest = manifest.model_copy(update={"aliases": aliases})
        draft.put(found.source, manifest)
        for called, calls in tried.proven.items():
            if called == found.name or called in aliases:
                draft.add_records(name if called == found.name else called, calls)
        draft.count(name)
        origin = manifest.origin
        return {
            "tool": f"{name}@{manifest.version}",
            "parents": list(origin.parents),
            "tasks": [origin.task] if origin.task else [],
            "writer": origin.writer,
            "model": origin.model,
            "source": found.label,
            "replays": sum(len(calls) for calls in tried.proven.values()),
        }
