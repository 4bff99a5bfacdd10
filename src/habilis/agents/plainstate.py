"""What a checkpoint may hold, written and read by a closed table: no name that stands in a file is ever imported.

The form is the one that LangGraph's own serialiser writes (msgpack; an object is an extension that names its class), so
that checkpoints of earlier versions are read. LangGraph would look the named class up and call it; here the name must
be one of five that we know, its fields must be those of that class, and their values plain data.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import ormsgpack
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.types import Interrupt

from habilis.core.masker import MASKER

_WITH_FIELDS, _MESSAGE = 2, 5
"""Codes of extensions: a data class and its fields, a Pydantic model and its fields."""
_COMMON = frozenset({"content", "additional_kwargs", "response_metadata", "type", "name", "id", "example"})
_MESSAGES: tuple[tuple[type[BaseMessage], frozenset[str]], ...] = (
    (AIMessage, _COMMON | {"tool_calls", "invalid_tool_calls", "usage_metadata"}),
    (HumanMessage, _COMMON),
    (SystemMessage, _COMMON),
    (ToolMessage, _COMMON | {"tool_call_id", "artifact", "status"}),
)
_BY_TYPE = {
    kind: (kind.__module__, kind.__name__, fields, kind.model_fields["type"].default) for kind, fields in _MESSAGES
}
_BY_NAME = {(kind.__module__, kind.__name__): (kind, fields) for kind, fields in _MESSAGES}
_INTERRUPT, _ASKED = ("langgraph.types", "Interrupt"), frozenset({"value", "id", "response_schema"})
_WRITING = ormsgpack.OPT_NON_STR_KEYS | ormsgpack.OPT_PASSTHROUGH_DATACLASS | ormsgpack.OPT_REPLACE_SURROGATES


class Foreign(ValueError):
    """A checkpoint holds something that Habilis never writes."""


class PlainSerializer:
    """Plain data, the messages of a conversation, and an open question: what the graph's state consists of.

    LangGraph's port for serialisers. `loads_typed` raises `Foreign` for everything else, whatever it is.
    """

    def dumps_typed(self, value: Any) -> tuple[str, bytes]:
        """Raises `TypeError` for what is none of these: it could not be read again."""
        return ("null", b"") if value is None else ("msgpack", _packed(value))

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        kind, raw = data
        if kind == "null":
            return None
        if kind != "msgpack" or not isinstance(raw, bytes):
            raise Foreign(f"a value of type {str(kind)[:40]!r}")
        return _unpacked(raw)


def _packed(value: Any) -> bytes:
    return ormsgpack.packb(value, default=_as_extension, option=_WRITING)


def _as_extension(value: Any) -> Any:
    entry = _BY_TYPE.get(type(value))
    if entry is None and isinstance(value, BaseMessage):  # what a client made of a class is kept as that class
        entry = next((entry for kind, entry in _BY_TYPE.items() if isinstance(value, kind)), None)
    if entry is not None:
        module, name, fields, word = entry
        held = value.model_dump()
        if not held.keys() <= fields or held["type"] != word:
            held = {key: item for key, item in held.items() if key in fields} | {"type": word}
        return ormsgpack.Ext(_MESSAGE, _packed((module, name, held, "model_validate_json")))
    if isinstance(value, Interrupt):
        return ormsgpack.Ext(_WITH_FIELDS, _packed((*_INTERRUPT, {"value": value.value, "id": value.id})))
    if isinstance(value, BaseException):  # LangGraph keeps why a step failed
        return repr(value)
    raise TypeError(f"a checkpoint cannot hold a {type(value).__name__}")


def _unpacked(raw: bytes) -> Any:
    why: list[str] = []

    def revive(code: int, inner: bytes) -> Any:
        try:
            return _from_extension(code, inner)
        except ValueError as error:
            why.append(str(error))
            raise

    try:
        return ormsgpack.unpackb(raw, ext_hook=revive, option=ormsgpack.OPT_NON_STR_KEYS)
    except ValueError as error:  # ormsgpack keeps to itself what its hook raised
        raise Foreign(why[0] if why else str(error)) from None


def _from_extension(code: int, raw: bytes) -> Any:
    parts = ormsgpack.unpackb(raw, option=ormsgpack.OPT_NON_STR_KEYS)  # without a hook: within an object, plain data
    if not isinstance(parts, list) or len(parts) not in (3, 4) or not all(isinstance(p, str) for p in parts[:2]):
        raise Foreign("an extension of another form")
    name, fields = (parts[0], parts[1]), parts[2]
    if code == _MESSAGE and name in _BY_NAME:
        kind, known = _BY_NAME[name]
        if not isinstance(fields, Mapping) or not fields.keys() <= known:
            raise Foreign(f"{'.'.join(name)} with other fields")
        return kind(**fields)
    if code == _WITH_FIELDS and name == _INTERRUPT and isinstance(fields, Mapping) and fields.keys() <= _ASKED:
        if fields.get("response_schema") is not None or not isinstance(fields.get("id"), str):
            raise Foreign("a question of another form")
        return Interrupt(value=fields.get("value"), id=fields["id"])
    raise Foreign(f"an object of {'.'.join(name)[:80]!r}")


class HushedSerializer(PlainSerializer):
    """Checkpoints without secrets, each value with its checksum.

    Most secrets are masked on their way in; what a person wrote into a question is not: where one is in what was
    written, the state is masked and written again. SQLite sees no bit that turned within a value, so its kind bears the
    CRC-32 of its bytes, `msgpack 1a2b3c4d`. A value without one, of an earlier version, is read as it is.
    """

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        kind, data = super().dumps_typed(obj)
        if MASKER.sees(data):
            kind, data = super().dumps_typed(hushed(obj))
        return (f"{kind} {zlib.crc32(data):08x}" if data else kind), data

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        kind, _, checksum = str(data[0]).partition(" ")
        if checksum and isinstance(data[1], bytes) and f"{zlib.crc32(data[1]):08x}" != checksum:
            raise Foreign("a value that does not fit its checksum")
        return super().loads_typed((kind, data[1]))


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
