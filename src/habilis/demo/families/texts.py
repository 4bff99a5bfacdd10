"""The text of a file: words, lines, characters, frequent words, the longest line, occurrences of a word."""

from __future__ import annotations

from habilis.demo.families.asked import AskedPatterns, Match, Values, said_by
from habilis.demo.families.notes import place_of, shows_table
from habilis.questions.language import whole
from habilis.questions.operations import DemoOperation
from habilis.questions.world import World

MOST_LISTED = 1000
_TABLES = (".csv", ".tsv", ".tab", ".json", ".jsonl", ".html")


class Texts(AskedPatterns):
    """Family of questions about the text of one file, of any ending."""

    def values(self, operation: DemoOperation, match: Match, world: World) -> Values | None:
        if operation.key in ("nth_line", "lines_with", "line_words", "lines_starting"):
            return _of_lines(operation.key, match, world)
        if operation.key != "top_words":
            return super().values(operation, match, world)
        said = match.groupdict().get("n")
        n = whole(said) if said else 5 if "words" in match[0].lower() else 1
        return {"n": n} if n and n <= MOST_LISTED else None


def _of_lines(key: str, match: Match, world: World) -> Values | None:
    """Which lines of a file are meant that is no table of its own."""
    file = world.files[0]
    if file.named.lower().endswith(_TABLES) or (shows_table(file) and not file.named.lower().endswith(".log")):
        return None
    said = said_by(match)
    if key == "line_words":
        which = place_of(said["nth"]) if "nth" in said else f"nth {said['place']}" if "place" in said else ""
        which = which or f"begins {said['begins']}"
        return {"which": which, "part": "behind" if "behind" in said else "all"}
    if "text" in said:
        return {"text": said["text"]}
    way, _, place = (place_of(said["nth"]) if "nth" in said else f"nth {said['place']}").partition(" ")
    return {"place": int(place) if way == "nth" else -int(place)} if place else None
