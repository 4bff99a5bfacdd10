"""Regular expressions over a text file: matches, how many, different ones, lines that match.

The pattern stands in the question, or the question names something that a pattern is known for: e-mail addresses,
web addresses, IP addresses, ISO dates, hashtags.
"""

from __future__ import annotations

import re

from habilis.demo.operations import Example, Operation, Slot, SlotType, worded
from habilis.demo.world import MARK, Call, CannotAnswerError, World

PATH = Slot("path", "string", "path of the text file", ("file_path", "text_path", "path"))
PATTERN = Slot("pattern", "string", "the regular expression, in Python's syntax", ("pattern", "regex", "expression"))
SMALL = "order A-17\norder B-20 and A-17\nend\n"
KNOWN: dict[str, str] = {
    r"e-?mails?(?: addresses)?": r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    r"(?:urls?|web addresses|web ?links)": r"https?://[^\s<>\"')\]]*[^\s<>\"')\].,;:!?]",
    r"ip(?:v4)? addresses": r"(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\d.])",
    r"iso dates": r"(?<!\d)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)",
    r"hashtags": r"(?<!\w)#\w+",
}
"""What a question may name instead of a pattern, and the pattern that finds it."""


def _over_file(
    key: str, what: str, result: SlotType, names: tuple[tuple[str, str, str], ...], marks: tuple[str, ...],
    compute: str, finding: str, bars: str = "",
) -> Operation:  # fmt: skip
    output = Slot("found", result, "what was found", ("matches", "found", "result"))
    return Operation(
        key=key,
        description=f"{{word}} {what}.",
        inputs=(PATH, PATTERN),
        output=output,
        wordings=worded((PATH, PATTERN, output), *names),
        marks=(*marks, "regular expression|regex", "file"),
        bars=f"csv|json|replace|{bars}".rstrip("|"),
        example=Example({"path": "small.txt", "pattern": r"[A-Z]-\d+"}, {"small.txt": SMALL}),
        finding=finding,
        naive="pattern_naive",
        robust="pattern_robust",
        effects="reads",
        fill={"compute": compute},
    )


COUNT = _over_file(
    "count_matches", "of a regular expression in a text file", "integer",
    (("occurrences|often", "count_pattern_occurrences", "Number of matches"),
     ("", "count_regex_matches", "Number of matches"), ("", "number_of_pattern_hits", "Number of matches")),
    ("number of matches",), "len(matches)", "{pattern} matches {value} times in {path}", "lines|different",
)  # fmt: skip
MATCHES = _over_file(
    "list_matches", "of a regular expression in a text file, in the order of the text", "array_of_strings",
    (("extract", "extract_pattern_matches", "All matches"),
     ("", "find_regex_matches", "All matches"), ("", "list_pattern_matches", "All matches")),
    ("all matches",), "matches", "{pattern} finds {value} in {path}", "different|number of",
)  # fmt: skip
DISTINCT = _over_file(
    "distinct_matches", "of a regular expression in a text file, each once, in the order of the text",
    "array_of_strings",
    (("unique", "find_unique_pattern_matches", "Different matches"),
     ("", "list_distinct_regex_matches", "Different matches")),
    ("different matches",), "list(dict.fromkeys(matches))", "{pattern} finds {value} in {path}",
)  # fmt: skip
LINES = _over_file(
    "count_matching_lines", "of a text file that hold a match of a regular expression", "integer",
    (("", "count_lines_matching_pattern", "Number of lines"), ("", "count_regex_lines", "Number of lines")),
    ("number of lines",), "sum(1 for line in text.splitlines() if wanted.search(line))",
    "{value} lines of {path} match {pattern}",
)  # fmt: skip

_LITERAL = r"(?:`(?P<a>[^`]+)`|\"(?P<b>[^\"]+)\"|'(?P<c>[^']+)'|/(?P<d>\S+)/(?= |$))"
_REGEX = rf"(?:the )?(?:regular expression|regexp?|pattern) {_LITERAL}"
_NAMED = r"(?P<named>" + "|".join(f"(?:{name})" for name in KNOWN) + ")"
_FEW = r"(?P<few>(?:distinct|different|unique) )?"
_THINGS = r"(?:matches|strings|texts|parts|places|occurrences|hits|substrings|words|codes)"
_EXIST = r"(?: (?:are|is) there| are| occur| appear| exist)?(?: in total)?"
_FORMS: tuple[tuple[str, Operation], ...] = (
    (rf"how many lines (?:that )?(?:match|matching|contain(?:ing)?|hold|have)(?: a match (?:of|for))? {_REGEX}", LINES),
    (rf"how many (?:times|often) (?:does|do|did) {_REGEX} (?:match|occur|appear)", COUNT),
    (rf"how often (?:does|do|did) {_REGEX} (?:match|occur|appear)", COUNT),
    (rf"how many {_FEW}{_THINGS} (?:of |for |that |does )?(?:match(?:ing)? )?{_REGEX}(?: have)?{_EXIST}", COUNT),
    (rf"how many {_FEW}{_NAMED}{_EXIST}", COUNT),
    (rf"(?:which |what |extract |all |the )*{_FEW}{_THINGS} (?:of |for |that )?(?:match(?:ing)? )?{_REGEX}{_EXIST}",
     MATCHES),
    (rf"(?:everything|all|what) (?:that )?(?:matches|matching) {_REGEX}", MATCHES),
    (rf"(?:which |what |extract |all |the )*{_FEW}{_NAMED}{_EXIST}", MATCHES),
)  # fmt: skip


class Patterns:
    """Family of regular expressions over one file, of any ending."""

    operations = (COUNT, MATCHES, DISTINCT, LINES)

    def read(self, phrase: str, world: World) -> Call | None:
        bare = " ".join(re.sub(rf",? ?(?:(?:in|of|from|within) )?{MARK}[0-9]+", "", phrase).split())
        bare = re.sub(r"^(?:the )?(?:total )?number of |^count (?:of )?(?:the |all )*", "how many ", bare, flags=re.I)
        for form, operation in _FORMS:
            match = re.fullmatch(form, bare, re.IGNORECASE)
            taken = world.take_file(phrase) if match else None
            if match and taken:
                few = bool(match.groupdict().get("few"))
                view = "length" if few and operation is COUNT else "value"
                wanted = DISTINCT if few else operation
                return Call(wanted, {"path": taken[1].named, "pattern": _pattern(match)}, view)  # type: ignore[arg-type]
        return None


def _pattern(match: re.Match[str]) -> str:
    found = match.groupdict()
    if named := found.get("named"):
        return next(pattern for name, pattern in KNOWN.items() if re.fullmatch(name, named, re.I))
    pattern = next(found[key] for key in "abcd" if found.get(key))
    try:
        re.compile(pattern)
    except re.error as problem:
        raise CannotAnswerError(f"{pattern} is no valid regular expression: {problem}.") from None
    return pattern
