"""Which of two results is right: a judge's word where a mended version differs from the one before.

The judge sees a tool's description, calls, and two results of each, and is not told which version gave which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field

from habilis.core.digests import digest
from habilis.judging.planted_cases import MEDIAN, PREFERENCES
from habilis.judging.standing import word_of
from habilis.judging.trials import Case, JudgeTrial, at_once

if TYPE_CHECKING:
    from habilis.models.chat import Models
    from habilis.prompts import Prompts

MOST_ASKED = 8
"""Calls in one request."""
PREFERRING = "judge a difference"
Preferred = Literal["old", "new", "unclear"]


class Preference(BaseModel):
    """The judge's word on one call."""

    call: str = Field(max_length=20)
    reason: str = Field(max_length=300)
    right: Literal["first", "second", "unclear"]


class PreferenceReply(BaseModel):
    results: list[Preference] = Field(max_length=MOST_ASKED + 4)


@dataclass(frozen=True)
class Differing:
    """A call as a prompt shows it, with the beginning of its files, and what the old and the new version gave.

    `turned`: both are shown in the other order, to see whether the word hangs on that.
    """

    arguments: str
    old: str
    new: str
    files: str = ""
    turned: bool = False

    @property
    def first_is_old(self) -> bool:
        """The order in which both are shown: by a digest, so that it tells nothing, and is the same after a resume."""
        return (digest([self.arguments, self.old]) < digest([self.arguments, self.new])) is not self.turned


def _says_first(reply: PreferenceReply, case: Case) -> bool | None:
    said = [one.right for one in reply.results if one.call == case.shown["call"]]
    return said[0] == "first" if said and said[0] != "unclear" else None


DIFFERING = JudgeTrial("differing", PreferenceReply, at_once("calls", PREFERENCES, **MEDIAN), _says_first)


async def preferred(
    tool: str, description: str, differing: Sequence[Differing], models: Models, prompts: Prompts
) -> list[Preferred]:
    """The judge's word on each of `differing`, at most `MOST_ASKED`, in one request; `unclear` where it has none, or
    tells nothing. Raises as asking does."""
    rows = [
        {
            "call": f"c{number}",
            "arguments": one.arguments,
            "files": one.files,
            "first": one.old if one.first_is_old else one.new,
            "second": one.new if one.first_is_old else one.old,
        }
        for number, one in enumerate(differing, 1)
    ]
    prompt = prompts.render("differing", tool=tool, description=description, calls=rows)
    _, reply = await word_of(DIFFERING, prompt, models, prompts, label=PREFERRING)
    said = {one.call: one.right for one in reply.results} if reply else {}
    return [_word(one, said.get(f"c{number}", "unclear")) for number, one in enumerate(differing, 1)]


def _word(one: Differing, right: str) -> Preferred:
    if right == "unclear":
        return "unclear"
    return "old" if (right == "first") is one.first_is_old else "new"
