"""Tool calls as models really send them: every call is checked against its tool's schema before anything runs.

All problems of a reply are found together and told to the model in words that it can act on.
Nothing is coerced and nothing is filled in: an optional argument that was left out stays out.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from habilis.core.types import JsonSchema, ToolSpec
from habilis.messages.arguments import ArgumentsUnreadable, kind_of, read_arguments
from habilis.messages.bounds import Cut, cut_of
from habilis.schemas.checking import TooMuch, checker_of
from habilis.schemas.nearly import nearly, unwrapped

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from langchain_core.messages import AIMessage

UNREADABLE = "unreadable_arguments"
"""The one argument under which a call's unreadable text stays in the history, so that every server can read it."""
UNREADABLE_AT = "unreadable_at"
"""Key of `additional_kwargs`: the places of the unreadable calls among all calls of a reply."""
MAX_PROBLEMS = 12


@dataclass(frozen=True)
class Call:
    """One tool call that may run: its arguments fit the tool's schema."""

    id: str
    name: str
    args: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Problem:
    """One call that must not run. `text` says what is wrong and what to send instead."""

    call_id: str
    name: str
    text: str


@dataclass(frozen=True)
class CheckedCalls:
    """A reply after the check. `message` holds every call, in order, repaired arguments in place of broken ones.

    A call whose arguments stayed unreadable stands in it with its raw text under `unreadable_arguments`; checking
    `message` again finds the same problems.
    """

    calls: tuple[Call, ...]
    problems: tuple[Problem, ...]
    message: AIMessage


def with_unique_ids(message: AIMessage, prefix: str, taken: Collection[str]) -> AIMessage:
    """`message` with an id on every call that is neither doubled nor in `taken`; new ids are `<prefix>_<n>`."""
    calls: list[Any] = list(message.tool_calls)
    broken: list[Any] = list(message.invalid_tool_calls)
    seen = set(taken)
    wanted = {call["id"] for call in (*calls, *broken) if call["id"]}
    fresh = (f"{prefix}_{n}" for n in range(1, 1_000_000))
    changed = False
    for group in (calls, broken):
        for index, call in enumerate(group):
            if not call["id"] or call["id"] in seen:
                new = next(name for name in fresh if name not in seen and name not in wanted)
                group[index] = {**call, "id": new}
                changed = True
            seen.add(group[index]["id"] or "")
    return _replaced(message, calls, broken) if changed else message


def check_calls(message: AIMessage, specs: Sequence[ToolSpec]) -> CheckedCalls:
    """Check all calls of a reply against `specs`. Every call ends up in `.calls` or in `.problems`."""
    by_name = {spec.name: spec for spec in specs}
    cut = cut_of(message)
    good: list[Call] = []
    problems: list[Problem] = []
    kept: list[Any] = []
    for call_id, name, raw in calls_in_order(message):
        try:
            args = _arguments(raw, by_name.get(name), cut is not None)
            if (text := _problem(name, args, by_name)) and name in by_name:
                schema = by_name[name].parameters
                meant = nearly(schema, unwrapped(schema, args))
                args, text = (args, text) if _problem(name, meant, by_name) else (meant, None)
        except ArgumentsUnreadable as error:
            args = {UNREADABLE: raw if isinstance(raw, str) else _dumped(raw)}
            text = _unknown_tool(name, by_name) or _unreadable(name, error, cut)
        kept.append({"name": name, "args": args, "id": call_id, "type": "tool_call"})
        if text is None:
            good.append(Call(call_id, name, args))
        else:
            problems.append(Problem(call_id, name, text))
    if message.invalid_tool_calls or kept != message.tool_calls:
        message = _replaced(message, kept, [])
    return CheckedCalls(tuple(good), tuple(problems), message)


def _unreadable(name: str, error: ArgumentsUnreadable, cut: Cut | None) -> str:
    """What is told of a call whose arguments cannot be read."""
    if cut is not None:
        return f"Tool call {name!r} {cut}. Send the call again, with shorter arguments."
    return f"Tool call {name!r}: {error}. Send the call again, as a JSON object."


def _dumped(raw: Any) -> str:
    try:
        return json.dumps(raw, ensure_ascii=False, default=str)
    except RecursionError:
        return "(nested too deeply to be written down)"


def _arguments(raw: Any, spec: ToolSpec | None, cut: bool) -> dict[str, Any]:
    """The arguments in `raw`; a JSON string is the one parameter of a tool that has one and wants text."""
    try:
        return read_arguments(raw, cut=cut)
    except ArgumentsUnreadable:
        parameter = only_text_parameter(spec)
        text = _json_string(raw) if parameter else None
        if parameter is None or text is None:
            raise
        return {parameter: text}


def only_text_parameter(spec: ToolSpec | None) -> str | None:
    """The parameter of a tool that has exactly one and takes text for it."""
    properties = spec.parameters.get("properties") if spec else None
    if not isinstance(properties, dict) or len(properties) != 1:
        return None
    name, schema = next(iter(properties.items()))
    return name if isinstance(schema, dict) and schema.get("type") == "string" else None


def _json_string(raw: Any) -> str | None:
    try:
        value = json.loads(raw, strict=False) if isinstance(raw, str) else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, str) else None


def calls_in_order(message: AIMessage) -> list[tuple[str, str, Any]]:
    """Calls as (id, name, arguments or raw text), unreadable ones in the places where the model sent them."""
    rows: list[tuple[str, str, Any]] = []
    for call in message.tool_calls:
        args: Any = call["args"]
        if set(args) == {UNREADABLE} and isinstance(args[UNREADABLE], str):
            args = args[UNREADABLE]
        rows.append((call["id"] or "", call["name"], args))
    places = message.additional_kwargs.get(UNREADABLE_AT, ())
    for number, broken in enumerate(message.invalid_tool_calls):
        place = places[number] if number < len(places) else len(rows)
        rows.insert(min(place, len(rows)), (broken["id"] or "", broken["name"] or "", broken["args"]))
    return rows


def _replaced(message: AIMessage, calls: list[Any], broken: list[Any]) -> AIMessage:
    # Raw calls of the provider would be sent in place of ours once ours are gone.
    gone = {"tool_calls"} if broken else {"tool_calls", UNREADABLE_AT}
    extra = {key: value for key, value in message.additional_kwargs.items() if key not in gone}
    return message.model_copy(update={"tool_calls": calls, "invalid_tool_calls": broken, "additional_kwargs": extra})


def _problem(name: str, args: dict[str, Any], by_name: Mapping[str, ToolSpec]) -> str | None:
    unknown = _unknown_tool(name, by_name)
    if unknown:
        return unknown
    schema = by_name[name].parameters
    found = [*_wrong_names(args, schema), *_wrong_values(args, schema)]
    if not found:
        return None
    if len(found) > MAX_PROBLEMS:
        found = [*found[:MAX_PROBLEMS], f"and {len(found) - MAX_PROBLEMS} more"]
    return f"Tool call {name!r} was not run: " + "; ".join(found) + ". Send the call again, corrected."


def _unknown_tool(name: str, by_name: Mapping[str, ToolSpec]) -> str | None:
    if name in by_name:
        return None
    near = near_names(name, by_name)
    if near:
        hint = f"did you mean {' or '.join(near)}?"
    elif by_name:
        hint = f"the tools are: {', '.join(sorted(by_name))}."
    else:
        hint = "there are no tools now; answer in plain text."
    return f"There is no tool {name!r}; {hint}"


def near_names(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """The names of `known` that `name` may be a slip of, nearest first, compared without case and punctuation."""
    plain = {_plain(other): other for other in sorted(known)}
    last = _plain(re.split(r"[./:]", name)[-1])  # models like to write functions.name
    if last in plain:
        return [plain[last]]
    return [plain[match] for match in difflib.get_close_matches(_plain(name), plain, limit, 0.6)]


def _plain(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalnum())


def _wrong_names(args: dict[str, Any], schema: JsonSchema) -> Iterator[str]:
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return  # a tool that declares nothing takes what it is given
    required = [name for name in schema.get("required", ()) if isinstance(name, str)]
    free = schema.get("additionalProperties") not in (None, False) or schema.get("patternProperties")
    unknown = [] if free else sorted(set(args) - set(properties))
    missing = sorted(set(required) - set(args))
    if unknown:
        yield "unknown parameters: " + ", ".join(_with_hint(name, set(properties) - set(args)) for name in unknown)
    if missing:
        yield "missing required parameters: " + ", ".join(missing)
    if unknown or missing:
        yield "expected: " + (", ".join(sorted(properties)) or "no parameters")


def _with_hint(name: str, free: Collection[str]) -> str:
    near = near_names(name, free, 1)
    return f"{name} (did you mean {near[0]}?)" if near else name


def _wrong_values(args: dict[str, Any], schema: JsonSchema) -> Iterator[str]:
    try:
        errors = _errors(args, schema)
    except TooMuch:
        return  # the tool's own check, inside the sandbox, decides
    for error in errors:
        if not error.path and error.validator in ("required", "additionalProperties"):
            continue  # said already, all names together
        yield _worded(error)


def misfits(value: Any, schema: JsonSchema) -> list[str]:
    """What is wrong with `value` by `schema`, in words for the model; nothing if it fits.

    What is too much to check does not fit; a schema that is of no use checks nothing.
    """
    try:
        errors = _errors(value, schema)
    except TooMuch:
        return ["it is too large, or too deeply nested, to be checked against the schema; make it smaller"]
    found = [_worded(error) for error in errors][:MAX_PROBLEMS]
    return [f"it{text.removeprefix('the arguments')}" if text.startswith("the arguments") else text for text in found]


def _errors(value: Any, schema: JsonSchema) -> list[ValidationError]:
    """Raises `TooMuch`."""
    try:
        checker = checker_of(json.dumps(schema, sort_keys=True))
    except (ValueError, RecursionError):
        return []
    if checker is None:
        return []
    return sorted(checker.errors(value), key=lambda error: ([str(p) for p in error.path], error.message))


def _worded(error: ValidationError) -> str:
    where = _path(error.absolute_path)
    value: Any = error.instance
    asked: Any = error.validator_value
    if error.validator in ("anyOf", "oneOf") and error.context:
        kinds = [sub.validator_value for sub in error.context if sub.validator == "type" and not sub.relative_path]
        if len(kinds) == len(asked):
            return f"{where} must be {_or(kinds)}, not {_shown(value)}"
    if error.validator == "type":
        hint = "; leave it out to use its default" if value is None else ""
        return f"{where} must be {_or([asked])}, not {_shown(value)}{hint}"
    if error.validator in ("enum", "const"):
        options = asked if error.validator == "enum" else [asked]
        listed = ", ".join(json.dumps(option, ensure_ascii=False) for option in options[:20])
        return f"{where} must be one of {listed}, not {_shown(value)}"
    return f"{where}: {error.message if len(error.message) <= 200 else error.message[:200] + '…'}"


def _path(path: Iterable[str | int]) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "the arguments"


def _or(kinds: Iterable[Any]) -> str:
    flat = [kind for item in kinds for kind in (item if isinstance(item, list) else [item])]
    return " or ".join(dict.fromkeys(str(kind) for kind in flat))


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return f"{kind_of(value)} ({text if len(text) <= 60 else text[:60] + '…'})" if value is not None else "null"
