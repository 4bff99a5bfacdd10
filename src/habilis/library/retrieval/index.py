"""An index over tool cards: fielded BM25, with the relatives of words and with each wish of a question by itself.

Scores follow BM25F (Robertson, Zaragoza, Taylor: Simple BM25 extension to multiple weighted fields, CIKM 2004), with
one change: a field's length is measured against a fixed usual length, not the index's average. So a card's part of a
score depends on the card alone, adding one touches no other, and an index that grew equals one that was built at once.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from habilis.core.types import ToolCard
from habilis.library.retrieval.cards import beside, held_by, mark_of, texts_of
from habilis.library.retrieval.formula import impacts_of, rarity
from habilis.library.retrieval.quantities import quantities
from habilis.library.retrieval.saved import Columns, Header, read, write
from habilis.library.retrieval.subjects import subjects
from habilis.library.retrieval.sums import Posting, best_places, shares, total, with_best
from habilis.library.retrieval.terms import faint_terms, parts, shared_beginning, terms, without_values
from habilis.library.retrieval.thesaurus import neighbours
from habilis.library.retrieval.vectors import ALIKE, Likeness, Meaning
from habilis.library.retrieval.weights import WEIGHTS, Weights

if TYPE_CHECKING:
    from habilis.library.retrieval.sums import Scores

_KIN_PREFIX, _KIN_SHARE = 4, 0.6
"""A word is kin from so many letters alike at its beginning, and from this share of the longer one."""
_AMONG = 50
"""What is known of a card beside its terms is looked at for so many of the best."""
_UNKNOWN_RARITY = 9.0


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

    def __init__(
        self, cards: Iterable[ToolCard] = (), *, vectors: Meaning | None = None, weights: Weights = WEIGHTS
    ) -> None:
        """With `vectors`, what a card means counts beside the words that it shares with a query."""
        self._likeness = Likeness(vectors) if vectors else None
        self._weights = weights
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
        other = BM25Retriever(weights=self._weights)
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
        for term, impact in self._impacts(card).items():
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
        for term in self._impacts(card):
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
        scores = self._all(query, asked)
        places = best_places(scores, max(_AMONG, k), 1e-12)
        more = beside(query, asked, self._weights, self._rarity)
        found = {place: float(scores[place]) + more(self._cards[self._names[place]]) for place in places}
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
        for term, impact in self._impacts(self._cards[name]).items():
            weight = impact * (self._rarity(term) or 0.0)
            for places, impacts in self._postings(term):
                scores[np.asarray(places)] += weight * np.asarray(impacts)
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
        score = float(self._all(query, asked)[place]) + beside(query, asked, self._weights, self._rarity)(
            self._cards[name]
        )
        shares = []
        implied = self._terms(query, asked)
        for term, relatives in implied.items():
            for met, weight in relatives:
                impact = sum(v for posting in self._postings(met) for p, v in zip(*posting, strict=True) if p == place)
                if impact:
                    fields = tuple(field for field, held in held_by(self._cards[name]).items() if met in held)
                    shares.append(Met(term, met, weight * impact, fields))
        return Why(name, score, tuple(sorted(shares, key=lambda met: -met.share)))

    # --- scores --------------------------------------------------------------------------------------------------

    def _all(self, query: str, asked: frozenset[str]) -> Scores:
        """Scores by place, without what a tool's name adds."""
        scores = self._scores(asked, query)
        if self._likeness:
            alike = self._likeness.scores(query, self._names, self._cards, self._dead, self._state)
            return with_best(scores, [shares(alike)], ALIKE)
        return scores

    def _scores(self, asked: frozenset[str], query: str) -> Scores:
        """Scores by place: of the whole query, and the best of any of its wishes, each as a share of its highest."""
        found = {
            term: [(posting, weight) for met, weight in relatives for posting in self._postings(met)]
            for term, relatives in self._terms(query, asked).items()
        }

        def of(some: Iterable[str]) -> Scores:
            return shares(total(chain(*(found.get(term, ()) for term in some)), len(self._names), self._dead))

        wishes = [part for part in parts(query) if part != asked]
        if len(wishes) < 2:
            return of(found)
        return with_best(of(found), [of(sorted(wish)) for wish in wishes], self._weights.parts)

    def _terms(self, query: str, asked: frozenset[str]) -> dict[str, list[tuple[str, float]]]:
        """For each term of a query, in order, the terms of the index that it meets; behind them quantities that the
        query asks for or gives in other words."""
        plain, told, weights = without_values(query), quantities(query), self._weights
        said = asked if plain == query else frozenset(terms(plain))
        found = {term: list(self._relatives(term, asked, said)) for term in sorted(asked)}
        for names, weight in ((told.asked, weights.quantity_asked), (told.given, weights.quantity_given)):
            for name in sorted(names - asked):
                if (own := self._rarity(name)) is not None:
                    found[name] = [(name, weight * own)]
        return found

    def _relatives(self, term: str, asked: frozenset[str], said: frozenset[str]) -> Iterator[tuple[str, float]]:
        """The terms of the index that `term` of a query meets, with their weights: itself, kin, neighbours, subjects.

        `said` are the query's terms without those of its values.
        """
        rarity, weights = self._rarity(term), self._weights
        if rarity is not None:
            light = weights.faint if term in faint_terms() else 1.0
            yield term, rarity * (light if term in said and not term.isdecimal() else weights.argument)
        if len(term) > _KIN_PREFIX and term.isascii():
            for kin in self._beginnings.get(term[:_KIN_PREFIX], ()):
                share = shared_beginning(term, kin) / max(len(term), len(kin))
                if kin != term and share >= _KIN_SHARE and (own := self._rarity(kin)) is not None:
                    yield kin, weights.kin * share * own * (1.0 if rarity is None else 0.5)
        near = neighbours().get(term, frozenset())
        for other in sorted(near - asked):
            if (own := self._rarity(other)) is not None:
                yield other, weights.neighbour * min(own, _UNKNOWN_RARITY if rarity is None else rarity)
        for name in sorted(subjects().get(term, frozenset()) - near - asked):
            if (own := self._rarity(name)) is not None:
                yield name, own * weights.subject_alone if rarity is None else min(own, rarity) * weights.subject

    def _rarity(self, term: str) -> float | None:
        """Robertson's inverse document frequency of `term`, kept positive; None when no card has it."""
        count = self._counts.get(term, 0)
        return rarity(count, len(self._cards)) if count else None

    # --- postings ------------------------------------------------------------------------------------------------

    def _impacts(self, card: ToolCard) -> dict[str, float]:
        """The terms of `card` with their part of a score, 0 to 1."""
        return impacts_of(texts_of(card), self._weights.fields, self._weights.k1)

    def _postings(self, term: str) -> Iterator[Posting]:
        saved = self._saved.posting(term) if self._saved else None
        if saved is not None:
            yield saved
        if term in self._new:
            yield self._new[term]

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
        marks = [mark_of(self._cards[name]) for name in self._names]
        write(
            folder, Header(parameters=repr(self._weights), names=self._names, marks=marks, terms=vocabulary), postings
        )

    @classmethod
    def open(cls, folder: Path, cards: Iterable[ToolCard]) -> BM25Retriever:
        """The index of `cards`, from what `save` left in `folder`; what differs is made anew, all if that is broken."""
        wanted = {card.name: card for card in cards}
        index = cls()
        saved = read(folder, repr(index._weights))
        if saved is not None and len(saved.header.names) <= 2 * len(wanted) + 100:
            index._take_over(saved, wanted)
        index.follow(wanted.values())
        return index

    def _take_over(self, saved: Columns, wanted: Mapping[str, ToolCard]) -> None:
        """Begin with what was saved of the cards in `wanted`; the places of all others are dead."""
        self._saved, self._names = saved, list(saved.header.names)
        for place, (name, mark) in enumerate(zip(saved.header.names, saved.header.marks, strict=True)):
            card = wanted.get(name)
            if card is None or mark_of(card) != mark:
                self._dead.add(place)
            else:
                self._cards[name], self._places[name] = card, place
        for term, count in zip(saved.header.terms, saved.counts(self._dead), strict=True):
            self._count(term, count)
