"""JSON documents: the value at a path, how many items a list has, sums and averages of a field."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
        return found if found is None or _is_in(document_of(world.files[0]), operation.key, found, match[0]) else None


def _is_in(document: Any, key: str, found: Values, said: str) -> bool:
    """Whether a document that the prompt shows holds what is asked for; a field, in one table only."""
    if document is None:
        return True
    if "field" in found:
        things = re.search(r"\ball(?: of)?(?: the)? ([\w-]+)$", said)
        once = len([*_under(document, found["field"], plain=True)]) == 1
        return once and (things is None or any(_under(document, things[1])))
    if found["keys"] == ".":
        return isinstance(document, list) or bool(re.search(r"\b(?:keys|top.level)\b", said))
    return all(part.isdigit() or any(_under(document, part)) for part in found["keys"].split(".")) and (
        key != "json_count" or len([*_under(document, found["keys"])]) != len([*_under(document, found["keys"], True)])
    )


def _under(value: Any, key: str, plain: bool = False) -> Iterator[bool]:
    """The places of a key in a document, those of one list as one; with `plain`, of one with a plain value."""
    if isinstance(value, dict):
        for name, one in value.items():
            if same_name(name, key) and not (plain and isinstance(one, dict | list)):
                yield True
            yield from _under(one, key, plain)
    elif isinstance(value, list):
        yield from {True for one in value for _ in _under(one, key, plain)}
