"""What families of questions about notes, lists and settings have in common: text files that show no table."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from habilis.demo.families.asked import AskedPatterns
from habilis.questions.language import number, stems
from habilis.questions.prompts import SeenFile
from habilis.questions.shown_tables import header_of, is_among_words
from habilis.questions.world import MARK, CannotAnswerError, DemoCall, World, is_table

_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()  # noqa: SIM905
_HERE = re.compile(
    r"(?:,? (?:on|in|from|of|within|inside|does|according to) (?:the|my|our|this|that) (?:whole |entire )?"
    r"(?:(?P<of>[\w-]+) )?(?:list|notes?|file|document|outline|settings|config(?:uration)?(?: file)?))"
    r"(?= (?:have|contain|include)\b|$)",
    re.IGNORECASE,
)
_HAS = re.compile(r"^((?:which|what) .+?) (?:does|do)(?: it)? (?:have|contain|list|include)$", re.IGNORECASE)
_EACH_LINE = (
    r"[?.,;(]? ?\(?(?:each|every|one) (?:line|row|entry|number) (?:is|has|stands for|means|holds|contains|per)"
    r"(?: (?:one|a|an|the|single))? (?P<noun>\w+)(?: in [a-z]+)?\)?"
)
_EACH_NOUN = r"[?.,;(]? ?\(?(?:there is )?one (?P<noun>\w+) (?:per|on each|in each|for each) line\)?"
_NUMBERED = re.compile(r"(?:[^:=]{1,60}?(?:: +| *= *))?[€$£]?[-+]?\d[\d,]*(?:\.\d+)?(?: ?[^\W\d]{1,6}|%)?")

_DOING = re.compile(r"\b(?:did|do|does|will|to) (?:i |we |she |he |they |you )?$", re.IGNORECASE)
"""Behind these a word is what somebody does."""


class Notes(AskedPatterns):
    """A family about one text file, whose tools see what it holds."""

    def fits(self, file: SeenFile) -> bool:
        """Whether a file may be one of the family's, as far as a prompt shows it."""
        return not shows_table(file)

    def noun_for(self, word: str, told: str, file: SeenFile) -> str:
        """What a word of a question stands for here; `told` is what the question calls a line. '' for any other."""
        return "item" if {*stems(word)} <= own_stems(file) | {*stems(told)} else ""

    def read(self, phrase: str, world: World) -> DemoCall | None:
        try:
            taken = world.take_file(phrase, self.endings)
        except CannotAnswerError:
            return None
        if taken is None or (MARK not in phrase and len(world.files) != 1) or not self.fits(taken[1]):
            return None
        text = _HERE.sub(lambda match: _here(match, taken[1]), taken[0].strip())
        return self.asked(self.worded(_HAS.sub(r"\1", text), taken[1]), world, taken[1])

    def worded(self, text: str, file: SeenFile) -> str:
        """`text` with what a line of the file is called in one word, and without what says only that."""
        told = ""
        for way in (_EACH_LINE, _EACH_NOUN):
            if match := re.search(rf"{way}$", text, re.IGNORECASE):
                told, text = match["noun"], text[: match.start()].strip(" ?.,;")

        def said(match: re.Match[str]) -> str:
            is_done = _DOING.search(match.string[: match.start()])
            noun = self.noun_for(match[0], told, file) if stems(match[0]) and not is_done else ""
            plural = match[0].lower().endswith("s") or match[0].lower() == "people"
            return f"{noun}s" if noun and plural else noun or match[0]

        return re.sub(r"(?<![\w\"'-])[A-Za-z]+(?![\w\"'-])", said, text)


def _here(match: re.Match[str], file: SeenFile) -> str:
    """Nothing for the file as "the list" or "the packing list"; as it is where another list may be meant."""
    return "" if {*stems(match["of"] or "")} <= own_stems(file) else match[0]


def own_stems(file: SeenFile) -> set[str]:
    """The words of a file's name that may say what stands in it."""
    return {*stems(PurePosixPath(file.named).stem)} - {"list", "note", "my", "the", "all", "number", "data"}


def shows_numbers(file: SeenFile) -> bool:
    """Whether each line that a prompt shows is a number, alone or behind a name."""
    lines = [line.strip() for line in file.begins.splitlines() if line.strip()]
    return bool(lines) and all(_NUMBERED.fullmatch(line) for line in lines)


def shows_table(file: SeenFile) -> bool:
    """Whether the first lines that a prompt shows of a text are those of a table."""
    return bool(file.begins) and is_table(file) and header_of(file) is not None and not is_among_words(file)


def place_of(text: str) -> str:
    """ "third", "3rd", "last" or "second to last" as `nth 3`, `last 1`, `last 2`."""
    said = text.lower()
    if said in ("last", "final"):
        return "last 1"
    if said in ("penultimate", "last but one") or re.fullmatch(r"second[- ](?:to[- ]|from )?last", said):
        return "last 2"
    if said in _ORDINALS:
        return f"nth {_ORDINALS.index(said) + 1}"
    count = number(re.sub(r"(?:st|nd|rd|th)$|^(?:number|no\.?|#) ?", "", said))
    return f"nth {count}" if isinstance(count, int) and count > 0 else ""
