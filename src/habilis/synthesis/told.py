"""What one input tells of two versions: each has given a result to it, or failed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from habilis.contract.records import equal, is_empty, set_error
from habilis.inputs.domain import Domain
from habilis.inputs.relations import Given
from habilis.inputs.search import Input
from habilis.synthesis.divergences import Divergence
from habilis.synthesis.replay import compact, result_key

if TYPE_CHECKING:
    from habilis.core.types import CallOutcome
    from habilis.judging.preference import Preferred

_SHOWN = 200
_NO_WORD = frozenset({"denied", "unavailable", "timeout", "interrupted"})
Word = Literal["agrees", "counter", "lost", "gained", ""]


@dataclass(frozen=True)
class Telling:
    """`sure`: it speaks against the new version wherever it lies. `silent`: a version had no word at all. `differs` is
    what a judge may be asked about."""

    word: Word
    text: str = ""
    output: str = ""
    sure: bool = False
    silent: bool = False
    differs: Divergence | None = None

    def after(self, word: Preferred) -> Telling:
        """The same where a judge said of its difference who was right."""
        if self.differs is None or word == "unclear":
            return self
        return Telling("") if word == "new" else replace(self, word="counter", sure=True)


@dataclass(frozen=True)
class Reading:
    """How results are read: with the domain of the real calls, and those that the old version answered `wrong`.

    `mends`: the new version is made to do better there.
    """

    domain: Domain
    wrong: Collection[Given]
    mends: bool

    def told(self, one: Input, before: CallOutcome, now: CallOutcome) -> Telling:
        """What `one` tells, to which the old version came to `before` and the new one to `now`."""
        if _silent(before) or _silent(now):
            return Telling("", silent=True)
        if _failed(before):
            rejected = before.error is not None and before.error.kind == "invalid_arguments"
            return Telling("" if rejected or _failed(now) or is_empty(now.output) else "gained")
        line = f"{compact(one.given.arguments, _SHOWN)} gave {compact(before.output, _SHOWN)}, and would give"
        if _failed(now):
            if is_empty(before.output):
                return Telling("")
            why = _why(now)
            differs = Divergence(one.given, before.output, None, False, why)
            return Telling("lost", f"{line} {why}", differs=differs if self.mends else None)
        if equal(before.output, now.output):
            return Telling("" if is_empty(before.output) else "agrees", output=result_key(now.output))
        if one.given in self.wrong or (self.mends and is_empty(before.output)):
            return Telling("gained" if is_empty(before.output) else "")
        text = f"{line} {compact(now.output, _SHOWN)}"
        if not self.mends:
            return Telling("counter", text)
        excused = self.domain.explained(one.given)
        differs = Divergence(one.given, before.output, now.output, excused)
        return Telling("" if excused else "counter", text, differs=differs)


def told_by_same(one: Input, plain: CallOutcome, before: CallOutcome, now: CallOutcome) -> Telling | None:
    """Who is right on a call that says the same as a plain one, by what the old version gives to that (`plain`); None
    where that tells nothing. Neither version was silent."""
    if _failed(plain) or is_empty(plain.output):
        return None
    keeps, would = (not _failed(outcome) and equal(outcome.output, plain.output) for outcome in (before, now))
    if keeps is would:
        return None
    if would:
        return Telling("gained")
    files = ", ".join(one.given.files)
    given, gives = (compact(outcome.output, _SHOWN) for outcome in (before, now))
    why = _first(now.error.message) if now.error is not None else gives
    line = f"{compact(one.given.arguments, _SHOWN)} with {files} in another form gave {given}, and would give {why}"
    return Telling("lost", line, sure=True)


def _silent(outcome: CallOutcome) -> bool:
    """Whether an outcome says nothing of the tool: it was not let, or not given the time."""
    if outcome.error is not None and outcome.error.kind in _NO_WORD:
        return True
    return _failed(outcome) and bool(outcome.refused)


def _failed(outcome: CallOutcome) -> bool:
    return outcome.error is not None or set_error(outcome.output) is not None


def _why(outcome: CallOutcome) -> str:
    """Why it failed, in a line."""
    return _first(outcome.error.message if outcome.error is not None else str(set_error(outcome.output)))


def _first(text: str) -> str:
    return (text.splitlines() or [""])[0][:_SHOWN]
