"""Calls on which a wrong version would go wrong: a later tool must not lose what its writer knew it must give."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from habilis.contract.records import RecordedCall
from habilis.core.errors import BudgetReached, ModelUnreachable, WriterFailed
from habilis.core.types import CallError, Standing, ToolRequest
from habilis.library import Tool
from habilis.synthesis import confirming
from habilis.synthesis.smith import EnhanceFailure
from habilis.synthesis.writers import ModelWriter

Source = Callable[..., str]
META = "'dependencies': [], 'effects': 'pure', 'examples': [{'arguments': {'values': [2, 4]}}]"
MEAN = "    return OutputModel(result=sum(input.values) / len(input.values))"
MIDRANGE = "    return OutputModel(result=(min(input.values) + max(input.values)) / 2)"


def number(body: str = MEAN, **more: Any) -> dict[str, Any]:
    return {
        "name": "mean",
        "fields": "    values: list[float]",
        "result": "float | None",
        "meta": META,
        "body": body,
    } | more


def said(*calls: Any) -> str:
    """Calls with what they must give, as a writer says them."""
    return "\n".join(
        json.dumps({"arguments": {"values": given}, "expected": {"result": gives}}) for given, gives in calls
    )


def request() -> ToolRequest:
    schema = {"type": "object", "properties": {"values": {"type": "array", "items": {"type": "number"}}}}
    output = {"type": "object", "properties": {"result": {"type": "number"}}}
    return ToolRequest(name="mean", description="Mean of numbers.", input_schema=schema, output_schema=output)


async def build(shop: Any) -> Any:
    return await shop.smith.build(request(), question="What is the mean of 1, 2 and 6?", files=[])


def confirmed(shop: Any, name: str = "mean") -> list[RecordedCall]:
    return [record for record in shop.library.records(name) if record.kind == "confirmed"]


def given(shop: Any, name: str = "mean") -> list[Any]:
    return [(record.arguments["values"], record.output["result"]) for record in confirmed(shop, name)]


async def test_calls_that_give_what_was_expected_are_kept_and_cost_one_request(shop: Any, source_of: Source) -> None:
    shop.writer.replies, shop.writer.calls = [source_of(**number())], [said([[1, 2, 6], 3], [[-4, -4, 2], -2])]
    tool = await build(shop)
    assert isinstance(tool, Tool)
    assert given(shop) == [([1, 2, 6], 3.0), ([-4, -4, 2], -2.0)]
    assert {(r.verdict, r.version, r.replayable) for r in confirmed(shop)} == {("success", tool.version, True)}
    assert len(shop.writer.asked) == len(shop.writer.asked_for_calls) == 1
    assert tool.counters.get("calls", 0) == 0, "nobody has used it"


async def test_numbered_calls_are_read_and_a_cut_one_is_left_out(shop: Any, source_of: Source) -> None:
    lines = said([[1, 2, 6], 3], [[-4, -4, 2], -2]).splitlines()
    numbered = "\n".join(f"{at}. {line}" for at, line in enumerate(lines, 1))
    shop.writer.replies, shop.writer.calls = [source_of(**number())], [f'{numbered}\n3. {{"arguments": {{"val']
    await build(shop)
    assert given(shop) == [([1, 2, 6], 3.0), ([-4, -4, 2], -2.0)]


async def test_the_writer_is_asked_without_the_code_in_sight(shop: Any, source_of: Source) -> None:
    shop.writer.replies = [source_of(**number())]
    await build(shop)
    (asked,) = shop.writer.asked_for_calls
    assert "Do mean." in asked
    assert '"values"' in asked
    assert "sum(" not in asked


async def test_a_disagreement_mends_the_code(shop: Any, source_of: Source) -> None:
    shop.writer.calls = [said([[1, 2, 6], 3], [[-4, 4], 0])]
    shop.writer.replies = [source_of(**number(MIDRANGE)), source_of(**number())]
    tool = await build(shop)
    assert tool.source() == source_of(**number())
    assert given(shop) == [([1, 2, 6], 3.0), ([-4, 4], 0.0)]
    assert '"values": [1, 2, 6]' in shop.writer.asked[1]
    assert 'given: {"result": 3.5' in shop.writer.asked[1]
    assert len(shop.writer.asked) == 2, "one request more, not another attempt"


@pytest.mark.parametrize("tells", [True, False])
async def test_a_model_that_is_no_judge_is_not_asked_what_calls_give(
    shop: Any, source_of: Source, monkeypatch: pytest.MonkeyPatch, tells: bool
) -> None:
    asked: list[str] = []

    async def standing(trial: Any, *_: Any) -> Standing:
        asked.append(trial.prompt)
        return Standing(role=trial.prompt, model="m", by="probe", tells=tells)

    monkeypatch.setattr(confirming, "standing_or_away", standing)
    monkeypatch.setattr(shop.writer, "name", ModelWriter.name, raising=False)
    shop.writer.calls = [said([[1, 2, 6], 3], [[-4, 4], 0])]
    shop.writer.replies = [source_of(**number(MIDRANGE)), source_of(**number())]
    tool = await build(shop)
    assert asked == ["review"]
    assert (tool.source() == source_of(**number())) is tells
    assert given(shop) == ([([1, 2, 6], 3.0), ([-4, 4], 0.0)] if tells else [])


async def test_a_disagreement_mends_the_expectation(shop: Any, source_of: Source) -> None:
    shop.writer.calls = [said([[1, 2, 6], 4], [[5], 5])]
    shop.writer.replies = [source_of(**number()), "```json\n" + said([[1, 2, 6], 3]) + "\n```"]
    tool = await build(shop)
    assert tool.source() == source_of(**number())
    assert given(shop) == [([1, 2, 6], 3.0), ([5], 5.0)]


@pytest.mark.parametrize(
    "second",
    [
        "```\nI do not know.\n```",
        "```json\n" + said([[1, 2, 6], 5]) + "\n```",
        "```python\ndef run(:\n```",
        WriterFailed("The reply was empty."),
    ],
)
async def test_what_stays_unclear_is_no_record(shop: Any, source_of: Source, second: Any) -> None:
    shop.writer.calls = [said([[1, 2, 6], 4], [[5], 5])]
    shop.writer.replies = [source_of(**number()), second]
    tool = await build(shop)
    assert tool.source() == source_of(**number())
    assert given(shop) == [([5], 5.0)]


async def test_a_mended_module_that_loses_what_was_confirmed_is_not_taken(shop: Any, source_of: Source) -> None:
    shop.writer.calls = [said([[1, 2, 6], 3.5], [[2, 2, 8], 4])]
    shop.writer.replies = [source_of(**number()), source_of(**number(MIDRANGE))]
    tool = await build(shop)
    assert tool.source() == source_of(**number()), "a wrong expectation must not spoil a right tool"
    assert given(shop) == [([2, 2, 8], 4.0)]


@pytest.mark.parametrize(
    "rubbish",
    [
        "",
        "Sure! Here are six good calls.",
        "[[[ {{{ ",
        '{"arguments": {"values": [1, 2',
        '{"arguments": [1, 2], "expected": 3}',
        '{"arguments": {"numbers": [1, 2]}, "expected": {"result": 1.5}}',
        '{"arguments": {"values": [1, 3]}}',
        '{"arguments": {"values": []}, "expected": {"error": "no values"}}',
        '{"arguments": {"values": [1, 3]}, "expected": NaN}',
        "[" * 5000 + "{" * 5000,
        WriterFailed("The reply was empty."),
    ],
)
async def test_rubbish_costs_one_request_and_nothing_else(shop: Any, source_of: Source, rubbish: Any) -> None:
    shop.writer.replies, shop.writer.calls = [source_of(**number())], [rubbish]
    tool = await build(shop)
    assert tool.origin.smoke == "passed"
    assert confirmed(shop) == []
    assert (len(shop.writer.asked), len(shop.writer.asked_for_calls)) == (1, 1)
    assert shop.kinds() == ["tool_build_started", "tool_built"]


@pytest.mark.parametrize("stop", [ModelUnreachable("gone"), BudgetReached("spent")])
async def test_a_tool_is_kept_where_the_question_for_calls_finds_nobody(
    shop: Any, source_of: Source, stop: Exception
) -> None:
    """It is paid for and passed; the next request ends the task."""
    shop.writer.replies, shop.writer.calls = [source_of(**number())], [stop]
    tool = await build(shop)
    assert shop.private.names() == [tool.name]
    assert confirmed(shop) == []


async def test_calls_that_were_shown_are_no_calls_of_the_writers_own(shop: Any, source_of: Source) -> None:
    copied = '{"arguments": {"values": ["q", "K", "q"]}, "expected": {"result": 2}}'
    shop.writer.replies = [source_of(**number())]
    shop.writer.calls = [f"{said([[2, 4], 3])}\n{copied}\n{said([[5], 5])}\n{said([[5], 5])}"]
    await build(shop)
    assert given(shop) == [([5], 5.0)]
    assert ("mean", {"values": ["q", "K", "q"]}) not in shop.host.ran


async def test_a_relation_stands_on_a_call_that_is_sure(shop: Any, source_of: Source) -> None:
    sorted_too = '{"arguments": {"values": [6, 1, 2]}, "same_as": {"values": [1, 2, 6]}}'
    loose = '{"arguments": {"values": [9, 9, 1]}, "same_as": {"values": [9, 1, 9]}}'
    shop.writer.replies = [source_of(**number())]
    shop.writer.calls = [f"{said([[1, 2, 6], 3])}\n{sorted_too}\n{loose}\n{said([[-5], -5])}"]
    await build(shop)
    ran = [arguments["values"] for _, arguments in shop.host.ran]
    assert [6, 1, 2] in ran
    assert [9, 1, 9] in ran
    assert [9, 9, 1] not in [values for values, _ in given(shop)], "both could be wrong in the same way"
    assert ([-5], -5.0) in given(shop)


async def test_a_broken_relation_is_a_disagreement(shop: Any, source_of: Source) -> None:
    first = "    return OutputModel(result=sum(input.values) / len(input.values) + (input.values[0] == 6))"
    shop.writer.calls = ['{"arguments": {"values": [6, 1, 2]}, "same_as": {"values": [1, 2, 6]}}']
    shop.writer.replies = [source_of(**number(first)), source_of(**number())]
    tool = await build(shop)
    assert tool.source() == source_of(**number())
    assert "the same as for" in shop.writer.asked[1]


async def test_calls_that_tell_the_same_are_kept_once(shop: Any, source_of: Source) -> None:
    shop.writer.replies = [source_of(**number())]
    shop.writer.calls = [said(*([[n, -n], 0] for n in range(1, 9)))]
    await build(shop)
    assert len(given(shop)) == 1
    assert len({json.dumps(a) for _, a in shop.host.ran}) == 7, "six calls at most, and its own example"


async def test_what_may_write_or_reaches_further_is_not_asked_about(shop: Any, source_of: Source) -> None:
    shop.writer.replies = [source_of(**number(meta=META.replace("pure", "writes")))]
    assert isinstance(await build(shop), Tool)
    assert shop.writer.asked_for_calls == []


@pytest.mark.parametrize("kind", ["denied", "unavailable", "timeout"])
async def test_a_call_that_could_not_be_run_says_nothing(shop: Any, source_of: Source, kind: Any) -> None:
    shop.writer.replies, shop.writer.calls = [source_of(**number())], [said([[1, 2, 6], 99])]
    shop.host.refuse = lambda tool: CallError(kind=kind, message="no") if len(shop.host.ran) > 1 else None
    assert isinstance(await build(shop), Tool)
    assert len(shop.host.ran) == 2, "its own example, and the call"
    assert len(shop.writer.asked) == 1, "there is nothing to dispute"
    assert confirmed(shop) == []


def counting() -> ToolRequest:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    output = {"type": "object", "properties": {"result": {"type": "integer"}}}
    return ToolRequest(name="count_rows", description="Count.", input_schema=schema, output_schema=output)


async def test_files_of_a_confirmed_call_are_kept(shop: Any, source_of: Source) -> None:
    shop.writer.replies = [source_of()]
    shop.writer.calls = [
        '{"arguments": {"path": "b.csv"}, "files": {"b.csv": "x\\n1\\n2\\n"}, "expected": {"result": 3}}'
    ]
    await shop.smith.build(counting(), question="?", files=[])
    (record,) = confirmed(shop, "count_rows")
    assert shop.library.content(record.files["b.csv"]) == b"x\n1\n2\n"


async def test_a_call_about_a_file_that_nobody_gave_is_no_disagreement(shop: Any, source_of: Source) -> None:
    shop.writer.replies = [source_of()]
    shop.writer.calls = ['{"arguments": {"path": "data.csv"}, "expected": {"result": 3}}']
    assert isinstance(await shop.smith.build(counting(), question="?", files=[]), Tool)
    assert len(shop.writer.asked) == len(shop.writer.asked_for_calls) == 1, "nothing could be settled"
    assert confirmed(shop, "count_rows") == []


# ---- what confirmed calls are for


async def test_a_mended_version_must_give_what_was_confirmed(shop: Any, source_of: Source) -> None:
    fails_on_one = "    if len(input.values) == 1:\n        raise ValueError('one')\n" + MEAN
    shop.writer.replies, shop.writer.calls = [source_of(**number(fails_on_one))], [said([[1, 2, 6], 3])]
    tool = await build(shop)
    failure = await shop.called(tool, {"values": [7]}, "failure")
    shop.writer.replies = [source_of(**number(MIDRANGE))] * 3
    shop.models.replies = [{"results": [{"record": "r1", "fixed": True, "reason": "it is 7"}]}]
    made = await shop.smith.enhance(tool, [failure])
    assert isinstance(made, EnhanceFailure)
    assert "Recorded calls do not pass" in str([e.reason for e in shop.events if e.kind == "tool_rejected"])


async def test_a_wrong_tool_with_a_wrong_expectation_can_still_be_mended(shop: Any, source_of: Source) -> None:
    lost_sign = "    return OutputModel(result=abs(sum(input.values)) / len(input.values))"
    shop.writer.replies, shop.writer.calls = [source_of(**number(lost_sign))], [said([[-1, -3], 2], [[1, 2, 6], 3])]
    tool = await build(shop)
    assert ([-1, -3], 2.0) in given(shop), "both were wrong in the same way"
    await shop.called(tool, {"values": [2, 5]}, "success", "c1")
    failure = await shop.called(tool, {"values": [-4, -8]}, "failure", "c2")
    shop.writer.replies = [source_of(**number())]
    shop.models.replies = [{"results": [{"record": "r1", "fixed": True, "reason": "negative"}]}]
    better = await shop.smith.enhance(tool, [failure])
    assert isinstance(better, Tool), better


async def test_a_mend_is_asked_about_too_and_an_older_version_keeps_its_calls(shop: Any, source_of: Source) -> None:
    fails_on_one = "    if len(input.values) == 1:\n        raise ValueError('one')\n" + MEAN
    shop.writer.replies, shop.writer.calls = [source_of(**number(fails_on_one))], [said([[1, 2, 6], 3])]
    tool = await build(shop)
    failure = await shop.called(tool, {"values": [7]}, "failure")
    shop.writer.replies, shop.writer.calls = [source_of(**number())], [said([[-8], -8])]
    shop.models.replies = [{"results": [{"record": "r1", "fixed": True, "reason": "it is 7"}]}]
    better = await shop.smith.enhance(tool, [failure])
    assert isinstance(better, Tool), better
    assert given(shop) == [([1, 2, 6], 3.0), ([-8], -8.0)]
    assert {record.version for record in confirmed(shop)} == {tool.version, better.version}
    assert "[1, 2, 6]" in shop.writer.asked_for_calls[1]
