"""A file that a question names by the words of its name only, and words as people type them in a hurry."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from habilis.questions.language import QUOTED
from habilis.questions.prompts import SeenFile

_NOUN = r"(?:(?:csv|tsv|text|data|excel) )?(?:file|sheet|spreadsheet|list|table|data|csv|tsv|export|document|log|page)"
_LISTED = r"(?:list|log|diary|record|journal|table|sheet|spreadsheet|file|register|roster|rota|book|data)"
_OURS = r"(?:the|my|our|this|that)"
_BEFORE = r"(?:in|inside|from|of|see|check|use|using|at|to|on|per|by|with|through)"
_ENDS = r"(?=\s*[,.?!;:)]|\s*$| (?:and|please|so|thanks|for me)\b)"
_GOES_ON = rf"(?:{_ENDS}|(?= (?:are|is|were|was|do|does|did|have|has|that|which|with|where)\b))"
_FILE_LIKE = re.compile(
    r"\w\.(?:csv|tsv|tab|jsonl?|txt|text|md|markdown|log|dat|ini|cfg|conf|ya?ml|xml|html?)\b", re.IGNORECASE
)
_HURRIED = {
    "whats": "what's", "whos": "who's", "dont": "don't", "doesnt": "doesn't", "didnt": "didn't", "havent": "haven't",
    "hasnt": "hasn't", "isnt": "isn't", "arent": "aren't", "wasnt": "wasn't", "werent": "weren't", "im": "I'm",
    "ive": "I've", "i": "I", "i'm": "I'm", "i've": "I've", "pls": "please", "plz": "please", "thx": "thanks",
    "ppl": "people",
}  # fmt: skip
_ASKING = set(
    """different difference average highest longest shortest biggest smallest largest cheapest percentage between
    altogether expensive maximum minimum heaviest""".split()  # noqa: SIM905
)
"""Long words that say what is asked, so that a slip of the finger is told from another word."""
_THANKS = re.compile(
    r"[,.!?] *(?:many )?(?:thanks|thank you|cheers|ta)(?: in advance| a lot| very much)?[.!]*$", re.IGNORECASE
)


def spelled_out(question: str, shown: str = "") -> str:
    """`question` with apostrophes where people leave them out, without thanks, and with the words that say what is
    asked as they are spelled, unless a slip stands in what is `shown` of the files; what is quoted stays."""

    def told(match: re.Match[str]) -> str:
        if match[1]:
            return match[1]
        word = match[0][0].lower() + match[0][1:]
        if word in _HURRIED and word not in ("i", "i'm", "i've"):
            said = _HURRIED[word]
            return said[0].upper() + said[1:] if match[0] != word else said
        return _HURRIED.get(match[0]) or _respelled(match[0], shown)

    text = re.sub(rf"({QUOTED})|(?<![\w'./@-])[A-Za-z]?[a-z']+(?![\w'/@-]|\.\w)", told, question)
    return _THANKS.sub(lambda match: "?" if "?" in match[0] else "", text) or question


def _respelled(word: str, shown: str) -> str:
    """A long word that is one slip away from one that says what is asked, or from a word of a column's name."""
    if len(word) < 6 or not word.islower() or word in _ASKING or word.endswith(("s", "ed", "ly")):
        return word
    header = {one.lower() for one in re.findall(r"[^\W\d_]{6,}", shown.partition("\n")[0])} - _ASKING
    meant = [one for one in _ASKING | header if _one_slip(word, one, other=one in _ASKING)]
    return meant[0] if len(meant) == 1 and word not in shown.lower() else word


def _one_slip(typed: str, meant: str, *, other: bool = True) -> bool:
    """Whether two words differ by one letter too many or too few, by two that changed places, or, with `other`, by one
    that is another: of the names of columns, weight is no height."""
    if abs(len(typed) - len(meant)) > 1 or typed == meant:
        return False
    pairs = enumerate(zip(typed, meant, strict=False))
    same = next((i for i, (a, b) in pairs if a != b), min(len(typed), len(meant)))
    left, right = typed[same:], meant[same:]
    swapped = left[:2] == right[:2][::-1] and left[2:] == right[2:] and len(left) > 1
    return swapped or left[1:] == right or left == right[1:] or (other and left[1:] == right[1:])


def with_file_named(question: str, files: Sequence[SeenFile]) -> str:
    """`question` with the name of the task's one file where it says it in words: "in my run log", "the run_log file".

    A word alone means the file only before a noun such as "list", for it may mean what the file holds; several words,
    where they end a phrase of place.
    """
    if len(files) != 1 or _FILE_LIKE.search(question):
        return question
    named = files[0].named
    stem = PurePosixPath(named).stem
    words = [word for word in re.findall(r"[^\W_]+", stem) if word.lower() not in ("my", "our", "the")]
    if not words or files[0].named in question:
        return question
    said = r"[\W_]+".join(map(re.escape, words))
    exact = rf"(?<![\w/]){re.escape(stem)}(?![\w/.])" if re.search(r"[_-]", stem) else r"(?!)"
    forms = [(rf"(?:\b{_OURS} )?{exact}(?: {_NOUN}\b)?", named), (rf"\b(?:{_OURS} )?{said} {_NOUN}\b", named)]
    own = "|".join(map(re.escape, words))
    partly = rf"\b(?:{_BEFORE}|over|on) {_OURS} (?:whole |entire |full )?(?:(?:{own}) )+{_LISTED}{_GOES_ON}"
    forms += [(partly, rf"in {_plain(named)}")]
    if any(re.fullmatch(_LISTED, word, re.IGNORECASE) for word in words):
        forms += [
            (rf"\b(?:{_BEFORE}|over|on) {_OURS} (?:whole |entire |full )?{_LISTED}{_GOES_ON}", rf"in {_plain(named)}")
        ]
    if len(words) > 1:
        forms += [(rf"\b({_BEFORE}) {_OURS} {said}\b{_ENDS}", rf"\1 {_plain(named)}"), (rf"^{said}(?=: )", named)]
    for form, told in forms:
        told_so = told if told != named else lambda _: named
        text = re.sub(form, told_so, question, count=1, flags=re.IGNORECASE)
        if text != question:
            return text
    return question


def _plain(text: str) -> str:
    return text.replace("\\", r"\\")
