"""What no judge need be asked about: rules by which an answer is refused before any model is.

Each rule has a name, which stands in the record and in what the next plan is told. A rule refuses what is surely no
answer, and leaves the rest to others: what it does not see it does not accept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from habilis.agents.phrases import AGAINST, EXCEPTION, UNDONE
from habilis.core.types import Invocation, TaskFile

MAX_TEXT = 20_000
"""Characters of an answer that are looked through."""
SHORTEST_ERROR = 16
"""Characters of an error's text that must stand in an answer for it to be that error's."""


@dataclass(frozen=True)
class Evidence:
    """What an answer is held against. `calls` are all of the task, `attempt` says which execution gave the answer.

    `files` are those that the question brought, `known` texts that need no call: earlier turns, what the user said.
    `unseen` are names of tools of which no record tells what they read: they run elsewhere, or have packages of their
    own, which may open files without Python's knowledge.
    """

    answer: str
    question: str
    calls: Sequence[Invocation]
    attempt: int
    files: Sequence[TaskFile] = ()
    known: Sequence[str] = ()
    unseen: frozenset[str] = frozenset()

    @property
    def succeeded(self) -> list[Invocation]:
        """Calls that gave a result, in any execution."""
        return [call for call in self.calls if call.outcome.error is None and call.verdict in ("success", None)]

    @property
    def results(self) -> str:
        """All that is known without the answer, as one text."""
        return "\n".join([self.question, *self.known, *(call.text for call in self.succeeded)])


@dataclass(frozen=True)
class Refusal:
    """Why an answer is refused: the rule's name, and a sentence that the next plan is told."""

    rule: str
    reason: str


def refusal(evidence: Evidence) -> Refusal | None:
    """The first rule that refuses the answer, or None where no rule does."""
    for name, rule in RULES.items():
        if reason := rule(evidence):
            return Refusal(name, reason)
    return None


def _no_call_succeeded(evidence: Evidence) -> str | None:
    made = [call for call in evidence.calls if call.attempt == evidence.attempt]
    if not made or any(call in evidence.succeeded for call in made):
        return None
    tools = ", ".join(dict.fromkeys(call.tool for call in made))
    return f"no tool call succeeded in this attempt ({tools}), so nothing bears the answer out"


def _states_an_error(evidence: Evidence) -> str | None:
    answer, results = _plain(evidence.answer), _plain(evidence.results)
    for call in evidence.calls:
        if call in evidence.succeeded:
            continue
        for line in _error_lines(call):
            if line in answer and line not in results:
                return f"the answer gives the text of an error of {call.tool} as its result"
    found = EXCEPTION.search(evidence.answer[:MAX_TEXT])
    if found and _plain(found[0]) not in results:
        return f"the answer gives the text of an error as its result ({found[0].strip(' :(')})"
    return None


def _error_lines(call: Invocation) -> list[str]:
    """The lines of what a failed call said that are long enough to be known again."""
    error = call.outcome.error
    output = call.outcome.output
    said = error.message if error else str(output.get("error") or "") if isinstance(output, dict) else ""
    parts = [_plain(part) for part in re.split(r"\n|; |: (?=\S+ )", said[:2_000])]
    return [part for part in [_plain(said[:2_000]), *parts] if len(part) >= SHORTEST_ERROR]


def _says_undone(evidence: Evidence) -> str | None:
    results = _plain(evidence.results)
    for found in UNDONE.finditer(evidence.answer[:MAX_TEXT]):
        if _plain(found[0]) not in results:  # what a file or a page says is no word of the answer's own
            return f'the answer says that something is missing, or could not be answered ("{" ".join(found[0].split())}")'
    return None


def _opened_no_file(evidence: Evidence) -> str | None:
    if not evidence.files or any(_read_a_file(call, evidence) for call in evidence.succeeded):
        return None
    names = ", ".join(file.named for file in evidence.files[:3])
    return f"no call that succeeded opened a file of the question ({names}); read it with a tool, or have one built"


def _read_a_file(call: Invocation, evidence: Evidence) -> bool:
    """Whether `call` opened a file of the question: as recorded, or where nothing records it, as its arguments say."""
    if any(Path(name).is_relative_to(file.path) for name in call.outcome.opened for file in evidence.files):
        return True
    if call.tool not in evidence.unseen:
        return False
    said = json.dumps(call.arguments, ensure_ascii=False)
    return any(name in said for file in evidence.files for name in (file.path, Path(file.named).name))


def speaks_against(reason: str) -> bool:
    """Whether a judge's reason contradicts its word that the answer is good."""
    return AGAINST.search(reason) is not None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


Rule = Callable[[Evidence], str | None]
RULES: dict[str, Rule] = {
    "no call succeeded": _no_call_succeeded,
    "an error's text": _states_an_error,
    "something missing": _says_undone,
    "no file opened": _opened_no_file,
}
"""By their names, in the order in which they are tried."""
