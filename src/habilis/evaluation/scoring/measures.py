"""What a number in an answer counts: units with their case, powers and quotients, as a kind and a factor."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from habilis.values.si import SYMBOLS
from habilis.values.units import Unit, units_of

_WORDS = re.compile(r"[^\W\d_]+(?:[-\s][^\W\d_]+){0,2}|°\s?[CFcf]\b|[°%‰$€£¥₹₽℃℉]")
_POWER = re.compile(r"(?:\^|\*\*)?\s?([23])(?!\d)|\^\(?(-?[1-3])\)?")
_JOINED = re.compile(r"\s?(?:/|\bper\b\s|·|\*)\s?")
_RAISED = re.compile(r"(square|sq|cubic)\.?\s+", re.IGNORECASE)
_NAMED: Mapping[str, Mapping[str, int]] = {
    "area": {"length": 2},
    "volume": {"length": 3},
    "speed": {"length": 1, "time": -1},
}
_LITRES = Decimal(1000)
"""Litres in a cubic metre: the base of volumes is the litre."""


@dataclass(frozen=True)
class Measure:
    """A unit as it was written: its `kind`, and `value * factor + offset` in the base unit of that kind."""

    kind: str
    factor: Decimal = Decimal(1)
    offset: Decimal = Decimal(0)


def measure_at(text: str, place: int) -> tuple[tuple[Measure, ...], int]:
    """What the unit at `place` of `text` may be, and where it ends; nothing and `place` where none stands."""
    found, end = _factor_at(text, place)
    if not found:
        return (), place
    parts = [(unit, 1) for unit in found[:1]]
    while (joint := _JOINED.match(text, end)) and (more := _factor_at(text, joint.end()))[0]:
        parts.append((more[0][0], 1 if joint[0].strip() in ("·", "*") else -1))
        end = more[1]
    return (found, end) if len(parts) == 1 else ((_joined(parts),), end)


def _factor_at(text: str, place: int) -> tuple[tuple[Measure, ...], int]:
    """One unit with its power: `m`, `m²`, `square metres`."""
    power = 1
    if raised := _RAISED.match(text, place):
        power, place = (3 if raised[1].lower() == "cubic" else 2), raised.end()
    found, end = _name_at(text, place)
    if found and power == 1 and (raised := _POWER.match(text, end)):
        power, end = int(raised[1] or raised[2]), raised.end()
    if found and power != 1:
        return (_joined([(found[0], power)]),), end
    return found, end


def _name_at(text: str, place: int) -> tuple[tuple[Measure, ...], int]:
    """The longest name of a unit at `place`."""
    found = _WORDS.match(text, place)
    if found is None:
        return (), place
    name = found[0]
    while name:
        if units := _units(name):
            return units, place + len(name)
        name = re.sub(r"[-\s]?[^-\s]+$", "", name)
    return (), place


def _units(name: str) -> tuple[Measure, ...]:
    bare = " ".join(name.split())
    if bare in SYMBOLS:
        return (Measure(*SYMBOLS[bare]),)
    return tuple(_of(unit) for unit in units_of(bare.replace("° ", "°")) or units_of(bare.replace("-", " ")))


def _of(unit: Unit) -> Measure:
    return Measure(unit.kind, unit.factor, unit.offset)


def _joined(parts: Sequence[tuple[Measure, int]]) -> Measure:
    """The product of units with their powers, by the name that its kind has."""
    powers: dict[str, int] = {}
    factor = Decimal(1)
    for unit, power in parts:
        for kind, times in _NAMED.get(unit.kind, {unit.kind: 1}).items():
            powers[kind] = powers.get(kind, 0) + times * power
        own = unit.factor / _LITRES if unit.kind == "volume" else unit.factor
        factor *= own**power
    named = next((name for name, kinds in _NAMED.items() if kinds == powers), "")
    if named == "volume":
        factor *= _LITRES
    spelled = " ".join(f"{kind}^{power}" if power != 1 else kind for kind, power in sorted(powers.items()) if power)
    return Measure(named or spelled, factor)
