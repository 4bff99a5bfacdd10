"""Calls for a tool that nobody has called yet: by its writer's examples, else by its schema.

A value is the first that fits of: what the field says itself (its examples, its default, the words that it lists), what
its name or its format means (a day, an address), and its plain type within its bounds. A path gets a small file.
"""

from __future__ import annotations

import ast
import itertools
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from habilis.contract.contract import ContractError, read_contract
from habilis.contract.needs import need_of
from habilis.core.parsing import expression_tree, syntax_tree
from habilis.core.types import JsonSchema
from habilis.inputs.relations import Given
from habilis.inputs.search import listed_values, listed_words, possible

BY_SCHEMA = 6
MAX_DEPTH = 6
_TEXTS = ("hello world", "Ada", "42", "The quick brown fox.", "a,b\n1,2", '{"a": 1}', "1 + 2", "2024-03-01")
_MEANT: tuple[tuple[frozenset[str], tuple[Any, ...]], ...] = (
    (frozenset({"datetime", "timestamp"}), ("2024-03-01T12:30:00", "2023-12-31T00:00:00")),
    (frozenset({"date", "day", "birthday", "start", "end", "since", "until"}), ("2024-03-01", "2023-12-31")),
    (frozenset({"time"}), ("12:30", "08:05:00")),
    (frozenset({"url", "uri", "link"}), ("https://example.org/a?b=1", "http://example.com/")),
    (frozenset({"email", "mail"}), ("ada@example.org",)),
    (frozenset({"json"}), ('{"a": 1, "b": [2, 3]}', "[1, 2, 3]")),
    (frozenset({"csv", "table"}), ("name,value\nada,1\nbob,2\n",)),
    (frozenset({"xml", "html"}), ("<a><b>1</b></a>",)),
    (frozenset({"expression", "formula", "equation"}), ("1 + 2 * 3", "2 * x")),
    (frozenset({"regex", "pattern"}), ("[a-z]+", r"\d+")),
    (frozenset({"hex", "color", "colour"}), ("#ff8800", "ff")),
    (frozenset({"binary", "bits"}), ("1011",)),
    (frozenset({"ip", "host"}), ("192.0.2.1",)),
    (frozenset({"timezone", "tz", "zone"}), ("UTC", "Europe/Oslo")),
    (frozenset({"unit", "units"}), ("m", "kg")),
    (frozenset({"currency"}), ("EUR", "USD")),
    (frozenset({"language", "lang", "locale"}), ("en",)),
    (frozenset({"encoding"}), ("utf-8",)),
    (frozenset({"name", "column", "field", "key"}), ("name", "value")),
)
_FORMATS = {"date": "date", "date-time": "datetime", "time": "time", "uri": "url", "email": "email", "ipv4": "ip"}
_FILES = {
    "csv": b"name,value\nada,1\nbob,2\ncid,3.5\n",
    "json": b'{"name": "ada", "values": [1, 2, 3]}\n',
    "xml": b"<rows><row>1</row><row>2</row></rows>\n",
    "html": b"<html><body><p>One</p><p>Two</p></body></html>\n",
    "txt": b"The quick brown fox\njumps over 2 lazy dogs.\n",
}
_WHOLE = (3, 1, 2, 10, 7, 100)
_REAL = (2.5, 1.0, 10.0, 0.5, 3.0, 100.0)


def first_calls(source: str, schema: JsonSchema, seed: str) -> list[Given]:
    """Calls to try a tool with, the likeliest first, no two equal; the same for one seed."""
    every = possible(schema) or ()
    made = itertools.chain(
        _examples(source), _written(source, schema), (one.given for one in every), _by_schema(schema, seed)
    )
    found: list[Given] = []
    for given in made:
        if given not in found:
            found.append(given)
    return found


def _examples(source: str) -> Iterator[Given]:
    try:
        examples = read_contract(source).examples
    except ContractError:
        return
    for one in examples:
        yield Given(one.arguments, {name: text.encode("utf-8", "replace") for name, text in one.files.items()})


def _written(source: str, schema: JsonSchema) -> Iterator[Given]:
    """Calls that docstrings show: `>>> run(InputModel(a=1))`, `name(a=1)`, or an object with the tool's arguments."""
    fields = schema.get("properties")
    known = set(fields) if isinstance(fields, Mapping) else set()
    must = set(schema.get("required") or ())
    for text in _docstrings(source):
        for line in text.splitlines():
            for arguments in _said_in(line.strip().removeprefix(">>>").strip()):
                if arguments and arguments.keys() <= known and must <= arguments.keys():
                    yield Given(arguments)


def _docstrings(source: str) -> Iterator[str]:
    try:
        tree = syntax_tree(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield ast.get_docstring(node) or ""


def _said_in(line: str) -> Iterator[dict[str, Any]]:
    """The arguments of a call or an object in a line, as far as they are plain values."""
    starts = [line] if line.endswith((")", "}")) else []
    starts += [line[line.index(mark) :] for mark in ("{",) if mark in line and line.endswith("}")]
    for text in dict.fromkeys(starts):
        try:
            tree = expression_tree(text.rpartition(" = ")[2] or text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in ast.walk(tree):
            try:
                if isinstance(node, ast.Call) and node.keywords and not node.args and all(w.arg for w in node.keywords):
                    yield _plain({str(word.arg): ast.literal_eval(word.value) for word in node.keywords})
                elif isinstance(node, ast.Dict):
                    yield _plain(ast.literal_eval(node))
            except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                continue


def _plain(arguments: dict[str, Any]) -> dict[str, Any]:
    """`arguments` as JSON gives them. Raises ValueError or TypeError for what JSON does not hold."""
    plain: dict[str, Any] = json.loads(json.dumps(arguments, allow_nan=False))
    return plain


def _by_schema(schema: JsonSchema, seed: str) -> Iterator[Given]:
    """Calls by the schema alone: first what is required, then all fields."""
    fields = schema.get("properties")
    if not isinstance(fields, Mapping):
        return
    must = set(schema.get("required") or ())
    for number in range(BY_SCHEMA):
        lay = _Layout(schema, random.Random(f"{seed}:{number}"), number)
        wanted = [name for name in fields if name in must or number % 3 == 2]
        arguments = {name: lay.value(name, fields[name], 0) for name in wanted}
        if None not in arguments.values():
            yield Given(arguments, lay.files)


@dataclass
class _Layout:
    """One call in the making: the `number`th choice of each value, and the files that its paths lead to."""

    schema: JsonSchema
    lot: random.Random
    number: int
    files: dict[str, bytes] = field(default_factory=dict)

    def value(self, name: str, said: Any, depth: int) -> Any:
        """A value for a field; None where its schema gives none."""
        said = self._resolved(said)
        if depth > MAX_DEPTH or not isinstance(said, Mapping):
            return None
        if offered := self._offered(said):
            return self._chosen(offered)
        choices = said.get("anyOf") or said.get("oneOf") or ()
        kinds = [one for one in choices if (self._resolved(one) or {}).get("type") != "null"]
        if kinds:
            return self.value(
                name, {**{k: v for k, v in said.items() if k not in ("anyOf", "oneOf")}, **kinds[0]}, depth
            )
        kind = said.get("type")
        if kind == "array":
            return self._array(name, said, depth)
        if kind == "object" or "properties" in said:
            return self._object(said, depth)
        if kind in ("integer", "number"):
            return self._number(said, whole=kind == "integer")
        return self._text(name, dict(said)) if kind == "string" else self._chosen((1, "a", 2.5)) if not kind else None

    def _resolved(self, said: Any) -> Any:
        reference = said.get("$ref") if isinstance(said, Mapping) else None
        if not isinstance(reference, str):
            return said
        return (self.schema.get("$defs") or {}).get(reference.rpartition("/")[2])

    def _offered(self, said: Mapping[str, Any]) -> Sequence[Any]:
        if isinstance(examples := said.get("examples"), list) and examples:
            return examples
        return listed_values(said, self.schema) or (listed_words(said) if said.get("type") == "string" else ())

    def _chosen(self, values: Sequence[Any]) -> Any:
        return values[self.number % len(values)]

    def _array(self, name: str, said: Mapping[str, Any], depth: int) -> list[Any] | None:
        least, most = said.get("minItems", 0), said.get("maxItems", 4)
        length = max(least, min(most, 3 + self.number % 2))
        own, items = self.number, []
        for place in range(length):
            self.number = own + place
            items.append(self.value(name.removesuffix("s"), said.get("items") or {"type": "number"}, depth + 1))
        self.number = own
        return None if None in items else items

    def _object(self, said: Mapping[str, Any], depth: int) -> dict[str, Any] | None:
        fields = said.get("properties")
        if not isinstance(fields, Mapping):
            inner = said.get("additionalProperties")
            inner = inner if isinstance(inner, Mapping) else {"type": "number"}
            fields, must = {"a": inner, "b": inner}, {"a", "b"}
        else:
            must = set(said.get("required") or ())
        found = {name: self.value(name, fields[name], depth + 1) for name in fields if name in must}
        return None if None in found.values() else found

    def _number(self, said: Mapping[str, Any], *, whole: bool) -> int | float:
        least = said.get("minimum", said.get("exclusiveMinimum"))
        most = said.get("maximum", said.get("exclusiveMaximum"))
        step: float = said.get("multipleOf") or 1
        value = self._chosen(_WHOLE if whole else _REAL)
        if isinstance(least, (int, float)) and isinstance(most, (int, float)):
            value = least + (most - least) * (self.number % 3 + 1) / 4
        elif isinstance(least, (int, float)) and value <= least:
            value = least + value
        elif isinstance(most, (int, float)) and value >= most:
            value = most - value
        value = round(value / step) * step if "multipleOf" in said else value
        return int(value) if whole else float(value)

    def _text(self, name: str, said: JsonSchema) -> str:
        if need_of(name, said) == "file":
            return self._file(name, said)
        words = {_FORMATS.get(str(said.get("format")), ""), *name.lower().split("_")}
        values = next((values for meant, values in _MEANT if meant & words), _TEXTS)
        text = str(self._chosen(values))
        most, least = said.get("maxLength"), said.get("minLength", 0)
        text = text * (least // len(text) + 1) if len(text) < least else text
        return text[:most] if isinstance(most, int) else text

    def _file(self, name: str, said: JsonSchema) -> str:
        """The name of a small file of the kind that the field speaks of."""
        told = f"{name} {said.get('description', '')} {self.schema.get('title', '')}".lower()
        ending = next((ending for ending in _FILES if ending in told), "txt")
        called = f"given_{len(self.files) + 1}.{ending}"
        self.files[called] = _FILES[ending] * (1 if ending in ("json", "xml", "html") else 1 + self.number % 2)
        return called
