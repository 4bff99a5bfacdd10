"""The values of an answer that no source holds and no rule derives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from habilis.grounding.checking import Kind, Value, leaves, values_of
from habilis.grounding.known import Known


@dataclass(frozen=True)
class Unfounded:
    """A value that stands nowhere: what it is, and as it stands in the answer."""

    kind: Kind
    text: str


def unfounded(answer: str, sources: Sequence[str] | Known) -> tuple[Unfounded, ...]:
    """The values of `answer` that no source holds and no rule derives. The findings are the first of the sources."""
    return _doubts(founded_by(answer, sources))


def founded_by(answer: str, sources: Sequence[str] | Known) -> tuple[Value, ...]:
    """Every value of `answer` with the rule by which it stands, "" where it does not: for the record."""
    return tuple(values_of(answer, sources if isinstance(sources, Known) else Known(sources)))


def unfounded_data(data: Any, sources: Sequence[str] | Known) -> tuple[Unfounded, ...]:
    """The same of an answer in JSON: each text and each number at its ends is an answer of its own."""
    known = sources if isinstance(sources, Known) else Known(sources)
    return _doubts([value for leaf in leaves(data) for value in values_of(leaf, known)])


def _doubts(values: Sequence[Value]) -> tuple[Unfounded, ...]:
    return tuple(dict.fromkeys(Unfounded(value.kind, value.text) for value in values if not value.rule))
