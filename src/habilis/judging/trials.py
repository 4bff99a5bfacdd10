"""What a judging role is tried by, and when its word tells something."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

T = TypeVar("T", bound=BaseModel)
WRONG_PER_SLIP, RIGHT_PER_SLIP = 6, 4
"""Planted wrong ones of which one may be accepted, and right ones of which one may be refused."""


@dataclass(frozen=True)
class Case:
    """A planted case: what the judge is shown, and whether it is right to accept it."""

    right: bool
    shown: Mapping[str, Any]


@dataclass(frozen=True)
class Question:
    """One request of a trial: what the prompt is filled with, and the cases on which its reply rules."""

    shown: Mapping[str, Any]
    cases: tuple[Case, ...]


@dataclass(frozen=True)
class JudgeTrial(Generic[T]):
    """How one judging role is tried: by its own prompt and form, as in a task.

    `accepts` reads the word on one case from a reply: True, False, or None where the reply holds none.
    """

    prompt: str
    form: type[T]
    questions: tuple[Question, ...]
    accepts: Callable[[T, Case], bool | None]


def one_by_one(cases: Iterable[Case]) -> tuple[Question, ...]:
    """A question for each case, for a prompt that shows one."""
    return tuple(Question(case.shown, (case,)) for case in cases)


def at_once(named: str, cases: Sequence[Case], **also: Any) -> tuple[Question, ...]:
    """One question for all cases, for a prompt that shows a list of them under `named`."""
    return (Question({named: [case.shown for case in cases], **also}, tuple(cases)),)


@dataclass(frozen=True)
class Tally:
    """Words on planted cases, counted, of a trial with `right` and `wrong` cases.

    The judge tells right from wrong when it accepts at most one in six of the wrong cases (`wrong // 6`) and refuses at
    most one in four of the right ones (`right // 4`). To accept what is wrong weighs more: it becomes a wrong claim. A
    reply that cannot be used is a mistake, whatever the case. With four right and six wrong cases, whoever tosses a
    coin passes in 3 of 100 trials; whoever always says the same never does.
    """

    right: int
    wrong: int
    accepted: tuple[int, int] = (0, 0)
    """Right cases that were accepted, of those that were asked."""
    refused: tuple[int, int] = (0, 0)
    """Wrong cases that were refused, of those that were asked."""

    def plus(self, case: Case, word: bool | None) -> Tally:
        """With the word on one more case."""
        good = int(word is case.right)
        accepted, refused = self.accepted, self.refused
        if case.right:
            accepted = (accepted[0] + good, accepted[1] + 1)
        else:
            refused = (refused[0] + good, refused[1] + 1)
        return Tally(self.right, self.wrong, accepted, refused)

    @property
    def lost(self) -> bool:
        """Whether it can tell nothing any more, whatever it says of the cases that are left."""
        slips, errors = self.accepted[1] - self.accepted[0], self.refused[1] - self.refused[0]
        return errors > self.wrong // WRONG_PER_SLIP or slips > self.right // RIGHT_PER_SLIP


def tally_of(trial: JudgeTrial[Any]) -> Tally:
    """The empty tally of a trial."""
    cases = [case for question in trial.questions for case in question.cases]
    right = sum(case.right for case in cases)
    return Tally(right, len(cases) - right)
