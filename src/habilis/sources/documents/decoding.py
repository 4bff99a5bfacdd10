"""From bytes to characters: which encoding a text is in, and whether it is a text at all."""

from __future__ import annotations

import codecs
import contextlib
import re
from typing import NamedTuple

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is the beginning of this one
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_META = re.compile(
    rb"<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{2,40})", re.IGNORECASE
)
_META_BYTES = 2_048
_CONTROLS = bytes(set(range(32)) - {7, 8, 9, 10, 11, 12, 13, 27}) + b"\x7f"
_CONTROL_SHARE = 0.02
_TEXTS = re.compile(
    r"utf-(8|16|32)(-[lb]e)?|ascii|cp\d+|windows-\d+|iso8859-\d+|iso2022_\w+|koi8-\w|mac-\w+|gb\w+|hz|big5\w*|euc_\w+|"
    r"shift_jis\w*|johab|tis-620|ptcp154|kz1048|hp-roman8"
)
"""Codecs that documents are written in. Python has others that no document is in and that take long (punycode)."""
_MOST_NAME = 40
_LATIN = {"latin-1", "iso-8859-1", "iso8859-1", "ascii", "us-ascii"}
"""Labels under which the web means Windows-1252 (Encoding Standard, https://encoding.spec.whatwg.org/#names-and-labels)."""


class Decoded(NamedTuple):
    """A text, and the encoding that it was read in. `guessed`: nothing said so, and it is not UTF-8."""

    text: str
    encoding: str
    guessed: bool = False


def decoded(content: bytes, declared: str | None = None) -> Decoded | None:
    """The characters of `content`; None when it is no text. A byte order mark counts before what is `declared`."""
    for mark, marked in _MARKS:
        if content.startswith(mark):
            return Decoded(content.decode(marked, "replace").removeprefix("\ufeff"), marked)
    name = _known(declared)
    if b"\0" in content or len(content.translate(None, _CONTROLS)) < len(content) * (1 - _CONTROL_SHARE):
        wide = name is not None and name.startswith(("utf-16", "utf-32"))
        return Decoded(content.decode(name, "replace"), name) if name and wide else None
    with contextlib.suppress(UnicodeDecodeError):
        return Decoded(content.decode("utf-8"), "utf-8")
    if name and name != "utf-8":
        return Decoded(content.decode(name, "replace"), name)
    if name:  # said to be UTF-8 and nearly is
        text = content.decode("utf-8", "replace")
        if text.count("\ufffd") <= len(text) // 200:
            return Decoded(text, "utf-8")
    try:
        return Decoded(content.decode("windows-1252"), "windows-1252", guessed=True)
    except UnicodeDecodeError:
        return Decoded(content.decode("latin-1"), "latin-1", guessed=True)


def declared_in(content: bytes) -> str | None:
    """The encoding that the beginning of an HTML or XML document names."""
    found = _META.search(content[:_META_BYTES])
    return found[1].decode("ascii") if found else None


def _known(name: str | None) -> str | None:
    """The codec called `name`, if it is one of texts."""
    try:
        plain = codecs.lookup((name or "")[:_MOST_NAME].strip().strip("\"'")).name
    except (LookupError, ValueError):
        return None
    if not _TEXTS.fullmatch(plain):
        return None
    return "windows-1252" if plain in _LATIN else plain
