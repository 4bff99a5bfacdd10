"""Looking at a library: its tools as rows, one with all that is known of it, and what was found by a question."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from habilis.contract.records import RecordedCall
from habilis.core.errors import UserError
from habilis.core.types import Effects, Frozen, JsonSchema
from habilis.curation.manual.change import unknown
from habilis.curation.manual.history import evidence
from habilis.library import Library, Origin, Tool
from habilis.library.catalogue import Catalogue, Listed
from habilis.library.folder import INDEX
from habilis.library.outofuse import SetAside, set_aside
from habilis.library.retrieval import Met
from habilis.library.retrieval.vectors import vectors_of

MAX_SHOWN_CALLS = 5


class ToolRow(Frozen):
    """One tool of a list. `problem` says why its file is no usable tool; then nothing else is known of it."""

    name: str
    version: str = ""
    description: str = ""
    effects: Effects | None = None
    calls: int = 0
    success: int = 0
    failure: int = 0
    how: str = ""
    pinned: bool = False
    old_names: tuple[str, ...] = ()
    worth: float = 0.0
    problem: str = ""


class OldName(Frozen):
    """A name that leads to a tool since that does the work of another. `reason`: why, as the library noted it."""

    name: str
    version: str
    description: str
    reason: str = ""
    arguments: dict[str, str] = Field(default_factory=dict)
    fields: dict[str, str] = Field(default_factory=dict)
    calls: int = 0


class CallFigures(Frozen):
    """The recorded calls of a tool in figures, and the last of them. `kinds`: how many its writer's `trial` passed, how
    many tasks and people made (`used`), how many its writer foretold (`confirmed`), how many only pin what it does
    (`tried`, by `library prove`), and on how many a judge preferred it to the version that it mends (`judged`); all
    other figures are of used ones.
    `stood_in` says which members answered for it, and in which tasks."""

    total: int = 0
    kinds: dict[str, int] = Field(default_factory=dict)
    success: int = 0
    failure: int = 0
    input_error: int = 0
    replayable: int = 0
    tasks: tuple[str, ...] = ()
    stood_in: tuple[str, ...] = ()
    last: tuple[dict[str, Any], ...] = ()


class Shown(Frozen):
    """All that is known of one tool. `place` is `in use`, or where it lies out of use, with the `reason`."""

    name: str
    version: str
    place: str
    reason: str
    description: str
    effects: Effects
    pinned: bool
    path: str
    how: str
    task: str
    writer: str
    model: str
    trial: str
    requirements: tuple[str, ...]
    needs: tuple[str, ...]
    input_schema: JsonSchema
    output_schema: JsonSchema
    calls: CallFigures
    answered: tuple[str, ...]
    old_names: tuple[OldName, ...]
    lineage: Ancestor
    evidence: tuple[str, ...] = ()
    code: str


class ToolHit(Frozen):
    """A tool found by a question. `place` is empty for tools in use; `why` is filled when it was asked for."""

    name: str
    score: float
    description: str
    parameters: tuple[str, ...]
    place: str = ""
    why: tuple[dict[str, Any], ...] = ()


def opened(path: Path) -> Library:
    """The library at `path`. Raises `UserError` when there is none."""
    library = Library(path)
    if not library.path.is_dir():
        raise UserError(f"no library at {path}; name one with --library")
    return library


def names(
    library: Library, sort: str = "name", limit: int | None = None, known: Catalogue | None = None
) -> tuple[list[ToolRow], int]:
    """The first `limit` tools, and how many there are.

    `sort`: `name`, `calls` (the most called first), `success` (the worst first) or `worth` (the most first). `known` is
    the library's catalogue, if somebody has it.
    """
    listed = (known or Catalogue.of(library.path)).tools
    rows = [_row(one) for one in listed.values()]
    if sort == "calls":
        rows.sort(key=lambda row: (-row.calls, row.name))
    elif sort == "success":
        rows.sort(key=lambda row: (row.success / row.calls if row.calls else 2.0, -row.calls, row.name))
    elif sort == "worth":
        rows.sort(key=lambda row: (-row.worth, row.name))
    return rows[:limit], len(rows)


def _row(one: Listed) -> ToolRow:
    if one.problem:
        return ToolRow(name=one.name, problem=one.problem)
    calls, success, failure = one.counts[:3]
    return ToolRow(
        name=one.name,
        version=one.version,
        description=one.card.description,
        effects=one.effects,
        calls=calls,
        success=success,
        failure=failure,
        how=one.how,
        pinned=one.pinned,
        old_names=one.aliases,
        worth=one.card.worth,
    )


def shown(library: Library, said: str) -> Shown:
    """All about the tool that `said` means: a name, an old name, or `name@version` of one out of use too."""
    tool, aside = _meant(library, said)
    manifest, place = tool.manifest, aside.place if aside else "in use"
    names = (tool.name, *manifest.aliases)
    records = aside.records() if aside else [record for name in names for record in library.records(name)]
    return Shown(
        name=manifest.name,
        version=manifest.version,
        place=place,
        reason=aside.reason if aside else "",
        description=manifest.description,
        effects=manifest.effects,
        pinned=manifest.pinned,
        path=str(tool.path),
        how=manifest.origin.how,
        task=manifest.origin.task,
        writer=manifest.origin.writer,
        model=manifest.origin.model,
        trial=manifest.origin.smoke,
        requirements=manifest.requirements,
        needs=manifest.capabilities.shown(),
        input_schema=manifest.input_schema,
        output_schema=manifest.output_schema,
        calls=_calls(records, manifest.origin),
        answered=manifest.answered,
        old_names=_old_names(library, tool),
        lineage=ancestry(library.path, tool, place),
        evidence=evidence(library.path, manifest.name),
        code=tool.source(),
    )


def _meant(library: Library, said: str) -> tuple[Tool, SetAside | None]:
    """The tool, and where it lies when it is out of use."""
    name, _, version = said.partition("@")
    tool = library.get(name)
    if tool is not None and tool.alias is not None:
        tool = library.get(tool.manifest.name)
    if tool is not None and tool.manifest.identity.startswith(version):
        return tool, None
    aside = [one for one in set_aside(library.path, name) if one.tool.manifest.identity.startswith(version)]
    if aside:
        return aside[0].tool, aside[0]
    raise UserError(unknown(name, Catalogue.of(library.path)))


def _calls(every: Sequence[RecordedCall], origin: Origin) -> CallFigures:
    records = [record for record in every if record.used]
    verdicts = [record.verdict for record in records]
    proofs = [record.call_id.rpartition(".")[0] for record in records if record.verdict == "success"]
    last = [
        {
            "call_id": record.call_id,
            "arguments": record.arguments,
            "output": record.output,
            "error": record.error.message if record.error else None,
            "verdict": record.verdict,
            "version": record.version,
        }
        for record in records[-MAX_SHOWN_CALLS:]
    ]
    return CallFigures(
        total=len(records),
        kinds={
            "trial": int(origin.smoke.startswith("passed")),
            "used": len(records),
            "confirmed": sum(record.kind == "confirmed" for record in every),
            "tried": sum(record.kind == "tried" for record in every),
            "judged": sum(record.kind == "judged" for record in every),
        },
        success=verdicts.count("success"),
        failure=verdicts.count("failure"),
        input_error=verdicts.count("input_error"),
        replayable=sum(record.replayable for record in records),
        tasks=tuple(sorted({task for task in (*proofs, origin.task) if task})),
        stood_in=_stood_in(records),
        last=tuple(last),
    )


def _stood_in(records: Sequence[RecordedCall]) -> tuple[str, ...]:
    tasks: dict[str, dict[str, None]] = {}
    for record in records:
        if record.stood_in:
            tasks.setdefault(record.stood_in, {})[record.call_id.rpartition(".")[0]] = None
    return tuple(f"{member} in {', '.join(task for task in found if task)}" for member, found in tasks.items())


def _old_names(library: Library, tool: Tool) -> tuple[OldName, ...]:
    rows = []
    for name, alias in sorted(tool.manifest.aliases.items()):
        there = [one for one in set_aside(library.path, name) if one.tool.version == alias.version]
        row = OldName(
            name=name,
            version=alias.version,
            description=alias.description,
            reason=there[0].reason if there else "",
            arguments=alias.arguments,
            fields=alias.fields,
            calls=len(library.records(name)),
        )
        rows.append(row)
    return tuple(rows)


def search(
    library: Library,
    query: str,
    k: int,
    *,
    why: bool = False,
    unused: bool = False,
    vectors: str = "",
    known: Catalogue | None = None,
) -> list[ToolHit]:
    """The at most `k` tools nearest to `query`, best first; `unused`: those out of use among them. `vectors`: see the
    setting `retrieval.vectors`; `known`: the library's catalogue, if somebody has it and `unused` is not asked for."""
    catalogue = known or Catalogue.of(library.path)
    index = catalogue.index()
    index.use(vectors_of(vectors), library.path / INDEX)
    places: dict[str, SetAside] = {}
    for one in set_aside(library.path) if unused else ():
        if one.label not in places:
            places[one.label] = one
            index.add(one.tool.card.model_copy(update={"name": one.label}))
    found = []
    for name, score in index.scored(query, k):
        aside = places.get(name)
        card = aside.tool.card if aside else catalogue.tools[name].card
        row = ToolHit(
            name=name,
            score=round(score, 4),
            description=card.description,
            parameters=card.parameters,
            place=aside.place if aside else "",
            why=tuple(_met(met) for met in index.why(query, name).terms) if why else (),
        )
        found.append(row)
    return found


def _met(met: Met) -> dict[str, Any]:
    return {"asked": met.asked, "met": met.met, "share": round(met.share, 4), "fields": list(met.fields)}


MAX_DEPTH = 20


class Ancestor(Frozen):
    """A version of a tool and what it was made from. `place` is where it lies now, empty when the library does not
    hold it (a task's first attempt, say); `reason` is why it is out of use."""

    tool: str
    how: str = ""
    task: str = ""
    model: str = ""
    place: str = ""
    reason: str = ""
    parents: tuple[Ancestor, ...] = ()


def ancestry(library: Path, tool: Tool, place: str) -> Ancestor:
    """The tree of what `tool` was made from."""
    return _of(library, tool, place, tool.manifest.reason or "", {tool.label})


def _of(library: Path, tool: Tool, place: str, reason: str, seen: set[str]) -> Ancestor:
    origin = tool.manifest.origin
    parents = []
    for label in origin.parents:
        if label in seen or len(seen) > MAX_DEPTH:
            continue
        name, _, identity = label.rpartition("@")
        found = next((one for one in set_aside(library, name) if one.tool.manifest.identity == identity), None)
        if found is None:
            parents.append(Ancestor(tool=label))
        else:
            parents.append(_of(library, found.tool, found.place, found.reason, {*seen, label}))
    return Ancestor(
        tool=tool.label,
        how=origin.how,
        task=origin.task,
        model=origin.model,
        place=place,
        reason=reason,
        parents=tuple(parents),
    )
