"""A library tended by hand: looked at, proved, changed; each change is one generation, by the curator's own gates."""

from habilis.evolution.tending.tending import Tending
from habilis.evolution.tending.words import HandReport, Refused

__all__ = ["HandReport", "Refused", "Tending"]
