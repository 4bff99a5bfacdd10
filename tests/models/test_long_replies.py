"""What a user would lose: minutes of a stuck program, to a model that repeats one bracket until its token limit.

Each reader was quadratic in one of these: a reply of this length took it longer than the limit here.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from pydantic import BaseModel

from habilis.core.types import ToolSpec
from habilis.messages.arguments import ArgumentsUnreadable, read_arguments
from habilis.models.forms import FormProblem, read_form
from habilis.models.replies import normalised
from habilis.tool_calling.narrator import Narrator
from habilis.tool_calling.react import parse_react
from habilis.tool_calling.textcalls import read_text

LENGTH = 150_000
LIMIT_S = 10
"""So long a reader never takes, whatever else runs on the machine; before, it was a minute."""
SPECS = [ToolSpec(name="f", description="", parameters={"properties": {"x": {"type": "string"}}})]
QUADRATIC = ("{\n", "`", "{", "> ", "[TOOL_CALLS]")
OTHERS = (
    "<think>a</think>",
    ", ",
    "[{",
    '{"\n',
    '{"a":',
    "```\n",
    "```json\n{\n",
    " ",
    "_*",
    "\\",
    '"',
    "a(",
    "f(x)\n",
    "<tool_call>{",
    "}",
)


class Form(BaseModel):
    a: int


class TooLong(BaseException):
    """No reader catches it."""


@pytest.fixture(autouse=True)
def limit() -> Iterator[None]:
    def ring(*_: Any) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(LIMIT_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("part", [*QUADRATIC, *(pytest.param(part, marks=pytest.mark.slow) for part in OTHERS)])
def test_a_long_reply_of_one_thing_is_read_in_time(part: str) -> None:
    text = (part * (LENGTH // len(part))).rstrip()
    read_text(text, SPECS)
    parse_react(text, SPECS)
    normalised(AIMessage(text))
    Narrator().feed(text)
    with contextlib.suppress(FormProblem):
        read_form(Form, text)
    for raw in (text, '{"a": 1' + text):
        with contextlib.suppress(ArgumentsUnreadable):
            read_arguments(raw)


def test_a_call_after_a_few_broken_lines_is_still_read() -> None:
    text = "{\n" * 300 + "That was wrong.\n" + '{"name": "f", "arguments": {"x": "y"}}'
    assert read_text(text, SPECS).calls == (("f", {"x": "y"}),)
