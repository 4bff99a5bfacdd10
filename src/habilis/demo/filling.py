"""An answer as data: one value in the one field of a schema that asks for it, and nothing guessed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, SystemMessage

from habilis.questions.language import number
from habilis.questions.prompts import text_of

_MARK = "The JSON schema of `final_answer`:"


def asked_schema(messages: Sequence[BaseMessage]) -> Mapping[str, Any] | None:
    """The schema that a prompt wants the answer to fit, if it shows one."""
    for message in messages:
        _, mark, after = text_of(message).partition(_MARK) if isinstance(message, SystemMessage) else ("", "", "")
        start = after.find("{")
        if mark and start >= 0:
            found: Any = json.JSONDecoder().raw_decode(after, start)[0]
            return found if isinstance(found, dict) else None
    return None


def filled(schema: Mapping[str, Any], answer: str) -> Any:
    """`answer` in the form of `schema`; as it is where that is no number, no text and no object of one field."""
    kind, fields = schema.get("type"), schema.get("properties")
    if isinstance(fields, dict) and kind in (None, "object"):
        wanted = schema.get("required") or list(fields)
        inner = fields.get(wanted[0]) if len(wanted) == 1 else None
        return {wanted[0]: filled(inner, answer)} if isinstance(inner, dict) else answer
    value = number(answer) if kind in ("number", "integer") else None
    return answer if value is None or (kind == "integer" and value != int(value)) else value
