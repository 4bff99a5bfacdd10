"""Code and its changes as lines that a page can show: highlighted, or as a diff."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from habilis.view.visible import visible

MAX_HIGHLIGHTED = 60_000
MAX_DIFF_LINES = 2_000
"""Lines of one side; comparing takes the product of both."""


@dataclass(frozen=True)
class DiffLine:
    """`sign` is `+`, `-`, `@` for the place of a hunk, or a blank."""

    sign: str
    text: str


def highlighted(source: str) -> Markup:
    """Python source with classes for its parts, escaped; a very long one is only escaped."""
    shown = visible(source)
    if len(shown) > MAX_HIGHLIGHTED:
        return Markup.escape(shown)
    return Markup(highlight(shown, PythonLexer(), HtmlFormatter(nowrap=True)))


def changes(before: str, after: str) -> list[DiffLine]:
    """What changed, with three lines around it."""
    old, new = (visible(text).splitlines()[:MAX_DIFF_LINES] for text in (before, after))
    lines = list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]
    return [DiffLine(line[:1], line if line.startswith("@") else line[1:]) for line in lines]
