"""The families of questions, in the order in which they are asked; each reads a phrase wholly or not at all."""

from __future__ import annotations

from habilis.models.offline.families.arithmetic import Arithmetic
from habilis.models.offline.families.dates import Dates
from habilis.models.offline.families.documents import Documents
from habilis.models.offline.families.integers import Integers
from habilis.models.offline.families.lists import Lists
from habilis.models.offline.families.tables import Tables
from habilis.models.offline.families.texts import Texts
from habilis.models.offline.world import Family

ALL: tuple[Family, ...] = (Dates(), Lists(), Integers(), Arithmetic(), Texts(), Documents(), Tables())

__all__ = ["ALL"]
