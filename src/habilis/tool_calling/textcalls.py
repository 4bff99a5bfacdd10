"""Tool calls that a model writes as text, because it or its server knows no other way.

Between the marks of a family of models (`markup`) a call is a call wherever it stands outside of code. Without marks
these ways of writing are understood: `name(arg="v")`, `name("v")` (places go by the order of the schema's properties),
a list of such, `name{"arg": "v"}`, and `{"name": …, "arguments": {…}}` with its usual variants, alone or in a list.

A call without marks counts only as the last thing in a reply, beginning on a line of its own; what stands before it is
the thought. In the middle of prose it is prose, and so is one in an indented block. A code fence counts if it holds
nothing but calls and is not marked as a programming language; there, and where the line above speaks of an example,
nobody can know what is meant: nothing runs, and `doubt` asks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from habilis.core.patterns import lazy_pattern
from habilis.core.types import ToolSpec
from habilis.messages.arguments import ArgumentsUnreadable, decoder, read_arguments
from habilis.tool_calling.markup.forms import (
    ARGUMENT_KEYS,
    WRITTEN,
    Call,
    Known,
    arguments_of,
    balanced,
    near,
    rows_of,
    shaped,
    written_arguments,
)
from habilis.tool_calling.markup.leftovers import answer_in, thought_in, without_leftovers
from habilis.tool_calling.markup.meant import meant
from habilis.tool_calling.markup.sections import Section, find_start, read_section

RUNNABLE = frozenset({"", "json", "jsonc", "text", "plaintext", "tool_call", "tool_calls", "tool_code", "tool"})
"""Marks of a code fence in which a call is a call."""
MAX_CALLS = 64
MAX_DEPTH = 3
"""Fences and tags inside one another that are looked into."""
MAX_LOOKED = 1_000
"""Lines that may begin a call; of a reply with more none is read as one, for each costs a look at all before it."""
HOW = 'end your reply with {"name": "TOOL", "arguments": {…}} on a line of its own, in no code block'
_ANSWER = "If this is your answer, say it in plain text, without the call."
_BEHIND = f"Nothing was run: there is text after your tool call. To call a tool, {HOW}. {_ANSWER}"
_NAMED_OBJECT = lazy_pattern(r"(?:functions?[.:])?([^\W\d][\w.-]{0,99})[ \t]*(?:\r?\n)?(?=\{)")
_WRITTEN_LIST = lazy_pattern(r"\[\s*(?:functions?[.:])?([^\W\d][\w.:-]{0,99})\(")
_FENCE = lazy_pattern(r"(`{3,}|~{3,})[ \t]*([^\n`]*)\n")
_EXAMPLE = lazy_pattern(
    r"\b(?:e\.g\.|for example|for instance|an? example|example of|such as|(?:would|might|could) look|looks like|"
    r"the format|the syntax|zum beispiel|par exemple|por ejemplo)|例如|比如|例えば",
    re.IGNORECASE,
)
_INLINE = lazy_pattern(r"`([^`\n]+)`(?=[ \t]*(?:\n|\Z))")
_LIST = lazy_pattern(r"\[\s*\{")
_NEXT = lazy_pattern(r"[\s,;]*")
_DECODER = decoder()
_CALLISH = lazy_pattern(
    r"[\[{\s]{1,20}[\"'](?:name|tool|tool_name|function|action|type|tool_calls?|function_call|functionCall|toolCall)"
    r"[\"']\s*:\s*"
    r"(?:\{\s*[\"']name[\"']\s*:\s*|[\[{]?\s*)[\"']?([^\"',}\]\n]{0,100})"
)
_REST_OF_LINE = lazy_pattern(r"[ \t]*[;,]?[ \t]*(?:\n|\Z|(?<=[;,\s])(?=\{))")


@dataclass(frozen=True)
class Written:
    """What a text says. `thought` is what stands before its calls, or all of it.

    `calls` are names with arguments, not checked against any schema. `doubt` is set when the text tries to make a
    call that cannot be read, or when it cannot be known whether it makes one; then there are no calls, and it is to
    be told to the model.
    """

    thought: str
    calls: tuple[Call, ...] = ()
    doubt: str = ""


@dataclass(frozen=True)
class _Block:
    """Something that may be calls, up to `end`. `names` are those it calls; `fault` says why it cannot be read."""

    end: int
    calls: tuple[Call, ...] = ()
    fault: str = ""
    sample: bool = False
    names: tuple[str, ...] = ()
    code: bool = False
    """Whether it is written like code, so that only the name of a tool tells it from any other line of code."""


def read_text(text: str, specs: Sequence[ToolSpec]) -> Written:
    """The calls that `text` makes of the tools of `specs`, or what is doubtful about them. Never raises."""
    whole = without_leftovers(text)
    if not specs or not ({"{", "(", "<", "[", "✿", "="} & set(whole)):
        return Written(answer_in(whole))
    known = {spec.name: spec for spec in specs}
    start = find_start(whole, known)
    if start is None:
        begin, blocks = _unmarked(whole, known)
        if blocks:
            return _judged(whole, whole[:begin].rstrip(), blocks)
        if _begins_with_a_call(whole, known):
            return Written(whole, doubt=_BEHIND)
        if name := meant(whole, known):
            unread = f"your reply ends like a call of {name}, in a form that cannot be read"
            return Written(whole, doubt=f"Nothing was run: {unread}. To call it, {HOW}. {_ANSWER}")
        return Written(answer_in(whole))
    section = read_section(whole, start, known)
    begin, before = _unmarked(whole[:start], known)
    after, behind = _unmarked(section.behind, known)
    blocks = [*before, _of_section(section), *behind]
    if section.behind and section.plain and (after or not behind) and not any(block.fault for block in blocks):
        # What a model writes behind special tokens it has invented; behind plain tags it may explain them.
        return Written(whole, doubt=_BEHIND)
    return _judged(whole, thought_in(whole[: begin if before else start]), blocks)


def _begins_with_a_call(text: str, known: Known) -> bool:
    """Whether the first thing in a text is a call of a tool; what follows it the model may have invented.

    `name(…)` is none here: so do people begin who write about a function.
    """
    block = None if text[:1] in ("`", "~", "") or WRITTEN.match(text) else _block_at(text, 0, known, 0)
    return block is not None and bool(block.calls) and all(name in known for name in block.names)


def begins_calls(text: str, specs: Sequence[ToolSpec]) -> bool:
    """Whether calls between marks begin in `text`, whole or not."""
    return find_start(text, {spec.name: spec for spec in specs}) is not None


def _unmarked(text: str, known: Known) -> tuple[int, list[_Block]]:
    """The calls without marks that `text` ends with, and where they begin; lines of code that call a tool are none."""
    begin, blocks = _last_run(text, known)
    sample = any(block.code and not near(block.names, known) for block in blocks)
    return (len(text), []) if sample or not blocks else (begin, blocks)


def _judged(whole: str, thought: str, blocks: Sequence[_Block]) -> Written:
    """The calls of `blocks`, unless one of them cannot be read or may be meant as an example."""
    calls = tuple(call for block in blocks for call in block.calls)
    faults = [block.fault for block in blocks if block.fault]
    if faults:
        return Written(whole, doubt=f"Nothing was run. {' '.join(faults[:MAX_CALLS])} To call a tool, {HOW}.")
    if any(block.sample for block in blocks) or _EXAMPLE.search(thought.rsplit("\n", 1)[-1]):
        names = ", ".join(dict.fromkeys(name for name, _ in calls))
        said = f"Nothing was run: your reply ends with {names} as in a sample of code or an example. To call it, {HOW}."
        return Written(whole, doubt=f"{said} {_ANSWER}")
    if len(calls) > MAX_CALLS:
        return Written(whole, doubt=f"Nothing was run: {len(calls)} calls in one reply; at most {MAX_CALLS} may be.")
    return Written(thought, calls)


def _last_run(text: str, known: Known, depth: int = 0) -> tuple[int, list[_Block]]:
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


def _block_at(text: str, at: int, known: Known, depth: int) -> _Block | None:
    """What begins at `at`: calls, a faulty attempt, something to be passed over whole, or None for prose."""
    char = text[at]
    if char in "`~<" and depth > MAX_DEPTH:
        return None
    if char in "`~":
        return _fence(text, at, known, depth)
    if char == "[" and (written := _WRITTEN_LIST.match(text, at)):
        return _list(text, at, written, known)
    if char in "{[":
        return _json(text, at, known)
    if call := WRITTEN.match(text, at):
        return _parenthesised(text, call, known)
    if named := _NAMED_OBJECT.match(text, at):
        return _named_object(text, named, known)
    return None


def _fence(text: str, at: int, known: Known, depth: int) -> _Block | None:
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


def _together(end: int, content: str, known: Known, depth: int, *, sample: bool) -> _Block:
    """What a fence holds as one block; one that holds anything but calls is to be passed over."""
    if find_start(content, known) == 0:
        section = read_section(content, 0, known)
        return replace(_of_section(section), end=end, sample=sample or bool(section.behind))
    begin, blocks = _last_run(content, known, depth + 1)
    if not blocks or begin or any(block.code and not near(block.names, known) for block in blocks):
        return _Block(end)
    return replace(_sum(blocks), end=end, sample=sample or any(block.sample for block in blocks))


def _of_section(section: Section) -> _Block:
    return _Block(
        0, section.calls, " ".join(section.faults[:MAX_CALLS]), names=tuple(name for name, _ in section.calls)
    )


def _sum(blocks: Sequence[_Block]) -> _Block:
    return _Block(
        0,
        tuple(call for block in blocks for call in block.calls),
        " ".join(block.fault for block in blocks if block.fault),
        names=tuple(name for block in blocks for name in block.names),
    )


def _json(text: str, at: int, known: Known) -> _Block | None:
    """JSON with the shape of calls; broken JSON counts if it is an attempt at one."""
    if text[at] == "[" and not _LIST.match(text, at):
        return None
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        callish = _CALLISH.match(text, at)
        if callish is None:
            return None
        end = balanced(text, at) or len(text)
        if not _tries(callish[1], text[at:end], known):
            return None
        try:
            value = read_arguments(text[at:end])
        except ArgumentsUnreadable as error:
            reason = str(error).removeprefix("the arguments are ")
            return _Block(end, fault=f"Your tool call could not be read: {reason}.")
    rows = rows_of(value)
    found = [call for row in rows if (call := shaped(row, known)) is not None]
    if not rows or len(found) != len(rows):
        return _Block(end)  # JSON of another meaning
    calls, faults = [], []
    for name, given in found:
        try:
            calls.append((name, arguments_of(given, known.get(name))))
        except ArgumentsUnreadable as error:
            faults.append(f"Tool call {name!r}: {error}.")
    return _Block(end, tuple(calls), " ".join(faults), names=tuple(name for name, _ in found))


def _tries(name: str, raw: str, known: Known) -> bool:
    """Whether broken JSON is an attempt at a call: it names a tool and what it is to be given."""
    return bool(near((name.strip(),), known)) or any(f'"{key}"' in raw for key in ARGUMENT_KEYS[:3])


def _list(text: str, at: int, found: re.Match[str], known: Known) -> _Block | None:
    """`[name(…), name(…)]`, which is code like any other unless it calls tools."""
    end = balanced(text, at)
    if end is None and not near((found[1],), known):
        return None
    if end is None:
        return _Block(len(text), fault=f"Tool call {found[1]!r}: a bracket or quote is not closed.", names=(found[1],))
    blocks: list[_Block] = []
    at = _NEXT.match(text, at + 1, end - 1).end()  # type: ignore[union-attr]
    while at < end - 1:
        written = WRITTEN.match(text, at)
        block = _parenthesised(text, written, known) if written else None
        if block is None:
            return _Block(end)
        blocks.append(block)
        at = _NEXT.match(text, block.end, end - 1).end()  # type: ignore[union-attr]
    return replace(_sum(blocks), end=end, code=True)


def _named_object(text: str, found: re.Match[str], known: Known) -> _Block | None:
    """`name{…}`, or the object on the next line, which is a call where the name is a tool's, or near to one."""
    name = found[1] if found[1] in known else found[1].rsplit(".", 1)[-1]
    if name not in known and not ("_" in name and near((name,), known)):
        return None
    try:
        value, end = _DECODER.raw_decode(text, found.end())
        return _Block(end, ((name, arguments_of(value, known.get(name))),), names=(name,), code=True)
    except (ValueError, RecursionError):
        end = balanced(text, found.end()) or len(text)
    try:
        return _Block(end, ((name, read_arguments(text[found.end() : end])),), names=(name,), code=True)
    except ArgumentsUnreadable as error:
        return _Block(end, fault=f"Tool call {name!r}: {error}.", names=(name,), code=True)


def _parenthesised(text: str, found: re.Match[str], known: Known) -> _Block | None:
    name = found[1] if found[1] in known else found[1].rsplit(".", 1)[-1]
    end = balanced(text, found.end() - 1)
    if end is None:
        if not near((name,), known):
            return None
        return _Block(
            len(text), fault=f"Tool call {name!r}: a bracket or quote is not closed.", names=(name,), code=True
        )
    inner = text[found.end() : end - 1]
    if name not in known:
        # Whether it is meant for a tool is decided by its neighbours; what it holds is told by the check of names.
        return _Block(end, ((name, {}),), names=(name,), code=True)
    try:
        return _Block(end, ((name, written_arguments(inner, known[name])),), names=(name,), code=True)
    except ArgumentsUnreadable as error:
        return _Block(end, fault=f"Tool call {name!r}: {error}.", names=(name,), code=True)


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:80] + "…"
