"""What the cards of an index score, by place: sums over the postings of terms.

A small index is added up by Python itself, a large one by NumPy: to import that takes longer than many searches in a
few hundred cards. Both come to the same numbers, bit for bit, since both multiply and add doubles in the same order.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Scores = list[float] | Floats

Posting = tuple["array[int] | memoryview[int]", "array[float] | memoryview[float]"]
"""The places of the cards that have a term, and its part of each one's score: buffers of 32-bit numbers."""
FEW = 500
"""Cards up to which an index is small."""


def total(postings: Iterable[tuple[Posting, float]], size: int, dead: Collection[int]) -> Scores:
    """The sum of weighted postings at each of `size` places, 0 at the `dead` ones."""
    if size <= FEW:
        sums = [0.0] * size
        for (places, impacts), weight in postings:
            for place, impact in zip(places, impacts, strict=True):
                sums[place] += weight * impact
        for place in dead:
            sums[place] = 0.0
        return sums
    import numpy as np

    scores = np.zeros(size)
    for (places, impacts), weight in postings:
        scores[np.asarray(places)] += weight * np.asarray(impacts).astype(np.float64)
    if dead:
        scores[list(dead)] = 0.0
    return scores


def shares(scores: Scores) -> Scores:
    """Each score as a share of the highest."""
    highest = max(scores, default=0.0) if isinstance(scores, list) else scores.max(initial=0.0)
    if highest <= 0:
        return scores
    return [score / highest for score in scores] if isinstance(scores, list) else scores / highest


def with_best(scores: Scores, others: Sequence[Scores], weight: float) -> Scores:
    """The scores, and the best of `others` beside them."""
    if isinstance(scores, list):
        return [score + weight * max(each) for score, *each in zip(scores, *others, strict=True)]
    import numpy as np

    best: Floats = np.maximum.reduce([np.asarray(one) for one in others])
    return scores + weight * best


def best_places(scores: Scores, count: int, least: float) -> list[int]:
    """The places of the `count` highest scores, of more where some are equal, and of none below `least`."""
    if isinstance(scores, list):
        lowest = max(sorted(scores)[max(0, len(scores) - count)], least)
        return [place for place, score in enumerate(scores) if score >= lowest]
    import numpy as np

    last = max(0, len(scores) - count)
    found: list[int] = np.nonzero(scores >= max(np.partition(scores, last)[last], least))[0].tolist()
    return found
