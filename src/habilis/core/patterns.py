"""Regular expressions that are compiled at their first use: a start loads hundreds and needs a few."""

from __future__ import annotations

import re
from typing import Any, cast


def lazy_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """`re.compile(text, flags)`, later. Only its own methods may be used: functions of `re` want a compiled one."""
    return cast("re.Pattern[str]", _Pattern(text, flags))


class _Pattern:
    def __init__(self, text: str, flags: int) -> None:
        self.pattern, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self.pattern, self._flags), name)  # `re` keeps what it has compiled
        setattr(self, name, found)
        return found
