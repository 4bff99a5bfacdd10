"""What calls cost us: reading and checking a reply, putting a history in order, counting the tokens of a long one.

Processor time: nothing here waits for anything.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from habilis.core.types import ToolSpec
from habilis.messages.calls import check_calls, with_unique_ids
from habilis.messages.history import repair_history
from habilis.models.tokens import TokenCounter
from habilis.tool_calling.react import as_message, parse_react
from habilis.tool_calling.textcalls import read_text
from measure import Figure

SPECS = [
    ToolSpec(
        name=f"tool_{number}",
        description="Does something with a text.",
        parameters={
            "type": "object",
            "properties": {"text": {"type": "string"}, "count": {"type": "integer"}, "kind": {"enum": ["a", "b"]}},
            "required": ["text"],
            "additionalProperties": False,
        },
    )
    for number in range(20)
]
PROSE = "The rows (all of them) were read; {x} is no call, and f(x) = [1, 2] is none either.\n"
BATCH = 50


def written_call() -> str:
    """4 kB of reply that end in a call."""
    call = json.dumps({"name": "tool_7", "arguments": {"text": "word " * 300, "count": 3}})
    return PROSE * ((4_096 - len(call)) // len(PROSE)) + call


def native_reply(text: str) -> AIMessage:
    call: Any = {"name": "tool_7", "args": {"text": text, "count": 3}, "id": None, "type": "tool_call"}
    return AIMessage("", tool_calls=[call])


def checked(message: AIMessage) -> None:
    if len(check_calls(with_unique_ids(message, "c1", ()), SPECS).calls) != 1:
        raise RuntimeError("the call did not pass")


def by_text(text: str) -> None:
    written = read_text(text, SPECS)
    checked(AIMessage("", tool_calls=[{"name": name, "args": args, "id": None} for name, args in written.calls]))


def by_reasoning(text: str) -> None:
    checked(as_message(parse_react(text, SPECS), SPECS))


def disordered(count: int) -> list[BaseMessage]:
    """`count` messages: replies with two calls whose results come late, in the wrong order, some not at all."""
    messages: list[BaseMessage] = [HumanMessage("Go.")]
    for number in range(count // 4 + 1):
        calls: Any = [{"name": "tool_1", "args": {"text": "x"}, "id": f"{number}{side}"} for side in "ab"]
        messages += [AIMessage("I look.", tool_calls=calls), HumanMessage("And?")]
        messages += [ToolMessage("1", tool_call_id=f"{number}b")]
        if number % 3:
            messages += [ToolMessage("1", tool_call_id=f"{number}a")]
    return messages[:count]


def milliseconds(work: Callable[[], object], batch: int = 1) -> float:
    start = time.process_time()
    for _ in range(batch):
        work()
    return (time.process_time() - start) * 1000 / batch


def counting(repeats: int) -> list[float]:
    """Milliseconds to count a history of 100,000 tokens again after one more message."""
    counter = TokenCounter("gpt-4o")
    messages: list[BaseMessage] = [
        HumanMessage(f"{number}: " + "some words of a result " * 50) for number in range(400)
    ]
    tokens = counter.count(messages).tokens
    if tokens < 100_000:
        raise RuntimeError(f"the history holds {tokens} tokens only")
    found = []
    for number in range(repeats):
        messages.append(HumanMessage(f"new {number}: " + "some words of a result " * 50))
        found.append(milliseconds(lambda: counter.count(messages)))
    return found


def figures(repeats: int) -> list[Figure]:
    text = written_call()
    act = f"Thought: {PROSE * 25}\nAction: tool_7\nAction Input: {json.dumps({'text': 'word ' * 350, 'count': 3})}"
    native = native_reply("word " * 800)
    replies: list[tuple[str, Callable[[], None]]] = [
        ("a function call", lambda: checked(native)),
        ("a call written as text", lambda: by_text(text)),
        ("a step of reasoning as text", lambda: by_reasoning(act)),
        ("prose without a call", lambda: read_text(PROSE * 48, SPECS) and None),
    ]
    found = []
    for what, work in replies:
        work()
        times = [milliseconds(work, BATCH) for _ in range(repeats)]
        found.append(Figure(f"reading and checking 4 kB of reply, {what}", "ms", times))
    history = disordered(1_000)
    times = [milliseconds(lambda: repair_history(history)) for _ in range(repeats)]
    found.append(Figure("putting a history of 1,000 messages in order", "ms", times))
    what = "counting a history of 100,000 tokens after one more message"
    return [*found, Figure(what, "ms", counting(repeats))]


if __name__ == "__main__":
    from measure import table

    print(table(figures(int(sys.argv[1]) if len(sys.argv) > 1 else 5)))
