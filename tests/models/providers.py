"""Stand-ins for model servers as they are documented to behave, quirks included, on loopback.

Each takes the body of a chat completion and gives what that server would send. Sources: openrouter.ai/docs (errors,
streaming, provider routing), docs.vllm.ai (tool calling, structured outputs, reasoning outputs), ollama's openai.md,
llama.cpp's tools/server/README.md, platform.openai.com/docs (reasoning models, structured outputs).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from habilis.testing import Said, ScriptedService, SeenCall

Body = dict[str, Any]
Answer = Callable[[Body], Said | Body]


class StandIn(ScriptedService):
    """A model server that answers each chat request by `chat(body)`. `bodies` are the requests that it saw."""

    def __init__(self, chat: Answer) -> None:
        self.bodies: list[Body] = []

        def answer(seen: SeenCall) -> Any:
            if seen.method == "GET":
                return {"data": [{"id": "m"}]}
            self.bodies.append(seen.data)
            return chat(seen.data)

        super().__init__(answer)

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"


def said(content: str | None = None, *, finish: str = "stop", **message: Any) -> Body:
    """The body of a completion."""
    whole = {"role": "assistant", "content": content, **message}
    return {"id": "x", "model": "m", "choices": [{"index": 0, "message": whole, "finish_reason": finish}]}


def call(name: str, arguments: Any, **more: Any) -> Body:
    """One call of a reply."""
    return {"type": "function", "function": {"name": name, "arguments": arguments}, **more}


def refused(text: str, status: int = 400, **more: Any) -> Said:
    """A refusal as most servers word it."""
    return Said(status, {"error": {"message": text, "type": "invalid_request_error", "code": None, **more}})


def stream(*events: Body | str) -> Said:
    """Server-sent events; a text is sent as it is, as a comment say."""
    lines = [event if isinstance(event, str) else f"data: {json.dumps(event)}" for event in events]
    body = "".join(f"{line}\n\n" for line in (*lines, "data: [DONE]"))
    return Said(200, body.encode(), {"content-type": "text/event-stream"})


def delta(finish: str | None = None, **part: Any) -> Body:
    """One event of a stream."""
    return {"id": "x", "model": "m", "choices": [{"index": 0, "delta": part, "finish_reason": finish}]}


def in_turn(*answers: Said | Body) -> Answer:
    """One answer a request, the last for ever."""
    rows: Sequence[Said | Body] = answers
    at = iter(range(len(rows)))
    return lambda _: rows[next(at, len(rows) - 1)]
