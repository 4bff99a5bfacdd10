"""Hundreds of replies, good and bad, as a server sends them, whole and in pieces. What a user would lose: a task that
ends in silence, or a call that no reply made."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from tests.models.corpus import SPECS, Sample, samples

from habilis.agents.correcting import corrected_step
from habilis.config import ModelsSettings, RoleSettings, Settings
from habilis.messages.history import is_empty_reply
from habilis.models.chat import Models
from habilis.models.structured import Modes
from habilis.models.tape import Tape
from habilis.models.usage import Budget
from habilis.prompts import Prompts
from habilis.testing import RecordingSink, ScriptedServer
from habilis.tool_calling.strategies import Strategies

GOOD = {"text": "It is done.", "react": "Thought: Enough.\nFinal Answer: It is done."}
STRATEGY = {"text": "function_call", "react": "react_text"}
ASKED: list[BaseMessage] = [SystemMessage("Use tools."), HumanMessage("What is x?")]


class Sender:
    """Sends one reply, then a good one; keeps what it was asked."""

    def __init__(self) -> None:
        self.sample: Sample | None = None
        self.asked: list[list[BaseMessage]] = []

    def __call__(self, messages: list[BaseMessage], tools: Any, form: Any) -> AIMessage:
        assert self.sample is not None
        self.asked.append(messages)
        return AIMessage(self.sample.text if len(self.asked) == 1 else GOOD[self.sample.way])


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("way", ["text", "react"])
async def test_every_reply_ends_in_its_calls_its_answer_or_words_to_act_on(
    way: str, streamed: bool, tmp_path: Path
) -> None:
    sender, sink = Sender(), RecordingSink()
    corpus = [sample for sample in samples() if sample.way == way][int(streamed) :: 2]
    assert len(corpus) >= 100
    with ScriptedServer(sender) as server:
        role = RoleSettings(base_url=server.base_url, model="m", strategy=STRATEGY[way], stream=streamed)  # type: ignore[arg-type]
        models = Models(
            ModelsSettings(basic=role), tape=Tape(tmp_path / "tape"), emit=sink.emit, budget=Budget(), modes=Modes()
        )
        async with aclosing(models):
            strategies = Strategies(models, Prompts(), sink.emit, tmp_path / "memory")
            shop: Any = SimpleNamespace(settings=Settings(), strategies=strategies, emit=sink.emit)
            for number, sample in enumerate(corpus):
                sender.sample, sender.asked = sample, []
                checked, doubt = await corrected_step(
                    ASKED, SPECS, shop, label=f"step {number}", position=number, prefix=f"c{number}", taken=()
                )
                made = tuple((call.name, call.args) for call in checked.calls)
                assert made == sample.calls, sample
                assert (doubt, checked.problems) == ("", ()), sample
                silent = is_empty_reply(AIMessage(sample.text))
                assert is_empty_reply(checked.message) == silent, sample
                assert len(sender.asked) == 1 + (sample.bad and not silent), sample
                if sample.bad and not silent:  # what is silent is nudged by the executor
                    assert checked.message.content == "It is done.", sample
                    told = str(sender.asked[1][-1].content if way == "text" else sender.asked[1])
                    assert all(word in told for word in sample.says), sample
                    assert len(told) > 20, sample
