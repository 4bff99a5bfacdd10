"""What a user would lose: what a tool did on calls far from those that were made, to a version that differs there; or
a right version, since too few of the inputs that were tried for themselves gave a result."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.contract.runnable import Runnable
from habilis.core.types import CallError, CallOutcome
from habilis.inputs.afresh import afresh
from habilis.inputs.domain import Domain
from habilis.inputs.relations import Given
from habilis.inputs.search import Search
from habilis.prompts import Prompts
from habilis.synthesis.crowd_tool import MOST_LINES
from habilis.synthesis.crowds import CROWD, Crowd
from habilis.synthesis.replay import Replayer

from ..toolshop import Shop, tool_source
from .versus import NONE, compared

NUMBER = ("    n: int", "int | None", "    return OutputModel(result={})")
TEXT = ("    text: str", "int | None", "    return OutputModel(result={})")
HAND = (
    "    cards: str",
    "str | None",
    "    counts = sorted((input.cards.count(card) for card in set(input.cards)), reverse=True)\n"
    "    name = 'full house' if counts == [3, 2] else 'pair' if counts[0] == 2 else 'nothing'\n"
    "    return OutputModel(result={})",
)
SHAPES: Any = st.recursive(
    st.booleans() | st.integers(-9, 10**9) | st.floats(-5, 5) | st.text(max_size=8),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=3), part, max_size=2),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("shape", "old", "new", "calls"),
    [
        (NUMBER, "input.n % 7", "input.n % 7 if len(str(input.n)) < 3 else 0", [{"n": 5}, {"n": 12}, {"n": 20}]),
        (TEXT, "len(input.text)", "len(input.text.rstrip('0123456789'))", [{"text": "ab"}, {"text": "cde"}]),
        (TEXT, "len(set(input.text))", "len(set(input.text.lower()))", [{"text": "ab"}, {"text": "cdd"}]),
        (
            HAND,
            "name",
            "name.replace('full house', 'pair')",
            [{"cards": "24689"}, {"cards": "23355"}, {"cards": "2467K"}],
        ),
    ],
    ids=["numbers ten times as large", "digits", "letters of the other case", "a rare pattern"],
)
async def test_a_version_that_differs_far_from_all_calls_takes_no_place(
    shop: Shop, shape: tuple[str, str, str], old: str, new: str, calls: list[Any]
) -> None:
    assert "gave" in await compared(shop, shape, (old,), shape[2].format(new), calls)


async def test_a_right_version_goes_on_where_few_inputs_give_a_result(shop: Shop) -> None:
    valid = (
        "    assert sum(n * int(digit) for n, digit in enumerate(input.text, 1)) % 20 == 0\n"
        "    return OutputModel(result={})"
    )
    shape = ("    text: str", "str | None", valid)
    right = valid.format("''.join(reversed(input.text))")
    assert await compared(shop, shape, ("input.text[::-1]",), right, [{"text": "6666"}]) == ""


async def test_a_version_that_is_right_only_among_many_takes_no_place(shop: Shop) -> None:
    right = TEXT[2].format("len(input.text)")
    alone = "    import sys\n    assert sys.gettrace() or len(input.text) < 3\n"
    assert "and would give AssertionError" in await compared(
        shop, TEXT, ("len(input.text)",), alone + right, [{"text": "ab"}]
    )


# --- many calls in one run


def _crowd(shop: Shop, old: str, new: str, calls: list[Any], folder: Path) -> Crowd:
    tools = []
    for name, body in (("old", old), ("new", new)):
        module = folder / f"{name}.py"
        source = tool_source("t", body=body, fields="    n: int", result="int | None", meta=NONE)
        module.write_text(source, encoding="utf-8")
        tools.append(Runnable("t", module))
    replayer: Any = Replayer(shop.host, shop.library, None, Prompts())  # type: ignore[arg-type]
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    search = Search(Domain([Given(call) for call in calls], wide=True), schema, "seed", anew=0.5)
    return Crowd(tools[0], tools[1], replayer, folder / "scratch", search, set())


async def _rounds(crowd: Crowd) -> list[list[int]]:
    return [[one.arguments["n"] for one in parted] async for parted in crowd.parted()]


def _gives(text: str) -> str:
    return f"    return OutputModel(result={text})"


async def test_calls_that_never_end_take_nothing_from_the_others(shop: Shop, tmp_path: Path) -> None:
    endless = "    while input.n % 3 == 0:\n        pass\n"
    crowd = _crowd(shop, endless + _gives("input.n"), endless + _gives("input.n - input.n // 50"), [{"n": 7}], tmp_path)
    found = [n for parted in await _rounds(crowd) for n in parted]
    assert found
    assert all(n >= 50 and n % 3 for n in found)
    assert {one.arguments["n"] for one in crowd.telling} <= set(range(50))


async def test_a_long_loop_is_given_up_and_no_short_one(shop: Shop, tmp_path: Path) -> None:
    loop = f"    for _ in range({MOST_LINES} if input.n > 40 else {MOST_LINES // 4}):\n        pass\n"
    crowd = _crowd(shop, loop + _gives("0"), loop + _gives("input.n"), [{"n": 7}], tmp_path)
    found = [n for parted in await _rounds(crowd) for n in parted]
    assert found
    assert all(0 < n <= 40 for n in found)


@pytest.mark.parametrize(
    "body",
    [
        "    raise SystemExit(3)",
        "    import sys\n    sys.modules[__name__].run = None\n    sys.settrace(None)\n    raise ValueError",
        "    import sys\n    sys._getframe(2).f_globals['CrowdCall'] = dict\n    raise ValueError",
    ],
    ids=["ends the program", "takes itself apart", "takes its host apart"],
)
async def test_a_version_that_ends_the_run_or_meddles_with_it_wins_nothing(
    shop: Shop, tmp_path: Path, body: str
) -> None:
    crowd = _crowd(shop, _gives("input.n"), body, [{"n": 7}], tmp_path)
    assert sum(map(len, await _rounds(crowd))) > CROWD // 4, "it fails each call"
    assert crowd.telling == [], "nothing is agreed with a version that gives nothing"


async def test_a_run_that_comes_to_nothing_tells_nothing(shop: Shop, tmp_path: Path) -> None:
    crowd = _crowd(shop, _gives("input.n"), _gives("0"), [{"n": 7}], tmp_path)

    async def late(*_: Any, **__: Any) -> CallOutcome:
        return CallOutcome(error=CallError(kind="timeout", message="the time is over"))

    crowd.replayer.run = late  # type: ignore[method-assign]
    assert await _rounds(crowd) == [[], []]
    assert crowd.telling == []


async def test_equal_versions_are_always_tried_alike(shop: Shop, tmp_path: Path) -> None:
    told = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        crowd = _crowd(shop, _gives("input.n"), _gives("input.n // 2 * 2"), [{"n": 7}, {"n": 30}], folder)
        told.append((await _rounds(crowd), crowd.telling))
    assert told[0] == told[1]
    assert sum(map(len, told[0][0])) > CROWD // 4


# --- values made anew


@given(st.lists(SHAPES, min_size=1, max_size=3), st.integers(0, 10**6))
def test_a_value_made_anew_is_of_a_type_that_was_seen(seen: list[Any], seed: int) -> None:
    value = afresh(seen, random.Random(seed))
    assert type(value) in {type(one) for one in seen}
    assert value == afresh(seen, random.Random(seed))


def test_numbers_grow_texts_and_lists_too_and_signs_that_nobody_sent_stay_away() -> None:
    lot = random.Random(0)
    numbers = [afresh([3, 12], lot) for _ in range(300)]
    assert max(numbers) > 60
    assert min(numbers) >= 0
    assert any(number < 0 for number in (afresh([-3, 12], lot) for _ in range(50)))
    assert max(len(afresh(["ab cd", "e"], lot)) for _ in range(300)) > 7
    assert max(len(afresh([[1, 2], [3]], lot)) for _ in range(300)) > 4
    assert {len(row) for value in (afresh([[[1, 2], [3, 4]]], lot) for _ in range(300)) for row in value} > {2}


def test_a_wide_domain_holds_what_the_same_caller_may_send_next() -> None:
    calls = [Given({"n": 5, "text": "ab", "flags": [0, 0]}), Given({"n": 12, "text": "cde", "flags": [0, 0]})]
    near, wide = Domain(calls), Domain(calls, wide=True)
    further: list[dict[str, Any]] = [{"n": 90}, {"text": "AB1"}, {"text": "abcdefghijk"}, {"flags": [1, 0]}]
    for more in further:
        there = Given({**calls[0].arguments, **more})
        assert wide.holds(there), more
        assert not near.holds(there), more
    outside: list[dict[str, Any]] = [{"n": -1}, {"n": 0}, {"n": 5000}, {"text": "a b"}, {"text": ""}, {"text": "é"}]
    assert not any(wide.holds(Given({**calls[0].arguments, **more})) for more in outside)
