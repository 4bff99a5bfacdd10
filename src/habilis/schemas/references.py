"""The references within a JSON schema: only to places of its own that are there, and none that leads to itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_NAMED = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"))
"""Keywords whose value holds schemas by name; a name may look like a keyword and is none."""
_DATA = frozenset(("enum", "const", "default", "examples", "required", "type"))
_SAME = frozenset(("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"))
"""Keywords whose schemas look at the very value that they themselves look at."""


def reference_fault(schema: Any) -> str | None:
    """What is wrong with the references in `schema`, as words to follow "the schema"; None where nothing is.

    A tree or a list that holds its own kind, below `properties` or `items`, is sound: each step consumes some of the
    value. A reference that comes back to where it was with the same value in hand never ends.
    """
    onward: dict[int, list[int]] = {}
    pending = [schema]
    while pending:
        node = pending.pop()
        if not isinstance(node, Mapping) or id(node) in onward:
            continue
        same = onward[id(node)] = []
        for inner, here in _parts(node):
            pending.append(inner)
            same += [id(inner)] if here else []
        if "$dynamicRef" in node or "$recursiveRef" in node:
            return "holds a $dynamicRef; write $ref"
        if "$ref" in node:
            try:
                target = pointed(schema, node["$ref"])
            except KeyError:
                told = str(node["$ref"])[:200]
                return f"holds a $ref: {told} refers to nothing in the schema, and only #/… within it is followed"
            pending.append(target)
            same.append(id(target))
    return "refers to itself without end; put the $ref under properties or items" if _turns_back(onward) else None


def pointed(schema: Any, reference: Any) -> Any:
    """What a reference within the schema means (RFC 6901). Raises `KeyError` for one to elsewhere, or to nothing."""
    from urllib.parse import unquote

    if not isinstance(reference, str) or (reference != "#" and not reference.startswith("#/")):
        raise KeyError(reference)
    node = schema
    for part in unquote(reference).split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, list) and name.isascii() and name.isdigit() and int(name[:9]) < len(node):
            node = node[int(name[:9])]
        elif isinstance(node, Mapping):
            node = node[name]
        else:
            raise KeyError(reference)
    return node


def _parts(node: Mapping[str, Any]) -> Iterator[tuple[Any, bool]]:
    """The schemas right inside one, each with whether it looks at the same value."""
    for key, value in node.items():
        if key in _DATA:
            continue
        inner = value.values() if key in _NAMED and isinstance(value, Mapping) else [value]
        for part in inner:
            for one in part if isinstance(part, list) else [part]:
                yield one, key in _SAME


def _turns_back(onward: Mapping[int, list[int]]) -> bool:
    """Whether there is a circle: whether something is left when all that leads nowhere is taken away, again and again
    (Kahn, Communications of the ACM 5, 1962)."""
    asked = dict.fromkeys(onward, 0)
    for targets in onward.values():
        for target in targets:
            asked[target] = asked.get(target, 0) + 1
    free = [node for node, count in asked.items() if not count]
    left = len(asked)
    while free:
        left -= 1
        for target in onward.get(free.pop(), ()):
            asked[target] -= 1
            if not asked[target]:
                free.append(target)
    return left > 0
