"""Symbols of the International System of Units, whose case tells: mW is no MW, Mb no MB.

Prefixes and units: the SI brochure (BIPM, 9th edition), tables 4, 7 and 8; bits and bytes: IEC 80000-13.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

_LARGE = {"k": 3, "M": 6, "G": 9, "T": 12, "P": 15}
_PREFIXES = {"": 0, **_LARGE, "h": 2, "d": -1, "c": -2, "m": -3, "µ": -6, "μ": -6, "n": -9, "p": -12, "f": -15}
_KINDS = {"m": "length", "s": "time", "A": "current", "mol": "amount", "Hz": "frequency", "N": "force"}
_KINDS |= {"Pa": "pressure", "J": "energy", "W": "power", "C": "charge", "V": "voltage", "F": "capacitance"}
_KINDS |= {"Ω": "resistance", "S": "conductance", "Wb": "flux", "T": "induction", "H": "inductance", "lm": "light"}
_KINDS |= {"lx": "illuminance", "Bq": "activity", "Gy": "dose", "Sv": "dose equivalent", "eV": "electronvolts"}
_KINDS |= {"l": "volume", "L": "volume", "g": "mass"}
_DATA = {"B": "bytes", "b": "bits", "bit": "bits"}
_LETTERS = frozenset("CFSTH")
"""Units that stand for something else where no prefix is before them: a letter, a grade, degrees, hours."""


def _written() -> dict[str, tuple[str, Decimal]]:
    found = {
        prefix + symbol: (kind, Decimal(1).scaleb(power - 3 * (symbol == "g")))
        for prefix, power in _PREFIXES.items()
        for symbol, kind in _KINDS.items()
        if prefix or symbol not in _LETTERS
    }
    found |= {
        prefix + symbol: (kind, Decimal(1).scaleb(power))
        for prefix, power in _LARGE.items()
        for symbol, kind in _DATA.items()
        if prefix + symbol != "kb"  # who writes kb means bytes as often as bits
    }
    return found | {"bit": ("bits", Decimal(1)), "bits": ("bits", Decimal(1)), "B": ("bytes", Decimal(1))}


SYMBOLS: Mapping[str, tuple[str, Decimal]] = _written()
"""Each symbol as it is written, with the kind of its unit and the factor to the base unit of that kind."""
