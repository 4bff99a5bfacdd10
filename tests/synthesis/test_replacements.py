"""What a user would lose: a wrong version in the place of a right one, or a right one kept out for no reason."""

from __future__ import annotations

import datetime
import random
from typing import Any

import pytest

from habilis.inputs.by_rule import telling
from habilis.inputs.constants import Constants, constants
from habilis.inputs.domain import Domain
from habilis.inputs.edits import varied
from habilis.inputs.formats import brackets_match
from habilis.inputs.landmarks import Landmarks, landmarks
from habilis.inputs.relations import Given
from habilis.inputs.search import Search
from habilis.synthesis.comparing import Comparison

from ..toolshop import Shop
from .versus import compared

DISCOUNT = (
    "    total: int",
    "float | None",
    "    return OutputModel(result=input.total * {} if input.total {} 80 else 1.0)",
)
INITIALS = ("    name: str", "str | None", "    return OutputModel(result=''.join(w[0] for w in input.name{}.split()))")
LARGEST = (
    "    values: list[int]\n    k: int",
    "list[int] | None",
    "{}    return OutputModel(result=sorted(input.values)[-input.k:])",
)
GRADE = ("    points: int", "str | None", "    return OutputModel(result='pass' if input.points {} else 'fail')")
WORDS = ("    text: str", "int | None", "    return OutputModel(result=sum({} for w in input.text.split()))")
TRIANGLE = (
    "    a: int\n    b: int\n    c: int",
    "str | None",
    "    a, b, c = sorted([input.a, input.b, input.c])\n"
    "    return OutputModel(result=f'no triangle: {{a}}' if a + b {} c else f'{{a + b + c}} around')",
)
GAINS = (
    "    values: list[int]",
    "int | None",
    "    return OutputModel(result=len([v for v in input.values if v {} 0]))",
)
ALL_OTHER = (
    "    text: str",
    "str | None",
    "    long = len(input.text) >= {} and len(set(input.text)) == len(input.text)\n"
    "    return OutputModel(result=f'{{input.text}}: {{long}}')",
)
YELLS = (
    "    text: str",
    "str | None",
    "    n = input.text.count('!')\n"
    "    return OutputModel(result=input.text.upper() if n > {} else input.text.lower())",
)
NONE_YET = (
    "    values: list[int]",
    "int | None",
    "    if not input.values:\n        return OutputModel(result={})\n    return OutputModel(result=max(input.values))",
)
PLANET = (
    "    name: str",
    "int | None",
    "    known = ['Mercury', 'Venus', 'Earth', 'Mars', 'Jupiter', 'Saturn', 'Uranus', 'Neptune', 'Ceres', 'Pluto',\n"
    "        'Haumea', 'Makemake', 'Eris', 'Sedna', 'Orcus', 'Quaoar', 'Vesta', 'Pallas', 'Juno', 'Hygiea', {}]\n"
    "    return OutputModel(result=known.index(input.name) if input.name in known else -len(input.name))",
)
SPOKEN = (
    "    text: str",
    "int | None",
    "    ways = {{'plus': lambda a, b: a + b, 'minus': lambda a, b: {}, 'times': lambda a, b: a * b}}\n"
    "    first, word, second = input.text.split()\n"
    "    return OutputModel(result=ways[word](int(first), int(second)))",
)
URGENCY = (
    "    level: str\n    hours: int",
    "int | None",
    "    if input.level == 'now':\n        return OutputModel(result=input.hours)\n"
    "    if input.level == 'soon':\n        return OutputModel(result=input.hours * 4)\n"
    "    return OutputModel(result={} if input.level == 'in 2 days' else -1)",
)
LEAP = (
    "    year: int",
    "bool | None",
    "    year = input.year\n    return OutputModel(result=year % 4 == 0 and (year % 100 != 0 or year % {} == 0))",
)
CIPHER = (
    "    text: str",
    "str | None",
    "    from string import ascii_lowercase, ascii_uppercase\n    out = ''\n    for c in input.text:\n"
    "        if c in ascii_lowercase:\n            c = ascii_lowercase[(ascii_lowercase.index(c) + 3) % 26]\n"
    "        elif c in ascii_uppercase:\n            c = ascii_uppercase[(ascii_uppercase.index(c) {} 3) % 26]\n"
    "        out += c\n    return OutputModel(result=out)",
)
HIGHEST = ("    values: list[int]", "int | None", "    return OutputModel(result={})")
ENDS = ("    text: str", "int | None", "    return OutputModel(result=len(input.text{}))")
LESS = "    less = input.total < 80\n    return OutputModel(result=1.0 if less else 0.9 * input.total)"
STEP = "    if input.k == 0:\n        return OutputModel(result=[])\n"
COUNTED = "    n = 0\n    for w in input.text.split():\n        n += 1\n    return OutputModel(result=n)"


@pytest.mark.parametrize(
    ("shape", "old", "wrong", "calls"),
    [
        (DISCOUNT, ("0.9", ">="), DISCOUNT[2].format("0.9", ">"), [{"total": 100}, {"total": 60}]),
        (INITIALS, ("",), INITIALS[2].format("[:9]"), [{"name": "Ada Byron"}, {"name": "Bo Li"}]),
        (LARGEST, (STEP,), LARGEST[2].format(""), [{"values": [3, 1, 2], "k": 2}, {"values": [5, 4], "k": 1}]),
        (GRADE, (">= 50",), GRADE[2].format("> 50"), [{"points": 70}, {"points": 35}]),
        (WORDS, ("1",), WORDS[2].format("len(w) > 1"), [{"text": "one two three"}, {"text": "a fine day"}][:1]),
        (
            TRIANGLE,
            ("<=",),
            TRIANGLE[2].format("<"),
            [{"a": 3001, "b": 4017, "c": 5209}, {"a": 2803, "b": 9109, "c": 3307}],
        ),
        (GAINS, (">",), GAINS[2].format(">="), [{"values": [5, 3, 9]}, {"values": [4]}]),
        (ALL_OTHER, (12,), ALL_OTHER[2].format(13), [{"text": "abcdefghi"}]),
        (YELLS, ("0",), YELLS[2].format("1"), [{"text": "what a Day"}, {"text": "Oh"}]),
        (NONE_YET, ("0",), NONE_YET[2].format("-1"), [{"values": [5, 3, 9]}, {"values": [4]}]),
        (PLANET, ("'Varuna'",), PLANET[2].format("'Ixion'"), [{"name": "Mars"}, {"name": "Venus"}]),
        (SPOKEN, ("a - b",), SPOKEN[2].format("b - a"), [{"text": "4 plus 2"}, {"text": "7 plus 31"}]),
        (URGENCY, ("0",), URGENCY[2].format("-1"), [{"level": "now", "hours": 3}, {"level": "now", "hours": 5}]),
        (LEAP, ("400",), LEAP[2].format("4000"), [{"year": 1913}, {"year": 1927}, {"year": 1936}]),
        (CIPHER, ("+",), CIPHER[2].format("-"), [{"text": "attack"}, {"text": "retreat"}, {"text": "be"}]),
        (HIGHEST, ("max(input.values)",), HIGHEST[2].format("input.values[-1]"), [{"values": [n]} for n in (3, 5, 8)]),
        (ENDS, (".strip()",), ENDS[2].format(""), [{"text": "a word"}, {"text": "two"}]),
    ],
    ids=[
        *("border of a branch", "cut short", "named number", "border in words", "short words"),
        *("sum of the others", "border of items", "border of a length"),
        *("sign that is counted", "nothing given", "word of a list", "word within a text", "word asked for in turn"),
        *("what is divided by", "letters of the other case", "lists of one item", "blanks at the ends"),
    ],
)
async def test_a_wrong_version_that_repeats_every_record_is_found_out(
    shop: Shop, shape: tuple[str, str, str], old: tuple[str, ...], wrong: str, calls: list[Any]
) -> None:
    assert await compared(shop, shape, old, wrong, calls)


@pytest.mark.parametrize(
    ("shape", "old", "right", "calls"),
    [
        (DISCOUNT, ("0.9", ">="), LESS, [{"total": 100}]),
        (GRADE, (">= 50",), GRADE[2].format("> 49"), [{"points": 70}]),
        (WORDS, ("1",), COUNTED, [{"text": "one two three"}]),
        (LARGEST, (STEP,), "    v = input.values\n    v.sort()\n    return OutputModel(result=v[len(v) - input.k:])",
         [{"values": [3, 1, 2], "k": 2}, {"values": [5, 4], "k": 1}, {"values": [9, 8, 8, 1], "k": 3}]),
    ],
    ids=["branch", "two words for an answer", "loop", "sorted in place"],
)  # fmt: skip
async def test_a_right_version_in_other_words_goes_on(
    shop: Shop, shape: tuple[str, str, str], old: tuple[str, ...], right: str, calls: list[Any]
) -> None:
    assert await compared(shop, shape, old, right, calls) == ""


def test_two_results_are_enough_where_plenty_of_inputs_gave_no_third() -> None:
    few, plenty = ("yes", "no", "no", "no"), ("yes", "no") * 8
    assert Comparison(made=5, told=4, agreed=few).lacking(["yes"])
    assert not Comparison(made=16, told=16, agreed=plenty).lacking([])
    assert Comparison(made=30, told=30, agreed=("no",) * 30).lacking(["no"]), "one result tells nothing"


async def test_agreement_outside_the_domain_counts_for_nothing_where_the_outside_contradicts_it(shop: Shop) -> None:
    shape = ("    values: list[int]", "int | None", "    return OutputModel(result={})")
    wrong = shape[2].format("len(input.values) if len(input.values) < 2 else 0")
    said = await compared(shop, shape, ("len(input.values)",), wrong, [{"values": []}])
    assert "are needed" in said


# --- what the code names


CODE = '''"""Not a constant."""
__TOOL_META__ = {"name": "x", "examples": [777]}
class InputModel(BaseModel):
    n: int = 555
def run(input):
    """Neither this: 333."""
    if input.n == 12 or len(input.n) > 44:
        return "vowels aeiou"
'''


def test_constants_are_those_that_the_code_computes_with() -> None:
    known = constants(CODE, "no code at all (")
    assert known.numbers == (12, 44)
    assert known.texts == ("vowels aeiou",)
    assert known.borders == {12}, "a length that is compared is no value of the argument"


def test_a_number_that_the_old_version_asks_for_lies_inside() -> None:
    calls = [Given({"n": 5}), Given({"n": 7})]
    assert not Domain(calls).holds(Given({"n": 0}))
    assert Domain(calls, borders={0}).holds(Given({"n": 0}))
    assert not Domain(calls, borders={0}).holds(Given({"n": -1}))


LOOKS = """
def run(input):
    if not input.rows or len(input.name) > 44 or input.name in ("a", "b", "c"):
        return "12"
    count = input.text.count("!")
    return [row for row in input.rows if row >= -8] if count > 3 else input.text == "quite long"
"""


def test_what_the_code_looks_for_in_parts_of_its_arguments_is_known() -> None:
    known = landmarks(LOOKS, "no code at all (")
    assert known.items == {-8}
    assert known.lengths == {44}
    assert known.signs == {"!"}, "a word that a text is compared with is none"
    assert known.words == (("a", "b", "c"),)
    assert known.empty
    assert not landmarks("def run(input):\n    return len(input.rows) > 1").empty


def test_what_the_old_version_looks_for_lies_inside_beside_what_was_seen() -> None:
    calls = [Given({"n": [5, 6], "text": "abc"}), Given({"n": [7], "text": "xyz"})]
    marked = Domain(calls, asks=Landmarks(items=frozenset({0}), signs=frozenset("!"), empty=True))
    for inside in ({"n": [0, 5], "text": "abc"}, {"n": [5], "text": "a!c"}, {"n": [], "text": ""}):
        assert not Domain(calls).holds(Given(inside))
        assert marked.holds(Given(inside))
    for outside in ({"n": [-1, 5], "text": "abc"}, {"n": [0] * 30 + [5], "text": "abc"}, {"n": [5], "text": "a?!"}):
        assert not marked.holds(Given(outside))


async def test_versions_that_were_called_with_nothing_part_on_parts_that_come_twice(shop: Shop) -> None:
    shape = ("    values: list[int]", "list[int] | None", "    v = input.values\n    return OutputModel(result={})")
    once = "[x for x in v if v.count(x) == 1]"
    assert await compared(shop, shape, (once,), shape[2].format("list(v)"), [{"values": []}])


@pytest.mark.parametrize(
    ("call", "tied"),
    [
        ({"one": ["ab"], "other": ["cdef"]}, {"one": ["fedc"], "other": ["cdef"]}),
        ({"one": "ab", "other": "cdef"}, {"one": "fedc", "other": "cdef"}),
        ({"a": 3, "b": 4, "c": 5}, {"a": 3, "b": 4, "c": 7}),
        ({"k": 2, "text": "abcd"}, {"k": 4, "text": "abcd"}),
    ],
    ids=["lists", "texts", "sum of the others", "a length"],
)
def test_arguments_that_come_to_as_much_as_each_other_are_tried(call: dict[str, Any], tied: dict[str, Any]) -> None:
    assert Given(tied) in list(telling(Domain([Given(call)]), Landmarks(), lambda given: False))


@pytest.mark.parametrize("seed", range(20))
def test_a_varied_value_keeps_its_kind(seed: int) -> None:
    lot, known = random.Random(seed), Constants((3, 2.5), ("ab", "x y"))
    for value in (4, 2.5, "two words", "", [1, 2], ["a"], {"a": 1, "b": 2}, True):
        assert type(varied(value, [value], known, lot)) is type(value), value


def test_numbers_and_texts_of_the_code_are_tried() -> None:
    domain = Domain([Given({"n": 10, "text": "abc def"}), Given({"n": 500, "text": "xyz"})])
    schema = {"properties": {"n": {"type": "integer"}, "text": {"type": "string"}}, "required": ["n", "text"]}
    search, found = Search(domain, schema, "s", Constants((365,), ("abab",))), []
    while batch := search.next(4):
        found += [one.given.arguments for one in batch]
    assert {one["n"] for one in found} & {364, 365, 366}
    assert any("abab" in one["text"] for one in found)


def test_moments_are_tried_on_other_days_and_at_other_hours() -> None:
    calls = [Given({"at": "2024-02-29 23:30"}), Given({"at": "2024-03-01 07:15"})]
    search = Search(Domain(calls), {"properties": {"at": {"type": "string"}}, "required": ["at"]}, "seed")
    found = [one.given.arguments["at"] for one in search.next(18) if one.inside]
    moments = [datetime.datetime.fromisoformat(text) for text in found]
    assert all(len(text) == 16 and text[10] == " " for text in found), "in the form that they had"
    assert len({moment.date() for moment in moments}) > 3
    assert len({moment.hour for moment in moments}) > 3


def test_what_gave_a_new_result_is_edited_further() -> None:
    schema = {"properties": {"text": {"type": "string"}}, "required": ["text"]}
    calls = [Given({"text": "one two three"})]

    def after(result: str) -> list[Given]:
        search = Search(Domain(calls), schema, "s")
        found = search.next(4)
        for number, one in enumerate(found):
            search.learned(one, f"{result}{number}" if result else "")
        return [one.given for one in search.next(4)]

    assert after("new") == after("new")
    assert after("new") != after("")


# --- relations


@pytest.mark.parametrize(
    ("calls", "inside", "outside"),
    [
        ([{"a": "010", "b": "110"}, {"a": "11", "b": "00"}], {"a": "01", "b": "10"}, {"a": "01", "b": "1"}),
        ([{"m": [[1, 2, 2], [3, 4, 4]]}], {"m": [[2, 1, 2], [4, 3, 4]]}, {"m": [[1, 2, 2], [3, 4]]}),
        ([{"m": [[1, 2], [3, 4]]}], {"m": [[2, 1], [4, 3]]}, {"m": [[1, 2], [3, 4], [2, 2]]}),
        ([{"p": [1, 2]}, {"p": [3, 5]}, {"p": [2, 2]}], {"p": [3, 3]}, {"p": [1, 2, 3]}),
        ([{"v": [4] * n, "k": n - 1} for n in (2, 3, 4)], {"v": [4, 4], "k": 2}, {"v": [4, 4], "k": 3}),
        ([{"t": "(()) ()"}], {"t": "() (())"}, {"t": "()) ("}),
    ],
    ids=["texts equally long", "even rows", "square", "pairs", "within", "brackets"],
)
def test_what_all_calls_keep_is_no_ground_to_refuse_a_version_that_relies_on_it(
    calls: list[dict[str, Any]], inside: dict[str, Any], outside: dict[str, Any]
) -> None:
    domain = Domain([Given(call) for call in calls])
    assert domain.holds(Given(inside))
    assert not domain.holds(Given(outside))


def test_brackets_match_by_their_likes() -> None:
    assert brackets_match("a (b [c]) {}")
    assert not brackets_match("(]")
    assert not brackets_match(")(")
    assert not brackets_match("((")
