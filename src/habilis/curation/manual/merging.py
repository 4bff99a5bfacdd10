"""Tools merged and promoted by hand: a step of the curator without tasks, through the very same gates."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from habilis.contract.contract import MAX_SOURCE_BYTES
from habilis.contract.names import RESERVED, free_name, is_plain, safe_name
from habilis.contract.records import RecordedCall
from habilis.core.errors import BudgetReached, ModelReplyUnusable, ModelUnreachable, UserError
from habilis.curation.manual.change import ChangeRefused, HandReport, unknown
from habilis.curation.manual.gates import Gates
from habilis.curation.merging.collect import Collected, collect, unproven
from habilis.curation.merging.merge import Decided, Made, Merger
from habilis.curation.merging.publish import Decisions, fill
from habilis.library import Library, Origin, Tool
from habilis.library.catalogue import Catalogue, tool_files
from habilis.library.folder import as_kept
from habilis.rundir import atomic_write
from habilis.synthesis.gate import Rejected

if TYPE_CHECKING:
    from habilis.config import Settings
    from habilis.core.events import Event
    from habilis.models.chat import Models
    from habilis.models.client import Factory

Filling = Callable[[Path], HandReport]
"""Makes a draft what was decided, and gives the account of it."""


@dataclass(frozen=True)
class Promotion:
    """A tool that may go into the library, and what it did to show that."""

    filling: Filling
    evidence: tuple[str, ...] = field(default=())


async def merged(
    tried: Gates,
    catalogue: Catalogue,
    names: Sequence[str],
    into: str,
    policy: str,
    settings: Settings,
    clients: Factory | None,
    emit: Callable[[Event], None],
) -> tuple[Filling | None, list[str]]:
    """How the tools `names` become one, None where they may not, and the evidence. Raises `UserError` for odd names."""
    collected = _collected(tried, catalogue)
    group = list(dict.fromkeys(names))
    for name in group:
        if name not in catalogue.tools or catalogue.tools[name].problem:
            raise UserError(unknown(name, catalogue))
    if len(group) < 2:
        raise UserError("merge takes at least two tools")
    if into and into not in group:
        raise UserError(f"--into {into}: name one of the tools to be merged: {', '.join(group)}")
    merger = Merger(collected, tried.gate, tried.replayer)
    if policy == "model":
        decided = await _written(tried, collected, merger, group, settings, clients, emit)
    else:
        decided = await (merger.into(into, group) if into else merger.choose(group, "best"))
    if not decided.merges:
        return None, decided.evidence
    return _filling(collected, Decisions(merges=decided.merges)), decided.evidence


async def promoted(tried: Gates, catalogue: Catalogue, file: Path, under: str) -> Promotion:
    """How the tool in `file` gets into the library. Raises `UserError` for what is no tool, or there already, and
    `ChangeRefused` for one that does not prove itself."""
    tool, records = await _read(tried, file)
    if reason := unproven(tool, records) if records or tool.origin.task else "":
        raise ChangeRefused(f"{tool.name} is not promoted: {reason}", [reason])
    same = next((one.name for one in catalogue.tools.values() if one.version == tool.version), None)
    if same is not None:
        raise UserError(f"{file} is in the library already: it is {same}, the same source")
    collected = _collected(tried, catalogue)
    name = _free_name(tool, catalogue, under)
    label = f"{tool.origin.task or 'file'}:{tool.name}@{tool.version}"
    _stage(collected, tool, name, label, records, Library(tool.path.parent))
    staged = collected.staging.get(name)
    assert staged is not None
    try:
        passed = await tried.passes(staged, name, collected.staging.records(name))
    except Rejected as rejected:
        raise ChangeRefused(f"{name} is not promoted: it does not pass the gate", str(rejected).splitlines()) from None
    origin = staged.origin.model_copy(update={"smoke": passed.smoke})
    known = staged.manifest.model_copy(update={"origin": origin})
    atomic_write(collected.staging.path / f"{name}.json", as_kept(known), durable=False)
    good = sum(record.verdict == "success" for record in records)
    line = f"{name}: own example {passed.smoke}; {passed.replay.replayed} of {good} recorded calls repeated"
    return Promotion(_filling(collected, Decisions()), (line,))


def _collected(tried: Gates, catalogue: Catalogue) -> Collected:
    public = tried.view.public
    assert public is not None
    return collect((), public, catalogue, tried.staging)


def _filling(collected: Collected, decisions: Decisions) -> Filling:
    def filled(draft: Path) -> HandReport:
        done = fill(draft, collected, decisions)
        return HandReport(
            generation=0,
            went_in=tuple(collected.went_in),
            fates=done.fates,
            lineage=done.lineage,
            tools=len(tool_files(draft)),
            changed=bool(done.changed or decisions.merges),
        )

    return filled


async def _written(
    tried: Gates,
    collected: Collected,
    merger: Merger,
    group: Sequence[str],
    settings: Settings,
    clients: Factory | None,
    emit: Callable[[Event], None],
) -> Decided:
    """What the writer makes of `group`, proved like any other merge."""
    from habilis.models.chat import Models
    from habilis.models.tape import Tape
    from habilis.models.usage import Budget
    from habilis.synthesis.smith import Smith
    from habilis.synthesis.writers import make_writer

    tape = Tape(tried.staging.parent / "tape.jsonl")
    models: Models = Models(
        settings.models, limits=settings.limits, tape=tape, emit=emit, budget=Budget(None, None), clients=clients
    )
    try:
        writer = make_writer(settings.writer, models)
        smith = Smith(
            tried.host,
            collected.view,
            writer,
            models,
            tried.prompts,
            emit,
            grants=tried.grants,
            live=False,
        )
        origin = Origin(how="merged", writer=writer.name, model=models.name("builder"))
        made = await merger.make(group, smith, origin)
    except (ModelUnreachable, ModelReplyUnusable, BudgetReached) as error:
        return Decided(evidence=[f"the writer cannot be asked: {error}"])
    finally:
        await models.aclose()
    return await merger.prove(made) if isinstance(made, Made) else Decided(evidence=[made])


async def _read(tried: Gates, file: Path) -> tuple[Tool, list[RecordedCall]]:
    """The tool in `file` with its recorded calls: as it lies in a library, else described here."""
    if (known := _known(file)) is not None:
        return known, Library(known.path.parent).records(known.name)
    name = safe_name(file.stem)
    library = _alone(file, tried.staging.parent / "file", name)
    await library.describe_missing(tried.host)
    tool = library.get(name)
    if tool is None:
        problem = library.entry(name)
        raise UserError(f"{file} is not a tool: {getattr(problem, 'reason', 'it cannot be read')}")
    return tool, []


def _known(file: Path) -> Tool | None:
    """The tool in `file` where it lies in a library, described there. Raises `UserError` when there is no such file."""
    if not file.is_file():
        raise UserError(f"{file}: {'not a plain file' if file.exists() else 'no such file'}")
    known = Library(file.parent).get(file.stem)
    return known if file.suffix == ".py" and known is not None and known.path == file.resolve() else None


def _alone(file: Path, folder: Path, name: str) -> Library:
    """A library of `file` alone, in `folder`."""
    folder.mkdir()
    with file.open("rb") as stream:
        (folder / f"{name}.py").write_bytes(stream.read(MAX_SOURCE_BYTES + 1))
    return Library(folder)


def _free_name(tool: Tool, catalogue: Catalogue, under: str) -> str:
    taken = catalogue.taken() | RESERVED
    if under:
        if not is_plain(under) or under != safe_name(under) or under in taken:
            raise UserError(f"--as {under}: {'it is taken' if under in taken else 'it cannot be the name of a tool'}")
        return under
    return free_name(safe_name(tool.called.stem), taken.__contains__)


def _stage(
    collected: Collected, tool: Tool, name: str, label: str, records: Sequence[RecordedCall], private: Library
) -> None:
    """Stage `tool` as one that a step brings along."""
    collected.went_in.append(label)
    collected.new[name] = label
    origin = tool.origin.model_copy(update={"our_suffix": tool.origin.our_suffix or name != tool.name})
    update = {"name": name, "origin": origin, "status": "candidate", "counters": {}, "before": None}
    folder, store = collected.staging.path, collected.staging.store
    atomic_write(folder / f"{name}.json", as_kept(tool.manifest.model_copy(update=update)), durable=False)
    shutil.copyfile(tool.path, folder / f"{name}.py")
    for record in records:
        call_id = f"{tool.origin.task}.{record.call_id}" if tool.origin.task else record.call_id
        kept = store.bring(record, private.content)
        store.append(kept.model_copy(update={"call_id": call_id, "tool": name}))
