"""Doubted values in words, for models and people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from habilis.grounding import Unfounded

MOST_TOLD = 12
"""Doubted values that a model is told of."""


def listed(values: Sequence[Unfounded]) -> str:
    """Values in words: `"3.14" (number) and "Alice" (name) stand`."""
    shown = [f'"{value.text}" ({value.kind})' for value in values[:MOST_TOLD]]
    more = f" and {len(values) - MOST_TOLD} more" if len(values) > MOST_TOLD else ""
    joined = " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 and not more else ", ".join(shown)
    return f"{joined}{more} {'stands' if len(values) == 1 else 'stand'}"
