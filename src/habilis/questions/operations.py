"""What the offline model can have tools for: an `DemoOperation` knows its names, its schema, its source, its finding.

Everything that depends on a tool's wording (tool name, field names) is found by meaning, so that a tool named
otherwise, or one already in the library, is recognised and called rightly.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from habilis.core.types import Effects
from habilis.questions.language import QUOTED, words

SlotType = Literal["string", "integer", "number", "boolean", "array_of_strings", "array_of_numbers", "object"]

View = Literal["value", "length", "names"]
"""What of a result is asked for: itself, how long it is, or the names in it without what follows them."""


@dataclass(frozen=True)
class OperationSlot:
    """One parameter or result by its meaning. `names` are what tools of any wording call it, the first by default."""

    role: str
    type: SlotType
    description: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Wording:
    """How a question that matches `when` names its tool: the tool, the noun in its description, its fields by role."""

    when: str
    name: str
    word: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DemoOperation:
    """One job that a tool can do.

    `description` may hold `{word}`. A tool is known by `marks`, each of which must be found in its name and
    description, and `bars`, which must not. `example` is what a tool is tried with, values by role, with small `files`
    of its own. `finding` says the result in words, from the values by role and the written `{value}`. `code` is the
    Python expression of the result, behind `checks` (what is wrong, what is said then) and statements that `prepare`;
    `$role` is an argument. `asked` are patterns of questions, whose groups are roles; `default` are values of roles
    that a question may leave out. `fill` completes the constants that the code needs.
    """

    key: str
    description: str
    inputs: tuple[OperationSlot, ...]
    output: OperationSlot
    wordings: tuple[Wording, ...]
    marks: tuple[str, ...]
    example: Mapping[str, Any]
    finding: str
    code: str
    bars: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    checks: tuple[tuple[str, str], ...] = ()
    prepare: tuple[str, ...] = ()
    asked: tuple[tuple[View, str], ...] = ()
    default: Mapping[str, str] = field(default_factory=dict)
    fill: Mapping[str, str] = field(default_factory=dict)

    @property
    def effects(self) -> Effects:
        return "reads" if any(slot.role == "path" for slot in self.inputs) else "pure"

    @property
    def gives_number(self) -> bool:
        """Whether the result can be calculated with; a value out of a document may be a number."""
        return self.output.type in ("integer", "number") or self.key == "json_value"


@dataclass(frozen=True)
class Fields:
    """A tool's own names for an operation's slots: field name by role, and the field that holds the result."""

    inputs: Mapping[str, str]
    output: str


def wording_for(operation: DemoOperation, question: str) -> Wording:
    """How `question` words this operation: by its words, else by a choice among the wordings for all others.

    That choice is seeded by the question's words without its values, so that equal questions make equal tools.
    """
    asked = [w for w in operation.wordings if w.when and re.search(rf"\b(?:{w.when})", question, re.IGNORECASE)]
    others = asked[:1] or [w for w in operation.wordings if not w.when] or [operation.wordings[-1]]
    bare = re.sub(QUOTED, " ", question)
    seed = hashlib.sha256(" ".join(word for word in words(bare) if word.isalpha()).encode()).digest()
    return others[seed[0] % len(others)]


def request_for(operation: DemoOperation, question: str) -> dict[str, Any]:
    """The tool request of a plan, worded after `question`."""
    wording = wording_for(operation, question)

    def described(slot: OperationSlot) -> dict[str, Any]:
        name = wording.fields.get(slot.role, slot.names[0])
        return {"name": name, "type": slot.type, "description": slot.description}

    return {
        "name": wording.name,
        "description": operation.description.format(word=wording.word),
        "parameters": [{**described(slot), "required": True} for slot in operation.inputs],
        "returns": [described(operation.output)],
    }


def recognise(
    name: str, description: str, parameters: Sequence[str], among: Iterable[DemoOperation]
) -> DemoOperation | None:
    """The operation that a tool does, by name, description and parameter names; None unless exactly one fits."""
    text = f"{' '.join(words(name))}. {description.lower()}"
    fitting = [
        operation
        for operation in among
        if all(re.search(rf"\b(?:{mark})", text, re.IGNORECASE) for mark in operation.marks)
        and not (operation.bars and re.search(rf"\b(?:{operation.bars})", text))
        and assign(operation.inputs, parameters) is not None
    ]
    return fitting[0] if len(fitting) == 1 else None


def assign(slots: Sequence[OperationSlot], names: Sequence[str]) -> dict[str, str] | None:
    """Field name by role, each name used once; None when a slot finds no name or a name is left over."""
    if len(slots) != len(names):
        return None
    if len(slots) == 1:
        return {slots[0].role: names[0]}
    pairs = sorted(
        ((-_likeness(slot, name), i, j) for i, slot in enumerate(slots) for j, name in enumerate(names)),
    )
    found: dict[str, str] = {}
    for score, i, j in pairs:
        if score < 0 and slots[i].role not in found and names[j] not in found.values():
            found[slots[i].role] = names[j]
    return found if len(found) == len(slots) else None


def _likeness(slot: OperationSlot, name: str) -> int:
    if name in slot.names:
        return 100
    mine, own = {word for known in slot.names for word in words(known)}, set(words(name))
    return 10 * len(mine & own) - len(own - mine) if mine & own else 0


def fields_of(operation: DemoOperation, inputs: Sequence[str], outputs: Sequence[str]) -> Fields | None:
    """The names in a tool's schemas by role; `error` is not a result. None when they do not fit the operation."""
    assigned = assign(operation.inputs, inputs)
    results = [name for name in outputs if name != "error"]
    return Fields(assigned, results[0]) if assigned is not None and len(results) == 1 else None


def result_of(operation: DemoOperation, output: Mapping[str, Any]) -> Any:
    """The result in a tool's output, whatever its field is called; None when there is none."""
    values = {key: value for key, value in output.items() if key != "error"}
    for name in (*operation.output.names, *values):
        if name in values:
            return values[name]
    return None
