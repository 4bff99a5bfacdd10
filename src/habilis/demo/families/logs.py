"""Log files: entries by level, the busiest hour, requests by status, the slowest request."""

from __future__ import annotations

import re
from typing import Any

from habilis.demo.operations import Example, Operation, Slot, SlotType, worded
from habilis.demo.world import MARK, Call, World

PATH = Slot("path", "string", "path of the log file", ("log_path", "file_path", "path"))
LEVEL = Slot("level", "string", "the level, such as ERROR", ("level", "severity", "log_level"))
LOWEST = Slot("lowest", "integer", "the lowest status that counts", ("lowest_status", "status_from", "minimum_status"))
HIGHEST = Slot(
    "highest", "integer", "the highest status that counts", ("highest_status", "status_to", "maximum_status")
)
APPLICATION = "2024-03-01 09:15:02 INFO started\n2024-03-01 10:00:00 ERROR no disk\n2024-03-01 10:30:00 INFO stopped\n"
ACCESS = (
    '10.0.0.1 - - [01/Mar/2024:09:15:02 +0000] "GET /a HTTP/1.1" 200 512 12ms\n'
    '10.0.0.2 - - [01/Mar/2024:10:00:00 +0000] "POST /b HTTP/1.1" 500 40 345ms\n'
)


def _of_log(
    key: str, what: str, result: SlotType, output: tuple[str, ...], names: tuple[tuple[str, str, str], ...],
    marks: tuple[str, ...], finding: str, template: str, compute: str, more: tuple[Slot, ...] = (),
    example: dict[str, Any] | None = None, text: str = ACCESS, bars: str = "",
) -> Operation:  # fmt: skip
    slot = Slot("found", result, "what was found", output)
    return Operation(
        key=key,
        description=f"{{word}} {what}.",
        inputs=(PATH, *more),
        output=slot,
        wordings=worded((PATH, *more, slot), *names),
        marks=(*marks, "log"),
        bars=f"csv|json|regular expression|{bars}".rstrip("|"),
        example=Example({"path": "small.log", **(example or {})}, {"small.log": text}),
        finding=finding,
        naive=f"log_{template}_naive",
        robust=f"log_{template}_robust",
        effects="reads",
        fill={"compute": compute},
    )


LEVEL_COUNT = _of_log(
    "log_level_count", "of one level in a log file", "integer", ("count", "entries", "result"),
    (("lines", "count_log_lines_by_level", "Number of entries"),
     ("", "count_log_entries_of_level", "Number of entries"),
     ("", "number_of_log_messages_at_level", "Number of entries")),
    ("number of entries", "of one level"), "{path} has {value} entries of level {level}", "levels",
    "levels.count(level_of($in_level))", (LEVEL,), {"level": "INFO"}, APPLICATION,
)  # fmt: skip
LEVEL_COUNTS = _of_log(
    "log_level_counts", "of each level in a log file", "object", ("counts", "by_level", "entries"),
    (("breakdown|distribution", "break_down_log_by_level", "Number of entries"),
     ("", "count_log_entries_by_level", "Number of entries"), ("", "tally_log_levels", "Number of entries")),
    ("number of entries", "of each level"), "the levels of {path} are: {value}", "levels",
    "{name: levels.count(name) for name in sorted(set(levels))}", text=APPLICATION,
)  # fmt: skip
LEVEL_SHARE = _of_log(
    "log_level_share", "of one level among all entries with a level in a log file, in percent", "number",
    ("percent", "share", "rate"),
    (("rate", "compute_log_level_rate", "Share of entries"), ("", "compute_share_of_log_level", "Share of entries")),
    ("share of entries", "of one level"), "{value} percent of the entries of {path} are of level {level}", "levels",
    "100 * levels.count(level_of($in_level)) / len(levels)", (LEVEL,), {"level": "ERROR"}, APPLICATION,
)  # fmt: skip
BUSIEST = _of_log(
    "busiest_hour", "of the day in a log file, from 00 to 23, several where they are equal", "array_of_strings",
    ("hours", "busiest", "peak_hours"),
    (("peak", "find_peak_hour_of_log", "Hour with the most entries"),
     ("", "find_busiest_hour_of_log", "Hour with the most entries"),
     ("", "get_busiest_log_hour", "Hour with the most entries")),
    ("hour with the most",), "most entries of {path} are of the hour {value}", "hours",
    "sorted(hour for hour in set(hours) if hours.count(hour) == max(map(hours.count, set(hours))))",
)  # fmt: skip
STATUS_COUNT = _of_log(
    "status_count", "answered with a status in a range in an access log", "integer", ("count", "requests", "result"),
    (("fail|failed", "count_failed_requests", "Number of requests"),
     ("", "count_requests_by_status", "Number of requests"),
     ("", "number_of_requests_with_status", "Number of requests")),
    ("number of requests", "status"), "{value} requests in {path} have a status from {lowest} to {highest}", "statuses",
    "sum($in_lowest <= status <= $in_highest for status in statuses)", (LOWEST, HIGHEST),
    {"lowest": 500, "highest": 599},
)  # fmt: skip
STATUS_SHARE = _of_log(
    "status_share", "answered with a status in a range among all requests in an access log, in percent", "number",
    ("percent", "share", "rate"),
    (("rate", "compute_status_rate", "Share of requests"),
     ("", "compute_share_of_requests_by_status", "Share of requests")),
    ("share of requests", "status"), "{value} percent of the requests in {path} have a status from {lowest} to"
                                     " {highest}",
    "statuses", "100 * sum($in_lowest <= status <= $in_highest for status in statuses) / len(statuses)",
    (LOWEST, HIGHEST), {"lowest": 500, "highest": 599},
)  # fmt: skip
SLOWEST = _of_log(
    "slowest_request", "that took longest in an access log, several where they are equal", "array_of_strings",
    ("requests", "slowest", "result"),
    (("longest", "find_longest_running_request", "Request"), ("", "find_slowest_request", "Request"),
     ("", "get_slowest_request_of_log", "Request")),
    ("request that took longest",), "the slowest request in {path} is {value}", "durations",
    "list(dict.fromkeys(request for request, took in timed if took == max(took for _, took in timed)))",
)  # fmt: skip
DURATION = _of_log(
    "longest_duration", "of the slowest request in an access log, in milliseconds", "number",
    ("milliseconds", "duration", "longest"),
    (("", "find_longest_request_duration", "Duration"), ("", "get_duration_of_slowest_request", "Duration")),
    ("duration of the slowest",), "the slowest request in {path} took {value} ms", "durations",
    "max(took for _, took in timed)",
)  # fmt: skip

_LEVELS = r"(?P<level>trace|debug|info|notice|warn(?:ing)?|error|critical|fatal)"
_ENTRY = r"(?:log )?(?:entries|entry|lines|messages|events|records)"
_ANY = (
    r"(?: (?:are|is) there| are| were(?: there| logged)?| logged| occur| appear| does it have| happened)?(?: in total)?"
)
_STATUS = r"(?:(?:http )?status(?: code)?s?(?: of)? )?(?P<status>[1-5](?:[0-9]{2}|xx))"
_FAULT = r"(?P<fault>server|client) errors?"
_HAD = (
    r"(?:with|had|have|got|returned|return|that returned|(?:were |was )?answered with|ended with|were"
    r"|failed with|ended in|resulted in|that ended in|are|was)(?: an?)?"
)
_REQUESTS = r"(?:http )?(?:requests|responses|hits|calls)"
_SHARE = r"(?:(?:what )?(?:percentage|percent|share|proportion|fraction)(?: in percent)?)(?: of)?(?: the| all)*"
_FORMS: tuple[tuple[str, Operation], ...] = (
    (rf"how many {_LEVELS}(?:s|[- ](?:level )?{_ENTRY})?{_ANY}", LEVEL_COUNT),
    (rf"how many {_ENTRY} (?:are |have |were )?(?:of|at|with|logged at)?(?: the)? ?(?:level )?{_LEVELS}"
     rf"(?: level)?{_ANY}", LEVEL_COUNT),
    (rf"how many {_ENTRY}{_ANY} (?:per|of each|by|for each|at each|of every) (?:log )?(?:level"
     rf"|severity)", LEVEL_COUNTS),
    (rf"(?:an? )?(?:breakdown|distribution|counts?|number|tally)(?: of)?(?: (?:the )?{_ENTRY})? (?:by|per|of|for each) "
     rf"(?:the )?(?:log )?(?:levels?|severity)", LEVEL_COUNTS),
    (rf"{_SHARE} {_ENTRY}(?: is| are| has| have)?(?: at| of| with)?(?: the)?(?: level)? {_LEVELS}s?(?: {_ENTRY})?",
     LEVEL_SHARE),
    (rf"(?:rate|percentage|share) of {_LEVELS} {_ENTRY}", LEVEL_SHARE),
    (r"(?:busiest|peak) hour(?: of the day)?", BUSIEST),
    (r"(?:which|what|in which|at what) hour(?: of the day)? (?:has|had|is|was|saw|shows)(?: the)? "
     r"(?:busiest|peak)(?: hour)?", BUSIEST),
    (rf"(?:which|what|in which|at what) hour(?: of the day)? (?:has|had|is|was|saw|shows)(?: the)? "
     rf"(?:(?:most|highest number of|largest number of)(?: {_ENTRY}| {_REQUESTS}| traffic| activity)?)", BUSIEST),
    (rf"how many {_REQUESTS} {_HAD} {_STATUS}{_ANY}", STATUS_COUNT),
    (rf"how many {_REQUESTS} {_HAD} {_FAULT}{_ANY}", STATUS_COUNT),
    (rf"how many (?P<failed>failed) {_REQUESTS}{_ANY}", STATUS_COUNT),
    (rf"how many {_REQUESTS} (?P<failed>failed|were unsuccessful)", STATUS_COUNT),
    (rf"how many {_FAULT}{_ANY}", STATUS_COUNT),
    (rf"{_SHARE} {_REQUESTS} {_HAD} (?:{_STATUS}|{_FAULT})", STATUS_SHARE),
    (rf"{_SHARE} {_REQUESTS} (?P<failed>failed|were unsuccessful)", STATUS_SHARE),
    (r"(?P<fault>server|client)[ -]error (?:rate|percentage)", STATUS_SHARE),
    (rf"(?P<failed>error|failure) rate(?: of (?:the )?{_REQUESTS})?", STATUS_SHARE),
    (r"(?:slowest|longest(?:[- ]running)?) (?:http )?request", SLOWEST),
    (r"(?:which|what) (?:http )?request (?:was|is|took|takes|ran|needed)(?: the)? (?:slowest|longest)(?: time)?"
     r"(?: to answer)?", SLOWEST),
    (r"(?:how long|how many milliseconds) did the slowest request take(?: in milliseconds)?", DURATION),
    (r"(?:duration|time|response time)(?: in milliseconds)? (?:of|taken by) the slowest request"
     r"(?: in milliseconds)?", DURATION),
    (r"(?:longest|slowest|maximum) (?:request|response) (?:duration|time)(?: in milliseconds)?", DURATION),
)  # fmt: skip


class Logs:
    """Family of log files: of applications (a time and a level in each line) and of web servers (access logs)."""

    operations = (LEVEL_COUNT, LEVEL_COUNTS, LEVEL_SHARE, BUSIEST, STATUS_COUNT, STATUS_SHARE, SLOWEST, DURATION)

    def read(self, phrase: str, world: World) -> Call | None:
        bare = " ".join(re.sub(rf",? ?(?:(?:in|of|from|within|on|for) )?{MARK}[0-9]+", "", phrase).split())
        bare = re.sub(r"^(?:the )?(?:total )?number of |^count (?:of )?(?:the |all )*", "how many ", bare, flags=re.I)
        for form, operation in _FORMS:
            match = re.fullmatch(form, bare, re.IGNORECASE)
            taken = world.take_file(phrase, (".log", ".txt", ".out")) if match else None
            if match and taken:
                operation, more = _settled(operation, match, taken[1].begins)
                return Call(operation, {"path": taken[1].named, **more})
        return None


def _settled(operation: Operation, match: re.Match[str], begins: str) -> tuple[Operation, dict[str, Any]]:
    """The operation with its further values. "Error rate" means the level where the log's lines begin with levels."""
    if operation in (STATUS_COUNT, STATUS_SHARE):
        applies = re.search(r"\b(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b", begins)
        if operation is STATUS_SHARE and match[0].lower() == "error rate" and applies:
            return LEVEL_SHARE, {"level": "ERROR"}
        lowest, highest = _statuses(match)
        return operation, {"lowest": lowest, "highest": highest}
    level = match.groupdict().get("level")
    return operation, {"level": level.upper()} if level else {}


def _statuses(match: re.Match[str]) -> tuple[int, int]:
    """The range of statuses that a question means; a failed request is one with 400 or above (RFC 9110, section 15)."""
    found = match.groupdict()
    if status := found.get("status"):
        return (
            (int(status[0]) * 100, int(status[0]) * 100 + 99) if "x" in status.lower() else (int(status), int(status))
        )
    if fault := found.get("fault"):
        return (500, 599) if fault.lower() == "server" else (400, 499)
    return 400, 599
