"""Words of a question that change which result is right although they are common: bounds, ranks and the like.

A rule that settles an answer passes over common words. It may not pass over these: "over 30" and "at least 30" ask for
other counts than "30".
"""

from __future__ import annotations

import re

from habilis.rules.quoted import QUOTED

_SPAN = re.compile(r"\b(?:from|between|von|vom|zwischen|du|entre|desde|del|с|между)\b")
"""A span has two ends, and the end of it is no bound of its own."""
_VALUE = r"(?:than\s+)?(?:(?:a|an|the|on|of)\s+)?(?:[^\W\d_]+\s+){0,2}?[$€£]?[\d§]"
_BEFORE_A_VALUE = {
    "above": r"over|above|(?<!no )(?:more|greater|larger|bigger|higher|longer|older|heavier|later) than|exceed\w*"
    r"|beyond|mehr als|grösser als|über|plus de|supérieure? à|más de|mayor que|больше|более|>(?!=)",
    "below": r"under|below|(?<!no )(?:less|fewer|smaller|lower|shorter|younger|lighter|earlier) than|unter|weniger als"
    r"|kleiner als|moins de|inférieure? à|menos de|menor que|меньше|менее|<(?!=)",
    "at least": r"at least|no (?:less|fewer) than|mindestens|au moins|al menos|por lo menos|не менее|>=",
    "at most": r"at most|up to|no more than|höchstens|bis zu|au plus|como máximo|не более|<=",
    "before": r"before|prior to|earlier than|vor|avant|antes del?|до|раньше",
    "after": r"after|later than|nach|après|después del?|после",
    "until": r"until|till|through|bis|jusqu['’]\w+|hasta",
    "since": r"since|starting|seit|ab|depuis|desde",
}
"""What bounds a value that follows. A tool's own words must name the same bound, beside a value or not."""
_ALONE = {
    "at least": r"(?<=\d) (?:or|and) (?:more|above|over|later)\b",
    "at most": r"(?<=\d) (?:or|and) (?:less|fewer|below|under|earlier)\b",
    "working": r"\b(?:working|business)[ -](?=days?|hours?)",
    "included": r"\binclu(?:ded|ding|sive\w*)\b|\bboth (?:days|ends|dates)\b",
    "a rank": r"\b(?:second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|next|last but one|zweit\w*|dritt\w*"
    r"|deuxième|troisième|segund[oa]|tercer[oa]?)\b(?=[- ][^\W\d_]*(?:est|most|least|last|grösst|hoch|plus|más)"
    r"| [^\W\d_]+est\b)",
    "twice": r"\b(?:twice|doubled?|halves|half of)\b",
    "distinct": r"\b(?:different|distinct|unique|verschieden\w*|différent\w*|diferente\w*|distint\w*)\b",
    "each": r"\b(?:each|per|every|je|jede\w*|chaque|cada)\b(?= [^\W\d_])",
}
_SAID = {
    "above": r"minimum|threshold|greater|larger",
    "at least": r"\bmin(?:imum)?\b|threshold",
    "at most": r"\bmax(?:imum)?\b",
    "a rank": r"\b(?:rank|nth|place|position|n)\b",
    "included": r"\binclu\w+|\bfirst and last\b",
    "distinct": r"\b(?:different|distinct|unique|deduplicat\w+)\b",
    "each": r"\b(?:each|per|every|group\w*|by)\b",
}
"""Further words by which a tool says the same."""


def narrows_alike(question: str, own: str) -> bool:
    """Whether a tool's `own` words say each bound, rank and the like that `question` says of its values.

    Both are folded. What stands in quotes is a value and says none.
    """
    asked, said = QUOTED.sub("§", question), own.replace("_", " ")
    bounds = {name: rf"(?<![^\W_])(?:{words})(?![^\W_])" for name, words in _BEFORE_A_VALUE.items()}
    wanted = [name for name, words in bounds.items() if re.search(rf"{words}\s+{_VALUE}", asked)]
    if _SPAN.search(asked):
        wanted = [name for name in wanted if name not in ("until", "since")]
    wanted += [name for name, words in _ALONE.items() if re.search(words, asked)]
    return all(
        any(re.search(words, said) for words in (bounds.get(name), _ALONE.get(name), _SAID.get(name)) if words)
        for name in wanted
    )
