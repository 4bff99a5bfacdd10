"""How the text files of a call begin, as prompts show them."""

from __future__ import annotations

from collections.abc import Mapping

MOST_FILES = 5


def begins(files: Mapping[str, bytes], *, lines: int, chars: int) -> str:
    """The first `lines` lines of each text file in `files`, at most `chars` characters of each."""
    shown = []
    for name, content in sorted(files.items())[:MOST_FILES]:
        if b"\0" not in content[:chars]:
            first = content[: 4 * chars].decode("utf-8", "replace").splitlines()[:lines]
            text = "\n".join(f"    {line}" for line in first)[:chars]
            shown.append(f"  {name}:\n{text}")
    return "\n".join(shown)
