"""In which units the numbers of a table are, as the names of its columns say it or their cells."""

from __future__ import annotations

import re

from habilis.questions.language import words
from habilis.questions.nouns import TIMES, UNITS, unit_of


class InUnits:
    """Columns with names and a few cells that a prompt shows."""

    names: tuple[str, ...]
    samples: tuple[tuple[str, ...], ...]

    def shown(self, column: int) -> list[str]:
        """The shown cells of a column."""
        return [row[column] for row in self.samples if column < len(row)]

    def takes_unit(self, column: int, unit: str) -> bool:
        """Whether numbers of a column may be said with a unit: it is the column's own, or the column has none."""
        if re.search(rf"(?<![^\W_]){re.escape(unit.lower())}(?![^\W_])", self.names[column].lower()):
            return True  # km/h
        own = [*self._units(column), *re.findall(r"[€$£]", " ".join((self.names[column], *self.shown(column))))]
        meant = next((key for key, said in UNITS.items() if unit.lower() in said.split()), None)
        if any(unit.lower() in said.split() and {*said.split()} & {*own} for said in UNITS.values()):
            return True
        if any(set(said.split()) & set(own) for said in UNITS.values()):
            return bool(set(UNITS.get(meant or "", "").split()) & set(own))
        return meant in ("eur", "usd", "gbp", "pct") or (meant == "years" and "age" in own)

    def _units(self, column: int, name: str | None = None) -> list[str]:
        """The words of a column's name, or of `name`, and the unit of its cells."""
        unit = unit_of(self.shown(column))
        return [*words(name or self.names[column]), *([unit] if unit else [])]

    def factor(self, column: int, unit: str) -> float | None:
        """By what a number said in a unit is multiplied to be one of a column; None where it may not be said so."""
        own = {*self._units(column)}
        if not unit or self.takes_unit(column, unit):
            return 1
        for large, small, factor in TIMES:
            ways = ((large, small, factor), (small, large, 1 / factor))
            for one, other, times in ways:
                if unit.lower() in UNITS[one].split() and {*UNITS[other].split()} & own:
                    return times
        return None

    def of_unit(self, unit: str) -> int | None:
        """The one column that is counted in a unit."""
        meant = {*next((said.split() for said in UNITS.values() if unit.lower() in said.split()), [])}
        plain = {i: re.sub(r"/.*| per .*", "", name) for i, name in enumerate(self.names)}  # of "€/kg" the euro
        own = {i: [*self._units(i, name), *re.findall(r"[€$£]", name)] for i, name in plain.items()}
        ending = only([i for i, said in own.items() if meant & {*said[-1:]}])
        return only([i for i, said in own.items() if meant & {*said}]) if ending is None else ending


def only(found: list[int]) -> int | None:
    """The one that was found, where it is one."""
    return found[0] if len(found) == 1 else None
