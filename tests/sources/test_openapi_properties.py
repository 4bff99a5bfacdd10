"""Any document: the tools that come of it can be offered to every provider, and every argument arrives once."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import unquote, urlsplit

from hypothesis import example, given
from hypothesis import strategies as st

from habilis.core.types import ToolSpec
from habilis.messages.naming import Naming, unique_names
from habilis.sources.foreign.presenting import MAX_SCHEMA_CHARS, bounded_schema, presented
from habilis.sources.openapi.document import Document
from habilis.sources.openapi.operations import operations
from habilis.sources.openapi.sending import request_of

FITS = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
NAMES = st.sampled_from(["id", "name", "x", "body", "page", "filter[a]", "X-Y", "größe", "id_query"]) | st.text(
    st.characters(codec="utf-8", exclude_characters="{}/?#\0", exclude_categories=("Cs", "Cc")), min_size=1, max_size=70
)
LEAVES: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{"type": "string"}, {"type": "integer", "nullable": True}, {"$ref": "#/components/schemas/A"}, {}, {"$ref": "#/x"}]
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(NAMES, inner, max_size=4)},
            optional={"required": st.lists(NAMES, max_size=3)},
        ),
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}),
        st.fixed_dictionaries({"allOf": st.lists(inner, max_size=3)}),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)}),
    ),
    max_leaves=12,
)
PARAMETERS = st.lists(
    st.fixed_dictionaries(
        {"name": NAMES, "in": st.sampled_from(["query", "header", "cookie"]), "schema": st.just({"type": "string"})},
        optional={"required": st.booleans()},
    ),
    max_size=6,
)
OPERATIONS = st.fixed_dictionaries(
    {"parameters": PARAMETERS},
    optional={
        "operationId": st.text(max_size=90),
        "summary": st.text(max_size=50),
        "requestBody": st.fixed_dictionaries(
            {"content": st.fixed_dictionaries({"application/json": st.fixed_dictionaries({"schema": SCHEMAS})})},
            optional={"required": st.booleans()},
        ),
    },
)
DOCUMENTS = st.fixed_dictionaries(
    {
        "openapi": st.just("3.0.3"),
        "paths": st.dictionaries(
            st.sampled_from(["/a", "/a/{id}", "/b c/ü"]),
            st.dictionaries(st.sampled_from(["get", "post", "put"]), OPERATIONS, min_size=1),
            min_size=1,
        ),
        "components": st.fixed_dictionaries({"schemas": st.fixed_dictionaries({"A": SCHEMAS})}),
    }
)


def read(tree: dict[str, Any]) -> Document:
    return Document("api.json", tree, "3.0.3")


TWINS = {
    "openapi": "3.0.3",
    "paths": {
        "/a": {
            "get": {
                "parameters": [
                    {"name": "id", "in": "query", "schema": {"type": "string"}},
                    {"name": "id", "in": "header", "schema": {"type": "string"}},
                ],
                "requestBody": {
                    "content": {
                        "application/json": {
                            "schema": {"type": "object", "properties": {"id_query": {"type": "string"}}}
                        }
                    }
                },
            }
        }
    },
    "components": {"schemas": {"A": {"type": "string"}}},
}
"""Two parameters that have to be named apart, and a field of the body that bears the name that one of them gets."""


@given(DOCUMENTS)
@example(TWINS)
def test_every_operation_becomes_a_tool_that_providers_take(tree: dict[str, Any]) -> None:
    found = operations(read(tree), "http://127.0.0.1:1/v1")
    assert len(found) == sum(len(item) for item in tree["paths"].values())
    assert len({one.name for one in found}) == len(found)
    own = [ToolSpec(name=one.name, description=one.description, parameters=one.schema) for one in found]
    specs = [presented(spec, spec.name) for spec in own]
    for spec in Naming.of(specs).specs:
        assert FITS.fullmatch(spec.name)
        assert all(FITS.fullmatch(name) for name in spec.parameters["properties"])
    for one in found:
        names = [argument.name for argument in one.arguments]
        assert len(set(names)) == len(names)
        assert set(names) == set(one.schema["properties"])
        assert set(one.schema["required"]) <= set(names)
        json.dumps(one.schema)


@given(DOCUMENTS, st.text(min_size=1, max_size=20))
def test_each_text_argument_arrives_once_and_where_it_belongs(tree: dict[str, Any], said: str) -> None:
    value = said.encode("ascii", "ignore").decode() + "v"
    for one in operations(read(tree), "http://127.0.0.1:1/v1"):
        given_ = {a.name: value for a in one.arguments if a.place in ("path", "query", "cookie")}
        request = request_of(one, given_)
        wanted = [a.wire for a in one.arguments if a.place == "query"]
        assert [name for name, _ in request.query] == wanted
        assert all(text == value for _, text in request.query)
        assert request.headers.get("Cookie", "").count("=") >= sum(a.place == "cookie" for a in one.arguments)
        path = urlsplit(request.url).path
        assert "{" not in path
        if any(a.place == "path" for a in one.arguments):
            assert unquote(path.rsplit("/", 1)[1]) == value
        assert request.body is None or one.body_required


WORDS = st.sampled_from(["type", "properties", "items", "description", "required", "pattern", "anyOf", "$ref", "x"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.text(max_size=500) | st.integers(),
    lambda inner: st.lists(inner) | st.dictionaries(WORDS, inner),
)


@given(ANYTHING)
def test_any_schema_is_bounded_and_stays_one(schema: Any) -> None:
    made = bounded_schema(schema)
    assert isinstance(made["properties"], dict)
    assert len(json.dumps(made)) <= 3 * MAX_SCHEMA_CHARS


@given(st.lists(st.text(max_size=100), max_size=12))
def test_names_are_unique_and_fit(names: list[str]) -> None:
    made = unique_names(names)
    assert len(set(made)) == len(names)
    assert all(FITS.fullmatch(name) for name in made)


def test_references_that_multiply_are_followed_within_bounds() -> None:
    nine = [{f"p{m}": {"$ref": f"#/components/schemas/S{n + 1}"} for m in range(9)} for n in range(20)]
    schemas = {f"S{n}": {"properties": properties} for n, properties in enumerate(nine)}
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}}
    tree = {"paths": {"/a": {"post": {"requestBody": body}}}, "components": {"schemas": schemas}}
    (one,) = operations(read(tree), "http://127.0.0.1:1")
    spec = presented(ToolSpec(name="a", description="", parameters=one.schema), "a")
    assert set(spec.parameters["properties"]) == {f"p{m}" for m in range(9)}
    assert len(json.dumps(spec.parameters)) <= 2 * MAX_SCHEMA_CHARS
