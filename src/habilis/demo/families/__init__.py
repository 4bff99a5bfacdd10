"""The families of questions, in the order in which they are asked; each reads a phrase wholly or not at all."""

from __future__ import annotations

from habilis.demo.families.arithmetic import Arithmetic
from habilis.demo.families.asked import AskedPatterns
from habilis.demo.families.codes import Codes
from habilis.demo.families.dates import Dates
from habilis.demo.families.documents import Documents
from habilis.demo.families.entries import Entries
from habilis.demo.families.figures import NumberLines
from habilis.demo.families.json_values import JsonValues
from habilis.demo.families.lists import Lists
from habilis.demo.families.logs import Logs
from habilis.demo.families.numerals import Numerals
from habilis.demo.families.outlines import Outlines
from habilis.demo.families.patterns import Patterns
from habilis.demo.families.queries import Queries
from habilis.demo.families.rates import Rates
from habilis.demo.families.rosters import Rosters
from habilis.demo.families.tables import Tables
from habilis.demo.families.texts import Texts
from habilis.demo.families.traces import Traces
from habilis.demo.families.units import Units
from habilis.demo.families.weeks import Weeks
from habilis.questions.world import Family

ALL: tuple[Family, ...] = (
    Dates("dates"),
    Units("units"),
    Codes("codes"),
    Numerals("numerals"),
    AskedPatterns("distances"),
    Lists("lists"),
    AskedPatterns("integers"),
    Weeks("weeks"),
    JsonValues(),
    Arithmetic(),
    Rates(),
    Patterns("patterns"),
    Traces("traces"),
    Logs("logs"),
    AskedPatterns("pages"),
    Outlines("outlines"),
    Rosters("rosters"),
    NumberLines("figures"),
    Texts("texts"),
    Documents("documents"),
    Tables("tables"),
    Queries(),
    Entries("entries"),
)
