"""Old names of a tool: how a call that was meant for a tool of before becomes a call of the tool that replaced it.

Arguments are renamed on the way in, what the old tool held fixed is added, fields are renamed on the way back. So
nobody who knows the old name has to learn anything, and the old tool's recorded calls can be replayed on the new one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice, permutations, product
from math import prod
from typing import Any

from pydantic import Field

from habilis.contract.records import RecordedCall, equal
from habilis.core.types import Frozen, JsonSchema

MOST_WAYS = 6
"""Ways from one tool to another that are worth a try."""
MOST_ALIKE, MOST_PAIRINGS = 6, 720
"""Fields of one type, and ways to pair them all, beyond which nobody tries which goes with which."""
_HELD_AS_IT_IS = ("default", "const", "enum", "examples")
_NAME_WORD = re.compile(r"[a-z]+|\d+")


class Alias(Frozen):
    """An old name's way to the tool that does its work now. Names that are not listed stay as they are.

    `arguments` are new names by old ones, `constants` values by new names, `fields` old names by new ones. The
    schemas and `version` are those of the tool that had the name.
    """

    arguments: dict[str, str] = Field(default_factory=dict)
    constants: dict[str, Any] = Field(default_factory=dict)
    fields: dict[str, str] = Field(default_factory=dict)
    version: str = ""
    description: str = ""
    input_schema: JsonSchema = Field(default_factory=dict)
    output_schema: JsonSchema = Field(default_factory=dict)

    def given(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of the old name as arguments of the new tool."""
        return {self.arguments.get(name, name): value for name, value in arguments.items()} | self.constants

    def seen(self, output: Any) -> Any:
        """Output of the new tool as the old name gave it. An error that is set stays to be seen."""
        if not isinstance(output, Mapping):
            return output
        back = self._sources()
        names = properties(self.output_schema)
        found = {name: output[back.get(name, name)] for name in names if back.get(name, name) in output}
        if output.get("error"):
            found.setdefault("error", output["error"])
        return found

    def back(self, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """Arguments of the new tool as the old name took them; None where they say what that cannot."""
        names = {self.arguments.get(name, name): name for name in properties(self.input_schema)}
        if any(not equal(arguments.get(name), value) for name, value in self.constants.items()):
            return None
        said = {name: value for name, value in arguments.items() if name not in self.constants}
        return {names[name]: value for name, value in said.items()} if said.keys() <= names.keys() else None

    def forth(self, output: Any) -> Any:
        """Output of the old tool as the new one gives it, as far as the old one gives it at all."""
        if not isinstance(output, Mapping):
            return output
        new = self._sources()
        return {new.get(name, name): value for name, value in output.items()}

    def then(self, later: Alias) -> Alias:
        """This alias when the tool that it leads to was itself replaced, by `later`."""
        middle, last = self._sources(), later._sources()
        arguments = {
            name: new
            for name in properties(self.input_schema)
            if (new := _follow(_follow(name, self.arguments), later.arguments)) != name
        }
        fields = {
            new: name
            for name in properties(self.output_schema)
            if (new := _follow(_follow(name, middle), last)) != name
        }
        constants = {_follow(name, later.arguments): value for name, value in self.constants.items()}
        return self.model_copy(
            update={"arguments": arguments, "fields": fields, "constants": constants | later.constants}
        )

    def problem(self, input_schema: JsonSchema, output_schema: JsonSchema) -> str:
        """Why this alias cannot lead to a tool with these schemas, in a line; empty when it can."""
        takes, gives = properties(input_schema), properties(output_schema)
        targets = [self.arguments.get(name, name) for name in properties(self.input_schema)]
        if lost := [name for name in (*targets, *self.constants) if name not in takes]:
            return f"InputModel has no {', '.join(lost)}"
        if len(set(targets) | set(self.constants)) < len(targets) + len(self.constants):
            return "two values lead to one argument"
        if missing := [n for n in required(input_schema) if n not in {*targets, *self.constants}]:
            return f"nothing gives the argument {', '.join(missing)}"
        back = self._sources()
        if lost := [n for n in properties(self.output_schema) if n != "error" and back.get(n, n) not in gives]:
            return f"OutputModel has nothing for {', '.join(lost)}"
        return ""

    def _sources(self) -> dict[str, str]:
        """Names of fields of the new output by those of the old one."""
        return {old: new for new, old in self.fields.items()}


def alias_between(
    old: tuple[JsonSchema, JsonSchema], new: tuple[JsonSchema, JsonSchema], *, version: str = "", description: str = ""
) -> Alias | None:
    """The one way from a tool with the schemas `old` (input, output) to one with the schemas `new`, without a model.

    Equal names of equal type belong together; what is left over must pair up by type in just one way. None when there
    is no way, or more than one.
    """
    ways = ways_between(old, new, version=version, description=description)
    return ways[0] if len(ways) == 1 else None


def ways_between(
    old: tuple[JsonSchema, JsonSchema], new: tuple[JsonSchema, JsonSchema], *, version: str = "", description: str = ""
) -> tuple[Alias, ...]:
    """The ways from a tool with the schemas `old` to one with the schemas `new`, at most `MOST_WAYS`, likely first.

    Equal names of equal type belong together; what is left over pairs up by type, rather with a field that is described
    alike or shares a word of its name. Which way is right, only calls can tell.
    """
    arguments = _assignments(old[0], new[0], must=required(new[0]))
    fields = _assignments(old[1], new[1], must=())
    return tuple(
        Alias(
            arguments={name: target for name, target in taken.items() if name != target},
            fields={target: name for name, target in given.items() if name != target},
            version=version,
            description=description,
            input_schema=old[0],
            output_schema=old[1],
        )
        for taken, given in islice(product(arguments, fields), MOST_WAYS)
    )


def called_by(alias: Alias | None, call: RecordedCall) -> RecordedCall:
    """A recorded call by an old name as one of the tool that does its work."""
    if alias is None:
        return call
    return call.model_copy(update={"arguments": alias.given(call.arguments), "output": alias.forth(call.output)})


def properties(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the fields of an object's JSON schema."""
    found = schema.get("properties")
    return tuple(found) if isinstance(found, dict) else ()


def required(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the fields that an object's JSON schema insists on."""
    found = schema.get("required")
    return tuple(str(name) for name in found) if isinstance(found, list) else ()


def kinds(schema: Mapping[str, Any]) -> dict[str, str]:
    """The type of each field as a text: equal for equal types, titles, defaults and `null` as a choice left out."""
    found = schema.get("properties")
    definitions = schema.get("$defs") or {}
    return {name: _kind(field, definitions, ()) for name, field in found.items()} if isinstance(found, dict) else {}


def signature(schema: Mapping[str, Any]) -> str:
    """Names and types of the fields as one line, as prompts show them: `path: string, limit: integer`."""
    return ", ".join(f"{name}: {kind}" for name, kind in kinds(schema).items()) or "none"


def untitled(schema: Any) -> Any:
    """`schema` as models are shown it. Its titles repeat the names of fields, and each call would pay for them."""
    if isinstance(schema, list):
        return [untitled(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: value if key in _HELD_AS_IT_IS else untitled(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
    }


def _follow(name: str, names: Mapping[str, str]) -> str:
    return names.get(name, name)


def _kind(field: Any, definitions: Mapping[str, Any], within: tuple[str, ...]) -> str:
    if not isinstance(field, Mapping):
        return "any"
    reference = field.get("$ref")
    if isinstance(reference, str):
        name = reference.rsplit("/", 1)[-1]
        return name if name in within else _kind(definitions.get(name), definitions, (*within, name))
    choices = field.get("anyOf") or field.get("oneOf")
    if isinstance(choices, Sequence) and not isinstance(choices, str):
        return _one_of(_kind(choice, definitions, within) for choice in choices)
    if "enum" in field or "const" in field:
        return json.dumps(field.get("enum", [field.get("const")]), ensure_ascii=False)
    return _plain_kind(field, definitions, within)


def _plain_kind(field: Mapping[str, Any], definitions: Mapping[str, Any], within: tuple[str, ...]) -> str:
    named = field.get("type", "any")
    if isinstance(named, list):
        return _one_of(str(name) for name in named)
    if named == "array":
        return f"[{_kind(field.get('items', {}), definitions, within)}]"
    inner = field.get("properties")
    if isinstance(inner, Mapping):
        parts = (f"{name}: {_kind(part, definitions, within)}" for name, part in sorted(inner.items()))
        return "{" + ", ".join(parts) + "}"
    if isinstance(field.get("additionalProperties"), Mapping):
        return "{…: " + _kind(field["additionalProperties"], definitions, within) + "}"
    return str(named)


def _one_of(choices: Iterable[str]) -> str:
    return " | ".join(sorted({choice for choice in choices if choice != "null"})) or "null"


def _assignments(old: JsonSchema, new: JsonSchema, *, must: Sequence[str]) -> list[dict[str, str]]:
    """New names by old ones, each way in which they can go together by type, likely ones first."""
    olds, news = kinds(old), kinds(new)
    same = {name: name for name in olds if name in news}
    if any(olds[name] != news[name] for name in same):
        return []
    parts = []
    for kind in dict.fromkeys(olds.values()):
        left = [name for name, its in olds.items() if its == kind and name not in same]
        free = [name for name, its in news.items() if its == kind and name not in same]
        if max(len(left), len(free)) > MOST_ALIKE:
            return []
        parts.append([tuple(zip(left, chosen, strict=True)) for chosen in permutations(free, len(left))])
    if prod(map(len, parts)) > MOST_PAIRINGS:
        return []
    ways = [{**same, **dict(chain(*way))} for way in product(*parts)]
    ways = [way for way in ways if set(must) <= set(way.values())]
    return sorted(ways, key=lambda way: -sum(_likeness(old, new, *pair) for pair in way.items()))


def _likeness(old: JsonSchema, new: JsonSchema, name: str, other: str) -> int:
    """How likely two fields mean the same: they are described in the same words, or their names share some."""
    said, its = (schema["properties"][field] for schema, field in ((old, name), (new, other)))
    told = [one.get("description") if isinstance(one, Mapping) else None for one in (said, its)]
    words, others = (set(_NAME_WORD.findall(field.lower())) for field in (name, other))
    return 4 * bool(told[0] and told[0] == told[1]) + len(words & others)
