"""Tables by group: a statistic of a column for each value of another, and the groups where it is highest or lowest."""

from __future__ import annotations

import re

from habilis.demo.families.conditions import ROWS, known_column
from habilis.demo.families.table_tools import COLUMN, ENDINGS, PATH
from habilis.demo.operations import Example, Operation, Slot, worded
from habilis.demo.reading import SeenFile
from habilis.demo.world import Call, CannotAnswerError, World, is_table

GROUP = Slot("group", "string", "name of the column that divides the rows into groups",
             ("group_column", "group_by", "category_column"))  # fmt: skip
EXTREME = Slot("extreme", "string", "highest or lowest", ("which", "extreme", "order"))
SMALL = "kind,price\nlamp,10\nchair,20\nlamp,40\n"

_WORDS: dict[str, tuple[str, str, str, tuple[tuple[str, str, str], ...]]] = {
    "sum": (
        "sum|total|combined|overall",
        "math.fsum(values)", "sum",
        (("total", "total_of_column_by_group", "Sum, or total,"), ("", "sum_column_per_group", "Sum"),
         ("", "add_up_column_for_each_group", "Sum")),
    ),
    "mean": (
        "average|mean",
        "math.fsum(values) / len(values)", "mean",
        (("average", "average_of_column_by_group", "Mean, or average,"), ("", "mean_of_column_per_group", "Mean")),
    ),
    "max": (
        "maximum|max|highest|largest|biggest|greatest",
        "max(values)", "maximum",
        (("maximum|max", "maximum_of_column_by_group", "Maximum"), ("", "largest_value_per_group", "Maximum")),
    ),
    "min": (
        "minimum|min|lowest|smallest",
        "min(values)", "minimum",
        (("minimum|min", "minimum_of_column_by_group", "Minimum"), ("", "smallest_value_per_group", "Minimum")),
    ),
}  # fmt: skip
"""By statistic: the words that ask for it, its calculation, its mark in a description, its wordings."""

_COUNT_NAMES = (
    ("number of", "number_of_rows_by_group", "Number of rows"),
    ("", "count_rows_per_group", "Number of rows"),
    ("", "tally_rows_for_each_group", "Number of rows"),
)


def _grouped(key: str, compute: str, mark: str, names: tuple[tuple[str, str, str], ...], top: bool) -> Operation:
    """A statistic for each group, or (`top`) the groups where it is highest or lowest."""
    rows = key == "count"
    inputs = (PATH, *(() if rows else (COLUMN,)), GROUP, *((EXTREME,) if top else ()))
    output = (
        Slot("groups", "array_of_strings", "the group, or all that are equal", ("groups", "names", "result"))
        if top
        else Slot("by_group", "object", "the value of each group", ("by_group", "values", "groups"))
    )
    if top:
        named = [
            (f"find_group_with_extreme_{key}", "highest|lowest"),
            (f"pick_group_by_{key}", ""),
            (f"choose_extreme_group_by_{key}", ""),
        ]
        names = tuple((when, name, names[0][2]) for name, when in named)
    what = " of a CSV file" if rows else " of a numeric column of a CSV file"
    return Operation(
        key=f"top_group_{key}" if top else f"group_{key}",
        description="{word}" + what + (_OF_TOP if top else _OF_EACH),
        inputs=inputs,
        output=output,
        wordings=worded((*inputs, output), *names),
        marks=(mark, "groups?", "csv|table", *(("highest or lowest",) if top else ("for each group",))),
        bars="json" + ("" if rows else "|number of rows") + ("" if top else "|highest or lowest"),
        example=Example(
            {"path": "small.csv", "group": "kind", **({} if rows else {"column": "price"}),
             **({"extreme": "highest"} if top else {})},
            {"small.csv": SMALL},
        ),
        finding=f"in {{path}} the {mark} " + ("" if rows else "of {column} ")
        + ("is {extreme} for {group} {value}" if top else "by {group} is {value}"),
        naive="group_naive",
        robust="group_robust",
        effects="reads",
        fill={
            "compute": "len(values)" if rows else compute,
            "naive_cell": "1" if rows else "row[$in_column]",
            "robust_cells": "[1] * len(rows)" if rows else "numbers_of(cells_of(rows, index_of(columns, $in_column)))",
            "show": _TOP if top else "found",
        },
    )  # fmt: skip


_OF_TOP, _OF_EACH = ": the group where it is highest or lowest.", " for each group of rows."
_TOP = "[name for name in found if found[name] == EXTREMES[$in_extreme](found.values())]"
GROUPED = {
    (key, top): _grouped(key, compute, mark, names, top)
    for key, (_, compute, mark, names) in _WORDS.items()
    for top in (False, True)
}
GROUPED |= {("count", top): _grouped("count", "", "number of rows", _COUNT_NAMES, top) for top in (False, True)}

_PER = r"(?:per|by|for each|for every|in each|in every|grouped by|group by|for the individual|across each|within each)"
_STATISTIC = "|".join(f"(?P<{key}>{words})" for key, (words, *_) in _WORDS.items())
_MOST = r"(?P<high>highest|largest|greatest|most|biggest|maximum|best)|(?P<low>lowest|smallest|fewest|least|minimum)"
_HAS = r"(?:has|had|have|shows|showed|with|having|got|sold|saw|reached)(?: the| a)?"
_FORMS = (
    rf"(?:the )?(?:{_STATISTIC}) (?:value )?(?:of |in |for )?(?:the |all )?(?P<column>.+?),? {_PER}(?: the)? "
    rf"(?P<group>.+)",
    rf"{_PER}(?: the)? (?P<group>.+?), (?:what is |what's )?(?:the )?(?:{_STATISTIC}) (?:of )?(?:the )?(?P<column>.+)",
)
_COUNT_FORMS = (
    rf"(?:how many|number of|count(?: of)?)(?: the| all)? {ROWS}(?: (?:are|is) there| are| does it have)?,?"
    rf" {_PER}(?: the)? (?P<group>.+?)(?: have| has)?",
    rf"how many {ROWS} (?:does|do) each (?P<group>.+?) have",
)
_TOP_FORMS = (
    rf"(?:which|what|in which|for which)? ?(?:is the )?(?P<group>.+?) (?:is it that )?{_HAS} (?:{_MOST}) "
    rf"(?:{_STATISTIC}) (?:of |in )?(?:the )?(?P<column>.+?)",
    rf"(?:which|what|in which|for which) (?P<group>.+?) (?:is|was) (?:the )?(?:{_STATISTIC}) (?:of |in )?(?:the )?"
    rf"(?P<column>.+?) (?:the )?(?:{_MOST})",
)
_TOP_COUNT_FORMS = (
    rf"(?:which|what)? ?(?P<group>.+?) {_HAS} (?:{_MOST}) (?:number of )?{ROWS}",
    r"(?:which|what)? ?(?P<group>.+?) (?:appears|occurs|is listed)(?: the)? (?:(?P<high>most)|(?P<low>least))"
    r"(?: often| frequently)?",
)


class Groups:
    """Family of group-by questions over one table."""

    operations = tuple(GROUPED.values())

    def read(self, phrase: str, world: World) -> Call | None:
        if not re.search(
            rf"\b{_PER}\b|\beach\b|\b(?:{_HAS})\b|\b(?:highest|lowest|largest|smallest|most|least)\b", phrase, re.I
        ):
            return None
        try:
            taken = world.take_file(phrase, ENDINGS)
        except CannotAnswerError:
            return None  # without a table this is another's question
        if taken is None or not is_table(taken[1]):
            return None
        text, file = taken
        return _counts(text, file) or _statistics(text, file)


def _counts(text: str, file: SeenFile) -> Call | None:
    for top, forms in ((False, _COUNT_FORMS), (True, _TOP_COUNT_FORMS)):
        for form in forms:
            match = re.fullmatch(form, text, re.I)
            group = known_column(match["group"], file) if match else None
            if match and group:
                values = {"path": file.named, "group": group}
                return Call(GROUPED["count", top], {**values, "extreme": _extreme(match)} if top else values)
    return None


def _statistics(text: str, file: SeenFile) -> Call | None:
    for top, forms in ((False, _FORMS), (True, _TOP_FORMS)):
        for form in forms:
            match = re.fullmatch(form, text, re.I)
            if not match:
                continue
            key = next(key for key in _WORDS if match[key])
            column, group = known_column(match["column"], file), known_column(match["group"], file)
            if column and group:
                values = {"path": file.named, "column": column, "group": group}
                return Call(GROUPED[key, top], {**values, "extreme": _extreme(match)} if top else values)
    return None


def _extreme(match: re.Match[str]) -> str:
    return "highest" if match["high"] else "lowest"
