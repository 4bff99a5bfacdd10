"""Checkpoints without secrets. Most are masked on their way in; what a person wrote into a question is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from langchain_core.messages import BaseMessage
from langgraph.types import Interrupt

from habilis.core.masker import MASKER


class Serializer(Protocol):
    """LangGraph's port for what writes a state."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]: ...
    def loads_typed(self, data: tuple[str, bytes]) -> Any: ...


class HushedSerializer:
    """Writes with `inner`; where a secret is in what that wrote, the state is masked and written again."""

    def __init__(self, inner: Serializer) -> None:
        self._inner = inner

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        kind, data = self._inner.dumps_typed(obj)
        return self._inner.dumps_typed(_hushed(obj)) if MASKER.sees(data) else (kind, data)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        return self._inner.loads_typed(data)


def _hushed(value: Any) -> Any:
    """`value` without secrets, of the same classes."""
    if isinstance(value, str):
        return MASKER.text(value)
    if isinstance(value, BaseMessage):
        held = {name: _hushed(getattr(value, name)) for name in type(value).model_fields if name != "type"}
        return value.model_copy(update=held)
    if isinstance(value, Interrupt):
        return Interrupt(value=_hushed(value.value), id=value.id)
    if isinstance(value, Mapping):
        return {_hushed(key): _hushed(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(_hushed(item) for item in value)
    return value
