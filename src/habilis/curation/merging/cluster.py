"""Which tools of a step do the same: equal code first, then near neighbours and a model over these, or rules without.

What a model says is checked: a tool that it leaves out stands alone, a name that it invents is dropped, one that it
names twice goes to the first cluster. It is asked only about new tools and their neighbours, so that a step costs calls
in proportion to what is new, never to the size of the library.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from habilis.contract.aliases import kinds, signature
from habilis.core.errors import Interrupted, ModelReplyUnusable, PlaceError
from habilis.core.types import ToolCard
from habilis.curation.merging.collect import Collected, stem
from habilis.judging import Case, JudgeTrial, standing_of
from habilis.judging.planted_cases import TOOLS, TWINS
from habilis.library import Tool
from habilis.library.catalogue import Listed
from habilis.library.retrieval import BM25Retriever

if TYPE_CHECKING:
    from habilis.models.chat import Models
    from habilis.prompts import Prompts

NEIGHBOURS = 5
"""Near neighbours of one new tool that a model is asked about."""
ASKED_AT_ONCE = 30
_HASHED = re.compile(r"tool_[0-9a-f]{8}(_v\d{2,})?")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


class ClusterReply(BaseModel):
    tools: list[str] = Field(max_length=64, description="names, copied letter by letter")


class ClustersReply(BaseModel):
    clusters: list[ClusterReply] = Field(max_length=128)


def _joins(reply: ClustersReply, case: Case) -> bool:
    """Whether a reply puts both tools of a planted pair into one cluster."""
    one, other = case.shown["pair"]
    return any(one in group and other in group for group in checked(reply, [row["name"] for row in TOOLS]))


TWIN = JudgeTrial("cluster", ClustersReply, TWINS, _joins)
Ask = Callable[[Sequence[Mapping[str, str]]], Awaitable[ClustersReply]]
"""Asks the model about tools as the prompt `cluster` shows them."""


def asking(models: Callable[[], Models], prompts: Prompts) -> Ask:
    """Asks the model that `models` gives, if planted pairs show that its word tells twins apart."""

    async def ask(rows: Sequence[Mapping[str, str]]) -> ClustersReply:
        prompt = prompts.render("cluster", tools=list(rows))
        messages = prompt.messages()
        standing = await standing_of(TWIN, models(), prompts)
        if not standing.tells:
            raise ModelReplyUnusable(f"{standing.model} {standing.said}")
        label = "cluster tools"
        return await models().structured(prompt.role, messages, ClustersReply, purpose="review", label=label)

    return ask


@dataclass(frozen=True)
class Clusters:
    """Groups of at least two tools, each with a new one in it, and what is to be said about how they were found."""

    groups: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def without(self, names: Collection[str], new: Collection[str]) -> Clusters:
        """The same without `names`: what then is no group, or has none of the `new` tools, is none any more."""
        left = (tuple(name for name in group if name not in names) for group in self.groups)
        groups = (group for group in left if len(group) > 1 and any(name in new for name in group))
        return Clusters(tuple(groups), self.notes)


async def cluster(collected: Collected, ask: Ask | None, *, left_out: Collection[str] = ()) -> Clusters:
    """The groups of tools that are to be tried as one, without those of `left_out`.

    Never raises for what the model says or fails to say; OSError when what it said cannot be kept.
    """
    pairs = _Pairs(collected, left_out)
    joined = Joined()
    for one, other in pairs.sure:
        joined.join(one, other)
    notes: list[str] = []
    if ask is None:
        for one, other in pairs.by_stem:
            joined.join(one, other)
    else:
        for names in _batches(pairs, joined):
            tools = {name: tool for name in names if (tool := collected.view.get(name)) is not None}
            try:
                reply = await ask([_row(tools[name]) for name in sorted(tools)])
            except (OSError, Interrupted, PlaceError):  # the step is to be called again, not to go on with less
                raise
            except Exception as error:  # whatever fails here, no tool may be lost for it: names decide instead
                notes.append(f"clustering by name: {' '.join(str(error).split()) or type(error).__name__}")
                for one, other in pairs.by_stem:
                    if one in tools and other in tools:
                        joined.join(one, other)
                continue
            for group in checked(reply, sorted(tools)):
                for other in group[1:]:
                    joined.join(group[0], other)
    groups = (tuple(sorted(group)) for group in joined.groups() if any(name in collected.new for name in group))
    return Clusters(tuple(sorted(groups)), tuple(notes))


def checked(reply: ClustersReply, names: Sequence[str]) -> list[list[str]]:
    """The reply's clusters made sound: every one of `names` in exactly one of them, nothing else in any."""
    left = dict.fromkeys(names)
    found: list[list[str]] = []
    for said in reply.clusters:
        group = [name for name in dict.fromkeys(said.tools) if name in left]
        for name in group:
            del left[name]
        if group:
            found.append(group)
    return found + [[name] for name in left]


class Joined:
    """Names joined into groups, pair by pair (union–find)."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}

    def top(self, name: str) -> str:
        while (above := self._above.setdefault(name, name)) != name:
            name = above
        return name

    def join(self, one: str, other: str) -> None:
        first, second = sorted((self.top(one), self.top(other)))
        self._above[second] = first

    def groups(self) -> list[list[str]]:
        found: dict[str, list[str]] = {}
        for name in sorted(self._above):
            found.setdefault(self.top(name), []).append(name)
        return [group for group in found.values() if len(group) > 1]


class _Pairs:
    """Pairs of a new tool and another: surely one group by their code or their names, maybe by their neighbourhood."""

    def __init__(self, collected: Collected, left_out: Collection[str]) -> None:
        new = [name for name in collected.new if name not in left_out]
        listed = {name: one for name, one in collected.catalogue.tools.items() if name not in left_out}
        index = collected.catalogue.index() if new else BM25Retriever()
        for name in left_out:
            index.remove(name)
        for name in new:
            if (tool := collected.staging.get(name)) is not None:
                listed[name] = Listed(
                    name,
                    tool.card,
                    tool.version,
                    our_suffix=tool.origin.our_suffix,
                    likeness=tool.manifest.likeness,
                )
                index.add(tool.card)
        usable = {name: one for name, one in listed.items() if not one.problem}
        alike = _by(usable.values(), lambda one: one.likeness)
        stems, tokens = _by(usable.values(), _stem_key), _by(usable.values(), _token_key)
        self.sure: list[tuple[str, str]] = []
        self.by_stem: list[tuple[str, str]] = []
        self.near: dict[str, list[str]] = {}
        for name in new:
            if name not in usable:
                continue
            one = usable[name]
            equal = [other for other in alike.get(one.likeness, ())[:2] if other != name]
            permuted = [other for other in tokens.get(_token_key(one), ()) if other != name]
            same_stem = [other for other in stems.get(_stem_key(one), ()) if other != name]
            found = index.search(_query(one.card), NEIGHBOURS + 1)
            near = [card.name for card in found if card.name != name][:NEIGHBOURS]
            self.sure += [(name, other) for other in equal]
            self.sure += [(name, other) for other in permuted if _stem_key(usable[other]) != _stem_key(one)]
            self.by_stem += [(name, other) for other in same_stem]
            self.near[name] = list(dict.fromkeys([*equal, *permuted, *same_stem, *near]))


def _query(card: ToolCard) -> str:
    return " ".join((card.name, card.description, *card.parameters))


def _by(listed: Iterable[Listed], key: Callable[[Listed], str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in listed:
        if word := key(one):
            found.setdefault(word, []).append(one.name)
    return found


def _stem_key(listed: Listed) -> str:
    """The name without our suffix; nothing for a name that is but a hash, which says nothing of the tool."""
    return "" if _HASHED.fullmatch(listed.name) else stem(listed.name, listed.our_suffix)


def _token_key(listed: Listed) -> str:
    return "" if _HASHED.fullmatch(listed.name) else _words(stem(listed.name, listed.our_suffix))


def _words(name: str) -> str:
    """The words of a name in alphabetical order: the same for `average_column` and `column_average`."""
    return " ".join(sorted(word.lower() for word in _WORD.findall(name)))


def same_words(names: Iterable[str]) -> bool:
    """Whether names differ in nothing but the order of their words and the numbers of their versions."""
    return len({_words(stem(name, our_suffix=True)) for name in names}) == 1


def _batches(pairs: _Pairs, joined: Joined) -> list[list[str]]:
    """What to ask about, one list of names per call: neighbourhoods that hang together, small ones side by side.

    There are never more calls than new tools. Neighbourhoods that are settled already are not asked about.
    """
    linked = Joined()
    for name, near in pairs.near.items():
        for other in near:
            linked.join(name, other)
    found: list[list[str]] = []
    for group in linked.groups():
        if len({joined.top(name) for name in group}) == 1:
            continue
        new = [name for name in group if name in pairs.near]
        parts = [group] if len(group) <= ASKED_AT_ONCE else [sorted({name, *pairs.near[name]}) for name in new]
        for part in parts:
            if found and len({*found[-1], *part}) <= ASKED_AT_ONCE:
                found[-1] = sorted({*found[-1], *part})
            else:
                found.append(part)
    return found


def _row(tool: Tool) -> dict[str, str]:
    """A tool as the prompt shows it."""
    results = ", ".join(f"{name}: {kind}" for name, kind in kinds(tool.output_schema).items() if name != "error")
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": signature(tool.input_schema),
        "result": results or "none",
    }
