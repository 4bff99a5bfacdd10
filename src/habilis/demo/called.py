"""A file that a question names by the words of its name only, and words as people type them in a hurry."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from habilis.questions.language import QUOTED
from habilis.questions.prompts import SeenFile

_NOUN = r"(?:(?:csv|tsv|text|data|excel) )?(?:file|sheet|spreadsheet|list|table|data|csv|tsv|export|document|log|page)"
_OURS = r"(?:the|my|our|this|that)"
_BEFORE = r"(?:in|inside|from|of|see|check|use|using|at|to|on|per|by|with|through)"
_ENDS = r"(?=\s*[,.?!;:)]|\s*$| (?:and|please|so|thanks|for me)\b)"
_FILE_LIKE = re.compile(
    r"\w\.(?:csv|tsv|tab|jsonl?|txt|text|md|markdown|log|dat|ini|cfg|conf|ya?ml|xml|html?)\b", re.IGNORECASE
)
_HURRIED = {
    "whats": "what's", "whos": "who's", "dont": "don't", "doesnt": "doesn't", "didnt": "didn't", "havent": "haven't",
    "hasnt": "hasn't", "isnt": "isn't", "arent": "aren't", "wasnt": "wasn't", "werent": "weren't", "im": "I'm",
    "ive": "I've", "i": "I", "i'm": "I'm", "i've": "I've", "pls": "please", "plz": "please", "thx": "thanks",
    "ppl": "people",
}  # fmt: skip
_THANKS = re.compile(
    r"[,.!?] *(?:many )?(?:thanks|thank you|cheers|ta)(?: in advance| a lot| very much)?[.!]*$", re.IGNORECASE
)


def spelled_out(question: str) -> str:
    """`question` with apostrophes where people leave them out, and without thanks; what is quoted stays."""

    def told(match: re.Match[str]) -> str:
        return match[1] or _HURRIED.get(match[0], match[0])

    text = re.sub(rf"({QUOTED})|(?<![\w'./@-])[a-z']+(?![\w'/@-]|\.\w)", told, question)
    return _THANKS.sub(lambda match: "?" if "?" in match[0] else "", text) or question


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
    if len(words) > 1:
        forms += [(rf"\b({_BEFORE}) {_OURS} {said}\b{_ENDS}", rf"\1 {_plain(named)}"), (rf"^{said}(?=: )", named)]
    for form, told in forms:
        text = re.sub(form, told if told.startswith("\\1") else lambda _: named, question, count=1, flags=re.IGNORECASE)
        if text != question:
            return text
    return question


def _plain(text: str) -> str:
    return text.replace("\\", r"\\")
