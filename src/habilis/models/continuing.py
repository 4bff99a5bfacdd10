"""Long replies in parts: where one is cut off at its bound, and no fault of its own, the model is asked to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from habilis.messages.bounds import cut_of

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

GO_ON = (
    "Your reply was cut off at its limit. Go on where it stopped: begin with the last few words that stand there, "
    "exactly as they are, and repeat nothing else."
)
GO_ON_JSON = (
    "Your reply was cut off at its limit. Send the rest of the JSON object: begin with the last few words that stand "
    "there, exactly as they are, and repeat nothing else."
)
"""The words that are said twice show where the second part belongs, in the middle of a word or between two."""
_OVERLAP = range(200, 7, -1)
"""Letters that both parts may share; fewer may be chance."""
_SAME_BEGINNING = 40
"""Letters by which a reply is known that begins anew."""


MOST_PARTS = 3
"""Parts that a long answer may come in: a model that needs more does not come to an end."""


def can_go_on(reply: AIMessage) -> bool:
    """Whether `reply` is a text that was cut off at a bound of ours, and nothing else is wrong with it."""
    cut = cut_of(reply)
    if cut is None or cut.why != "length" or not cut.setting or reply.tool_calls:
        return False
    return bool(str(reply.content).strip())


def joined(before: str, more: str) -> str:
    """Two parts as one text: without what the second repeats of the first, or the second alone if it began anew."""
    begun = before.lstrip()[:_SAME_BEGINNING]
    if len(begun) == _SAME_BEGINNING and more.lstrip().startswith(begun):
        return more
    bare = more.lstrip()
    size = next((size for size in _OVERLAP if size <= len(bare) and before.endswith(bare[:size])), 0)
    return before + (bare[size:] if size else more)
