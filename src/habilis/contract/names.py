"""Names of tools: as asked for, as files, and which part of them is ours. As providers take them: `messages.naming`.

A name is never a path: what is looked up by name goes through
`is_plain` first, so that no crafted name leaves a library's folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from habilis.messages.naming import short_hash

RESERVED = frozenset({"image_text_query", "ask_user", "finish_task", "recall"})
"""Names of the presets; a tool that asks for one gets a suffix."""

MAX_LENGTH = 60
"""Characters of a file name, so that a suffix still fits into a provider's 64."""


def safe_name(name: str) -> str:
    """The file name (without `.py`) for a tool called `name`: letters, digits and underscores only.

    A name that has none of these, in another script say, becomes `tool_` and a short hash of itself; one that is
    too long keeps its beginning and gets a hash. The same name always gives the same result.
    """
    plain = re.sub(r"[^a-zA-Z0-9_]+", "_", name).strip("_")
    if not plain:
        return f"tool_{short_hash(name)}"
    if len(plain) > MAX_LENGTH:
        return f"{plain[: MAX_LENGTH - 9].rstrip('_')}_{short_hash(name)}"
    return plain


def with_suffix(name: str, number: int) -> str:
    """The `number`-th choice of file name for `name`: itself, then `_v02`, `_v03` …"""
    return name if number <= 1 else f"{name}_v{number:02d}"


def free_name(name: str, is_taken: Callable[[str], bool]) -> str:
    """The first choice of file name for `name` that is not taken."""
    return next(choice for number in count(1) if not is_taken(choice := with_suffix(name, number)))


_SUFFIX = re.compile(r"_v\d{2,}$")


@dataclass(frozen=True)
class ToolName:
    """The name of a tool's file. `our_suffix`: we added its `_v02` or the like, since the name asked for was taken."""

    text: str
    our_suffix: bool = False

    @classmethod
    def given(cls, text: str, asked: str) -> ToolName:
        """The name `text` of a tool that was asked for as `asked`."""
        return cls(text, text != safe_name(asked))

    @property
    def stem(self) -> str:
        """The name without the suffix that we added; whatever looks like one but is not ours stays."""
        return _SUFFIX.sub("", self.text) if self.our_suffix else self.text


def is_plain(name: str) -> bool:
    """Whether `name` can be the name of a file in a library: one component, not hidden, no control characters."""
    return bool(name) and len(name) <= 200 and name[0] != "." and name.isprintable() and not set(name) & {"/", "\\"}
