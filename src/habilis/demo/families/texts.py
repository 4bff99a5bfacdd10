"""The text of a file: words, lines, characters, frequent words, the longest line, occurrences of a word."""

from __future__ import annotations

from habilis.demo.families.asked import Asked, Match, Values
from habilis.demo.language import whole
from habilis.demo.operations import Operation
from habilis.demo.world import World

MOST_LISTED = 1000


class Texts(Asked):
    """Family of questions about the text of one file, of any ending."""

    def values(self, operation: Operation, match: Match, world: World) -> Values | None:
        if operation.key != "top_words":
            return super().values(operation, match, world)
        said = match.groupdict().get("n")
        n = whole(said) if said else 5 if "words" in match[0].lower() else 1
        return {"n": n} if n and n <= MOST_LISTED else None
