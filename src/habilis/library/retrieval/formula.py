"""The two halves of a BM25F score: what a text gives to each of its terms, and how rare a term is.

Source: Robertson, Zaragoza, Taylor: Simple BM25 extension to multiple weighted fields, CIKM 2004. A field's length is
measured against a usual one, not the average: so what a text gives depends on the text alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from habilis.library.retrieval.terms import terms


class Field(NamedTuple):
    """How a field counts: its weight, its usual length in terms, and how much its length matters, 0 to 1."""

    weight: float
    usual: float
    b: float


def impacts_of(texts: Sequence[str], fields: Sequence[Field], k1: float) -> dict[str, float]:
    """The terms of a text with these fields, each with its part of a score, 0 to 1."""
    weights: dict[str, float] = {}
    for text, field in zip(texts, fields, strict=True):
        counts = Counter(terms(text))
        length = sum(counts.values())
        for term, count in counts.items():
            part = field.weight * count / (1 - field.b + field.b * length / field.usual)
            weights[term] = weights.get(term, 0.0) + part
    return {term: weight / (weight + k1) for term, weight in weights.items()}


def rarity(count: int, total: int) -> float:
    """Robertson's inverse document frequency, kept positive, of a term that `count` of `total` texts have."""
    return math.log(1 + (total - count + 0.5) / (count + 0.5))
