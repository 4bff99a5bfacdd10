"""How much a tool has to do with a question: told by the two alone, whatever else a library holds.

A score ranks; it cannot say that nothing fits, since the best of a bad lot is the best all the same. The measure here
can: 0 is nothing in common. It never looks at other tools, so that adding some hides none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from habilis.core.types import ToolCard
from habilis.library.retrieval.contrasts import SPOKEN, Operations, excluded, headline, operations, shared
from habilis.library.retrieval.quantities import quantities, yields
from habilis.library.retrieval.subjects import subjects
from habilis.library.retrieval.terms import (
    common_terms,
    faint_terms,
    parts,
    shared_beginning,
    stem,
    terms,
    without_values,
)
from habilis.library.retrieval.thesaurus import conversion, neighbours
from habilis.library.retrieval.tongues import comparable, language

FLOOR = 0.13
"""Tools below are not shown. Chosen on the half of the public tool sets' questions that `benchmarks/retrieval.py` does
not set aside: recall@5 there falls from .791 to .784, and 46 % of the tools that are foreign to a question go."""
ALIKE_FLOOR = 0.28
"""Cosine from which a tool is shown whatever words it shares; chosen as `FLOOR` was, with static word vectors."""
NO_VECTORS: Mapping[str, float] = MappingProxyType({})
_FAINT, _COMMON = 0.1, 0.4
"""Weights of terms that say little, beside 1 for others; a number says nothing: it is an argument."""
_ESSENCE, _REST, _EXPLAINED = 1.0, 0.6, 0.4
"""Weights of where a tool says a term: in its name or first sentence, further on, of a parameter."""
_NEIGHBOUR, _KIN, _KIN_PREFIX, _KIN_SHARE = 0.4, 0.5, 4, 0.6
_DEED, _COUNTING, _QUANTITY = 1.0, 0.2, 1.0
"""What it weighs that both name an operation, in whatever words, or that the tool gives the quantity which is asked for
in others; "how many" is asked of anything."""
_LEAST, _ENOUGH = 0.3, 3.0
"""Common weight: below the first nothing is shared, from the second on as much as can be asked for."""
_SENTENCE = re.compile(r"(?<=[.!?])\s|[。！？\n]")
_TOKEN = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_SUM = re.compile(r"\d ?[-+*/×÷^%] ?\d")
"""What says enough without a word."""
_GRAMMAR = re.compile(r"[\u3040-\u309f的是了在有和与及请把为哪多少几个什么中里]")
"""Letters of words that carry the grammar, in scripts that are read by pairs."""


@dataclass(frozen=True)
class Relevance:
    """What a question and a tool have in common, 0 to 1. `against` says how the operations differ.

    `untold`: a low `share` tells nothing, since the two are written in languages that share no words, or the question
    says nothing by itself.
    """

    share: float
    against: str = ""
    untold: bool = False

    @property
    def fits(self) -> bool:
        """Whether the tool can be of use, as far as words tell."""
        return not self.against and (self.untold or self.share >= FLOOR)


class Inquiry:
    """A question, read once, to hold tools against."""

    def __init__(self, question: str) -> None:
        plain = without_values(question, endings=True)
        self.terms = _content(question) | conversion(frozenset(terms(plain)))
        self._wishes = [wish for wish in [self.terms, *parts(plain)] if _weigh(wish)]
        self._near: dict[str, set[str]] = {}
        for term in self.terms:
            for other in neighbours().get(term, frozenset()) | subjects().get(term, frozenset()):
                self._near.setdefault(other, set()).add(term)
        self._kin: dict[str, list[str]] = {}
        for term in sorted(self.terms):
            if len(term) > _KIN_PREFIX:
                self._kin.setdefault(term[:_KIN_PREFIX], []).append(term)
        self.operations, self.language = operations(question), language(plain)
        self.quantities = quantities(question)
        says = self.operations or self.quantities.asked or _weigh(self.terms) >= _LEAST or _SUM.search(question)
        self._mute = not says

    def of(self, card: ToolCard) -> Relevance:
        """How much `card` has to do with the question. A question like one that it answered counts for it."""
        held = _held(card)
        unlike = not comparable(self.language, held.language)
        share = max([self._share(held), *(_likeness(self.terms, _content(past)) for past in card.answered)])
        return Relevance(round(share, 4), self._against(held, unlike=unlike), unlike or self._mute)

    def _against(self, held: _Held, *, unlike: bool) -> str:
        """Which operation was asked for, and which one the tool does instead."""
        if differ := excluded(self.operations, held.operations, held.named):
            return f"{differ[0]}, not {differ[1]}"
        deeds = held.named.get("deed")
        if unlike and deeds and not self.operations and self.language in SPOKEN:
            return f"no {min(deeds)}"  # a word for it would have been known
        return ""

    def _share(self, held: _Held) -> float:
        """Three things in one: what of the question is met, what of the tool is meant, and how much both say."""
        met = self.met(held.terms)
        both = shared(self.operations, held.operations)
        named = 0.0 if self.terms & held.yields else _QUANTITY * bool(self.quantities.asked & held.yields)
        deed = max((_COUNTING if both == {"count"} else _DEED) if both else 0.0, named)
        common = sum(_weight(term) * part for term, part in met.items()) + deed
        if common < _LEAST:
            return 0.0
        covered = max((self._covered(wish, met, deed) for wish in self._wishes), default=0.0)
        said = sum(_weight(term) * self._said(term) for term in held.essence)
        meant = (said + deed) / (_weigh(held.essence) + deed or 1.0)
        return (3 * covered + meant + 3 * min(common / _ENOUGH, 1.0)) / 7

    def _covered(self, wish: Iterable[str], met: Mapping[str, float], deed: float) -> float:
        """The share of a wish that the tool says."""
        found = sum(_weight(term) * met.get(term, 0.0) for term in wish)
        return (found + deed) / (_weigh(wish) + deed)

    def _said(self, term: str) -> float:
        """How plainly the question says a term of the tool, 0 to 1."""
        return 1.0 if term in self.terms else _NEIGHBOUR if term in self._near else 0.0

    def met(self, held: Mapping[str, float]) -> dict[str, float]:
        """Which terms of the question the tool says, and how plainly, 0 to 1."""
        met: dict[str, float] = {}
        for term, part in held.items():
            if term in self.terms:
                met[term] = max(met.get(term, 0.0), part)
                continue
            for asked in self._near.get(term, ()):
                met[asked] = max(met.get(asked, 0.0), _NEIGHBOUR * part)
            for asked in self._kin.get(term[:_KIN_PREFIX], ()):
                if (alike := shared_beginning(term, asked) / max(len(term), len(asked))) >= _KIN_SHARE:
                    met[asked] = max(met.get(asked, 0.0), _KIN * part * alike)
        return met


@lru_cache(maxsize=256)
def _inquiry(question: str) -> Inquiry:
    return Inquiry(question)


@dataclass(frozen=True)
class _Held:
    """What a tool says of itself: its terms with their weights, those that say what it is for, what it does."""

    terms: Mapping[str, float]
    essence: frozenset[str]
    operations: Operations
    named: Operations
    language: str
    yields: frozenset[str]


@lru_cache(maxsize=20_000)
def _held(card: ToolCard) -> _Held:
    essence = frozenset(terms(f"{card.name} {_SENTENCE.split(card.description, maxsplit=1)[0]}"))
    held = dict.fromkeys(terms(" ".join(card.explained)), _EXPLAINED)
    held |= dict.fromkeys(terms(f"{card.description} {' '.join(card.parameters)}"), _REST)
    return _Held(
        held | dict.fromkeys(essence, _ESSENCE),
        essence,
        operations(f"{card.name}\n{card.description}"),
        operations(headline(card.name, card.description)),
        language(f"{card.name} {card.description}"),
        yields(card.name, card.description),
    )


def fitting(query: str, cards: Iterable[ToolCard], alike: Mapping[str, float] = NO_VECTORS) -> list[ToolCard]:
    """Those of `cards` that have enough to do with `query`, by words or, where `alike` says it, by meaning."""
    asked = _inquiry(query)
    found = ((card, asked.of(card)) for card in cards)
    return [
        card for card, told in found if told.fits or (not told.against and alike.get(card.name, 0.0) >= ALIKE_FLOOR)
    ]


def other_operation(card: ToolCard, word: str) -> str:
    """Which operation `word` names, and which one the tool does instead; empty where neither excludes the other."""
    held = _held(card)
    differ = excluded(operations(word), held.operations, held.named)
    return f"{differ[0]}, not {differ[1]}" if differ else ""


def shares_nothing(question: str, word: str) -> bool:
    """Whether `word`, said of a question, has surely nothing in common with it: both are of one language, and the word
    says more than one thing."""
    asked, said = _inquiry(question), Inquiry(word)
    one_language = said.language == asked.language or (not said.language and asked.language == "English")
    if not one_language or shared(asked.operations, said.operations):
        return False
    words = frozenset(term for term in terms(word) if term not in faint_terms())
    return len(words) > 1 and not words & frozenset(terms(question)) and not asked.met(dict.fromkeys(words, 1.0))


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """How much of two questions is the same, 0 to 1."""
    return _weigh(one & other) / (_weigh(one | other) or 1.0)


@lru_cache(maxsize=5_000)
def _content(question: str) -> frozenset[str]:
    """The terms of a question without those of its values, the endings of files among them: any tool that reads such a
    file names them."""
    return frozenset(terms(without_values(question, endings=True)))


def _weigh(some: Iterable[str]) -> float:
    return sum(map(_weight, some))


@lru_cache(maxsize=100_000)
def _weight(term: str) -> float:
    """How much it says that a question and a tool share `term`, whatever a library holds besides."""
    if term.isdecimal():
        return 0.0
    if term in faint_terms() or _GRAMMAR.search(term) or (len(term) == 1 and term.isascii()):
        return _FAINT
    return _COMMON if term in common_terms() else 1.0


def same_but_values(question: str, other: str) -> bool:
    """Whether two questions say the same words in the same order: they differ in numbers, dates, quoted texts and files
    at most."""
    return _wording(question) == _wording(other)


def _wording(question: str) -> list[str]:
    tokens: list[str] = _TOKEN.findall(without_values(question, endings=True).casefold())
    return [token for token in tokens if any(map(str.isalpha, token))]


def unsaid(question: str, said: str, counted: str = "") -> frozenset[str]:
    """Terms of `question` that `said` says in no way: not itself, not by a neighbour, not by what it does.

    Common words are passed over, but for those in `counted`.
    """
    asked, done = _inquiry(question), operations(said)
    met = asked.met(dict.fromkeys([*terms(said), *conversion(frozenset(terms(said)))], 1.0))
    deeds = {stem(word) for word in re.findall(r"\w+", question.casefold()) if shared(operations(word), done)}
    telling = frozenset(terms(counted)) - faint_terms()
    open_terms = (asked.terms - deeds) | (telling & asked.terms)
    return frozenset(term for term in open_terms if not met.get(term) and (_weight(term) >= 1.0 or term in telling))
