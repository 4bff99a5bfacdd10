"""Lists below headings or behind names: which of them is longest, and which people are in which."""

from __future__ import annotations

from habilis.demo.families.asked import Match, Values, said_by
from habilis.demo.families.notes import Notes
from habilis.demo.families.outlines import plainly
from habilis.questions.language import number, stems
from habilis.questions.nouns import PEOPLE
from habilis.questions.operations import DemoOperation
from habilis.questions.prompts import SeenFile
from habilis.questions.world import World

_KINDS = {
    **dict.fromkeys(("item", "entry", "thing", "bullet point", "bullet", "point", "name"), "items"),
    **dict.fromkeys(("box", "checkbox", "check box", "task", "todo", "to do"), "boxes"),
}
_WAYS = {"more than": "greater", "at least": "at_least", "fewer than": "less", "less than": "less"}


class Rosters(Notes):
    """Family of questions that compare lists, or ask who is in which."""

    def worded(self, text: str, file: SeenFile) -> str:
        return plainly(text)

    def values(self, operation: DemoOperation, match: Match, world: World) -> Values | None:
        said = said_by(match)
        if operation.key == "roster_top":
            return _top(said)
        if operation.key == "roster_often":
            return _often(said)
        return {slot.role: said[slot.role] for slot in operation.inputs if slot.role != "path"}


def _top(said: dict[str, str]) -> Values | None:
    """Whose headings are people has owners, no lists; a word that is no sort of item must mean people."""
    if {*stems(said.get("noun", ""))} & {*PEOPLE, "people", "who"}:
        return None
    what = " ".join(stems(said["what"]))
    kind = _KINDS.get(what, "people" if what == "people" or {what} <= PEOPLE else "")
    state = next((one for one in ("open", "done") if one in said), "")
    if not kind or (state and kind == "people"):
        return None
    return {
        "within": said.get("within", ""),
        "kind": state or kind,
        "rank": "lowest" if "lowest" in said else "highest",
    }


def _often(said: dict[str, str]) -> Values:
    if "most" in said:
        return {"condition": "highest"}
    way = "at_least" if "more" in said else _WAYS.get(said.get("how", "").lower(), "equals")
    return {"condition": f"{way} {number(said['count'])}"}
