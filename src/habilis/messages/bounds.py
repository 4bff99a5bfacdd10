"""How long a reply may be and take, by what it is for; and what became of one that reached its bound.

How a reply was cut stands in its `response_metadata`, and so on the tape: a replay tells the same of it, whatever is
set by then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from habilis.config import LimitsSettings, RoleSettings
from habilis.core.types import Purpose, Role
from habilis.messages.repeating import before_repetition

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

Why = Literal["length", "repetition", "time"]
WHY: dict[str, Why] = {"length": "length", "repetition": "repetition", "time": "time"}
"""Values of `finish_reason` that say that a reply was cut: the first is the servers' own, the others are ours."""
CUT_AT, CUT_BY = "cut_at", "cut_by"
"""Keys of `response_metadata`: the bound that cut a reply, in tokens or seconds, and the setting that it comes from."""
SHARES: dict[Purpose, float] = {"code": 2, "calls": 0.4}
"""Of `limits.reply_seconds`, by what a reply is for: code is long, and calls of a new tool are not waited for long."""
USELESS = 3
"""Replies to one question that were cut off, or repeat themselves, before it is given up."""


@dataclass(frozen=True)
class Bound:
    """What bounds a reply: tokens and seconds, and the settings that they come from; `thinking` are tokens besides."""

    tokens: int
    seconds: float
    tokens_by: str
    seconds_by: str
    thinking: int = 0

    @classmethod
    def of(cls, purpose: Purpose, limits: LimitsSettings, role: Role, settings: RoleSettings) -> Bound:
        """The bound of a reply for `purpose`. The smaller counts of what purpose and role have."""
        by, tokens = "limits.reply_tokens", limits.reply_tokens
        if purpose == "code":
            by, tokens = "limits.code_tokens", limits.code_tokens
        seconds = limits.reply_seconds * SHARES.get(purpose, 1)
        thinking = limits.thinking_tokens
        for name in ("max_tokens", "token_limit"):
            most: int | None = getattr(settings, name)
            if most is not None:
                by = f"models.{role}.{name}" if most < tokens else by
                tokens, thinking = min(tokens, most), min(thinking, max(0, most - tokens))
        return cls(tokens, seconds, by, "limits.reply_seconds", thinking)


@dataclass(frozen=True)
class Cut:
    """How a reply was cut. As a text, what a model is told of it; `why` it was, at how much, by which setting."""

    why: Why
    at: float | None = None
    setting: str = ""

    def __str__(self) -> str:
        if self.why == "repetition":
            return "repeated itself and was cut off"
        unit = "tokens" if self.why == "length" else "seconds"
        return f"was cut off at {self.at:,g} {unit}" if self.at else "was cut off at the token limit"

    @property
    def is_known(self) -> bool:
        """Whether more is known than that a server ended it: tapes of older versions hold no more."""
        return bool(self.at) or self.why != "length"

    @property
    def in_full(self) -> str:
        """The same with the setting, for people."""
        return f"{self} ({self.setting})" if self.setting else str(self)


def cut_of(reply: AIMessage) -> Cut | None:
    """How `reply` was cut, None for a whole one."""
    kept: Mapping[str, Any] = reply.response_metadata
    why = WHY.get(str(kept.get("finish_reason")))
    return Cut(why, kept.get(CUT_AT), str(kept.get(CUT_BY) or "")) if why else None


def marked(reply: AIMessage, bound: Bound, *, asked: int | None, used: int) -> AIMessage:
    """`reply` with what cut it, if it is cut. `asked`: the tokens that it was given; `used` those of it.

    A server that stops sooner has a limit of its own, and no setting of ours.
    """
    cut = cut_of(reply)
    if cut is None or cut.why != "length":
        return reply
    own = asked is None or asked < bound.tokens or used < asked // 2
    told: dict[str, Any] = {CUT_AT: used} if own else {CUT_AT: bound.tokens, CUT_BY: bound.tokens_by}
    return reply.model_copy(update={"response_metadata": {**reply.response_metadata, **told}})


def thought_too_long(reply: AIMessage) -> bool:
    """Whether a reply was cut before its end by what was thought before it, said openly or not."""
    cut = cut_of(reply)
    if cut is None or cut.why != "length" or reply.tool_calls or reply.invalid_tool_calls:
        return False
    if reply.content and not str(reply.content).strip():
        return False  # a run of blanks is no thought
    counted = reply.usage_metadata.get("output_token_details", {}) if reply.usage_metadata else {}
    return not reply.content or bool(reply.additional_kwargs.get("reasoning_content") or counted.get("reasoning"))


def whole_part(reply: AIMessage) -> str:
    """The text of `reply`; of a cut one what can be used alone: up to its last whole sentence, and nothing twice."""
    text, cut = str(reply.content).strip(), cut_of(reply)
    if cut is None:
        return text
    return last_whole_sentence(before_repetition(text) if cut.why == "repetition" else text)


def last_whole_sentence(text: str) -> str:
    """`text` up to the end of its last whole sentence or line; nothing if it holds none."""
    ends = [text.rfind(mark) + len(mark.rstrip()) for mark in (". ", "! ", "? ", ".\n", "\n", "。") if mark in text]
    return text[: max(ends)].rstrip() if ends else ""
