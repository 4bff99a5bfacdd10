"""Modules of tools: built for a request, mended after a failure, made one of several that do the same job."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from habilis.core.parsing import tree_of
from habilis.demo import MODEL_NAME
from habilis.demo.executing import SETUP
from habilis.demo.toolbox import source_for
from habilis.demo.understanding import all_operations
from habilis.questions.language import words
from habilis.questions.operations import DemoOperation, Fields, fields_of, recognise
from habilis.questions.prompts import Seen, all_sections, loads


@dataclass(frozen=True)
class Module:
    """What a tool's source says of itself."""

    name: str
    description: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def operation(self) -> DemoOperation | None:
        return recognise(self.name, self.description, self.inputs, all_operations())


def build(seen: Seen) -> str:
    """A tool for a request: the naive version first, the robust one after a failure."""
    return _written(requested(seen.parts["tool_request"]), robust="failure" in seen.parts)


def requested(wanted: str) -> Module:
    """The tool that a section of a prompt describes."""
    name, description = (_line(wanted, key) for key in ("name", "description"))
    inputs, outputs = (_properties(_line(wanted, key)) for key in ("input_schema", "output_schema"))
    return Module(name, description, tuple(inputs), tuple(outputs))


def enhance(seen: Seen) -> str:
    """The robust version of a tool that this model knows, with the names that the code has now."""
    module = read_module(seen.parts["tool_code"])
    return _written(module, robust=True) if module else _unknown_tool("that code")


def merge(seen: Seen) -> str:
    """One tool for all that are shown, if they do one job that this model knows: the robust version under the name and
    the fields of the first, and for each old name the way to it."""
    modules = merged_modules(seen)
    job = common_job(modules)
    if job is None:
        return _unknown_tool(f"one tool of {len(modules)} that do different jobs")
    return merged(*job, modules, modules[0].name, aliases_to(*job, modules))


def merged(
    operation: DemoOperation, fields: Fields, modules: Sequence[Module], name: str, aliases: Mapping[str, Any]
) -> str:
    """The merged module as a reply."""
    more = {"aliases": aliases}
    return fenced(source_for(operation, name, modules[0].description, fields, robust=True, more=more))


def merged_modules(seen: Seen) -> list[Module]:
    """The tools that a merge prompt shows, in its order; those that cannot be read are left out."""
    return [module for code in all_sections(seen.text, "tool_code") if (module := read_module(code))]


def common_job(modules: Sequence[Module]) -> tuple[DemoOperation, Fields] | None:
    """The one operation that all modules do, with the fields of the first; None when they differ or one is unknown."""
    operations = [module.operation for module in modules]
    first = operations[0] if operations else None
    if first is None or not all(one and one.key == first.key for one in operations):
        return None
    fields = fields_of(first, modules[0].inputs, modules[0].outputs)
    return (first, fields) if fields else None


def aliases_to(operation: DemoOperation, fields: Fields, modules: Sequence[Module]) -> dict[str, Any]:
    """For each module, how its calls become calls of a tool with `fields`; what keeps its name is not listed."""
    found: dict[str, Any] = {}
    for module in modules:
        old = fields_of(operation, module.inputs, module.outputs)
        if old is None:
            continue
        arguments = {old.inputs[role]: new for role, new in fields.inputs.items() if old.inputs[role] != new}
        outputs = {fields.output: old.output} if old.output != fields.output else {}
        entry = {"arguments": arguments, "fields": outputs}
        found[module.name] = {key: value for key, value in entry.items() if value}
    return found


def read_module(code: str) -> Module | None:
    """What a tool's source says of itself; None when it does not parse."""
    tree = tree_of(code)
    if tree is None:
        return None
    meta: dict[str, Any] = {}
    fields: dict[str, tuple[str, ...]] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(getattr(t, "id", "") == "__TOOL_META__" for t in node.targets):
            value = loads(ast.unparse(node.value))
            meta = value if isinstance(value, dict) else {}
        if isinstance(node, ast.ClassDef):
            fields[node.name] = tuple(
                item.target.id
                for item in node.body
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
            )
    name, description = str(meta.get("name", "")), str(meta.get("description", ""))
    return Module(name, description, fields.get("InputModel", ()), fields.get("OutputModel", ()))


def fenced(source: str) -> str:
    """A module as the text of a reply."""
    return f"```python\n{source.strip()}\n```"


def _written(module: Module, *, robust: bool) -> str:
    operation = module.operation
    fields = fields_of(operation, module.inputs, module.outputs) if operation else None
    if operation is None or fields is None:
        return _unknown_tool(module.name or "a tool without a name")
    return fenced(source_for(operation, module.name, module.description, fields, robust=robust))


def _unknown_tool(what: str) -> str:
    return f"I am the {MODEL_NAME} and do not know how to write {' '.join(words(what))}. {SETUP}"


def _line(text: str, key: str) -> str:
    """The value of `key: value`, up to the next key of a tool request."""
    match = re.search(
        rf"^{key}: (.*?)(?=^(?:name|description|input_schema|output_schema): |\Z)",
        text + "\n",
        re.MULTILINE | re.DOTALL,
    )
    return match[1].strip() if match else ""


def _properties(schema: str) -> list[str]:
    value = loads(schema)
    properties = value.get("properties") if isinstance(value, dict) else None
    return [str(name) for name in properties] if isinstance(properties, dict) else []
