"""Checkpoints without secrets. Most are masked on their way in; what a person wrote into a question is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import BaseMessage
from langgraph.types import Interrupt

from habilis.agents.plainstate import PlainSerializer
from habilis.core.masker import MASKER


class HushedSerializer(PlainSerializer):
    """Where a secret is in what was written, the state is masked and written again."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        kind, data = super().dumps_typed(obj)
        return super().dumps_typed(hushed(obj)) if MASKER.sees(data) else (kind, data)


def hushed(value: Any) -> Any:
    """`value` without secrets, of the same classes."""
    if isinstance(value, str):
        return MASKER.text(value)
    if isinstance(value, BaseMessage):
        held = {name: hushed(getattr(value, name)) for name in type(value).model_fields if name != "type"}
        return value.model_copy(update=held)
    if isinstance(value, Interrupt):
        return Interrupt(value=hushed(value.value), id=value.id)
    if isinstance(value, Mapping):
        return {hushed(key): hushed(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(hushed(item) for item in value)
    return value
