"""Tables in delimited files: rows, columns, statistics of a column, rows that meet a condition, extreme rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from habilis.models.offline.language import NUMBER, number
from habilis.models.offline.operations import Example, Operation, Slot, Wording
from habilis.models.offline.reading import SeenFile
from habilis.models.offline.world import MARK, Call, CannotAnswerError, World, columns, named_like

ENDINGS = (".csv", ".tsv", ".tab", ".txt", ".dat")
SMALL = "item,price,quantity\nlamp,10,2\nchair,20,5\ntable,30,2\n"

PATH = Slot("path", "string", "path of the CSV file", ("file_path", "csv_path", "path", "csv_file", "filename"))
COLUMN = Slot("column", "string", "name of the column", ("column", "column_name", "field_name", "column_header"))
WHERE = Slot("where", "string", "name of the column that the condition is on", ("filter_column", "condition_column"))
HOW = Slot(
    "how",
    "string",
    "equals, not_equals, greater, at_least, less, at_most or contains",
    ("comparison", "operator", "relation"),
)
WANTED = Slot("wanted", "string", "value that the condition compares with", ("filter_value", "condition_value"))
CONDITION = (WHERE, HOW, WANTED)
_WHERE_EXAMPLE = {"where": "quantity", "how": "less", "wanted": "3"}
_OTHER_NAMES = {"path": "csv_path", "column": "column_name", "where": "condition_column", "wanted": "condition_value"}
_THIRD_NAMES = {"path": "path", "column": "column_header", "how": "operator"}

_TABLE = "csv|delimited|tabular|table|spreadsheet"
_IS_CONDITION = "filter|where|condition|matching|meet"


def _statistic(
    key: str, names: Mapping[str, tuple[str, str]], compute: str, mark: str, bars: str, conditional: bool
) -> Operation:
    """A statistic of a column, of all rows or of those that meet a condition. `names`: wording → (tool name, noun)."""
    fields: Sequence[Mapping[str, str]] = ({}, _OTHER_NAMES, _THIRD_NAMES)
    wordings = tuple(
        Wording(
            when if when != "*" else "",
            f"{name}_where" if conditional else name,
            noun,
            {**fields[index % 3], key: noun.lower().replace(" ", "_")},
        )
        for index, (when, (name, noun)) in enumerate(names.items())
    )
    only = " over the rows that meet a condition" if conditional else ""
    return Operation(
        key=f"column_{key}_where" if conditional else f"column_{key}",
        description="{word} of a numeric column of a CSV file" + only + ".",
        inputs=(PATH, COLUMN, *CONDITION) if conditional else (PATH, COLUMN),
        output=Slot(
            key,
            "number",
            "the value found",
            (key, *dict.fromkeys(n.lower().replace(" ", "_") for _, n in names.values())),
        ),
        wordings=wordings,
        marks=(mark, "column|field", _TABLE, *([_IS_CONDITION] if conditional else [])),
        bars=f"json|group|{bars}" + ("" if conditional else f"|{_IS_CONDITION}"),
        example=Example(
            {"path": "small.csv", "column": "price", **(_WHERE_EXAMPLE if conditional else {})}, {"small.csv": SMALL}
        ),
        finding=f"the {key.replace('_', ' ')} of column {{column}} in {{path}}{{condition}} is {{value}}",
        naive="column_statistic_where_naive" if conditional else "column_statistic_naive",
        robust="column_statistic_where_robust" if conditional else "column_statistic_robust",
        effects="reads",
        fill={"compute": compute},
    )


_STATISTICS: dict[str, tuple[str, dict[str, tuple[str, str]], str, str, str]] = {
    "average": (
        "average|mean|typical|arithmetic mean",
        {
            "average": ("calculate_average_of_column", "Average"),
            "mean|arithmetic mean": ("compute_column_mean", "Mean"),
            "*": ("find_typical_value_of_column", "Typical value"),
        },
        "math.fsum(values) / len(values)",
        "average|mean|typical",
        "median|minimum|maximum|sum|total|deviation|number of|count|smallest|largest",
    ),
    "sum": (
        "sum|total|combined|overall|sum total|grand total",
        {
            "total|combined|overall": ("calculate_total_of_column", "Total"),
            "*": ("sum_column_values", "Sum"),
        },
        "math.fsum(values)",
        "sum|total",
        "average|mean|median|minimum|maximum|deviation|number of|smallest|largest",
    ),
    "median": (
        "median|middle",
        {"median": ("find_median_of_column", "Median"), "*": ("get_middle_value_of_column", "Median")},
        "statistics.median(values)",
        "median",
        "average|mean|sum|total|minimum|maximum|deviation",
    ),
    "minimum": (
        "minimum|min|lowest|smallest|least|cheapest",
        {
            "minimum|min": ("find_minimum_of_column", "Minimum"),
            "lowest|cheapest": ("get_lowest_value_of_column", "Lowest value"),
            "*": ("find_smallest_value_in_column", "Smallest value"),
        },
        "min(values)",
        "minimum|lowest|smallest",
        "average|mean|median|sum|total|maximum|largest|deviation|row",
    ),
    "maximum": (
        "maximum|max|highest|largest|biggest|greatest|most expensive",
        {
            "maximum|max": ("find_maximum_of_column", "Maximum"),
            "highest": ("get_highest_value_of_column", "Highest value"),
            "*": ("find_largest_value_in_column", "Largest value"),
        },
        "max(values)",
        "maximum|highest|largest",
        "average|mean|median|sum|total|minimum|smallest|deviation|row",
    ),
    "standard_deviation": (
        "standard deviation|sample standard deviation|std|stdev",
        {"*": ("compute_standard_deviation_of_column", "Standard deviation")},
        "statistics.stdev(values) if len(values) > 1 else None",
        "standard deviation",
        "median|sum of|total|minimum|maximum",
    ),
}

STATISTICS = {
    (key, conditional): _statistic(
        key, names, compute, mark, bars if not conditional else bars.replace("|row", ""), conditional
    )
    for key, (_, names, compute, mark, bars) in _STATISTICS.items()
    for conditional in (False, True)
}


def _counting(conditional: bool) -> Operation:
    return Operation(
        key="count_rows_where" if conditional else "count_rows",
        description="{word} in a CSV file"
        + (" that meet a condition" if conditional else "")
        + ", the header not counted.",
        inputs=(PATH, *CONDITION) if conditional else (PATH,),
        output=Slot("count", "integer", "number of rows", ("count", "rows", "row_count")),
        wordings=(
            Wording(
                "number of",
                "get_number_of_rows_where" if conditional else "get_row_count",
                "Number of rows",
                {**_OTHER_NAMES, "count": "row_count"},
            ),
            Wording(
                "records|entries",
                "count_records_where" if conditional else "count_csv_records",
                "Count of rows (records)",
                {"path": "path"},
            ),
            Wording("", "count_matching_rows" if conditional else "count_csv_rows", "Count of rows", {}),
        ),
        marks=("number of rows|count of rows|rows|row count", _TABLE, *([_IS_CONDITION] if conditional else [])),
        bars="json|column of|distinct|unique|average|mean|median|sum|total|minimum|maximum|deviation|group"
        + ("" if conditional else f"|{_IS_CONDITION}"),
        example=Example({"path": "small.csv", **(_WHERE_EXAMPLE if conditional else {})}, {"small.csv": SMALL}),
        finding="{path} has {value} rows{condition}",
        naive="count_rows_where_naive" if conditional else "count_rows_naive",
        robust="count_rows_where_robust" if conditional else "count_rows_robust",
        effects="reads",
    )


COUNT, COUNT_WHERE = _counting(False), _counting(True)

DISTINCT = Operation(
    key="distinct",
    description="{word} of a column of a CSV file, blank cells left out.",
    inputs=(PATH, COLUMN),
    output=Slot(
        "values",
        "array_of_strings",
        "the values, each once, in the order of the file",
        ("values", "distinct_values", "unique_values"),
    ),
    wordings=(
        Wording("unique", "list_unique_values_of_column", "Unique values", {**_OTHER_NAMES, "values": "unique_values"}),
        Wording("", "list_distinct_values_of_column", "Distinct values", {"values": "distinct_values"}),
    ),
    marks=("distinct|unique|different", "column|field", _TABLE),
    bars="json|number of|count",
    example=Example({"path": "small.csv", "column": "quantity"}, {"small.csv": SMALL}),
    finding="column {column} in {path} holds {value}",
    naive="distinct_naive",
    robust="distinct_robust",
    effects="reads",
    present=lambda value, question: (
        len(value)
        if re.search(r"how many|number of|count", question, re.IGNORECASE) and isinstance(value, list)
        else value
    ),
)

COLUMNS = Operation(
    key="columns",
    description="{word} of a CSV file, from its header.",
    inputs=(PATH,),
    output=Slot("columns", "array_of_strings", "names of the columns", ("columns", "column_names", "names")),
    wordings=(
        Wording("header", "read_csv_header", "Column names", {"path": "csv_path", "columns": "column_names"}),
        Wording("", "list_csv_columns", "Column names"),
    ),
    marks=("column names|names of the columns|header", _TABLE),
    bars="json|rows|values|average|sum",
    example=Example({"path": "small.csv"}, {"small.csv": SMALL}),
    finding="{path} has the columns {value}",
    naive="columns_naive",
    robust="columns_robust",
    effects="reads",
    present=lambda value, question: (
        len(value)
        if re.search(r"how many|number of|count", question, re.IGNORECASE) and isinstance(value, list)
        else value
    ),
)

_COMPARISONS: tuple[tuple[str, str], ...] = (
    (r"(?:is |are |was )?(?:not|isn't|other than|!=|<>)(?: equal to)?", "not_equals"),
    (r"(?:is |are |was )?(?:at least|no less than|not less than|>=|≥)", "at_least"),
    (r"(?:is |are |was )?(?:at most|no more than|not more than|up to|<=|≤)", "at_most"),
    (
        r"(?:is |are |was )?(?:over|above|greater than|more than|larger than|higher than|bigger than|exceeds?|exceeding|>)",
        "greater",
    ),
    (r"(?:is |are |was )?(?:under|below|less than|smaller than|lower than|fewer than|<)", "less"),
    (r"(?:contains?|containing|includes?|including)", "contains"),
    (r"(?:is|are|was|equals?|equal to|is equal to|==?|of|being|set to)", "equals"),
)
_SAID = {
    "equals": "equal to", "not_equals": "not equal to", "greater": "over", "at_least": "of at least",
    "less": "below", "at_most": "of at most", "contains": "containing",
}  # fmt: skip
_ROWS = r"(?:data )?(?:rows?|records?|entries|entry|observations?)"
_THINGS = rf"(?:{_ROWS}|lines?|items?|orders?|sales|transactions?|products?|those|ones|cases)"
_LEADS = (
    rf"(?:for|of|in|over|among|across)(?: only)?(?: all)?(?: the| those)? {_THINGS} (?:with|where|whose|in which|for which|that have|having|when)(?: the| an?)?",
    r"(?:where|with|whose|when|if|having|for which|in which|for|filtered by|given that)(?: the| an?)?",
    r"(?:that|which) (?:have|has|had)(?: the| an?)?",
)
_QUOTED_VALUE = r"\"[^\"]+\"|'[^']+'"
_PLAIN_VALUE = r"[^\s\"'][^\"']*?"
_WORDY = re.compile(
    r"\b(?:and|or|but|times|plus|minus|divided|multiplied|rounded|grouped|per|except|of|in|than|for|where|with|is|are|by|over|above|under|below|least|most|more|less)\b",
    re.I,
)


class Tables:
    """Family of questions about one table. A column must be in the header, where the prompt shows the header."""

    operations = (*STATISTICS.values(), COUNT, COUNT_WHERE, DISTINCT, COLUMNS)

    def read(self, phrase: str, world: World) -> Call | None:
        if not _speaks_of_tables(phrase):
            return None
        taken = world.take_file(phrase, ENDINGS)
        if taken is None:
            return None
        text, file = taken
        text = re.sub(r"^(?:the )?number of |^count (?:of |up )?(?:the |all )?(?!of)", "how many ", text, flags=re.I)
        text = re.sub(r"^how many (?:the|of the|of)? ?", "how many ", text, flags=re.I)
        text = re.sub(r"^(?:the )?row count$|^how many rows? count$", "how many rows", text, flags=re.I)
        return _count(text, file) or _columns(text, file) or _distinct(text, file) or _column(text, file)


def _speaks_of_tables(phrase: str) -> bool:
    names = "|".join(words for words, *_ in _STATISTICS.values())
    return bool(
        re.match(rf"(?:{names})\b|add up|sum up", phrase, re.I)
        or re.search(
            rf"\b(?:rows?|records?|entries|columns?|header|distinct|unique|different|{_THINGS})\b", phrase, re.I
        )
    )


def _count(text: str, file: SeenFile) -> Call | None:
    match = re.fullmatch(rf"how many {_THINGS}(?: (?:are|is) there| are| exist)?(?P<rest>(?: .+)?)", text, re.I)
    if not match:
        return None
    rest = match["rest"].strip()
    if not rest:
        plain = re.match(rf"how many {_ROWS}\b", text, re.I)
        return Call(COUNT, {"path": file.named}) if plain else None
    rest = re.sub(r"^(?:have|has|had|are|is)\b(?: an?| the)?", "where", rest, flags=re.I)
    condition = _condition(rest, file)
    return Call(COUNT_WHERE, {"path": file.named, **condition}) if condition else None


def _columns(text: str, file: SeenFile) -> Call | None:
    plain = r"how many columns(?: are there)?|(?:column )?(?:names|headers?)(?: of)?(?: the| all)?(?: columns)?|columns|column names"
    asked = r"(?:which|what) columns(?: are there)?|all (?:the )?columns"
    return Call(COLUMNS, {"path": file.named}) if re.fullmatch(f"{plain}|{asked}", text, re.I) else None


def _distinct(text: str, file: SeenFile) -> Call | None:
    which = r"(?:distinct|unique|different)"
    match = re.fullmatch(
        rf"(?:how many |which |what |all (?:the )?|list (?:of )?(?:the )?)?{which} (?:values (?:are there )?(?:of|for|does|has|in)?(?: the)?(?: column)? ?)?"
        rf"(?P<column>.+?)(?: values)?(?: are)?(?: have| has)?(?: column)?(?: are there| exist| occur)?",
        text,
        re.I,
    )
    column = _known_column(match["column"], file) if match else None
    return Call(DISTINCT, {"path": file.named, "column": column}) if column else None


def _column(text: str, file: SeenFile) -> Call | None:
    """A statistic of a column, with or without a condition on the rows."""
    text = re.sub(r"^(?:add|sum) up\b|^sum(?= (?:the|all)\b)", "sum of", text, flags=re.I)
    for key, (names, *_) in _STATISTICS.items():
        match = re.fullmatch(
            rf"(?:overall |the )?(?:{names})(?: value)? (?:of |in |for )?(?:all )?(?:the |its )?(?P<rest>.+)",
            text,
            re.I,
        )
        if match:
            return _with_condition(key, match["rest"], file)
    return None


def _with_condition(key: str, rest: str, file: SeenFile) -> Call | None:
    problem: CannotAnswerError | None = None
    for lead in re.finditer(r" (?=\S)", f" {rest}"):
        column, tail = rest[: max(lead.start() - 1, 0)].strip(), rest[lead.start() :].strip()
        if not column or not (condition := _condition(tail, file)):
            continue
        try:
            known = _known_column(column, file)
        except CannotAnswerError as error:
            problem = error
            continue
        if known:
            return Call(STATISTICS[key, True], {"path": file.named, "column": known, **condition})
    if problem:
        raise problem
    known = _known_column(rest, file)
    return Call(STATISTICS[key, False], {"path": file.named, "column": known}) if known else None


def _known_column(text: str, file: SeenFile) -> str | None:
    """The column that `text` names. Raises `CannotAnswerError` when the header is known and has no such column."""
    text = text.strip()
    text = re.sub(
        r"^(?:values? (?:in|of) )?(?:the )?(?:column|field)(?: named| called)? |^values? (?:in|of) (?:the )?",
        "",
        text,
        flags=re.I,
    )
    text = re.sub(r" (?:column|field)(?:'s)?(?: values?)?$| values?$", "", text, flags=re.I).strip()
    quoted = re.fullmatch(_QUOTED_VALUE + r"|`[^`]+`", text)
    name = text[1:-1] if quoted else text
    known = columns(file)
    if known:
        found = named_like(name, known)
        if found:
            return found
        if not quoted and (_WORDY.search(name) or len(name.split()) > 4):
            return None
        raise CannotAnswerError(f'{file.named} has no column "{name}"; its columns are {", ".join(known)}.')
    if not name or (not quoted and (_WORDY.search(name) or len(name.split()) > 3 or not re.search(r"[^\W\d_]", name))):
        return None
    return name if re.fullmatch(r"[\w %$€£/().&-]+", name) and MARK not in name else None


def _condition(text: str, file: SeenFile) -> dict[str, Any] | None:
    """`where region is north` and its like as values by role, with its words for the finding."""
    for lead in _LEADS:
        match = re.match(rf"{lead} ", text, re.I)
        if match and (found := _comparison(text[match.end() :], file)):
            return found
    match = re.fullmatch(r"(?:in|for|from|of|with) (?:the )?(?P<a>\S+) (?P<b>\S+)", text, re.I)
    header = columns(file)
    if match and header:
        for column, value in ((match["a"], match["b"]), (match["b"], match["a"])):
            known = named_like(column, header)
            if known:
                return _as_condition(known, "equals", value)
    return None


def _comparison(text: str, file: SeenFile) -> dict[str, Any] | None:
    for pattern, how in _COMPARISONS:
        match = re.fullmatch(
            rf"(?P<column>.+?)(?: of)? (?:{pattern}) ?(?P<value>{_QUOTED_VALUE}|{_PLAIN_VALUE})", text, re.I
        )
        if not match:
            match = re.fullmatch(
                rf"(?P<column>[\w ]+?) ?(?P<sign>[<>=!≤≥]+) ?(?P<value>{_QUOTED_VALUE}|{_PLAIN_VALUE})", text
            )
            if not match or not re.fullmatch(pattern, match["sign"]):
                continue
        value = match["value"]
        quoted = value[0] in "\"'"
        if not quoted and (_WORDY.search(value) or len(value.split()) > 4):
            continue
        if not quoted and how in ("greater", "at_least", "less", "at_most") and number(value) is None:
            if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
                continue
        column = _known_column(match["column"], file)
        if column:
            return _as_condition(column, how, value[1:-1] if quoted else value)
    return None


def _as_condition(column: str, how: str, value: str) -> dict[str, Any]:
    plain = value.replace(",", "") if re.fullmatch(NUMBER, value) else value
    return {"where": column, "how": how, "wanted": plain}


def said(values: Mapping[str, Any]) -> str:
    """A condition in words, for a finding; '' when there is none."""
    if "how" not in values:
        return ""
    return f" for rows with {values['where']} {_SAID.get(str(values['how']), values['how'])} {values['wanted']}"
