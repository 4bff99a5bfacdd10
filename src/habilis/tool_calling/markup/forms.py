"""The forms that one call has between marks and without them: an object of JSON, or `name(…)` as in Python.

Values of the latter are literals of JSON or Python: text stands in quotes, single or double, with the escapes of
Python; a bare word other than true, false, null, True, False, None is a fault.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from habilis.core.types import ToolSpec
from habilis.messages.arguments import ArgumentsUnreadable, parsed_expression, read_arguments
from habilis.messages.calls import near_names, only_text_parameter

Call = tuple[str, dict[str, Any]]
Known = Mapping[str, ToolSpec]
NAME_KEYS = ("name", "tool_name", "tool", "function", "action")
ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "action_input", "tool_input", "params")
WRITTEN = re.compile(r"(?:functions?[.:])?([^\W\d][\w.:-]{0,99})\(")
_WRAPPERS = ("function", "function_call", "functionCall", "tool_call", "toolCall")
_BESIDES = frozenset({"id", "type", "thought", "call_id", "tool_call_id", "index"})
_WORDS = {"true": True, "false": False, "null": None}
_MARKS = re.compile(r"\\.|\"\"\"|'''|[\"'(){}\[\]]", re.DOTALL)


def near(names: Sequence[str], known: Known) -> list[str]:
    """Those of `names` that are, or are near to, a tool's name; empty unless all of them are."""
    found = [name for name in names if name in known or near_names(name, known, 1)]
    return found if len(found) == len(names) else []


def own_name(name: str, known: Known) -> str:
    """`name` without what families write around it: `functions.`, a number behind it, `.call`."""
    if name in known:
        return name
    bare = re.sub(r":\d+\Z", "", name.strip().strip("\"'"))
    for candidate in (bare, bare.removeprefix("functions."), bare.removesuffix(".call")):
        if candidate in known:
            return candidate
    last = re.split(r"[.:/]", bare)[-1]
    return last if last in known else bare.removeprefix("functions.")


def shaped(row: Any, known: Known, *, marked: bool = False) -> tuple[str, Any] | None:
    """Name and arguments, if an object has the shape of a call and no key that a call has not.

    `marked`: it stands between marks, so that a call is meant, and `{name: {…}}` is one too.
    """
    if not isinstance(row, dict):
        return None
    if wrapped := next((row[key] for key in _WRAPPERS if isinstance(row.get(key), dict)), None):
        return shaped(wrapped, known, marked=marked)
    if marked and len(row) == 1 and isinstance(inner := next(iter(row.values())), dict):
        return next(iter(row)), inner
    name_key = next((key for key in NAME_KEYS if isinstance(row.get(key), str) and row[key].strip()), None)
    key = next((key for key in ARGUMENT_KEYS if key in row), None)
    if name_key is None or set(row) - {name_key, key} - _BESIDES:
        return None
    name = row[name_key].strip()
    if key is None:
        return (name, None) if marked or name in known else None
    if marked or name_key in ("name", "function") or key in ("arguments", "parameters") or near((name,), known):
        return name, row[key]
    return (name, row[key]) if name_key == "action" and key == "action_input" else None


def rows_of(value: Any) -> list[Any]:
    """The calls that a value of JSON lists: itself, its items, or those of its `tool_calls`."""
    rows = value if isinstance(value, list) else [value]
    if len(rows) == 1 and isinstance(rows[0], dict) and isinstance(rows[0].get("tool_calls"), list):
        return list(rows[0]["tool_calls"])
    return rows


def arguments_of(given: Any, spec: ToolSpec | None) -> dict[str, Any]:
    """Arguments from whatever stands in their place. A text for a tool with one text parameter is that parameter.

    Raises `ArgumentsUnreadable`.
    """
    try:
        return read_arguments(given)
    except ArgumentsUnreadable:
        parameter = only_text_parameter(spec)
        if parameter and isinstance(given, str) and given.strip()[:1] not in ("{", "["):
            return {parameter: given}
        raise


def written_arguments(inner: str, spec: ToolSpec) -> dict[str, Any]:
    """The arguments between the brackets of `name(…)`. Raises `ArgumentsUnreadable`."""
    try:
        tree = parsed_expression(f"f({inner}\n)")
    except ValueError as error:
        raise ArgumentsUnreadable(f"what stands in the brackets cannot be read ({error}); put text in quotes") from None
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        raise ArgumentsUnreadable("what stands in the brackets cannot be read; put text in quotes")
    names = list(spec.parameters.get("properties") or ())
    if len(tree.args) == 1 and not tree.keywords and isinstance(tree.args[0], ast.Dict):
        whole = _literal(tree.args[0], "the only argument")
        if set(whole) <= set(names) or not names:
            return _joined(whole)
    if len(tree.args) > len(names):
        raise ArgumentsUnreadable(f"{len(tree.args)} values by place, and the tool has {len(names)} parameters")
    given: dict[str, Any] = {}
    for name, node in [*zip(names, tree.args, strict=False), *((k.arg, k.value) for k in tree.keywords)]:
        if name is None or isinstance(node, ast.Starred):
            raise ArgumentsUnreadable("stars cannot stand in a tool call; name each parameter")
        if name in given:
            raise ArgumentsUnreadable(f"{name} is given twice")
        given[name] = _literal(node, name)
    return _joined(given)


def _joined(args: Any) -> dict[str, Any]:
    """`args` with characters whole that JSON writes as two escapes, of which Python makes two characters."""
    try:
        whole: dict[str, Any] = json.loads(json.dumps(args))
    except ValueError:
        raise ArgumentsUnreadable("a number has too many digits") from None
    return whole


def _literal(node: ast.expr, where: str) -> Any:
    """The value of a literal of JSON or Python. Raises `ArgumentsUnreadable` naming the parameter."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float | None):
        if isinstance(node.value, float) and node.value in (float("inf"), float("-inf")):
            raise ArgumentsUnreadable(f"the number given for {where} is too large")
        return node.value
    if isinstance(node, ast.Name) and node.id in _WORDS:
        return _WORDS[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        value = _literal(node.operand, where)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return -value
    if isinstance(node, ast.List | ast.Tuple):
        return [_literal(item, where) for item in node.elts]
    if isinstance(node, ast.Dict) and all(isinstance(k, ast.Constant) and isinstance(k.value, str) for k in node.keys):
        keys = [k.value for k in node.keys if isinstance(k, ast.Constant)]
        if len(set(keys)) == len(keys):
            return {str(key): _literal(value, where) for key, value in zip(keys, node.values, strict=True)}
    raise ArgumentsUnreadable(f"the value of {where} must be text in quotes, a number, true, false, null, [] or {{}}")


def balanced(text: str, at: int) -> int | None:
    """The place behind the bracket that closes the one at `at`, quotes observed; None if it is never closed."""
    depth = 0
    quote = ""
    for match in _MARKS.finditer(text, at):
        mark = match[0]
        if quote:
            quote = "" if mark == quote else quote
        elif mark[0] == "\\":
            continue
        elif mark[0] in "\"'":
            # An apostrophe inside a word is none.
            if mark != "'" or not text[match.start() - 1].isalnum():
                quote = mark
        elif mark in "([{":
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                return match.end()
    return None
