"""What the gate refuses on settings' word, and what it hands on of a candidate that passed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from habilis.config.sandbox import CapabilitiesSettings
from habilis.contract import taskfiles
from habilis.contract.capabilities import Capabilities
from habilis.contract.records import RecordedCall
from habilis.library import Tool
from habilis.prompts import Prompts
from habilis.runtime.grants import Grants
from habilis.synthesis.gate import Gate, Passed, Predecessor, Rejected, Wanted
from habilis.synthesis.replay import Replayer
from habilis.synthesis.trial import FirstCall
from habilis.testing import ScriptedGranter

from ..toolshop import Shop, tool_source

PLAIN = "    return OutputModel(result=1)"
GUEST = "    import __main__\n    return OutputModel(result=1)"
PROGRAM = "    import subprocess\n    return OutputModel(result=1)"
NONE = "'dependencies': []"
ONLINE = "'dependencies': [], 'capabilities': {'network': ['api.example.org']}"


def gate(shop: Shop, grants: Grants) -> Gate:
    replayer = Replayer(shop.host, shop.library, shop.models, Prompts())  # type: ignore[arg-type]
    return Gate(shop.host, shop.library, replayer, grants)  # type: ignore[arg-type]


async def passed(shop: Shop, body: str, meta: str = NONE, before: Capabilities | None = None, **rules: Any) -> Passed:
    grants = Grants(CapabilitiesSettings(**rules))
    return await gate(shop, grants).check(tool_source(body=body, meta=meta), Wanted("count_rows", before=before))


async def test_constructs_that_settings_refuse_are_named_by_line_and_else_only_remarked(shop: Shop) -> None:
    with pytest.raises(Rejected, match=r"^It holds what no tool should:\n- line 16: "):
        await passed(shop, GUEST, constructs="refuse")
    (remark,) = (await passed(shop, GUEST, constructs="warn")).remarks
    assert remark.startswith("line 16: ")
    assert (await passed(shop, PLAIN, constructs="refuse")).remarks == ()


async def test_a_tool_that_starts_programs_is_refused_where_settings_deny_that_and_no_other(shop: Shop) -> None:
    with pytest.raises(Rejected, match=r"^It starts programs, and settings do not allow that"):
        await passed(shop, PROGRAM, subprocess="deny")
    assert not (await passed(shop, PLAIN, subprocess="deny")).contract.capabilities.subprocess
    assert (await passed(shop, PROGRAM)).contract.capabilities.subprocess


async def test_a_better_version_that_needs_more_is_told_what_it_has_to_do_without(shop: Shop) -> None:
    with pytest.raises(Rejected, match=r"^It needs more than the version before.*:\n- network api\.example\.org"):
        await passed(shop, PLAIN, ONLINE, before=Capabilities())
    no_more = Capabilities(network=("api.example.org",))
    assert (await passed(shop, PLAIN, ONLINE, before=no_more)).contract.capabilities == no_more


async def test_who_allowed_a_candidate_its_host_is_not_asked_again_for_the_tool(shop: Shop) -> None:
    person = ScriptedGranter(otherwise=True)
    grants = Grants(CapabilitiesSettings(network="ask"), granter=person)
    tool = await shop.has(tool_source(body=PLAIN, meta=ONLINE), "count_rows")
    await gate(shop, grants).check(tool.source(), Wanted("count_rows"))
    assert (await grants.of(tool)).network == ("api.example.org",)
    assert len(person.asked) == 1


# --- the call that a tool is made for


async def outright(shop: Shop, folder: Path, result: str) -> list[tuple[str, FirstCall]]:
    """The first calls that were kept of a tool made outright, which gives `result`, a text."""
    file = folder / "data" / "temps.csv"
    file.parent.mkdir()
    file.write_text("city,temp\nLagos,31.5\n")
    body = f"    text = open(input.path).read()\n    return OutputModel(result={result})"
    source = tool_source("highest", body=body, result="str | None", meta=NONE)
    shop.writer.replies = [f'```python\n{source}\n```\n```json\n{{"path": "{file}"}}\n```']
    kept: list[tuple[str, FirstCall]] = []
    files = taskfiles.view(taskfiles.gather("", [file], file.parent)[0])
    tool = await shop.smith.build_outright(
        "What is in temps.csv?", files, lambda name, first: kept.append((name, first))
    )
    assert isinstance(tool, Tool), tool
    return kept


async def test_the_call_that_a_tool_was_made_for_is_not_run_a_second_time(shop: Shop, tmp_path: Path) -> None:
    ((name, first),) = await outright(shop, tmp_path, "text.split()[-1]")
    assert (name, first.outcome.output) == ("highest", {"result": "Lagos,31.5", "error": None})
    assert len(shop.host.ran) == 1


async def test_what_tells_of_the_place_where_it_was_tried_is_no_answer(shop: Shop, tmp_path: Path) -> None:
    """That folder is gone when somebody reads it."""
    assert await outright(shop, tmp_path, "__import__('os').getcwd()") == []


# --- which calls bind


MIDDLE = "    v = sorted(input.values)\n    n = len(v)\n    return OutputModel(result={})"
UPPER = MIDDLE.format("v[n // 2]")
MEAN = MIDDLE.format("v[n // 2] if n % 2 else (v[n // 2 - 1] + v[n // 2]) / 2")


def middle(body: str) -> str:
    return tool_source("middle", body=body, fields="    values: list[int]", result="float | None", meta=NONE)


async def test_what_a_writer_foretold_as_wrongly_as_the_tool_answered_binds_no_mend(shop: Shop) -> None:
    tool = await shop.has(middle(UPPER), "middle")
    for number, values in enumerate(([2, 4, 9], [1, 5, 7], [3, 8, 10])):
        await shop.called(tool, {"values": values}, "success", f"c{number}")
    failed = await shop.called(tool, {"values": [1, 2, 4, 9]}, "failure", "bad")
    foretold = RecordedCall(
        call_id="confirmed-1",
        tool="middle",
        version=tool.version,
        verdict="success",
        kind="confirmed",
        arguments={"values": [2, 3, 5, 8]},
        output={"result": 5.0, "error": None},
    )
    shop.private.keep_confirmed("middle", [foretold], {})
    assert foretold in shop.library.records("middle")
    shop.writer.replies = [middle(MEAN)]
    shop.models.replies = [{"results": [{"record": "r1", "fixed": True, "reason": "right now"}]}]
    better = await shop.smith.enhance(tool, [failed])
    assert isinstance(better, Tool), better


# --- merging


async def test_an_old_name_whose_way_is_plain_needs_no_word_of_the_writer(
    shop: Shop, source_of: Callable[..., str]
) -> None:
    """The writer says how calls of one tool go on; of the other there is only one way."""
    count = "    return OutputModel(result=input.path.count({!r}))"
    sources = []
    for name, part in (("commas", ","), ("spaces", " ")):
        tool = await shop.has(source_of(name, body=count.format(part), meta=NONE), name)
        sources.append(Predecessor(tool, (await shop.called(tool, {"path": "a b, c"}, "success", name),)))
    ways = "'dependencies': [], 'aliases': {'spaces': {'constants': {'part': ' '}, 'fields': {'found': 'result'}}}"
    body = "    return OutputModel(found=input.path.count(input.part))"
    merged = source_of("parts", body=body, fields="    path: str\n    part: str = ','", meta=ways)
    merged = merged.replace("    result: int", "    found: int")
    made = await gate(shop, Grants()).check(merged, Wanted("parts", sources=tuple(sources), merges=True))
    assert {name: dict(alias.fields) for name, alias in made.aliases.items()} == {
        "commas": {"found": "result"},
        "spaces": {"found": "result"},
    }
    assert made.replay.replayed == 2
