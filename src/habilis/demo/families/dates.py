"""Dates: days between two, the weekday of one, some time before or after one, leap years."""

from __future__ import annotations

import re
from typing import ClassVar

from habilis.demo.families.arithmetic import EXPRESSION
from habilis.demo.families.asked import AskedPatterns, Match, Values, pattern_of
from habilis.questions.language import DATE, date, whole
from habilis.questions.operations import DemoOperation
from habilis.questions.world import DemoCall, FilledOperation, World


class Dates(AskedPatterns):
    """Family of dates with a year. Words such as "today" are not understood: this model has no clock."""

    words: ClassVar = {"DATE": rf"(?P<date>{DATE})"}

    def values(self, operation: DemoOperation, match: Match, world: World) -> Values | None:
        if operation.key == "add_to_date":
            return _moved(match)
        if operation.key == "leap_year":
            return {"year": int(match["year"])}
        found = [self._date(match[slot.role], world) for slot in operation.inputs]
        if "between" in match[0].lower() and all(isinstance(one, str) for one in found):
            found.sort(key=str)  # between two dates it is never less than no days
        return None if None in found else dict(zip([slot.role for slot in operation.inputs], found, strict=True))

    def call(self, call: DemoCall, match: Match) -> DemoCall:
        if call.operation.key == "days_between" and (match["unit"] or "").lower() == "weeks":
            return DemoCall(EXPRESSION, {"expression": FilledOperation("{0} / 7", (call,))})
        return call

    def _date(self, text: str, world: World) -> str | DemoCall | None:
        """A date as written, or the call that finds it: "100 days after 1 May 2024"."""
        if found := date(text):
            return found
        text = re.sub(r"^(?:the )?(?:date|day) ", "", text, flags=re.I)
        add = next(one for one in self.operations if one.key == "add_to_date")
        moves = (pattern_of(form).fullmatch(text) for _, form in add.asked)
        return next((DemoCall(add, values) for move in moves if move and (values := _moved(move))), None)


def _moved(match: Match) -> Values | None:
    amount = 1 if match["amount"].lower() in ("a", "an") else whole(match["amount"])
    start = date(match["date"])
    if amount is None or not start:
        return None
    unit = match["unit"].lower().rstrip("s") + "s"
    factor, unit = (2, "weeks") if unit == "fortnights" else (1, unit)
    return {"date": start, "amount": amount * factor * (-1 if match.groupdict().get("back") else 1), "unit": unit}
