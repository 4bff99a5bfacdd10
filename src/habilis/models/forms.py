"""The form of a structured answer: the JSON schema that is sent, and the reading of whatever comes back.

Every string and list of the schema is bounded, for servers that decode by it would run on to their token limit
otherwise. What comes back longer is cut, never refused.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from habilis.messages.arguments import drop_trailing_commas, python_literal
from habilis.schemas.nearly import nearly

T = TypeVar("T", bound=BaseModel)
Schema = dict[str, Any]

MAX_STRING = 1_900
"""Characters of a string that its type does not bound."""
GRAMMAR_LIMIT = 1_900
"""llama.cpp, and what is built on it, refuses grammars that repeat something 2,000 times or more
(https://github.com/ggml-org/llama.cpp/issues/27087)."""
MAX_ITEMS = 64
"""Items of a list that its type does not bound."""
MAX_FENCES = 50
MAX_FAILED = 500
"""Braces of a reply that begin no object, after which no more are tried."""
_FENCED = re.compile(r"```[a-zA-Z0-9_-]*[ \t]*\n(.*?)```", re.DOTALL)
_OPENED = re.compile(r"\s*```[a-z]*\n")
_NOT_STRICT = frozenset(
    {
        "maxLength",
        "minLength",
        "maxItems",
        "minItems",
        "pattern",
        "format",
        "default",
        "uniqueItems",
        "title",
        "examples",
    }
)
"""What strict mode does not take and an answer can be read without; its text says what it can of it."""
_STRICT = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "const", "description"}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
)


class FormProblem(ValueError):
    """A reply that does not fit. Its text tells the model what to correct."""


class NoObject(FormProblem):
    """The reply holds no object that could be read."""


@lru_cache(maxsize=64)
def schema_of(output: type[BaseModel]) -> Schema:
    """The JSON schema of `output`, self-contained, with every string and list bounded. Not to be changed in place."""
    made: Schema = _bounded(_own_schema(output))
    return made


@lru_cache(maxsize=64)
def _own_schema(output: type[BaseModel]) -> Schema:
    """The same with the bounds that the type itself sets, and no other."""
    raw = output.model_json_schema()
    for told in (raw, *raw.get("$defs", {}).values()):
        told.pop("description", None)  # the class's docstring speaks to whoever reads the code, and would be paid for
    made: Schema = _inlined(raw, raw.get("$defs", {}), ())
    return made


def _inlined(node: Any, defs: dict[str, Any], trail: tuple[str, ...]) -> Any:
    """`node` without references, but where a type holds itself: there anything is allowed."""
    if isinstance(node, list):
        return [_inlined(item, defs, trail) for item in node]
    if not isinstance(node, dict):
        return node
    name = str(node.get("$ref", "")).removeprefix("#/$defs/")
    if name:
        if name in trail or name not in defs:
            return {}
        rest = {key: value for key, value in node.items() if key != "$ref"}
        return {**_inlined(defs[name], defs, (*trail, name)), **_inlined(rest, defs, trail)}
    return {key: _inlined(value, defs, trail) for key, value in node.items() if key != "$defs"}


def _bounded(node: Any) -> Any:
    if isinstance(node, list):
        return [_bounded(item) for item in node]
    if not isinstance(node, dict):
        return node
    made = {key: _bounded(value) for key, value in node.items() if key != "title" or isinstance(value, dict)}
    kind = made.get("type")
    if kind == "string" and not {"enum", "const", "maxLength"} & set(made):
        made["maxLength"] = MAX_STRING
    if kind == "array":
        made.setdefault("maxItems", MAX_ITEMS)
    if kind == "object" and "properties" in made:
        made.setdefault("additionalProperties", False)
    return made


def tightened(schema: Schema) -> Schema:
    """`schema` with no bound above `GRAMMAR_LIMIT`, for servers that cannot decode by a larger one."""

    def tight(node: Any) -> Any:
        if isinstance(node, list):
            return [tight(item) for item in node]
        if not isinstance(node, dict):
            return node
        bounds = {
            key: min(node[key], GRAMMAR_LIMIT) for key in ("maxLength", "maxItems") if isinstance(node.get(key), int)
        }
        return {key: tight(value) for key, value in node.items()} | bounds

    made: Schema = tight(schema)
    return made


def strict_schema(schema: Schema) -> Schema | None:
    """`schema` as OpenAI's strict mode wants it, None where it cannot be said so (free-form objects, `oneOf`).

    All properties are required, bounds move into descriptions
    (https://platform.openai.com/docs/guides/structured-outputs, "Supported schemas").
    """
    kind = schema.get("type")
    if kind is None and not {"anyOf", "enum", "const"} & set(schema):
        return None
    if kind == "object" and ("properties" not in schema or schema.get("additionalProperties") is not False):
        return None
    made = {key: value for key, value in schema.items() if key not in _NOT_STRICT}
    if not _STRICT.issuperset(made):
        return None
    if kind == "string" and "maxLength" in schema:
        made["description"] = f"{schema.get('description', '')} (at most {schema['maxLength']} characters)".strip()
    for name in ("items", "anyOf", "properties"):
        if name not in schema:
            continue
        inner = _strict_parts(schema[name])
        if inner is None:
            return None
        made[name] = inner
    if kind == "object":
        made["required"] = list(schema["properties"])
    return made


def _strict_parts(part: Any) -> Any:
    if isinstance(part, list):
        listed = [strict_schema(item) for item in part]
        return None if None in listed else listed
    if part and all(isinstance(value, dict) for value in part.values()):
        named = {name: strict_schema(value) for name, value in part.items()}
        return None if None in named.values() else named
    return strict_schema(part)


def cut_to(schema: Schema, value: Any) -> Any:
    """`value` with strings and lists cut to what `schema` allows; everything else as it is."""
    options = schema.get("anyOf")
    if options:
        kinds = {"string": str, "array": list, "object": dict}
        fitting = [o for o in options if isinstance(value, kinds.get(o.get("type"), ()))]
        return cut_to(fitting[0], value) if len(fitting) == 1 else value
    if isinstance(value, str) and isinstance(schema.get("maxLength"), int):
        return value[: schema["maxLength"]]
    if isinstance(value, list) and schema.get("type") == "array":
        return [cut_to(schema.get("items", {}), item) for item in value[: schema.get("maxItems")]]
    if isinstance(value, dict) and "properties" in schema:
        return {key: cut_to(schema["properties"].get(key, {}), item) for key, item in value.items()}
    return value


def read_form(output: type[T], reply: Any) -> T:
    """The answer in `reply`, a JSON value or a text that holds one. Raises `FormProblem` for the model to read."""
    candidates = [reply] if isinstance(reply, dict) else list(json_in(reply)) or list(_written_as_python(str(reply)))
    if not candidates:
        raise NoObject("the reply holds no JSON object" if str(reply).strip() else "the reply is empty")
    first: ValidationError | None = None
    for data in (data for candidate in candidates for data in _unwrapped(output, candidate)):
        try:
            return output.model_validate(_cut(output, nearly(_own_schema(output), data)))
        except ValidationError as error:
            first = first or error
    assert first is not None
    raise FormProblem(_worded(first))


def _written_as_python(text: str) -> Iterator[Any]:
    """The object that stands in `text` as a literal of Python, with single quotes or True."""
    with contextlib.suppress(ValueError, RecursionError):
        yield python_literal(text[text.index("{") : text.rindex("}") + 1])


def _cut(output: type[BaseModel], data: Any) -> Any:
    """`data` cut by the schema, then by what the type itself still finds too long (behind aliases, say)."""
    uncut = {name: data[name] for name in getattr(output, "uncut", ()) if isinstance(data, dict) and name in data}
    data = cut_to(_own_schema(output), data)
    data = {**data, **uncut} if uncut else data
    try:
        output.model_validate(data)
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_context=True):
            if problem["type"] in ("string_too_long", "too_long"):
                data = _cut_at(data, problem["loc"], int(problem["ctx"]["max_length"]))
    return data


def _cut_at(data: Any, path: tuple[Any, ...], limit: int) -> Any:
    if not path:
        return data[:limit] if isinstance(data, str | list) else data
    head, *rest = path
    if isinstance(data, dict) and head in data:
        return {**data, head: _cut_at(data[head], tuple(rest), limit)}
    if isinstance(data, list) and isinstance(head, int) and head < len(data):
        return [*data[:head], _cut_at(data[head], tuple(rest), limit), *data[head + 1 :]]
    return data


def _unwrapped(output: type[BaseModel], data: Any) -> Iterator[Any]:
    """`data`, or what it wraps: models like to put an answer under its own name, or into a written call."""
    inner: Any = None
    if isinstance(data, dict):
        if len(data) == 1 and isinstance(only := next(iter(data.values())), dict):
            inner = only
        called = data.get("name") == output.__name__ or "arguments" in data
        for key in ("arguments", "parameters", "properties"):
            if called and isinstance(data.get(key), dict):
                inner = data[key]
    if inner is not None and not set(inner).isdisjoint(output.model_fields):
        yield inner
    yield data


def begins_whole(reply: Any) -> bool:
    """Whether the first object in `reply` is whole, so that what was cut off came after it."""
    text = str(reply)
    start = text.find("{")
    if isinstance(reply, dict) or start < 0:
        return isinstance(reply, dict)
    try:
        json.JSONDecoder(strict=False).raw_decode(text, start)
    except (ValueError, RecursionError):
        return False
    return True


def unfenced(text: str) -> str:
    """`text` without a code fence around it, if there is one, closed or not."""
    opened = _OPENED.match(text)
    return text[opened.end() :].removesuffix("```") if opened else text


def json_in(text: Any) -> Iterator[Any]:
    """The JSON objects in a text, likeliest first: the whole, fenced blocks from the last, then those in prose."""
    text = str(text).strip()
    whole = _loaded(text)
    if isinstance(whole, str) and whole.strip().startswith("{"):
        whole = _loaded(whole)
    if isinstance(whole, dict):
        yield whole
        return
    for block in reversed(_FENCED.findall(text)[-MAX_FENCES:]):
        value = _loaded(block)
        if isinstance(value, dict):
            yield value
    yield from sorted(_spans(text), key=lambda value: -len(json.dumps(value)))


def _loaded(text: str) -> Any:
    for version in (text, drop_trailing_commas(text)):
        try:
            return json.loads(version, strict=False)
        except (ValueError, RecursionError):
            continue
    return None


def _spans(text: str) -> list[Any]:
    """Objects that begin somewhere in `text`, none inside another."""
    found: list[Any] = []
    text = drop_trailing_commas(text)
    decoder = json.JSONDecoder(strict=False)
    start, failed = text.find("{"), 0
    while start >= 0 and len(found) < 20 and failed < MAX_FAILED:
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):  # which costs a look at all that comes before, for the number of the line
            failed += 1
            start = text.find("{", start + 1)
            continue
        if isinstance(value, dict) and value:
            found.append(value)
        start = text.find("{", end)
    return found


def _worded(error: ValidationError) -> str:
    lines = []
    for problem in error.errors(include_url=False, include_context=False)[:8]:
        where = ".".join(str(part) for part in problem["loc"]) or "the object"
        given = json.dumps(problem["input"], ensure_ascii=False, default=str) if problem["type"] != "missing" else ""
        given = f" (got {given[:80]})" if given else ""
        lines.append(f"{where}: {problem['msg']}{given}")
    return "; ".join(lines)
