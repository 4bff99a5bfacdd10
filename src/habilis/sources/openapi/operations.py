"""From a document to its operations: one flat schema of arguments for each, and where each argument goes.

Parameters of path, query, header and cookie stand beside the fields of a JSON body. Where two of them bear the same
name, the body is one argument `body`, and a parameter gets the place that it goes to after its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal
from urllib.parse import urljoin, urlsplit

from habilis.core.types import Effects, JsonSchema
from habilis.messages.naming import unique_names
from habilis.sources.foreign.presenting import version_of
from habilis.sources.openapi.document import MAX_TEXT_CHARS, Document

Place = Literal["path", "query", "header", "cookie", "field", "body"]
"""`field` is one field of the body, `body` the whole."""
PLACES = ("path", "query", "header", "cookie")
METHODS = ("get", "head", "post", "put", "patch", "delete", "options")
NOT_OURS = {
    *("accept", "authorization", "connection", "content-length", "content-type", "cookie", "expect", "host"),
    *("proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade"),
}
"""Headers that no operation may ask a model for: they belong to the request itself."""
FORM, MULTIPART, TEXT = "application/x-www-form-urlencoded", "multipart/form-data", "text/plain"
MAX_OPERATIONS = 2_000
MAX_BODY_FIELDS = 40
MAX_PARAMETERS = 100
MAX_ADDRESS_CHARS = 2_000
"""Letters of a path, and of a server's address."""


@dataclass(frozen=True)
class Argument:
    """One argument of a tool: the name that a model gives it, and how it goes into the request.

    `style` and `explode` are those of the specification; `as_json` parameters are sent as JSON text.
    """

    name: str
    place: Place
    wire: str
    style: str = "simple"
    explode: bool = False
    as_json: bool = False


@dataclass(frozen=True)
class Operation:
    """One operation. `url` is the server's with the path template; `media` the type of the body that it takes.

    `unusable` says why it cannot be called from here, empty where it can.
    """

    name: str
    method: str
    url: str
    description: str
    schema: JsonSchema
    arguments: tuple[Argument, ...]
    media: str = ""
    body_required: bool = False
    unusable: str = ""
    security: tuple[str, ...] = ()
    """Names that the document has for ways to say who asks."""

    @property
    def effects(self) -> Effects:
        return "reads" if self.method in ("get", "head", "options") else "writes"

    @property
    def version(self) -> str:
        return version_of(self.method, self.url, self.media, self.schema)


def operations(document: Document, base_url: str | None = None, hidden: Sequence[str] = ()) -> list[Operation]:
    """All operations of `document`, in its order. `base_url` stands in for its servers; `hidden` are names of headers
    and query parameters that no model is asked for, since they carry the secret."""
    rows = list(islice(_rows(document), MAX_OPERATIONS))
    names = unique_names([_name(method, path, operation) for method, path, _, operation in rows])
    hidden_names = {name.lower() for name in hidden}
    found = []
    for name, (method, path, item, operation) in zip(names, rows, strict=True):
        servers = [operation, item, document.tree]
        url = _server(document, servers, base_url)
        found.append(_operation(document, name, method, path, url, item, operation, hidden_names))
    return found


def home_of(document: Document, base_url: str | None = None) -> str:
    """The address of the service as a whole, the one that it is asked about secrets at; empty where none is said."""
    return _server(document, [document.tree], base_url)


def _rows(document: Document) -> Iterator[tuple[str, str, Mapping[str, Any], Mapping[str, Any]]]:
    for path in document.mapping(document.tree, "paths"):
        item = document.mapping(document.tree["paths"], path) if len(path) <= MAX_ADDRESS_CHARS else {}
        for method in METHODS:
            if operation := document.mapping(item, method):
                yield method, path, item, operation


def _name(method: str, path: str, operation: Mapping[str, Any]) -> str:
    """The name of an operation: its id, else method and path, in letters that every provider takes."""
    said = operation.get("operationId")
    text = said if isinstance(said, str) and said.strip() else f"{method}_{path}"
    plain = re.sub(r"[^a-zA-Z0-9]+", "_", text).strip("_")
    return plain if re.match(r"[a-zA-Z]", plain) and len(plain) <= 64 else text


def _operation(
    document: Document,
    name: str,
    method: str,
    path: str,
    url: str,
    item: Mapping[str, Any],
    operation: Mapping[str, Any],
    hidden: set[str],
) -> Operation:
    parameters = _in_template(path, _parameters(document, item, operation, hidden))
    many = f"it takes more than {MAX_PARAMETERS} parameters" if len(parameters) > MAX_PARAMETERS else ""
    parameters = parameters[:MAX_PARAMETERS]
    body = _body(document, operation, parameters)
    properties, required, arguments = _flat_parameters(document, parameters)
    unusable = (
        many or body.unusable or ("" if urlsplit(url).hostname else "its document names no server; give base_url")
    )
    properties |= body.properties
    described = [operation.get("summary"), operation.get("description")]
    texts = dict.fromkeys(text[:MAX_TEXT_CHARS].strip() for text in described if isinstance(text, str))
    told = ". ".join(text.rstrip(".") for text in texts if text) or f"{method.upper()} {path}"
    return Operation(
        name=name,
        method=method,
        url=url.rstrip("/") + (path if path.startswith("/") else f"/{path}"),
        description=f"Deprecated. {told}." if operation.get("deprecated") is True else f"{told}.",
        schema={
            "type": "object",
            "properties": properties,
            "required": [*required, *body.required_fields],
            "additionalProperties": False,
        },
        arguments=(*arguments, *body.arguments),
        media=body.media,
        body_required=body.required,
        unusable=unusable,
        security=_security(document, operation),
    )


def _security(document: Document, operation: Mapping[str, Any]) -> tuple[str, ...]:
    said = operation.get("security", document.tree.get("security"))
    rows = said[:MAX_PARAMETERS] if isinstance(said, list) else []
    return tuple(str(name) for row in rows if isinstance(row, dict) for name in islice(row, MAX_PARAMETERS))


def _parameters(
    document: Document, item: Mapping[str, Any], operation: Mapping[str, Any], hidden: set[str]
) -> list[dict[str, Any]]:
    """The parameters of an operation: its own over those of its path, each by name and place."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for said in (item.get("parameters"), operation.get("parameters")):
        for node in said if isinstance(said, list) else ():
            one = document.found(node)
            if isinstance(one, dict) and isinstance(one.get("name"), str) and isinstance(one.get("in"), str):
                found[one["name"], one["in"]] = one
    return [
        one
        for (name, place), one in found.items()
        if not (place == "header" and name.lower() in NOT_OURS)
        and not (place in ("header", "query", "cookie") and name.lower() in hidden)
    ]


def _in_template(path: str, parameters: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Parameters of the path as its template has them, whether the document declares them or not, and all others."""
    wanted = list(dict.fromkeys(re.findall(r"\{([^{}]+)\}", path)))
    declared = [one["name"] for one in parameters if one["in"] == "path"]
    silent = [{"name": name, "in": "path", "schema": {"type": "string"}} for name in wanted if name not in declared]
    return [*silent, *(one for one in parameters if one["in"] != "path" or one["name"] in wanted)]


@dataclass(frozen=True)
class _Body:
    """The body of an operation as arguments."""

    properties: dict[str, JsonSchema]
    required_fields: tuple[str, ...] = ()
    arguments: tuple[Argument, ...] = ()
    media: str = ""
    required: bool = False
    unusable: str = ""


_NO_BODY = _Body({})


def _body(document: Document, operation: Mapping[str, Any], parameters: Sequence[Mapping[str, Any]]) -> _Body:
    """The body: its fields where they can stand by themselves, else one argument."""
    media, schema, required, description = _swagger_body(document, operation, parameters)
    if not document.is_swagger:
        said = document.mapping(operation, "requestBody")
        if not said:
            return _NO_BODY
        content = document.mapping(said, "content")
        media = _best_media(content)
        if not media:
            return _Body({}, unusable=f"it takes a body of {', '.join(content) or 'no type'}, which nobody here sends")
        schema = _merged(document.schema(document.mapping(content, media).get("schema")))
        required, description = said.get("required") is True, said.get("description")
    if not media:
        return _NO_BODY
    taken = {str(one["name"]) for one in parameters if one["in"] in PLACES}
    taken |= _flat_parameters(document, parameters)[0].keys()  # those that had to be named apart
    fields = schema.get("properties")
    flat = isinstance(fields, dict) and fields and not {"oneOf", "anyOf", "allOf", "not"} & schema.keys()
    if isinstance(fields, dict) and flat and len(fields) <= MAX_BODY_FIELDS and not taken & fields.keys():
        needed = tuple(name for name in schema.get("required", ()) if name in fields) if required else ()
        places = tuple(Argument(name, "field", name) for name in fields)
        return _Body(dict(fields), needed, places, media, required)
    if media in (FORM, MULTIPART) and not isinstance(fields, dict):
        schema = {"type": "object", **schema}
    name = next(name for name in ("body", "request_body", "_body", "__body") if name not in taken)
    described = description if isinstance(description, str) else schema.get("description", "the body of the request")
    properties = {name: {**schema, "description": described}}
    return _Body(properties, (name,) if required else (), (Argument(name, "body", ""),), media, required)


def _swagger_body(
    document: Document, operation: Mapping[str, Any], parameters: Sequence[Mapping[str, Any]]
) -> tuple[str, JsonSchema, bool, Any]:
    """The body of version 2.0, which stands among the parameters: media type, schema, whether required, description."""
    if not document.is_swagger:
        return "", {}, False, None
    body = next((one for one in parameters if one["in"] == "body"), None)
    if body is not None:
        said = _merged(document.schema(body.get("schema")))
        return "application/json", said, body.get("required") is True, body.get("description")
    form = [one for one in parameters if one["in"] == "formData"]
    if not form:
        return "", {}, False, None
    takes = operation.get("consumes") or document.tree.get("consumes") or [FORM]
    schema: JsonSchema = {
        "type": "object",
        "properties": {one["name"]: _parameter_schema(document, one) for one in form},
        "required": [one["name"] for one in form if one.get("required") is True],
    }
    return MULTIPART if MULTIPART in takes else FORM, schema, bool(schema["required"]), None


def _best_media(content: Mapping[str, Any]) -> str:
    """The media type to send among those that are taken, of the few that can be made; empty without one."""
    known = {name.split(";")[0].strip().lower(): name for name in content}
    plain = next((name for name in known if name in ("application/json", "*/*")), None)
    plain = plain or next((name for name in known if name.endswith("+json")), None)
    plain = plain or next((name for name in (FORM, MULTIPART, TEXT) if name in known), None)
    return known[plain] if plain else ""


def _merged(schema: JsonSchema) -> JsonSchema:
    """An object schema made of several (`allOf`) as one, where all of them are plain."""
    parts = schema.get("allOf")
    if not isinstance(parts, list):
        return schema
    parts = [_merged(part) for part in parts if isinstance(part, dict)]
    if any({"allOf", "oneOf", "anyOf", "not"} & part.keys() or "properties" not in part for part in parts):
        return schema
    merged = {key: value for key, value in schema.items() if key != "allOf"}
    properties: dict[str, Any] = {}
    required: list[str] = []
    for part in [*parts, merged]:
        properties |= part.get("properties", {})
        required += part.get("required", [])
    return {**merged, "type": "object", "properties": properties, "required": list(dict.fromkeys(required))}


def _flat_parameters(
    document: Document, parameters: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, JsonSchema], list[str], list[Argument]]:
    """Schemas by argument, those that are required, and where they go; parameters of the body are not among them."""
    plain = [one for one in parameters if one["in"] in PLACES]
    names = [str(one["name"]) for one in plain]
    properties: dict[str, JsonSchema] = {}
    required: list[str] = []
    arguments: list[Argument] = []
    for one in plain:
        name = str(one["name"])
        if names.count(name) > 1:
            name = _free(f"{name}_{one['in']}", [*names, *properties])
        properties[name] = _parameter_schema(document, one)
        if one.get("required") is True or one["in"] == "path":
            required.append(name)
        arguments.append(_argument(name, one))
    return properties, required, arguments


def _free(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _parameter_schema(document: Document, one: Mapping[str, Any]) -> JsonSchema:
    content = document.mapping(one, "content")
    said = next(iter(content.values()), None) if content else None
    if isinstance(said, dict):
        schema = document.schema(said.get("schema"))
    elif "schema" in one:
        schema = document.schema(one["schema"])
    else:  # version 2.0 says it in the parameter itself
        said_here = ("name", "in", "required", "description", "collectionFormat", "allowEmptyValue", "style", "explode")
        schema = document.schema({key: value for key, value in one.items() if key not in said_here})
    if isinstance(one.get("description"), str):
        schema = {**schema, "description": one["description"][:MAX_TEXT_CHARS]}
    return schema


_COLLECTIONS = {"csv": "form", "ssv": "spaceDelimited", "pipes": "pipeDelimited", "tsv": "tabDelimited"}


def _argument(name: str, one: Mapping[str, Any]) -> Argument:
    place = one["in"]
    usual = "form" if place in ("query", "cookie") else "simple"
    if "type" in one and "schema" not in one:  # version 2.0
        collection = one.get("collectionFormat", "csv")
        style = _COLLECTIONS.get(collection, "form") if place == "query" else usual
        return Argument(name, place, str(one["name"]), style, collection == "multi")
    style = one["style"] if isinstance(one.get("style"), str) else usual
    explode = one["explode"] if isinstance(one.get("explode"), bool) else style == "form"
    return Argument(name, place, str(one["name"]), style, explode, "schema" not in one and "content" in one)


def _server(document: Document, holders: Sequence[Mapping[str, Any]], base_url: str | None) -> str:
    """The address that an operation's path goes behind; empty where there is none."""
    if base_url:
        return base_url
    beside = document.where if document.where.startswith(("http://", "https://")) else ""
    if document.is_swagger:
        host, schemes = document.tree.get("host"), document.tree.get("schemes")
        scheme = next((s for s in ("https", "http") if isinstance(schemes, list) and s in schemes), "https")
        base = document.tree.get("basePath")
        path = base if isinstance(base, str) else ""
        return f"{scheme}://{host}{path}" if isinstance(host, str) else urljoin(beside, path or "/") if beside else ""
    for holder in holders:
        servers = holder.get("servers")
        first = document.found(servers[0]) if isinstance(servers, list) and servers else None
        if isinstance(first, dict) and isinstance(first.get("url"), str):
            return _web(urljoin(beside, _filled_in(first)))
    return urljoin(beside, "/") if beside else ""


def _filled_in(server: Mapping[str, Any]) -> str:
    """The address with what its variables stand for; empty where that grows without end."""
    url = str(server["url"])
    variables = server.get("variables")
    for name, said in variables.items() if isinstance(variables, dict) else ():
        if len(url) > MAX_ADDRESS_CHARS:
            return ""
        if isinstance(said, dict):
            url = url.replace(f"{{{name}}}", str(said.get("default", ""))[:MAX_ADDRESS_CHARS])
    return url if len(url) <= MAX_ADDRESS_CHARS else ""


def _web(url: str) -> str:
    return url if urlsplit(url).scheme in ("http", "https") else ""
