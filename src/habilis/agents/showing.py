"""The images of a question, as the executor's requests show them: themselves at first, a line in their place later."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from habilis.context.task import TaskContext
from habilis.contract.pictures import images_of, parts_of


def showing(messages: Sequence[BaseMessage], ctx: TaskContext) -> list[BaseMessage]:
    """The history as it is sent: the question with its images until there was a reply, then with a line for each.

    They are in no stored history, and each costs its tokens once; `image_text_query` looks at one again. Those of
    earlier turns were shown then.
    """
    before = set(ctx.task.earlier.files) if ctx.task.earlier else set()
    images = images_of([file for file in ctx.task.files if file.path not in before])
    if not images:
        return list(messages)
    lines = "\n".join(f"[image: {file.named}; image_text_query looks at it]" for file in images)
    text = f"{messages[0].content}\n{lines}"
    replied = any(isinstance(message, AIMessage) for message in messages)
    parts = [] if replied else parts_of(images, ctx.models.settings("basic").images or "low")
    first = HumanMessage([*parts, {"type": "text", "text": text}] if parts else text)
    return [first, *messages[1:]]
