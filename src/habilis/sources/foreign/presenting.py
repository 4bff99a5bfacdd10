"""What models are shown of an external tool: others wrote it, so it is data, bounded in length and harmless to check.

A description becomes one line of bounded length. Of a schema the texts are cut, and regular expressions go: checking
arguments against a pattern that a stranger chose can take for ever. The tool's own side still checks the arguments.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from habilis.core.types import JsonSchema, ToolSpec

MAX_DESCRIPTION_CHARS = 1_000
MAX_FIELD_CHARS = 300
MAX_SCHEMA_CHARS = 12_000
MAX_DEPTH = 12
MAX_PARAMETERS = 64
MAX_RAW_CHARS, MAX_RAW_DEPTH = 100_000, 40
"""What is kept at all of a schema that a source gives: characters of JSON, and levels."""
_DROPPED = {"pattern": str, "patternProperties": dict, "examples": list, "title": str, "$comment": str}
_KEPT_OF_LONG = ("type", "description", "enum", "items", "default")


def presented(spec: ToolSpec, name: str) -> ToolSpec:
    """`spec` under the name `name`, as models are shown it."""
    description = one_line(spec.description, MAX_DESCRIPTION_CHARS) or f"The tool {name}."
    return ToolSpec(name=name, description=description, parameters=bounded_schema(spec.parameters))


def kept(spec: ToolSpec) -> ToolSpec:
    """As much of `spec` as is kept, before anything is made of it: a schema beyond the bounds takes any arguments."""
    schema = spec.parameters if is_within(spec.parameters, MAX_RAW_CHARS, MAX_RAW_DEPTH) else {"type": "object"}
    return ToolSpec(name=spec.name, description=spec.description[: 4 * MAX_DESCRIPTION_CHARS], parameters=schema)


def is_within(value: Any, chars: int, depth: int) -> bool:
    """Whether a value of JSON has about so many characters and levels at most; looks no further than that."""
    waiting = [(value, 1)]
    while waiting and chars >= 0:
        node, level = waiting.pop()
        chars -= len(node) + 2 if isinstance(node, str) else 4
        if isinstance(node, (dict, list)):
            if level > depth or 2 * len(node) > chars:
                return False
            if isinstance(node, dict):
                chars -= sum(len(str(key)) for key in node)
            waiting += [(inner, level + 1) for inner in (node.values() if isinstance(node, dict) else node)]
    return chars >= 0


def version_of(*said: Any) -> str:
    """Changes with anything that a tool says of itself: 16 hexadecimal digits."""
    text = json.dumps(said, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def one_line(text: str, limit: int) -> str:
    """`text` in one line of printable characters, cut at `limit`."""
    words = " ".join("".join(c if c.isprintable() or c.isspace() else " " for c in text[: 4 * limit]).split())
    return words if len(words) <= limit else f"{words[: limit - 1].rstrip()}…"


def bounded_schema(schema: Any) -> JsonSchema:
    """An object schema that says the same in bounded length. What is no object schema takes no arguments."""
    if not isinstance(schema, dict) or not isinstance(schema.get("properties", {}), dict):
        return {"type": "object", "properties": {}}
    made: JsonSchema = {"type": "object", "properties": {}, **_shortened(schema)}
    if len(json.dumps(made)) > MAX_SCHEMA_CHARS:
        made = _flattened(made)
    return made


def _shortened(value: Any, depth: int = 0) -> Any:
    """A part of a schema with its texts cut. Below the depth limit anything is allowed."""
    if depth > MAX_DEPTH:
        return {} if isinstance(value, dict) else [] if isinstance(value, list) else value
    if isinstance(value, list):
        return [_shortened(item, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    made = {}
    for key, item in value.items():
        if key in _DROPPED and isinstance(item, _DROPPED[key]):
            continue
        text = key == "description" and isinstance(item, str)
        made[key] = one_line(item, MAX_FIELD_CHARS) if text else _shortened(item, depth + 1)
    return made


def _flattened(schema: JsonSchema) -> JsonSchema:
    """Of a schema that is too long, the parameters alone, the required ones first, each with its type."""
    said = schema.get("required")
    said = said if isinstance(said, list) else []
    fields = {name: field for name, field in schema["properties"].items() if len(name) <= MAX_FIELD_CHARS}
    required = [name for name in said if isinstance(name, str) and name in fields]
    names = dict.fromkeys([*required, *fields])
    room = MAX_SCHEMA_CHARS // max(1, min(len(names), MAX_PARAMETERS))
    properties = {name: _flat(fields[name], room) for name in list(names)[:MAX_PARAMETERS]}
    return {"type": "object", "properties": properties, "required": [name for name in required if name in properties]}


def _flat(field: Any, room: int) -> JsonSchema:
    """One parameter in about `room` characters of JSON."""
    kept: JsonSchema = {key: field[key] for key in _KEPT_OF_LONG if key in field} if isinstance(field, dict) else {}
    short: JsonSchema = {key: kept[key] for key in ("type", "description") if key in kept}
    for part in (kept, short):
        if "$ref" not in (text := json.dumps(part)) and len(text) <= room:
            return part
    return {"type": kept["type"]} if isinstance(kept.get("type"), str) else {}
