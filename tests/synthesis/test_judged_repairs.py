"""What a user would lose: a right repair, to a rule that cannot know it; or what was right, to a wrong repair."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from habilis.core.errors import ModelReplyUnusable
from habilis.core.types import Standing
from habilis.inputs.relations import Given
from habilis.judging.preference import DIFFERING, MOST_ASKED, Differing, PreferenceReply
from habilis.judging.trials import Case
from habilis.library import Tool
from habilis.prompts import Prompts
from habilis.synthesis.comparing import Versions, compare
from habilis.synthesis.divergences import Divergence, Ruling, chosen
from habilis.synthesis.real_calls import evidence_on
from habilis.synthesis.replay import Replayer
from habilis.synthesis.smith import EnhanceFailure

from ..toolshop import Shop, tool_source
from .test_comparing import MEDIAN, RIGHT, WRONG_WHEN_EVEN, numbers_tool

GOOD = ([9, 2, 4], [5, 7, 1], [3, 10, 8])
FIXED = {"results": [{"record": "r1", "fixed": True, "reason": "right now"}]}
WRONG_IN_TWO_WAYS = MEDIAN.format("v[n // 2] if n > 1 else 0")
"""Wrong for even lists, as a failing call shows, and for single numbers, as none does."""
WITHOUT_SIGNS = RIGHT.replace("sorted(input.values)", "sorted(abs(x) for x in input.values)")
"""Wrong for some lists with negative numbers, right for others."""
BREAKS_NEGATIVE = RIGHT.replace("OutputModel(result=", "OutputModel(result=v[0] if v[0] < 0 else ")
texts = st.text(max_size=12)
ROW = re.compile(r"^- call: (\S+)\n  arguments: (.*)\n  first: (.*)\n  second: (.*)$", re.MULTILINE)


def rows(prompt: str) -> list[tuple[str, dict[str, Any], Any, Any]]:
    """What a prompt shows of each call: its name, its arguments and both results."""
    return [(name, *(json.loads(part) for part in parts)) for name, *parts in ROW.findall(prompt)]  # type: ignore[misc]


def saying(word: Callable[[list[int], Any, Any], str]) -> Callable[[str], Any]:
    """A judge that says `word` of the numbers and both results."""

    def reply(prompt: str) -> Any:
        said = [(name, word(arguments["values"], *results)) for name, arguments, *results in rows(prompt)]
        return {"results": [{"call": name, "reason": "worked out", "right": right} for name, right in said]}

    return reply


def _median(values: list[int]) -> float:
    ordered, middle = sorted(values), len(values) // 2
    return ordered[middle] if len(values) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def knowing(values: list[int], first: Any, second: Any) -> str:
    """The word of who knows what a median is."""
    if not values:
        return "unclear"
    right = [one["result"] == _median(values) for one in (first, second)]
    return "unclear" if right[0] is right[1] else "first" if right[0] else "second"


def contrary(values: list[int], first: Any, second: Any) -> str:
    return {"first": "second", "second": "first"}.get(knowing(values, first, second), "unclear")


async def mended(shop: Shop, old: str, failing: list[int], candidate: str, judge: Any) -> Tool | EnhanceFailure:
    tool = await shop.has(numbers_tool(old), "middle")
    for number, values in enumerate(GOOD):
        await shop.called(tool, {"values": values}, "success", f"c{number}")
    failed = await shop.called(tool, {"values": failing}, "failure", "bad")
    shop.writer.replies = [numbers_tool(candidate)] * 3
    shop.models.replies, shop.models.preferring = [FIXED] * 3, judge
    return await shop.smith.enhance(tool, [failed])


def _results(prompt: str) -> dict[str, list[Any]]:
    return {str(arguments): results for _, arguments, *results in rows(prompt)}


def first(*_: Any) -> str:
    return "first"


def silent(*_: Any) -> str:
    return "unclear"


def asked(shop: Shop) -> list[str]:
    return [prompt for role, prompt in shop.models.asked if "<differing>" in prompt]


async def test_a_right_repair_is_not_lost_to_a_difference_that_a_judge_settles(shop: Shop) -> None:
    better = await mended(shop, WRONG_IN_TWO_WAYS, [6, 1], RIGHT, saying(knowing))
    assert isinstance(better, Tool), better
    assert len(asked(shop)) == 1
    (told,) = [event for event in shop.events if event.kind == "tool_enhanced"]
    assert told.judged == len([one for one in shop.private.records("middle") if one.kind == "judged"]) > 0


FAR = "len(str(v[-1])) > 2"
"""Where no call comes near: the numbers of all that were made have two digits at most."""


async def test_a_right_repair_is_not_lost_to_a_difference_far_from_all_calls(shop: Shop) -> None:
    """Without a word of a judge, what one failing call does not excuse far away speaks against nobody."""
    old = MEDIAN.format(f"0 if {FAR} else v[n // 2]")
    better = await mended(shop, old, [6, 1], RIGHT, saying(silent))
    assert isinstance(better, Tool), better
    assert any(max(arguments["values"]) > 99 for _, arguments, *_ in rows(asked(shop)[0]))


HAND = (
    "    counts = sorted((input.cards.count(card) for card in set(input.cards)), reverse=True)\n"
    "    return OutputModel(name={} if counts[0] == 2 else 'full house' if counts == {} else 'other')"
)


def _hand(name: str, full: list[int]) -> str:
    body, result = HAND.format(name, full), "    name: str | None = None\n"
    return tool_source("hand", body=body, fields="    cards: str", meta="'dependencies': []").replace(
        "    result: int | None = None\n", result
    )


async def test_what_a_repair_breaks_where_calls_seldom_lead_is_shown_to_the_judge(shop: Shop) -> None:
    """The old version takes two pairs for one; the new one knows them, and full houses no more."""
    tool = await shop.has(_hand("'pair'", [3, 2]), "hand")
    for number, cards in enumerate(("24689", "23355", "2467K", "22468")):
        await shop.called(tool, {"cards": cards}, "success" if cards != "23355" else "failure", f"c{number}")
    failed = next(record for record in shop.private.records("hand") if record.verdict == "failure")
    shop.writer.replies = [_hand("'two pairs' if counts[1:2] == [2] else 'pair'", [5])] * 3
    shop.models.replies = [FIXED] * 3
    shop.models.preferring = lambda prompt: {
        "results": [
            {"call": name, "reason": "counted", "right": "first" if "full house" in str(one) else "second"}
            for name, _, one, other in rows(prompt)
            if "full house" in f"{one}{other}"
        ]
    }
    assert isinstance(await shop.smith.enhance(tool, [failed]), EnhanceFailure)
    assert "full house" in asked(shop)[0]


@pytest.mark.parametrize(
    "judge", [None, ModelReplyUnusable("prose"), {"results": []}, "cannot tell"], ids=["none", "rubbish", "", "unclear"]
)
async def test_without_a_word_the_rules_stand(shop: Shop, judge: Any) -> None:
    """The same repair: it differs where no failing call explains it."""
    if judge is None:
        away = Standing(role="differing", model="said model", by="probe", tells=False).model_dump_json()
        known = shop.models.tape.noted("fixed")
        shop.models.tape.noted = lambda key: away if "differing" in key else known
    said = saying(lambda *_: "unclear") if judge == "cannot tell" else lambda prompt: judge
    refused = await mended(shop, WRONG_IN_TWO_WAYS, [6, 1], RIGHT, said)
    assert isinstance(refused, EnhanceFailure)
    assert "goes wrong where the version before was right" in shop.writer.asked[1]
    assert bool(asked(shop)) is (judge is not None)


async def test_what_a_repair_breaks_under_cover_of_its_failing_call_is_caught(shop: Shop) -> None:
    """All lists with negative numbers look like the failing one, and many of them were right before."""
    refused = await mended(shop, WITHOUT_SIGNS, [-5, 1, 3], BREAKS_NEGATIVE, saying(knowing))
    assert isinstance(refused, EnhanceFailure)
    assert "goes wrong where the version before was right" in shop.writer.asked[1]
    assert all(one.kind != "judged" for one in shop.private.records("middle"))


async def test_rules_alone_excuse_it(shop: Shop) -> None:
    assert isinstance(await mended(shop, WITHOUT_SIGNS, [-5, 1, 3], BREAKS_NEGATIVE, saying(silent)), Tool)


async def test_a_judge_that_prefers_the_version_before_ends_a_repair(shop: Shop) -> None:
    assert isinstance(await mended(shop, WRONG_IN_TWO_WAYS, [6, 1], RIGHT, saying(contrary)), EnhanceFailure)
    assert len(asked(shop)) == 2, "a word that ends a repair is asked for twice"


async def test_a_word_that_hangs_on_the_order_ends_no_repair(shop: Shop) -> None:
    """It says of both versions that they are right, each where it is shown first."""
    assert isinstance(await mended(shop, WITHOUT_SIGNS, [-5, 1, 3], BREAKS_NEGATIVE, saying(first)), Tool)
    one, other = asked(shop)
    shown = {arguments: results for arguments, results in _results(one).items() if arguments in _results(other)}
    assert shown
    assert all(_results(other)[arguments] == results[::-1] for arguments, results in shown.items())


async def test_a_repair_that_agrees_costs_no_request(shop: Shop) -> None:
    empty = "    if not input.values:\n        return OutputModel(result=0.0)\n" + WRONG_WHEN_EVEN
    assert isinstance(await mended(shop, WRONG_WHEN_EVEN, [], empty, None), Tool)
    assert asked(shop) == []


async def test_the_judge_is_not_told_which_version_gave_what(shop: Shop) -> None:
    await mended(shop, WRONG_IN_TWO_WAYS, [6, 1], RIGHT, saying(knowing))
    (prompt,) = asked(shop)
    shown = rows(prompt)
    assert 1 <= len(shown) <= MOST_ASKED
    assert "Do middle." in prompt
    assert not re.search(r"\b(old|new|before|mended|candidate)\b", prompt)


@given(texts, texts, texts)
def test_the_order_of_results_does_not_say_which_one_is_old(arguments: str, one: str, other: str) -> None:
    assume(one != other)
    here, there = Differing(arguments, one, other), Differing(arguments, other, one)
    assert here.first_is_old is not there.first_is_old


async def test_a_step_without_a_judge_knows_what_one_settled(shop: Shop) -> None:
    """Comparing again by rules alone refuses the repair, but for the calls that are kept."""
    better = await mended(shop, WRONG_IN_TWO_WAYS, [6, 1], RIGHT, saying(knowing))
    assert isinstance(better, Tool)
    old = await shop.has(numbers_tool(WRONG_IN_TWO_WAYS), "before")
    every = shop.private.records("middle")
    records, judged = [r for r in every if r.kind == "used"], [r for r in every if r.kind == "judged"]
    by_rules = Replayer(shop.host, shop.library, None, Prompts())  # type: ignore[arg-type]
    versions = Versions(old, better.runnable, mends=True)

    async def against(others: list[Any], place: str) -> str:
        known = evidence_on(old, records, better.source(), others, None)
        return (await compare(versions, known, by_rules, shop.library, shop.workspace / place)).against

    assert "gave" in await against([], "unknown")
    assert await against(judged, "known") == ""


# --- what is asked


def _divergences(*spoken: bool) -> list[Divergence]:
    return [Divergence(Given({"values": [n] * (n + 1)}), {"a": 1}, {"a": 2}, one) for n, one in enumerate(spoken)]


def test_of_many_differences_both_kinds_are_asked_about() -> None:
    found = chosen(_divergences(*[True] * 9, *[False] * 9))
    assert len(found) == MOST_ASKED
    assert {one.excused for one in found} == {True, False}
    assert chosen(_divergences(*[True] * 9, *[False] * 9)) == found


@given(st.lists(st.booleans(), max_size=12))
def test_no_difference_is_asked_about_twice(spoken: list[bool]) -> None:
    found = chosen(_divergences(*spoken))
    assert len(found) == min(MOST_ASKED, len(spoken))
    assert len({len(one.given.arguments["values"]) for one in found}) == len(found)


@pytest.mark.parametrize(
    ("words", "unasked"),
    [
        ({0: "new", 3: "new"}, "new"),
        ({0: "new", 3: "unclear"}, "new"),
        ({0: "new", 3: "unclear", 4: "unclear"}, "unclear"),
        ({0: "new", 1: "new", 2: "old"}, "unclear"),
        ({}, "unclear"),
    ],
)
def test_only_where_no_word_is_for_the_old_version_is_the_rest_cleared(words: Any, unasked: str) -> None:
    assert Ruling(words).word(7) == unasked
    assert all(Ruling(words).word(place) == word for place, word in words.items())


@pytest.mark.parametrize(("right", "word"), [("first", True), ("second", False), ("unclear", None)])
def test_a_planted_case_is_read_by_its_own_name(right: str, word: bool | None) -> None:
    said = [{"call": "c2", "reason": "", "right": right}, {"call": "c2", "reason": "", "right": "unclear"}]
    assert DIFFERING.accepts(PreferenceReply.model_validate({"results": said}), Case(True, {"call": "c2"})) is word
    assert DIFFERING.accepts(PreferenceReply.model_validate({"results": said}), Case(True, {"call": "c1"})) is None


def test_each_planted_case_is_right_about_the_median() -> None:
    (question,) = DIFFERING.questions
    for case in question.cases:
        first, second = (
            json.loads(text) if text[0] == "{" else {} for text in (case.shown["first"], case.shown["second"])
        )
        right = _median(json.loads(case.shown["arguments"])["numbers"])
        assert [one.get("result") == right for one in (first, second)] == [case.right, not case.right]
