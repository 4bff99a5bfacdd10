"""Dates and times of day in a text, in the forms of several languages."""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from habilis.core.patterns import lazy_pattern


class Day(NamedTuple):
    """A date, or what is said of one: parts that are not said are None."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    quarter: int | None = None
    weekday: int | None = None

    def real(self) -> datetime.date | None:
        """The date, if it is a whole one that the calendar has."""
        if self.year is None or self.month is None or self.day is None:
            return None
        try:
            return datetime.date(self.year, self.month, self.day)
        except ValueError:
            return None


class Clock(NamedTuple):
    """A time of day, or a duration that is written like one."""

    hour: int
    minute: int
    second: int | None = None


@dataclass(frozen=True)
class Moment:
    """A date or a time as it stands at `start` to `end`; several `days` where it can be read in several ways."""

    start: int
    end: int
    days: tuple[Day, ...] = ()
    clock: Clock | None = None
    sure: bool = True


_MONTHS = (
    "january jan januar jänner janvier enero ene января январь jän",
    "february feb februar février fév febrero февраля февраль febr",
    "march mar märz mär mrz mars marzo марта март",
    "april apr avril avr abril abr апреля апрель",
    "may mai mayo мая май",
    "june jun juni juin junio июня июнь",
    "july jul juli juillet juil julio июля июль",
    "august aug août agosto ago августа август",
    "september sep sept septembre septiembre сентября сентябрь",
    "october oct oktober okt octobre octubre октября октябрь",
    "november nov novembre noviembre ноября ноябрь",
    "december dec dezember dez décembre déc diciembre dic декабря декабрь",
)
_WEEKDAYS = (
    "monday mon montag mo lundi lun lunes понедельник понедельника 星期一 周一 月曜日 月曜",
    "tuesday tue tues dienstag di mardi martes вторник вторника 星期二 周二 火曜日 火曜",
    "wednesday wed mittwoch mi mercredi miércoles среда среду среды 星期三 周三 水曜日 水曜",
    "thursday thu thur thurs donnerstag do jeudi jueves четверг четверга 星期四 周四 木曜日 木曜",
    "friday fri freitag fr vendredi viernes пятница пятницу пятницы 星期五 周五 金曜日 金曜",
    "saturday sat samstag sonnabend sa samedi sábado суббота субботу субботы 星期六 周六 土曜日 土曜",
    "sunday sun sonntag so dimanche domingo воскресенье воскресенья 星期日 星期天 周日 日曜日 日曜",
)
MONTHS = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
WEEKDAYS = {name: number for number, names in enumerate(_WEEKDAYS) for name in names.split()}
_SHORT = frozenset(name for names in _WEEKDAYS for name in names.split() if name.isascii() and len(name) < 5)
"""Abbreviations that are other words too; they found a day, they do not claim one."""

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_NAMED = "|".join(sorted(WEEKDAYS, key=len, reverse=True))
_TH = r"(?:st|nd|rd|th|er|º|°|\.)?"
_OF = r"(?:\s+|\s+of\s+|\s+de\s+|\s*-\s*)"
_YEAR = r"(?:(?:,?\s+|\s*-\s*)(?:de\s+|del\s+|of\s+)?(?P<{0}>[12]\d{{3}})(?!\d))?"
_FORMS = [
    r"(?P<y1>\d{4})(?P<s1>[-/.])(?P<m1>\d{1,2})(?P=s1)(?P<d1>\d{1,2})",
    r"(?P<a2>\d{1,2})(?P<s2>[-/.])(?P<b2>\d{1,2})(?P=s2)(?P<y2>\d{4}|\d{2})(?![.\d]*\d)",
    rf"(?P<d3>\d{{1,2}}){_TH}{_OF}(?P<m3>{_MONTH})(?![^\W\d_]){_YEAR.format('y3')}",
    rf"(?P<m4>{_MONTH})\.?\s+(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:])(?:,?\s+(?P<y4>[12]\d{{3}})(?!\d))?",
    rf"(?P<m5>{_MONTH})\.?,?\s+(?:de\s+|of\s+)?(?P<y5>[12]\d{{3}})",
    r"(?P<y6>\d{4})\s?[年년](?:\s?(?P<m6>\d{1,2})\s?[月월](?:\s?(?P<d6>\d{1,2})\s?[日号일])?)?",
    r"(?P<m7>\d{1,2})\s?[月월]\s?(?P<d7>\d{1,2})\s?[日号일]",
    r"(?:Q|T)(?P<q8>[1-4])(?:[\s/-]*(?P<y8>[12]\d{3}))?",
    r"(?P<y9>[12]\d{3})[\s/-]*Q(?P<q9>[1-4])",
    r"(?P<q10>[1-4])\.\s?Quartal(?:\s(?P<y10>[12]\d{3}))?",
    r"(?P<y11>[12]\d{3})-(?P<m11>0[1-9]|1[0-2])(?!-?\d)",
    rf"(?P<m12>{_MONTH})(?![^\W\d_])",
    rf"(?P<w13>{_NAMED})(?![a-zäöüßéа-я_])",
]
_DAY = lazy_pattern(rf"(?<![^\W_\u3000-\u9fff])(?<!\d[.,:/-])(?:{'|'.join(_FORMS)})(?!\d)", re.IGNORECASE)
_CLOCK = lazy_pattern(
    r"(?<![\w.,:])(?:"
    r"(?P<h1>\d{1,2})(?P<s1>:)(?P<m1>[0-5]\d)(?::(?P<c1>[0-5]\d)(?:[.,]\d+)?)?\s?(?P<x1>[ap]\.?m\b\.?|Uhr)?"
    r"|(?P<h2>\d{1,2})(?:\.(?P<m2>[0-5]\d))?\s?(?P<x2>[ap]\.?m\b\.?|Uhr\b)(?:\s?(?P<n2>[0-5]?\d)(?![.,]?\d))?"
    r"|(?P<h3>\d{1,2})\s?h\s?(?P<m3>[0-5]\d)(?!\d|\s?min)"
    r"|(?P<h4>\d{1,2})\s?[点點時时시](?:\s?(?P<m4>\d{1,2})\s?[分분])?(?!間)"
    r")(?:Z|(?=T)|(?!\w))?",
    re.IGNORECASE,
)
_AFTER_DATE = lazy_pattern(r"(?<=\d)T(?=\d\d:)")


def moments(text: str) -> Iterator[Moment]:
    """The dates and the times of day in `text`: first all dates, then all times."""
    apart = _AFTER_DATE.sub(" ", text)
    for found in _DAY.finditer(apart):
        days = tuple(day for day in _days(found) if _possible(day))
        if days:
            yield Moment(found.start(), found.end(), days, sure=_is_sure(found))
    for found in _CLOCK.finditer(apart):
        clock = _clock(found)
        if clock is not None:
            yield Moment(found.start(), found.end(), clock=clock)


def _is_sure(found: re.Match[str]) -> bool:
    """Whether this is a date and nothing else: `may`, `march` and `mo` alone are words as well."""
    if found["m12"]:
        return found[0][0].isupper() and len(found[0]) > 3 and found[0] != "March"
    if found["w13"]:
        return found[0].lower() not in _SHORT
    return not (found["q8"] and not found["y8"] and found[0][0] == "T")


def _days(found: re.Match[str]) -> Iterator[Day]:
    """Each way to read what a form matched."""
    named = {name: text for name, text in found.groupdict().items() if text}
    parts = {name[0]: text for name, text in named.items() if name[0] in "ymdqw"}
    if "a2" in named:
        year = int(named["y2"])
        year += 0 if year > 99 else 2000 if year < 70 else 1900
        one, two = int(named["a2"]), int(named["b2"])
        yield Day(year, two, one)
        if named["s2"] != ".":
            yield Day(year, one, two)
        return
    month = parts.get("m", "")
    yield Day(
        int(parts["y"]) if "y" in parts else None,
        (int(month) if month.isdecimal() else MONTHS[month.lower()]) if month else None,
        int(parts["d"]) if "d" in parts else None,
        int(parts["q"]) if "q" in parts else None,
        WEEKDAYS[parts["w"].lower()] if "w" in parts else None,
    )


def _possible(day: Day) -> bool:
    if day.month is not None and not 1 <= day.month <= 12:
        return False
    if day.day is None:
        return True
    longest = 31 if day.month is None else calendar.monthrange(day.year or 2000, day.month)[1] if day.year != 0 else 31
    return 1 <= day.day <= longest


def _clock(found: re.Match[str]) -> Clock | None:
    named = {name[0]: text for name, text in found.groupdict().items() if text}
    hour, minute = int(named["h"]), int(named.get("m") or named.get("n") or 0)
    half = (named.get("x") or "").lower()[:1]
    if half in ("a", "p"):
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    return Clock(hour, minute, int(named["c"]) if "c" in named else None) if minute < 60 else None
