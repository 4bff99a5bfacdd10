"""How far two texts are apart: edit distance, Hamming distance, the longest common subsequence."""

from __future__ import annotations

import re

from habilis.demo.operations import Example, Operation, Slot, SlotType, worded
from habilis.demo.world import MARK, Call, World

FIRST = Slot("first", "string", "the first text", ("first", "source", "text_a"))
SECOND = Slot("second", "string", "the second text", ("second", "target", "text_b"))


def _of_two(
    key: str, what: str, result: SlotType, output: tuple[str, ...], names: tuple[tuple[str, str, str], ...],
    mark: str, finding: str, naive: str, robust: str,
) -> Operation:  # fmt: skip
    slot = Slot("outcome", result, "what was found", output)
    return Operation(
        key=key,
        description=f"{{word}} {what}.",
        inputs=(FIRST, SECOND),
        output=slot,
        wordings=worded((FIRST, SECOND, slot), *names),
        marks=(mark, "two texts"),
        example=Example({"first": "port", "second": "sort"}),
        finding=finding,
        naive=naive,
        robust=robust,
    )


LEVENSHTEIN = _of_two(
    "levenshtein_distance", "of two texts: fewest single characters to insert, delete or replace", "integer",
    ("distance", "edits", "edit_distance"),
    (("edit|edits", "count_edits_between_texts", "Edit distance"),
     ("", "compute_levenshtein_distance", "Edit distance (Levenshtein)"),
     ("", "measure_levenshtein_distance", "Edit distance (Levenshtein)")),
    "edit distance", '"{first}" and "{second}" are {value} edits apart', "levenshtein_naive", "levenshtein_robust",
)  # fmt: skip
HAMMING = _of_two(
    "hamming_distance", "of two texts of equal length: places where they differ", "integer",
    ("distance", "differences", "hamming_distance"),
    (("positions?|places?", "count_differing_positions", "Hamming distance"),
     ("", "compute_hamming_distance", "Hamming distance"), ("", "measure_hamming_distance", "Hamming distance")),
    "hamming distance", '"{first}" and "{second}" differ in {value} places', "hamming", "hamming",
)  # fmt: skip
SUBSEQUENCE = _of_two(
    "longest_common_subsequence", "of two texts: characters of both in the same order, not necessarily side by side",
    "string", ("subsequence", "common", "result"),
    (("", "find_longest_common_subsequence", "Longest common subsequence"),
     ("", "longest_shared_subsequence", "Longest common subsequence")),
    "longest common subsequence", '"{value}" is a longest common subsequence of "{first}" and "{second}"',
    "subsequence_naive", "subsequence_robust",
)  # fmt: skip


def _text(group: str) -> str:
    return rf"(?:\"(?P<{group}1>[^\"]*)\"|'(?P<{group}2>[^']*)'|`(?P<{group}3>[^`]*)`|(?P<{group}4>\w+))"


_WORDS = r"(?:the )?(?:(?:two )?(?:strings|words|texts|sequences) )?"
_ONE = r"(?:the )?(?:(?:string|word|text) )?"
_TWO = rf"{_WORDS}{_ONE}{_text('a')} (?:and|to|from|with|vs\.?|into) {_ONE}{_text('b')}"
_FORMS: tuple[tuple[str, Operation], ...] = (
    (rf"(?:levenshtein|edit|levenshtein edit)(?: edit)? distance (?:between|of|from|for) {_TWO}", LEVENSHTEIN),
    (rf"how many (?:single[- ]character )?(?:edits|changes)(?: are needed| does it take| are necessary"
     rf"| it takes)? to (?:turn|change|get|transform|go|come) (?:from )?{_TWO}", LEVENSHTEIN),
    (rf"how far apart are {_TWO} in (?:edits|levenshtein distance)", LEVENSHTEIN),
    (rf"hamming distance (?:between|of|from|for) {_TWO}", HAMMING),
    (rf"(?:in )?how many (?:positions|places|characters) (?:do|does|differ (?:between|in)) {_TWO}"
     rf"(?: differ)?", HAMMING),
    (rf"(?P<length>length of (?:the )?|how long is (?:the )?)?(?:longest common subsequence|lcs) (?:between|of|for"
     rf"|in|shared by) {_TWO}", SUBSEQUENCE),
)  # fmt: skip


class Distances:
    """Family of comparisons of two texts that stand in the question, quoted or as single words."""

    operations = (LEVENSHTEIN, HAMMING, SUBSEQUENCE)

    def read(self, phrase: str, world: World) -> Call | None:
        if MARK in phrase:
            return None
        for form, operation in _FORMS:
            if match := re.fullmatch(form, phrase, re.I):
                first, second = (_said(match, group) for group in "ab")
                view = "length" if match.groupdict().get("length") else "value"
                return Call(operation, {"first": first, "second": second}, view)  # type: ignore[arg-type]
        return None


def _said(match: re.Match[str], group: str) -> str:
    return next(match[f"{group}{i}"] for i in "1234" if match[f"{group}{i}"] is not None)
