"""Questions to the user: one that only says the task again is not put to them."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import ToolMessage

from habilis.agents.reviewing import tells
from habilis.context.presets import ASK_USER
from habilis.context.task import TaskContext
from habilis.library.retrieval.terms import terms
from habilis.messages.calls import Call

ECHOED = "That is what the user asks you. Find it out: call a tool, or answer with what you know."
FEWEST, SHARE = 3, 0.5
"""Words of a question that the task says too, and the part of all its words that they make up, for it to be an echo."""

_OF_ASKING = frozenset(terms("want like know find tell give provide please yes no"))


async def echoes(calls: Sequence[Call], ctx: TaskContext) -> list[ToolMessage]:
    """An answer to each question that says the task again, where the model's word as a judge tells nothing.

    Small models ask the user to do their work. A model that can be trusted asks for what it lacks, in the task's words.
    """
    task = ctx.task.question
    said = [call for call in calls if call.name == ASK_USER and says_again(str(call.args.get("question", "")), task)]
    if not said or await tells(ctx):
        return []
    return [ToolMessage(ECHOED, tool_call_id=call.id, name=ASK_USER, status="error") for call in said]


def says_again(question: str, task: str) -> bool:
    """Whether at least half of what `question` says stands in `task`."""
    asked = set(terms(question)) - _OF_ASKING
    same = asked & set(terms(task))
    return len(same) >= FEWEST and len(same) >= SHARE * len(asked)
