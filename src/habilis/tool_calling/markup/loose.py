"""Arguments with names in no quotes and text between special tokens: `call:name{city:<escape>Oslo<escape>,days:3}`.

FunctionGemma and Gemma write so; what stands there becomes JSON, whose own reader then judges it.
"""

from __future__ import annotations

import json
import re

LOOSE = re.compile(r"call:\s{0,3}([^\W\d][\w.:-]{0,99})\{")
_PART = re.compile(
    r"<escape>(?P<a>.*?)<escape>|<\|\"\|>(?P<b>.*?)<\|\"\|>|(?P<c>\"(?:[^\"\\]|\\.)*+\")|"
    r"(?P<key>[^\W\d][\w.-]*+)(?=\s*:)|(?P<open>[{\[])|(?P<close>[}\]])",
    re.DOTALL,
)


def loose_object(text: str, at: int) -> tuple[str, int | None]:
    """The object that begins at `at` as JSON, and the place behind it; None where it is not closed."""
    made: list[str] = []
    depth = 0
    last = at
    for found in _PART.finditer(text, at):
        made.append(text[last : found.start()])
        last = found.end()
        said = found["a"] if found["a"] is not None else found["b"]
        quoted = said if said is not None else found["key"]
        made.append(json.dumps(quoted, ensure_ascii=False) if quoted is not None else found[0])
        depth += bool(found["open"]) - bool(found["close"])
        if depth == 0:
            return "".join(made), last
    return "".join(made), None
