"""The marks between which models think aloud, of each family that is known. What stands there is no part of a reply."""

from __future__ import annotations

import re

from habilis.core.patterns import lazy_pattern

PAIRS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<seed:think>", "</seed:think>"),  # Seed
    ("[THINK]", "[/THINK]"),  # Mistral
    ("<|START_THINKING|>", "<|END_THINKING|>"),  # Command
    ("<|inner_prefix|>", "<|inner_suffix|>"),  # Apertus
    ("◁think▷", "◁/think▷"),  # Kimi
    ("<thought>", "</thought>"),  # Gemini
    ("<reasoning>", "</reasoning>"),  # by prompt
    ("<longcat_think>", "</longcat_think>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),  # OpenThinker
    ("<|think|>", "<|end|>"),  # Solar
    ("<|channel>thought", "<channel|>"),  # Gemma
    ("<|channel|>analysis<|message|>", "<|end|>"),  # gpt-oss
    ("<|start|>assistant<|channel|>analysis<|message|>", "<|end|>"),
)
"""Beginning and end."""
_LEADING = lazy_pattern(
    r"\s*(?:" + "|".join(rf"{re.escape(a)}(.*?)(?:{re.escape(b)}|\Z)" for a, b in PAIRS) + ")", re.DOTALL
)
_LATE = lazy_pattern(r"\A(.*?)(?:" + "|".join(re.escape(end) for _, end in PAIRS[:7]) + ")", re.DOTALL)


def split_thoughts(text: str, *, late: bool = True) -> tuple[list[str], str]:
    """The thoughts that `text` begins with, and the rest.

    `late`: an end without a beginning, which the prompt held, ends a thought too.
    """
    thoughts: list[str] = []
    at = 0
    while found := _LEADING.match(text, at):
        thoughts.append(next(group for group in found.groups() if group is not None))
        at = found.end()
    text = text[at:].lstrip() if at else text
    if late and not any(begin in text for begin, _ in PAIRS) and (found := _LATE.match(text)):
        thoughts.append(found[1])
        text = text[found.end() :].lstrip()
    return thoughts, text
