"""How people and models say that something went wrong: an exception's text, a task that was not done, a judge's no."""

from __future__ import annotations

import re


def _any(*ways: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile("|".join(ways), flags)


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

_FAILING = r"(?:does not|doesn['’]t|did not|didn['’]t|fails? to|failed to|without) (?:\w+ly )?"
_GIVING = r"(?:answer|address|provide|give|contain|include|have|hold|state|match|find|use|support|reach)(?:ing)?"
_ASKED = r"(?:to )?(?:the |an? |any |what )?(?:question|answer|result|conclusion|value|information|asked|number|name)"
_OTHER = r"(?:something else|another (?:one|row|value|question|column|operation))"
AGAINST = _any(
    rf"\b{_FAILING}{_GIVING} {_ASKED}",
    r"\b(?:is|was|are)(?: not|n['’]t) (?:what was asked|the answer|correct|right|borne out|supported|answered)\b",
    r"\b(?:answer|result|number|value) (?:is|was|seems|appears) (?:to be )?(?:wrong|incorrect|invented|missing)\b",
    rf"\b(?:{_OTHER}|anything) than (?:\w+ ){{0,4}}(?:asked|meant)\b",
    rf"\b{_OTHER} (?:was|is) (?:taken|given|used|answered)\b",
    r"\b(?:is|are|was|were) (?:not|n['’]t|missing) (?:\w+ )?(?:from|in) the answer\b",
    r"\bnot what (?:was|the question|is) (?:asked|meant|wanted)\b",
    r"\b(?:answers|gives|addresses|returns) (?:something else|another|a different|the wrong|an unrelated)\b",
    r"\bcontradicts?\b(?! (?:nothing|none|no\b))",
    r"\b(?:do|does|did) not (?:support|bear out|back|match|agree|correspond)\b",
    r"\bnothing (?:was |is )?(?:found|answered|computed|calculated)\b",
    r"\bno (?:conclusion|answer|result)s? (?:is|was|can|could|has)\b",
    r"\b(?:but|however|though|although)\b[^.]{0,80}\b(?:failed|error|not found|could not|cannot|something else)\b",
    flags=re.IGNORECASE,
)
"""What a judge says of an answer that it refuses. It is asked in English; in another language it says nothing here."""
