"""Tools for tables in delimited files: counting rows, statistics of a column, distinct values, column names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from habilis.demo.operations import Example, Operation, Slot, Wording

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


STATISTIC_WORDS: dict[str, tuple[str, dict[str, tuple[str, str]], str, str, str]] = {
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
        {"*": ("compute_standard_deviation_of_column", "Sample standard deviation")},
        "statistics.stdev(values) if len(values) > 1 else None",
        "standard deviation",
        "median|sum of|total|minimum|maximum",
    ),
}

STATISTICS = {
    (key, conditional): _statistic(
        key, names, compute, mark, bars if not conditional else bars.replace("|row", ""), conditional
    )
    for key, (_, names, compute, mark, bars) in STATISTIC_WORDS.items()
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
    fill={"wanted": "list"},
)

COUNT_DISTINCT = Operation(
    key="count_distinct",
    description="{word} in a column of a CSV file, blank cells left out.",
    inputs=(PATH, COLUMN),
    output=Slot("count", "integer", "how many there are", ("count", "distinct_count", "unique_count")),
    wordings=(
        Wording("unique", "count_unique_values", "Number of unique values", {**_OTHER_NAMES, "count": "unique_count"}),
        Wording("", "count_distinct_values", "Number of distinct values", {"count": "distinct_count"}),
    ),
    marks=("number of (?:distinct|unique|different)|count (?:distinct|unique|different)", "column|field", _TABLE),
    bars="json",
    example=Example({"path": "small.csv", "column": "quantity"}, {"small.csv": SMALL}),
    finding="column {column} in {path} holds {value} distinct values",
    naive="distinct_naive",
    robust="distinct_robust",
    effects="reads",
    fill={"wanted": "len"},
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
)
