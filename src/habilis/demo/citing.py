"""Questions that only the user's documents can answer: looked up there, and answered with a sentence and its source.

This model understands none of it. It gives the sentence that shares most words with the question, letter by letter, and
says where it stands; a sentence that shares few is no answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from habilis.questions.language import core, squeeze

TOOL = "search_documents"
_ABOUT = re.compile(
    r"(?:what )?(?:does |do |did )?(?:any of )?(?:the |our |my |your |these )[\w' -]{1,60}? "
    r"(?:say|tell|state|mention)s?(?: us| me)? (?:about|on|regarding) (.+)",
    re.IGNORECASE,
)
_ACCORDING = re.compile(r"according to (?:the|our|my|your|these) [\w' -]{1,60}?, (.+)", re.IGNORECASE)
_ASIDE = re.compile(
    r",? (?:according to|in) (?:the|our|my|your|these) (?:document|handbook|manual|guide|note|file)s?$", re.I
)
_BY_WORDS = frozenset(
    """a about all an and any are as at be by can could did do does for from get had has have how i in is it its many me
    much my of on one or our should that the their there these they this to us was we were what when where which who why
    will with would you your""".split()  # noqa: SIM905
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_SHARE = 0.6
"""Share of a question's words that a sentence and its headings must have to count as an answer."""
_LETTERS = 5
"""Words that begin with the same so many letters count as the same: employee, employees."""


def subject(question: str) -> str:
    """What a question wants to know, without where to look for it."""
    text = core(re.sub(r"^what(?='s| does| do| did)\s*", "", squeeze(question), flags=re.IGNORECASE))
    found = _ABOUT.match(text) or _ACCORDING.match(text)
    return _ASIDE.sub("", core(found[1]) if found else text)


def call_for(question: str, tools: Sequence[Mapping[str, Any]]) -> tuple[str, dict[str, str]] | None:
    """The search that the question calls for, if a tool for it is bound."""
    names = [str(tool.get("function", tool).get("name", "")) for tool in tools]
    name = next((name for name in names if name.startswith(TOOL)), None)
    wanted = subject(question)
    return (name, {"query": wanted}) if name and _words(wanted) else None


def answer(question: str, tool: str, arguments: Mapping[str, Any], output: Mapping[str, Any]) -> str | None:
    """The sentence of `output` that answers best, with its source and a conclusion; None where none does."""
    wanted = _words(subject(question))
    best: tuple[float, str, str] | None = None
    for passage in output.get("passages") or ():
        source, text = str(passage.get("source", "")), str(passage.get("text", ""))
        for sentence in filter(None, (part.strip(" -*|\t") for part in _SENTENCE.split(text))):
            share = len(wanted & _words(f"{source} {sentence}")) / len(wanted)
            own = len(wanted & _words(sentence)) / len(wanted)
            if own and share >= _SHARE and (best is None or share + own > best[0]):
                best = (share + own, sentence, source)
    if best is None:
        return None
    said, source = best[1], best[2]
    found = f'In {source} stands: "{said}" (from `{tool}` with {json.dumps(dict(arguments), ensure_ascii=False)}).'
    return f"{found}\nConclusion: {said} [{source}]"


def _words(text: str) -> frozenset[str]:
    words = re.findall(r"[^\W_]+", text.casefold())
    return frozenset(word[:_LETTERS] for word in words if word not in _BY_WORDS)
