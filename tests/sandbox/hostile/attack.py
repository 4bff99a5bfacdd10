"""One attempt of a tool that means harm, as a row of the table in this folder's files, one file per category."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Attack:
    """`source` is the body of the tool's `run`; `s` in it holds what the attacker may know of the host (`Scene`).

    `harm` says what must not have happened. What every attempt must leave as it was is looked at by `Scene.harms`;
    `silent` is what must not stand in the output besides. `told` is a regular expression that must match, from the
    beginning, what the model is told: `kind: message` of the error, or `output: ` with the JSON of its value. `told_on`
    has it for a level where that is something else. An attempt must also have begun: see `hostile/beginning.py`, and
    say `began()` in `source` where its point is not the last statement that does something.

    `slow`: for the slow run alone; `costly`: takes seconds, so the quick run tries it in one place alone.

    `granted`: the call has a door to one host (`hostile/granted.py`); `any_host`: to any public one as well.

    `beside` is a call at the same time in the same server, which must answer `unharmed`, and `after` one that follows,
    which must answer `[]`: what finds what the attempt left says so there (`hostile/warm_host.py`).

    `before` are calls that come first, of the same tool, and must answer `done`.

    `programs`: the call is granted to start programs, so that what holds it are the walls behind that.

    `known` are strict expected failures: level, or `level/user`, and the reason; at the levels of `by_chance` time
    decides whether it gets through. `settings` are the sandbox's, and its limits.
    """

    name: str
    harm: str
    told: str
    source: str
    silent: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    timeout_s: float = 20.0
    known: Mapping[str, str] = field(default_factory=dict)
    slow: bool = False
    costly: bool = False
    granted: bool = False
    any_host: bool = False
    told_on: Mapping[str, str] = field(default_factory=dict)
    programs: bool = True
    by_chance: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    beside: str = ""
    after: str = ""

    @property
    def warm(self) -> bool:
        """Whether it needs a warm server."""
        return bool(self.beside)

    def told_at(self, level: str) -> str:
        """What the model must be told there."""
        return self.told_on.get(level, self.told)

    def reason_to_fail(self, level: str, user: str) -> str | None:
        """Why this attempt gets through there, as far as that is known."""
        return self.known.get(level) or self.known.get(f"{level}/{user}")


DENIED = "denied: "
NO_NETWORK = "denied: no network in the sandbox"
NOT_PERMITTED = r"denied: the sandbox refused it.*Operation not permitted"
OUT_OF_SIGHT = r"denied: (a tool sees its task's files|the sandbox refused it)"
"""A path that is not there (bubblewrap) or may not be opened (Landlock): the model reads the same advice."""
NOTHING_FOUND = r'output: (\[\]|\{\}|""|null)$'
