"""What the index takes from a card: the texts of its fields, and what counts for it beside its terms."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import lru_cache

from habilis.core.types import ToolCard
from habilis.library.retrieval.quantities import quantities, yields
from habilis.library.retrieval.signature import missing, wanted
from habilis.library.retrieval.terms import faint_terms, terms, without_values
from habilis.library.retrieval.tongues import language
from habilis.library.retrieval.weights import FIELDS, Weights

_NUMBER = re.compile(r"\d+")
_PROPER_NAME = re.compile(r"(?<=[\w,;:)] )[A-Z][a-z]+(?:[ -][A-Z][a-z]+)*\b")
"""Of a place or a person, inside a sentence: a value too, where nouns begin small."""


def texts_of(card: ToolCard) -> tuple[str, ...]:
    """What stands in each of the FIELDS; of past questions what was asked, not of what."""
    parameters, explained = " ".join(card.parameters), " ".join(card.explained)
    return card.name, card.description, parameters, explained, " ".join(map(_asked, card.answered))


@lru_cache(maxsize=50_000)
def _asked(question: str) -> str:
    """What `question` asked for, without the numbers, names and other values that it gave."""
    plain = without_values(question)
    if language(question) != "German":
        plain = _PROPER_NAME.sub(" ", plain)
    return _NUMBER.sub(" ", plain)


def held_by(card: ToolCard) -> dict[str, set[str]]:
    """The terms of each field of `card`."""
    texts = texts_of(card)
    return {field: set(terms(text)) for field, text in zip(FIELDS, texts, strict=True)}


def mark_of(card: ToolCard) -> str:
    """Differs for cards that differ."""
    text = "\0".join((card.name, card.description, *card.parameters, "\1", *card.explained, "\1", *card.answered))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def beside(
    query: str, asked: frozenset[str], weights: Weights, rarity_of: Callable[[str], float | None]
) -> Callable[[ToolCard], float]:
    """What counts for a card beside its terms: its name said in full, its signature, its worth."""
    lacking, wish = missing(query), quantities(query).asked
    rarities: dict[str, float] = {}

    def weigh(term: str) -> float:
        light = weights.faint_in_name if term in faint_terms() else 1.0
        rarities[term] = found = (rarity_of(term) or 0.0) * light
        return found

    def beside(card: ToolCard) -> float:
        total = said = 0.0
        for term in _name_terms(card.name):
            rarity = rarities.get(term)
            total += rarity if rarity is not None else weigh(term)
            said += rarities[term] if term in asked else 0.0
        named = said / total if total else 0.0
        gives = bool(wish and wish & yields(card.name, card.description))
        wants = len(lacking & wanted(card))
        return weights.named * named + weights.yields * gives - weights.lacking * wants + weights.worth * card.worth

    return beside


@lru_cache(maxsize=100_000)
def _name_terms(name: str) -> frozenset[str]:
    return frozenset(terms(name))
