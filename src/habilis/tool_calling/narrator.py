"""What of a reply is for people, told while it comes: thoughts and the answer, not the actions."""

from __future__ import annotations

import re

from habilis.models.thinking import PAIRS
from habilis.tool_calling.markup.marks import ENDS_OF_TURN, START
from habilis.tool_calling.react import LABEL

MAX_LEAD = 200
"""Characters within which a label or a block begins, if a line has one."""
MAX_SIGN = 120
"""Characters of the longest sign: one that is longer is text."""
_HEADS = ("<|start|>", "<|channel|>", "<|constrain|>")
"""What begins the head of a message of gpt-oss, which ends with `<|message|>`."""
_THINKING = {begin: end for begin, end in PAIRS if not begin.startswith(_HEADS)} | {"<|channel>": "<channel|>"}
_BEGUN = re.compile(r"<[^\s<>]{0,20}?(?:invoke|function)[\s=]|<\|role_sep\|>|✿FUNCTION✿:")
_WHOLE = ("✿FUNCTION✿:",)
"""Signs that do not end with one of `_LAST`."""
_FIRST, _LAST = frozenset("<[✿◁"), frozenset(">]▷ \t\n")
_BLOCK = re.compile(r"[ \t]*(?:[{\[]|`{3}|~{3}|<tool|<func)")
_WORDS = ("thought:", "action:", "actioninput:", "finalanswer:", "observation:", "```", "~~~", "<tool", "<func")


class Narrator:
    """Tells of one reply.

    The pieces that `feed` gives out join to the same text however the reply was cut into chunks. From the mark of a
    tool call on nothing is told, except in code.
    """

    def __init__(self, *, labelled: bool = True) -> None:
        """`labelled`: a reply with the labels of this module; else all of its text is for people."""
        self._labelled = labelled
        self._line = ""
        self._state = "start"  # of a line; or in a line, or from here on silent, or all of it shown
        self._hidden = ""  # the closing tag that ends what is hidden
        self._sign = ""  # what may become a sign
        self._head: str | None = None  # of a message of gpt-oss, while it comes
        self._code = _Code()

    def feed(self, chunk: str) -> str:
        """What can be shown now that `chunk` has come."""
        return "".join(self._visible(char) for char in chunk)

    def close(self) -> str:
        """What is left to show when the reply has ended."""
        rest, self._sign = self._sign, ""
        hidden = self._hidden or self._head is not None or rest in ENDS_OF_TURN or START.match(rest)
        shown = "" if hidden else "".join(self._tell(char) for char in rest)
        return shown + (self._decided(ended=True) if self._state == "start" else "")

    def _visible(self, char: str) -> str:
        """`char`, unless it belongs to a sign or to what signs hide; signs may come in pieces."""
        if self._hidden:
            self._behind_hidden(char)
            return ""
        if self._sign and char in _FIRST and char != "✿":
            before, self._sign = self._sign, char
            return self._passed(before)
        if self._sign:
            self._sign += char
            return self._judged() if char in _LAST or self._sign in _WHOLE or len(self._sign) > MAX_SIGN else ""
        if char in _FIRST and not self._code.is_open:
            self._sign = char
            return ""
        return self._passed(char)

    def _behind_hidden(self, char: str) -> None:
        """The end of what came may be, or begin, the closing tag."""
        self._sign += char
        while self._sign and not self._hidden.startswith(self._sign):
            self._sign = self._sign[1:]
        if self._sign == self._hidden:
            self._hidden = self._sign = ""

    def _judged(self) -> str:
        """What is shown of the sign that is now whole: nothing, unless it is none."""
        sign, self._sign = self._sign, ""
        if START.match(sign) or _BEGUN.match(sign):
            self._state, self._labelled, self._line = "silent", True, ""
        elif sign in _THINKING:
            self._hidden = _THINKING[sign]
        elif sign in _HEADS:
            self._head = self._head or ""
        elif sign == "<|message|>":
            self._begin_message()
        elif sign not in ENDS_OF_TURN:
            return self._passed(sign)
        return ""

    def _begin_message(self) -> None:
        head, self._head = self._head or "", None
        if "to=" in head:
            self._state, self._labelled, self._line = "silent", True, ""
        elif "analysis" in head:
            self._hidden = "<|end|>"

    def _passed(self, text: str) -> str:
        if self._head is not None:
            self._head += text
            return ""
        for char in text:
            self._code.take(char)
        return "".join(self._tell(char) for char in text)

    def _tell(self, char: str) -> str:
        if self._state == "silent":
            return ""
        if not self._labelled or self._state == "all":
            return char
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


class _Code:
    """Whether what comes stands in code: in a fence, or between backticks on a line."""

    def __init__(self) -> None:
        self._ticks = 0  # at the beginning of the line, while nothing else stands there
        self._fenced = self._inline = False
        self._lead = True

    @property
    def is_open(self) -> bool:
        return self._fenced or self._inline

    def take(self, char: str) -> None:
        if char == "\n":
            self._ticks, self._lead, self._inline = 0, True, False
        elif char == "`":
            self._ticks += self._lead
            if self._lead and self._ticks == 3:
                self._fenced, self._inline = not self._fenced, False
            elif not self._fenced and (not self._lead or self._ticks < 3):
                self._inline = not self._inline
        elif not char.isspace():
            self._lead = False


def _may_be_special(line: str) -> bool:
    """Whether the beginning of a line may still become a label or a block."""
    if len(line) > MAX_LEAD:
        return False
    plain = re.sub(r"[\s>*_#\d]", "", line).lower().replace("：", ":")
    if not plain:
        return True
    return any(word.startswith(plain) for word in _WORDS)
