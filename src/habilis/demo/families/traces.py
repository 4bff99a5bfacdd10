"""Logs with a date, a time and a word in capitals on each line: which values, spans or entries are meant."""

from __future__ import annotations

import re

from habilis.demo.families.asked import AskedPatterns, Match, Values, said_by
from habilis.questions.operations import DemoOperation
from habilis.questions.shown_tables import header_of
from habilis.questions.world import MARK, DemoCall, World

_FIRST_LINE = re.compile(r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?\]? +\[?[A-Z][A-Z_-]*\]?:?(?: |$)", re.MULTILINE)
_MEASURES = "sum mean median maximum minimum first last fall rise change".split()  # noqa: SIM905
_TESTS = ("less", "at_most", "greater", "at_least")
_ON_DATE = re.compile(r"^on ([0-9]{4}-[0-9]{2}-[0-9]{2}),? (.+?)(?= in @F|$)", re.IGNORECASE)
_GOING_BY = re.compile(
    r"^(?:going by|by|judging by|according to) (?:the )?([A-Z]+) and ([A-Z]+) (?:times|lines|entries) "
    rf"in ({MARK}[0-9]+),? (.+)$"
)
_LEVEL = re.compile(r"TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL")
_NO_SPAN = ("day", "date", "line", "word", "entry", "message", "text")
_NO_KIND = re.compile(r"(?:lines?|entries|events?|all|values?|words?|numbers?|time|day|date)$", re.IGNORECASE)


class Traces(AskedPatterns):
    """Family of logs with values by name and with entries that begin and end something."""

    def read(self, phrase: str, world: World) -> DemoCall | None:
        if world.wanted:
            if world.wanted.lower() not in ("time", "date"):
                return None
            phrase = f"{phrase} ({world.wanted.lower()})"
        phrase = re.sub(rf"^from ({MARK}[0-9]+) (.+)$", r"\2 in \1", phrase, flags=re.IGNORECASE)
        phrase = _GOING_BY.sub(r"\4 by \1 and \2 times in \3", phrase)
        phrase = _ON_DATE.sub(r"\2 on \1", phrase)
        at_hand = [file for file in world.files if _FIRST_LINE.match(file.begins)]
        return super().read(phrase, world) if at_hand else None

    def values(self, operation: DemoOperation, match: Match, world: World) -> Values | None:
        if not _FIRST_LINE.match(world.files[0].begins):
            return None
        said = said_by(match)
        names = {key.rstrip("0123456789") for key, text in match.groupdict().items() if text is not None}
        kinds = [said[one] for one in ("kind", "begin", "end") if one in said]
        lower = [one for one in kinds if not one.isupper()]
        if any(map(_NO_KIND.match, kinds)) or (lower and operation.key != "trace_figure"):
            return None
        is_level = bool(kinds) and _LEVEL.fullmatch(kinds[0]) is not None
        if is_level and operation.key in ("trace_moment", "trace_count") and header_of(world.files[0]) is not None:
            return None  # what counts levels also reads logs in which some lines are no entries
        if "date" not in said and re.search(r"\bday$", match[0], re.IGNORECASE):
            said["date"] = "only"
        known = {
            **{role: said.get(role, "") for role in ("name", "kind", "date", "text", "thing")},
            "measure": next((one for one in _MEASURES if one in names), ""),
            "test": f"{next((one for one in _TESTS if one in names), '')} {said.get('number', '')}".strip(),
            "kinds": f"{said['begin']} {said['end']}" if "begin" in said else "",
            "state": next((one for one in ("open", "on", "out") if one in names), ""),
            "rank": "lowest" if "shortest" in names else "highest",
            "by": "date" if "by" in names else "text",
            "choice": said.get("choice", "only").lower(),
            "unit": said.get("unit", "minutes").lower(),
            "shown": _shown(names),
        }
        if operation.key == "trace_top_spans" and said.get("noun", "event").lower() in _NO_SPAN:
            return None
        return {slot.role: known[slot.role] for slot in operation.inputs if slot.role != "path"}


def _shown(names: set[str]) -> str:
    """What of a moment is shown: what a sentence behind the question says, or what its first words ask for."""
    if "both" in names:
        return "both"
    if names & {"time", "asks_time"}:
        return "time"
    return "date" if names & {"date_only", "asks_date"} else "both"
