"""Cutting a value to a size with its structure kept: strings evenly, lists to a prefix, keys to the last."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Fits = Callable[[str], bool]
Count = Callable[[str], int]

MARK = "…"
MAX_DEPTH = 40
_STEPS = 14
_BYTES_PER_TOKEN = 3.4
MAX_CHARS_PER_TOKEN = 16
"""Longer texts are taken not to fit without being counted: only runs of blanks have longer tokens."""
_LISTED = 3


def as_text(output: Any) -> str:
    """A tool's output as a model reads it: text as it is, anything else as compact JSON, no character escaped.

    NaN and infinity, which JSON does not know, become the texts "NaN", "Infinity" and "-Infinity".
    """
    if isinstance(output, str):
        return plain_text(output)
    try:
        return plain_text(json.dumps(output, ensure_ascii=False, allow_nan=False))
    except (RecursionError, ValueError):  # nested without end; an integer of more digits than Python prints
        return plain_text(json.dumps(_Cutter(1.0, MAX_DEPTH).cut(output), ensure_ascii=False))


def plain_text(text: str) -> str:
    """`text` without lone surrogates, which no request can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


def estimated(text: str) -> int:
    """Tokens of `text` by its bytes, where nobody counts better."""
    return int(len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN) + 1


def cut_text(text: str, limit_tokens: int, count: Count = estimated, *, note: str = "") -> str:
    """`text` in at most `limit_tokens`: beginning and end kept, the middle left out, and a line that says so.

    `text` itself when it fits. Never empty while the limit leaves room for a word.
    """
    text = plain_text(text)
    if count(text) <= limit_tokens:
        return text

    def cut(kept: int) -> str:
        head, tail = kept - kept // 4, kept // 4
        line = f"[Cut: {len(text) - kept} of {len(text)} characters left out{'; ' + note if note else ''}.]"
        return f"{text[:head]}\n{line}\n{text[len(text) - tail :]}" if tail else f"{text[:head]}\n{line}"

    most = min(len(text), MAX_CHARS_PER_TOKEN * limit_tokens)
    best = _largest(most, lambda kept: count(cut(kept)) <= limit_tokens)
    if best is not None:
        return cut(best)
    bare = _largest(most, lambda kept: count(text[:kept]) <= limit_tokens)
    return text[: bare or 0]


def cut_json(value: Any, fits: Fits, where: str) -> str:
    """`value` as JSON on the first line, cut until it fits together with a line that says what was left out.

    Every string and list is shortened by the same ratio, keys are kept; only when that is not enough, what lies
    deep is replaced by its size, and last of all keys are dropped. Never raises for a value of JSON.
    """
    for depth, keys in ((MAX_DEPTH, None), (4, None), (2, None), (2, 100), (1, 20), (1, 5), (0, None)):
        best = _best_ratio(value, depth, keys, fits, where)
        if best is not None:
            return best
    shortest = json.dumps(MARK, ensure_ascii=False)
    return shortest if fits(shortest) else '""'


def _best_ratio(value: Any, depth: int, keys: int | None, fits: Fits, where: str) -> str | None:
    """The text of the largest ratio that fits at this depth; None when not even the smallest does."""
    smallest = _rendered(value, 0.0, depth, keys, where)
    if not fits(smallest):
        return None
    low, high, best = 0.0, 1.0, smallest
    for _ in range(_STEPS):
        ratio = (low + high) / 2
        text = _rendered(value, ratio, depth, keys, where)
        if fits(text):
            low, best = ratio, text
        else:
            high = ratio
    return best


def _rendered(value: Any, ratio: float, depth: int, keys: int | None, where: str) -> str:
    cutter = _Cutter(ratio, depth, keys)
    body = plain_text(json.dumps(cutter.cut(value), ensure_ascii=False))
    return f"{body}\n[Cut: {cutter.told()}; {where}.]"


@dataclass
class _Cutter:
    """One pass over a value. Notes what it left out."""

    ratio: float
    depth: int
    keys: int | None = None
    strings: int = 0
    lists: list[str] = field(default_factory=list)
    dropped_keys: int = 0
    folded: int = 0

    def cut(self, value: Any, depth: int = 0, path: str = "") -> Any:
        if isinstance(value, str):
            return self._string(value)
        if isinstance(value, (Mapping, list, tuple)) and value and depth >= self.depth:
            self.folded += 1
            return f"{MARK} {len(value)} {'keys' if isinstance(value, Mapping) else 'items'}"
        if isinstance(value, Mapping):
            return self._mapping(value, depth, path)
        if isinstance(value, (list, tuple)):
            return self._list(value, depth, path)
        if isinstance(value, float) and not math.isfinite(value):
            return json.dumps(value)
        if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 400:
            return self._string(f"{value:#x}")
        return value

    def told(self) -> str:
        """What was left out, in words."""
        parts = []
        if self.lists:
            more = f" and {len(self.lists) - _LISTED} more lists" if len(self.lists) > _LISTED else ""
            parts.append(", ".join(self.lists[:_LISTED]) + more)
        if self.strings:
            parts.append(f"{self.strings} texts shortened")
        if self.folded:
            parts.append(f"{self.folded} inner values given by their size")
        if self.dropped_keys:
            parts.append(f"{self.dropped_keys} keys left out")
        return "; ".join(parts) or "too long"

    def _string(self, value: str) -> str:
        kept = int(len(value) * self.ratio)
        if kept >= len(value) or len(value) <= 12:
            return value
        self.strings += 1
        return value[: max(kept, 8)] + MARK

    def _list(self, value: list[Any] | tuple[Any, ...], depth: int, path: str) -> list[Any]:
        kept = max(int(len(value) * self.ratio), min(len(value), 1))
        if kept < len(value):
            self.lists.append(f"{path or 'the list'} holds {len(value)} items, {kept} shown")
        return [self.cut(item, depth + 1, f"{path}[]") for item in value[:kept]]

    def _mapping(self, value: Mapping[str, Any], depth: int, path: str) -> dict[str, Any]:
        names = list(value)
        if self.keys is not None and len(names) > self.keys:
            self.dropped_keys += len(names) - self.keys
            names = names[: self.keys]
        return {
            self._key(name): self.cut(value[name], depth + 1, f"{path}.{name}"[:60].removeprefix(".")) for name in names
        }

    def _key(self, name: Any) -> str:
        text = str(name)
        return text if self.keys is None or len(text) <= 60 else text[:60] + MARK


def _largest(limit: int, good: Callable[[int], bool]) -> int | None:
    """The largest number from 1 to `limit` for which `good` holds, taking it to hold for all smaller ones."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if good(middle):
            low = middle
        else:
            high = middle - 1
    return low or None
