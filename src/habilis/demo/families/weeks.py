"""Opening hours in a JSON document: which object with days of the week a question means, and what it asks of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from habilis.demo.families.asked import AskedPatterns, Match, Values, said_by
from habilis.demo.families.json_tables import document_of, file_words
from habilis.questions.language import stems
from habilis.questions.operations import DemoOperation
from habilis.questions.prompts import SeenFile
from habilis.questions.world import World

_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\.?"
_DAYS = re.compile(rf"{_DAY}(?: ?(?:-|–|to) ?{_DAY})?", re.I)
_ANY = {"it", "we", "you", "they", "place"}
_SHOPS = {"shop", "store", "business"}
_SAYS_NOTHING = {"the", "our", "your", "my", "opening", "hour", "time"}


class Weeks(AskedPatterns):
    """Family of questions about opening hours."""

    def values(self, operation: DemoOperation, match: Match, world: World) -> Values | None:
        said = said_by(match)
        keys = _meant(document_of(world.files[0]), world.files[0], {*stems(said["name"])} - _SAYS_NOTHING)
        if keys is None or re.search(r"\b(?:not|or|and)\b", match[0]):
            return None
        day = said.get("day", "").title()
        if operation.key == "week_open":
            time = said.get("time", "").replace("noon", "12:00")
            state = "open" if said.get("state", "open").lower() == "open" else "closed"
            return {"keys": keys, "day": "weekend" if day == "Weekend" else day, "time": time, "state": state}
        if day == "Weekend":
            return None
        if operation.key == "week_days":
            ends = {"closes": "closes", "opens": "opens", "long": "open"}
            ranked = next((f"{way} {said[name].lower()}" for name, way in ends.items() if name in said), "")
            return {"keys": keys, "choice": ranked or said["choice"].lower()}
        if operation.key == "week_hours":
            return {"keys": keys, "day": day}
        end = "opens" if "from" in said or said.get("end", "").lower() == "open" else "closes"
        return {"keys": keys, "day": day, "end": end}


def _meant(document: Any, file: SeenFile, said: set[str]) -> str | None:
    """The keys of the hours that words mean: of the only ones, or of those below a key that has these words."""
    found = list(_weeks(document, ()))
    title = {word for one in _titles(document) for word in stems(one)}
    own = file_words(file) | title
    fitting = [keys for keys in found if said <= own | {word for key in keys for word in stems(key)}]
    if len(found) > 1:
        fitting = [keys for keys in fitting if said & {*stems(keys[-1])}] if all(found) else []
    elif len(said) == 1 and said <= _ANY | _SHOPS:
        fitting = found
    return "/".join(fitting[0]) if len(fitting) == 1 and said and not any("/" in key for key in fitting[0]) else None


def _weeks(value: Any, keys: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Where the objects stand whose keys are days of the week."""
    if isinstance(value, dict) and len(value) > 1 and all(_DAYS.fullmatch(key) for key in value):
        yield keys
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _weeks(one, (*keys, key))


def _titles(document: Any) -> list[str]:
    """What the document says that it is about."""
    names = ("name", "title", "shop", "place", "library", "business")
    plain = document.items() if isinstance(document, dict) else ()
    return [part for key, one in plain if key in names and isinstance(one, str) for part in (key, one)]
