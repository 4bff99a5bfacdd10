"""Names of tools: as files, as a provider takes them, and which of them are ours.

A name is never a path: what is looked up by name goes through
`is_plain` first, so that no crafted name leaves a library's folder.
"""

from __future__ import annotations

import hashlib
import re

RESERVED = frozenset({"image_text_query", "ask_user", "finish_task"})
"""Names of the presets; a tool that asks for one gets a suffix."""

MAX_LENGTH = 60
"""Characters of a file name, so that a suffix still fits into a provider's 64."""

_PROVIDER_LENGTH = 64
_PROVIDER = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")


def safe_name(name: str) -> str:
    """The file name (without `.py`) for a tool called `name`: letters, digits and underscores only.

    A name that has none of these, in another script say, becomes `tool_` and a short hash of itself; one that is
    too long keeps its beginning and gets a hash. The same name always gives the same result.
    """
    plain = re.sub(r"[^a-zA-Z0-9_]+", "_", name).strip("_")
    if not plain:
        return f"tool_{_short_hash(name)}"
    if len(plain) > MAX_LENGTH:
        return f"{plain[: MAX_LENGTH - 9].rstrip('_')}_{_short_hash(name)}"
    return plain


def with_suffix(name: str, number: int) -> str:
    """The `number`-th choice of file name for `name`: itself, then `_v02`, `_v03` …"""
    return name if number <= 1 else f"{name}_v{number:02d}"


def is_plain(name: str) -> bool:
    """Whether `name` can be the name of a file in a library: one component, not hidden, no control characters."""
    return bool(name) and len(name) <= 200 and name[0] != "." and name.isprintable() and not set(name) & {"/", "\\"}


def provider_name(name: str) -> str:
    """`name` in the form that model providers take (`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`); itself where it fits.

    A name that does not fit gets a hash of itself, so that no two of them collapse into one.
    """
    if _PROVIDER.fullmatch(name):
        return name
    plain = re.sub(r"[^a-zA-Z0-9_-]+", "_", name).strip("_-")[: _PROVIDER_LENGTH - 15]
    return f"{plain if plain[:1].isalpha() else f'tool_{plain}'.rstrip('_')}_{_short_hash(name)}"


def _short_hash(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
