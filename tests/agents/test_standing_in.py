"""A merged tool that fails a call is answered for by a member, and nobody pays."""

from __future__ import annotations

import pytest

from habilis.core.types import TaskResult
from habilis.library import Library
from habilis.library.generations import digest

from ..forced import force_merge
from ..toolshop import put
from .conftest import Script, Stage, call, calling, tool_source

PLAIN = tool_source("parse_number", "return OutputModel(result=int(input.x))", inputs="x: str", effects="pure")
ANY = tool_source(
    "parse_amount", "return OutputModel(result=int(input.text.replace(',', '')))", inputs="text: str", effects="pure"
)
PLAN = ({"required_tool_names": ["parse_number"]},)
THOUSAND = {"result": 1000, "error": None}


async def merged(stage: Stage, heir: str = PLAIN, member: str = ANY) -> None:
    library = Library(stage.root / "library")
    await put(library, heir, "parse_number")
    await put(library, member, "parse_amount")
    force_merge(library.path, "parse_number", "parse_amount")


def asking(*words: str, name: str = "parse_number", field: str = "x") -> Script:
    calls = [call(name, {field: word}, f"c{number}") for number, word in enumerate(words)]
    return Script([calling(*calls), "1000."], PLAN)


def own_records(stage: Stage, name: str = "parse_number") -> list[tuple[str, str | None, object]]:
    records = Library(stage.root / "run" / "tasks" / "task" / "tools").records(name)
    return [(record.version, record.verdict, record.output) for record in records]


async def test_a_member_answers_where_the_merged_tool_fails_and_no_mend_is_paid(stage: Stage) -> None:
    await merged(stage)
    library = Library(stage.root / "library")
    (member,) = (library.path / "archive").glob("parse_amount.*.py")
    script, before = asking("1,000"), digest(library.path)
    result = await stage.play(script)
    assert digest(library.path) == before
    (one,) = result.invocations
    assert (one.outcome.output, one.verdict, result.status) == (THOUSAND, "success", "answered")
    assert script.of("codes") == []
    (told,) = stage.sink.of("member_answered")
    version = member.stem.rpartition(".")[2]
    assert (told.tool, told.member) == ("parse_number", f"parse_amount@{version}")
    assert "invalid literal" in told.failure
    tool = library.get("parse_number")
    assert tool is not None
    assert own_records(stage) == [(tool.version, "failure", None), (version, "success", THOUSAND)]


async def test_by_its_old_name_the_member_is_what_answers(stage: Stage) -> None:
    await merged(stage)
    script = asking("1,000", name="parse_amount", field="text")
    script.plans = ({"required_tool_names": ["parse_amount"]},)
    result = await stage.play(script)
    assert [one.outcome.output for one in result.invocations] == [THOUSAND]
    assert [verdict for _, verdict, _ in own_records(stage, "parse_amount")] == ["failure", "success"]


async def test_the_account_of_the_result_says_who_answered(stage: Stage) -> None:
    from habilis.terminal.outcome import facts

    await merged(stage)
    rows = "\n".join(facts(await stage.play(asking("1,000"))))
    assert "parse_amount@" in rows
    assert "answered for parse_number" in rows


async def test_calls_side_by_side_each_have_their_member(stage: Stage) -> None:
    await merged(stage)
    result = await stage.play(asking("1,000", "7", "2,000", "x"))
    assert [one.verdict for one in result.invocations] == ["success", "success", "success", "failure"]
    assert [one.outcome.stood_in is not None for one in result.invocations] == [True, False, True, False]
    assert len(stage.sink.of("member_answered")) == 2


async def test_on_a_resume_the_tape_answers_and_the_members_are_not_asked_again(stage: Stage) -> None:
    await merged(stage)
    steps = [
        calling(call("parse_number", {"x": "1,000"}, "c0")),
        calling(call("ask_user", {"question": "Metres?"}, "q")),
        "1000 metres.",
    ]
    script = Script(steps, PLAN)
    assert (await stage.play(script)).status == "waiting"
    for path in (stage.root / "library" / "archive").glob("*"):
        path.unlink()
    result: TaskResult = await stage.team(script).resume(stage.root / "run", answer="metres")
    assert result.status == "answered"
    assert result.invocations[0].outcome.output == THOUSAND
    assert result.invocations[0].outcome.stood_in is not None


MARK = "open('mark', 'a').write('x')\n"


@pytest.mark.parametrize(
    ("heir", "member"),
    [
        (PLAIN.replace('"effects": "pure"', '"effects": "writes"'), ANY),
        (PLAIN.replace("    return", "    open('left', 'w').close()\n    return").replace('"pure"', '"reads"'), ANY),
        (PLAIN, ANY.replace('"effects": "pure"', '"effects": "writes"')),
    ],
    ids=["the tool may write", "the tool left a file", "the member may write"],
)
async def test_what_has_effects_is_never_made_twice(heir: str, member: str, stage: Stage) -> None:
    await merged(stage, heir, member.replace("    return", f"    {MARK}    return"))
    result = await stage.play(asking("1,000"), "tools.synthesis=false")
    assert result.invocations[0].outcome.error is not None
    assert stage.sink.of("member_answered") == []
    assert not (stage.root / "run" / "tasks" / "task" / "workspace" / "mark").exists()


async def test_a_member_is_given_no_more_than_the_merged_tool(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_MINE", "1000")
    reading = ANY.replace("input.text.replace(',', '')", "__import__('os').environ['SECRET_OF_MINE']").replace(
        '"effects": "pure"', '"effects": "pure", "capabilities": {"env": ["SECRET_OF_MINE"]}'
    )
    await merged(stage, PLAIN, reading)
    result = await stage.play(asking("1,000"), "sandbox.env_allow=[SECRET_OF_MINE]", "tools.synthesis=false")
    assert result.invocations[0].outcome.error is not None
    assert stage.sink.of("member_answered") == []
