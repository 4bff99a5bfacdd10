"""What a scripted server was asked, and which fault it answers with."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

FaultKind = Literal[
    "rate_limit",  # 429 with Retry-After
    "server_error",  # 500
    "overloaded",  # 529, as Anthropic's service says that it is busy
    "overloaded_stream",  # the same in the middle of a stream that began with 200; not streamed, like the former
    "hang",  # no answer until the client or the server leaves
    "drop",  # connection closed before the answer
    "drop_body",  # connection closed in the middle of the answer
    "empty",  # a reply with nothing in it
    "malformed_json",  # a body that is no JSON
    "malformed_arguments",  # a tool call with broken arguments
    "unknown_tool",  # a call of a tool that was not offered
    "no_usage",  # a good reply that does not say what it cost
    "cut",  # finish_reason "length", half the text
    "refusal",  # the model declines
    "content_filter",  # the provider withholds the reply
    "bad_request",  # 400
    "unauthorized",  # 401
    "forbidden",  # 403
    "not_found",  # 404
]
_STATUS = {"rate_limit": 429, "server_error": 500, "bad_request": 400, "unauthorized": 401, "forbidden": 403}
_STATUS |= {"overloaded": 529}
STATUS: dict[str, int] = {**_STATUS, "not_found": 404}
TRANSIENT: tuple[FaultKind, ...] = ("rate_limit", "server_error", "drop", "drop_body", "malformed_json")
"""What a client survives by trying again."""


@dataclass(frozen=True)
class Fault:
    """One fault. `retry_after` is sent as a header, in seconds; `status` and `text` override those of its kind."""

    kind: FaultKind
    retry_after: float | None = None
    status: int | None = None
    text: str = ""


@dataclass
class SeenRequest:
    """One request as the server saw it. `finished`: a reply with status 200 was sent to its end."""

    index: int
    path: str
    body: dict[str, Any]
    headers: dict[str, str]
    fault: Fault | None = None
    status: int = 0
    finished: bool = False

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def prompt(self) -> str:
        """All text of all messages."""
        rows = [self.body.get("system"), *(message.get("content") for message in self.body.get("messages", ()))]
        return "\n".join(map(content_text, rows)) if rows[0] else "\n".join(map(content_text, rows[1:]))

    @property
    def mode(self) -> str:
        """How a structured answer was asked for: `json_schema`, `json_mode`, `function_calling`, or nothing."""
        form = self.body.get("response_format") or (self.body.get("output_config") or {}).get("format") or {}
        kind, choice = form.get("type", ""), self.body.get("tool_choice")
        choice = choice.get("type") if isinstance(choice, dict) and choice.get("type") != "function" else choice
        if choice not in (None, "auto", "none"):
            return "function_calling"
        return "json_mode" if kind == "json_object" else str(kind)


Schedule = Callable[[SeenRequest], Fault | None]
Faults = Schedule | Iterable[Fault | FaultKind | None]


def seeded(seed: int, rate: float = 0.3, kinds: Sequence[FaultKind] = TRANSIENT, retry_after: float = 0.0) -> Schedule:
    """Faults by lot: each request fails with probability `rate`, the same ones for the same `seed`."""

    def choose(seen: SeenRequest) -> Fault | None:
        lot = random.Random(f"{seed}:{seen.index}")
        return Fault(lot.choice(kinds), retry_after=retry_after) if lot.random() < rate else None

    return choose


def when(test: str | Callable[[SeenRequest], bool], faults: Iterable[Fault | FaultKind | None]) -> Schedule:
    """`faults`, one by one, for the requests that fit: by their prompt's or model's text, or by a predicate."""
    rows = iter(list(faults))

    def choose(seen: SeenRequest) -> Fault | None:
        fits = test(seen) if callable(test) else (test in seen.prompt or test == seen.model)
        return as_fault(next(rows, None)) if fits else None

    return choose


def as_fault(given: Fault | FaultKind | None) -> Fault | None:
    return Fault(given) if isinstance(given, str) else given


def content_text(content: Any) -> str:
    """The text of a message's content."""
    if isinstance(content, str):
        return content
    parts = [part for part in content or () if isinstance(part, dict)]
    return "".join(str(part.get("text") or content_text(part.get("content"))) for part in parts)
