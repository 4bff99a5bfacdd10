"""Units of measure: an amount in one unit as the same amount in another."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import ClassVar

from habilis.demo.families.asked import AskedPatterns, Match, Values, value_of
from habilis.questions.declared import read_family
from habilis.questions.operations import DemoOperation
from habilis.questions.world import CannotAnswerError, World

_TABLE = [line.split(" ", 3) for line in read_family("units")["table"]["lines"].split("\n") if line]
MEASURES = {spelling: measure for measure, *_, names in _TABLE for spelling in names.split("|")}
"""What each unit measures, by its spellings."""


class Units(AskedPatterns):
    """Family of conversions between units of one kind; the amount may be what another tool finds."""

    words: ClassVar = {"UNIT": "|".join(re.escape(spelling) for spelling in sorted(MEASURES, key=len, reverse=True))}

    def __init__(self, name: str) -> None:
        super().__init__(name)
        spellings = "\n".join(" ".join(row) for row in _TABLE)
        symbols = re.sub(r"\|.*", "", spellings)
        self.operations = tuple(
            replace(one, fill={"spellings": spellings, "symbols": symbols}) for one in self.operations
        )

    def values(self, operation: DemoOperation, match: Match, world: World) -> Values | None:
        text = re.sub("^the ", "", match["amount"].strip(), flags=re.I)
        amount = 1 if text.lower() in ("a", "an") else value_of(operation.inputs[0], text, world)
        source, target = match["source"].lower(), match["target"].lower()
        if amount is not None and MEASURES[source] != MEASURES[target]:
            raise CannotAnswerError(f"{source} cannot be converted into {target}.")
        return None if amount is None else {"amount": amount, "source": source, "target": target}
