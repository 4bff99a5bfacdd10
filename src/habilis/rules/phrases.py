"""How people and models say that something went wrong: an exception's text, a task that was not done."""

from __future__ import annotations

import re

from habilis.core.patterns import lazy_pattern


def _any(*ways: str, flags: int = 0) -> re.Pattern[str]:
    return lazy_pattern("|".join(ways), flags)


EXCEPTION = _any(
    r"\b[A-Z]\w*(?:Error|Exception)\b\s*[:(]",
    r"\bTool call '[^'\n]+' was not run\b",
    r"Traceback \(most recent call last\)",
    r"\[Errno \d+\]",
    r"\bNo such file or directory\b",
    r"\bPermission denied\b",
)
"""The text of an error as Python and the system write it."""

_THING = r"\b(?:file|tool|column|path|document|folder|data)\b[^\n]{0,60}?"
_ASKED_FOR = r"\b(?:information|data|answer|value|result|what was asked(?: for)?)s?\b"
UNDONE = _any(
    r"\b(?:i|we) (?:am|are|was|were) (?:not able|unable)\b",
    r"\b(?:i|we) (?:can ?not|can['’]t|could not|couldn['’]t|do not know|don['’]t know|do not have|don['’]t have)\b",
    r"\b(?:i|we) (?:did not find|didn['’]t find|failed to)\b",
    r"\b(?:can ?not|can['’]t|could not|couldn['’]t) be (?:determined|computed|calculated|found|read|opened|answered)\b",
    r"\b(?:can ?not|can['’]t|could not|couldn['’]t) be (?:completed|accessed|retrieved|processed|provided|verified)\b",
    r"\b(?:can ?not|can['’]t|could not|couldn['’]t) be (?:told|said|known)\b",
    r"\b(?:unable|not possible|impossible) to (?:determine|compute|calculate|find|read|open|answer|complete)\b",
    r"\b(?:unable|not possible|impossible) to (?:access|retrieve|process|provide|say|tell)\b",
    rf"{_THING}\b(?:(?:was|were|be) not found|not be found|(?:does|do|did) not exist)\b",
    rf"{_THING}\b(?:is|are) (?:missing|not (?:available|accessible))\b",
    r"\b(?:tool|call|function|request|attempt|execution)s? (?:has |have )?(?:failed|crashed|timed out)\b",
    r"\b(?:an error|a failure) (?:has )?(?:occurred|happened)\b",
    rf"{_ASKED_FOR}[^.\n]{{0,40}}\b(?:is|are|was|were|remains?) (?:not |un)(?:available|known|given|provided|found)\b",
    rf"\bno (?:such |relevant |further )?{_ASKED_FOR}[^.\n]{{0,40}}\b(?:was|were|is|are|could be|has been) "
    r"(?:found|given|available|provided|determined|computed)\b",
    r"\b(?:there is|there was|i have|i found|we have) (?:no|not enough|insufficient) "
    r"(?:such |relevant )?(?:information|data|answer|result|evidence)\b",
    r"\b(?:remains?|is|are) unknown\b",
    r"\b(?:ich|wir) (?:kann|können|konnte|konnten)\b[^.\n]{0,60}\bnicht\b",
    r"\b(?:konnten?|kann|können) nicht [^.\n]{0,40}\bwerden\b",
    r"\b(?:je|nous) n(?:e |['’])[^.\n]{0,30}\bpas\b",
    r"\bimpossible de\b|\bintrouvables?\b",
    r"\bno (?:puedo|podemos|pude|pudimos|se (?:pudo|puede|pudieron))\b",
    r"无法|不能(?:确定|计算|回答|找到)|找不到|未能|できません|見つかりません",
    r"не удалось|невозможно (?:определить|найти)",
    flags=re.IGNORECASE,
)
"""Ways to say that a task was not done. What speaks of the matter itself ("12 values are missing") is none of them."""
