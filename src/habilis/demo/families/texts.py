"""The text of a file: words, lines, characters, frequent words, the longest line, occurrences of a word."""

from __future__ import annotations

from habilis.demo.families.asked import AskedPatterns, Match, Values
from habilis.questions.language import whole
from habilis.questions.operations import DemoOperation
from habilis.questions.world import World

MOST_LISTED = 1000


class Texts(AskedPatterns):
    """Family of questions about the text of one file, of any ending."""

    def values(self, operation: DemoOperation, match: Match, world: World) -> Values | None:
        if operation.key != "top_words":
            return super().values(operation, match, world)
        said = match.groupdict().get("n")
        n = whole(said) if said else 5 if "words" in match[0].lower() else 1
        return {"n": n} if n and n <= MOST_LISTED else None
