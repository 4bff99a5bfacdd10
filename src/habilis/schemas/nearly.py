"""Values that nearly fit their schema: what they mean is plain, so no model needs to be asked again.

Nothing is guessed. A word in another case or with blanks around it is the one of the choices that it equals without
them, a name of a field likewise. `null` for a field that may be missing is a missing field. A whole number where text
is wanted is its digits; a text that is a number, true or false, a list or an object by the rules of JSON is that, where
no text is wanted. One object where a list of objects is wanted is a list of one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?(?:[eE][+-]?\d{1,2})?")
_WHOLE = re.compile(r"-?(?:0|[1-9]\d{0,17})")
_KINDS = {"array": list, "object": dict}


def nearly(schema: Mapping[str, Any], data: Any) -> Any:
    """`data` as `schema` (self-contained) has it, as far as that is plain; whatever else is wrong stays."""
    if "enum" in schema and isinstance(data, str):
        return _one_of(data, [choice for choice in schema["enum"] if isinstance(choice, str)])
    if isinstance(schema.get("anyOf"), list):
        return _in_one_way(schema["anyOf"], data)
    kind = schema.get("type")
    if isinstance(kind, list):
        return _in_one_way([{**schema, "type": one} for one in kind], data)
    if isinstance(data, str) and kind != "string":
        data = _spelled_out(kind, data)
    if kind == "string" and isinstance(data, int) and not isinstance(data, bool):
        return str(data)
    if kind == "array":
        return _list(schema.get("items"), data)
    if isinstance(schema.get("properties"), Mapping) and isinstance(data, dict):
        return _object(schema, data)
    return data


def unwrapped(schema: Mapping[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """`arguments`, without one more object around them under a name that is none of the schema's."""
    known = schema.get("properties")
    if not isinstance(known, Mapping) or len(arguments) != 1:
        return arguments
    ((name, inner),) = arguments.items()
    plain = name not in known and isinstance(inner, dict) and inner and inner.keys() <= known.keys()
    return inner if plain else arguments


def _list(items: Any, data: Any) -> Any:
    items = items if isinstance(items, Mapping) else {}
    listed = [data] if isinstance(data, dict) and items.get("type") == "object" else data
    return [nearly(items, item) for item in listed] if isinstance(listed, list) else data


def _object(schema: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    known, needed = schema["properties"], schema.get("required", ())
    closed = schema.get("additionalProperties") in (None, False)
    made: dict[str, Any] = {}
    for name, value in data.items():
        own = name if name in known or not closed else _one_of(name, [other for other in known if other not in data])
        if value is None and own in known and own not in needed and not _takes_null(known[own]):
            continue  # `null` is its absence, and the default stands
        made.setdefault(own, nearly(known[own], value) if isinstance(known.get(own), Mapping) else value)
    return made


def _in_one_way(ways: Iterable[Any], data: Any) -> Any:
    """`data` by the only one of several schemas that changes it; text stays text where that is one of the ways."""
    kinds = [way.get("type") for way in ways if isinstance(way, Mapping)]
    if data is None or (isinstance(data, str) and "string" in kinds):
        return data
    made = [nearly(way, data) for way in ways if isinstance(way, Mapping)]
    changed = [one for one in made if type(one) is not type(data) or one != data]
    return changed[0] if len(changed) == 1 else data


def _spelled_out(kind: Any, text: str) -> Any:
    """A value of JSON that was sent as text."""
    word = text.strip()
    if kind == "boolean" and word.casefold() in ("true", "false"):
        return word.casefold() == "true"
    if (kind == "integer" and _WHOLE.fullmatch(word)) or (kind == "number" and _NUMBER.fullmatch(word)):
        return json.loads(word)
    if kind in _KINDS and word[:1] in ("[", "{"):
        try:
            value = json.loads(word)
        except (ValueError, RecursionError):
            return text
        return value if isinstance(value, _KINDS[kind]) else text
    return text


def _takes_null(schema: Any) -> bool:
    if not isinstance(schema, Mapping) or not schema:
        return True
    if ways := [*schema.get("anyOf", ()), *schema.get("oneOf", ())]:
        return any(map(_takes_null, ways))
    if "enum" in schema or "const" in schema:
        return None in schema.get("enum", (schema.get("const", ""),))
    kind = schema.get("type", "null")
    return "null" in (kind if isinstance(kind, list) else [kind])


def _one_of(word: str, choices: Iterable[str]) -> str:
    """The only one of `choices` that `word` is but for case, blanks and joining lines; else `word`."""
    alike = [choice for choice in choices if _bare(choice) == _bare(word)]
    return alike[0] if len(alike) == 1 else word


def _bare(word: str) -> str:
    return re.sub(r"[\s_-]+", "", word).casefold()
