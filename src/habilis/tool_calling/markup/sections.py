"""Calls between the marks of `marks`, whichever family they come from. Each character is looked at a few times at most.

`find_start` tells where calls begin: at a mark outside code with something behind it that can be a call, so that
prose that mentions a mark stays prose. `read_section` reads from there to the end. What cannot be read there is a
fault: a model that writes a mark means a call, and its text is no answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from habilis.core.patterns import lazy_pattern
from habilis.messages.arguments import ArgumentsUnreadable, decoder, read_arguments
from habilis.tool_calling.markup.forms import (
    WRITTEN,
    Call,
    Known,
    arguments_of,
    balanced,
    own_name,
    rows_of,
    shaped,
    written_arguments,
)
from habilis.tool_calling.markup.loose import LOOSE, loose_object
from habilis.tool_calling.markup.marks import (
    BETWEEN,
    END,
    ENDS_OF_TURN,
    LAST_OF_PARAMETER,
    MARK,
    NAMED,
    PARAMETER,
    PARAMETER_END,
    PLAIN,
    RESULTS,
    START,
    name_in,
)
from habilis.tool_calling.markup.values import parameter_value

MAX_FAULTS = 64
"""What cannot be read is told up to here; a reply with more is beyond reading."""
_DECODER = decoder()
_CODE = r"(?m:^[ \t]*(?P<fence>`{3,}|~{3,})[^\n]*(?:\n|\Z))|(?P<inline>`+[^`\n]+`)"
_LOOK = lazy_pattern(f"{_CODE}|{START.pattern}")
_NAME = lazy_pattern(r"\s*((?:functions?[.:])?[^\W\d][\w./-]{0,99}(?::\d{1,6})?)")
_BEGINS_A_CALL = lazy_pattern(
    r"\s*(?:[{\[]|<(?!/)|`{3}|call:|\Z)|"
    r"(?:[ \t]*\n\s*)?(?:functions?[.:])?[^\W\d][\w./:-]{0,99}(?:[({<\[✿]|[ \t]*(?:\n|\Z))"
)
_BLANK = lazy_pattern(rf"(?:[\s,;]|{'|'.join(map(re.escape, ENDS_OF_TURN))})+")
_FENCE = lazy_pattern(r"\s*(?:`{3,}|~{3,})[A-Za-z_]*[ \t]*(?:\n|\Z|(?=[{<]))")
_SURPLUS = lazy_pattern(r"[\s}\]]*(?=<|\[/|\Z)")
_RESULT = lazy_pattern("|".join(map(re.escape, RESULTS)))
_HOLE = lazy_pattern(r"<(?:｜DSML｜|\|DSML\|)?(?:parameter|invoke|arg_key)\b")


@dataclass(frozen=True)
class Section:
    """What stands from the first mark on: calls, why others cannot be read, and the text `behind` the last one.

    `plain`: its marks are such as people write too, so that text behind it may be what an explanation goes on with.
    """

    calls: tuple[Call, ...]
    faults: tuple[str, ...]
    behind: str = ""
    plain: bool = False


def find_start(text: str, known: Known) -> int | None:
    """Where the first calls between marks begin; None where there are none."""
    at, last_end = 0, -1
    while found := _LOOK.search(text, at):
        at = found.end()
        if found["fence"]:
            close = re.compile(rf"^[ \t]*{re.escape(found['fence'])}[`~]*[ \t]*$", re.MULTILINE).search(text, at)
            if close is None:
                return None
            at = close.end()
        elif found["named"]:
            return found.start()
        elif found["begin"]:
            last_end = last_end if last_end >= 0 else _last_end(text)
            if _can_begin(text, found, known, closed=last_end > at):
                return found.start()
    return None


def _last_end(text: str) -> int:
    """Where the last closing mark of all begins, 0 where there is none."""
    return max((found.start() for found in END.finditer(text)), default=0)


def _can_begin(text: str, found: re.Match[str], known: Known, *, closed: bool) -> bool:
    """Whether a call may follow an opening mark: its first words look so, or it stands at the beginning of a line."""
    line = text.rfind("\n", max(0, found.start() - 200), found.start()) + 1
    first = not text[line : found.start()].strip() if found.start() - line < 200 else False
    if END.match(text, found.end()):
        return first
    alone = first and (closed or text[found.end() : found.end() + 1] in ("\n", ""))
    name = _NAME.match(text, found.end())
    return alone or bool(_BEGINS_A_CALL.match(text, found.end())) or bool(name and own_name(name[1], known) in known)


def read_section(text: str, at: int, known: Known) -> Section:
    """Calls from the mark at `at` to the end of `text`. Never raises."""
    reader = _Reader(text, at, known)
    reader.read()
    return Section(tuple(reader.calls), tuple(reader.faults), reader.behind.strip(), bool(PLAIN.match(text, at)))


class _Reader:
    """Reads forward from a place; each method leaves `at` behind what it has read."""

    def __init__(self, text: str, at: int, known: Known) -> None:
        self.text, self.at, self.known = text, at, known
        self.calls: list[Call] = []
        self.faults: list[str] = []
        self.behind = ""
        self._open = False
        self._count = 0  # calls and faults when the last section began

    def read(self) -> None:
        while len(self.faults) < MAX_FAULTS and self._next():
            if found := NAMED.match(self.text, self.at):
                self.at = found.end()
                self._arguments(own_name(name_in(found), self.known))
            elif found := END.match(self.text, self.at):
                self._close(found)
            elif found := START.match(self.text, self.at):
                self._begin(found)
            elif self._open:
                self._body()
            else:
                self._between()
        if self._open and not self._said():
            self._fault("Behind the mark of a tool call stands none")

    def _next(self) -> bool:
        """Whether something is left, blanks and left-over tokens passed over."""
        if blank := _BLANK.match(self.text, self.at):
            self.at = blank.end()
        if self._open and (fence := _FENCE.match(self.text, self.at)):
            self.at = fence.end()
            return self._next()
        return self.at < len(self.text)

    def _begin(self, found: re.Match[str]) -> None:
        self._open, self._count, self.at = True, len(self.calls) + len(self.faults), found.end()

    def _said(self) -> bool:
        return len(self.calls) + len(self.faults) > self._count

    def _close(self, found: re.Match[str]) -> None:
        if self._open and not self._said():
            self._fault("Between the marks of a tool call stands none")
        self._open, self.at = False, found.end()

    def _between(self) -> None:
        """Text outside marks: between two calls it is a thought, behind the last one it is kept."""
        if _RESULT.match(self.text, self.at):
            self.at = len(self.text)  # invented, and all behind it
            return
        following = START.search(self.text, self.at)
        end = following.start() if following else len(self.text)
        invented = _RESULT.search(self.text, self.at, end)
        said = self.text[self.at : invented.start() if invented else end]
        self.behind = said if following is None or invented else self.behind
        self.at = len(self.text) if invented else end

    def _body(self) -> None:
        """One form of a call, inside of marks."""
        text, at = self.text, self.at
        if text[at] == "{" or (text[at] == "[" and not WRITTEN.match(text, _behind_blanks(text, at + 1))):
            self._json()
        elif text[at] == "[":
            self._list()
        elif found := LOOSE.match(text, at):
            self._loose(found)
        elif found := WRITTEN.match(text, at):
            self._written(found)
        elif name := _NAME.match(text, at):
            self._name(name)
        else:
            self._unread()

    def _json(self) -> None:
        """Objects or a list of them, each a call."""
        begin = self.at
        try:
            value = self._value()
        except ArgumentsUnreadable as error:
            reason = str(error).removeprefix("the arguments are ")
            return self._fault(f"Your tool call could not be read: {reason}")
        for row in rows_of(value):
            self._row(row, begin)
        return None

    def _row(self, row: Any, begin: int) -> None:
        found = shaped(row, self.known, marked=True)
        if found is None:
            return self._fault(f"This is no tool call, which has a name and arguments: {_short(self.text[begin:])!r}")
        name = own_name(found[0], self.known)
        return self._take(name, found[1])

    def _value(self) -> Any:
        """The JSON that begins here; broken JSON goes to the next mark. Raises `ArgumentsUnreadable`."""
        try:
            value, self.at = _DECODER.raw_decode(self.text, self.at)
        except (ValueError, RecursionError):
            begin = self.at
            self._to_next_mark()
            return read_arguments(self.text[begin : self.at].strip().removesuffix("```"), cut=self.at == len(self.text))
        if surplus := _SURPLUS.match(self.text, self.at):
            self.at = surplus.end()
        return value

    def _list(self) -> None:
        """`[name(…), name(…)]`"""
        end = balanced(self.text, self.at)
        if end is None:
            return self._unclosed("a bracket or quote")
        self.at += 1
        while self._next() and self.at < end - 1:
            found = WRITTEN.match(self.text, self.at)
            if found is None or not self._written(found):
                self.at = end
                return self._fault(f"This list of calls cannot be read from here on: {_short(self.text[self.at :])!r}")
        self.at = end
        return None

    def _written(self, found: re.Match[str]) -> bool:
        """`name(…)`; whether it ends at all."""
        end = balanced(self.text, found.end() - 1)
        if end is None:
            self._unclosed("a bracket or quote")
            return False
        name, self.at = own_name(found[1], self.known), end
        spec = self.known.get(name)
        try:
            self.calls.append((name, written_arguments(self.text[found.end() : end - 1], spec) if spec else {}))
        except ArgumentsUnreadable as error:
            self._fault(f"Tool call {name!r}: {error}")
        return True

    def _loose(self, found: re.Match[str]) -> None:
        """`call:name{key:<escape>value<escape>}`"""
        name = own_name(found[1], self.known)
        raw, end = loose_object(self.text, found.end() - 1)
        if end is None:
            return self._unclosed("a bracket or quote")
        self.at = end
        return self._take(name, raw)

    def _name(self, found: re.Match[str]) -> None:
        """A name, with its arguments behind it."""
        name, self.at = own_name(found[1], self.known), found.end()
        between = BETWEEN.match(self.text, self.at)
        self.at = between.end() if between else self.at
        after = _behind_blanks(self.text, self.at)
        if between and name == "function" and name not in self.known and self.text[after : after + 1] != "{":
            return None  # a kind of call, whose name follows
        if between or END.match(self.text, after) or PARAMETER.match(self.text, after):
            return self._arguments(name)
        if self.text[after : after + 1] in ("{", "`"):
            return self._arguments(name)
        self.at = found.start(1)
        return self._unread()

    def _arguments(self, name: str) -> None:
        """Arguments behind a name: parameters between tags, or an object of JSON, or none where the call ends."""
        self._open = True
        self.at = _behind_blanks(self.text, self.at)
        if fence := _FENCE.match(self.text, self.at):
            self.at = _behind_blanks(self.text, fence.end())
        if PARAMETER.match(self.text, self.at):
            return self._parameters(name)
        if self.text[self.at : self.at + 1] == "{":
            try:
                return self._take(name, self._value())
            except ArgumentsUnreadable as error:
                return self._fault(f"Tool call {name!r}: {error}")
        if END.match(self.text, self.at):
            self.calls.append((name, {}))
            return None
        begin = self.at
        self._to_next_mark()
        said = self.text[begin : self.at].strip()
        return self._take(name, said) if said and self.at < len(self.text) else self._cut(name, said)

    def _parameters(self, name: str) -> None:
        spec, given = self.known.get(name), {}
        while found := PARAMETER.match(self.text, self.at):
            key = name_in(found)
            end = LAST_OF_PARAMETER.search(self.text, found.end())
            value = self.text[found.end() : end.start()] if end else ""
            if end is None or not _is_even(value) or key in given:
                self.at = found.end()
                self._to_next_mark()
                what = "is given twice" if key in given else "is not closed, or holds tags itself"
                return self._fault(f"Tool call {name!r}: the parameter {key!r} {what}")
            as_text = 'string="true"' in found[0] or "string='true'" in found[0]
            given[key] = value if as_text else parameter_value(spec, key, value)
            self.at = _behind_blanks(self.text, end.end())
        if not END.match(self.text, self.at):
            return self._fault(f"Tool call {name!r} is not closed: its end is missing, or stands elsewhere")
        self.calls.append((name, given))
        return None

    def _take(self, name: str, given: Any) -> None:
        try:
            self.calls.append((name, arguments_of(given, self.known.get(name))))
        except ArgumentsUnreadable as error:
            self._fault(f"Tool call {name!r}: {error}")

    def _cut(self, name: str, said: str) -> None:
        what = f"what follows its name cannot be read: {_short(said)!r}" if said else "it ends after its name"
        self._fault(f"Tool call {name!r}: {what}")

    def _unclosed(self, what: str) -> None:
        """Nothing behind here can be told from what is still open."""
        said, self.at = _short(self.text[self.at :]), len(self.text)
        self._fault(f"Your tool call could not be read: {what} is not closed in {said!r}")

    def _unread(self) -> None:
        begin = self.at
        self.at += 1
        self._to_next_mark()
        self._fault(
            f"Between the marks of a tool call stands none that can be read: {_short(self.text[begin : self.at])!r}"
        )

    def _to_next_mark(self) -> None:
        found = MARK.search(self.text, self.at)
        self.at = found.start() if found else len(self.text)

    def _fault(self, text: str) -> None:
        self.faults.append(f"{text}.")


def _is_even(value: str) -> bool:
    """Whether a value that holds tags of parameters closes as many as it opens."""
    opened = len(PARAMETER.findall(value))
    return opened == len(PARAMETER_END.findall(value)) and (opened > 0 or not _HOLE.search(value))


def _behind_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _short(text: str) -> str:
    text = text[:200].strip()
    return text if len(text) <= 80 else text[:80] + "…"
