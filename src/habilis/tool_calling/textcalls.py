"""Tool calls that a model writes as text, because it or its server knows no other way.

Three ways of writing are understood: `name(arg="v")`, `name("v")` (places go by the order of the schema's properties)
and `{"name": …, "arguments": {…}}` with its usual variants, alone, in a list, or between `<tool_call>` tags.
Values of the first two are JSON or Python literals: text stands in quotes, single or double, with the escapes of
Python; a bare word other than true, false, null, True, False, None is a fault.

A call counts only as the last thing in a reply, beginning on a line of its own; what stands before it is the thought.
A call in the middle of prose is prose, and so is one in an indented block. A code fence counts if it holds nothing but
calls and is not marked as a programming language; there, and where the line above speaks of an example, nobody can
know what is meant: nothing runs, and `doubt` asks.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from habilis.core.types import ToolSpec
from habilis.models.arguments import ArgumentsUnreadable, decoder, parsed_expression, read_arguments
from habilis.models.calls import near_names, only_text_parameter

RUNNABLE = frozenset({"", "json", "jsonc", "text", "plaintext", "tool_call", "tool_calls", "tool_code", "tool"})
"""Marks of a code fence in which a call is a call."""
MAX_CALLS = 64
MAX_DEPTH = 3
"""Fences and tags inside one another that are looked into."""
MAX_LOOKED = 1_000
"""Lines that may begin a call; of a reply with more none is read as one, for each costs a look at all before it."""
HOW = 'end your reply with {"name": "TOOL", "arguments": {…}} on a line of its own, in no code block'
_CALL = re.compile(r"(?:functions?[.:])?([A-Za-z_][A-Za-z0-9_.:-]{0,99})\(")
_TAG = re.compile(r"<(tool_call|function_call|tool|function=[A-Za-z0-9_.:-]{1,100})>\s*")
_PREFIX = re.compile(r"(?:\[TOOL_CALLS\]|<\|python_tag\|>)\s*")
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*([^\n`]*)\n")
_EXAMPLE = re.compile(
    r"\b(?:e\.g\.|for example|for instance|an? example|example of|such as|(?:would|might|could) look|looks like|"
    r"the format|the syntax|zum beispiel|par exemple|por ejemplo)|例如|比如|例えば",
    re.IGNORECASE,
)
_INLINE = re.compile(r"`([^`\n]+)`(?=[ \t]*(?:\n|\Z))")
_LIST = re.compile(r"\[\s*\{")
_DECODER = decoder()
_CALLISH = re.compile(
    r"[\[{\s]{1,20}[\"'](?:name|tool|tool_name|function|action|type|tool_calls)[\"']\s*:\s*[\[{]?\s*[\"']?([^\"',}\]\n]{0,100})"
)
_NAME_KEYS = ("name", "tool_name", "tool", "function", "action")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "action_input", "tool_input", "params")
_WORDS = {"true": True, "false": False, "null": None}
_REST_OF_LINE = re.compile(r"[ \t]*[;,]?[ \t]*(?:\n|\Z)")


@dataclass(frozen=True)
class Written:
    """What a text says. `thought` is what stands before its calls, or all of it.

    `calls` are names with arguments, not checked against any schema. `doubt` is set when the text tries to make a
    call that cannot be read, or when it cannot be known whether it makes one; then there are no calls, and it is to
    be told to the model.
    """

    thought: str
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    doubt: str = ""


@dataclass(frozen=True)
class _Block:
    """Something that may be calls, up to `end`. `names` are those it calls; `fault` says why it cannot be read."""

    end: int
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    fault: str = ""
    sample: bool = False
    names: tuple[str, ...] = ()
    code: bool = False
    """Whether it is written like code, so that only the name of a tool tells it from any other line of code."""


def read_text(text: str, specs: Sequence[ToolSpec]) -> Written:
    """The calls that `text` makes of the tools of `specs`, or what is doubtful about them. Never raises."""
    whole = text.strip()
    if not specs or not ({"{", "(", "<", "["} & set(whole)):
        return Written(whole)
    known = {spec.name: spec for spec in specs}
    begin, blocks = _last_run(whole, known)
    if not blocks:
        return Written(whole)
    if any(block.code and not _near(block.names, known) for block in blocks):
        return Written(whole)  # lines of code, of which some call a tool's name: a sample
    thought = whole[:begin].rstrip()
    faults = [block.fault for block in blocks if block.fault]
    if faults:
        return Written(whole, doubt=f"Nothing was run. {' '.join(faults[:MAX_CALLS])} To call a tool, {HOW}.")
    calls = tuple(call for block in blocks for call in block.calls)
    if any(block.sample for block in blocks) or _EXAMPLE.search(thought.rsplit("\n", 1)[-1]):
        names = ", ".join(dict.fromkeys(name for name, _ in calls))
        return Written(
            whole,
            doubt=f"Nothing was run: your reply ends with {names} as in a sample of code or an example. To call it, "
            f"{HOW}. If this is your answer, say it in plain text, without the call.",
        )
    if len(calls) > MAX_CALLS:
        return Written(whole, doubt=f"Nothing was run: {len(calls)} calls in one reply; at most {MAX_CALLS} may be.")
    return Written(thought, calls)


def _last_run(text: str, known: Mapping[str, ToolSpec], depth: int = 0) -> tuple[int, list[_Block]]:
    """The blocks with nothing but blank space behind and between them at the end of `text`, and where they begin."""
    run: list[_Block] = []
    begin = at = looked = 0
    while at < len(text):
        line_end = text.find("\n", at)
        line_end = len(text) if line_end < 0 else line_end
        line = text[at:line_end]
        if not line.strip():
            at = line_end + 1
            continue
        start = at + len(line) - len(line.lstrip())
        indented = line.startswith(("    ", "\t")) and at > 0
        looked += line[start - at] in "{[" or "(" in line
        if looked > MAX_LOOKED:
            return begin, []
        block = None if indented else _block_at(text, start, known, depth)
        rest = _REST_OF_LINE.match(text, block.end) if block else None
        if block and rest and (block.calls or block.fault):
            begin = begin if run else start
            run.append(block)
            at = max(rest.end(), at + 1)
            continue
        run = []
        after = text.find("\n", max(block.end if block else at, at))
        at = len(text) if after < 0 else after + 1
    return begin, run


def _block_at(text: str, at: int, known: Mapping[str, ToolSpec], depth: int) -> _Block | None:
    """What begins at `at`: calls, a faulty attempt, something to be passed over whole, or None for prose."""
    char = text[at]
    if char in "`~<" and depth > MAX_DEPTH:
        return None
    if char in "`~":
        return _fence(text, at, known, depth)
    if char in "[<" and depth <= MAX_DEPTH and (prefix := _PREFIX.match(text, at)):
        found = _tagged(text[prefix.end() :], "", known, depth)
        return replace(found, end=len(text))
    if char == "<" and (tag := _TAG.match(text, at)):
        kind, _, name = tag[1].partition("=")
        close = text.find(f"</{kind}", tag.end())
        end = len(text) if close < 0 else text.find(">", close) + 1 or len(text)
        found = _tagged(text[tag.end() : close if close >= 0 else end], name, known, depth)
        return replace(found, end=end)
    if char in "{[":
        return _json(text, at, known)
    if call := _CALL.match(text, at):
        return _parenthesised(text, call, known)
    return None


def _fence(text: str, at: int, known: Mapping[str, ToolSpec], depth: int) -> _Block | None:
    opening = _FENCE.match(text, at)
    if opening is None:
        inline = _INLINE.match(text, at)
        if inline is None:
            return None
        return _together(inline.end(), inline[1].strip(), known, depth, sample=True)
    close = re.compile(rf"^[ \t]*{re.escape(opening[1])}[`~]*[ \t]*$", re.MULTILINE).search(text, opening.end())
    content = text[opening.end() : close.start() if close else len(text)].strip()
    sample = opening[2].strip().lower() not in RUNNABLE
    return _together(close.end() if close else len(text), content, known, depth, sample=sample)


def _together(end: int, content: str, known: Mapping[str, ToolSpec], depth: int, *, sample: bool) -> _Block:
    """What a fence holds as one block; one that holds anything but calls is to be passed over."""
    begin, blocks = _last_run(content, known, depth + 1)
    if not blocks or begin or any(block.code and not _near(block.names, known) for block in blocks):
        return _Block(end)
    return replace(_sum(blocks), end=end, sample=sample or any(block.sample for block in blocks))


def _tagged(text: str, name: str, known: Mapping[str, ToolSpec], depth: int) -> _Block:
    """The calls between tags, which say that a call is meant; with `name` there are only arguments between them."""
    inner = text.strip()
    if name:
        try:
            return _Block(0, ((name, _arguments(inner, known.get(name))),), names=(name,))
        except ArgumentsUnreadable as error:
            return _Block(0, fault=f"Tool call {name!r}: {error}.", names=(name,))
    begin, blocks = _last_run(inner, known, depth + 1)
    if blocks and begin == 0:
        return _sum(blocks)
    return _Block(0, fault=f"Between the tags of a tool call stands none that can be read: {_short(inner)!r}.")


def _sum(blocks: Sequence[_Block]) -> _Block:
    return _Block(
        0,
        tuple(call for block in blocks for call in block.calls),
        " ".join(block.fault for block in blocks if block.fault),
        names=tuple(name for block in blocks for name in block.names),
    )


def _json(text: str, at: int, known: Mapping[str, ToolSpec]) -> _Block | None:
    """JSON with the shape of calls; broken JSON counts if it is an attempt at one."""
    if text[at] == "[" and not _LIST.match(text, at):
        return None
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        callish = _CALLISH.match(text, at)
        if callish is None:
            return None
        end = _balanced(text, at) or len(text)
        if not _tries(callish[1], text[at:end], known):
            return None
        try:
            value = read_arguments(text[at:end])
        except ArgumentsUnreadable as error:
            reason = str(error).removeprefix("the arguments are ")
            return _Block(end, fault=f"Your tool call could not be read: {reason}.")
    rows = value if isinstance(value, list) else [value]
    if len(rows) == 1 and isinstance(rows[0], dict) and isinstance(rows[0].get("tool_calls"), list):
        rows = rows[0]["tool_calls"]
    found = [shaped for row in rows if (shaped := _shaped(row, known)) is not None]
    if not rows or len(found) != len(rows):
        return _Block(end)  # JSON of another meaning
    calls, faults = [], []
    for name, given in found:
        try:
            calls.append((name, _arguments(given, known.get(name))))
        except ArgumentsUnreadable as error:
            faults.append(f"Tool call {name!r}: {error}.")
    return _Block(end, tuple(calls), " ".join(faults), names=tuple(name for name, _ in found))


def _tries(name: str, raw: str, known: Mapping[str, ToolSpec]) -> bool:
    """Whether broken JSON is an attempt at a call: it names a tool and what it is to be given."""
    return bool(_near((name.strip(),), known)) or any(f'"{key}"' in raw for key in _ARGUMENT_KEYS[:3])


def _shaped(row: Any, known: Mapping[str, ToolSpec]) -> tuple[str, Any] | None:
    """Name and arguments, if an object has the shape of a call and no key that a call has not."""
    if not isinstance(row, dict):
        return None
    if isinstance(row.get("function"), dict):
        return _shaped(row["function"], known)
    name_key = next((key for key in _NAME_KEYS if isinstance(row.get(key), str) and row[key].strip()), None)
    key = next((key for key in _ARGUMENT_KEYS if key in row), None)
    if name_key is None or set(row) - {name_key, key, "id", "type", "thought", "call_id"}:
        return None
    name = row[name_key].strip()
    if key is None:
        return (name, None) if name in known else None
    if name_key not in ("name", "function") and key not in ("arguments", "parameters") and not _near((name,), known):
        return None if name_key != "action" or key != "action_input" else (name, row[key])
    return name, row[key]


def _arguments(given: Any, spec: ToolSpec | None) -> dict[str, Any]:
    """Arguments from whatever stands in their place. A text for a tool with one text parameter is that parameter."""
    try:
        return read_arguments(given)
    except ArgumentsUnreadable:
        parameter = only_text_parameter(spec)
        if parameter and isinstance(given, str) and given.strip()[:1] not in ("{", "["):
            return {parameter: given}
        raise


def _parenthesised(text: str, found: re.Match[str], known: Mapping[str, ToolSpec]) -> _Block | None:
    name = found[1] if found[1] in known else found[1].rsplit(".", 1)[-1]
    end = _balanced(text, found.end() - 1)
    if end is None:
        if not _near((name,), known):
            return None
        return _Block(
            len(text), fault=f"Tool call {name!r}: a bracket or quote is not closed.", names=(name,), code=True
        )
    inner = text[found.end() : end - 1]
    if name not in known:
        # Whether it is meant for a tool is decided by its neighbours; what it holds is told by the check of names.
        return _Block(end, ((name, {}),), names=(name,), code=True)
    try:
        return _Block(end, ((name, _written_arguments(inner, known[name])),), names=(name,), code=True)
    except ArgumentsUnreadable as error:
        return _Block(end, fault=f"Tool call {name!r}: {error}.", names=(name,), code=True)


def _written_arguments(inner: str, spec: ToolSpec) -> dict[str, Any]:
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


def _near(names: Sequence[str], known: Mapping[str, ToolSpec]) -> list[str]:
    """Those of `names` that are, or are near to, a tool's name; empty unless all of them are."""
    found = [name for name in names if name in known or near_names(name, known, 1)]
    return found if len(found) == len(names) else []


def _balanced(text: str, at: int) -> int | None:
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


_MARKS = re.compile(r"\\.|\"\"\"|'''|[\"'(){}\[\]]", re.DOTALL)


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:80] + "…"
