"""Values made anew in the shape of those that were seen: other numbers, other words, longer and shorter lists."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any

FURTHER = 10
"""How many times as large as any that was seen a number is made at most."""
LONGER = 2
"""How many times as long a text or a list."""
_FEW = 6
_PARTS = re.compile(r"[A-Za-z]+|[0-9]+|\s+|.", re.DOTALL)


def afresh(seen: Sequence[Any], lot: random.Random) -> Any:
    """Another value like those of `seen`, of which there is one at least; not made from any single one."""
    value = lot.choice(seen)
    alike = [other for other in seen if type(other) is type(value)]
    if isinstance(value, bool):
        return lot.random() < 0.5
    if isinstance(value, (int, float)):
        return _number(value, alike, lot)
    if isinstance(value, str):
        return _text(alike, lot)
    if isinstance(value, list):
        return _list(alike, lot)
    if isinstance(value, Mapping):
        return {key: afresh([other[key] for other in alike if key in other], lot) for key in value}
    return value


def _number(value: float, seen: Sequence[float], lot: random.Random) -> float:
    if 1 < len(set(seen)) <= 3 and max(map(abs, seen)) <= 1:
        return lot.choice(seen)  # a flag
    top = max(2.0, *(abs(number) for number in seen))
    size = lot.uniform(0, top) if lot.random() < 0.5 else top ** lot.random() * (FURTHER ** lot.random())
    sign = -1 if any(number < 0 for number in seen) and lot.random() < 0.5 else 1
    return sign * (int(size) if isinstance(value, int) else round(size, lot.choice((0, 1, 2))))


def _text(seen: Sequence[str], lot: random.Random) -> str:
    signs = sorted(set("".join(seen)))
    if not signs:
        return ""
    if len(signs) <= _FEW or lot.random() < 0.2:
        long = len(lot.choice(seen))
        long = long if lot.random() < 0.5 else lot.randint(0, LONGER * max(map(len, seen)))
        return "".join(lot.choices(signs, k=long))
    parts = [part for text in seen for part in _PARTS.findall(text)]
    words = [part for part in parts if part.isalnum()]
    text = lot.choice(seen)
    made = [_part(part, words, lot) for part in _PARTS.findall(text)]
    if lot.random() < 0.3 and len(made) > 2:
        made += made[1:] if lot.random() < 0.5 else lot.choices(parts, k=len(made))
    return "".join(made)


def _part(part: str, words: Sequence[str], lot: random.Random) -> str:
    if not part.isalnum() or not part.isascii() or lot.random() < 0.3:
        return part
    if lot.random() < 0.5:
        return lot.choice([word for word in words if word.isdigit() == part.isdigit()] or [part])
    long = len(part) if lot.random() < 0.7 else lot.randint(1, LONGER * len(part))
    if part.isdigit():
        return "".join(lot.choices(digits, k=long))
    kinds = {part.upper(): ascii_uppercase, part.lower(): ascii_lowercase}
    letters = kinds.get(part, ascii_lowercase)
    made = "".join(lot.choices(letters, k=long))
    return made if part in kinds else made.capitalize()


def _list(seen: Sequence[list[Any]], lot: random.Random) -> list[Any]:
    items = list(chain.from_iterable(seen))
    long = len(lot.choice(seen)) if lot.random() < 0.5 else lot.randint(0, LONGER * max(map(len, seen)) + 2)
    if not items:
        return []
    if lot.random() < 0.3:
        items = lot.sample(items, min(len(items), 2))
        return lot.choices(items, k=long)
    made = [lot.choice(items) if lot.random() < 0.4 else afresh(items, lot) for _ in range(long)]
    if made and isinstance(made[0], list) and len({len(item) for item in items if isinstance(item, list)}) == 1:
        width = lot.choice((len(items[0]), long))
        flat = list(chain.from_iterable(items)) or [0]
        made = [[afresh(flat, lot) for _ in range(width)] for _ in range(long)]
    return made
