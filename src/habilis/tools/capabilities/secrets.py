"""Takes the values of granted variables out of all that a call gives back, before anyone writes it down.

It finds a value as it is and in the forms in which it is commonly passed on (JSON, URL, base64, hexadecimal). A tool
that wants to smuggle one out in another form can: it was trusted with it.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, quote_plus

from habilis.core.types import CallOutcome

SHORTEST = 6
"""Characters of a value that is taken for a secret; a shorter one (`1`, `true`, `eu`) would tear harmless text."""

_EDGE = re.compile(r"( …|it printed: )")
"""Where text that was cut begins or ends."""


class Secrets:
    """The values of granted variables, by name; each is replaced by `[API_TOKEN]` or whatever its name is."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._names = {form: name for name, value in values.items() for form in _forms(value)}
        ordered = sorted(self._names, key=len, reverse=True)
        self._any = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def text(self, text: str) -> str:
        """`text` without them."""
        return self._any.sub(lambda found: f"[{self._names[found[0]]}]", text) if self._any else text

    def data(self, data: bytes) -> bytes:
        """Bytes without them."""
        if not self._any:
            return data
        return self.text(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def value(self, value: Any) -> Any:
        """A JSON value without them, in keys too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {self.text(key): self.value(item) for key, item in value.items()}
        if isinstance(value, (int, float)) and not isinstance(value, bool) and str(value) in self._names:
            return f"[{self._names[str(value)]}]"
        return value

    def outcome(self, outcome: CallOutcome) -> CallOutcome:
        """All of an outcome without them; where text was cut, without the pieces of them that are left at the edges."""
        if not self._any:
            return outcome
        clean = CallOutcome.model_validate(self.value(outcome.model_dump(mode="json")))
        error = clean.error and clean.error.model_copy(update={"message": self._mended(clean.error.message)})
        return clean.model_copy(update={"error": error, "printed": self._mended(clean.printed)})

    def _mended(self, text: str) -> str:
        return "".join(part if _EDGE.fullmatch(part) else self._without_ends(part) for part in _EDGE.split(text))

    def _without_ends(self, text: str) -> str:
        """`text` without the end of a secret that it begins with and the beginning of one that it ends with."""
        bare = text.strip()
        for form, name in self._names.items():
            for length in range(len(form) - 1, SHORTEST - 1, -1):
                if bare.startswith(form[-length:]):
                    text = text.replace(form[-length:], f"[{name}]", 1)
                    break
            for length in range(len(form) - 1, SHORTEST - 1, -1):
                if bare.endswith(form[:length]):
                    text = f"[{name}]".join(text.rsplit(form[:length], 1))
                    break
        return text


def _forms(value: str) -> set[str]:
    """The forms of `value` to look for. A secret in several lines (a key, say) is looked for line by line too."""
    found: set[str] = set()
    for part in {value, value.strip(), *value.splitlines()}:
        raw = part.encode("utf-8", "surrogateescape")
        plain = base64.b64encode(raw).decode("ascii")
        found |= {part, json.dumps(part)[1:-1], quote(raw, safe=""), quote(raw), quote_plus(raw), plain}
        found |= {
            plain.rstrip("="),
            base64.urlsafe_b64encode(raw).decode("ascii").rstrip("="),
            raw.hex(),
            repr(part)[1:-1],
        }
        if len(part) < SHORTEST:
            found -= {part, *(form for form in found if len(form) < SHORTEST)}
    return {form for form in found if len(form) >= SHORTEST}
