"""One request as it goes out, and what can come of it besides a reply."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from habilis.models.tape import ModelRequest

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from habilis.models.client import Client


Listener = Callable[[], Callable[[str], None]]
"""Called when a request goes out, each time anew; what it gives is told the text of the reply as it comes."""


class RequestRefused(Exception):
    """The server will not answer a request in this form; another may do. Arguments: the reason, the mode."""


@dataclass(frozen=True)
class Wire:
    """What goes with the messages of one request, in the words of chat completions.

    `completion`: the only message is a text to go on with, for servers or models that know no chat. `max_tokens` is
    what the reply may hold, where that is less than what is set.
    """

    tools: Sequence[dict[str, Any]] = ()
    tool_choice: str | None = None
    response_format: dict[str, Any] | None = None
    stop: Sequence[str] = ()
    completion: bool = False
    max_tokens: int | None = None


@dataclass(frozen=True)
class Exchange:
    """One request as it goes out. `refusable`: a refusal is an answer that the caller can go on from; with `about`
    only one whose text that pattern finds something in.

    `say` hears the reply where it is streamed.
    """

    request: ModelRequest
    messages: list[BaseMessage]
    wire: Wire
    mode: str = ""
    refusable: bool = False
    about: str = ""
    say: Listener | None = None

    def goes_on_after(self, refusal: str) -> bool:
        """Whether the caller can go on from a refusal with this text."""
        return self.refusable and re.search(self.about, refusal, re.IGNORECASE) is not None


def as_it_is(exchange: Exchange) -> Callable[[Client], Exchange]:
    """What makes `exchange` for a client, the same for any."""
    return lambda _: exchange
