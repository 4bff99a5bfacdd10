"""The embedded llama.cpp itself, with a model that is too small to know anything. What a user would lose: a real model
without a server of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, SystemMessage

from habilis.config import LocalSettings, ModelsSettings, RoleSettings
from habilis.core.errors import ModelUnreachable
from habilis.models.chat import Models
from habilis.models.local.serving import release
from habilis.models.tape import Tape
from habilis.models.usage import Budget
from habilis.testing import RecordingSink

from .gguf_files import head, tiny_model

pytest.importorskip("xllamacpp", reason="the extra local (xllamacpp) is not installed")
ASK: list[Any] = [SystemMessage("You add."), HumanMessage("What is 2+2?")]


@pytest.fixture(autouse=True)
def _let_go() -> Iterator[None]:
    yield
    release()


def models(folder: Path, sink: RecordingSink, model: Path, **role: Any) -> Models:
    basic = RoleSettings(provider="local", model=str(model), max_tokens=8, timeout_s=60, max_retries=0, **role)
    return Models(
        ModelsSettings(basic=basic, local=LocalSettings(context_tokens=512, threads=1)),
        tape=Tape(folder / "tape.jsonl"),
        emit=sink.emit,
        budget=Budget(),
        folder=folder,
    )


async def test_a_file_alone_is_a_model_that_answers(tmp_path: Path) -> None:
    sink = RecordingSink()
    asked = models(tmp_path, sink, tiny_model(tmp_path / "tiny.gguf"))
    try:
        reply = await asked.chat("basic", ASK, purpose="step")
        assert reply.response_metadata["finish_reason"] in ("stop", "length")
        assert asked.usage.prompt_tokens > 10
        assert asked.name("basic") == "tiny"
        assert [notice.text.split(" (")[0] for notice in sink.of("notice")] == ["Loading the model tiny"]
    finally:
        await asked.aclose()


async def test_a_head_without_a_model_is_said_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "empty.gguf"
    path.write_bytes(head({"general.architecture": "llama"}))
    asked = models(tmp_path, RecordingSink(), path)
    try:
        with pytest.raises(ModelUnreachable, match="the model empty could not be loaded") as caught:
            await asked.chat("basic", ASK, purpose="step")
        assert "\n" not in str(caught.value)
    finally:
        await asked.aclose()
