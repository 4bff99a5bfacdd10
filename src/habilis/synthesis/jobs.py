"""What a smith has to make: how its writer is asked, what a candidate has to be, and what came of it."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

from habilis.contract.names import safe_name
from habilis.core.events import Event, ToolGivenUp
from habilis.core.place import raise_place
from habilis.core.types import Frozen, ToolRequest
from habilis.prompts import Rendered
from habilis.synthesis.codeblocks import extract_code
from habilis.synthesis.gate import Passed, Wanted
from habilis.synthesis.new_example import NewExample
from habilis.synthesis.skeleton import with_imports

ATTEMPTS = 3
"""At writing or mending one tool: a writer that fails three times, told why each time, fails a fourth time too."""
SAME_AGAIN = "You sent the same code again, and it fails again. Write the module anew, in another way. It fails so:"

Purpose = Literal["build", "enhance", "merge"]
Failed = TypeVar("Failed")


class NotOneTool(Exception):
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
class SmithJob:
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


@contextlib.contextmanager
def disk_told(name: str, emit: Callable[[Event], None]) -> Iterator[list[BuildFailure]]:
    """What a disk refuses while the tool `name` is built costs that tool alone: the list holds the failure then."""
    failures: list[BuildFailure] = []
    try:
        yield failures
    except OSError as error:
        raise_place(error, ours=True)
        reason = f"a file could not be written: {error.strerror or error}"
        emit(ToolGivenUp(tool=safe_name(name), purpose="build", reason=reason))
        failures.append(BuildFailure(name=name, reason=reason))


def request_key(request: ToolRequest) -> str:
    """Equal for equal requests, order of keys ignored."""
    return hashlib.sha256(json.dumps(request.model_dump(), sort_keys=True).encode()).hexdigest()[:32]
