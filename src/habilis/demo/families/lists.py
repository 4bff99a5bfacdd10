"""Statistics of numbers that stand in the question itself."""

from __future__ import annotations

import re

from habilis.demo.families.asked import AskedPatterns
from habilis.questions.world import DemoCall, World

_GIVEN = re.compile(
    r"(?:given|for|with|of|from|in|take|consider)?(?: (?:the|these|this|following))*"
    r"(?: ?(?:numbers|values|list|data|data ?set|sample))?:? ?"
    r"(?P<list>[\[({]?[-+0-9][-+0-9.,; ]*(?: ?and [-+0-9.]+)?[\])}]?)[,:;.?]? "
    r"(?:what(?: is|'s|s| are)?|calculate|compute|find|determine) (?:the )?(?P<asked>.+)",
    re.IGNORECASE,
)


class Lists(AskedPatterns):
    """Family of statistics of listed numbers; at least two numbers, and nothing else, must be listed."""

    def read(self, phrase: str, world: World) -> DemoCall | None:
        given = _GIVEN.fullmatch(phrase)
        return self.asked(f"{given['asked']} of {given['list']}" if given else phrase, world)
