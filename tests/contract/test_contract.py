"""What a tool file says of itself, read without running it."""

from __future__ import annotations

import ast
import contextlib
import json
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from habilis.contract.bindings import Code
from habilis.contract.capabilities import Capabilities
from habilis.contract.constructs import constructs
from habilis.contract.contract import (
    Contract,
    ContractError,
    declared_aliases,
    read_contract,
    read_requirements,
    safe_name,
)
from habilis.contract.names import RESERVED, is_plain, with_suffix
from habilis.messages.naming import provider_name
from habilis.runtime.loading import may_be_loaded_early

PROVIDER = re.compile(r"^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$")
Source = Callable[..., str]

ORIGINAL = """
import json
from typing import Optional
from pydantic import BaseModel, Field

__TOOL_META__ = {
    "name": "fetch_page_text",
    "description": "Fetch a page   and\\nreturn its text.",
    "dependencies": ["requests>=2", "beautifulsoup4", "json"],
}


class InputModel(BaseModel):
    url: str = Field(description="address")


class OutputModel(BaseModel):
    text: Optional[str] = None


def run(input: InputModel) -> OutputModel:
    import requests
    return OutputModel(text=requests.get(input.url, timeout=10).text)
"""


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.binary(max_size=8)
    | st.complex_numbers(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(st.text(max_size=5) | st.integers() | st.none(), inner, max_size=3)
        | st.sets(st.integers(), max_size=2)
    ),
    max_leaves=6,
)
_METAS = st.fixed_dictionaries(
    {"name": st.text(min_size=1, max_size=8) | _VALUES, "description": st.text(min_size=1, max_size=8) | _VALUES},
    optional=dict.fromkeys(("dependencies", "effects", "capabilities", "examples", "aliases", "timeout_s"), _VALUES),
)
_CODE = st.text(alphabet="abinput_=()[]{}:.,'\"\\\\#@*+-~ \n\t\x00\x0c\ud800é𝒳09", max_size=60)


@settings(max_examples=300, deadline=None)
@given(_METAS, _CODE, st.integers(0, len(ORIGINAL)), st.integers(0, 40))
def test_whatever_a_model_writes_is_a_contract_or_refused_with_a_reason(
    meta: dict[str, object], code: str, at: int, cut: int
) -> None:
    """A reader that breaks would end the task with the tool; one that lets through what no record holds, the run."""
    valid = f"__TOOL_META__ = {meta!r}\n" + ORIGINAL.partition("}\n")[2]
    for source in (code, valid, valid + code, ORIGINAL[:at] + code + ORIGINAL[at + cut :], f"{code}\n{valid}"):
        with contextlib.suppress(ContractError):
            assert read_contract(source).model_dump_json().encode()
        with contextlib.suppress(ContractError):
            assert json.dumps(declared_aliases(source), ensure_ascii=False).encode()
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            continue
        assert all(str(found) for found in constructs(Code.of(tree), Capabilities()))
        assert may_be_loaded_early(source) in (True, False)


@pytest.mark.parametrize(
    "deep", ["(" * 5_000, "-" * 50_000 + "1", "[" * 300 + "]" * 300, "x" + ".a" * 20_000, "1" * 9_000]
)
def test_a_source_without_end_is_refused_or_read(deep: str) -> None:
    for source in (f"a = {deep}", ORIGINAL + f"\na = {deep}\n", ORIGINAL.replace('"requests>=2"', deep)):
        with contextlib.suppress(ContractError):
            read_contract(source)
        may_be_loaded_early(source)


def test_a_file_of_the_original_format_is_read_unchanged() -> None:
    assert read_contract(ORIGINAL) == Contract(
        name="fetch_page_text",
        description="Fetch a page and return its text.",
        requirements=("requests>=2", "beautifulsoup4"),
        effects="reads",
        capabilities=Capabilities(unknown_host=True),
    )


def test_reading_runs_nothing(source_of: Source) -> None:
    assert read_contract("raise SystemExit(3)\n" + source_of()).name == "count_rows"


def test_our_own_keys_are_read(source_of: Source) -> None:
    source = source_of(
        meta="'dependencies': [], 'effects': 'writes', 'timeout_s': 300, 'capabilities': {'network': ['a.org']}, "
        "'examples': [{'arguments': {'path': 'a.csv', 'pair': (1, 2)}, 'files': {'a.csv': 'x'}}]"
    )
    contract = read_contract(source)
    assert contract.effects == "writes"
    assert contract.timeout_s == 300.0
    assert contract.capabilities == Capabilities(network=("a.org",), timeout_s=300.0)
    assert contract.examples[0].arguments == {"path": "a.csv", "pair": [1, 2]}
    assert contract.examples[0].files == {"a.csv": "x"}


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def run(:\n", "line 1"),
        ("x = 1", "__TOOL_META__ is missing"),
        ("__TOOL_META__ = make()", "must be a literal"),
        ("__TOOL_META__ = ['a']", "must be a dict"),
        ("__TOOL_META__ = {'name': 'a', 'description': 'b'}", "class InputModel(BaseModel)"),
        ("__TOOL_META__ = {'name': 'a', 'description': 'b'}", "def run(input: InputModel) -> OutputModel"),
        ("\0", "does not parse"),
        ("(" * 5000, "does not parse"),
    ],
)
def test_what_is_no_tool_is_refused_with_what_to_change(source: str, reason: str) -> None:
    with pytest.raises(ContractError, match=re.escape(reason)):
        read_contract(source)


@pytest.mark.parametrize(
    ("meta", "reason"),
    [
        ("'name': ''", "name"),
        ("'description': ''", "description"),
        ("'effects': 'none'", "pure"),
        ("'dependencies': 'pandas'", "list of strings"),
        ("'timeout_s': -1", "timeout_s"),
        ("'capabilities': {'network': 3}", "capabilities"),
        ("'capabilities': {'network': ['\\ud800']}", "surrogate"),
        ("'description': 'half \\ud800'", "surrogate"),
    ],
)
def test_a_wrong_key_of_the_meta_data_is_named(source_of: Source, meta: str, reason: str) -> None:
    with pytest.raises(ContractError, match=reason):
        read_contract(source_of(meta=meta))


@pytest.mark.parametrize(
    ("meta", "reason"),
    [
        ("'examples': [{'files': {}}]", "arguments"),
        ("'examples': [{'arguments': {}, 'files': {'.': 'x'}}]", "plain name"),
        (f"'examples': [{{'arguments': {{}}, 'files': {{'{'é' * 150}': 'x'}}}}]", "plain name"),
        ("'examples': [{'arguments': {}, 'files': {'a': 'x', 'a/b': 'y'}}]", "folder of other files"),
        ("'examples': [{'arguments': {'a': b'x'}}]", "JSON"),
        ("'examples': [{'arguments': {'a': 1e999}}]", "finite"),
        (f"'examples': [{{'arguments': {{'a': 0x{'f' * 4000}}}}}]", "thousand digits"),
        ("'examples': [{'arguments': {'a': '\\ud800'}}]", "surrogate"),
        ("'examples': [{'arguments': {}, 'files': {'a.csv': '\\udcff'}}]", "surrogate"),
        ("'examples': 'none'", "in a list"),
        ("'examples': [{'arguments': {}, 'files': {'../a': 'x', 'a': 'y'}}]", "one name"),
        ("'examples': [{'arguments': {}, 'files': {'/data/': 'x'}}]", "plain name"),
        ("'examples': [{'arguments': {}, 'files': {'a': 3}}]", "texts by name"),
    ],
)
def test_a_flaw_of_an_example_is_told_and_the_tool_is_one_all_the_same(
    source_of: Source, meta: str, reason: str
) -> None:
    contract = read_contract(source_of(meta=meta))
    assert contract.examples == ()
    assert reason in contract.flaws[0].reason


def test_an_example_that_can_be_used_is_found_behind_one_that_cannot(source_of: Source) -> None:
    contract = read_contract(source_of(meta="'examples': [{'arguments': 1}, {'arguments': {'path': 'a'}}]"))
    assert (len(contract.examples), len(contract.flaws)) == (1, 1)
    one = read_contract(source_of(meta="'examples': {'arguments': {'path': 'a'}}"))
    assert one.examples == contract.examples


@pytest.mark.parametrize(
    ("named", "argument", "lies"),
    [
        ("/home/ada/temps.csv", "/home/ada/temps.csv", "temps.csv"),
        ("./temps.csv", "./temps.csv", "temps.csv"),
        ("../data/temps.csv", "../data/temps.csv", "temps.csv"),
        ("~/temps.csv", "~/temps.csv", "temps.csv"),
        ("/mnt/data/temps.csv", "/mnt/data/temps.csv", "temps.csv"),
        ("C:\\data\\temps.csv", "C:\\data\\temps.csv", "temps.csv"),
        ("data\\temps.csv", "data\\temps.csv", "temps.csv"),
        ("temps.csv", "/home/ada/temps.csv", "temps.csv"),
        ("/home/ada/temps.csv", "temps.csv", "temps.csv"),
        ("temps.csv", "temps.csv", "temps.csv"),
        ("data/temps.csv", "data/temps.csv", "data/temps.csv"),
        ("./data/temps.csv", "data/temps.csv", "data/temps.csv"),
    ],
)
def test_a_file_that_is_named_as_users_name_files_lies_where_its_argument_finds_it(
    source_of: Source, named: str, argument: str, lies: str
) -> None:
    meta = (
        f"'examples': [{{'arguments': {{'path': {argument!r}, 'rest': ['/x/y', 'a b']}}, 'files': {{{named!r}: '1'}}}}]"
    )
    (example,) = read_contract(source_of(meta=meta)).examples
    assert example.files == {lies: "1"}
    assert example.arguments == {"path": lies, "rest": ["/x/y", "a b"]}


def test_files_of_one_folder_stay_together(source_of: Source) -> None:
    meta = "'examples': [{'arguments': {'folder': '/d/in/'}, 'files': {'/d/in/a.csv': '1', '/d/in/x/b.csv': '2'}}]"
    (example,) = read_contract(source_of(meta=meta)).examples
    assert example.files == {"a.csv": "1", "x/b.csv": "2"}
    assert example.arguments == {"folder": "."}


def test_an_address_is_no_file(source_of: Source) -> None:
    meta = "'examples': [{'arguments': {'url': 'http://a.org/x.csv'}, 'files': {'x.csv': '1'}}]"
    assert read_contract(source_of(meta=meta)).examples[0].arguments == {"url": "http://a.org/x.csv"}


def test_a_docstring_that_cannot_be_stored_is_refused_like_a_description(source_of: Source) -> None:
    source = source_of(meta="'dependencies': []").replace("'description': 'Do count_rows.', ", "")
    assert read_contract(f'"""Counts."""\n{source}').description == "Counts."
    with pytest.raises(ContractError, match="surrogate"):
        read_contract(f'"""Counts \\ud800."""\n{source}')


def test_a_description_without_end_does_not_fill_every_prompt(source_of: Source) -> None:
    assert len(read_contract(source_of(meta=f"'description': {'word ' * 9999!r}")).description) <= 1_001


@pytest.mark.parametrize(
    "signature", ["def run(a, b):\n    pass", "def run():\n    pass", "def run(a, *, b):\n    pass"]
)
def test_run_takes_exactly_one_argument(source_of: Source, signature: str) -> None:
    with pytest.raises(ContractError, match="exactly one argument"):
        read_contract(_with_run(source_of(), signature))


def _with_run(source: str, signature: str) -> str:
    return source[: source.index("def run(")] + signature + "\n"


def test_odd_escapes_in_a_tool_are_no_concern_of_the_user(source_of: Source) -> None:
    assert read_contract(source_of() + "\nPATTERN = '\\d'\n").name == "count_rows"


@pytest.mark.parametrize(
    "entry",
    [
        "--index-url http://evil",
        "-r requirements.txt",
        "-e .",
        "package @ https://host/p.whl",
        "git+https://host/x",
        "./local",
        "../local",
        "/abs/wheel.whl",
        "C:\\wheel.whl",
        "a\n--index-url x",
        "",
        "a b c",
        3,
    ],
)
def test_flags_addresses_and_paths_are_no_dependencies(entry: object) -> None:
    with pytest.raises(ContractError, match="is refused"):
        read_requirements([entry])


def test_dependencies_are_normalised_and_standard_modules_left_out() -> None:
    wanted = ["Pandas >=2, <3", "requests[socks]", "json", "pydantic>=2", "pydantic", "requests[socks]"]
    assert read_requirements(wanted) == ("Pandas<3,>=2", "requests[socks]")
    assert read_requirements(["pydantic<2"]) == ("pydantic<2",)
    assert read_requirements(None) == ()


@pytest.mark.parametrize(
    ("body", "effects"),
    [
        ("    return OutputModel(result=sum([1, 2]))", "pure"),
        ("    text = 'a-b'.replace('-', '')\n    return OutputModel(result=len(text))", "pure"),
        ("    items = [1]\n    items.remove(1)\n    return OutputModel()", "pure"),
        ("    return OutputModel(result=len(open(input.path).read()))", "reads"),
        ("    return OutputModel(result=len(open(input.path, 'rb').read()))", "reads"),
        ("    import random\n    return OutputModel(result=random.random())", "reads"),
        ("    import datetime\n    return OutputModel(result=datetime.date.today().day)", "reads"),
        ("    import pandas\n    return OutputModel(result=len(pandas.read_csv(input.path)))", "reads"),
        ("    import unheard_of\n    return OutputModel()", "reads"),
        ("    open(input.path, 'w').write('x')\n    return OutputModel()", "writes"),
        ("    open(input.path, mode=input.mode).close()\n    return OutputModel()", "writes"),
        ("    open(input.path, 'r+').close()\n    return OutputModel()", "writes"),
        ("    from pathlib import Path\n    Path('a').open('a').close()\n    return OutputModel()", "writes"),
        ("    from pathlib import Path\n    Path('a').write_text('x')\n    return OutputModel()", "writes"),
        ("    import os\n    os.remove(input.path)\n    return OutputModel()", "writes"),
        ("    import subprocess\n    return OutputModel()", "writes"),
        ("    exec(input.path)\n    return OutputModel()", "writes"),
        ("    import requests\n    requests.post('u')\n    return OutputModel()", "writes"),
    ],
)
def test_effects_are_inferred_from_the_source(source_of: Source, body: str, effects: str) -> None:
    assert read_contract(source_of(body=body, meta="'dependencies': []")).effects == effects


def test_a_tool_cannot_call_itself_purer_than_it_is(source_of: Source) -> None:
    assert read_contract(source_of(meta="'effects': 'pure'")).effects == "reads"
    assert read_contract(source_of(meta="'effects': 'writes'")).effects == "writes"


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("count_rows", "count_rows"),
        ("Count rows!", "Count_rows"),
        ("../../etc/passwd", "etc_passwd"),
        ("json", "json"),
        ("class", "class"),
        ("3d plot", "3d_plot"),
        ("berechne größe", "berechne_gr_e"),
    ],
)
def test_file_names_hold_letters_digits_and_underscores(name: str, file: str) -> None:
    assert safe_name(name) == file


def test_names_in_another_script_get_a_hash_each_of_its_own() -> None:
    assert re.fullmatch(r"tool_[0-9a-f]{8}", safe_name("计算平均值"))
    assert safe_name("计算平均值") != safe_name("计算总和")
    assert safe_name("计算平均值") == safe_name("计算平均值")


@given(st.text())
def test_any_name_becomes_a_plain_file_name(name: str) -> None:
    safe = safe_name(name)
    assert re.fullmatch(r"[a-zA-Z0-9_]{1,60}", safe)
    assert safe_name(safe) == safe
    assert is_plain(safe)
    assert len(with_suffix(safe, 2)) <= 64


@given(st.lists(st.text(max_size=80), max_size=12, unique=True))
def test_provider_names_are_valid_and_unique(names: list[str]) -> None:
    given_names = [provider_name(name) for name in names]
    assert all(PROVIDER.match(name) for name in given_names)
    assert len(set(given_names)) == len(names)


def test_names_that_providers_take_stay_as_they_are() -> None:
    assert provider_name("count_rows-2") == "count_rows-2"
    assert re.fullmatch("a_b_[0-9a-f]{8}", provider_name("a b"))
    assert re.fullmatch("tool_3d_plot_[0-9a-f]{8}", provider_name("3d_plot"))
    assert re.fullmatch("tool_[0-9a-f]{8}", provider_name("计算"))


@pytest.mark.parametrize("name", ["../x", "a/b", "a\\b", ".hidden", "", "..", "a\0b", "a\nb", "x" * 300])
def test_a_path_is_no_name(name: str) -> None:
    assert not is_plain(name)


def test_preset_names_are_reserved() -> None:
    assert {"image_text_query", "ask_user", "finish_task", "recall"} == RESERVED
