"""Every tool source that the offline model writes keeps the contract; first versions fail where better ones do not."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from habilis.contract.contract import read_contract
from habilis.demo.toolbox import source_for
from habilis.demo.understanding import all_operations
from habilis.questions.operations import (
    DemoOperation,
    Wording,
    assign,
    fields_of,
    recognise,
    request_for,
    result_of,
)

from ..marks import PROMISE

OPERATIONS = all_operations()
SOURCES = Path(__file__).parents[2] / "src/habilis/demo/sources"
EACH = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.key)
WORDED = [(operation, wording) for operation in OPERATIONS for wording in operation.wordings]
EACH_WORDING = pytest.mark.parametrize(
    ("operation", "wording"), WORDED, ids=lambda one: getattr(one, "name", None) or one.key
)


def worded_request(operation: DemoOperation, wording: Wording) -> dict:
    """The request that a question of this wording leads to."""
    only = DemoOperation(**{**vars(operation), "wordings": (Wording("", wording.name, wording.word, wording.fields),)})
    return request_for(only, "")


def written(operation: DemoOperation, wording: Wording, robust: bool) -> str:
    request = worded_request(operation, wording)
    names = [one["name"] for one in request["parameters"]]
    fields = fields_of(operation, names, [request["returns"][0]["name"]])
    assert fields is not None
    return source_for(operation, request["name"], request["description"], fields, robust=robust)


def call(loaded, operation: DemoOperation, robust: bool, values: dict, folder):
    """The result of a tool of `operation`, with values by role. What it raises is raised."""
    wording = operation.wordings[-1]
    tool = loaded(written(operation, wording, robust))
    names = assign(operation.inputs, [one["name"] for one in worded_request(operation, wording)["parameters"]])
    assert names is not None
    return tool.call({names[role]: value for role, value in values.items()}, folder)


def operation(key: str) -> DemoOperation:
    return next(one for one in OPERATIONS if one.key == key)


@EACH_WORDING
def test_a_tool_is_recognised_under_each_of_its_names(operation, wording):
    request = worded_request(operation, wording)
    names = [one["name"] for one in request["parameters"]]
    found = recognise(request["name"], request["description"], names, OPERATIONS)
    assert found is not None, (request["name"], request["description"], names)
    assert found.key == operation.key
    assert assign(operation.inputs, names) == {
        slot.role: one["name"] for slot, one in zip(operation.inputs, request["parameters"], strict=True)
    }
    assert len(request["parameters"]) <= 5


def versions():
    """Each version of each tool. In a first version another wording changes names alone, which is for the whole run.
    The quick run takes every third of the others, the promises the rest."""
    for number, (operation, wording) in enumerate(WORDED):
        for robust in (False, True):
            told = robust or wording is operation.wordings[0]
            marks = (() if number % 3 == 0 else PROMISE) if told else [pytest.mark.slow]
            name = f"{operation.key}-{wording.name}-{'robust' if robust else 'naive'}"
            yield pytest.param(operation, wording, robust, id=name, marks=marks)


def test_tool_names_are_unique():
    names = [wording.name for _, wording in WORDED]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("operation", "wording", "robust"), tuple(versions()))
def test_a_source_keeps_the_contract_and_passes_its_own_example(tmp_path, loaded, operation, wording, robust):
    source = written(operation, wording, robust)
    contract = read_contract(source)
    assert (contract.name, contract.effects, contract.requirements) == (wording.name, operation.effects, ())
    assert not re.search(r"\$(?:in_|out|contract|summary|compute)", source)
    assert not [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name) and node.id in ("eval", "exec")
    ]
    tool = loaded(source)
    request = worded_request(operation, wording)
    assert list(tool.space["InputModel"].model_fields) == [one["name"] for one in request["parameters"]]
    assert list(tool.space["OutputModel"].model_fields) == [request["returns"][0]["name"], "error"]
    output = tool.try_example(tmp_path)
    assert output["error"] is None
    assert result_of(operation, output) is not None


@EACH
def test_the_better_version_gives_what_the_first_gave(tmp_path, loaded, operation):
    first, better = (loaded(written(operation, operation.wordings[0], robust)) for robust in (False, True))
    assert first.try_example(tmp_path) == better.try_example(tmp_path)


EASY = {
    "plain.csv": "city,kind,size\nOstwick,port,12.5\nBrill,mill,3\nNarrow,port,7.25\n",
    "blank lines.csv": "city,kind,size\n\nOstwick,port,12.5\n\nBrill,mill,3\n",
    "quoted.csv": 'city,kind,size\n"Ostwick, Upper",port,1\n"Brill ""Old""",mill,2\n',
}


@pytest.mark.parametrize("name", EASY)
@pytest.mark.parametrize(
    ("key", "values"),
    [
        *[(f"column_{key}", {"column": "size"}) for key in ("average", "sum", "median", "minimum", "maximum")],
        ("column_standard_deviation", {"column": "size"}),
        ("query_number", {"measure": "sum of size", "conditions": ['kind equals "Mill"']}),
        ("query_number", {"measure": "mean of size", "conditions": ['size at_least "1"']}),
        ("query_number", {"measure": "count", "conditions": ['city contains "ost"', 'size greater "2.5"']}),
        ("query_groups", {"measure": "sum of size", "group": "kind", "conditions": []}),
        ("query_top_groups", {"measure": "count", "group": "kind", "conditions": [], "rank": "highest 1"}),
        ("query_cells", {"column": "city", "conditions": ['* not_equals "mill"'], "order": "lowest 1 by size"}),
        ("count_rows", {}),
        ("distinct", {"column": "kind"}),
        ("columns", {}),
    ],
)  # fmt: skip
def test_both_versions_agree_on_easy_tables(tmp_path, loaded, name, key, values):
    (tmp_path / name).write_text(EASY[name])
    first, better = (
        call(loaded, operation(key), robust, {"path": name, **values}, tmp_path) for robust in (False, True)
    )
    assert first == better
    assert first["error"] is None


HARD_TABLES = [
    ("a semicolon", "column_average", {"column": "price"}, b"item;price\nrope;1,50\noar;2,50\n", 2.0),
    ("decimal comma, thousands point", "column_sum", {"column": "price"},
     b"item;price\nrope;1.000,50\noar;2,5\n", 1003.0),
    ("thousands comma", "column_sum", {"column": "price"}, b'item,price\nrope,"1,200"\noar,950\n', 2150.0),
    ("a currency", "column_maximum", {"column": "price"}, b"item,price\nrope,$3.20\noar,$12.00\n", 12.0),
    ("a blank cell", "column_average", {"column": "price"}, b"item,price\nrope,4\noar,\nsail,n/a\n", 4.0),
    ("a BOM", "column_sum", {"column": "price"}, b"\xef\xbb\xbfprice,item\n4,rope\n5,oar\n", 9.0),
    ("tabs", "column_median", {"column": "price"}, b"item\tprice\nrope\t4\noar\t6\n", 5.0),
    ("another case", "column_minimum", {"column": "price"}, b"Item,PRICE\nrope,4\noar,6\n", 4.0),
    ("an underscore and a plural", "column_sum", {"column": "unit prices"}, b"item,unit_price\nrope,4\noar,6\n", 10.0),
    ("another encoding", "column_sum", {"column": "größe"}, "größe,item\n4,öse\n6,tür\n".encode("cp1252"), 10.0),
    ("UTF-16", "column_sum", {"column": "size"}, "size,item\n4,öse\n6,tür\n".encode("utf-16"), 10.0),
    ("a semicolon and a condition", "query_number",
     {"measure": "sum of price", "conditions": ['* equals "ropes"']},
     b"item;price\nrope;1,5\noar;2\nrope;2,5\n", 4.0),
    ("thousands in a condition", "query_number", {"measure": "count", "conditions": ['price greater "1000"']},
     b"item;price\nrope;1.200,00\noar;2,00\n", 1),
    ("an empty file", "count_rows", {}, b"", 0),
    ("an empty file, columns", "columns", {}, b"", None),
    ("a semicolon, distinct", "distinct", {"column": "item"}, b"item;price\nrope;1\nrope;2\n", ["rope"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("what", "key", "values", "content", "right"), HARD_TABLES, ids=[one[0] for one in HARD_TABLES]
)
def test_the_first_version_fails_plainly_on_a_hard_table_and_the_better_one_does_not(
    tmp_path, loaded, what, key, values, content, right
):
    (tmp_path / "hard.csv").write_bytes(content)
    values = {"path": "hard.csv", **values}
    try:
        first = call(loaded, operation(key), False, values, tmp_path)
        failed = bool(first["error"])
    except Exception:
        failed = True
    assert failed, "a first version may fail, but never with a wrong number"
    better = call(loaded, operation(key), True, values, tmp_path)
    if right is None:
        assert better["error"]
    else:
        assert better["error"] is None
        assert result_of(operation(key), better) == (pytest.approx(right) if isinstance(right, float) else right)


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1.234,50", "12"], [1234.5, 12]),
        (["1,234.50", "12"], [1234.5, 12]),
        (["1.5", "1,234"], [1.5, 1234]),
        (["0,125", "3"], [0.125, 3]),
        (["1,234", "950"], [1234, 950]),
        (["1.234", "2.000"], [1.234, 2.0]),
        (["1.234.567"], [1234567]),
        (["1'234.5", "2 000"], [1234.5, 2000]),
        (["EUR 3,5", "€4", "5 %"], [3.5, 4, 5]),
        (["-1,5", "n/a", ""], [-1.5, None, None]),
    ],
)
def test_numbers_are_read_by_the_marks_of_their_column(loaded, cells, numbers):
    tool = loaded(written(operation("column_sum"), operation("column_sum").wordings[0], True))
    assert tool.space["numbers_of"](cells) == numbers


def test_a_cell_that_is_no_number_is_an_error_and_not_left_out(tmp_path, loaded):
    (tmp_path / "odd.csv").write_text("item,price\nrope,4\noar,cheap\n")
    output = call(loaded, operation("column_sum"), True, {"path": "odd.csv", "column": "price"}, tmp_path)
    assert "not numeric" in output["error"]


@pytest.mark.parametrize(
    ("key", "values", "content", "right"),
    [
        ("json_value", {"keys": "shop.Name"}, b'\xef\xbb\xbf{"shop": {"name": "Corner"}}', "Corner"),
        ("json_value", {"keys": "city"}, b'{"shop": {"address": {"city": "Brill"}}}', "Brill"),
        ("json_count", {"keys": "product"}, b'{"shop": {"products": [1, 2, 3]}}', 3),
        ("json_count", {"keys": "."}, b'{"id": 1}\n{"id": 2}\n', 2),
        ("json_sum", {"field": "price"}, b'[{"price": "1,200.50"}, {"price": 2}, {"price": null}]', 1202.5),
        ("word_count", {}, "öse tür".encode("cp1252"), 2),
        ("longest_word", {}, "öse türen".encode("utf-16"), "türen"),
    ],
)
def test_the_better_version_reads_hard_documents_and_texts(tmp_path, loaded, key, values, content, right):
    (tmp_path / "hard").write_bytes(content)
    values = {"path": "hard", **values}
    with pytest.raises(Exception, match=r"."):
        call(loaded, operation(key), False, values, tmp_path)
    assert result_of(operation(key), call(loaded, operation(key), True, values, tmp_path)) == right


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("1 / 0", "division by zero"),
        ("9 ** 9 ** 9", "too large"),
        ("__import__('os').system('true')", "only numbers"),
        ("(-8) ** 0.5", "not a real number"),
        ("sqrt(-1)", "cannot evaluate"),
        ("2 +", "cannot evaluate"),
        ("1e308 * 10", "too large"),
    ],
)
def test_a_bad_expression_is_an_error_and_never_code(tmp_path, loaded, expression, error):
    output = call(loaded, operation("arithmetic"), True, {"expression": expression}, tmp_path)
    assert error in output["error"]


@pytest.mark.parametrize("number", [2, 3, 4, 97, 360, 1024, 999_983, 10**9 + 7, 2 * 3 * 5 * 7 * 11 * 13 * 10**6])
def test_prime_factors_multiply_to_the_number(tmp_path, loaded, number):
    for robust in (False, True):
        factors = result_of(
            operation("prime_factors"), call(loaded, operation("prime_factors"), robust, {"n": number}, tmp_path)
        )
        product = 1
        for factor in factors:
            product *= factor
            assert call(loaded, operation("is_prime"), robust, {"n": factor}, tmp_path)["error"] is None
        assert product == number


def test_results_survive_json_with_all_their_digits(tmp_path, loaded):
    output = json.loads(json.dumps(call(loaded, operation("factorial"), True, {"n": 100}, tmp_path)))
    assert result_of(operation("factorial"), output) % 10**24 == 0


ENTRIES = "2025-03-14 06:35:29 INFO up\n2025-03-14 07:00:01 ERROR down\n"
REQUEST = '10.0.0.1 - - [14/Mar/2025:06:35:29 +0000] "GET /a HTTP/1.1" 200 512 12ms\n'
SLOW = REQUEST.replace("/a", "/b").replace("12ms", "0.5 s")
TRACE = f'{ENTRIES}  File "a.py", line 1, in run\n  ERROR_CODE 7\n'
ISO_LEVELS = "time=2025-03-14T06:35:29 level=info msg=up\ntime=2025-03-14T07:00:01 level=error msg=down\n"
TABLE = "<table><tr><th>Town<th>Size<tr><td>Brill<td>7</table>"
HARD_FILES = [
    ("lines of a stack trace", "log_level_count", {"level": "error"}, TRACE.encode(), 1),
    ("levels as fields", "log_level_count", {"level": "ERROR"}, ISO_LEVELS.encode(), 1),
    ("another name of a level", "log_level_count", {"level": "warning"}, b"[WARN] low\n[INFO] up\n", 1),
    ("levels, a share", "log_level_share", {"level": "ERROR"}, TRACE.encode(), 50.0),
    ("levels in brackets", "log_level_counts", {}, b"[INFO] up\n[ERROR] down\n[INFO] up\n", {"ERROR": 1, "INFO": 2}),
    ("hours beside a stack trace", "busiest_hour", {}, (TRACE + ENTRIES[:27] + "\n").encode(), ["06"]),
    ("a blank line", "status_count", {"lowest": 200, "highest": 299}, f"{REQUEST}\n{REQUEST}".encode(), 2),
    ("statuses as fields", "status_share", {"lowest": 400, "highest": 599},
     b"path=/a status=200 took=5ms\npath=/b status=404 took=7ms\n", 50.0),
    ("seconds", "slowest_request", {}, f"{REQUEST}{SLOW}".encode(), ["GET /b"]),
    ("seconds, a duration", "longest_duration", {}, f"{REQUEST}{SLOW}".encode(), 500.0),
    ("open tags", "table_cell", {"row": "brill", "column": "size"}, TABLE.encode(), "7"),
    ("upper case", "page_links", {}, b'<HTML><A HREF="a.html">a</A></HTML>', ["a.html"]),
    ("a namespace", "page_title", {},
     b'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Ports</title></head></html>', "Ports"),
    ("a script", "page_text", {}, b"<p>one<script>if (a < b) c()</script><p>two", "one two"),
    ("another encoding", "list_matches", {"pattern": r"\w+r\b"}, "tür zu, für uns".encode("cp1252"), ["tür", "für"]),
    ("a semicolon and commas", "group_sum", {"column": "size", "group": "town"},
     b"town;size\nBrill;1,5\nBrill;2,5\nNarrow;n/a\n", {"Brill": 4.0}),
    ("a row of no group", "group_count", {"group": "town"}, b"town,size\nBrill,1\n,2\nBrill,3\n", {"Brill": 2}),
    ("thousands", "top_group_mean", {"column": "size", "group": "town", "extreme": "lowest"},
     b'town,size\nBrill,"1,200"\nNarrow,900\n', ["Narrow"]),
]  # fmt: skip


@pytest.mark.parametrize(("what", "key", "values", "content", "right"), HARD_FILES, ids=[one[0] for one in HARD_FILES])
def test_the_first_version_fails_plainly_on_a_hard_file_and_the_better_one_does_not(
    tmp_path, loaded, what, key, values, content, right
):
    (tmp_path / "hard").write_bytes(content)
    values = {"path": "hard", **values}
    with pytest.raises(Exception, match=r"."):
        call(loaded, operation(key), False, values, tmp_path)
    output = call(loaded, operation(key), True, values, tmp_path)
    assert output["error"] is None
    assert result_of(operation(key), output) == right


@pytest.mark.parametrize(
    ("key", "values", "right"),
    [
        ("convert_unit", {"amount": 2, "source": "Feet", "target": "inches"}, 24),
        ("convert_base", {"digits": "zz", "source": 36, "target": 7}, "3530"),
        ("from_roman", {"numeral": "xiv"}, 14),
        ("base64_decode", {"text": "w7Y"}, "ö"),
        ("base64_decode", {"text": "_-8="}, None),
        ("hex_decode", {"text": "0xc3 0xb6"}, "ö"),
        ("url_decode", {"text": "%C3%B6"}, "ö"),
        ("levenshtein_distance", {"first": "a" * 40, "second": "b" * 30}, 40),
        ("longest_common_subsequence", {"first": "ab" * 20, "second": "b" * 30}, "b" * 20),
    ],
)
def test_the_first_version_fails_plainly_on_a_hard_value_and_the_better_one_does_not(
    tmp_path, loaded, key, values, right
):
    try:
        failed = bool(call(loaded, operation(key), False, values, tmp_path)["error"])
    except Exception:
        failed = True
    assert failed, "a first version may fail, but never with a wrong value"
    output = call(loaded, operation(key), True, values, tmp_path)
    assert result_of(operation(key), output) == right
    assert bool(output["error"]) == (right is None)


# the pieces that tools are put together from


@pytest.mark.parametrize("version", ["naive", "robust"])
def test_each_piece_stands_in_a_tool(version):
    used = set()
    for one in OPERATIONS:
        used |= {ast.unparse(node) for node in ast.parse(written(one, one.wordings[0], version == "robust")).body}
    for path in [*SOURCES.glob("shared*"), *SOURCES.glob(f"{version}*")]:
        pieces = {ast.unparse(node) for node in ast.parse(path.read_text()).body[1:]}
        assert [piece for piece in pieces - used if "$" not in piece] == []


@EACH
def test_a_tool_imports_what_it_uses_and_nothing_else(operation):
    for robust in (False, True):
        tree = ast.parse(written(operation, operation.wordings[0], robust))
        imported = {
            (alias.asname or alias.name).partition(".")[0]
            for node in tree.body
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert imported <= used | {"Field"}


def test_a_first_version_crashes_where_a_better_one_says_why():
    """What only a first version's reading raises is not told as an error: it is to be seen, and mended."""
    total, expression = operation("column_sum"), operation("arithmetic")
    first, better = (written(total, total.wordings[0], robust) for robust in (False, True))
    told = "except ValueError as problem:\n        return OutputModel(error=str(problem))"
    assert told not in first
    assert told in better
    assert told in written(expression, expression.wordings[0], False)
