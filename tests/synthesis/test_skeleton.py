"""What a user would lose: a tool whose writer wrote the work and forgot the head, which the request settles anyway."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from habilis.contract.contract import read_contract
from habilis.core.types import ToolRequest
from habilis.synthesis.skeleton import completed, skeleton, undeclared, with_imports

FILES = [{"named": "sales.csv", "begins": 'day,"price"\n1,2', "is_dir": False}]
REQUEST = ToolRequest(
    name="average_column",
    description="The average of a column.",
    input_schema={
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "column": {"type": "string"},
            "weights": {"type": "array", "items": {"type": "number"}},
        },
        "required": ["path", "column"],
    },
    output_schema={"type": "object", "properties": {"average": {"type": "number"}, "error": {"type": "string"}}},
)


def test_a_skeleton_is_a_tool_that_lacks_only_its_work() -> None:
    made = skeleton(REQUEST, FILES)
    contract = read_contract(made)
    assert (contract.name, contract.description) == ("average_column", "The average of a column.")
    (example,) = contract.examples
    assert example.arguments == {"path": "sales.csv", "column": "...", "weights": []}
    assert example.files == {"sales.csv": 'day,"price"\n1,2\n'}
    assert "    column: str\n    weights: list[int | float] | None = None\n" in made
    assert "    average: int | float | None = None\n    error: str | None = None\n" in made
    assert made.endswith("def run(input: InputModel) -> OutputModel:\n    ...")


@pytest.mark.parametrize(
    ("kind", "text", "reads"),
    [("table", "day;price\n1;2\n", "rows"), ("json", '[{"day": "1", "price": "2"}]', "data")],
)
def test_a_table_or_a_document_is_read_before_the_writer_begins(
    kind: str, text: str, reads: str, tmp_path: Path
) -> None:
    file = tmp_path / "sales"
    file.write_text(text, encoding="utf-8")
    made = skeleton(REQUEST, [{"named": "sales", "begins": "", "is_dir": False, "kind": kind}])
    space: dict[str, Any] = {}
    exec(compile(made.replace("    ...", f"    return {reads}"), "made", "exec", dont_inherit=True), space)
    assert space["run"](space["InputModel"](path=str(file), column="price")) == [{"day": "1", "price": "2"}]


def test_a_tool_that_takes_no_path_reads_nothing() -> None:
    request = ToolRequest(name="add", description="Adds.", input_schema={}, output_schema={})
    assert "import csv" not in skeleton(request, [{"named": "sales.csv", "begins": "", "kind": "table"}])


def test_the_names_in_a_folder_are_not_the_text_of_a_file() -> None:
    folder = [{"named": "data", "begins": "    a.csv\n    b.csv", "is_dir": True}]
    assert read_contract(skeleton(REQUEST, folder)).examples[0].files == {}


WORK = "def run(input):\n    return OutputModel(average=1.0)\n"


@pytest.mark.parametrize(
    "source",
    [
        WORK,
        f"from __future__ import annotations\nimport csv\n\n{WORK}",
        f'"""Averages."""\nfrom __future__ import annotations\n{WORK}',
        f"from pydantic import BaseModel\n\n\nclass InputModel(BaseModel):\n    path: str\n\n\n{WORK}",
    ],
)
def test_what_a_writer_left_out_is_put_before(source: str) -> None:
    whole = completed(source, REQUEST, FILES)
    assert read_contract(whole).name == "average_column"
    assert WORK in whole
    assert whole.count("class InputModel") == 1
    compile(whole, "tool", "exec")


@pytest.mark.parametrize(
    "source", [skeleton(REQUEST, FILES), "def run(", "print(1)\n", "def other(x):\n    return x\n"]
)
def test_what_is_whole_or_beyond_help_stays_as_it_is(source: str) -> None:
    assert completed(source, REQUEST, FILES) == source


_TEXT = some.text(some.characters(codec="utf-8"), max_size=30)
_KINDS: list[Any] = [{"type": kind} for kind in ("string", "integer", "number", "boolean", "object", "array", "odd")]
_FIELDS = some.dictionaries(
    some.from_regex(r"[a-z_äß][a-z0-9_é]{0,9}", fullmatch=True),
    some.sampled_from([*_KINDS, {}, {"type": None}]),
    max_size=5,
)


@given(_TEXT, _TEXT.filter(str.strip), _FIELDS, _FIELDS, _TEXT)
@example(name="convert", said="Converts.", given={"from": {"type": "string"}}, found={"or": {}}, begins="")
def test_any_request_gives_a_module_that_parses(
    name: str, said: str, given: dict[str, Any], found: dict[str, Any], begins: str
) -> None:
    schema = {"type": "object", "properties": given, "required": list(given)[:1]}
    request = ToolRequest(name=name, description=said, input_schema=schema, output_schema={"properties": found})
    ast.parse(skeleton(request, [{"named": name, "begins": begins}]))
    compile(completed(WORK, request), "tool", "exec")


@pytest.mark.parametrize(
    ("work", "package"),
    [
        ("    import pandas as pd\n", "pandas"),
        ("    from sklearn.linear_model import Ridge\n", "sklearn"),
        ("    import csv, json.decoder, pydantic_core\n", ""),
        ("    from . import near\n", ""),
        ("    try:\n        import numpy\n    except ImportError:\n        numpy = None\n", ""),
    ],
)
def test_a_package_out_of_nowhere_is_named_before_the_tool_is_tried(work: str, package: str) -> None:
    source = completed(f"def run(input):\n{work}    return OutputModel()\n", REQUEST)
    assert undeclared(source) == package
    assert undeclared(source.replace('"dependencies": []', '"dependencies": ["pandas"]')) == ""


def test_a_tool_whose_writer_forgot_to_import_its_base_class_runs() -> None:
    source = "class InputModel(BaseModel):\n    path: str = Field(default='')\n"
    assert with_imports(source) == f"from pydantic import BaseModel\nfrom pydantic import Field\n{source}"


def test_what_is_no_tool_is_for_others_to_refuse() -> None:
    assert undeclared("import pandas\n") == ""
    assert undeclared("def (") == ""


@pytest.mark.parametrize(
    ("work", "added"),
    [
        ("    return json.loads(csv.reader)\n", "import csv\nimport json\n"),
        ("    return datetime.strptime(x, '%Y')\n", "from datetime import datetime\n"),
        ("    return datetime.date(2024, 1, 1)\n", "import datetime\n"),
        ("    return os.path.join(x)\n", "import os\n"),
        (
            "    return Counter(x), Path(x), Path(x).name\n",
            "from collections import Counter\nfrom pathlib import Path\n",
        ),
    ],
)
def test_a_module_of_pythons_own_that_was_not_imported_is(work: str, added: str) -> None:
    whole = with_imports(f'"""Does."""\nfrom __future__ import annotations\ndef run(x):\n{work}')
    assert whole == f'"""Does."""\nfrom __future__ import annotations\n{added}def run(x):\n{work}'
    compile(whole, "tool", "exec")
    assert with_imports(whole) == whole


@pytest.mark.parametrize(
    "source",
    [
        "import json\ndef run(x):\n    return json.loads(x)\n",
        "import os.path\ndef run(x):\n    return os.sep\n",
        "import datetime as dt\ndef run(time):\n    return time.hour + dt.MINYEAR\n",
        "def run(x):\n    for queue in x:\n        queue.get()\n",
        "def run(x):\n    with x as select:\n        return [token.text for token in select.all]\n",
        "def run(x):\n    match x:\n        case [calendar]:\n            return calendar.days\n",
        "from things import *\ndef run(x):\n    return code.value\n",
        "from things import *\ndef run(x):\n    return Decimal(x)\n",
        "class Path(str):\n    pass\ndef run(x):\n    return Path(x)\n",
        "def run(x):\n    return frame.mean()\n",
        "def run(",
    ],
)
def test_what_a_name_may_mean_otherwise_is_not_guessed(source: str) -> None:
    assert with_imports(source) == source
