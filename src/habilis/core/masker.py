"""The one masker: told of every secret, it takes them out of whatever is written, shown, logged or handed on.

Each stands as `[NAME]` then, by its variable or setting. It is told when settings are read (`habilis.config.secrets`)
and when a variable is granted. What goes to models and tools is not its affair; what comes from them is masked as it
comes in, and once more by each way out (`rundir.files`, the tape, checkpoints, events, the terminal, MCP's lines).

Somebody who means to smuggle a secret out in a form of his own can: he was trusted with it.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

from habilis.core.disguises import SHORTEST, Sought, Span, is_wide, needles
from habilis.core.types import CallOutcome

M = TypeVar("M", bound=BaseModel)
LEAST_DIGITS = 8
"""Digits of a number that may be a secret: a shorter one is more likely a count, and a record must stay readable."""
WINDOW = 1 << 16
"""Bytes of a long text that are read at once: what a search takes of memory does not grow with the text."""
_SPREAD = 40
"""Bytes that one byte of a secret can take in any of its forms."""
_BEFORE = 16
_CUT = re.compile(r"( …|… |it printed: )")
"""Where text that was cut begins or ends."""
PLACEHOLDERS = frozenset(
    (
        *("anything", "changeme", "dummy", "dummy-key", "lm-studio", "lmstudio", "no-key", "no-key-required"),
        *("not-needed", "not-required", "not-used", "ollama", "placeholder", "sk-no-key-required", "sk-not-needed"),
        *("token-abc123", "unused", "xxxxxx", "your-api-key", "your_api_key"),
    )
)
"""What the handbooks of local servers tell people to put where a key is asked for. No secret; some name a host too."""


class Masker:
    """Replaces secrets by their names. Without any it costs nothing. Safe for concurrent use."""

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._told: dict[str, str] = {}
        self._sought = Sought()
        self.told = 0
        """How many secrets it knows: what was masked before may look otherwise when that has changed."""
        self._lock = threading.Lock()
        for name, value in (values or {}).items():
            self.add(name, value)

    def add(self, name: str, value: str | None) -> None:
        """Have `value` replaced by `[name]` from now on. What is short or no secret (`PLACEHOLDERS`) is left."""
        if not value or len(value.strip()) < SHORTEST or value.strip().lower() in PLACEHOLDERS or value in self._told:
            return
        with self._lock:
            self._told[value] = name
            self.told = len(self._told)
            known = {(needle.kind, needle.form) for needle in self._sought.needles}
            new = {(n.kind, n.form): n for n in needles(name, value) if (n.kind, n.form) not in known}
            together = sorted((*self._sought.needles, *new.values()), key=lambda needle: -len(needle.form))
            self._sought = Sought(together, wide=self._sought.wide or is_wide(value))

    def forget(self) -> None:
        """Know no secret any more: for tests, which plant theirs one after another."""
        with self._lock:
            self._told, self._sought, self.told = {}, Sought(), 0

    # --- what is masked

    def text(self, text: str) -> str:
        """`text` without secrets; the same object where there is none."""
        if not self._told or len(text) < SHORTEST:
            return text
        data = text.encode("utf-8", "surrogatepass")
        clean = self.data(data)
        return text if clean is data else clean.decode("utf-8", "surrogatepass")

    def data(self, data: bytes) -> bytes:
        """Bytes without secrets; the same object where there is none."""
        for _ in range(3):  # what a replacement has brought together is looked at again
            found = self._found(data)
            if not found:
                break
            data = _replaced(data, found)
        return data

    def sees(self, data: bytes) -> bool:
        """Whether a secret stands in `data`, in any form."""
        sought = self._sought
        return bool(sought.needles) and any(sought.seen(part) for _, part in _windows(data, sought))

    def value(self, value: Any) -> Any:
        """A JSON value without secrets, in keys too; the same object where there is none."""
        if not self._told:
            return value
        if isinstance(value, str):
            return self.text(value)
        whole = json.dumps(value, ensure_ascii=False, default=str)
        return self._value(value) if self.sees(whole.encode("utf-8", "surrogatepass")) else value

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, (list, tuple)):
            return [self._value(item) for item in value]
        if isinstance(value, dict):
            return {self.text(key) if isinstance(key, str) else key: self._value(item) for key, item in value.items()}
        if isinstance(value, int) and not isinstance(value, bool) and len(str(value)) >= LEAST_DIGITS:
            return f"[{self._told[str(value)]}]" if str(value) in self._told else value
        return value

    def model(self, model: M) -> M:
        """A model without secrets in its text; the same object where there is none."""
        if not self._told:
            return model
        dumped = model.model_dump(mode="json")
        clean = self.value(dumped)
        return model if clean is dumped else type(model).model_validate(clean)

    def document(self, data: bytes) -> bytes:
        """JSON, or lines of it, without secrets, and still JSON: a number that is one becomes text."""
        if not self.sees(data):
            return data
        try:
            return _dumped(self._value(json.loads(data))) + data[len(data.rstrip()) :]
        except (ValueError, RecursionError):
            return b"\n".join(map(self._line, data.split(b"\n")))

    def _line(self, line: bytes) -> bytes:
        try:
            return _dumped(self._value(json.loads(line))) if self.sees(line) else line
        except (ValueError, RecursionError):
            return self.data(line)

    def outcome(self, outcome: CallOutcome) -> CallOutcome:
        """All of an outcome without secrets; where text was cut, without what is left of them at the edges."""
        if not self._told:
            return outcome
        clean = self.model(outcome)
        error = clean.error and clean.error.model_copy(update={"message": self.mended(clean.error.message)})
        printed = self.mended(clean.printed)
        if error == outcome.error and printed == outcome.printed:
            return clean
        return clean.model_copy(update={"error": error, "printed": printed})

    def mended(self, text: str) -> str:
        """Text that was cut somewhere, without the pieces of secrets that are left at its edges."""
        if not self._told or len(text) < SHORTEST:
            return text
        return "".join(part if _CUT.fullmatch(part) else self._without_ends(part) for part in _CUT.split(text))

    def _without_ends(self, text: str) -> str:
        data = self.data(text.encode("utf-8", "surrogatepass"))
        near = _SPREAD * self._sought.longest
        for part in (data[:near], data[-near:]):
            left = [span for span in self._sought.edges(part) if not _is_name(part, span)]
            data = data.replace(part, _replaced(part, left), 1) if left else data
        return data.decode("utf-8", "surrogatepass")

    def pieces(self, say: Callable[[str], object]) -> Pieces:
        """For text that comes in pieces, in two of which a secret may lie: what tells it to `say`."""
        return Pieces(self, say)

    # --- inside

    def to_come(self, data: bytes) -> int:
        """How many bytes at the end of `data` may be the beginning of a secret whose rest is to come."""
        return self._sought.may_go_on(data[-_SPREAD * self._sought.longest :]) if self._told else 0

    def _found(self, data: bytes) -> list[Span]:
        sought = self._sought
        return [
            Span(at + span.begin, at + span.end, span.name)
            for at, part in (_windows(data, sought) if sought.needles else ())
            if sought.seen(part)
            for span in sought.spans(part)
            if not _is_name(part, span)
        ]


def _windows(data: bytes, sought: Sought) -> Iterable[tuple[int, bytes]]:
    """`data` in parts that overlap, so that a secret stands in one of them whole; each with its place."""
    overlap = min(_SPREAD * sought.longest, WINDOW)
    if len(data) <= WINDOW + overlap:
        return ((0, data),)
    begins = (max(at - _BEFORE, 0) for at in range(0, len(data), WINDOW))
    return ((at, data[at : at + _BEFORE + WINDOW + overlap]) for at in begins)


def _is_name(data: bytes, span: Span) -> bool:
    """Whether what stands there is the mask already (a replayed variable holds its own name)."""
    return data[span.begin : span.end] == f"[{span.name}]".encode()


class Pieces:
    """Holds back as much of the last piece as may be the beginning of a secret. `end` lets go of the rest."""

    def __init__(self, masker: Masker, say: Callable[[str], object]) -> None:
        self._masker, self._say = masker, say
        self._held = ""

    def __call__(self, text: str) -> None:
        """Take a piece in and say what of it may be said."""
        whole = (self._held + text).encode("utf-8", "surrogatepass")
        clean = self._masker.data(whole)
        kept = self._masker.to_come(clean)
        said, held = (clean[: len(clean) - kept], clean[len(clean) - kept :]) if kept else (clean, b"")
        self._held = held.decode("utf-8", "surrogatepass")
        if said:
            self._say(said.decode("utf-8", "surrogatepass"))

    def end(self) -> None:
        """Say what was held back: nothing more comes."""
        rest, self._held = self._masker.text(self._held), ""
        if rest:
            self._say(rest)


def _replaced(data: bytes, found: Iterable[Span]) -> bytes:
    """`data` with a name in the place of each span; of spans that overlap the longest gives the name."""
    merged: list[tuple[int, int, Span]] = []
    for span in sorted(found, key=lambda span: (span.begin, -span.end)):
        if merged and span.begin < merged[-1][1]:
            begin, end, first = merged[-1]
            longest = max(first, span, key=lambda one: one.end - one.begin)
            merged[-1] = (begin, max(end, span.end), longest)
        else:
            merged.append((span.begin, span.end, span))
    parts, at = [], 0
    for begin, end, span in merged:
        parts += [data[at:begin], f"[{span.name}]".encode()]
        at = end
    return b"".join((*parts, data[at:]))


def _dumped(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")


MASKER = Masker()
"""The masker of this process, as its environment is the process's: whoever reads a secret tells it, every way out asks
it. Tools' calls of a replay, whose variables hold their own names, have maskers of their own."""
