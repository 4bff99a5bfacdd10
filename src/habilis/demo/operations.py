"""What the offline model can have tools for: an `Operation` knows its names, its schema, its source, its finding.

Everything that depends on a tool's wording (tool name, field names) is found by meaning, so that a tool named
otherwise, or one already in the library, is recognised and called rightly.
"""

from __future__ import annotations

import hashlib
import pprint
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from string import Template
from typing import Any, Literal

from habilis.core.types import Effects
from habilis.demo.language import QUOTED, words

SlotType = Literal["string", "integer", "number", "boolean", "array_of_strings", "array_of_numbers", "object"]

_ANNOTATIONS: dict[str, str] = {
    "string": "str",
    "integer": "int",
    "number": "int | float",
    "boolean": "bool",
    "array_of_strings": "list[str]",
    "array_of_numbers": "list[int | float]",
    "object": "dict",
}


@dataclass(frozen=True)
class Slot:
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
class Example:
    """What a tool is tried with: values by role and small files of its own."""

    values: Mapping[str, Any]
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Operation:
    """One job that a tool can do.

    `description` may hold `{word}`. A tool is known by `marks`, each of which must be found in its name and
    description, and `bars`, which must not. `naive` and `robust` name source templates; `fill` completes them.
    `finding` says the result in words, from the values by role and the written `{value}`.
    """

    key: str
    description: str
    inputs: tuple[Slot, ...]
    output: Slot
    wordings: tuple[Wording, ...]
    marks: tuple[str, ...]
    example: Example
    finding: str
    naive: str
    robust: str
    bars: str = ""
    effects: Effects = "pure"
    fill: Mapping[str, str] = field(default_factory=dict)

    @property
    def gives_number(self) -> bool:
        """Whether the result can be calculated with; a value out of a document may be a number."""
        return self.output.type in ("integer", "number") or self.key == "json_value"


@dataclass(frozen=True)
class Fields:
    """A tool's own names for an operation's slots: field name by role, and the field that holds the result."""

    inputs: Mapping[str, str]
    output: str


def worded(slots: Sequence[Slot], *names: tuple[str, str, str]) -> tuple[Wording, ...]:
    """Wordings as (when, tool name, noun); each calls every field by another of its names, in turn."""
    return tuple(
        Wording(when, name, noun, {slot.role: slot.names[i % len(slot.names)] for slot in slots})
        for i, (when, name, noun) in enumerate(names)
    )


def wording_for(operation: Operation, question: str) -> Wording:
    """How `question` words this operation: by its words, else by a choice among the wordings for all others.

    That choice is seeded by the question's words without its values, so that equal questions make equal tools.
    """
    asked = [w for w in operation.wordings if w.when and re.search(rf"\b(?:{w.when})", question, re.IGNORECASE)]
    others = asked[:1] or [w for w in operation.wordings if not w.when] or [operation.wordings[-1]]
    bare = re.sub(QUOTED, " ", question)
    seed = hashlib.sha256(" ".join(word for word in words(bare) if word.isalpha()).encode()).digest()
    return others[seed[0] % len(others)]


def request_for(operation: Operation, question: str) -> dict[str, Any]:
    """The tool request of a plan, worded after `question`."""
    wording = wording_for(operation, question)

    def described(slot: Slot) -> dict[str, Any]:
        name = wording.fields.get(slot.role, slot.names[0])
        return {"name": name, "type": slot.type, "description": slot.description}

    return {
        "name": wording.name,
        "description": operation.description.format(word=wording.word),
        "parameters": [{**described(slot), "required": True} for slot in operation.inputs],
        "returns": [described(operation.output)],
    }


def recognise(name: str, description: str, parameters: Sequence[str], among: Iterable[Operation]) -> Operation | None:
    """The operation that a tool does, by name, description and parameter names; None unless exactly one fits."""
    text = f"{' '.join(words(name))}. {description.lower()}"
    fitting = [
        operation
        for operation in among
        if all(re.search(rf"\b(?:{mark})", text) for mark in operation.marks)
        and not (operation.bars and re.search(rf"\b(?:{operation.bars})", text))
        and assign(operation.inputs, parameters) is not None
    ]
    return fitting[0] if len(fitting) == 1 else None


def assign(slots: Sequence[Slot], names: Sequence[str]) -> dict[str, str] | None:
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


def _likeness(slot: Slot, name: str) -> int:
    if name in slot.names:
        return 100
    mine, own = {word for known in slot.names for word in words(known)}, set(words(name))
    return 10 * len(mine & own) - len(own - mine) if mine & own else 0


def fields_of(operation: Operation, inputs: Sequence[str], outputs: Sequence[str]) -> Fields | None:
    """The names in a tool's schemas by role; `error` is not a result. None when they do not fit the operation."""
    assigned = assign(operation.inputs, inputs)
    results = [name for name in outputs if name != "error"]
    return Fields(assigned, results[0]) if assigned is not None and len(results) == 1 else None


def source_for(
    operation: Operation,
    name: str,
    description: str,
    fields: Fields,
    *,
    robust: bool,
    more: Mapping[str, Any] | None = None,
) -> str:
    """The whole module of a tool: contract, then the template of its naive or its robust version.

    `more` are further entries of its `__TOOL_META__`.
    """
    template = _template(operation.robust if robust else operation.naive)
    values = {f"in_{role}": f"input.{own}" for role, own in fields.inputs.items()}
    values |= {"out": fields.output, "summary": _one_line(description), **operation.fill}
    values["contract"] = _contract(operation, name, description, fields, more or {})
    for _ in range(3):  # what is filled in may hold placeholders of its own
        template = Template(template).safe_substitute(values)
    return template


def result_of(operation: Operation, output: Mapping[str, Any]) -> Any:
    """The result in a tool's output, whatever its field is called; None when there is none."""
    values = {key: value for key, value in output.items() if key != "error"}
    for name in (*operation.output.names, *values):
        if name in values:
            return values[name]
    return None


def _contract(operation: Operation, name: str, description: str, fields: Fields, more: Mapping[str, Any]) -> str:
    example = {fields.inputs[role]: value for role, value in operation.example.values.items()}
    entry: dict[str, Any] = {"arguments": example}
    if operation.example.files:
        entry["files"] = dict(operation.example.files)
    meta = {
        "name": name,
        "description": description,
        "dependencies": [],
        "effects": operation.effects,
        "examples": [entry],
        **more,
    }
    inputs = [
        f'    {fields.inputs[slot.role]}: {_ANNOTATIONS[slot.type]} = Field(description="{slot.description}")'
        for slot in operation.inputs
    ]
    result = _ANNOTATIONS[operation.output.type]
    return "\n".join(
        [
            f"__TOOL_META__ = {pprint.pformat(meta, width=110, sort_dicts=False)}",
            "\n\nclass InputModel(BaseModel):",
            *inputs,
            "\n\nclass OutputModel(BaseModel):",
            f'    {fields.output}: {result} | None = Field(default=None, description="{operation.output.description}")',
            "    error: str | None = None",
        ]
    )


def _one_line(text: str) -> str:
    return " ".join(text.replace('"""', "'''").replace("\\", "/").split())


def _template(name: str) -> str:
    folder = resources.files("habilis.demo") / "sources"
    text = (folder / f"{name}.py.txt").read_text(encoding="utf-8")
    return re.sub(r"^# include: (\w+)$", lambda match: _template(match[1]).rstrip(), text, flags=re.MULTILINE)
