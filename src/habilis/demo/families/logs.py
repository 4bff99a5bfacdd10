"""Log files of applications (a time and a level in each line) and of web servers (access logs)."""

from __future__ import annotations

import re

from habilis.demo.families.asked import AskedPatterns, Match, Values, said_by
from habilis.questions.operations import DemoOperation
from habilis.questions.prompts import SeenFile
from habilis.questions.shown_tables import header_of
from habilis.questions.world import DemoCall, World

_OF_EVENTS = ("log_moments", "log_between")
_BY_PART = ("log_days", "log_top_days", "log_components", "log_top_components", "log_of_component")
_LEVEL = re.compile(r"\b(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b")


_AT_WHAT_TIME = re.compile(r"(?:at )?what time(?: of (?:the )?day)?\b", re.IGNORECASE)
_NO_DATE = re.compile(
    r"[.?!,;]? ?\(?(?:give )?(?:just|only)? ?(?:the )?time(?: of day)?(?: only)?,? ?"
    r"(?:no|not the|without (?:the )?)? ?(?:date)?\)?(?= in @F|$)",
    re.IGNORECASE,
)
_NO_EVENT = re.compile(
    r"\b(?:trace|debug|info|notice|warn(?:ing)?s?|errors?|criticals?|fatals?|entr(?:y|ies)|lines?|messages?|events?|most|first|"
    r"last|average|total|longest|each|every|all|after|before|between|during|than|and|or|per)\b|\d{4}-|\d:\d",
    re.IGNORECASE,
)
_WORD_EXPLAINED = re.compile(
    r" ?\((?:i\.e\.,? )?the (?:\w+ )?word (?:right |directly )?(?:after|behind|following) the level\)", re.IGNORECASE
)


class Logs(AskedPatterns):
    """Family of log files."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.reads = True  # what is pure takes only what these read

    def read(self, phrase: str, world: World) -> DemoCall | None:
        phrase = _WORD_EXPLAINED.sub("", phrase)
        if not _AT_WHAT_TIME.match(phrase):
            return super().read(phrase, world)
        taken = world.take_file(phrase)
        if taken is None or not taken[1].named.lower().endswith(".log"):
            return None
        found = world.call(_AT_WHAT_TIME.sub("when", _NO_DATE.sub("", phrase)))
        clock = next(one for one in self.operations if one.key == "clock_times")
        values = found.values if found else {}
        timed = found and (
            found.operation.key == "log_moments" or values.get("shown") == "both" or values.get("column") == "time"
        )
        return DemoCall(clock, {"moments": found}) if timed else None

    def values(self, operation: DemoOperation, match: Match, world: World) -> Values | None:
        if operation.key in (*_OF_EVENTS, *_BY_PART) and not _is_log(world.files[0]):
            return None
        if operation.key in _OF_EVENTS:
            return _of_events(operation.key, said_by(match))
        said = match.groupdict()
        if operation.key in _BY_PART:
            told = said_by(match)
            header = header_of(world.files[0])
            if "component" in told and (header is None or any(row[2] for row in header.samples)):
                return None  # where each entry names it in brackets, it is a column
            level = told.get("level", "any").upper().replace("ANY", "any")
            rank = "lowest" if "lowest" in told else "highest"
            known = {"level": level, "rank": rank, "component": told.get("component", "")}
            return {slot.role: known[slot.role] for slot in operation.inputs if slot.role in known}
        if said.get("level"):
            return {"level": said["level"].upper()}
        if operation.key == "log_level_share":  # which an error rate means where lines begin with levels
            return {"level": "ERROR"} if _LEVEL.search(world.files[0].begins) else None
        if not operation.key.startswith("status"):
            return {}
        lowest, highest = _statuses(said.get("status") or "", said.get("fault") or "")
        return {"lowest": lowest, "highest": highest}


def _statuses(status: str, fault: str) -> tuple[int, int]:
    """The range of statuses that a question means; a failed request is one with 400 or above (RFC 9110, section 15)."""
    if status:
        return int(status.lower().replace("x", "0")), int(status.lower().replace("x", "9"))
    return {"server": (500, 599), "client": (400, 499)}.get(fault.lower(), (400, 599))


def _is_log(file: SeenFile) -> bool:
    """Whether a file is a log by its name, or because its first line begins with a date and a time."""
    return file.named.lower().endswith(".log") or re.match(r"\d{4}-\d\d-\d\d[T ]\d\d:", file.begins) is not None


def _of_events(key: str, said: dict[str, str]) -> Values | None:
    """The entries that are meant by their words."""
    if key == "log_moments":
        text = f"{said['text']} {said.get('then', '')}".strip("\"' ")
        return None if _NO_EVENT.search(text) else {"text": text, "choice": said.get("choice", "only").lower()}
    first, second = said.get("first", ""), said.get("second", "")
    if "thing" in said:
        first, second = (f"{said['thing']} {said[one]}" for one in ("done", "undone"))
    unit = "m:ss" if "minutes" in said else "h:mm:ss" if "hours" in said else said.get("unit", "words").lower()
    if any(_NO_EVENT.search(one) for one in (first, second)):
        return None
    return {"first": first.strip("\"' "), "second": second.strip("\"' "), "unit": unit}
