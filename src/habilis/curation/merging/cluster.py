"""Which tools of a step do the same: equal code first, then rules, then a model about what these leave open.

Rules join two tools or part them (`synthesis/sameness.py`); the most alike of the other pairs go to a model in one
question a step. What it does not call the same stays apart, and so does everything when it cannot be asked. It is asked
only about new tools and their neighbours: a step costs at most one question, whatever the size of the library.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field

from habilis.contract.aliases import kinds, signature
from habilis.contract.names import ToolName
from habilis.core.errors import Interrupted, ModelReplyUnusable, PlaceError
from habilis.core.types import ToolRequest
from habilis.curation.merging.collect import Collected
from habilis.judging import Case, JudgeTrial, standing_of
from habilis.judging.planted_cases import TWINS
from habilis.library import Tool
from habilis.library.catalogue import Listed
from habilis.library.reading import without_collecting
from habilis.library.retrieval import BM25Retriever
from habilis.synthesis.sameness import RequestWords, asked, likeness, relation

if TYPE_CHECKING:
    from habilis.models.chat import Models
    from habilis.prompts import Prompts

NEIGHBOURS = 5
"""Tools of the library nearest to a new one, by what it does and with its name, that it is compared with."""
MOST_ASKED = 24
"""Pairs in the one question of a step."""
_HASHED = re.compile(r"tool_[0-9a-f]{8}(_v\d{2,})?")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
Pair = tuple[str, str]
"""Names of two tools, in alphabetical order."""


class PairReply(BaseModel):
    """The reason stands first: a model that says why before it decides contradicts itself less."""

    one: str = Field(max_length=120, description="names, copied letter by letter")
    other: str = Field(max_length=120)
    reason: str = Field(max_length=300)
    word: Literal["same", "different", "unsure"]


class PairsReply(BaseModel):
    pairs: list[PairReply] = Field(max_length=64)


def word_on(reply: PairsReply, pair: Sequence[str]) -> str | None:
    """What a reply says of two tools: None where it says nothing, or more than one thing."""
    words = {row.word for row in reply.pairs if {row.one, row.other} == set(pair)}
    return words.pop() if len(words) == 1 else None


def _joins(reply: PairsReply, case: Case) -> bool | None:
    word = word_on(reply, (case.shown["one"], case.shown["other"]))
    return None if word is None else word == "same"


TWIN = JudgeTrial("cluster", PairsReply, TWINS, _joins)
Ask = Callable[[Sequence[Mapping[str, str]], Sequence[Pair]], Awaitable[PairsReply]]
"""Asks the model about pairs of tools, which the prompt `cluster` shows it."""


def asking(models: Callable[[], Models], prompts: Prompts) -> Ask:
    """Asks the model that `models` gives, if planted pairs show that its word tells twins apart."""

    async def ask(rows: Sequence[Mapping[str, str]], pairs: Sequence[Pair]) -> PairsReply:
        prompt = prompts.render(
            "cluster", tools=list(rows), pairs=[{"one": one, "other": other} for one, other in pairs]
        )
        messages = prompt.messages()
        standing = await standing_of(TWIN, models(), prompts)
        if not standing.tells:
            raise ModelReplyUnusable(f"{standing.model} {standing.said}")
        label = "pairs of tools"
        return await models().structured(prompt.role, messages, PairsReply, purpose="review", label=label)

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
    with without_collecting():
        found = _Compared(collected, left_out)
    joined = Joined(found.apart)
    for pair in found.same:
        joined.join(*pair)
    notes: list[str] = []
    left = [pair for pair in found.open if joined.top(pair[0]) != joined.top(pair[1])][:MOST_ASKED]
    if ask is not None and left:
        try:
            reply = await ask([_row(found.tools[name]) for name in sorted({*sum(left, ())})], left)
        except (OSError, Interrupted, PlaceError):  # the step is to be called again, not to go on with less
            raise
        except Exception as error:  # whatever fails here, no tool may be lost for it
            notes.append(f"what rules leave open stays apart: {' '.join(str(error).split()) or type(error).__name__}")
        else:
            joined.apart |= {pair for pair in left if word_on(reply, pair) == "different"}
            for pair in left:
                if word_on(reply, pair) == "same":
                    joined.join(*pair)
    groups = (tuple(sorted(group)) for group in joined.groups() if any(name in collected.new for name in group))
    return Clusters(tuple(sorted(groups)), tuple(notes))


class Joined:
    """Names joined into groups, pair by pair (union–find); no group comes to hold two that are `apart`."""

    def __init__(self, apart: Iterable[Pair] = ()) -> None:
        self._above: dict[str, str] = {}
        self.apart = set(apart)

    def top(self, name: str) -> str:
        while (above := self._above.setdefault(name, name)) != name:
            name = above
        return name

    def join(self, one: str, other: str) -> None:
        first, second = sorted((self.top(one), self.top(other)))
        if not any({self.top(name) for name in pair} == {first, second} for pair in self.apart):
            self._above[second] = first

    def groups(self) -> list[list[str]]:
        found: dict[str, list[str]] = {}
        for name in sorted(self._above):
            found.setdefault(self.top(name), []).append(name)
        return [group for group in found.values() if len(group) > 1]


class _Compared:
    """Pairs with a new tool in each: of the `same` job as far as rules tell, `apart`, or `open`, the most alike first.

    Equal code, and one name but for our suffix, are tried as one whatever else they say.
    """

    def __init__(self, collected: Collected, left_out: Collection[str]) -> None:
        new = [name for name in collected.new if name not in left_out]
        listed = {name: one for name, one in collected.catalogue.tools.items() if name not in left_out}
        index = collected.catalogue.index() if new else BM25Retriever()
        for name in {*left_out, *new}:  # new ones are compared with each other anyway, and would hide what is known
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
        usable = {name: one for name, one in listed.items() if not one.problem}
        new = [name for name in new if name in usable]
        stem_of = {name: _stem(one) for name, one in usable.items()}
        words_of = {name: _words(stem) for name, stem in stem_of.items()}
        alike = _by({name: one.likeness for name, one in usable.items()})
        stems, tokens = _by(stem_of), _by(words_of)
        sure: set[Pair] = set()
        named: set[Pair] = set()
        near = {_pair(*pair) for pair in combinations(new, 2)}
        for name in new:
            listing = usable[name]
            equal = alike.get(listing.likeness, ())[:2]
            sure |= {_pair(name, other) for other in (*equal, *stems.get(stem_of[name], ())) if other != name}
            named |= {_pair(name, other) for other in tokens.get(words_of[name], ()) if other != name}
            said = " ".join((listing.card.description, *listing.card.parameters))
            for query in (said, f"{listing.card.name} {said}"):  # names may share a rare word that tells nothing
                near |= {_pair(name, card.name) for card in index.search(query, NEIGHBOURS)}
        self.same, self.apart = sorted(sure), set[Pair]()
        self.tools: dict[str, Tool] = {}
        left = []
        told_of = {name: told for name in sorted({*sum(near | named, ())}) if (told := self._told(collected, name))}
        for pair in sorted((near | named) - sure):
            if not told_of.keys() >= {*pair}:
                continue
            one, other = (told_of[name] for name in pair)
            word = relation(one, other)
            if word == "different":
                self.apart.add(pair)
            elif word == "same" or pair in named:
                self.same.append(pair)
            else:
                left.append((-likeness(one, other), pair))
        self.open = [pair for _, pair in sorted(left)]

    def _told(self, collected: Collected, name: str) -> RequestWords | None:
        """What the tool of this name was made for, as far as it tells."""
        if (tool := collected.view.get(name)) is None:
            return None
        self.tools[name] = tool
        words = {"name": tool.called.stem, "description": tool.description}
        return asked(ToolRequest(**words, input_schema=tool.input_schema, output_schema=tool.output_schema))


def _pair(one: str, other: str) -> Pair:
    return (one, other) if one < other else (other, one)


def _by(keys: Mapping[str, str]) -> dict[str, list[str]]:
    """The names of each key; those of an empty one are left out."""
    found: dict[str, list[str]] = {}
    for name, key in keys.items():
        if key:
            found.setdefault(key, []).append(name)
    return found


def _stem(listed: Listed) -> str:
    """The name without our suffix; nothing for a name that is but a hash, which says nothing of the tool."""
    return "" if _HASHED.fullmatch(listed.name) else listed.called.stem


@lru_cache(maxsize=50_000)
def _words(name: str) -> str:
    """The words of a name in alphabetical order: the same for `average_column` and `column_average`."""
    return " ".join(sorted(map(str.lower, _WORD.findall(name))))


def same_words(names: Iterable[str]) -> bool:
    """Whether names differ in nothing but the order of their words and the numbers of their versions."""
    return len({_words(ToolName(name, our_suffix=True).stem) for name in names}) == 1


def _row(tool: Tool) -> dict[str, str]:
    """A tool as the prompt shows it."""
    results = ", ".join(f"{name}: {kind}" for name, kind in kinds(tool.output_schema).items() if name != "error")
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": signature(tool.input_schema),
        "result": results or "none",
    }
