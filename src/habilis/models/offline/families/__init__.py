"""The families of questions, in the order in which they are asked; each reads a phrase wholly or not at all."""

from __future__ import annotations

from habilis.models.offline.families.arithmetic import Arithmetic
from habilis.models.offline.families.tables import Tables
from habilis.models.offline.world import Family

ALL: tuple[Family, ...] = (Arithmetic(), Tables())

__all__ = ["ALL"]
