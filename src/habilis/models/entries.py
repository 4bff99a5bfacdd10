"""A finished model call, as a line of the tape tells of it (`models.tape`)."""

from __future__ import annotations

from dataclasses import dataclass, field

from habilis.core.types import Role, Usage
from habilis.models.wire import Plain


@dataclass(frozen=True)
class Entry:
    """A finished model call. `error` is set for a refusal; a `final` one ended the task that met it."""

    role: Role
    key: str
    n: int
    purpose: str
    mode: str
    messages: tuple[str, ...]
    model: str
    reply: Plain | None
    error: str | None = None
    final: bool = False
    usage: Usage = field(default_factory=Usage)

    @classmethod
    def of(cls, line: Plain) -> Entry:
        """What `line` tells of. Raises KeyError, TypeError or ValueError for one that tells of no call."""
        return cls(
            **{name: line[name] for name in ("role", "key", "n", "purpose")},
            mode=line.get("mode", ""),
            messages=tuple(line["messages"]),
            model=line.get("model", ""),
            reply=line.get("reply"),
            error=line.get("error"),
            final=line.get("final", False),
            usage=Usage.model_validate(line.get("usage", {})),
        )

    def line(self) -> Plain:
        """The line that tells of it."""
        line: Plain = {
            "kind": "refusal" if self.reply is None else "reply",
            "role": self.role,
            "key": self.key,
            "n": self.n,
            "purpose": self.purpose,
            "mode": self.mode,
            "model": self.model,
            "messages": list(self.messages),
            "usage": self.usage.model_dump(mode="json", exclude_none=True),
        }
        return line | ({"error": self.error, "final": self.final} if self.reply is None else {"reply": self.reply})
