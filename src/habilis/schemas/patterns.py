"""Regular expressions that strangers wrote: run in linear time by the Rust engine that Pydantic carries, or not here.

Python's own `re` takes exponential time for `^(a+)+$`; the Rust one knows no look-around and no references back, and
for that it never goes back over a text (https://docs.rs/regex, "Untrusted input"). A tool's own Pydantic, inside the
sandbox, checks by the same engine, so what is left out here was looked at there.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

MAX_CHARS = 1_000
MAX_WEIGHT = 10_000
"""States that an engine may have to follow at once; beyond that a pattern is not compiled here."""
CLASS_WEIGHT = 20
"""What `\\w` or `\\p{…}` counts for: each is a machine of many states, since letters are many."""
_TOKEN = re.compile(
    r"(?P<wide>\\[pPwWdDsSbB](?:\{[^{}]*\})?)|\\.|(?P<set>\[(?:\\.|[^\]\\])*\]?)"
    r"|\{(?P<low>\d{1,9})(?:,(?P<high>\d{0,9}))?\}|(?P<open>\()|(?P<close>\))|.",
    re.DOTALL,
)


class Pattern:
    """A compiled pattern. `weight` times the characters of a text bounds what a search in it costs."""

    def __init__(self, engine: Any, weight: int) -> None:
        self._engine, self.weight = engine, weight

    def found_in(self, text: str) -> bool:
        """Whether it matches anywhere in `text`, as JSON schema means it."""
        return bool(self._engine.isinstance_python(text.encode("utf-8", "replace").decode("utf-8")))


@lru_cache(maxsize=512)
def compiled(pattern: str) -> Pattern | None:
    """`pattern`, ready to be run; None for one that the engine does not know, or that is too large to be run here."""
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    if len(pattern) > MAX_CHARS or (weight := weight_of(pattern)) > MAX_WEIGHT:
        return None
    try:
        engine = SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    except (SchemaError, ValueError):
        return None
    return Pattern(engine, weight)


def weight_of(pattern: str) -> int:
    """About how many states `pattern` has: its characters, each times all the counted repetitions around it."""
    totals, last = [0], 0
    for token in _TOKEN.finditer(pattern):
        if token["open"]:
            totals.append(0)
            last = 0
        elif token["close"] and len(totals) > 1:
            last = totals.pop()
            totals[-1] += last
        elif token["low"]:
            times = max(int(token["low"]), int(token["high"] or 0), 1)
            totals[-1] += last * (times - 1)
            last *= times
        else:
            last = CLASS_WEIGHT if token["wide"] or "\\" in (token["set"] or "") else 1
            totals[-1] += last
    return max(sum(totals), 1)
