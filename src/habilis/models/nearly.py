"""Replies that nearly fit their form: what they mean is plain, so nobody needs to be asked again.

Nothing is guessed: a word in another case or with blanks around it is the one of the choices that it equals without
them, a name of a field likewise; `null` for a field that may be missing is a missing field; a whole number where text
is wanted is its digits; one object where a list of them is wanted is a list of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any


def nearly(schema: Mapping[str, Any], data: Any) -> Any:
    """`data` as `schema` (self-contained) has it, as far as that is plain; whatever else is wrong stays."""
    if "enum" in schema and isinstance(data, str):
        return _one_of(data, [choice for choice in schema["enum"] if isinstance(choice, str)])
    kind = schema.get("type")
    if kind == "string" and isinstance(data, int) and not isinstance(data, bool):
        return str(data)
    if kind == "array":
        items = schema.get("items", {})
        listed = [data] if isinstance(data, dict) and items.get("type") == "object" else data
        return [nearly(items, item) for item in listed] if isinstance(listed, list) else data
    if isinstance(schema.get("properties"), Mapping) and isinstance(data, dict):
        return _object(schema, data)
    return data


def _object(schema: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    known, needed = schema["properties"], schema.get("required", ())
    made: dict[str, Any] = {}
    for name, value in data.items():
        own = name if name in known else _one_of(name, [other for other in known if other not in data])
        if value is None and own in known and own not in needed and not _takes_null(known[own]):
            continue  # `null` is its absence, and the default stands
        made.setdefault(own, nearly(known.get(own, {}), value))
    return made


def _takes_null(schema: Mapping[str, Any]) -> bool:
    ways = [schema, *schema.get("anyOf", ()), *schema.get("oneOf", ())]
    return not schema or any("null" in (way.get("type"), *way.get("enum", ())) for way in ways)


def _one_of(word: str, choices: Iterable[str]) -> str:
    """The only one of `choices` that `word` is but for case, blanks and joining lines; else `word`."""
    alike = [choice for choice in choices if _bare(choice) == _bare(word)]
    return alike[0] if len(alike) == 1 else word


def _bare(word: str) -> str:
    return re.sub(r"[\s_-]+", "", word).casefold()
