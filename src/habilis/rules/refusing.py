"""What no judge need be asked about: rules by which an answer is refused before any model is.

Each rule has a name, which stands in the record and in what the next plan is told. A rule refuses what is surely no
answer, and leaves the rest to others: what it does not see it does not accept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from habilis.core.types import Invocation, TaskFile
from habilis.grounding import Known, unfounded
from habilis.grounding.telling import listed
from habilis.rules import arguments, ends, other_kinds, retelling, units
from habilis.rules.arguments import invented_arguments
from habilis.rules.evidence import Evidence, Refusal, plain, stands_in
from habilis.rules.phrases import EXCEPTION, UNDONE

NO_CALL = "no call succeeded"
MAX_TEXT = 20_000
"""Characters of an answer that are looked through."""
COMPUTED = frozenset(("number", "date"))
STATED = COMPUTED | {"quotation", "name"}
"""Kinds of values that must stand somewhere: without any result of a call, and with one."""
VALUES = "\n  where "
"""What an error's text ends with: the values that it met. They may be the file's own, and right."""
SHORTEST_ERROR = 16
"""Characters of an error's text that must stand in an answer for it to be that error's."""


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
    answer, results = plain(evidence.answer), plain(evidence.results)
    for call in evidence.calls:
        if call in evidence.succeeded:
            continue
        for line in _error_lines(call):
            if line in answer and line not in results:
                return f"the answer gives the text of an error of {call.tool} as its result"
    found = EXCEPTION.search(evidence.answer[:MAX_TEXT])
    if found and plain(found[0]) not in results:
        return f"the answer gives the text of an error as its result ({found[0].strip(' :(')})"
    return None


def _error_lines(call: Invocation) -> list[str]:
    """The lines of what a failed call said that are long enough to be known again."""
    error = call.outcome.error
    output = call.outcome.output
    said = (
        error.message.partition(VALUES)[0]
        if error
        else str(output.get("error") or "")
        if isinstance(output, dict)
        else ""
    )
    parts = [plain(part) for part in re.split(r"\n|; |: (?=\S+ )", said[:2_000])]
    return [part for part in [plain(said[:2_000]), *parts] if len(part) >= SHORTEST_ERROR]


def _says_undone(evidence: Evidence) -> str | None:
    results = plain(evidence.results)
    for found in UNDONE.finditer(evidence.answer[:MAX_TEXT]):
        if plain(found[0]) not in results:  # what a file or a page says is no word of the answer's own
            return (
                f'the answer says that something is missing, or could not be answered ("{" ".join(found[0].split())}")'
            )
    return None


def _opened_no_file(evidence: Evidence) -> str | None:
    reading = [call for call in evidence.behind if any(_read(call, file, evidence) for file in evidence.files)]
    reading = reading or evidence.succeeded  # what this execution did may rest on what an earlier one read
    left = [file for file in evidence.files if not any(_read(call, file, evidence) for call in reading)]
    if left and len(left) < len(evidence.files):
        left = [file for file in left if _is_named(file, evidence)]
    if not left:
        return None
    names = ", ".join(file.named for file in left[:3])
    which = "a file of the question" if len(left) == len(evidence.files) else "each file that the question names"
    return f"no call that succeeded opened {which} ({names}); read it with a tool, or have one built"


def opened_a_file(call: Invocation, evidence: Evidence) -> bool:
    """Whether `call` opened one of the files that the question brought."""
    return any(_read(call, file, evidence) for file in evidence.files)


def _is_named(file: TaskFile, evidence: Evidence) -> bool:
    return stands_in(plain(Path(file.named).name), plain(evidence.question))


def _read(call: Invocation, file: TaskFile, evidence: Evidence) -> bool:
    """Whether `call` opened a file of the question: as recorded, or where nothing records it, as its arguments say."""
    if any(Path(name).is_relative_to(file.path) for name in call.outcome.opened):
        return True
    if call.tool not in evidence.unseen:
        return False
    said = json.dumps(call.arguments, ensure_ascii=False)
    return file.path in said or Path(file.named).name in said


def _values_from_nowhere(evidence: Evidence) -> str | None:
    results = evidence.given
    # What stands in the beginning of a file alone was found by no call: it may be of any row.
    begins = [" ".join(column.name for column in evidence.columns)] if results else evidence.begins
    sources = [*results, *evidence.called, *evidence.known, *begins]
    known = Known(sources, evidence.question, folders=evidence.folders)
    # What a model knows or words by itself is for the judge; what it computes needs a call.
    kinds = STATED if results else COMPUTED
    found = tuple(value for value in unfounded(evidence.answer[:MAX_TEXT], known) if value.kind in kinds)
    if not found:
        return None
    return f"{listed(found)} in no result of a call, nor in the question"


def mistelling(evidence: Evidence) -> Refusal | None:
    """The same of an answer that is made of accepted findings: whether it says of the results what they say."""
    return next((Refusal(name, said) for name in RETELLING if (said := RULES[name](evidence))), None)


Rule = Callable[[Evidence], str | None]
RULES: dict[str, Rule] = {
    NO_CALL: _no_call_succeeded,
    "an error's text": _states_an_error,
    "something missing": _says_undone,
    "no file opened": _opened_no_file,
    "arguments from nowhere": arguments.from_nowhere,
    "another target": arguments.other_target,
    "values from nowhere": _values_from_nowhere,
    "another record": retelling.other_record,
    "another choice": retelling.other_choice,
    "turned round": retelling.turned_round,
    "a bound for a value": retelling.bound_for_value,
    "nothing of the results": retelling.nothing_of_the_results,
    "another word": retelling.other_word,
    "a number for a name": other_kinds.number_for_name,
    "a date for a number": other_kinds.date_for_number,
    "no number": other_kinds.text_for_number,
    "another field": retelling.other_field,
    "another row": retelling.other_row,
    "a unit from nowhere": units.from_nowhere,
    "the unit that was given": units.one_given,
    "the other end": ends.other_end,
    "none of what is there": ends.none_of_what_is_there,
    "another count": ends.other_count,
}
"""By their names, in the order in which they are tried."""
TELLING = frozenset(
    (
        "values from nowhere",
        "another record",
        "another choice",
        "turned round",
        "a bound for a value",
        "nothing of the results",
        "another word",
        "a number for a name",
        "a date for a number",
        "no number",
        "another field",
        "another row",
        "a unit from nowhere",
        "the unit that was given",
    )
)
"""Rules that refuse what is said of results, where the results may be good."""
WORK = frozenset(("the other end", "none of what is there", "another count"))
"""Rules that the files themselves speak for: what the call gave is wrong, and its tool gives it again."""
RETELLING = ("an error's text", *sorted(TELLING - {"values from nowhere"}))
"""Rules that an answer is held against once more when it is made of findings that were accepted."""

__all__ = [
    "RULES",
    "TELLING",
    "WORK",
    "Evidence",
    "Refusal",
    "invented_arguments",
    "mistelling",
    "refusal",
]
