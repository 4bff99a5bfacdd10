"""The smith: nothing counts as a tool before it ran, and nothing that works is lost when a better one fails."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from habilis.core.errors import BudgetReached, ModelUnreachable, PlaceError, WriterFailed
from habilis.core.types import CallError, ToolRequest
from habilis.library import Tool
from habilis.synthesis.replay_report import ReplayReport
from habilis.synthesis.smith import SAME_AGAIN, BuildFailure, EnhanceFailure

Source = Callable[..., str]
EXAMPLE = "'examples': [{'arguments': {'path': 'a.csv'}, 'files': {'a.csv': 'x\\n1\\n'}}]"
BOMB = "    model_json_schema = classmethod(lambda cls, **how: {'allOf': [{'$ref': '#'}]})\n"
FLOOD = "    model_json_schema = classmethod(lambda cls, **how: {'description': 'long ' * 99_999})\n"
SECOND = "    return OutputModel(result=len(open(input.path).read().split('\\n')) - 1)"


def request(name: str = "count_rows", field: str = "path", **changes: Any) -> ToolRequest:
    schema = {"type": "object", "properties": {field: {"type": "string"}}, "required": [field]}
    output = {"type": "object", "properties": {"result": {"type": "integer"}}}
    values = {"name": name, "description": "Count rows.", "input_schema": schema, "output_schema": output}
    return ToolRequest(**(values | changes))


async def build(shop: Any, wanted: ToolRequest | None = None) -> Any:
    return await shop.smith.build(wanted or request(), question="How many rows?", files=[])


def reasons(shop: Any) -> list[str]:
    return [event.reason for event in shop.events if event.kind == "tool_rejected"]


async def test_a_tool_is_built_tried_and_kept(shop: Any, source_of: Source) -> None:
    shop.writer.replies = [source_of()]
    tool = await build(shop)
    assert isinstance(tool, Tool)
    assert shop.private.get("count_rows") == tool
    assert shop.host.ran == [("count_rows", {"path": "a.csv"})], "its example was run"
    assert (tool.origin.smoke, tool.origin.writer, tool.origin.asked_name) == ("passed", "said", "count_rows")
    assert shop.kinds() == ["tool_build_started", "tool_built"]
    assert not list((shop.private.path / ".aside").iterdir())


async def test_the_prompt_tells_the_request(shop: Any, source_of: Source) -> None:
    shop.writer.replies = [source_of()]
    files = [{"named": "a.csv", "path": "/u/a.csv", "begins": "    x"}]
    await shop.smith.build(request(), question="How many rows?", files=files)
    assert "name: count_rows" in shop.writer.asked[0]
    assert '"required": ["path"]' in shop.writer.asked[0]
    assert "How many rows?" in shop.writer.asked[0]
    assert "- a.csv, begins:" in shop.writer.asked[0]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("def run(:", "does not parse"),
        ("x = 1", "__TOOL_META__ is missing"),
        ({"meta": "'dependencies': ['--index-url x']"}, "is refused"),
        ({"body": "    raise KeyError('price')"}, "KeyError: 'price'"),
        ({"body": "    return OutputModel(error='cannot')"}, "sets error: cannot"),
        ({"body": "    return OutputModel(result=2, error='2 rows found')"}, "`error` stays None"),
        ({"body": "    return OutputModel()"}, "gives no result"),
        ({"body": "    return OutputModel(result='many')"}, "fails"),
        ({"fields": "    file: str"}, "InputModel lacks the fields path; it has file."),
        (
            {"fields": f"{BOMB}    path: str"},
            "The JSON schema of InputModel refers to itself without end; put the $ref",
        ),
        ({"fields": f"{FLOOD}    path: str"}, "The JSON schema of InputModel holds more than 128,000 characters"),
        (WriterFailed("The reply holds no code."), "The reply holds no code."),
        ("nothing but ``` here", "no ```python block"),
    ],
)
async def test_a_candidate_that_does_not_pass_is_written_again_with_the_reason(
    shop: Any, source_of: Source, bad: Any, reason: str
) -> None:
    first = bad if not isinstance(bad, dict) else source_of(**({"meta": EXAMPLE} | bad))
    if isinstance(bad, dict) and "fields" in bad:
        first = source_of(meta="'dependencies': []", **bad)
    shop.writer.replies = [first, source_of()]
    tool = await build(shop)
    assert isinstance(tool, Tool)
    assert reason in reasons(shop)[0]
    assert reason in shop.writer.asked[1]
    assert "failure" not in shop.writer.asked[0]
    assert shop.kinds() == ["tool_build_started", "tool_rejected", "tool_built"]
    assert shop.events[-1].attempts == 2


async def test_the_next_attempt_sees_the_code_that_failed(shop: Any, source_of: Source) -> None:
    shop.writer.replies = [source_of(body="    raise KeyError('price')"), source_of()]
    await build(shop)
    assert "raise KeyError('price')" in shop.writer.asked[1]


async def test_a_version_that_failed_is_not_tried_again_and_its_writer_is_told(shop: Any, source_of: Source) -> None:
    bad = source_of(meta=EXAMPLE, body="    raise KeyError('price')")
    shop.writer.replies = [bad, bad, source_of()]
    assert isinstance(await build(shop), Tool)
    assert reasons(shop)[1] == f"{SAME_AGAIN} {reasons(shop)[0]}"
    assert SAME_AGAIN in shop.writer.asked[2]
    assert "raise KeyError('price')" in shop.writer.asked[1]
    assert "raise KeyError('price')" not in shop.writer.asked[2], "a model that copies would copy it once more"
    assert len(shop.host.ran) == 2


async def test_a_module_that_was_forgotten_to_be_imported_costs_no_attempt(shop: Any, source_of: Source) -> None:
    shop.writer.replies = [source_of(body="    return OutputModel(result=len(json.dumps([1, 2])))")]
    tool = await build(shop)
    assert "import json\n" in tool.source()
    assert shop.kinds() == ["tool_build_started", "tool_built"]


async def test_after_the_last_attempt_the_build_is_given_up_and_nothing_is_left(shop: Any) -> None:
    shop.writer.replies = ["x = 1"] * 3
    failure = await build(shop)
    assert isinstance(failure, BuildFailure)
    assert failure.name == "count_rows"
    assert "3 attempts failed" in failure.reason
    assert shop.kinds()[-1] == "tool_given_up"
    assert shop.private.names() == []
    assert [path.name for path in shop.private.path.iterdir() if not path.name.startswith(".")] == []


@pytest.mark.parametrize("kind", ["denied", "unavailable"])
async def test_what_the_sandbox_refuses_is_not_tried_and_said_so(shop: Any, source_of: Source, kind: Any) -> None:
    shop.writer.replies = [source_of()]
    shop.host.refuse = lambda tool: CallError(kind=kind, message="no network")
    tool = await build(shop)
    assert tool.origin.smoke == "not tried: no network"


async def test_a_tool_without_an_example_is_recorded_as_not_tried(shop: Any, source_of: Source) -> None:
    shop.writer.replies = [source_of(meta="'dependencies': []")]
    tool = await build(shop)
    assert tool.origin.smoke == "not tried: the tool brings no example"
    assert shop.host.ran == []


async def test_dependencies_that_cannot_be_had_are_told_to_the_writer(shop: Any, source_of: Source) -> None:
    shop.host.unprepared = CallError(kind="unavailable", message="no such package nopkg")
    shop.writer.replies = [source_of(meta="'dependencies': ['nopkg']"), source_of()]
    assert isinstance(await build(shop), Tool)
    assert "no such package nopkg" in shop.writer.asked[1]


async def test_what_is_fed_back_is_the_same_in_every_run(shop: Any, source_of: Source) -> None:
    body = "    import os\n    raise ValueError(os.getcwd(), __file__, object())"
    body = body.replace("__file__", "'x'")
    shop.writer.replies = [source_of(body=body), "raise RuntimeError()\n" + source_of(), source_of()]
    await build(shop)
    for asked in shop.writer.asked:
        assert str(shop.private.path) not in asked
        assert not re.search(r"0x[0-9a-f]{6,}", asked)
    assert "'.', 'x', <object object at 0x…>" in shop.writer.asked[1]
    assert "count_rows.py: " in shop.writer.asked[2]


async def test_a_taken_name_gets_a_suffix_that_the_manifest_calls_ours(shop: Any, source_of: Source) -> None:
    await shop.has(source_of(), "count_rows")
    shop.writer.replies = [source_of()]
    tool = await build(shop)
    assert (tool.name, tool.origin.our_suffix, tool.origin.asked_name) == ("count_rows_v02", True, "count_rows")


async def test_a_name_in_another_script_is_kept_in_the_manifest(shop: Any, source_of: Source) -> None:
    shop.writer.replies = [source_of("计算行数")]
    tool = await build(shop, request("计算行数"))
    assert tool.name.startswith("tool_")
    assert (tool.origin.asked_name, tool.origin.our_suffix) == ("计算行数", False)


async def test_a_name_with_a_path_in_it_stays_in_the_folder(shop: Any, source_of: Source) -> None:
    shop.writer.replies = [source_of()]
    tool = await build(shop, request("../../../tmp/evil"))
    assert tool.path == shop.private.path / "tmp_evil.py"


async def test_two_builds_of_one_name_never_share_a_file(shop: Any, source_of: Source) -> None:
    shop.writer.replies = [source_of(), source_of(body=SECOND)]
    both = await asyncio.gather(build(shop), build(shop, request(description="Count other rows.")))
    assert sorted(tool.name for tool in both) == ["count_rows", "count_rows_v02"]
    assert both[0].source() != both[1].source()


async def test_the_very_same_request_is_built_once(shop: Any, source_of: Source) -> None:
    shop.writer.replies = [source_of()]
    both = await asyncio.gather(build(shop), build(shop))
    assert both[0] == both[1]
    assert await build(shop) == both[0], "and not again after a resume"
    assert len(shop.writer.asked) == 1


@pytest.mark.parametrize("error", [ModelUnreachable("401"), BudgetReached("tokens")])
async def test_what_no_attempt_can_help_ends_the_build(shop: Any, source_of: Source, error: Exception) -> None:
    shop.writer.replies = [error]
    with pytest.raises(type(error)):
        await build(shop)
    shop.writer.replies = [source_of()]
    assert (await build(shop)).name == "count_rows", "its name is free again"


async def test_a_cancelled_build_leaves_nothing_behind(shop: Any, source_of: Source) -> None:
    started = asyncio.Event()

    async def never(system: str, user: str) -> str:
        started.set()
        await asyncio.Event().wait()
        return ""

    shop.writer.write = never
    building = asyncio.create_task(build(shop))
    await started.wait()
    building.cancel()
    with pytest.raises(asyncio.CancelledError):
        await building
    with shop.private.reserve("count_rows") as name:
        assert name == "count_rows"


async def test_a_library_that_cannot_be_written_is_no_writers_fault(shop: Any, source_of: Source) -> None:
    shop.private.path.parent.mkdir(exist_ok=True)
    shop.private.path.write_text("a file in the place of the folder")
    shop.writer.replies = [source_of()]
    with pytest.raises(PlaceError, match="stands where a folder is needed"):
        await build(shop)
    assert shop.writer.asked == []


# --- enhance


CSV = (
    "    return OutputModel(result=sum(float(line.split(',')[1]) for line in open(input.path).read().splitlines()[1:]))"
)
BETTER = CSV.replace("line.split(',')", "line.replace(';', ',').split(',')") + "  # any delimiter"


class Mending:
    """A tool that fails on semicolons, with one passing and one failing call."""

    def __init__(self, shop: Any, source: Source) -> None:
        self.shop, self.source = shop, source

    def code(self, body: str, **fields: str) -> str:
        return self.source("sum_column", body=body, result="float | None", meta="'dependencies': []", **fields)

    async def begin(self, *, library: Any = None) -> Any:
        self.tool = await self.shop.has(self.code(CSV), "sum_column", library=library)
        (self.shop.workspace / "good.csv").write_text("n,v\na,1\nb,2\n")
        (self.shop.workspace / "bad.csv").write_text("n;v\na;1\n")
        self.passed = await self.shop.called(self.tool, {"path": "good.csv"}, "success", "c1")
        self.failed = await self.shop.called(self.tool, {"path": "bad.csv"}, "failure", "c2")
        self.shop.events.clear()
        return self.tool

    def judge(self, fixed: bool = True) -> None:
        self.shop.models.replies.append({"results": [{"record": "r1", "fixed": fixed, "reason": "said"}]})

    async def enhance(self, *replies: Any) -> Any:
        self.shop.writer.replies = list(replies)
        return await self.shop.smith.enhance(self.tool, [self.failed])


@pytest.fixture
def mending(shop: Any, source_of: Source) -> Mending:
    return Mending(shop, source_of)


async def test_a_better_version_takes_the_place_of_the_old_one(mending: Mending) -> None:
    old = await mending.begin()
    mending.judge()
    better = await mending.enhance(mending.code(BETTER))
    assert isinstance(better, Tool)
    assert mending.shop.private.get("sum_column") == better
    assert (better.origin.how, better.origin.parents) == ("enhanced", (f"sum_column@{old.version}",))
    assert mending.shop.kinds() == ["tool_build_started", "tool_enhanced"]
    event = mending.shop.events[-1]
    assert (event.previous, event.replayed, event.records) == (old.version, 2, 2)
    kept = {record.call_id: record.arguments for record in mending.shop.library.records("sum_column")}
    assert {call.call_id: json.loads(call.input) for call in event.calls} == kept
    assert {call.word: call.why for call in event.calls} == {"same": "", "mended": "said"}
    assert (mending.shop.private.path / "archive" / f"sum_column.{old.version}.py").exists()
    asked = mending.shop.writer.asked[0]
    assert "ValueError" in asked or "IndexError" in asked
    assert "    n;v" in asked, "the writer sees how the file begins"
    assert str(mending.shop.workspace) not in asked


async def test_a_version_that_breaks_what_worked_is_refused(mending: Mending) -> None:
    old = await mending.begin()
    worse = mending.code("    return OutputModel(result=1.0)")
    for _ in range(3):
        mending.judge()
    failure = await mending.enhance(worse, worse, worse)
    assert isinstance(failure, EnhanceFailure)
    assert "before and now gives" in failure.reason
    assert mending.shop.private.get("sum_column").version == old.version
    assert old.source() == mending.code(CSV)


async def test_unchanged_code_is_refused_without_a_replay(mending: Mending) -> None:
    await mending.begin()
    ran = len(mending.shop.host.ran)
    same = mending.code(CSV)
    failure = await mending.enhance(same, same + "\n\n", same)
    assert isinstance(failure, EnhanceFailure)
    assert [reason.endswith("The code is unchanged.") for reason in reasons(mending.shop)] == [True] * 3
    assert len(mending.shop.host.ran) == ran


async def test_the_second_attempt_is_told_why_and_may_pass(mending: Mending) -> None:
    await mending.begin()
    mending.judge()
    assert isinstance(await mending.enhance(mending.code("    raise KeyError('v')"), mending.code(BETTER)), Tool)
    assert "KeyError: 'v'" in mending.shop.writer.asked[1]
    assert '\n- Call with arguments {"path": "bad.csv"}' in mending.shop.writer.asked[1], "it is the tool's own"


async def test_what_the_judge_does_not_believe_is_not_mended(mending: Mending) -> None:
    old = await mending.begin()
    for _ in range(3):
        mending.judge(False)
    assert isinstance(await mending.enhance(*[mending.code(BETTER)] * 3), EnhanceFailure)
    assert mending.shop.private.get("sum_column").version == old.version


async def test_a_tool_that_never_gave_a_result_may_be_mended_to_give_one_of_another_form(mending: Mending) -> None:
    never = mending.source("sum_column", body="    raise ValueError(input.path)", meta="'dependencies': []")
    mending.tool = await mending.shop.has(never, "sum_column")
    (mending.shop.workspace / "a.csv").write_text("n;v\na;1\n")
    mending.failed = await mending.shop.called(mending.tool, {"path": "a.csv"}, "failure", "c1")
    mending.judge()
    text = "    return OutputModel(result=open(input.path).read())"
    better = await mending.enhance(
        mending.source("sum_column", body=text, result="str | None", meta="'dependencies': []")
    )
    assert isinstance(better, Tool), better
    assert better.manifest.aliases == {}


async def test_field_names_stay(mending: Mending) -> None:
    await mending.begin()
    mending.judge()
    renamed = mending.code(BETTER.replace("input.path", "input.file"), fields="    file: str")
    assert isinstance(await mending.enhance(renamed, mending.code(BETTER)), Tool)
    assert "lacks the fields path" in reasons(mending.shop)[0]


async def test_a_failing_call_that_cannot_be_run_again_costs_no_writer(mending: Mending) -> None:
    await mending.begin()
    mending.failed = mending.failed.model_copy(update={"why_not": "its files are too large"})
    failure = await mending.enhance()
    assert isinstance(failure, EnhanceFailure)
    assert "its files are too large" in failure.reason
    assert mending.shop.writer.asked == []


async def test_a_public_tool_is_mended_in_a_private_fork(layered_shop: Any, source_of: Source) -> None:
    mending = Mending(layered_shop, source_of)
    public = await mending.begin(library=layered_shop.public)
    mending.judge()
    fork = await mending.enhance(mending.code(BETTER))
    assert isinstance(fork, Tool)
    assert fork.path.parent == layered_shop.private.path
    assert (fork.origin.how, fork.origin.parents) == ("forked", (f"sum_column@{public.version}",))
    assert layered_shop.public.get("sum_column").version == public.version
    assert layered_shop.library.get("sum_column") == fork


async def test_a_fork_may_be_mended_again(layered_shop: Any, source_of: Source) -> None:
    mending = Mending(layered_shop, source_of)
    await mending.begin(library=layered_shop.public)
    mending.judge()
    mending.tool = await mending.enhance(mending.code(BETTER))
    mending.judge()
    again = await mending.enhance(mending.code(BETTER + " at all"))
    assert isinstance(again, Tool)
    assert again.origin.how == "enhanced"


async def test_an_unreachable_model_leaves_the_tool_as_it_was(mending: Mending) -> None:
    old = await mending.begin()
    with pytest.raises(ModelUnreachable):
        await mending.enhance(ModelUnreachable("gone"))
    assert mending.shop.private.get("sum_column").version == old.version


async def test_the_candidate_is_never_seen_by_others(mending: Mending) -> None:
    await mending.begin()
    seen: list[list[str]] = []
    plain = mending.shop.host.call

    async def watched(tool: Any, *args: Any, **named: Any) -> Any:
        seen.append(mending.shop.library.names())
        assert json.loads((mending.shop.private.path / "sum_column.json").read_text())["digest"]
        return await plain(tool, *args, **named)

    mending.shop.host.call = watched
    mending.judge()
    await mending.enhance(mending.code(BETTER))
    assert seen
    assert all(names == ["sum_column"] for names in seen)


async def test_a_version_of_which_nothing_shows_that_it_mends_is_refused(mending: Mending) -> None:
    """The failing call could be run again when it was recorded, and cannot be any more: its file has been lost."""
    old = await mending.begin()
    (content,) = mending.failed.files.values()
    lost = [path for path in mending.shop.private.path.rglob("*") if path.is_file() and content in path.name]
    assert len(lost) == 1
    lost[0].unlink()
    ran = len(mending.shop.host.ran)
    failure = await mending.enhance(*[mending.code(BETTER)] * 3)
    assert isinstance(failure, EnhanceFailure)
    assert "nothing shows that it is mended" in failure.reason
    assert len(mending.shop.host.ran) > ran, "what passed before was run again, and passed"
    assert mending.shop.private.get("sum_column").version == old.version


async def test_where_nothing_is_to_be_repeated_nothing_counts_as_repeated(
    shop: Any, source_of: Source, tmp_path: Path
) -> None:
    shop.writer.replies = [source_of()]
    tool = await build(shop)
    report = await shop.smith._gate.repeats(tool.runnable, [], tmp_path / "scratch")
    assert report == ReplayReport(0, 0, 0)
