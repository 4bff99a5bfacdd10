"""Notes and settings of keys and values: which key, or which two, a question means. The tool sees if they exist."""

from __future__ import annotations

import re

from habilis.demo.families.asked import Match, Values, said_by
from habilis.demo.families.notes import Notes, own_stems
from habilis.questions.language import stems
from habilis.questions.operations import DemoOperation
from habilis.questions.prompts import SeenFile
from habilis.questions.world import World

_SORTS = ("count", "much", "when", "who", "where")
_ASKS_MORE = re.compile(
    r"\b(?:average|mean|median|total|sum|most|least|fewest|longest|shortest|highest|lowest|largest|smallest|biggest|"
    r"cheapest|first|earliest|latest|why|how|what|which|all|every|each|many|much|summar\w*|words?|lines?|characters?|"
    r"letters?|count|number of (?:words|lines|items)|between|percent\w*|share|hash|checksum|matches|occurrences?|"
    r"frequent|common|not|without|besides|except|other|more|less|than|today|now|yes|no|or)\b",
    re.IGNORECASE,
)
_NO_KEY = re.compile(r"(?:is|are|does|do|did|was|were|has|have|can|will)\b", re.IGNORECASE)
_SAYS_AGAIN = (
    r" ?\((?:the )?(?:second|later)(?: (?:date|one|value))? minus (?:the )?(?:first|earlier)(?: (?:date|one|value))?\)",
    r",? (?:in|as) (?:the )?order (?:of|in) the file$",
    r"[.?;,] ?(?:please )?(?:list|give|name) them in (?:the )?order(?: of the file| as in the file)?$",
)
_TURNED = {"enabled": "enabled = true", "active": "enabled = true", "disabled": "enabled = false"}
_LIKE_SECTIONS = (".ini", ".cfg", ".conf", ".toml", ".yaml", ".yml")


class Entries(Notes):
    """Family of questions about values by their key."""

    def worded(self, text: str, file: SeenFile) -> str:
        for way in _SAYS_AGAIN:
            text = re.sub(way, "", text, flags=re.IGNORECASE).strip(" ,")
        return text

    def values(self, operation: DemoOperation, match: Match, world: World) -> Values | None:
        said = {key: _bare(text) for key, text in said_by(match).items()}
        if operation.key == "entry_value":
            if "unit" in said and not {*stems(said["unit"])} <= own_stems(world.files[0]):
                return None
            return _value(said, match)
        if operation.key == "entry_is":
            return {"section": said.get("section", ""), "key": said["key"], "wanted": said["wanted"]}
        if operation.key.startswith("entry_group"):
            measure = next(one for one in ("range", "sum", "mean", "maximum", "minimum") if one in said)
            known = {"measure": measure, "rank": "lowest 1" if measure == "minimum" else "highest 1", **said}
            return {slot.role: known[slot.role] for slot in operation.inputs if slot.role in known}
        if operation.key == "entries_apart":
            return _apart(said)
        if operation.key == "entry_keys":
            return {"section": said.get("section", "")}
        if not world.files[0].named.lower().endswith(_LIKE_SECTIONS) and "name" not in said:
            return None
        return _sections(said)


def _bare(text: str) -> str:
    return text.strip().strip("\"'`").strip()


def _value(said: dict[str, str], match: Match) -> Values | None:
    sort = next((one for one in _SORTS if one in said), "any")
    keys = [_bare(text) for name, text in match.groupdict().items() if text and name.startswith(("key", *_SORTS))]
    if "at" in said:
        sort, keys = "when", [f"{said['at']} time"]
    key = re.sub(r"^(?:the|my|our|your) ", "", " ".join(keys), flags=re.IGNORECASE)
    more = _ASKS_MORE.search(key) and match[0][:1] not in "\"'`"
    if not key or more or _NO_KEY.match(key):
        return None
    return {"section": said.get("section", ""), "key": key, "sort": sort}


def _apart(said: dict[str, str]) -> Values | None:
    """Two keys; of "the new rent … the old one" the other is the old rent."""
    first, second = said["first"], said["second"]
    if elliptic := re.fullmatch(r"(\w+) one|that of (?:the )?(\w+)", second, re.IGNORECASE):
        _, _, rest = first.partition(" ")
        second = f"{elliptic[1] or elliptic[2]} {rest}"
    if any(_ASKS_MORE.search(one) for one in (first, second)):
        return None
    ways = ("days", "apart", "sum", "percent", "ratio", "higher", "lower")
    measure = next((one for one in ways if one in said), "difference")
    return {"first": first, "second": second, "measure": measure}


def _sections(said: dict[str, str]) -> Values | None:
    if "flag" in said:
        on = "true" if said["flag"].lower().endswith("on") else "false"
        return {"condition": _TURNED.get(said["flag"].lower(), f"enabled = {on}")}
    if "name" not in said:
        return {"condition": ""}
    name = said["name"].lower()
    if name in _TURNED and "value" not in said:
        return {"condition": _TURNED[name]}
    return {"condition": f"{said['name']} = {said['value']}" if "value" in said else said["name"]}
