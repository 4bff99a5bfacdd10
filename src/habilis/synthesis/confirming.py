"""Calls on which a wrong version would go wrong, from the writer of a tool, each with the result that it expects.

The writer is asked once, without the code in sight. Where the sandbox gives what was expected, the call is kept as a
recorded call of kind `confirmed`. Where it does not, the writer is told once: it mends the code or the expectation, and
what stays unclear is no record. A model that is no judge of answers is not asked. A reply that cannot be used costs
that one call and nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.contract.aliases import untitled
from habilis.contract.examples import Example
from habilis.contract.expectations import MAX_CALLS, Expectation, read_expectations, values_in
from habilis.contract.records import RecordedCall, equal, gave, set_error
from habilis.contract.runnable import Runnable
from habilis.core.errors import WriterFailed
from habilis.core.gathering import side_by_side
from habilis.core.types import CallOutcome
from habilis.inputs.formats import mask
from habilis.judging import standing_or_away
from habilis.judging.answers import REVIEW
from habilis.library.tool import digest_of
from habilis.synthesis.gate import Gate, KeptCalls, Passed, Rejected, Wanted, scrubbed
from habilis.synthesis.replay import AT_ONCE, Replayer, compact, result_key
from habilis.synthesis.shown_calls import SHOWN_CALL_CHARS, call_rows
from habilis.synthesis.writers import ModelWriter

if TYPE_CHECKING:
    from habilis.core.ports import CodeWriter
    from habilis.library import Library
    from habilis.models.chat import Models
    from habilis.prompts import Prompts

MOST_KEPT = 10
"""Confirmed calls of one tool, whatever the number of its versions."""
SCHEMA_CHARS = 6000
TIMEOUT_S = 10.0
_NO_WORD = frozenset({"denied", "unavailable", "timeout", "interrupted", "invalid_arguments"})
Module = Callable[[str], str]
"""From a reply to the whole module in it. Raises `WriterFailed`."""


@dataclass(frozen=True)
class _Ran:
    """A call that ran: what was expected of it, and what came of it. `other` is the outcome of the call that it must
    equal; `blind` is a call of a tool that reads, which was given no file to read."""

    said: Expectation
    outcome: CallOutcome
    other: CallOutcome | None = None
    problem: str = ""
    blind: bool = False

    @property
    def output(self) -> Any:
        return self.outcome.output

    @property
    def tells(self) -> bool:
        """Whether its tool had a word on it at all."""
        if self.blind and not gave(self.outcome):
            return False
        return not any(one and one.error and one.error.kind in _NO_WORD for one in (self.outcome, self.other))

    @property
    def is_met(self) -> bool:
        if not gave(self.outcome):
            return False
        if self.said.same_as is not None:
            return self.other is not None and gave(self.other) and equal(self.output, self.other.output)
        return self.said.met_by(self.output)

    @property
    def row(self) -> dict[str, str]:
        """The disagreement as its writer is told of it."""
        expected = compact(self.said.expected, SHOWN_CALL_CHARS)
        if self.said.same_as is not None:
            expected = f"the same as for {compact(self.said.same_as, SHOWN_CALL_CHARS)}"
            if self.other is not None and self.other.error is None:
                expected += f", which gave {compact(self.other.output, SHOWN_CALL_CHARS)}"
        call = self.said.call.model_dump(exclude=None if self.said.call.files else {"files"})
        given = self.problem or compact(self.output, SHOWN_CALL_CHARS)
        return {"call": compact(call), "expected": expected, "given": given}


class Confirmer:
    """Asks the writer of tools, and runs what it says in folders of `library`."""

    def __init__(
        self,
        writer: CodeWriter,
        prompts: Prompts,
        gate: Gate,
        replayer: Replayer,
        library: Library,
        models: Models,
    ) -> None:
        self._writer, self._prompts, self._gate = writer, prompts, gate
        self._replayer, self._library, self._models = replayer, library, models

    async def confirmed(self, passed: Passed, wanted: Wanted, known: Sequence[RecordedCall], module: Module) -> Passed:
        """`passed` with the calls that were confirmed, mended where they showed that it was wrong.

        `known` are recorded calls of it and its predecessors; `module` reads one from a reply.
        Raises what the writer does, `WriterFailed` excepted, and OSError.
        """
        if passed.contract.effects == "writes" or passed.contract.capabilities.shown():
            return passed  # what may write, or reaches for more than its files, is not run to see
        if not await self._knows():
            return passed
        said = await self._asked(passed, wanted, known)
        ran = await self._run(passed, wanted, said)
        disputed = [one for one in ran if one.tells and not one.is_met]
        if disputed:
            passed, ran = await self._settled(passed, wanted, ran, disputed, module)
        return replace(passed, confirmed=_kept(passed, wanted, ran, known))

    async def _knows(self) -> bool:
        """Whether the writer may know better than the sandbox what a call should give. A model that does not tell a
        wrong answer from a right one does not. Of a writer of another kind nothing is known."""
        own = self._writer.name == ModelWriter.name and self._models.name("judge") == self._models.name("builder")
        return not own or (await standing_or_away(REVIEW, self._models, self._prompts)).tells

    async def _asked(self, passed: Passed, wanted: Wanted, known: Sequence[RecordedCall]) -> list[Expectation]:
        """What the writer says of calls that nobody has shown it."""
        good = [record for record in known if record.verdict == "success"]
        examples = passed.contract.examples
        rows = [compact(one.model_dump(), SHOWN_CALL_CHARS) for one in examples[:1]]
        rows += [f"{row['arguments']} gave {row['output']}" for row in call_rows(good)]
        prompt = self._prompts.render(
            "expect",
            name=wanted.name,
            description=passed.contract.description,
            input_schema=compact(untitled(passed.description.input_schema), SCHEMA_CHARS),
            output_schema=compact(untitled(passed.description.output_schema), SCHEMA_CHARS),
            known=rows,
            reads=passed.contract.effects == "reads",
        )
        shown = [_said(one.call) for one in read_expectations(prompt.system)]
        seen = [*(one.arguments for one in examples), *(record.arguments for record in known)]
        try:
            reply = await self._writer.write(prompt.system, prompt.user, purpose="calls")
        except WriterFailed:
            return []
        said = read_expectations(reply)
        own = [one for one in said if one.call.arguments not in seen and _said(one.call) not in shown]
        return own[:MAX_CALLS]

    async def _run(self, passed: Passed, wanted: Wanted, said: Sequence[Expectation]) -> list[_Ran]:
        """Every call, with nothing granted."""
        with self._library.aside() as aside:
            module = aside / f"{wanted.name}.py"
            module.write_bytes(passed.source.encode("utf-8"))
            tool = Runnable(wanted.name, module, passed.contract.requirements)
            reads = passed.contract.effects == "reads"

            async def one(number: int, expectation: Expectation) -> _Ran:
                place = aside / "replay" / f"{number}"
                outcome = await self._outcome(tool, expectation.call.arguments, expectation, place / "new")
                other = None
                if expectation.same_as is not None:
                    other = await self._outcome(tool, expectation.same_as, expectation, place / "old")
                problem = scrubbed(_problem(outcome), module, aside, self._library.path)
                return _Ran(expectation, outcome, other, problem, blind=reads and not expectation.call.files)

            return await side_by_side(said, one, AT_ONCE)

    async def _outcome(self, tool: Runnable, arguments: dict[str, Any], said: Expectation, place: Path) -> CallOutcome:
        contents = {_digest(text): text.encode("utf-8", "replace") for text in said.call.files.values()}
        files = {name: _digest(text) for name, text in said.call.files.items()}
        call = RecordedCall(call_id="expected", tool=tool.name, version="", arguments=arguments, files=files)
        outcome = await self._replayer.run(tool, call, place, TIMEOUT_S, contents=contents)
        assert outcome is not None, "its files are at hand"
        return outcome

    async def _settled(
        self, passed: Passed, wanted: Wanted, ran: list[_Ran], disputed: list[_Ran], module: Module
    ) -> tuple[Passed, list[_Ran]]:
        """The tool and its calls after the writer was told of the disagreement."""
        prompt = self._prompts.render(
            "dispute",
            name=wanted.name,
            description=passed.contract.description,
            code=passed.source.strip(),
            disputed=[one.row for one in disputed],
        )
        try:
            reply = await self._writer.write(prompt.system, prompt.user)
        except WriterFailed:
            return passed, ran
        mended = await self._mended(reply, passed, wanted, ran, module)
        if mended is not None:
            return mended
        better = {_key(one): one for one in read_expectations(reply)}
        return passed, [
            replace(one, said=better.get(_key(one.said), one.said)) if one in disputed else one for one in ran
        ]

    async def _mended(
        self, reply: str, passed: Passed, wanted: Wanted, ran: list[_Ran], module: Module
    ) -> tuple[Passed, list[_Ran]] | None:
        """A mended module that passes the gate, keeps what was confirmed and meets more of what was expected; None
        where the reply holds none."""
        try:
            again = await self._gate.check(module(reply), wanted)
        except (WriterFailed, Rejected):
            return None
        now = await self._run(again, wanted, [one.said for one in ran])
        kept = all(
            new.is_met and equal(new.output, old.output) for old, new in zip(ran, now, strict=True) if old.is_met
        )
        more = sum(one.is_met for one in now) > sum(one.is_met for one in ran)
        return (again, now) if kept and more else None


def _kept(passed: Passed, wanted: Wanted, ran: Sequence[_Ran], known: Sequence[RecordedCall]) -> KeptCalls:
    """The calls that gave what was expected, as records; no two that look alike. What must only equal another call is
    as sure as that: it is kept where the other was confirmed."""
    sure = [(one.said.call.arguments, one.said.call.files) for one in ran if one.is_met and one.said.same_as is None]
    version = digest_of(passed.source.encode("utf-8", "surrogatepass"))[:16]
    before = [record for record in known if not record.used]
    looks, calls = {_look(record) for record in before}, list[RecordedCall]()
    contents: dict[str, bytes] = {}
    for one in ran:
        files = one.said.call.files
        if not one.is_met or (one.said.same_as is not None and (one.said.same_as, files) not in sure):
            continue
        call = RecordedCall(
            call_id=f"confirmed-{_digest(json.dumps([version, *_key(one.said)]))[:12]}",
            tool=wanted.name,
            version=version,
            arguments=one.said.call.arguments,
            output=one.output,
            verdict="success",
            effects=passed.contract.effects,
            files={name: _digest(text) for name, text in files.items()},
            kind="confirmed",
        )
        if _look(call) not in looks and len(before) + len(calls) < MOST_KEPT:
            looks.add(_look(call))
            calls.append(call)
            contents |= {_digest(text): text.encode("utf-8", "replace") for text in files.values()}
    return KeptCalls(tuple(calls), contents)


def _look(call: RecordedCall) -> str:
    """Equal for calls that tell the same: by output, the form of their arguments, and the files that they had."""
    return json.dumps([result_key(call.output), _form(call.arguments), sorted(call.files.values())], sort_keys=True)


def _form(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _form(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_form(inner) for inner in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return [type(value).__name__, (value > 0) - (value < 0)]
    return mask(value) if isinstance(value, str) else value


def _problem(outcome: CallOutcome) -> str:
    """Why a call gave nothing; empty where it did."""
    return outcome.error.message if outcome.error is not None else set_error(outcome.output) or ""


def _said(call: Example) -> tuple[list[Any], list[str]]:
    """The values of a call, whatever its fields and files are called."""
    return values_in(call.arguments), list(call.files.values())


def _key(said: Expectation) -> tuple[str, str]:
    return json.dumps(said.call.arguments, sort_keys=True), json.dumps(said.call.files, sort_keys=True)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
