"""What a user would lose: minutes before a silent terminal while a slow model thinks."""

from __future__ import annotations

import os
import pty
import re
import sys
import threading
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from habilis.demo import reply
from habilis.testing import ScriptedServer, in_plain_text

from .. import nursery
from .conftest import LONG, World

THOUGHT = "First of all the numbers are added up, one after another."


def thinking(messages: list[BaseMessage], tools: list[dict[str, Any]], form: dict[str, Any] | None) -> AIMessage:
    said = reply(messages, tools, form)
    return said.model_copy(update={"content": THOUGHT}) if said.tool_calls else said


def on_a_terminal(world: World, *settings: str) -> str:
    """All that `habilis run` writes to a terminal of 120 columns."""
    ours, theirs = pty.openpty()
    sets = [part for one in (LONG, *settings) for part in ("--set", one)]
    command = [sys.executable, "-m", "habilis", "run", "What is 2+3*4?", "--output", str(world.home / "runs"), *sets]
    environ = {**world.environment(), "TERM": "xterm", "COLUMNS": "120", "NO_COLOR": "1"}
    process = nursery.Program(command, cwd=world.home, env=environ, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said: list[bytes] = []

    def read() -> None:
        try:
            while data := os.read(ours, 4096):
                said.append(data)
        except OSError:  # the terminal is gone with its last program
            return

    reader = threading.Thread(target=read)
    reader.start()
    assert process.wait(timeout=300) == 0
    reader.join(timeout=60)
    os.close(ours)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", b"".join(said).decode("utf-8", "replace"))


@pytest.mark.parametrize("strategy", [pytest.param("function_call", marks=pytest.mark.slow), "react_text"])
def test_thoughts_come_to_the_terminal_while_they_are_thought(world: World, strategy: str) -> None:
    answer = thinking if strategy == "function_call" else in_plain_text(thinking)

    def slowly(*asked: Any) -> AIMessage:
        said = answer(*asked)
        server.latency_per_token_s = 0.03 if THOUGHT in said.text else 0.0
        return said

    with ScriptedServer(slowly) as server:
        sets = [f"models.basic.base_url={server.base_url}", "models.basic.stream=true"]
        shown = on_a_terminal(world, *sets, f"models.basic.strategy={strategy}")
    before, _, after = shown.partition(THOUGHT)
    assert after, shown
    parts = [THOUGHT[:length] for length in range(10, len(THOUGHT) - 5)]
    assert any(part in before for part in parts), before
    assert "Action" not in shown
    assert "14" in after
