"""One tool in the place of several: who it is to be, and whether it may.

A merge stands on recorded calls: the tool that goes on must repeat those of every tool that it replaces, each sent
through the alias that leads to it and compared with the old output, and calls that nobody has made yet must tell enough
(`synthesis/comparing.py`). Where one answers and the other fails, the one that answers goes on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic import Field

from habilis.contract.aliases import Alias, ways_between
from habilis.contract.likeness import same_code
from habilis.contract.names import RESERVED, free_name, safe_name
from habilis.contract.records import RecordedCall
from habilis.core.types import Frozen
from habilis.curation.ledger.reports import MergePolicy
from habilis.curation.merging.collect import Collected
from habilis.library import LayeredLibrary, Manifest, Origin, Tool
from habilis.synthesis.binding import binding
from habilis.synthesis.comparing import Versions, compare
from habilis.synthesis.gate import Gate, Passed, Predecessor, old_names
from habilis.synthesis.real_calls import evidence_on
from habilis.synthesis.replay import Replayer
from habilis.synthesis.smith import MergeFailure

if TYPE_CHECKING:
    from habilis.contract.runnable import Runnable
    from habilis.synthesis.smith import Smith


_SAYS = {"tried": "were tried", "judged": "a judge called right"}


class Made(Frozen):
    """A tool that the writer made of several, through the smith's gate. `manifest` is what will stand beside it.

    `confirmed` are calls that gave what the writer, or a judge, called right; `files` the texts that they had, by
    digest.
    `mends`: it is a better version of its one member.
    """

    members: tuple[str, ...]
    source: str
    manifest: Manifest
    aliases: dict[str, Alias]
    confirmed: tuple[RecordedCall, ...] = ()
    files: dict[str, str] = Field(default_factory=dict)
    mends: bool = False


class Merge(Frozen):
    """A merge that passed: `winner` goes on under `name` and takes the place of those in `aliases`.

    `made` is the writer's tool, in the place of a winner of the group. `replays` counts recorded calls repeated, `told`
    all comparisons that told something; `distinct` is how many distinct results the least of its tools stood on.
    """

    name: str
    winner: str = ""
    made: Made | None = None
    aliases: dict[str, Alias]
    replays: int = 0
    told: int = 0
    distinct: int = 0


@dataclass
class Decided:
    """What became of the groups: merges, and lines on what was tried."""

    merges: list[Merge] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)


@dataclass
class _Tried:
    """What one tool could replace: aliases by name, recorded calls repeated and what else told something, why others
    stay."""

    winner: Tool
    aliases: dict[str, Alias] = field(default_factory=dict)
    replays: int = 0
    told: int = 0
    distinct: list[int] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)

    @property
    def shown(self) -> dict[str, int]:
        """What a merge says of its evidence."""
        return {"replays": self.replays, "told": self.told, "distinct": min(self.distinct, default=0)}


class Merger:
    """Makes and proves the merges of one step."""

    def __init__(self, collected: Collected, gate: Gate, replayer: Replayer) -> None:
        self._collected, self._view = collected, collected.view
        self._gate, self._replayer = gate, replayer
        self._given: set[str] = set()

    # --- the writer's way

    async def make(self, group: Sequence[str], smith: Smith, origin: Origin) -> Made | str:
        """One tool of all in `group`, by the writer; else why there is none."""
        tools = self._tools(group)
        sources = [source for tool in tools for source in self._sources(tool)]
        blocked = self._blocked(tools)
        if blocked:
            return blocked
        name = tools[0].name
        passed = await smith.merge(name, sources)
        if isinstance(passed, MergeFailure):
            return passed.reason
        made = self._made(passed, tools, origin)
        if not (await self.prove(made)).merges:
            return made  # the writer is asked nothing more about what is refused anyway
        self._given.discard(made.manifest.name)
        return self._made(await smith.confirm(name, sources, passed), tools, origin)

    def _made(self, passed: Passed, tools: Sequence[Tool], origin: Origin) -> Made:
        return Made(
            members=tuple(tool.name for tool in tools),
            source=passed.source,
            manifest=self._manifest(passed, tools, origin),
            aliases=dict(passed.aliases),
            **kept_with(passed),
        )

    async def prove(self, made: Made) -> Decided:
        """Whether what the writer made may replace its members: all of them, or none."""
        decided = Decided()
        tools = self._tools(made.members)
        with self._view.private.aside() as aside:
            module = aside / f"{safe_name(made.manifest.name)}.py"
            module.write_bytes(made.source.encode("utf-8"))
            new = replace(tools[0].runnable, name=module.stem, module=module, requirements=made.manifest.requirements)
            tried = _Tried(tools[0])
            keep_files(made, self._view)
            for tool in tools:
                way = made.aliases[tool.name]
                again = self._stands(
                    tool, new, way, tried, made.manifest.timeout_s, mends=made.mends, others=made.confirmed
                )
                if not await again:
                    decided.evidence += tried.evidence
                    return decided
        aliases = self._with_older(made.aliases, tools)
        decided.evidence += tried.evidence
        merge = Merge(name=made.manifest.name, made=made, aliases=aliases, **tried.shown)
        decided.merges.append(merge)
        return decided

    def _manifest(self, made: Passed, tools: Sequence[Tool], origin: Origin) -> Manifest:
        """What stands beside a tool that the writer made. Its name is what the writer says, made safe, unless that is
        taken: by another tool, one made in this step among them, or by one of its members whose callers would have to
        learn new arguments."""
        said = safe_name(made.contract.name)
        free = {tool.name for tool in tools if plain(made.aliases[tool.name])}
        taken = (self._collected.catalogue.taken() | set(self._collected.new) | RESERVED) - free
        name = free_name(said, (taken | self._given).__contains__)
        self._given.add(name)
        manifest = Manifest.of(made.source, made.description, made.contract, name=name, origin=origin)
        parents = tuple(tool.label for tool in tools)
        update = {"how": "merged", "parents": parents, "our_suffix": name != said, "smoke": made.smoke}
        return manifest.model_copy(update={"status": "public", "origin": origin.model_copy(update=update)})

    # --- without a model

    async def choose(self, group: Sequence[str], policy: MergePolicy) -> Decided:
        """One member in the place of as many others as it can replace; the rest is tried again among itself."""
        decided = Decided()
        left = self._tools(group)
        while len(left) > 1:
            best: _Tried | None = None
            for winner in self._order(left, policy):
                tried = await self._try(winner, [tool for tool in left if tool.name != winner.name])
                if best is None or (len(tried.aliases), tried.replays) > (len(best.aliases), best.replays):
                    best = tried
                if len(tried.aliases) == len(left) - 1 or policy == "naive":
                    break
            assert best is not None
            decided.evidence += best.evidence
            if not best.aliases:
                break
            merge = self._named(best)
            decided.merges.append(merge)
            left = [tool for tool in left if tool.name not in {best.winner.name, *best.aliases}]
        return decided

    async def into(self, name: str, group: Sequence[str]) -> Decided:
        """Tool `name` in the place of as many others of `group` as it can replace."""
        tools = self._tools(group)
        winner = next(tool for tool in tools if tool.name == name)
        tried = await self._try(winner, [tool for tool in tools if tool.name != name])
        return Decided([self._named(tried)] if tried.aliases else [], tried.evidence)

    def _order(self, tools: Sequence[Tool], policy: MergePolicy) -> list[Tool]:
        """The members in the order in which they are tried as the one that goes on."""
        if policy == "naive":
            return sorted(tools, key=lambda tool: (len(tool.path.read_bytes()), tool.name))
        labels = list(self._collected.new)

        def rank(tool: Tool) -> tuple[bool, bool, int, int, str]:
            newest = labels.index(tool.name) if tool.name in labels else -1
            better = any(descends(tool, t) for t in tools)
            return not tool.manifest.pinned, not better, -len(self._proofs(tool)), -newest, tool.name

        return sorted(tools, key=rank)

    async def _try(self, winner: Tool, others: Sequence[Tool]) -> _Tried:
        tried = _Tried(winner)
        new = (winner.input_schema, winner.output_schema)
        for old in others:
            known = {"version": old.version, "description": old.description}
            ways = ways_between((old.input_schema, old.output_schema), new, **known)
            if old.manifest.pinned:
                tried.evidence.append(f"{old.name} stays beside {winner.name}: it is pinned")
            elif descends(old, winner):
                tried.evidence.append(f"{old.name} stays beside {winner.name}: it is a better version of that")
            elif not ways:
                tried.evidence.append(
                    f"{old.name} stays beside {winner.name}: no one way leads from its fields to those"
                )
            elif blocked := _writing([old, winner]):
                tried.evidence.append(f"{old.name} stays beside {winner.name}: {blocked}")
            elif (alias := await self._way(old, winner, ways, tried)) is not None:
                tried.aliases[old.name] = alias
        return tried

    async def _way(self, old: Tool, winner: Tool, ways: Sequence[Alias], tried: _Tried) -> Alias | None:
        """The first of `ways` by which `winner` may replace `old`; where there is none, the likeliest one says why."""
        said = len(tried.evidence)
        for alias in ways:
            if await self._stands(old, winner.runnable, alias, tried, winner.timeout_s, winner):
                del tried.evidence[said:-1]
                return alias
        del tried.evidence[said + 1 :]
        return None

    # --- what both ways stand on

    async def _stands(
        self,
        old: Tool,
        new: Runnable,
        alias: Alias,
        tried: _Tried,
        timeout_s: float | None,
        heir: Tool | None = None,
        others: Sequence[RecordedCall] = (),
        *,
        mends: bool = False,
    ) -> bool:
        """Whether `new` repeats all recorded calls of `old` and of its old names, and agrees on generated ones."""
        own, *older = self._sources(old)
        stays = f"{old.name} stays beside {new.name}"
        records = self._view.records(old.name)
        mends = mends or (heir is not None and descends(heir, old))
        bound = binding(own.records, records, self._view.content) if mends else own.records
        own, expected = (replace(own, records=tuple(r for r in bound if r.used is used)) for used in (True, False))
        with self._view.private.aside() as aside:
            led = [replace(own, alias=alias)] + [replace(s, alias=s.alias.then(alias)) for s in older if s.alias]
            first = await self._gate.repeats(new, led[:1], aside / "own", timeout_s=timeout_s)
            rest = await self._gate.repeats(new, led[1:], aside / "older", timeout_s=timeout_s)
            report = first.plus(rest)
            if not report.ok:
                tried.evidence.append(f"{stays}: {report.failures[0]}")
                return False
            confirmed = await self._gate.repeats(
                new, [replace(expected, alias=alias)], aside / "expected", timeout_s=timeout_s
            )
            if not confirmed.ok:
                kinds = {record.kind for record in expected.records}
                made = next((said for kind, said in _SAYS.items() if kind in kinds), "a writer confirmed")
                tried.evidence.append(f"{stays}, for calls that {made} and no task made: {confirmed.failures[0]}")
                return False
            if not first.replayed and not confirmed.replayed:
                why = f" ({first.why_not[0]})" if first.why_not else ""
                tried.evidence.append(f"{stays}: none of its calls can be run again{why}")
                return False
            report = report.plus(confirmed)
            versions = Versions(old, new, alias, mends)
            records = [*self._view.calls_before(old), *records]
            others = [*self._view.calls_before(heir), *self._view.records(heir.name)] if heir else others
            kept = [one.source() for one in self._view.line(old)]
            known = evidence_on(old, records, new.module.read_text("utf-8"), others, alias, kept)
            trial = await compare(versions, known, self._replayer, self._view, aside / "trial")
        if trial.against:
            tried.evidence.append(f"{stays}: on a generated call, {trial.against}")
            return False
        results = {*report.agreed, *trial.agreed}
        equal_code = bool(results) and heir is not None and plain(alias) and same_code(old.source(), heir.source())
        if not equal_code and (lacking := trial.lacking(report.agreed, mends=mends)):
            tried.evidence.append(f"{stays}: {lacking}")
            return False
        tried.evidence.append(
            f"{new.name} repeats {report.replayed} of {report.records} recorded calls of {old.name} and agrees on "
            f"{len(trial.agreed)} of {trial.told} generated ones that tell something, with {len(results)} distinct "
            f"results{'; their code is equal' if equal_code else ''}"
        )
        tried.replays += report.replayed
        tried.told += len(report.agreed) + trial.told
        tried.distinct.append(len(results))
        return True

    def _blocked(self, tools: Sequence[Tool]) -> str:
        if pinned := [tool.name for tool in tools if tool.manifest.pinned]:
            return f"{', '.join(pinned)} is pinned"
        return _writing(tools)

    def _named(self, tried: _Tried) -> Merge:
        """The merge with the name that goes on: a public one where that costs nobody who knows it anything."""
        winner, new = tried.winner, self._collected.new
        tools = self._tools(tried.aliases)
        aliases = self._with_older(tried.aliases, tools)
        name = winner.name
        if name in new:
            base = winner.called.stem
            same = [tool for tool in tools if tool.name == base and plain(tried.aliases[base])]
            name = same[0].name if same else name
        return Merge(name=name, winner=winner.name, aliases=aliases, **tried.shown)

    def _with_older(self, aliases: dict[str, Alias], tools: Sequence[Tool]) -> dict[str, Alias]:
        """`aliases`, and the older names that led to the tools which they replace."""
        older = {
            name: alias.then(aliases[tool.name]) for tool in tools for name, alias in tool.manifest.aliases.items()
        }
        return {**older, **aliases}

    def _tools(self, names: Any) -> list[Tool]:
        return [tool for name in names if (tool := self._view.get(name)) is not None]

    def _proofs(self, tool: Tool) -> list[RecordedCall]:
        """Good calls of `tool` by any of its names, that can be run again."""
        names = (tool.name, *tool.manifest.aliases)
        records = (record for name in names for record in self._view.records(name))
        return [record for record in records if record.verdict == "success" and record.replayable]

    def _sources(self, tool: Tool) -> list[Predecessor]:
        """What has to be repeated for `tool`: its good calls first, then those by its old names."""
        older = [replace(source, via=tool.name) for source in old_names(tool, self._view)]
        good = tuple(record for record in self._view.records(tool.name) if record.verdict == "success")
        return [Predecessor(tool, good), *older]


def kept_with(passed: Passed) -> dict[str, Any]:
    """The calls that are kept with what a writer made, but for those whose files are no text, and their files."""
    texts: dict[str, str] = {}
    for digest, content in {**passed.confirmed.contents, **passed.judged.contents}.items():
        with contextlib.suppress(UnicodeDecodeError):
            texts[digest] = content.decode("utf-8")
    calls = (*passed.confirmed.calls, *passed.judged.calls)
    return {"confirmed": tuple(call for call in calls if texts.keys() >= set(call.files.values())), "files": texts}


def keep_files(made: Made, view: LayeredLibrary) -> None:
    """Put the files of confirmed calls where the step finds those of recorded ones. Raises OSError."""
    view.keep({digest: text.encode("utf-8", "replace") for digest, text in made.files.items()})


def _writing(tools: Sequence[Tool]) -> str:
    """Why tools are not tried: what they might write."""
    writing = [tool.name for tool in tools if tool.effects == "writes"]
    return f"{', '.join(writing)} may write, and is not run again to see" if writing else ""


def plain(alias: Alias) -> bool:
    """Whether an alias changes nothing: calls of the old name are calls of the new tool as they stand."""
    return not (alias.arguments or alias.constants or alias.fields)


def descends(tool: Tool, from_: Tool) -> bool:
    """Whether `tool` is a better version of `from_`, made to mend what that did wrong."""
    identity = from_.manifest.identity
    known = {f"{name}@{identity}" for name in (from_.name, from_.manifest.name, from_.origin.asked_name)}
    same_stem = tool.called.stem == from_.called.stem
    made_from = {parent.rsplit("@", 1)[-1] for parent in tool.origin.parents}
    return bool(known & set(tool.origin.parents)) or (same_stem and identity in made_from)
