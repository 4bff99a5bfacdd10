"""Names that every provider takes, for tools and their parameters, and the way back to the real ones.

A tool's own names may be in any script; a request's must match `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$` and be unique in it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from habilis.core.types import ToolSpec

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage

_LENGTH = 64
_TAKEN = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")


def provider_name(name: str) -> str:
    """`name` in the form that model providers take; itself where it fits.

    A name that does not fit gets a hash of itself, so that no two of them collapse into one.
    """
    if _TAKEN.fullmatch(name):
        return name
    plain = re.sub(r"[^a-zA-Z0-9_-]+", "_", name).strip("_-")[: _LENGTH - 15]
    return f"{plain if plain[:1].isalpha() else f'tool_{plain}'.rstrip('_')}_{short_hash(name)}"


def short_hash(name: str) -> str:
    """Eight letters and digits that stand for `name`."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def unique_names(names: Sequence[str]) -> list[str]:
    """`names` in provider form, each once: a later one that collides gets `_2`, `_3` …, but never another's name."""
    own = {name for name in names if _TAKEN.fullmatch(name)}
    used: set[str] = set()
    made = []
    for name in names:
        is_first = name in own and name not in used
        made.append(name if is_first else _unused(provider_name(name), used | own))
        used.add(made[-1])
    return made


def _unused(name: str, taken: Collection[str]) -> str:
    choice, number = name, 1
    while choice in taken:
        number += 1
        suffix = f"_{number}"
        choice = name[: _LENGTH - len(suffix)] + suffix
    return choice


@dataclass(frozen=True)
class Naming:
    """The names of one request: `specs` as the provider is sent them, and both directions of every change."""

    specs: tuple[ToolSpec, ...]
    _tools: Mapping[str, str] = field(default_factory=dict)
    _fields: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, specs: Sequence[ToolSpec]) -> Naming:
        """The naming for `specs`, of which two must not bear the same name."""
        names = unique_names([spec.name for spec in specs])
        sent: list[ToolSpec] = []
        fields: dict[str, dict[str, str]] = {}
        for spec, name in zip(specs, names, strict=True):
            changed = _renamed_fields(spec)
            if changed:
                fields[spec.name] = changed
            same = name == spec.name and not changed
            sent.append(spec if same else ToolSpec(name=name, description=spec.description, parameters=_sent(spec)))
        tools = {spec.name: name for spec, name in zip(specs, names, strict=True) if spec.name != name}
        return cls(tuple(sent), tools, fields)

    def outward(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        """`messages` with the calls in them under the provider's names."""
        from langchain_core.messages import AIMessage

        if not self._tools and not self._fields:
            return list(messages)
        return [self._named(m, self._tools, self._fields) if isinstance(m, AIMessage) else m for m in messages]

    def inward(self, reply: AIMessage) -> AIMessage:
        """A reply with the calls in it under the real names; names that were not sent stay as they are."""
        if not self._tools and not self._fields:
            return reply
        tools = {sent: name for name, sent in self._tools.items()}
        fields = {
            self._tools.get(tool, tool): {sent: name for name, sent in changed.items()}
            for tool, changed in self._fields.items()
        }
        return self._named(reply, tools, fields)

    @staticmethod
    def _named(message: AIMessage, tools: Mapping[str, str], fields: Mapping[str, Mapping[str, str]]) -> AIMessage:
        calls: list[Any] = [
            {
                **call,
                "name": tools.get(call["name"], call["name"]),
                "args": {fields.get(call["name"], {}).get(k, k): value for k, value in call["args"].items()},
            }
            for call in message.tool_calls
        ]
        broken: list[Any] = [
            {**call, "name": tools.get(call["name"] or "", call["name"])} for call in message.invalid_tool_calls
        ]
        if calls == message.tool_calls and broken == message.invalid_tool_calls:
            return message
        return message.model_copy(update={"tool_calls": calls, "invalid_tool_calls": broken})


def _renamed_fields(spec: ToolSpec) -> dict[str, str]:
    """Parameters whose names must change, with the new ones. The real name goes into the description."""
    names = list(spec.parameters.get("properties") or ())
    return {name: sent for name, sent in zip(names, unique_names(names), strict=True) if name != sent}


def _sent(spec: ToolSpec) -> dict[str, Any]:
    changed = _renamed_fields(spec)
    if not changed:
        return spec.parameters
    properties = {
        changed.get(name, name): _told(schema, name) if name in changed else schema
        for name, schema in spec.parameters["properties"].items()
    }
    made = {**spec.parameters, "properties": properties}
    if "required" in made:
        made["required"] = [changed.get(name, name) for name in made["required"]]
    return made


def _told(schema: Any, name: str) -> Any:
    if not isinstance(schema, dict):
        return schema
    return {**schema, "description": f"{name}: {schema['description']}" if schema.get("description") else name}
