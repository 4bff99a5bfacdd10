"""What no judge need be asked about: rules by which an answer is refused before any model is.

Each rule has a name, which stands in the record and in what the next plan is told. A rule refuses what is surely no
answer, and leaves the rest to others: what it does not see it does not accept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from habilis.agents.grounding import Known, founded_by, unfounded
from habilis.agents.grounding.telling import listed
from habilis.agents.phrases import AGAINST, EXCEPTION, UNDONE
from habilis.core.types import Invocation, TaskFile
from habilis.tools.results import as_text

MAX_TEXT = 20_000
"""Characters of an answer that are looked through."""
MAX_LEAVES = 1_000
"""Values of one list of arguments that are looked at."""
SHORT_TEXT, SMALL_NUMBER = 3, 10
"""A text of so many characters, a whole number up to that, may be an option's default: nobody need have given it."""
COMPUTED = frozenset(("number", "date"))
STATED = COMPUTED | {"quotation", "name"}
"""Kinds of values that must stand somewhere: without any result of a call, and with one."""
SHORTEST_ERROR = 16
"""Characters of an error's text that must stand in an answer for it to be that error's."""


@dataclass(frozen=True)
class Evidence:
    """What an answer is held against. `calls` are all of the task, `attempt` says which execution gave the answer.

    `files` are those that the question brought, `known` texts that need no call: earlier turns, names and beginnings
    of files, what the user said.
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

    @cached_property
    def results(self) -> str:
        """All that is known without the answer, as one text."""
        return "\n".join([self.question, *self.known, *(call.text for call in self.succeeded)])

    @property
    def behind(self) -> list[Invocation]:
        """The calls that the answer rests on: those of its execution that gave a result, else of the task."""
        own = [call for call in self.succeeded if call.attempt == self.attempt]
        return own or self.succeeded


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
            return (
                f'the answer says that something is missing, or could not be answered ("{" ".join(found[0].split())}")'
            )
    return None


def _opened_no_file(evidence: Evidence) -> str | None:
    if not evidence.files or any(opened_a_file(call, evidence) for call in evidence.succeeded):
        return None
    names = ", ".join(file.named for file in evidence.files[:3])
    return f"no call that succeeded opened a file of the question ({names}); read it with a tool, or have one built"


def opened_a_file(call: Invocation, evidence: Evidence) -> bool:
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


def _arguments_from_nowhere(evidence: Evidence) -> str | None:
    invented = [c for c in evidence.behind if c.tool not in evidence.unseen and invented_arguments(c, evidence)]
    if not invented or len(invented) < len(evidence.behind):
        return None  # which call an answer rests on cannot be told: one good one is enough
    call = invented[-1]
    given = json.dumps(call.arguments, ensure_ascii=False)[:200]
    return f"the arguments of {call.tool} stand in no question, file or earlier result: {given}"


def invented_arguments(call: Invocation, evidence: Evidence) -> bool:
    """Whether the values that `call` worked on come from nowhere: most numbers of a list, or every single value."""
    before = [one.text for one in evidence.succeeded if one.ordinal < call.ordinal]
    known = Known([*before, *evidence.known], evidence.question)
    text = _plain("\n".join([evidence.question, *evidence.known, *before]))
    leaves = list(_leaves(call.arguments))
    for numbers in _lists(call.arguments):
        if 2 * sum(bool(unfounded(_written(number), known)) for number in numbers) > len(numbers):
            return True
    telling = [leaf for leaf in leaves if _tells(leaf)]
    return bool(telling) and not any(_stands(leaf, known, text) for leaf in leaves)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value[:MAX_LEAVES]:
            yield from _leaves(item)
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
        yield value


def _lists(value: Any) -> Iterator[list[int | float]]:
    """Lists of at least two numbers in `value`: data that someone must have given."""
    if isinstance(value, dict):
        for item in value.values():
            yield from _lists(item)
    elif isinstance(value, list):
        numbers = [item for item in value[:MAX_LEAVES] if isinstance(item, (int, float)) and not isinstance(item, bool)]
        if len(numbers) > 1 and len(numbers) == len(value[:MAX_LEAVES]):
            yield numbers
        else:
            for item in value[:MAX_LEAVES]:
                yield from _lists(item)


def _tells(leaf: str | int | float) -> bool:
    """Whether a value is one that an option would hardly have: small numbers and short words are defaults."""
    return len(leaf) > SHORT_TEXT if isinstance(leaf, str) else abs(leaf) > SMALL_NUMBER or leaf != int(leaf)


def _stands(leaf: str | int | float, known: Known, text: str) -> bool:
    if not isinstance(leaf, str):
        return not unfounded(_written(leaf), known)
    words = [_plain(word) for word in re.findall(r"[^\W\d_]{3,}|[^\W\d_a-zA-Z]", leaf)]
    if _plain(leaf) in text or any(word in text for word in words):
        return True
    numbers = [value for value in founded_by(leaf, known) if value.kind in ("number", "date")]
    return bool(numbers) and all(value.rule for value in numbers)


def _written(number: int | float) -> str:
    return str(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)


def _values_from_nowhere(evidence: Evidence) -> str | None:
    given = {text: None for call in evidence.succeeded for text in (call.text, as_text(call.outcome.output)) if text}
    results = sorted(given, key=len)  # what is read of very long ones is bounded: short ones first
    called = [f"{call.tool} {json.dumps(call.arguments, ensure_ascii=False)}" for call in evidence.calls]
    known = Known([*results, *called, *evidence.known], evidence.question)
    # What a model knows or words by itself is for the judge; what it computes needs a call.
    kinds = STATED if results else COMPUTED
    found = tuple(value for value in unfounded(evidence.answer[:MAX_TEXT], known) if value.kind in kinds)
    if not found:
        return None
    return f"{listed(found)} in no result of a call, nor in the question"


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


Rule = Callable[[Evidence], str | None]
RULES: dict[str, Rule] = {
    "no call succeeded": _no_call_succeeded,
    "an error's text": _states_an_error,
    "something missing": _says_undone,
    "no file opened": _opened_no_file,
    "arguments from nowhere": _arguments_from_nowhere,
    "values from nowhere": _values_from_nowhere,
}
"""By their names, in the order in which they are tried."""
