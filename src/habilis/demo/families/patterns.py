"""Regular expressions over a text file: matches, how many, different ones, lines that match.

The pattern stands in the question, or the question names something that a pattern is known for: e-mail addresses,
web addresses, IP addresses, ISO dates, hashtags.
"""

from __future__ import annotations

import re
from typing import ClassVar

from habilis.demo.families.asked import AskedPatterns, Match, Values
from habilis.questions.operations import DemoOperation
from habilis.questions.world import CannotAnswerError, World

KNOWN: dict[str, str] = {
    r"e-?mails?(?: addresses)?": r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    r"(?:urls?|web addresses|web ?links)": r"https?://[^\s<>\"')\]]*[^\s<>\"')\].,;:!?]",
    r"ip(?:v4)? addresses": r"(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\d.])",
    r"iso dates": r"(?<!\d)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)",
    r"hashtags": r"(?<!\w)#\w+",
}
"""What a question may name instead of a pattern, and the pattern that finds it."""


class Patterns(AskedPatterns):
    """Family of regular expressions over one file, of any ending."""

    words: ClassVar = {"NAMED": rf"(?P<named>{'|'.join(KNOWN)})"}

    def values(self, operation: DemoOperation, match: Match, world: World) -> Values | None:
        if named := match.groupdict().get("named"):
            return {"pattern": next(pattern for name, pattern in KNOWN.items() if re.fullmatch(name, named, re.I))}
        pattern = match["literal"][1:-1]
        try:
            re.compile(pattern)
        except re.error as problem:
            raise CannotAnswerError(f"{pattern} is not a valid regular expression: {problem}.") from None
        return {"pattern": pattern}
