"""Text of others made safe to look at: what steers or hides is written out, what is long is cut."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

MAX_CHARS = 4_000
"""Characters of one text on a page; the rest is behind a link."""
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """`text` with control and direction characters, and halves of characters, written out as their code points."""
    return _UNSEEN.sub(lambda found: f"[U+{ord(found[0]):04X}]", text.replace("\r\n", "\n"))


@dataclass(frozen=True)
class Excerpt:
    """The beginning of a text. `whole` counts its characters where something is missing, else it is 0."""

    text: str
    whole: int = 0


def cut(value: Any, most: int = MAX_CHARS) -> Excerpt:
    """At most `most` characters of a text, or of another value as JSON."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1, default=str)
    return Excerpt(text[:most], len(text)) if len(text) > most else Excerpt(text)


def short(value: Any, most: int = 160) -> str:
    """The beginning of a text on one line."""
    line = " ".join(str(value or "")[: 4 * most].split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
