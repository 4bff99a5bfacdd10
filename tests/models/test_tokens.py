"""What a user would lose: a history that outgrows the model because its arguments and schemas were not counted."""

from __future__ import annotations

import subprocess
import sys

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from habilis.core.types import ToolSpec
from habilis.models.tokens import TokenCounter, encoding_for, load

TOOL = ToolSpec(
    name="read", description="Reads a file", parameters={"type": "object", "properties": {"path": {"type": "string"}}}
)


@pytest.mark.parametrize(
    ("model", "table"),
    [
        ("gpt-4o-mini", "o200k_base"),
        ("openai/gpt-5.2", "o200k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("", "cl100k_base"),
    ],
)
def test_each_model_has_its_table_and_unknown_ones_a_default(model: str, table: str) -> None:
    assert encoding_for(model) == table


@pytest.mark.parametrize(
    ("table", "text", "tokens"),
    [
        ("cl100k_base", "hello world", [15339, 1917]),
        ("cl100k_base", "<|endoftext|>", [100257]),
        ("o200k_base", "hello world", [24912, 2375]),
    ],
)
def test_the_shipped_tables_are_the_published_ones(table: str, text: str, tokens: list[int]) -> None:
    encoding = load(table)
    assert encoding is not None
    assert encoding.encode(text, allowed_special="all") == tokens


def test_arguments_and_schemas_count() -> None:
    counter = TokenCounter()
    plain = counter.count([AIMessage("I read it")])
    calling = AIMessage("I read it", tool_calls=[{"name": "read", "args": {"path": "x" * 4000}, "id": "1"}])
    assert plain.exact
    assert counter.count([calling]).tokens > plain.tokens + 400
    assert counter.count([calling], [TOOL]).tokens > counter.count([calling]).tokens + 10


def test_unreadable_arguments_and_odd_text_count_too() -> None:
    bad = AIMessage(
        "",
        invalid_tool_calls=[{"name": "t", "args": '{"a" ' * 50, "id": "1", "error": None, "type": "invalid_tool_call"}],
    )
    assert TokenCounter().count([bad]).tokens > 50
    assert TokenCounter().count([HumanMessage("<|endoftext|> \ud800 你好")]).tokens > 4


def test_an_image_costs_its_price_and_not_its_bytes() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 100_000}}
    assert TokenCounter().count([HumanMessage([{"type": "text", "text": "what is it?"}, picture])]).tokens < 150


def test_a_growing_history_counts_the_same_as_counted_at_once() -> None:
    counter = TokenCounter()
    history = [SystemMessage("s"), *[HumanMessage(f"message {n}") for n in range(30)]]
    for end in range(1, len(history)):
        counter.count(history[:end])
    assert counter.count(history) == TokenCounter().count(history)


def test_without_tables_it_is_an_estimate_and_says_so() -> None:
    count = TokenCounter(table=lambda name: None).count([HumanMessage("x" * 3400)])
    assert not count.exact
    assert count.tokens == pytest.approx(1000, rel=0.01)


def test_nothing_is_loaded_before_something_is_counted() -> None:
    code = "import sys, habilis.models.chat; sys.exit('tiktoken' in sys.modules or 'langchain_openai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
