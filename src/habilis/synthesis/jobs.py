"""What a smith has to make: how its writer is asked, what a candidate has to be, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

from habilis.core.types import Frozen
from habilis.prompts import Rendered
from habilis.synthesis.codeblocks import extract_code
from habilis.synthesis.gate import Passed, Wanted
from habilis.synthesis.new_example import NewExample
from habilis.synthesis.skeleton import with_imports

ATTEMPTS = 3
"""At writing or mending one tool: a writer that fails three times, told why each time, fails a fourth time too."""
SAME_AGAIN = "This is the version that failed before, letter by letter. It still fails; change what the reason names."

Purpose = Literal["build", "enhance", "merge"]
Failed = TypeVar("Failed")


class Declined(Exception):
    """A writer says that what it is asked for is not to be made; the text says why."""


class BuildFailure(Frozen):
    """A requested tool could not be built. `reason` is for the manager's next plan."""

    name: str
    reason: str


class EnhanceFailure(Frozen):
    """No attempt to mend a tool passed; the tool stays as it was."""

    reason: str


class MergeFailure(Frozen):
    """No attempt to make one tool of several passed; all of them stay."""

    reason: str


@dataclass(frozen=True)
class Job:
    """What is to be made: how the writer is asked, and what a candidate has to be."""

    purpose: Purpose
    prompt: Callable[[str], Rendered]
    wanted: Wanted
    whole: Callable[[str], str] = str
    """Puts before a module what its writer left out of it."""
    example: NewExample | None = None
    """Where an example comes from when the module's cannot be used."""
    attempts: int = ATTEMPTS
    wanted_of: Callable[[str, Wanted], Wanted] = lambda _reply, wanted: wanted
    """What a candidate has to be by the reply that it came in. Raises `WriterFailed`."""

    def module(self, reply: str) -> str:
        """The whole module in a reply. Raises `WriterFailed`."""
        return with_imports(self.whole(extract_code(reply)))


@dataclass(frozen=True)
class Forged:
    attempts: int
    passed: Passed
