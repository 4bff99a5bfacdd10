"""The offline demonstration model: a deterministic chat model that plays every role by patterns, without a network.

It understands whole families of questions (sums, dates, texts, tables, JSON, lists) over the user's own input and says
so plainly when it does not understand one. To add a family: a file in `families/` that declares its questions and tools
(see `questions.declared`), its name in `families.ALL`, and what its tools' code calls in `sources/`; a class of its own
only where patterns alone do not tell the values.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from habilis.demo.model import OfflineModel as OfflineModel
    from habilis.demo.roles import reply as reply

MODEL_NAME = "offline demonstration model"
"""What people are shown as the model's name, in every output."""

_DOOR = {"OfflineModel": "habilis.demo.model", "reply": "habilis.demo.roles"}
__all__ = ["MODEL_NAME", "OfflineModel", "reply"]


def __getattr__(name: str) -> Any:
    if name not in _DOOR:
        raise AttributeError(f"module 'habilis.demo' has no attribute '{name}'")
    return getattr(import_module(_DOOR[name]), name)
