"""An index over tool cards: fielded BM25, with the relatives of words and with each wish of a question by itself.

Scores follow BM25F (Robertson, Zaragoza, Taylor: Simple BM25 extension to multiple weighted fields, CIKM 2004), with
one change: a field's length is measured against a fixed usual length, not the index's average. So a card's part of a
score depends on the card alone, adding one touches no other, and an index that grew equals one that was built at once.
"""

from __future__ import annotations

import hashlib
import heapq
import json
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from habilis.core.types import ToolCard
from habilis.library.retrieval.formula import Field, impacts_of, rarity
from habilis.library.retrieval.saved import Columns, Header, read, write
from habilis.library.retrieval.terms import faint_terms, parts, shared_beginning, terms
from habilis.library.retrieval.thesaurus import neighbours
from habilis.library.retrieval.vectors import ALIKE, Likeness, Meaning

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Posting = tuple[NDArray[np.int32], NDArray[np.float32]]

FIELDS = ("name", "description", "parameters", "what is said of parameters", "past questions")
_WEIGHTS = (2.0, 1.0, 0.5, 0.4, 0.2)
"""Of the fields: name, description, names of parameters, their descriptions, questions that the tool answered."""
_LENGTHS = (3.0, 10.0, 4.0, 16.0, 12.0)
"""Usual lengths of the fields, in terms."""
_B = (0.2, 0.6, 0.5, 0.75, 1.0)
_FIELDS = tuple(Field(*one) for one in zip(_WEIGHTS, _LENGTHS, _B, strict=True))
_K1 = 1.0
_FAINT = 0.7
_NEIGHBOUR = 0.25
_KIN, _KIN_PREFIX, _KIN_SHARE = 0.4, 4, 0.6
"""Weight of a word with the same beginning, of at least so many letters and this share of the longer one."""
_PARTS = 0.6
_NAMED, _NAMED_AMONG = 0.2, 50
"""Weight of how much of a tool's name the query says, looked at among so many of the best."""
_UNKNOWN_RARITY = 9.0
_PARAMETERS = json.dumps([_WEIGHTS, _LENGTHS, _B, _K1])
"""What impacts were computed with: a saved index of others is of no use."""


@dataclass(frozen=True)
class Met:
    """A term of a query, the term of a card that it met, its share of the score, and the card's fields that hold it."""

    asked: str
    met: str
    share: float
    fields: tuple[str, ...]


@dataclass(frozen=True)
class Why:
    """Why a tool was found: what of the query met what of its card, the largest share first."""

    name: str
    score: float
    terms: tuple[Met, ...]


class BM25Retriever:
    """An index over tool cards that can be added to and taken from."""

    def __init__(self, cards: Iterable[ToolCard] = (), *, vectors: Meaning | None = None) -> None:
        """With `vectors`, what a card means counts beside the words that it shares with a query."""
        self._likeness = Likeness(vectors) if vectors else None
        self._state = 0
        self._clear()
        for card in cards:
            self.add(card)

    @property
    def made_anew(self) -> int:
        """How many cards came in one by one, not out of a saved index."""
        return len(self._names) - (len(self._saved.header.names) if self._saved else 0)

    def __len__(self) -> int:
        return len(self._cards)

    def copy(self) -> BM25Retriever:
        """An index of the same cards, which changes by itself."""
        other = BM25Retriever()
        other._cards, other._places, other._names = dict(self._cards), dict(self._places), list(self._names)
        other._dead, other._saved, other._counts = set(self._dead), self._saved, dict(self._counts)
        other._new = {term: (places[:], impacts[:]) for term, (places, impacts) in self._new.items()}
        other._beginnings = {start: list(found) for start, found in self._beginnings.items()}
        return other

    def add(self, card: ToolCard) -> None:
        """Put `card` into the index, in the place of one of the same name."""
        if self._cards.get(card.name) == card:
            return
        self.remove(card.name)
        self._state += 1
        place = len(self._names)
        self._names.append(card.name)
        self._places[card.name], self._cards[card.name] = place, card
        for term, impact in _impacts(card).items():
            places, impacts = self._new.setdefault(term, (array("i"), array("f")))
            places.append(place)
            impacts.append(impact)
            self._count(term, 1)

    def remove(self, name: str) -> None:
        """Take the card called `name` out of the index; nothing happens when it is not there."""
        card = self._cards.pop(name, None)
        if card is None:
            return
        self._state += 1
        self._dead.add(self._places.pop(name))
        for term in _impacts(card):
            self._count(term, -1)
        if len(self._dead) > 100 + len(self._cards):
            self._compact()

    def use(self, vectors: Meaning | None, kept: Path | None = None) -> None:
        """Search with `vectors` from now on, or without; `kept` is a folder that remembers those of known cards."""
        if vectors is None or self._likeness is None or self._likeness.vectors is not vectors:
            self._likeness = Likeness(vectors, kept) if vectors else None

    def follow(self, cards: Iterable[ToolCard]) -> None:
        """Make the index hold exactly `cards`; costs only what differs."""
        wanted = {card.name: card for card in cards}
        for name in self._cards.keys() - wanted.keys():
            self.remove(name)
        for card in wanted.values():
            self.add(card)

    def search(self, query: str, k: int) -> list[ToolCard]:
        """The at most `k` cards nearest to `query`, best first; cards that share no word with it are left out."""
        return [self._cards[name] for name, _ in self.scored(query, k)]

    def scored(self, query: str, k: int) -> list[tuple[str, float]]:
        """Names of the at most `k` cards nearest to `query` with their scores, 0 to about 2, best first."""
        asked = frozenset(terms(query))
        if k <= 0 or not self._cards or not (asked or self._likeness):
            return []
        import numpy as np

        scores = self._all(query, asked)
        among = min(len(scores), max(_NAMED_AMONG, k))
        least = np.partition(scores, len(scores) - among)[len(scores) - among]
        found = {int(place): float(scores[place]) for place in np.nonzero(scores >= max(least, 1e-12))[0]}
        for place in found:
            found[place] += _NAMED * self._said_of_name(self._names[place], asked)
        best = heapq.nsmallest(k, found, key=lambda place: (-found[place], self._names[place]))
        return [(self._names[place], found[place]) for place in best]

    def alike(self, query: str) -> dict[str, float]:
        """How like `query` each card is in meaning, by name, 0 to 1; empty without vectors."""
        if not self._likeness:
            return {}
        scores = self._likeness.scores(query, self._names, self._cards, self._dead, self._state)
        return {name: float(scores[place]) for name, place in self._places.items()}

    def near(self, name: str, k: int) -> list[tuple[str, float]]:
        """The at most `k` other cards most like the one called `name`, with their likeness: the share of its own terms,
        weighted, that they hold as well. By equal terms alone, so that all tools of a library can be gone through.

        Raises KeyError when it is not in the index.
        """
        import numpy as np

        place, scores = self._places[name], np.zeros(len(self._names))
        for term, impact in _impacts(self._cards[name]).items():
            weight = impact * (self._rarity(term) or 0.0)
            for places, impacts in self._postings(term):
                scores[places] += weight * impacts
        own = scores[place]
        scores[place] = 0.0
        scores[list(self._dead)] = 0.0
        best = np.argpartition(scores, -min(k, len(scores)))[-min(k, len(scores)) :]
        found = [(self._names[i], min(1.0, float(scores[i] / own))) for i in best if scores[i] > 0]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))

    def why(self, query: str, name: str) -> Why:
        """Which words of `query` speak for the tool called `name`. Raises KeyError when it is not in the index."""
        place = self._places[name]
        asked = frozenset(terms(query))
        score = float(self._all(query, asked)[place]) + _NAMED * self._said_of_name(name, asked)
        shares = []
        for term in sorted(asked):
            for met, weight in self._relatives(term, asked):
                impact = sum(float(v[p == place].sum()) for p, v in self._postings(met))
                if impact:
                    fields = tuple(field for field, held in _held(self._cards[name]).items() if met in held)
                    shares.append(Met(term, met, weight * impact, fields))
        return Why(name, score, tuple(sorted(shares, key=lambda met: -met.share)))

    # --- scores --------------------------------------------------------------------------------------------------

    def _all(self, query: str, asked: frozenset[str]) -> Floats:
        """Scores by place, without what a tool's name adds."""
        scores = self._scores(asked, query)
        if self._likeness:
            alike = self._likeness.scores(query, self._names, self._cards, self._dead, self._state)
            scores += ALIKE * _share_of_highest(alike)
        return scores

    def _scores(self, asked: frozenset[str], query: str) -> Floats:
        """Scores by place: of the whole query, and the best of any of its wishes, each as a share of its highest."""
        found = {term: list(self._met(term, asked)) for term in sorted(asked)}
        scores = _share_of_highest(self._sum(found, asked))
        wishes = [part for part in parts(query) if part != asked]
        if len(wishes) > 1:
            import numpy as np

            best = np.zeros(len(self._names))
            for wish in wishes:
                best = np.maximum(best, _share_of_highest(self._sum(found, wish)))
            scores += _PARTS * best
        return scores

    def _sum(self, found: Mapping[str, list[tuple[Posting, float]]], asked: frozenset[str]) -> Floats:
        import numpy as np

        scores = np.zeros(len(self._names))
        for term in sorted(asked):
            for (places, impacts), weight in found.get(term, ()):
                scores[places] += weight * impacts
        scores[list(self._dead)] = 0.0
        return scores

    def _met(self, term: str, asked: frozenset[str]) -> Iterator[tuple[Posting, float]]:
        for met, weight in self._relatives(term, asked):
            for posting in self._postings(met):
                yield posting, weight

    def _relatives(self, term: str, asked: frozenset[str]) -> Iterator[tuple[str, float]]:
        """The terms of the index that `term` of a query meets, with their weights: itself, kin, neighbours."""
        rarity = self._rarity(term)
        if rarity is not None:
            yield term, rarity * (_FAINT if term in faint_terms() else 1.0)
        if len(term) > _KIN_PREFIX and term.isascii():
            for kin in self._beginnings.get(term[:_KIN_PREFIX], ()):
                share = shared_beginning(term, kin) / max(len(term), len(kin))
                if kin != term and share >= _KIN_SHARE and (own := self._rarity(kin)) is not None:
                    yield kin, _KIN * share * own * (1.0 if rarity is None else 0.5)
        for other in sorted(neighbours().get(term, frozenset()) - asked):
            if (own := self._rarity(other)) is not None:
                yield other, _NEIGHBOUR * min(own, _UNKNOWN_RARITY if rarity is None else rarity)

    def _rarity(self, term: str) -> float | None:
        """Robertson's inverse document frequency of `term`, kept positive; None when no card has it."""
        count = self._counts.get(term, 0)
        return rarity(count, len(self._cards)) if count else None

    def _said_of_name(self, name: str, asked: frozenset[str]) -> float:
        """How much of what makes `name` rare stands in the query, 0 to 1."""
        rarities = {term: self._rarity(term) or 0.0 for term in _name_terms(name)}
        total = sum(rarities.values())
        return sum(rarity for term, rarity in rarities.items() if term in asked) / total if total else 0.0

    # --- postings ------------------------------------------------------------------------------------------------

    def _postings(self, term: str) -> Iterator[Posting]:
        import numpy as np

        saved = self._saved.posting(term) if self._saved else None
        if saved is not None:
            yield saved
        if term in self._new:
            places, impacts = self._new[term]
            yield np.array(places, dtype=np.int32), np.array(impacts, dtype=np.float32)

    def _count(self, term: str, change: int) -> None:
        if term not in self._counts and len(term) >= _KIN_PREFIX and term.isascii():
            self._beginnings.setdefault(term[:_KIN_PREFIX], []).append(term)
        self._counts[term] = self._counts.get(term, 0) + change

    def _clear(self) -> None:
        """An empty index."""
        self._state += 1
        self._cards: dict[str, ToolCard] = {}
        self._places: dict[str, int] = {}
        self._names: list[str] = []
        self._dead: set[int] = set()
        self._saved: Columns | None = None
        self._new: dict[str, tuple[array[int], array[float]]] = {}
        self._counts: dict[str, int] = {}
        self._beginnings: dict[str, list[str]] = {}

    def _compact(self) -> None:
        """Forget the places of cards that are gone."""
        cards = list(self._cards.values())
        self._clear()
        for card in cards:
            self.add(card)

    # --- on disk -------------------------------------------------------------------------------------------------

    def save(self, folder: Path) -> None:
        """Write the index to `folder` (made if need be). Torn by a kill, it is made anew. Raises OSError."""
        if self._dead:
            self._compact()
        vocabulary = sorted(term for term, count in self._counts.items() if count)
        postings = [list(self._postings(term)) for term in vocabulary]
        marks = [_mark(self._cards[name]) for name in self._names]
        write(folder, Header(parameters=_PARAMETERS, names=self._names, marks=marks, terms=vocabulary), postings)

    @classmethod
    def open(cls, folder: Path, cards: Iterable[ToolCard]) -> BM25Retriever:
        """The index of `cards`, from what `save` left in `folder`; what differs is made anew, all if that is broken."""
        wanted = {card.name: card for card in cards}
        index = cls()
        saved = read(folder, _PARAMETERS)
        if saved is not None and len(saved.header.names) <= 2 * len(wanted) + 100:
            index._take_over(saved, wanted)
        index.follow(wanted.values())
        return index

    def _take_over(self, saved: Columns, wanted: Mapping[str, ToolCard]) -> None:
        """Begin with what was saved of the cards in `wanted`; the places of all others are dead."""
        self._saved, self._names = saved, list(saved.header.names)
        for place, (name, mark) in enumerate(zip(saved.header.names, saved.header.marks, strict=True)):
            card = wanted.get(name)
            if card is None or _mark(card) != mark:
                self._dead.add(place)
            else:
                self._cards[name], self._places[name] = card, place
        for term, count in zip(saved.header.terms, saved.counts(self._dead), strict=True):
            self._count(term, count)


def _impacts(card: ToolCard) -> dict[str, float]:
    """The terms of `card` with their part of a score, 0 to 1."""
    return impacts_of(_texts(card), _FIELDS, _K1)


def _held(card: ToolCard) -> dict[str, set[str]]:
    """The terms of each field of `card`."""
    texts = _texts(card)
    return {field: set(terms(text)) for field, text in zip(FIELDS, texts, strict=True)}


def _texts(card: ToolCard) -> tuple[str, ...]:
    """What stands in each of the FIELDS."""
    parameters, explained = " ".join(card.parameters), " ".join(card.explained)
    return card.name, card.description, parameters, explained, " ".join(card.answered)


@lru_cache(maxsize=100_000)
def _name_terms(name: str) -> frozenset[str]:
    return frozenset(terms(name))


def _share_of_highest(scores: Floats) -> Floats:
    highest = scores.max(initial=0.0)
    return scores / highest if highest > 0 else scores


def _mark(card: ToolCard) -> str:
    """Differs for cards that differ."""
    text = "\0".join((card.name, card.description, *card.parameters, "\1", *card.explained, "\1", *card.answered))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
