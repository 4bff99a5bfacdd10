"""Replay: a candidate counts only when recorded calls pass, and a call that cannot be repeated is no proof."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from habilis.contract.records import RecordedCall
from habilis.contract.runnable import Runnable
from habilis.core.errors import ModelReplyUnusable, ModelUnreachable
from habilis.core.types import CallError
from habilis.prompts import Prompts
from habilis.runtime.calls import CallSpec
from habilis.synthesis.replay import Replayer
from habilis.synthesis.replay_report import ReplayReport

Source = Callable[..., str]
COUNT = "    return OutputModel(result=len(open(input.path).read().splitlines()))"
GUARDED = (
    "    import os\n    if not os.path.exists(input.path):\n        return OutputModel(error='no file')\n"
    "    return OutputModel(result=len(open(input.path).read().splitlines()))"
)


class Bench:
    """A tool with recorded calls, and candidates tried against them."""

    def __init__(self, shop: Any, source: Source, folder: Path) -> None:
        self.shop, self.source, self.folder = shop, source, folder
        self.tries = 0

    async def has(self, body: str = COUNT, **fields: str) -> Any:
        self.tool = await self.shop.has(self.source(body=body, **fields), "count_rows")
        return self.tool

    async def candidate(self, body: str, **fields: str) -> ReplayReport:
        self.tries += 1
        module = self.folder / f"candidate_{self.tries}.py"
        module.write_text(self.source(body=body, **fields))
        replayer = Replayer(self.shop.host, self.shop.library, self.shop.models, Prompts())
        records: Sequence[RecordedCall] = self.shop.library.records("count_rows")
        scratch = self.folder / f"scratch_{self.tries}"
        return await replayer.replay(Runnable("count_rows", module), self.tool.runnable, records, scratch)


@pytest.fixture
def bench(shop: Any, source_of: Source, tmp_path: Path) -> Bench:
    return Bench(shop, source_of, tmp_path)


def say(shop: Any, *fixed: bool) -> None:
    results = [{"record": f"r{n}", "fixed": word, "reason": "said"} for n, word in enumerate(fixed, 1)]
    shop.models.replies.append({"results": results})


async def test_an_equal_output_passes_and_another_one_does_not(bench: Bench) -> None:
    (bench.shop.workspace / "a.csv").write_text("1\n2\n")
    await bench.shop.called(await bench.has(), {"path": "a.csv"}, "success")
    (bench.shop.workspace / "a.csv").unlink()
    assert (await bench.candidate(GUARDED)).ok, "the file comes from the record"
    worse = await bench.candidate("    return OutputModel(result=7)")
    assert not worse.ok
    assert '{"result": 2, "error": null} before and now gives {"result": 7, "error": null}' in worse.failures[0]
    assert not bench.shop.models.asked, "no judge where equality decides"


@pytest.mark.parametrize("named", ["absolute", "folder", "climbing"])
async def test_absolute_names_are_found_again_and_named_as_before(bench: Bench, tmp_path: Path, named: str) -> None:
    data = tmp_path / "user" / "data"
    data.mkdir(parents=True)
    (data / "a.csv").write_text("1\n2\n3\n")
    shop = bench.shop
    path = {"absolute": f"{data}/a.csv", "folder": str(data), "climbing": "../user/data/a.csv"}[named]
    body = (
        "    import os\n    path = os.path.join(input.path, 'a.csv') if os.path.isdir(input.path) else input.path\n"
        "    return OutputModel(result=f'{path}: {len(open(path).read().splitlines())}')"
    )
    tool = await bench.has(body, result="str | None")
    outcome = await shop.host.call(CallSpec(tool.runnable, {"path": path}, workspace=shop.workspace))
    from habilis.core.types import Invocation

    shop.private.record(
        Invocation(
            call_id="c1", tool="count_rows", version=tool.version, arguments={"path": path}, outcome=outcome,
            verdict="success",
        ),
        workspace=shop.workspace,
        files=[data],
    )  # fmt: skip
    (data / "a.csv").unlink()
    report = await bench.candidate(body + "  # better", result="str | None")
    assert (report.ok, report.replayed) == (True, 1)


async def test_a_failing_call_passes_by_the_judge_in_one_question_for_all(bench: Bench) -> None:
    tool = await bench.has("    raise ValueError(input.path)")
    for number in range(3):
        (bench.shop.workspace / f"{number}.csv").write_text("1\n" * number)
        await bench.shop.called(tool, {"path": f"{number}.csv"}, "failure", f"c{number}")
    say(bench.shop, True, True, True)
    report = await bench.candidate(COUNT)
    assert (report.ok, report.replayed, report.mended) == (True, 3, 3)
    assert len(bench.shop.models.asked) == 1
    say(bench.shop, True, False)
    doubted = await bench.candidate(COUNT)
    assert len(doubted.failures) == 2, "a wrong one, and one without a word"


async def test_what_still_fails_needs_no_judge(bench: Bench) -> None:
    tool = await bench.has("    raise ValueError('first')")
    (bench.shop.workspace / "a.csv").write_text("1")
    await bench.shop.called(tool, {"path": "a.csv"}, "failure")
    for body, reason in (
        ("    raise KeyError('price')", "still fails: KeyError: 'price'"),
        ("    return OutputModel(error='no price')", "still sets error: no price"),
        ("    return OutputModel()", "still returns nothing"),
    ):
        report = await bench.candidate(body)
        assert reason in report.failures[0]
    assert not bench.shop.models.asked


async def test_a_failing_call_that_passed_at_another_time_is_judged_by_that(bench: Bench) -> None:
    tool = await bench.has("    raise ValueError('first')")
    (bench.shop.workspace / "a.csv").write_text("1\n2")
    failed = await bench.shop.called(tool, {"path": "a.csv"}, "failure", "c1")
    passed = failed.model_copy(update={"call_id": "c2", "verdict": "success", "output": {"result": 2, "error": None}})
    bench.shop.private.store.append(passed)
    assert (await bench.candidate(COUNT)).ok
    assert not bench.shop.models.asked


async def test_a_judge_without_usable_words_lets_nothing_pass(bench: Bench) -> None:
    tool = await bench.has("    raise ValueError('first')")
    (bench.shop.workspace / "a.csv").write_text("1")
    await bench.shop.called(tool, {"path": "a.csv"}, "failure")
    bench.shop.models.replies.append(ModelReplyUnusable("no JSON"))
    assert not (await bench.candidate(COUNT)).ok
    bench.shop.models.replies.append(ModelUnreachable("gone"))
    with pytest.raises(ModelUnreachable):
        await bench.candidate(COUNT)


async def test_input_errors_and_calls_without_a_verdict_are_left_out(bench: Bench) -> None:
    tool = await bench.has()
    for number, verdict in enumerate(("input_error", None)):
        await bench.shop.called(tool, {"path": "none.csv"}, verdict, f"c{number}")
    report = await bench.candidate("    raise ValueError")
    assert (report.records, report.replayed, report.ok) == (2, 0, True)


async def test_a_result_that_is_different_every_time_goes_to_the_judge(bench: Bench) -> None:
    drifting = (
        "    import itertools, sys\n    n = len(sys.argv)\n    sys.argv.append('x')\n    return OutputModel(result=n)"
    )
    await bench.shop.called(await bench.has(drifting), {"path": "x"}, "success")
    say(bench.shop, True)
    import sys

    before = list(sys.argv)
    try:
        report = await bench.candidate(drifting + "  # new")
    finally:
        sys.argv[:] = before
    assert report.ok
    assert len(bench.shop.models.asked) == 1


async def test_where_only_the_world_changed_the_old_version_says_what_is_right(bench: Bench) -> None:
    listing = "    import os\n    return OutputModel(result=len(os.listdir('.')))"
    for number in range(3):
        (bench.shop.workspace / f"{number}.txt").write_text("x")
    await bench.shop.called(await bench.has(listing), {"path": "x"}, "success")
    assert (await bench.candidate(listing + "  # the same")).ok, "both see the scratch workspace"
    assert not bench.shop.models.asked


async def test_calls_that_cannot_be_run_again_neither_pass_nor_fail(bench: Bench) -> None:
    tool = await bench.has()
    (bench.shop.workspace / "a.csv").write_text("1")
    record = await bench.shop.called(tool, {"path": "a.csv"}, "success")
    bench.shop.private.store.append(record.model_copy(update={"call_id": "c2", "why_not": "too large"}))
    content = bench.shop.private.path / "records" / "files" / record.files["a.csv"]
    content.unlink()
    report = await bench.candidate("    raise ValueError")
    assert (report.ok, report.replayed, report.not_replayable) == (True, 0, 2)


@pytest.mark.parametrize("kind", ["denied", "unavailable"])
async def test_what_the_sandbox_refuses_is_no_fault_of_the_candidate(bench: Bench, kind: Any) -> None:
    (bench.shop.workspace / "a.csv").write_text("1")
    await bench.shop.called(await bench.has(), {"path": "a.csv"}, "success")
    bench.shop.host.refuse = lambda tool: CallError(kind=kind, message="no")
    report = await bench.candidate(COUNT)
    assert (report.replayed, report.not_replayable) == (0, 1)


async def test_repeated_calls_are_run_once(bench: Bench) -> None:
    tool = await bench.has()
    (bench.shop.workspace / "a.csv").write_text("1")
    for number in range(5):
        await bench.shop.called(tool, {"path": "a.csv"}, "success", f"c{number}")
    ran = len(bench.shop.host.ran)
    report = await bench.candidate(GUARDED)
    assert (report.ok, report.replayed) == (True, 5)
    assert len(bench.shop.host.ran) == ran + 1


async def test_many_failures_are_told_in_few_words(bench: Bench) -> None:
    tool = await bench.has()
    for number in range(20):
        (bench.shop.workspace / f"{number}.csv").write_text("1\n" * number)
        await bench.shop.called(tool, {"path": f"{number}.csv"}, "success", f"c{number}")
    report = await bench.candidate("    return OutputModel(result=-1)")
    assert len(report.failures) == 6
    assert report.failures[-1] == "… and 15 more calls."
