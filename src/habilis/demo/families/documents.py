"""JSON documents: the value at a path, how many items a list has, sums and averages of a field."""

from __future__ import annotations

import re

from habilis.demo.families.asked import AskedPatterns, Match, Values
from habilis.questions.operations import DemoOperation
from habilis.questions.world import World


class Documents(AskedPatterns):
    """Family of questions about one JSON document. A document is told by its ending."""

    def values(self, operation: DemoOperation, match: Match, world: World) -> Values | None:
        found = super().values(operation, match, world)
        if found and "keys" in found:
            last = match.groupdict().get("last")
            found["keys"] = re.sub(r"\[([0-9]+)\]", r".\1", found["keys"]) + (f".{last}" if last else "")
        return found
