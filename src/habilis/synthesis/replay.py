"""Running recorded calls against a candidate: nothing replaces a tool that does not pass all of them.

Each call runs in a scratch workspace that holds the files it had (`scratch.py`). A call whose exchanges with granted
hosts were recorded gets the same answers from the record, and reaches nobody.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field

from habilis.contract.records import RecordedCall, equal, is_empty, set_error, with_text
from habilis.core.events import ReplayedCall
from habilis.core.gathering import side_by_side
from habilis.core.masker import MASKER
from habilis.core.types import CallError, CallOutcome
from habilis.judging import Case, JudgeTrial, at_once, word_of
from habilis.judging.planted_cases import MENDED_CALLS, MENDED_TOOL
from habilis.judging.preference import Differing, Preferred, preferred
from habilis.runtime.calls import CallSpec
from habilis.runtime.egress import cassette
from habilis.synthesis.replay_report import ReplayReport
from habilis.synthesis.scratch import moved_names, named_back, scratch_name

if TYPE_CHECKING:
    from habilis.contract.capabilities import Grant
    from habilis.contract.runnable import Runnable
    from habilis.library import LayeredLibrary, Tool
    from habilis.models.chat import Models
    from habilis.prompts import Prompts
    from habilis.runtime.host import ToolHost

Granted = tuple["Runnable", "Grant | None"]
"""What runs, and what it is given for that."""
JUDGING = "judge replay"
AT_ONCE = 4
SHOWN_CHARS = 1500
SHOWN_FAILURES = 5
MOST_TOLD, TOLD_CHARS = 500, 300


class FixedVerdict(BaseModel):
    """The judge's word on one call that used to fail."""

    record: str = Field(max_length=20)
    fixed: bool
    reason: str = Field(max_length=300)


class FixedReply(BaseModel):
    results: list[FixedVerdict] = Field(max_length=64)


def _finds_fixed(reply: FixedReply, case: Case) -> bool | None:
    said = [one.fixed for one in reply.results if one.record == case.shown["record"]]
    return said[0] if said else None


FIXED = JudgeTrial("fixed", FixedReply, at_once("records", MENDED_CALLS, tool=MENDED_TOOL), _finds_fixed)


@dataclass(frozen=True)
class _Result:
    """One record after its replay. `judge`: only a judge can tell whether `now` is right."""

    record: RecordedCall
    kind: Literal["passed", "failed", "judge", "not_replayable"]
    reason: str = ""
    now: Any = None


class Replayer:
    """Runs recorded calls through `host`; asks the judge role where the rules cannot tell."""

    def __init__(
        self,
        host: ToolHost,
        library: LayeredLibrary,
        models: Models | None,
        prompts: Prompts,
        *,
        live: bool = True,
    ) -> None:
        """Without `models` there is no judge: what only a judge could tell is then no evidence, for or against.

        `live`: a call that reached hosts and of which no record was kept may reach them again.
        """
        self._host, self._library = host, library
        self._models, self._prompts = models, prompts
        self.live = live

    @property
    def has_judge(self) -> bool:
        """Whether there is a model to ask."""
        return self._models is not None

    async def preferred(self, tool: Tool, differing: Sequence[Differing]) -> list[Preferred]:
        """A judge's word on each difference between `tool` and a version that mends it. Raises as asking does."""
        assert self._models is not None
        return await preferred(tool.name, tool.description, differing, self._models, self._prompts)

    async def replay(
        self,
        candidate: Runnable,
        old: Runnable,
        records: Sequence[RecordedCall],
        scratch: Path,
        *,
        timeout_s: float | None = None,
        grant: Grant | None = None,
        old_grant: Grant | None = None,
    ) -> ReplayReport:
        """Replay `records` of the tool `old` with `candidate`, each below `scratch`, several at once.

        `candidate` runs with `grant`, the old version with `old_grant`.

        Only records with a verdict of success or failure count. A success passes when the output is equal. When it is
        not, the old version is run again: if it no longer agrees with its own record, that run is what counts, and
        where the two still differ the judge decides. A failure passes by the judge, in one call for all of them.
        """
        verdicts = ("success", "failure")
        counted, times = distinct([record for record in records if record.verdict in verdicts])
        good = {_call_key(record): record for record in counted if record.verdict == "success"}

        async def one(number: int, record: RecordedCall) -> _Result:
            trial = _Trial(self, (candidate, grant), (old, old_grant), scratch / f"{number}", timeout_s)
            if record.verdict == "success":
                return await trial.of_success(record)
            return await trial.of_failure(record, good.get(_call_key(record)))

        results = await self._judged(candidate.name, await side_by_side(counted, one, AT_ONCE))
        return _report(len(records), results, times)

    async def run(
        self,
        tool: Runnable,
        record: RecordedCall,
        workspace: Path,
        timeout_s: float | None,
        grant: Grant | None = None,
        *,
        again: bool = True,
        contents: Mapping[str, bytes] = {},
    ) -> CallOutcome | None:
        """One run of `tool` as `record` was run, in `workspace`; None when its files are not there any more.

        `again`: hosts are those of the record, where it has them. `contents` are files that the library does not hold,
        by digest.
        """
        if not self._laid_out(record, workspace, contents):
            return None
        more: dict[str, Any] = {}
        if again and record.traffic is not None and record.traffic.digest:
            fixture = cassette.load(self._library.content(record.traffic.digest) or b"")
            if fixture is None:
                return CallOutcome(error=CallError(kind="unavailable", message="its traffic is not there any more"))
            names = (given.removeprefix("env ") for given in record.granted if given.startswith("env "))
            more = {"network": cassette.Replaying(fixture, tuple(names))}
        moved = moved_names(record.arguments, record.files)
        arguments = with_text(record.arguments, lambda text: moved.get(text, text))
        outcome: CallOutcome = await self._host.call(
            CallSpec(tool, arguments, workspace=workspace, timeout_s=timeout_s, grant=grant, **more)
        )
        return outcome.model_copy(update={"output": named_back(outcome.output, moved, workspace)})

    def _laid_out(self, record: RecordedCall, workspace: Path, contents: Mapping[str, bytes]) -> bool:
        """Make `workspace` with the files of `record` in it; False when one of them is not to be had any more."""
        workspace.mkdir(parents=True)
        for name, digest in record.files.items():
            content = contents.get(digest)
            content = self._library.content(digest) if content is None else content
            if content is None:
                return False
            place = workspace / scratch_name(name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        return True

    async def _judged(self, tool: str, results: list[_Result]) -> list[_Result]:
        """`results` with the judge's word in place of every open one; no word means not passed, and the word of a judge
        that tells nothing is no evidence, for or against."""
        open_results = [result for result in results if result.kind == "judge"]
        if not open_results:
            return results
        rows = [
            {
                "record": f"r{number}",
                "arguments": compact(result.record.arguments),
                "before": _before(result.record),
                "now": compact(result.now),
            }
            for number, result in enumerate(open_results, 1)
        ]
        prompt = self._prompts.render("fixed", tool=tool, records=rows)
        standing, reply = None, None
        if self._models is not None:
            standing, reply = await word_of(FIXED, prompt, self._models, self._prompts, label=JUDGING)
        if standing is None or not standing.tells:
            return [_undecided(result) if result.kind == "judge" else result for result in results]
        verdicts = {verdict.record: verdict for verdict in reply.results} if reply else {}
        judged = {}
        for number, result in enumerate(open_results, 1):
            verdict = verdicts.get(f"r{number}")
            reason = verdict.reason if verdict else "the judge gave no verdict on it"
            fixed = verdict is not None and verdict.fixed
            judged[id(result)] = _Result(result.record, "passed" if fixed else "failed", reason, result.now)
        return [judged.get(id(result), result) for result in results]


class _Trial:
    """The replay of one record: the candidate's run, and where needed one more of the old version."""

    def __init__(
        self, replayer: Replayer, candidate: Granted, old: Granted, scratch: Path, timeout_s: float | None
    ) -> None:
        self._replayer, self._scratch, self._timeout_s = replayer, scratch, timeout_s
        self._candidate, self._old = candidate, old

    async def of_success(self, record: RecordedCall) -> _Result:
        now, given_up = await self._of_candidate(record)
        if given_up:
            return given_up
        assert now is not None
        if now.error is None and equal(now.output, record.output):
            return _Result(record, "passed", now=now.output)
        if record.stood_in.partition("@")[0] not in ("", self._old[0].name):  # the old version has no word here
            return _Result(record, "failed", _difference(record.output, now), now.output)
        before, _ = await self._run(self._old, record, "old")
        if before is not None and before.error is None:
            if equal(before.output, record.output):
                return _Result(record, "failed", _difference(record.output, now), now.output)
            if now.error is None and equal(now.output, before.output):
                return _Result(record, "passed", now=now.output)
        if not record.used:
            return _Result(record, "not_replayable", "its own tool does not repeat it any more", now.output)
        # The old version cannot repeat its own result: what differs may be the world, not the tool.
        if now.error is None and not is_empty(now.output) and not set_error(now.output):
            return _Result(record, "judge", now=now.output)
        if before is None or before.error is not None:
            return _Result(record, "not_replayable", "the old version cannot repeat it either")
        return _Result(record, "failed", _difference(record.output, now), now.output)

    async def of_failure(self, record: RecordedCall, twin: RecordedCall | None) -> _Result:
        """`twin` is the same call with a result that was right: then equality with that decides."""
        now, given_up = await self._of_candidate(record)
        if given_up:
            return given_up
        assert now is not None
        if reason := _still_failing(now):
            return _Result(record, "failed", reason, now.output)
        if twin is not None and equal(now.output, twin.output):
            return _Result(record, "passed", now=now.output)
        if twin is not None and twin.stood_in:
            return _Result(record, "failed", _difference(twin.output, now), now.output)
        return _Result(record, "judge", now=now.output)

    async def _of_candidate(self, record: RecordedCall) -> tuple[CallOutcome | None, _Result | None]:
        """The candidate's outcome. Where a mended tool asks hosts for what no record holds, it asks them in truth, if
        it was granted them and only reads."""
        now, given_up = await self._run(self._candidate, record, "new")
        grant = self._candidate[1]
        may = self._replayer.live and record.effects != "writes" and grant is not None and bool(grant.network)
        if now is None or not cassette.unrecorded(now) or not may:
            return now, given_up
        return await self._run(self._candidate, record, "live", again=False)

    async def _run(
        self, tool: Granted, record: RecordedCall, place: str, *, again: bool = True
    ) -> tuple[CallOutcome | None, _Result | None]:
        """The outcome, or the result that says why there is none to be had."""
        if record.why_not is not None:
            return None, _Result(record, "not_replayable", record.why_not)
        if record.online and not self._replayer.live and (lost := _lost(record)):
            return None, _Result(record, "not_replayable", f"it reached hosts, and {lost}")
        outcome = await self._replayer.run(
            tool[0], record, self._scratch / place, self._timeout_s, tool[1], again=again
        )
        if outcome is None:
            return None, _Result(record, "not_replayable", "its files are not there any more")
        if outcome.error is not None and outcome.error.kind in ("denied", "unavailable"):
            return None, _Result(record, "not_replayable", outcome.error.message)
        return outcome, None


def distinct(records: Sequence[RecordedCall]) -> tuple[list[RecordedCall], list[int]]:
    """Records without those that a later one repeats in arguments, files, verdict and output; how many each is for."""
    found: dict[str, RecordedCall] = {}
    times: Counter[str] = Counter()
    for record in records:
        output = record.output if record.verdict == "success" else None
        key = json.dumps([_call_key(record), record.verdict, record.why_not, output], sort_keys=True)
        found[key] = record
        times[key] += 1
    return list(found.values()), [times[key] for key in found]


def _call_key(record: RecordedCall) -> str:
    return json.dumps([record.arguments, record.files], sort_keys=True)


def _lost(record: RecordedCall) -> str:
    """Why what a call exchanged with hosts cannot be given again; empty when it can."""
    if record.traffic is None:
        return "what it exchanged with them was not recorded"
    return "" if record.traffic.digest else record.traffic.lost


def _still_failing(now: CallOutcome) -> str:
    """Why a failing call still fails, by rule; empty when only a judge can tell."""
    if now.error is not None:
        return f"it still fails: {now.error.message}"
    if error := set_error(now.output):
        return f"it still sets error: {error}"
    return "it still returns nothing" if is_empty(now.output) else ""


def _difference(expected: Any, now: CallOutcome) -> str:
    if now.error is not None:
        return f"it gave {compact(expected)} before and now fails: {now.error.message}"
    return f"it gave {compact(expected)} before and now gives {compact(now.output)}"


def _before(record: RecordedCall) -> str:
    return record.error.message[:SHOWN_CHARS] if record.error else compact(record.output)


def _undecided(result: _Result) -> _Result:
    return _Result(result.record, "not_replayable", "only a judge could tell whether it is right", result.now)


def _report(records: int, results: Sequence[_Result], times: Sequence[int]) -> ReplayReport:
    """`times` says for each result of how many equal records it tells."""

    def count(true: Callable[[_Result], bool]) -> int:
        return sum(n for result, n in zip(results, times, strict=True) if true(result))

    failed = [result for result in results if result.kind == "failed"]
    failures = [f"Call with arguments {compact(r.record.arguments, 500)}: {r.reason}" for r in failed]
    if len(failures) > SHOWN_FAILURES:
        failures[SHOWN_FAILURES:] = [f"… and {len(failures) - SHOWN_FAILURES} more calls."]
    return ReplayReport(
        records=records,
        replayed=count(lambda result: result.kind in ("passed", "failed")),
        not_replayable=count(lambda result: result.kind == "not_replayable"),
        failures=tuple(failures),
        mended=count(lambda result: result.kind == "passed" and result.record.verdict == "failure"),
        why_not=tuple(dict.fromkeys(result.reason for result in results if result.kind == "not_replayable")),
        agreed=tuple(result_key(result.now) for result in results if _agrees(result)),
        calls=tuple(_told(result, n) for result, n in zip(results[:MOST_TOLD], times[:MOST_TOLD], strict=True)),
    )


def _told(result: _Result, times: int) -> ReplayedCall:
    """What became of a call, for those who look at it later."""
    word = "not_run" if result.kind == "not_replayable" else "mended" if result.record.verdict == "failure" else "same"
    shown = compact(MASKER.value(result.record.arguments), TOLD_CHARS)
    return ReplayedCall(
        call_id=result.record.call_id, input=shown, word=word, why=result.reason[:TOLD_CHARS], times=times
    )


def _agrees(result: _Result) -> bool:
    """Whether a repeated call tells something: a good one, with a result in it."""
    good = result.kind == "passed" and result.record.verdict == "success"
    return good and not is_empty(result.now) and not set_error(result.now)


def result_key(output: Any) -> str:
    """A text that is equal for equal results, numbers to nine digits."""

    def rounded(value: Any) -> Any:
        if isinstance(value, float):
            return f"{value:.9g}"
        if isinstance(value, Mapping):
            return {key: rounded(item) for key, item in value.items()}
        return [rounded(item) for item in value] if isinstance(value, (list, tuple)) else value

    return json.dumps(rounded(output), sort_keys=True)


def compact(value: Any, limit: int = SHOWN_CHARS) -> str:
    """`value` as one line of JSON for a prompt, cut at `limit` characters."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else f"{text[:limit]}…"
