"""JSON documents: the value at a path, how many items a list has, sums and averages of a field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from habilis.demo.families.asked import AskedPatterns, Match, Values
from habilis.demo.families.json_tables import document_of
from habilis.questions.language import same_name
from habilis.questions.operations import DemoOperation
from habilis.questions.world import World


class Documents(AskedPatterns):
    """Family of questions about one JSON document. A document is told by its ending."""

    def values(self, operation: DemoOperation, match: Match, world: World) -> Values | None:
        found = super().values(operation, match, world)
        if found and "keys" in found:
            last = match.groupdict().get("last")
            found["keys"] = re.sub(r"\[([0-9]+)\]", r".\1", found["keys"]) + (f".{last}" if last else "")
        document = document_of(world.files[0])
        return found if found is None or document is None else _within(document, operation.key, found, match[0])


def _within(document: Any, key: str, found: Values, said: str) -> Values | None:
    """`found` where a document that the prompt shows holds that: a field in one table only, under its own name."""
    if "field" in found:
        things = re.search(r"\ball(?: of)?(?: the)? ([\w-]+)$", said)
        of = things is None or things[1] == found["field"] or any(_under(document, things[1]))
        names = [name for name, one in _under(document, found["field"]) if not isinstance(one, dict | list)]
        return {**found, "field": names[0]} if of and len(names) == 1 else None
    if found["keys"] == ".":
        return found if isinstance(document, list) or re.search(r"\b(?:keys|top.level)\b", said) else None
    first, *more = found["keys"].split(".")
    held = [document] if first.isdigit() else [one for _, one in _under(document, first)]
    if key == "json_count":
        if not first.isdigit() and not _stands_alone(document, first):
            return None  # the members of each team
        return found if any(_holds_rows(one) for one in held) or re.search(r"\bkeys\b", said) else None
    held = [one for one in held if not more or more[0].isdigit() or isinstance(one, dict)]
    whole = any(all(part.isdigit() or any(_under(one, part)) for part in more) for one in held)
    return found if whole else None


def _stands_alone(value: Any, key: str) -> bool:
    """Whether a key is of the document or of an object in it, not of each of a list."""
    inner = value.values() if isinstance(value, dict) else ()
    return any(same_name(name, key) for name in (value if isinstance(value, dict) else ())) or any(
        _stands_alone(one, key) for one in inner
    )


def _holds_rows(value: Any) -> bool:
    """Whether a value is a list, or an object of objects: one of lists holds more than it has keys."""
    rows = isinstance(value, dict) and all(isinstance(one, dict) for one in value.values())
    return isinstance(value, list) or rows


def _under(value: Any, key: str) -> Iterator[tuple[str, Any]]:
    """What stands under a key in a document, in one list once, with how the key is written there."""
    if isinstance(value, dict):
        for name, one in value.items():
            if same_name(name, key):
                yield name, one
            yield from _under(one, key)
    elif isinstance(value, list):
        yield from islice((found for one in value for found in _under(one, key)), 1)
