"""One value of a call changed a little: numbers, texts and lists, by what was seen of them and what stands in code."""

from __future__ import annotations

import contextlib
import datetime
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from habilis.inputs.constants import Constants

OF_CODE = 0.25
"""How often a value is made of what stands in the code."""
_DAYS, _HOURS = (1, -1, 7, 30, 31, -31, 366), (1, -1, 4, 8, 12, -7)


def varied(value: Any, seen: Sequence[Any], known: Constants, lot: random.Random) -> Any:
    """Another value of the kind of `value`: an edited one, now and then one at a border that `known` names."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)) and known.numbers and lot.random() < OF_CODE:
        border = lot.choice(known.numbers) + lot.choice((0, 1, -1))
        return int(border) if isinstance(value, int) else float(border)
    if isinstance(value, int):
        return lot.choice([value + 1, value - 1, value + lot.randint(2, 5), value * 2, value // 2, value - 3])
    if isinstance(value, float):
        return round(lot.choice([value + 0.5, value * 2, value / 2, value + lot.random(), value + 1]), 4)
    if isinstance(value, str):
        if known.texts and lot.random() < OF_CODE:
            return _with_constant(value, known.texts, lot)
        return _text(value, [text for text in seen if isinstance(text, str)], lot)
    if isinstance(value, list):
        return _list(value, [other for other in seen if isinstance(other, list)], known, lot)
    if isinstance(value, Mapping) and value:
        key = lot.choice(sorted(value))
        if lot.random() < 0.4:
            return _keyed(value, key, lot)
        return {**value, key: varied(value[key], [value[key]], known, lot)}
    return value


def _keyed(value: Mapping[str, Any], key: str, lot: random.Random) -> dict[str, Any]:
    """`value` without `key`, or with it under another name, or beside another one that has its value."""
    rest = {name: item for name, item in value.items() if name != key}
    name = _text(key, sorted(value), lot)
    return lot.choice([rest, {**rest, name: value[key]}, {**value, name: value[key]}])


def _with_constant(value: str, texts: Sequence[str], lot: random.Random) -> str:
    """`value` with a text of the code's in it, or a letter of one."""
    text, place = lot.choice(texts), lot.randint(0, len(value))
    letter = lot.choice(text)
    words = value.split(" ")
    words[lot.randrange(len(words))] = text
    return lot.choice(
        [text, " ".join(words), value[:place] + text + value[place:], value[:place] + letter + value[place + 1 :]]
    )


def _text(value: str, seen: Sequence[str], lot: random.Random) -> str:
    words = value.split(" ")
    place = lot.randrange(len(value)) if value else 0
    ways = [
        value[:place] + value[place + 1 :],
        value[:place] + value[place : place + 1] * 2 + value[place + 1 :],
        value[:place] + lot.choice("".join(seen) or "a") + value[place + 1 :],
        value.replace(" ", "  ", 1),
        value[::-1],
        value.swapcase(),
        value.lower(),
        value + value[::-1],
        value[:place],
        value[place:],
        value[place:] + value[:place],
        value[:place] + lot.choice(value or "a") + value[place:],
        f"{value} {lot.choice(seen)}",
        " ".join(lot.sample(words, len(words))),
        " ".join([*words, lot.choice(words)]),
        " ".join(_again(words, lot)),
        re.sub(r"\d", lambda _: str(lot.randrange(10)), value),
    ]
    return lot.choice([way for way in ways if way != value] or [value])


def _again(parts: list[Any], lot: random.Random) -> list[Any]:
    """`parts` with a run of them twice."""
    start = lot.randrange(len(parts))
    end = lot.randint(start + 1, len(parts))
    return [*parts[:end], *parts[start:end], *parts[end:]]


def _list(value: list[Any], seen: Sequence[list[Any]], known: Constants, lot: random.Random) -> list[Any]:
    items = [item for other in seen for item in other]
    if not items:
        return value
    place = lot.randrange(len(value)) if value else 0
    edited = [varied(value[place], items, known, lot)] if value else [lot.choice(items)]
    ways = [
        value[::-1],
        lot.sample(value, len(value)),
        value[:place] + value[place + 1 :],
        [*value, lot.choice(items)],
        value[:place] + edited + value[place + 1 :],
        value[:place] + edited + value[place + 1 :],
        [varied(item, items, known, lot) for item in value],
        [lot.choice(items) for _ in range(lot.randint(1, len(value) + 1))],
        value + value[::-1],
        [lot.choice(items)] * lot.randint(1, len(value) + 1),
        value[:place],
        value[place:],
        [*value[:place], lot.choice(value or items), *value[place:]],
    ]
    with contextlib.suppress(TypeError):
        ways.append(sorted(value))
    return lot.choice([way for way in ways if way != value] or [value])


def moved(value: Any, lot: random.Random) -> Any:
    """A text or list of which one end or one half stands at the other end, or two neighbours are exchanged."""
    if type(value) not in (str, list) or len(value) < 2:
        return value
    if lot.random() < 0.6:
        place = lot.choice((1, -1, len(value) // 2))
        return value[place:] + value[:place]
    place = lot.randrange(len(value) - 1)
    return value[:place] + value[place + 1 : place + 2] + value[place : place + 1] + value[place + 2 :]


def another_day(day: datetime.date, lot: random.Random) -> datetime.date:
    """A day that is near, a month away, or a year. Raises OverflowError at the end of the calendar."""
    return day + datetime.timedelta(days=lot.choice(_DAYS))


def another_moment(text: str, lot: random.Random) -> str:
    """A moment in the form of `text`, on another day, at another hour, or both. Raises OverflowError likewise."""
    days, hours = lot.choice([(day, 0) for day in _DAYS] + [(0, hour) for hour in _HOURS] + [(lot.choice(_DAYS), 5)])
    moment = datetime.datetime.fromisoformat(text) + datetime.timedelta(days=days, hours=hours)
    return moment.isoformat(text[10], "seconds" if text.count(":") > 1 else "minutes")


def another_sum(seen: Sequence[str], lot: random.Random) -> str:
    """An expression of the numbers that were seen, with any of the operators of arithmetic."""
    numbers = sorted({number for text in seen for number in re.findall(r"\d+(?:\.\d+)?", text)}) or ["2", "3"]
    spaced = " " if any(" " in text for text in seen) else ""

    def one(deep: int) -> str:
        if not deep or lot.random() < 0.3:
            return str(lot.choice([*numbers, lot.randint(1, 9)]))
        operator = lot.choice("+-*/+-*/^")
        if operator == "^":
            return f"{lot.randint(2, 9)}{spaced}**{spaced}{lot.randint(2, 3)}"
        text = f"{one(deep - 1)}{spaced}{operator}{spaced}{one(deep - 1)}"
        return f"({text})" if deep < 2 and lot.random() < 0.5 else text

    return one(2)
