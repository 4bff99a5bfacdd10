"""Headings and lists of a note or of a plain list: which of them a question asks for."""

from __future__ import annotations

import re

from habilis.demo.families.asked import Match, Values, said_by
from habilis.demo.families.notes import Notes, own_stems, place_of, shows_numbers
from habilis.questions.language import number, stems
from habilis.questions.nouns import PEOPLE
from habilis.questions.operations import DemoOperation
from habilis.questions.prompts import SeenFile
from habilis.questions.world import MARK, DemoCall, World

_KINDS = ("open", "done", "dashed", "bulleted", "numbered", "boxes", "steps", "points")
_PARTS = r"(?:both|all|the|its|of|two|three|four)"
_SAYS_AGAIN = (
    r",? ?\(?(?:counting|including|with) (?:all )?(?:the )?"
    r"(?:characters(?: with| and| including)? (?:the )?spaces|spaces)\)?$",
    rf",? ?\(?(?:{_PARTS}|and|including|with|counting)(?: {_PARTS})* sub-? ?(?:headings?|sections?)"
    r"(?: (?:together|included|counted))?\)?$",
    r",? (?:all )?(?:together|combined|altogether|in total|overall|in all)$",
    r"[.,?!]? in (?:the )?(?:order (?:of|in) the (?:file|list|notes?)|their order|(?:the )?(?:same |given )?order)$",
    r"[.,?!]? in (?:the )?order (?:that |in which |as )?(?:they|it|these) (?:stand|appear|come|are|is|have)"
    r"(?: (?:there|listed|given|in it|in the (?:file|list|note)))*$",
    r",? (?:ticked or not|(?:whether )?(?:done|open|ticked) or (?:not|open|done)|no matter (?:if|whether) [\w ]+)$",
    r",? \(?(?:counting|including|of|on|at|with|across) (?:the headings of )?(?:any|all|every|whatever)(?: the)? "
    r"levels?\)?(?= are| is| exist| in|$)",
    r"\bopen (?=(?:points|tasks|items|actions|to-?dos)\b.*(?:\bnot\b|n't\b|\bun(?:ticked|checked)\b))",
    r"[.,;:]? ?\(?an? [\"']?x[\"']? (?:means|stands for|is for) (?:packed|done|ticked|bought|finished|checked)\)?$",
)
"""What a question may add without asking for anything else."""
_MARKS_SAID = re.compile(
    r" ?\((?:(?:the |only |i\.e\. )*(?:ones?|lines?|those|headings)? ?"
    r"(?:that )?(?:start(?:ing)?|begin(?:ning)?|marked) with )?"
    r"[\"'`]?(#{1,6}) ?[\"'`]?(?:,? (?:and )?not [\"'`]?#{1,6} ?[\"'`]?)?\)"
)
_OPEN_AGAIN = re.compile(
    r"(?: ?\((?:i\.e\.,? |that is,? |the |only |all )*|,? (?:i\.e\.|that is),? )(?:ones?|those|items?|lines|tasks)? ?"
    r"(?:that are |which are |still |with an? )*(?:(?:not (?:yet )?|un)(?:ticked|checked|done|packed)|open|"
    r"empty (?:check ?)?box(?:es)?)(?: off| yet)?(?: with an x)?(?:\)|$)",
    re.IGNORECASE,
)
_SAYS_OPEN = re.compile(r"\b(?:open|not|un\w+ed|still|missing|left|outstanding|pending|remain\w*|to do)\b|n't\b", re.I)
_DASHED = re.compile(
    r" ?\((?:the |all |i\.e\. )*(?:ones?|lines?|those|items?)? ?(?:that |which )?"
    r"(?:start|begin|are marked)(?:s|ning|ing)? with"
    r" (?:an? |the )?[\"'`]?(?:[-*•]|dash|hyphen|minus|star|asterisk|bullet)(?: sign)? ?[\"'`]?\)"
    r"| with (?:an? )?(?:bullet|dash|star) ?\(?[-*•]?\)?(?= (?:are|is)\b|$)",
    re.IGNORECASE,
)
_OF_LIST = re.compile(
    r" (?:are |is |stand |stands )?(?:on|in|of|from) the (numbered|ordered|bulleted) list\b", re.IGNORECASE
)
_ITEM = r"\b(?:items?|entr(?:y|ies)|things?|bullet points|bullets|points?)\b"
_LEVEL_WORD = re.compile(r"\blevel[- ](one|two|three|four|five|six)\b", re.IGNORECASE)
_PEOPLE_BELOW = re.compile(
    r"\b(?:people|persons|names)(?= (?:are |were |is )?(?:listed |named |given |mentioned )(?:under|below|in the)\b)",
    re.IGNORECASE,
)
_STATED = r"tick(?:ed)?|check(?:ed)?|pack(?:ed)?|buy|bought|done|do|finish(?:ed)?|complete(?:d)?|cross(?:ed)?"
_PUT_ON = re.compile(
    r"^(?:did|have|has) (?:i|we|she|he|they) (?:already )?(?:put|included?|listed?|written|write|noted?)(?: down)? "
    rf"(?:the |an? |any )?([\w -]+?)(?: down)? (?:on|in) ({MARK}[0-9]+|(?:the|my|our|this) (?:[\w-]+ )?(?:list|note))$",
    re.IGNORECASE,
)
_IS_ON = re.compile(
    r"^(?:is|are|were|was) (?!there\b)(?:(?:the|my|an?|any|some) )?(.+?) "
    r"(?:(?:listed|included|mentioned|also|written|down) )*"
    rf"(?:on|in|among|part of) ({MARK}[0-9]+|(?:the|my|our|this) (?:[\w-]+ )?(?:list|items|note))$",
    re.IGNORECASE,
)
_NO_ITEM = re.compile(
    r"\b(?:more|than|less|fewer|at least|exactly|duplicates?|doubles?|repeat\w*|twice|empty|blank|items?|lines?|order|"
    r"entr(?:y|ies)|things?|something|anything|everything|nothing|words?|numbers?|letters?|names?|longer|shorter|who|"
    r"alphabetical\w*|sorted|other|same|missing|every|all|only|most|average|total|sum|and|or|not|no|if|that|which|for|"
    r"with|to|from|starting|beginning|containing|fruits?|vegetables?|drinks?|beverages?|foods?|dairy|meats?|gear|pets?|"
    r"cloth(?:es|ing)|tools?|furniture|spices?|snacks?|toiletr(?:y|ies)|medicines?|electronics?|desserts?|animals?|"
    r"persons?|people|m[ae]n|wom[ae]n|boys?|girls?|equipment|sweets|produce|veggies?|section|heading|still|open|done|"
    r"left|errors?|mistakes?|typos?|tables?|links?|urls?|images?|pictures?|code|lists?|bullets?|title|"
    r"check ?box(?:es)?|dates?|e-?mails?|addresses|comments?|quotes?|paragraphs?|sentences?|emphasis|footnotes?)\b|\d",
    re.IGNORECASE,
)
"""What is asked about the list and no item of it, or may be a class of its items."""


class Outlines(Notes):
    """Family of questions about headings, items and check boxes, and of plain lists."""

    def fits(self, file: SeenFile) -> bool:
        return super().fits(file) and not shows_numbers(file)

    def noun_for(self, word: str, told: str, file: SeenFile) -> str:
        of_people = word.lower() in ("people", "persons") and own_stems(file) & PEOPLE
        return "item" if of_people else super().noun_for(word, told, file)

    def read(self, phrase: str, world: World) -> DemoCall | None:
        phrase = re.sub(rf" on the list(?= in {MARK}[0-9]+$)", "", phrase, flags=re.IGNORECASE)
        for way in (_IS_ON, _PUT_ON):
            phrase = way.sub(r"is there \1 in \2", phrase)
        return super().read(phrase, world)

    def worded(self, text: str, file: SeenFile) -> str:
        text = _LEVEL_WORD.sub(lambda match: f"level {number(match[1])}", text)
        if said := _MARKS_SAID.search(text):
            leveled = re.search(r"(?:level[- ]?|h)([1-6])\b", text, re.IGNORECASE)
            if leveled and int(leveled[1]) == len(said[1]):
                text = text.replace(said[0], "")
            elif not leveled:
                text = re.sub(r"\b(?=headings?\b)", f"level {len(said[1])} ", text.replace(said[0], ""))
        text = plainly(text)
        if _DASHED.search(text):
            if not re.search(_ITEM, _DASHED.sub("", text)):
                return ""
            text = re.sub(_ITEM, "dashed items", _DASHED.sub("", text), count=1)
        if said := _OF_LIST.search(text):
            kind = said[1].lower().replace("ordered", "numbered")
            text = re.sub(r"\b(?=(?:items?|entr(?:y|ies)|points?)\b)", f"{kind} ", _OF_LIST.sub("", text), count=1)
        return super().worded(_PEOPLE_BELOW.sub("items", text), file)

    def values(self, operation: DemoOperation, match: Match, world: World) -> Values | None:
        said = said_by(match)
        choice, section = _choice(said), said.get("section", "").strip("\"'`")
        if choice is None:
            return None
        if operation.key == "outline_items" and choice == "all" and not section and _of_people(world.question):
            choice = "once"
        known = {"section": section, "level": _level(said), "kind": _kind(said), "choice": choice}
        known |= {name: said[name].strip("\"'`") for name in ("item", "text") if name in said}
        known["rank"] = "lowest" if said.get("rank", "").lower() in ("fewest", "least") else "highest"
        if operation.key == "outline_has_item" and (_NO_ITEM.search(said["item"]) or len(said["item"].split()) > 4):
            return None
        if operation.key == "outline_is_ticked":
            return _ticked(said)
        roles = [slot.role for slot in operation.inputs if slot.role != "path"]
        return {role: known[role] for role in roles} if {*roles} <= {*known} else None


def _of_people(text: str) -> bool:
    """Whether a question may ask for people, of whom one may stand on several lines."""
    return bool({*stems(text)} & {*PEOPLE, "people"})


def plainly(text: str) -> str:
    """`text` without what says again what it asks for; a box said to be empty in brackets only, said outright."""
    if said := _OPEN_AGAIN.search(text):
        rest = text.replace(said[0], "")
        text = rest if _SAYS_OPEN.search(rest) else text.replace(said[0], " that are open")
    for way in _SAYS_AGAIN:
        text = re.sub(way, "", text, flags=re.IGNORECASE).strip(" ,")
    return text


def _ticked(said: dict[str, str]) -> Values | None:
    """An item and how its box is to be; what was done to it may be a word of the item: booked, of "Book the hostel"."""
    verb = said.get("verb", "done")
    item = said["item"] if re.fullmatch(_STATED, verb, re.IGNORECASE) else f"{verb} {said['item']}"
    if _NO_ITEM.search(said["item"]) or len(item.split()) > 6:
        return None
    return {"item": item, "kind": "open" if "open" in said else "done"}


def _level(said: dict[str, str]) -> str:
    if "level" in said or "marks" in said:
        return said.get("level") or str(len(said["marks"]))
    if "leveled" in said:
        nth = place_of(said["leveled"])
        return nth.removeprefix("nth ") if nth else ""
    return next((one for one in ("sections", "sub", "top", "title") if one in said), "all")


def _kind(said: dict[str, str]) -> str:
    return next((one for one in _KINDS if one in said), "items")


def _choice(said: dict[str, str]) -> str | None:
    """The choice among items; None where a number in it is none."""
    if place := said.get("place"):
        return place_of(place) or None
    if some := said.get("some"):
        way, _, many = some.lower().partition(" ")
        return f"{'start' if way == 'first' else 'end'} {number(many)}"
    for name in ("begins", "contains", "after", "before"):
        if name in said:
            return f"{name} {said[name].strip(chr(34) + chr(39) + '`')}"
    if "count" in said:
        count, how = number(said["count"]), said.get("how", "").lower()
        way = "greater" if how in ("more than", "over") else "less" if how in ("fewer than", "less than") else "equals"
        way = "at_least" if how == "at least" else "at_most" if how == "at most" else way
        kind = "letters" if "letters" in said else "words"
        return f"{kind} {way} {count}" if isinstance(count, int) else None
    ways = ("distinct", "longest", "shortest", "sorted", "firstsorted", "lastsorted")
    if "owner" in said:
        return f"of {said['owner']}" if said["owner"][:1].isupper() else None
    return next((one for one in ways if one in said), "all")
