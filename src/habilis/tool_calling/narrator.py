"""What of a reply is for people, told while it comes: thoughts and the answer, not the actions."""

from __future__ import annotations

import re

from habilis.tool_calling.react import LABEL


class Narrator:
    """Tells of one reply.

    The pieces that `feed` gives out join to the same text however the reply was cut into chunks.
    """

    def __init__(self, *, labelled: bool = True) -> None:
        """`labelled`: a reply with the labels of this module; else all of its text is for people."""
        self._labelled = labelled
        self._line = ""
        self._state = "start"  # of a line; or in a line, or from here on silent, or all of it shown
        self._hidden = ""  # the closing tag that ends what is hidden
        self._tag = ""

    def feed(self, chunk: str) -> str:
        """What can be shown now that `chunk` has come."""
        return "".join(self._visible(char) for char in chunk)

    def close(self) -> str:
        """What is left to show when the reply has ended."""
        rest, self._tag = self._tag, ""
        shown = "".join(self._tell(char) for char in rest) if not self._hidden else ""
        return shown + (self._decided(ended=True) if self._state == "start" else "")

    def _visible(self, char: str) -> str:
        """`char`, unless it belongs to a thinking section, whose tags may come in pieces."""
        self._tag += char
        tags = (self._hidden,) if self._hidden else _OPENING
        if self._tag in tags:
            self._hidden = "" if self._hidden else self._tag.replace("<", "</")
            self._tag = ""
            return ""
        if any(tag.startswith(self._tag) for tag in tags):
            return ""
        if self._hidden:
            # The end of what came may still begin the closing tag.
            self._tag = self._tag[1:]
            while self._tag and not self._hidden.startswith(self._tag):
                self._tag = self._tag[1:]
            return ""
        waiting, self._tag = self._tag, ""
        if len(waiting) > 1 and waiting[-1] == "<":
            waiting, self._tag = waiting[:-1], "<"
        return "".join(self._tell(one) for one in waiting)

    def _tell(self, char: str) -> str:
        if not self._labelled or self._state == "all":
            return char
        if self._state == "silent":
            return ""
        if self._state == "line":
            self._state = "start" if char == "\n" else "line"
            return char
        self._line += char
        if char == "\n" or not _may_be_special(self._line):
            return self._decided()
        return ""

    def _decided(self, *, ended: bool = False) -> str:
        """The line as far as it came, now that it is known what kind of line it is."""
        line, self._line = self._line, ""
        label = LABEL.match(line)
        if label:
            word = label[1].lower().replace(" ", "").replace("_", "")
            if word in ("action", "actioninput", "observation"):
                self._state = "silent"
                return ""
            line = line[label.end() :]
            if word == "finalanswer":
                self._state = "all"
                return line
        elif _BLOCK.match(line):
            self._state = "silent"
            return ""
        self._state = "start" if line.endswith("\n") or ended else "line"
        return line


MAX_LEAD = 200
"""Characters within which a label or a block begins, if a line has one."""
_OPENING = ("<think>", "<thinking>")
_BLOCK = re.compile(r"[ \t]*(?:[{\[]|`{3}|~{3}|<tool|<func)")
_WORDS = ("thought:", "action:", "actioninput:", "finalanswer:", "observation:", "```", "~~~", "<tool", "<func")


def _may_be_special(line: str) -> bool:
    """Whether the beginning of a line may still become a label or a block."""
    if len(line) > MAX_LEAD:
        return False
    plain = re.sub(r"[\s>*_#]", "", line).lower()
    if not plain:
        return True
    return any(word.startswith(plain) for word in _WORDS)
