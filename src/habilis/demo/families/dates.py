"""Dates: days between two, the weekday of one, some time before or after one, leap years."""

from __future__ import annotations

import re

from habilis.demo.language import DATE, date, whole
from habilis.demo.operations import Example, Operation, Slot, Wording
from habilis.demo.world import Call, Filled, World

START = Slot("start", "string", "the first date, ISO 8601", ("start_date", "first_date", "date_from"))
END = Slot("end", "string", "the second date, ISO 8601", ("end_date", "second_date", "date_to"))
DAY = Slot("date", "string", "the date, ISO 8601", ("date", "day", "iso_date", "start_date"))
AMOUNT = Slot("amount", "integer", "how many units, negative to go back", ("amount", "count", "offset"))
UNIT = Slot("unit", "string", "days, weeks, months or years", ("unit", "time_unit"))

BETWEEN = Operation(
    key="days_between",
    description="{word} from one date to another.",
    inputs=(START, END),
    output=Slot("days", "integer", "number of days, negative when the second date is earlier", ("days", "difference")),
    wordings=(
        Wording("difference", "compute_date_difference", "Difference in days",
                {"start": "first_date", "end": "second_date", "days": "difference"}),
        Wording("", "count_days_between_dates", "Number of days"),
    ),
    marks=("days", "date"),
    bars="week ?day|working|add|leap",
    example=Example({"start": "2024-02-27", "end": "2024-03-01"}),
    finding="from {start} to {end} it is {value} days",
    naive="days_between_naive",
    robust="days_between_robust",
)  # fmt: skip
WEEKDAY = Operation(
    key="weekday",
    description="{word} of a date, in English.",
    inputs=(DAY,),
    output=Slot("weekday", "string", "name of the day of the week", ("weekday", "day_of_week", "day_name")),
    wordings=(
        Wording("day of the week", "find_day_of_week", "Day of the week", {"weekday": "day_of_week"}),
        Wording("", "get_weekday_of_date", "Weekday"),
    ),
    marks=("week ?day|day of the week|day of week", "date"),
    bars="between|number of|working|add",
    example=Example({"date": "2024-02-29"}),
    finding="{date} is a {value}",
    naive="weekday_naive",
    robust="weekday_robust",
)
ADD = Operation(
    key="add_to_date",
    description="{word} a date by a number of days, weeks, months or years.",
    inputs=(DAY, AMOUNT, UNIT),
    output=Slot("date", "string", "the resulting date, ISO 8601", ("result_date", "new_date", "date")),
    wordings=(
        Wording("add|plus|after|from", "add_interval_to_date", "Moves forward"),
        Wording("", "shift_date", "Moves", {"date": "start_date", "amount": "offset", "date_out": "new_date"}),
    ),
    marks=("date", "days, weeks|interval|shift"),
    bars="between|difference",
    example=Example({"date": "2024-02-27", "amount": 3, "unit": "days"}),
    finding="{amount} {unit} from {date} it is {value}",
    naive="add_to_date_naive",
    robust="add_to_date_robust",
)
LEAP = Operation(
    key="leap_year",
    description="{word} a year is a leap year of the Gregorian calendar.",
    inputs=(Slot("year", "integer", "the year", ("year", "calendar_year")),),
    output=Slot("is_leap", "boolean", "whether it is one", ("is_leap_year", "leap")),
    wordings=(Wording("", "check_leap_year", "Whether"),),
    marks=("leap year",),
    example=Example({"year": 2024}),
    finding="is {year} a leap year? {value}",
    naive="leap_year",
    robust="leap_year",
)

_UNIT = r"(?P<unit>days?|weeks?|fortnights?|months?|years?)"
_DATED = rf"(?P<date>{DATE})"
_MOVES: tuple[tuple[str, int], ...] = (
    (rf"(?:what |which )?(?:is |will be )?(?:the )?(?:date|day)?(?: is| will be| falls| comes| it is| would be)?"
     rf"(?: it)? ?(?P<n>\S+) {_UNIT} (?:after|from|past|following|later than) {_DATED}", 1),
    (rf"(?:what |which )?(?:is |was )?(?:the )?(?:date|day)?(?: is| was| it was| would be)?(?: it)? ?"
     rf"(?P<n>\S+) {_UNIT} (?:before|prior to|ahead of|earlier than) {_DATED}", -1),
    (rf"add (?P<n>\S+) {_UNIT} to (?:the date )?{_DATED}", 1),
    (rf"subtract (?P<n>\S+) {_UNIT} from (?:the date )?{_DATED}", -1),
    (rf"{_DATED} (?:plus|\+) (?P<n>\S+) {_UNIT}", 1),
    (rf"{_DATED} (?:minus|-) (?P<n>\S+) {_UNIT}", -1),
)  # fmt: skip
_WEEKDAYS = r"(?:week ?day|day of the week|day)"
_WEEKDAY_FORMS = (
    rf"(?:(?:on )?(?:which|what) )?{_WEEKDAYS} (?:is|was|will be|did|does|will) (?:the date )?(?P<x>.+?)"
    rf"(?: fall on| falls on| fall| be| on)?",
    rf"(?:which|what) {_WEEKDAYS} (?P<x>.+?) (?:is|was|falls on|fell on)",
    rf"{_WEEKDAYS} (?:(?:of|for|on) )?(?:the date )?(?P<x>.+)",
    rf"(?:on )?(?:which|what) {_WEEKDAYS} (?:does|did|will) (?P<x>.+?) fall(?: on)?",
)
_SPAN = r"(?P<a>.+?),? (?:and|to|until|till|through|up to) (?P<b>.+?)"
_BETWEEN_FORMS = (
    rf"(?:how many |number of )?(?P<unit>days|weeks) (?:are there |are |is it |lie |passed |pass |have passed"
    rf" |elapsed )?(?:in )?(?:between|from|separate) {_SPAN}(?: are there)?",
    rf"(?:difference|distance|time|interval)(?: in (?P<unit>days|weeks)) (?:between|from) {_SPAN}",
    rf"(?P<unit>days|weeks)? ?(?:difference|distance) (?:between|from) {_SPAN}",
    rf"difference (?:between|from) {_SPAN} in (?P<unit>days|weeks)",
)  # fmt: skip


class Dates:
    """Family of dates with a year. Words such as "today" are not understood: this model has no clock."""

    operations = (BETWEEN, WEEKDAY, ADD, LEAP)

    def read(self, phrase: str, world: World) -> Call | None:
        return _leap(phrase) or _moved(phrase) or _between(phrase, world) or _weekday(phrase, world)


def _leap(text: str) -> Call | None:
    match = re.fullmatch(
        r"(?:(?:is|was|will|whether|check (?:if|whether)) )?(?:the )?(?:year )?([0-9]{1,4}) "
        r"(?:is |was |be )?a leap[ -]year",
        text,
        re.I,
    )
    return Call(LEAP, {"year": int(match[1])}) if match else None


def _moved(text: str) -> Call | None:
    for pattern, sign in _MOVES:
        match = re.fullmatch(pattern, text, re.IGNORECASE)
        amount = (1 if match["n"].lower() in ("a", "an") else whole(match["n"])) if match else None
        start = date(match["date"]) if match else None
        if match and amount is not None and start:
            unit = match["unit"].lower().rstrip("s") + "s"
            factor, unit = (2, "weeks") if unit == "fortnights" else (1, unit)
            return Call(ADD, {"date": start, "amount": sign * factor * amount, "unit": unit})
    return None


def _between(text: str, world: World) -> Call | None:
    for pattern in _BETWEEN_FORMS:
        match = re.fullmatch(pattern, text, re.IGNORECASE)
        if not match:
            continue
        start, end = _date(match["a"], world), _date(match["b"], world)
        if start and end:
            if "between" in match[0].lower() and isinstance(start, str) and isinstance(end, str):
                start, end = sorted((start, end))  # between two dates it is never less than no days
            days = Call(BETWEEN, {"start": start, "end": end})
            weeks = (match["unit"] or "").lower() == "weeks"
            return _weeks(days) if weeks else days
    return None


def _weeks(days: Call) -> Call:
    from habilis.demo.families.arithmetic import EXPRESSION

    return Call(EXPRESSION, {"expression": Filled("{0} / 7", (days,))})


def _weekday(text: str, world: World) -> Call | None:
    for pattern in _WEEKDAY_FORMS:
        match = re.fullmatch(pattern, text, re.IGNORECASE)
        found = _date(match["x"], world) if match else None
        if found:
            return Call(WEEKDAY, {"date": found})
    return None


def _date(text: str, world: World) -> str | Call | None:
    """A date as written, or the call that finds it: "100 days after 1 May 2024"."""
    return date(text) or _moved(re.sub(r"^(?:the )?(?:date|day) ", "", text, flags=re.I))
