"""Whether a call gives what its question wants, and by which column it names the rows that it finds."""

from __future__ import annotations

import re
from dataclasses import replace

from habilis.demo.families.arithmetic import EXPRESSION, FIRST_IS_MORE
from habilis.questions.header import TableHeader
from habilis.questions.language import root, stems, words
from habilis.questions.world import CannotAnswerError, DemoCall, FilledOperation

_LISTS = re.compile(r"(?:please )?(?:list|name)\b(?!.*\b(?:count|numbers?|how many)\b)", re.IGNORECASE)
"""Questions that want names for each group, not how many there are."""
_NO_AMOUNT = re.compile(
    r"(?:is|are|was|were) there (?:any|still|a|an|some)\b|"
    r"what (?:is|was|were) (?:the|my|our) [\w ]*\b(?:for|about|from|with)(?: in \S+\.\w+)?\W*$",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\bwhat(?:(?P<be>['’]s| is| are| was| were)(?: been)? (?P<done>\w+)| (?:did|do|does|have|has) )"
    r"(?!.*\b(?:when|dates?|days?|times?)\b)",
    re.IGNORECASE,
)
"""Questions for what was done, or what somebody did, that speak of no day."""
_MANY_OR_MUCH = re.compile(
    r"\b(?:most|fewest|least|share|percentage|percent|proportion|fraction)\b.*"
    r"\b(?:expenses|sales|costs|payments|donations|takings|earnings|fees)\b",
    re.IGNORECASE,
)
"""Nouns that may be counted or added up."""


def named_by(call: DemoCall, wanted: str, header: TableHeader) -> DemoCall:
    """The call that names the found rows by what a sentence of its own wants. Raises `CannotAnswerError`."""
    marked = header.marked(f"the {wanted}").removeprefix("the ")
    marked = re.sub(r"(#\d+#) (?:numbers?|ids?|codes?|names?)$", r"\1", marked)
    label, numbering = header.label(), header.numbering()
    numbering = label if numbering is None and label is not None and header.is_rows(label) else numbering
    own = {"name": label, "title": label, "id": numbering, "ids": numbering, "number": numbering, "code": numbering}
    own |= {word: header.only_day() for word in ("date", "day")}
    said = next((own.get(word) for word in stems(re.sub(r"#\w+#", "", marked))), None)
    column = int(marked[1:-1]) if re.fullmatch(r"#\d+#", marked) else said
    if re.fullmatch("names?", wanted, re.IGNORECASE) and call.values.get("column") in header.names:
        shown = header.names.index(str(call.values["column"]))
        named = header.kind(shown) == "text" and shown != numbering
        column = shown if named else column  # those of what is asked for, if it has any
    if call.operation.key == "query_cells" and column is not None and call.view == "value":
        return replace(call, values={**call.values, "column": part_of(header, column, wanted.lower())})
    if call.operation.key == "query_top_groups" and column is not None and call.values["group"] == header.names[column]:
        return call
    raise CannotAnswerError(f'it does not understand which "{wanted}" is wanted')


def part_of(header: TableHeader, column: int, asked: str) -> str:
    """The name of a column, or of the part of its moments that is asked for, where its cells have a date and a time."""
    cells = [row[column] for row in header.samples if column < len(row)]
    both = cells and all(re.search(r"\d[-/.]\d+.*[T ]\d{1,2}:\d\d", cell) for cell in cells)
    part = {"time": "time", "date": "day", "day": "day"}.get(asked) if both else None
    return header.names[column] if part is None else f"{part} of {header.names[column]}"


def spent(call: DemoCall, phrase: str, header: TableHeader) -> DemoCall:
    """What was spent, of a column where what was spent is below zero: the measure of that alone, as people say it.
    Raises `CannotAnswerError` for what else is asked of spending there."""
    if not re.search(r"\b(?:spend|spent|pay|paid)\b", phrase, re.IGNORECASE):
        return call
    signed = {name for i, name in enumerate(header.names)
              if any(i < len(row) and re.match(r"[-−]\D?\d", row[i].strip()) for row in header.samples)}  # fmt: skip
    what, name = _measured(call)
    if name not in signed:
        if any(_measured(one)[1] in signed for one in _made_of(call)):
            raise CannotAnswerError(f"it does not understand what of {', '.join(sorted(signed))} was spent")
        return call
    told = any(one.startswith(f"{name} ") for one in call.values["conditions"])
    if call.operation.key != "query_number" or what not in ("sum", "mean", "median") or told:
        raise CannotAnswerError(f"it does not understand what of {name} was spent")
    below = {**call.values, "conditions": [*call.values["conditions"], f'{name} less "0"']}
    return DemoCall(EXPRESSION, {"expression": FilledOperation("0 - {0}", (replace(call, values=below),))})


def _measured(call: DemoCall) -> tuple[str, str]:
    """What a call measures or ranks by: how, and of which column."""
    what, _, name = str(call.values.get("measure", "")).partition(" of ")
    return what, name or str(call.values.get("order", "")).rpartition(" by ")[2]


def _made_of(call: DemoCall) -> list[DemoCall]:
    """The calls whose results go into a calculation or a comparison."""
    made = [one for value in call.values.values() for one in getattr(value, "calls", (value,))]
    return [one for one in made if isinstance(one, DemoCall)]


def is_listing(call: DemoCall, question: str) -> bool:
    """Whether names are wanted, and the call counts them: "list the names by city"."""
    counts = call.operation.key == "query_groups" and re.match("count|single|distinct", str(call.values["measure"]))
    return bool(counts) and _LISTS.match(question) is not None


def is_open(call: DemoCall, phrase: str, header: TableHeader) -> bool:
    """Whether rows or their money may be meant ("most expenses"), rows or months by a mean ("average per month")."""
    measure, group = str(call.values.get("measure")), str(call.values.get("group"))
    if call.operation in (EXPRESSION, FIRST_IS_MORE):
        return any(is_open(one, phrase, header) for one in _made_of(call))
    flags = [
        name for i, name in enumerate(header.names) if header.kind(i) == "flag" and root("paid") == root(words(name)[0])
    ]
    told = any(one.startswith(f"{name} ") for one in call.values.get("conditions", ()) for name in flags)
    if flags and not told and measure.startswith(("sum", "mean")) and re.search(r"\b(?:paid|pays?)\b", phrase, re.I):
        return True
    if header.money and measure == "count" and _MANY_OR_MUCH.search(phrase):
        return True
    paid = measure in [f"mean of {header.names[column]}" for column in header.money]
    return paid and group.startswith(("month of", "year of", "day of", "quarter of")) and " per " in phrase


def is_of_things(call: DemoCall, question: str, header: TableHeader) -> bool:
    """Whether things are wanted, and the call finds when something was done to them: "what was bought in May"."""
    name = call.values.get("column")
    said = _DONE.search(question)
    if said is None or name not in header.names or header.kind(header.names.index(str(name))) != "moment":
        return False
    return said["be"] is None or root(said["done"]) in map(root, words(str(name)))


def is_no_amount(call: DemoCall, question: str) -> bool:
    """Whether the call gives a number, and the question asks whether something is there ("is any left in stock?"), or
    for what an amount is ("what was the biggest bill for?")."""
    return call.operation.key == "query_number" and _NO_AMOUNT.match(question.strip()) is not None
