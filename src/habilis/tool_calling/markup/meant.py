"""Calls in a form that nobody here reads: a reply that ends with one is no answer, and its writer is asked."""

from __future__ import annotations

import re

from habilis.tool_calling.markup.forms import Known

MOST = 20_000
"""Characters behind a tool's name within which such a call ends."""
_NO_SENTENCE = re.compile(r"(?:[^\w\n]|\w+(?=[^\w\s]))*\Z")
"""What stands before a name on its line: signs, and words with a sign right behind them (`Action: `, `to=`)."""
_GOES_ON = re.compile(r"[\"'>)\]]*[\s,;:]*(?:[({<\[\"']|\w[\w ]{0,20}[:=])")
_ANSWER = re.compile(r"answer|result|output", re.IGNORECASE)
_CLOSED = re.compile(r"[}\])>`]\Z")


def meant(text: str, known: Known) -> str | None:
    """The tool that the end of `text` seems to call: its name after nothing but signs, one of its parameters as a key
    behind it, and a closing sign at the end. None where it reads like an answer."""
    text = text.rstrip()
    if not _CLOSED.search(text):
        return None
    for name, spec in known.items():
        keys = "|".join(re.escape(key) for key in spec.parameters.get("properties", ()))
        at = _last(text, name)
        if not keys or at is None or len(text) - at > MOST:
            continue
        line, rest = text[text.rfind("\n", 0, at) + 1 : at][-200:], text[at + len(name) :]
        keyed = re.search(rf"(?<!\w)(?:{keys})[\"']?\s*[:=>]", rest)
        if keyed and _GOES_ON.match(rest) and _NO_SENTENCE.match(line) and not _ANSWER.search(line):
            return name
    return None


def _last(text: str, name: str) -> int | None:
    """Where the last mention of `name` begins that is no closing tag."""
    places = [found.start() for found in re.finditer(rf"(?<![\w/]){re.escape(name)}(?!\w)", text)]
    return places[-1] if places else None
