"""One request as it goes out, and what can come of it besides a reply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from habilis.models.tape import Request

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage


class RequestRefused(Exception):
    """The server will not answer a request in this form; another may do. Arguments: the reason, the mode."""


@dataclass(frozen=True)
class Wire:
    """What goes with the messages of one request, in the words of chat completions."""

    tools: Sequence[dict[str, Any]] = ()
    tool_choice: str | None = None
    response_format: dict[str, Any] | None = None


@dataclass(frozen=True)
class Exchange:
    """One request as it goes out. `refusable`: a refusal is an answer that the caller can go on from."""

    request: Request
    messages: list[BaseMessage]
    wire: Wire
    mode: str = ""
    refusable: bool = False
