"""Questions that lean on the ones before them: "and times two?", "what about the median?", "and in b.csv?".

Such a question is written out so that it stands for itself, with the answer before it or in the words of the question
before it, and then understood like any other. Where two ways of writing it out would mean different things, or none
is understood, it stays as it is: this model does not guess.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from habilis.demo.understanding import Unclear, Understood, understand
from habilis.questions.language import core, number
from habilis.questions.prompts import Seen, SeenFile

Exchange = tuple[str, str]
"""A question and its answer."""
FARTHEST = 8
"""Questions back that one may lean on another over others in between."""
LONGEST_FRAGMENT, LONGEST_PLACE = 10, 4
"""Words of a question that may take the place of part of another, and of the part."""

_ABOUT = re.compile(r"(?:what about|how about|(?:and )?the same (?:thing )?(?:for|with|in|of))[,:]? +", re.IGNORECASE)
_ASKS = re.compile(r"(?:what|who|whose|how|when|where|why|which|is|are|was|were|does|do|did|can)\b", re.IGNORECASE)
_WHERE = re.compile(r"(?:for|in|of|with|from|on|by|at) +", re.IGNORECASE)
_JOINING = re.compile(r"^(?:(?:and|now|then|also|so|but|ok|okay|please)\b[,:]? *)+", re.IGNORECASE)
_OPERATOR = re.compile(
    r"(?:times|multiplied|divided|plus|minus|squared|cubed|mod(?:ulo)?|(?:raised )?to the power)\b|[-+*/×÷^]",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"(?:many )?thanks?(?: you)?(?: very much| a lot)?|hello|hi|hey|yes|no|ok(?:ay)?|good|great", re.IGNORECASE
)
_EVERY = re.compile(r"\b(?:all|every|each)\b", re.IGNORECASE)
_VERB = re.compile(r"(add|subtract|multiply|divide)(?: (?:it|that|this))? ?(?:(?:by|with) )?(.+)", re.IGNORECASE)
_VERBS = {"add": "plus", "subtract": "minus", "multiply": "times", "divide": "divided by"}
_IT = re.compile(
    r"\b(?:it|that|this|(?:the|that|this|your) (?:(?:last|previous) )?(?:result|answer|number|value))\b"
    r"(?! (?:file|table|column))",
    re.IGNORECASE,
)


def understood(seen: Seen) -> Understood | Unclear:
    """What the question of a prompt asks for, with what came before it in its conversation."""
    found = understand(written_out(seen), seen.files, seen.missing)
    if seen.earlier and isinstance(found, Understood) and found.is_column and not _EVERY.search(seen.question):
        return Unclear("it does not know whether all rows are meant, or those of the question before")
    return found


def written_out(seen: Seen) -> str:
    """The question of a prompt, so that it stands for itself."""
    return _standing(seen.question, seen.files, seen.missing, seen.earlier[-FARTHEST:])


@lru_cache(maxsize=512)
def _standing(
    question: str, files: tuple[SeenFile, ...], missing: tuple[str, ...], earlier: tuple[Exchange, ...]
) -> str:
    if not earlier:
        return question
    asked, answered = earlier[-1]
    found = understand(question, files, missing)
    if isinstance(found, Understood) and not found.is_guess and not (_goes_on(question) or _IT.search(question)):
        return question
    for way in ("answer", "file", "question"):
        if way == "answer":
            texts = _with_answer(question, answered)
        elif way == "file":
            texts = _with_file(question, files)
        else:  # only now, for this takes longer
            texts = _in_place(question, _standing(asked, files, (), earlier[:-1]))
        plain: dict[str, str] = {}
        queries: dict[str, str] = {}
        for text in texts:
            found = understand(text, files, missing)
            if isinstance(found, Understood) and not found.is_guess:
                meanings = queries if found.is_query else plain
                meanings.setdefault(repr((found.steps, found.asked)), text)
        if meanings := plain or queries:
            return next(iter(meanings.values())) if len(meanings) == 1 else question
    return question


def _goes_on(question: str) -> bool:
    """Whether `question` begins with an operator in words: "minus 1" is a question, but not in a conversation."""
    found = _OPERATOR.match(_unjoined(question))
    return found is not None and found[0][0].isalpha()


def _with_answer(question: str, answer: str) -> list[str]:
    """`question` with the number that was the answer before it: in front of an operator, or in the place of "it"."""
    value = number(answer.strip())
    if value is None:
        return []
    shown = f"({value})" if value < 0 else str(value)
    fragment = core(_ABOUT.sub("", question.strip(), count=1))
    if _OPERATOR.match(fragment):
        return [f"What is {shown} {fragment}?"]
    if verb := _VERB.fullmatch(fragment):
        return [f"What is {shown} {_VERBS[verb[1].lower()]} {verb[2]}?"]
    return [_IT.sub(shown, question)] if _IT.search(question) else []


def _with_file(question: str, files: Sequence[SeenFile]) -> list[str]:
    """`question` with the only file there is in the place of "it"."""
    return [_IT.sub(files[0].named, question)] if len(files) == 1 and _IT.search(question) else []


def _in_place(question: str, before: str) -> list[str]:
    """The question `before` with `question`, which is no whole one, in the place of each part of it."""
    about = _ABOUT.search(question)
    fragment = core(question[about.end() :] if about else question)
    whole = (not about and _ASKS.match(_unjoined(question))) or _POLITE.fullmatch(fragment)
    if whole or not 0 < len(fragment.split()) <= LONGEST_FRAGMENT:
        return []
    words = before.rstrip(" ?.!").split()
    bare = _WHERE.sub("", fragment, count=1)
    found = [f"{' '.join(words)} {fragment}?"] if bare != fragment else []
    for length in range(1, LONGEST_PLACE + 1):
        for start in range(len(words) - length + 1):
            for part in dict.fromkeys([bare, re.sub(r"^the ", "", bare, flags=re.IGNORECASE)]):
                found.append(" ".join([*words[:start], part, *words[start + length :]]) + "?")
    return found


def _unjoined(question: str) -> str:
    """`question` without the words that only join it to what came before."""
    return _JOINING.sub("", question.strip())
