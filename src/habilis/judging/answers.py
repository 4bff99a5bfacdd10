"""The review of an answer: how a model is asked whether it is good, and by what it is tried before its word counts."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, Field

from habilis.core.patterns import lazy_pattern
from habilis.judging.planted_answers import ANSWERS
from habilis.judging.trials import Case, JudgeTrial, one_by_one

_FAILING = r"(?:does not|doesn['’]t|did not|didn['’]t|fails? to|failed to|without) (?:\w+ly )?"
_GIVING = r"(?:answer|address|provide|give|contain|include|have|hold|state|match|find|use|support|reach)(?:ing)?"
_ASKED = r"(?:to )?(?:the |an? |any |what )?(?:question|answer|result|conclusion|value|information|asked|number|name)"
_OTHER = r"(?:something else|another (?:one|row|value|question|column|operation))"
_WAYS = (
    rf"\b{_FAILING}{_GIVING} {_ASKED}",
    r"\b(?:is|was|are)(?: not|n['’]t) (?:what was asked|the answer|correct|right|borne out|supported|answered)\b",
    r"\b(?:answer|result|number|value) (?:is|was|seems|appears) (?:to be )?(?:wrong|incorrect|invented|missing)\b",
    rf"\b(?:{_OTHER}|anything) than (?:\w+ ){{0,4}}(?:asked|meant)\b",
    rf"\b{_OTHER} (?:was|is) (?:taken|given|used|answered)\b",
    r"\b(?:is|are|was|were) (?:not|n['’]t|missing) (?:\w+ )?(?:from|in) the answer\b",
    r"\bnot what (?:was|the question|is) (?:asked|meant|wanted)\b",
    r"\b(?:answers|gives|addresses|returns) (?:something else|another|a different|the wrong|an unrelated)\b",
    r"\bcontradicts?\b(?! (?:nothing|none|no\b))",
    r"\b(?:do|does|did) not (?:support|bear out|back|match|agree|correspond)\b",
    r"\bnothing (?:was |is )?(?:found|answered|computed|calculated)\b",
    r"\bno (?:conclusion|answer|result)s? (?:is|was|can|could|has)\b",
    r"\b(?:but|however|though|although)\b[^.]{0,80}\b(?:failed|error|not found|could not|cannot|something else)\b",
)
_AGAINST = lazy_pattern("|".join(_WAYS), re.IGNORECASE)
"""What a judge says of an answer that it refuses. It is asked in English; in another language it says nothing here."""


class ReviewReply(BaseModel):
    """The reason stands first: a model that says why before it decides contradicts itself less."""

    reason: str = Field(max_length=600)
    status: Literal["FINISH", "RETRY"]


def accepts(reply: ReviewReply, _case: Case | None = None) -> bool:
    """Whether a reply accepts the answer. A word that its own reason contradicts is a refusal."""
    return reply.status == "FINISH" and not speaks_against(reply.reason)


def speaks_against(reason: str) -> bool:
    """Whether a judge's reason contradicts its word that the answer is good."""
    return _AGAINST.search(reason) is not None


REVIEW = JudgeTrial("review", ReviewReply, one_by_one(ANSWERS), accepts)
