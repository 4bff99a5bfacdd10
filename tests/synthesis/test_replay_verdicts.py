"""What a replay makes of each pair of outcomes: a call counts for or against a candidate only where that is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from habilis.contract.capabilities import Grant
from habilis.contract.records import RecordedCall
from habilis.contract.runnable import Runnable
from habilis.core.types import CallError, CallOutcome, Traffic
from habilis.judging import Case
from habilis.prompts import Prompts
from habilis.runtime.calls import CallSpec
from habilis.runtime.egress.cassette import NOT_RECORDED, Fixture, Replaying
from habilis.synthesis.replay import FIXED, FixedReply, FixedVerdict, Replayer, compact, result_key
from habilis.synthesis.replay_report import ReplayReport

UNABLE = "the old version cannot repeat it either"
DRIFTED = "its own tool does not repeat it any more"


def gave(result: Any = None, error: str | None = None) -> CallOutcome:
    return CallOutcome(output={"result": result, "error": error})


def crashed(message: str = "no") -> CallOutcome:
    return CallOutcome(error=CallError(kind="crashed", message=message))


def record(call_id: str = "c1", result: Any = 2, **fields: Any) -> RecordedCall:
    given: dict[str, Any] = {"verdict": "success", "output": {"result": result, "error": None}, "arguments": {"x": 1}}
    return RecordedCall(call_id=call_id, tool="count", version="v", **given | fields)


def failure(call_id: str = "c1", message: str = "no price", **fields: Any) -> RecordedCall:
    error = CallError(kind="crashed", message=message)
    return record(call_id, **{"verdict": "failure", "output": None, "error": error} | fields)


class World:
    """Replays calls with a new and an old version whose outcomes are given, call by call; the last one stays."""

    def __init__(self, shop: Any, folder: Path) -> None:
        self.shop, self.folder = shop, folder
        self.specs: list[CallSpec] = []
        self.tries = 0
        self.outcomes: dict[str, list[CallOutcome]] = {}

    async def call(self, spec: CallSpec) -> CallOutcome:
        self.specs.append(spec)
        outcomes = self.outcomes[spec.tool.name]
        return outcomes.pop(0) if len(outcomes) > 1 else outcomes[0]

    def judge(self, *fixed: bool) -> None:
        results = [{"record": f"r{n}", "fixed": word, "reason": "said"} for n, word in enumerate(fixed, 1)]
        self.shop.models.replies.append({"results": results})

    async def replay(
        self,
        records: list[RecordedCall],
        *new: CallOutcome,
        old: CallOutcome | None = None,
        live: bool = True,
        judge: bool = True,
        **more: Any,
    ) -> ReplayReport:
        self.tries += 1
        self.specs = []
        self.outcomes = {"new": list(new), "count": [old or crashed()]}
        models = self.shop.models if judge else None
        replayer = Replayer(self, self.shop.library, models, Prompts(), live=live)  # type: ignore[arg-type]
        candidate, before = (Runnable(name, self.folder / f"{name}.py") for name in ("new", "count"))
        return await replayer.replay(candidate, before, records, self.folder / f"scratch_{self.tries}", **more)

    @property
    def ran(self) -> list[str]:
        return [spec.tool.name for spec in self.specs]


@pytest.fixture
def world(shop: Any, tmp_path: Path) -> World:
    return World(shop, tmp_path / "world")


NEITHER_NOR = [
    pytest.param(crashed(), crashed(), UNABLE, id="both fail"),
    pytest.param(gave(), crashed(), UNABLE, id="nothing, and the old one fails"),
    pytest.param(gave(error="no file"), crashed(), UNABLE, id="an error of its own, and the old one fails"),
]


@pytest.mark.parametrize(("now", "before", "reason"), NEITHER_NOR)
async def test_a_call_that_nobody_can_repeat_does_not_bar_a_candidate(
    world: World, now: CallOutcome, before: CallOutcome, reason: str
) -> None:
    report = await world.replay([record()], now, old=before)
    assert (report.failures, report.replayed, report.not_replayable) == ((), 0, 1)
    assert report.why_not == (reason,)
    assert report.agreed == ()
    assert not world.shop.models.asked


@pytest.mark.parametrize(
    ("now", "word"),
    [
        (crashed("KeyError"), 'it gave {"result": 2, "error": null} before and now fails: KeyError'),
        (gave(), 'before and now gives {"result": null, "error": null}'),
        (gave(error="no file"), 'before and now gives {"result": null, "error": "no file"}'),
    ],
)
async def test_a_candidate_without_a_result_fails_where_the_old_version_still_has_one(
    world: World, now: CallOutcome, word: str
) -> None:
    report = await world.replay([record()], now, old=gave(3))
    assert len(report.failures) == 1
    assert word in report.failures[0]
    assert not world.shop.models.asked


async def test_where_the_world_changed_the_candidate_must_give_what_the_old_version_gives_now(world: World) -> None:
    report = await world.replay([record()], gave(3), old=gave(3))
    assert (report.ok, report.replayed) == (True, 1)
    assert report.agreed == (result_key({"result": 3, "error": None}),)
    assert world.ran == ["new", "count"]


@pytest.mark.parametrize("before", [crashed(), gave(3)])
@pytest.mark.parametrize("fixed", [True, False])
async def test_another_result_than_both_is_for_the_judge(world: World, before: CallOutcome, fixed: bool) -> None:
    world.judge(fixed)
    report = await world.replay([record()], gave(4), old=before)
    assert (report.ok, report.replayed) == (fixed, 1)
    assert len(world.shop.models.asked) == 1


async def test_an_old_version_that_may_not_run_has_no_word(world: World) -> None:
    world.judge(True)
    denied = CallOutcome(error=CallError(kind="unavailable", message="no sandbox"))
    assert (await world.replay([record()], gave(4), old=denied)).replayed == 1
    assert len(world.shop.models.asked) == 1


async def test_without_a_judge_what_only_one_could_tell_is_no_evidence(world: World) -> None:
    report = await world.replay([record(), failure("c2", arguments={"x": 2})], gave(4), judge=False)
    assert (report.ok, report.replayed, report.not_replayable, report.mended) == (True, 0, 2, 0)
    assert report.why_not == ("only a judge could tell whether it is right",)


@pytest.mark.parametrize("kind", ["confirmed", "tried"])
async def test_a_made_up_call_that_its_own_tool_does_not_repeat_binds_nobody(world: World, kind: str) -> None:
    drifted = await world.replay([record(kind=kind)], gave(4), old=gave(3))
    assert (drifted.ok, drifted.why_not) == (True, (DRIFTED,))
    assert not world.shop.models.asked


async def test_what_a_member_answered_binds_a_candidate_whatever_the_failed_tool_says(world: World) -> None:
    report = await world.replay([record(stood_in="member@1")], gave(4), old=gave(4))
    assert 'gave {"result": 2, "error": null} before and now gives {"result": 4' in report.failures[0]
    assert world.ran == ["new"], "the old version failed at it, and has no word"
    assert (await world.replay([record(stood_in="count@1")], gave(4), old=gave(4))).ok


async def test_a_failing_call_is_held_against_what_a_member_answered(world: World) -> None:
    failed, answered = failure("c1"), record("c2", stood_in="member@1")
    report = await world.replay([failed, answered], gave(4))
    assert len(report.failures) == 2
    assert not world.shop.models.asked
    assert (await world.replay([failed, answered], gave(2))).mended == 1


async def test_a_failing_call_that_gives_another_result_than_its_good_twin_is_for_the_judge(world: World) -> None:
    world.judge(True)
    report = await world.replay([failure("c1"), record("c2")], gave(4), old=gave(2))
    assert (len(report.failures), report.mended) == (1, 1)
    assert len(world.shop.models.asked) == 1


async def test_a_call_that_failed_in_two_ways_is_put_to_the_judge_once(world: World) -> None:
    world.judge(True)
    records = [failure("c1", output={"error": "first"}), failure("c2", output={"error": "second"})]
    report = await world.replay(records, gave(4))
    assert (world.ran, report.replayed, report.mended) == (["new"], 2, 2)


async def test_the_order_in_which_a_model_names_things_makes_no_other_call(world: World) -> None:
    swapped = {"arguments": {"y": 2, "x": 1}, "output": {"error": None, "result": 2}}
    calls = [record("c1", arguments={"x": 1, "y": 2}), record("c2", **swapped), failure("c3", **swapped)]
    report = await world.replay(calls, gave(2))
    assert (report.ok, report.replayed, report.mended) == (True, 3, 1)
    assert world.ran == ["new", "new"], "the good call once, and the failing one, which is held against it"
    assert not world.shop.models.asked


async def test_a_call_that_gave_two_results_is_held_against_both(world: World) -> None:
    report = await world.replay([record("c1", 2), record("c2", 3)], gave(3), old=gave(3))
    assert (report.ok, report.replayed) == (True, 2)
    assert world.ran.count("new") == 2


async def test_the_judge_sees_what_was_asked_what_failed_and_what_comes_now_as_it_is_written(world: World) -> None:
    world.judge(True)
    await world.replay([failure(message="kein Preis für 茶" + "…" * 3000, arguments={"x": "茶"})], gave("緑茶"))
    asked = world.shop.models.asked[0][1]
    assert 'arguments: {"x": "茶"}' in asked
    assert "before: kein Preis für 茶" in asked
    assert 'now: {"result": "緑茶", "error": null}' in asked
    assert asked.count("…") == 1500 - len("kein Preis für 茶"), "cut, so that the rest keeps its place"


def test_the_trial_of_the_judge_reads_the_word_on_the_case_that_was_shown() -> None:
    words = [FixedVerdict(record="r1", fixed=True, reason=""), FixedVerdict(record="r2", fixed=False, reason="")]
    read = [FIXED.accepts(FixedReply(results=words), Case(True, {"record": name})) for name in ("r1", "r2", "r3")]
    assert read == [True, False, None]


@pytest.mark.parametrize(("record", "reason", "times"), [(20, 300, 64), (21, 300, 1), (20, 301, 1), (20, 300, 65)])
def test_a_judge_that_talks_on_and_on_is_not_listened_to(record: int, reason: int, times: int) -> None:
    said = {"results": [{"record": "r" * record, "fixed": True, "reason": "x" * reason}] * times}
    if (record, reason, times) == (20, 300, 64):
        assert len(FixedReply.model_validate(said).results) == 64
    else:
        with pytest.raises(ValidationError):
            FixedReply.model_validate(said)


# ---- the network


async def test_recorded_traffic_answers_in_the_place_of_hosts_and_variables_go_by_name(world: World) -> None:
    kept, lost = world.shop.private.store.keep({"traffic": Fixture().model_dump_json().encode()})
    assert lost is None
    traffic = Traffic(digest=kept["traffic"])
    await world.replay([record(granted=("env TOKEN", "network rates.example"), traffic=traffic)], gave(2), live=False)
    network = world.specs[0].network
    assert isinstance(network, Replaying)
    assert network.env == ("TOKEN",)


@pytest.mark.parametrize("live", [True, False])
async def test_a_call_whose_recorded_traffic_is_gone_is_no_proof(world: World, live: bool) -> None:
    online = record(granted=("network rates.example",), traffic=Traffic(digest="0" * 64))
    report = await world.replay([online], gave(2), live=live)
    assert (report.not_replayable, report.why_not) == (1, ("its traffic is not there any more",))
    assert world.ran == []


async def test_inside_a_task_alone_a_call_without_recorded_traffic_reaches_its_hosts_again(world: World) -> None:
    online = record(granted=("network rates.example",))
    assert (await world.replay([online], gave(2))).replayed == 1
    apart = await world.replay([online, record("c2", arguments={"x": 2})], gave(2), live=False)
    assert apart.why_not == ("it reached hosts, and what it exchanged with them was not recorded",)
    assert (apart.replayed, world.ran) == (1, ["new"]), "one that reached none is run"


@pytest.mark.parametrize(
    ("live", "effects", "grant", "again"),
    [
        (True, "reads", Grant(network=("rates.example",)), True),
        (False, "reads", Grant(network=("rates.example",)), False),
        (True, "writes", Grant(network=("rates.example",)), False),
        (True, "reads", Grant(), False),
        (True, "reads", None, False),
    ],
)
async def test_hosts_are_asked_for_what_no_record_holds_only_inside_a_task_by_one_that_may_and_only_reads(
    world: World, live: bool, effects: Any, grant: Grant | None, again: bool
) -> None:
    kept, _ = world.shop.private.store.keep({"traffic": Fixture().model_dump_json().encode()})
    online = record(effects=effects, granted=("network rates.example",), traffic=Traffic(digest=kept["traffic"]))
    report = await world.replay([online], crashed(f"{NOT_RECORDED}: GET"), gave(2), old=gave(2), live=live, grant=grant)
    assert report.ok is again
    assert [spec.network is None for spec in world.specs if spec.tool.name == "new"] == [False, True][: 1 + again]


async def test_each_version_runs_with_its_own_grant_within_the_time_limit(world: World) -> None:
    mine, its = Grant(env=("NEW",)), Grant(env=("OLD",))
    await world.replay([record()], gave(3), old=gave(3), timeout_s=7.0, grant=mine, old_grant=its)
    assert [spec.grant for spec in world.specs] == [mine, its]
    assert [spec.timeout_s for spec in world.specs] == [7.0, 7.0]


# ---- the report


async def test_the_report_tells_of_each_call_what_became_of_it(world: World) -> None:
    world.judge(True)
    records = [
        record("c1"),
        record("c2", arguments={"x": 2}, why_not="too large " * 90),
        failure("c3", arguments={"x": "y" * 400}),
    ]
    report = await world.replay(records, gave(2))
    told = [(call.call_id, call.word, call.times, len(call.why)) for call in report.calls]
    assert told == [("c1", "same", 1, 0), ("c2", "not_run", 1, 300), ("c3", "mended", 1, 4)]
    assert [call.input for call in report.calls[:2]] == ['{"x": 1}', '{"x": 2}']
    assert len(report.calls[2].input) == 301, "how it begins"
    assert (report.records, report.replayed, report.not_replayable, report.mended) == (3, 2, 1, 1)
    assert report.agreed == (result_key({"result": 2, "error": None}),), "a mended call is no repeated one"


async def test_of_very_many_calls_the_report_tells_the_first_five_hundred(world: World) -> None:
    records = [record(f"c{number}", arguments={"x": number}, why_not="too large") for number in range(502)]
    report = await world.replay(records, gave(2))
    assert (len(report.calls), report.not_replayable) == (500, 502)


async def test_arguments_in_a_failure_are_cut_and_five_failures_are_told_in_full(world: World) -> None:
    records = [record(f"c{number}", arguments={"x": "é" * 600, "n": number}) for number in range(5)]
    report = await world.replay(records, gave(4), old=gave(2))
    assert len(report.failures) == 5
    assert all(f'Call with arguments {{"x": "{"é" * 493}…: ' in line for line in report.failures)


async def test_a_call_repeated_without_a_result_proves_nothing_but_passes(world: World) -> None:
    for output in ({"result": None, "error": None}, {"result": None, "error": "no file"}):
        report = await world.replay([record(output=output)], CallOutcome(output=output))
        assert (report.ok, report.replayed, report.agreed) == (True, 1, ())


def test_results_count_as_one_up_to_nine_digits_wherever_the_number_stands() -> None:
    assert result_key({"a": [0.1 + 0.2], "b": 1}) == result_key({"b": 1, "a": (0.3,)})
    assert len({result_key(value) for value in (0.3, 0.4, [0.3], {"a": 0.3}, {"a": 0.4}, 1, "1", None)}) == 8


def test_a_long_value_is_cut_where_the_limit_is() -> None:
    assert (compact("茶" * 8, 10), compact("茶" * 9, 10)) == (f'"{"茶" * 8}"', f'"{"茶" * 9}…')
    assert len(compact("x" * 1499)) == 1501
    assert compact("x" * 1498).endswith('x"')
