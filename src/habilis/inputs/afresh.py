"""Values made anew in the shape of those that were seen: other numbers, other words, longer and shorter lists."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from string import ascii_lowercase, digits
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
    text = _of_signs(signs, seen, lot) if len(signs) <= _FEW or lot.random() < 0.3 else _of_parts(seen, lot)
    return "".join(lot.choice((sign, sign.swapcase())) for sign in text) if lot.random() < 0.15 else text


def _of_signs(signs: Sequence[str], seen: Sequence[str], lot: random.Random) -> str:
    """Any of the characters that were seen, now and then only a few of them."""
    if lot.random() < 0.4:
        signs = lot.sample(signs, min(len(signs), lot.randint(1, 3)))
    long = len(lot.choice(seen)) if lot.random() < 0.5 else lot.randint(0, LONGER * max(map(len, seen)))
    return "".join(lot.choices(signs, k=long))


def _of_parts(seen: Sequence[str], lot: random.Random) -> str:
    """One of `seen` with other words and numbers, a run of its parts twice, or one left out."""
    words = sorted({part for text in seen for part in _PARTS.findall(text) if part.isalnum()})
    if lot.random() < 0.3:
        words = lot.sample(words, min(len(words), lot.randint(1, 3)))
    parts = [_part(part, words, lot) for part in _PARTS.findall(lot.choice(seen))]
    if lot.random() < 0.4:
        start, end = sorted(lot.choices(range(len(parts) + 1), k=2))
        parts[end:end] = parts[start:end]
    elif lot.random() < 0.2:
        start, end = sorted(lot.choices(range(len(parts) + 1), k=2))
        del parts[start:end]
    return "".join(parts)


def _part(part: str, words: Sequence[str], lot: random.Random) -> str:
    """Another word or number in place of `part`, of `words` or of any letters or digits."""
    if not part.isalnum() or not part.isascii() or lot.random() < 0.3:
        return part
    alike = [word for word in words if word.isdigit() == part.isdigit()]
    if alike and lot.random() < 0.6:
        return lot.choice(alike)
    long = len(part) if lot.random() < 0.7 else lot.randint(1, LONGER * len(part))
    if part.isdigit() or lot.random() < 0.1:
        return "".join(lot.choices(digits, k=long))
    made = "".join(lot.choices(ascii_lowercase, k=long))
    return made.upper() if part.isupper() else made if part.islower() else made.capitalize()


def _list(seen: Sequence[list[Any]], lot: random.Random) -> list[Any]:
    items = list(chain.from_iterable(seen))
    long = len(lot.choice(seen)) if lot.random() < 0.5 else lot.randint(0, LONGER * max(map(len, seen)) + 2)
    if not items:
        return []
    if lot.random() < 0.3:
        items = lot.sample(items, min(len(items), 2))
        return lot.choices(items, k=long)
    made = [lot.choice(items) if lot.random() < 0.4 else afresh(items, lot) for _ in range(long)]
    rows = [item for item in items if isinstance(item, list)]
    cells = list(chain.from_iterable(rows))
    if cells and len(rows) == len(items) and len({len(row) for row in rows}) == 1:
        width = lot.choice((len(rows[0]), long))
        made = [[afresh(cells, lot) for _ in range(width)] for _ in range(long)]
    return made
