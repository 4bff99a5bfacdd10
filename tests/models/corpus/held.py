"""Replies that were written when the reader was done: harder words, other ends, other faults. The figures of the
first reading of them stand in `tests/models/test_families.py`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from . import Calls
from .families import ONE, WRITERS, Reply

THINKING = "<think>\nThe file may hold it; a <tool_call> will tell. {Really}?\n</think>\n\n"
TRICKY: Calls = (("search", {"query": 'say "hi" {x}, it\'s a\\b\n  <b>2</b> [1] – $5'}),)
MIXED: Calls = (
    ("tell_time", {}),
    ("set_flag", {"label": "true", "on": False, "ratio": None, "tags": []}),
)
SPOILT = (
    ('"a.csv"', '"a.csv'),
    ("'a.csv'", "'a.csv"),
    ('<|"|>a.csv<|"|>', '<|"|>a.csv'),
    ("<escape>a.csv<escape>", "<escape>a.csv"),
)
"""A value that is not closed, in each way of writing."""


def spoilt(text: str) -> str:
    for whole, broken in SPOILT:
        if whole in text:
            return text.replace(whole, broken)
    return re.sub(r"a\.csv\n?</[^<>]+>", "a.csv", text)


def held() -> Iterator[Reply]:
    """The held part of the corpus."""
    for family, (write, end) in WRITERS.items():
        yield Reply(family, "whole", f"{THINKING}{write(TRICKY)}\n{end}", TRICKY)
        yield Reply(family, "whole", f"Both at once:\n\n{write(MIXED)}", MIXED)
        text = write(ONE)
        yield Reply(family, "spoilt", text[: text.index("read_rows") + len("read_rows") + 2])
        yield Reply(family, "spoilt", f"Let me see.\n{spoilt(text)}{end}")
        yield Reply(family, "spoilt", f"{text}\nThe file holds seven rows.", ONE)
    for answer in PLAIN:
        yield Reply("plain", "plain", answer)


PLAIN = (
    "**7**",
    "The parameter goes into <parameter=path> tags, as in Qwen3-Coder.",
    "GLM writes <arg_key> and <arg_value>; DeepSeek writes <｜tool▁sep｜> between name and arguments.",
    'To call it, write `search(query="x")`, or `[search(query="x")]` for Llama.',
    '```json\n{"name": "a.csv", "rows": 7}\n```',
    '```json\n{"name": "search", "arguments": {"query": "x"}}\n```\nThat is what a call looks like.',
    "```html\n<function=search>\n```\nThis is no valid HTML.",
    "if (a) {\n    b();\n} else {\n    c();\n}",
    'The set {1, 2} and the map {"a": 1}',
    "[1] See the manual.\n[2] See the other one.",
    "[read_rows] gave 7 rows, [search] gave none.",
    "Name: search\nArguments: none",
    "The answer is in read_rows.py, line 7: `def read_rows(path): ...`.",
    "$$\\frac{a}{b} = \\{x\\}$$",
    "<p>It is <strong>7</strong>.</p>",
    "<answer> is not closed here",
    'She said: "call: me".',
    "| tool | calls |\n|---|---|\n| search | 3 |",
    "Die Funktion search(query) sucht; read_rows(path) liest.",
    "SELECT * FROM t WHERE a < 3 AND b > 4;",
)
