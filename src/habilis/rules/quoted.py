"""What a question quotes: a call is given it as it stands, with nothing beside it that nobody gave."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from habilis.core.patterns import lazy_pattern
from habilis.core.types import Invocation
from habilis.rules.evidence import Evidence, plain, stands_in

QUOTED = lazy_pattern(
    r"(?<!\w)'([^'\n]{1,80})'(?!\w)|\"([^\"\n]{1,80})\"|“([^”\n]{1,80})”|„([^“\n]{1,80})“|「([^」\n]{1,80})」"
)
_TEXT_BEFORE = lazy_pattern(
    r"(?:\b(?:words?|texts?|strings?|phrases?|terms?|sentences?|substrings?|passwords?|wort|wörter|wortes|textes|satz"
    r"|zeichenkette|mots?|chaîne|palabras?|textos?|cadena|frase|слов[оа]|текста?|строк[аиу])|文本|单词|字符串)\s*:?\s*$",
    re.IGNORECASE,
)
_TEXT_AFTER = lazy_pattern(
    r"\s*(?:(?:という)?(?:単語|言葉|文字列)|(?:occurs?|appears?|vorkommt|vorkommen|apparaît|aparece|встречается)\b)",
    re.IGNORECASE,
)
"""What stands beside a quotation that is to be worked on: not every one is, some tell how to answer."""
_TO_BE_SAID = lazy_pattern(
    r"\b(?:answer|reply|respond|write|print|say|return|output|give|otherwise|else|antworte|schreibe?|gib|sonst"
    r"|réponds|répondez|écris|responde|escribe|ответь|напиши|иначе)\b(?:\s+\S+){0,4}\s*$",
    re.IGNORECASE,
)
_PLAIN_TEXT = lazy_pattern(r"[^\W\d]+(?:[\s-]+[^\W\d]+)*")
FEW_WORDS, SHORT_WORD = 3, 3
"""Words of a text that is handed on whole, letters of a word that tells little of a longer one."""
_BETWEEN = lazy_pattern(r"[\s_-]+")
_SIGN = lazy_pattern(r"[\W_]+")


def quotations(question: str) -> list[str]:
    """The texts that `question` quotes."""
    return [_inside(found) for found in QUOTED.finditer(question)]


def more_than_quoted(evidence: Evidence, calls: Sequence[Invocation]) -> tuple[Invocation, str, str, str] | None:
    """The first of `calls` that was given a quotation only with words beside it that nobody gave: the call, the
    argument's name and value, and the quotation."""
    headings = [column.name for column in evidence.columns]
    known = plain("\n".join([evidence.question, *evidence.known, *evidence.begins, *headings]))
    texts = quotations(evidence.question)
    for call in calls:
        given = {name: leaf for name, leaf in call.arguments.items() if isinstance(leaf, str)}
        whole = {plain(leaf) for leaf in given.values()}
        for name, leaf in given.items():
            for text in texts:
                if plain(text) not in whole and _PLAIN_TEXT.fullmatch(leaf) and _adds(plain(leaf), plain(text), known):
                    return call, name, leaf, text
    return None


def _adds(leaf: str, text: str, known: str) -> bool:
    """Whether `leaf` holds `text`, and beside it a word that stands in nothing known."""
    more = [word for word in _BETWEEN.split(leaf.replace(text, " ")) if word]
    return stands_in(text, leaf) and any(not stands_in(word, known) for word in more)


def left_out(evidence: Evidence, used: str) -> str:
    """A text of the question to work on that is nowhere in `used`, what calls were given and gave; else empty.

    Signs are not compared, so that a pattern may hold it. Of a longer text one of its longer words is enough: it may be
    looked for by a part.
    """
    bare = _SIGN.sub("", used)
    for text in _to_be_worked_on(evidence.question):
        words = [_SIGN.sub("", word) for word in plain(text).split()]
        parts = [word for word in words if len(word) > SHORT_WORD] if len(words) > FEW_WORDS else ["".join(words)]
        if parts and not any(part in bare for part in parts):
            return text
    return ""


def _to_be_worked_on(question: str) -> Iterator[str]:
    for found in QUOTED.finditer(question):
        ahead, behind = question[: found.start()], question[found.end() :]
        noun = _TEXT_BEFORE.search(ahead)
        if not noun and not _TEXT_AFTER.match(behind):
            continue
        if not _TO_BE_SAID.search(ahead[: noun.start()] if noun else ahead):
            yield _inside(found)


def _inside(found: re.Match[str]) -> str:
    text: str = next(filter(None, found.groups()))
    return text
