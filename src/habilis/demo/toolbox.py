"""The module of a tool, put together: its contract, the pieces of `sources/` that its code names, and `run`.

A piece is one function, class or constant. What both versions do the same stands in `shared`; where they read their
input, a first version takes the piece of that name from `naive`, a better one from `robust`.
"""

from __future__ import annotations

import ast
import pprint
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from string import Template
from typing import Any, Literal

from habilis.core.parsing import syntax_tree
from habilis.questions.operations import DemoOperation, Fields

Version = Literal["naive", "robust"]

_ANNOTATIONS: dict[str, str] = {
    "string": "str",
    "integer": "int",
    "number": "int | float",
    "boolean": "bool",
    "array_of_strings": "list[str]",
    "array_of_numbers": "list[int | float]",
    "object": "dict",
}
_MODULE = '''"""$summary"""
$imports
from pydantic import BaseModel, Field

$contract$pieces


def run(input: InputModel) -> OutputModel:
$body
'''
_REPORTED = "except ValueError as problem:\n    return OutputModel(error=str(problem))"


@dataclass(frozen=True)
class _Piece:
    """A statement of `sources/`, and the names that stand in it. `shared`: both versions have it."""

    text: str
    names: frozenset[str]
    shared: bool
    is_import: bool


def source_for(
    operation: DemoOperation,
    name: str,
    description: str,
    fields: Fields,
    *,
    robust: bool,
    more: Mapping[str, Any] | None = None,
) -> str:
    """The whole module of a tool. `more` are further entries of its `__TOOL_META__`."""
    code = _code(operation, fields)
    needed = _needed(code, "robust" if robust else "naive")
    pieces = [piece for piece in needed if not piece.is_import]
    reports = any("ValueError" in piece.text for piece in pieces)
    if reports and (robust or all(piece.shared for piece in pieces)):
        code = f"try:\n{_indented(code)}\n{_REPORTED}"
    imports = sorted((piece.text for piece in needed if piece.is_import), key=lambda text: (text[:4] == "from", text))
    return Template(_MODULE).substitute(
        summary=_one_line(description),
        imports="".join(f"\n{text}" for text in imports) + "\n" * bool(imports),
        contract=_contract(operation, name, description, fields, more or {}),
        pieces="".join(f"\n\n\n{Template(piece.text).safe_substitute(operation.fill)}" for piece in pieces),
        body=_indented(code),
    )


def _code(operation: DemoOperation, fields: Fields) -> str:
    """The body of `run`: the checks, what is prepared, the result."""
    checks = [f'if {wrong}:\n    return OutputModel(error="{error}")' for wrong, error in operation.checks]
    lines = "\n".join([*checks, *operation.prepare, f"return OutputModel({fields.output}={operation.code})"])
    return Template(lines).safe_substitute({role: f"input.{own}" for role, own in fields.inputs.items()})


def _needed(code: str, version: Version) -> list[_Piece]:
    """The pieces that `code` names, and those that these name, in the order of their files."""
    known = _pieces(version)
    found: set[str] = set()
    new = _names(syntax_tree(f"def run():\n{_indented(code)}"))
    while new := (new & known.keys()) - found:
        found |= new
        new = frozenset[str]().union(*(known[name].names for name in new))
    return [piece for name, piece in known.items() if name in found]


@lru_cache(maxsize=2)
def _pieces(version: Version) -> dict[str, _Piece]:
    found: dict[str, _Piece] = {}
    for file in sorted(resources.files("habilis.demo").joinpath("sources").iterdir(), key=lambda one: one.name):
        shared = file.name.startswith("shared")
        if shared or file.name.startswith(version):
            text = file.read_text(encoding="utf-8")
            lines = text.splitlines()
            for node in syntax_tree(text).body[1:]:  # behind the docstring
                first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
                piece = "\n".join(lines[first - 1 : node.end_lineno])
                is_import = isinstance(node, ast.Import | ast.ImportFrom)
                found[_defined(node)] = _Piece(piece, _names(node), shared, is_import)
    return found


def _defined(node: ast.stmt) -> str:
    """The one name that a statement of `sources/` gives to something."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return node.name
    if isinstance(node, ast.Import | ast.ImportFrom):
        return node.names[0].name.partition(".")[0]
    assert isinstance(node, ast.Assign)
    return ast.unparse(node.targets[0])


def _names(node: ast.AST) -> frozenset[str]:
    return frozenset(one.id for one in ast.walk(node) if isinstance(one, ast.Name))


def _contract(operation: DemoOperation, name: str, description: str, fields: Fields, more: Mapping[str, Any]) -> str:
    entry: dict[str, Any] = {"arguments": {fields.inputs[role]: value for role, value in operation.example.items()}}
    if operation.files:
        entry["files"] = dict(operation.files)
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


def _indented(code: str) -> str:
    return "\n".join(f"    {line}" for line in code.splitlines())


def _one_line(text: str) -> str:
    return " ".join(text.replace('"""', "'''").replace("\\", "/").split())
