"""Reading an OpenAPI document, and following the references in it, which may lead in circles.

Formats: OpenAPI Specification 3.0.4 and 3.1.1, Swagger 2.0. References: JSON Pointer (RFC 6901) within the document;
one that leads elsewhere is never fetched, what it stands for counts as anything.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from habilis.core.errors import UserError
from habilis.core.types import JsonSchema

MAX_DOCUMENT_BYTES = 32 << 20
MAX_DEPTH = 10
MAX_NODES = 4_000
"""Parts of one operation's schema that are followed; what lies beyond counts as anything."""
_NOT_JSON_SCHEMA = {"xml", "discriminator", "externalDocs", "example", "deprecated", "nullable", "$ref"}


async def read_document(where: str, *, timeout_s: float) -> Document:
    """The document at the path or address `where`. Raises `UserError` that says what is wrong with it."""
    is_address = where.startswith(("http://", "https://"))
    raw = await _fetched(where, timeout_s) if is_address else await asyncio.to_thread(_from_file, where)
    tree = await asyncio.to_thread(_parsed, raw, where)
    version = str(tree.get("openapi") or tree.get("swagger") or "")
    if not version.startswith(("3.0", "3.1", "2.")):
        said = f"its version is {version[:20]!r}" if version else "it names no version"
        raise UserError(f"{where} is no OpenAPI document of version 3.0, 3.1 or 2.0: {said}")
    if not isinstance(tree.get("paths", {}), dict):
        raise UserError(f"{where}: its paths are no mapping")
    return Document(where, tree, version)


@dataclass(frozen=True)
class Document:
    """A document as it was read. `where` is its path or address."""

    where: str
    tree: Mapping[str, Any]
    version: str

    @property
    def is_swagger(self) -> bool:
        return self.version.startswith("2.")

    def found(self, node: Any) -> Any:
        """`node`, or what its reference leads to; an empty mapping for one that leads nowhere, out, or in circles."""
        seen = set()
        while isinstance(node, dict) and isinstance(node.get("$ref"), str):
            if node["$ref"] in seen:
                return {}
            seen.add(node["$ref"])
            node = self.at(node["$ref"])
        return node

    def at(self, reference: str) -> Any:
        """What stands at a reference; an empty mapping where there is nothing."""
        if not reference.startswith("#/"):
            return {}
        node: Any = self.tree
        for part in reference[2:].split("/"):
            key = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(node, list) and key.isdigit() and int(key) < len(node):
                node = node[int(key)]
            elif isinstance(node, dict) and key in node:
                node = node[key]
            else:
                return {}
        return node

    def schema(self, node: Any) -> JsonSchema:
        """A schema of the document as plain JSON Schema, every reference in it filled in, within bounds."""
        return _Expansion(self).expanded(node, (), 0)

    def mapping(self, node: Any, key: str) -> dict[str, Any]:
        """`node[key]`, references followed, if it is a mapping with names; else an empty one."""
        value = self.found(node.get(key)) if isinstance(node, dict) else None
        return {str(name): inner for name, inner in value.items()} if isinstance(value, dict) else {}


@dataclass
class _Expansion:
    """One schema being filled in; counts what it has come across, since references can multiply without end."""

    document: Document
    nodes: int = field(default=0)

    def expanded(self, node: Any, trail: tuple[str, ...], depth: int) -> JsonSchema:
        self.nodes += 1
        while isinstance(node, dict) and isinstance(node.get("$ref"), str):
            if node["$ref"] in trail:
                return {"description": "the same again"}
            trail = (*trail, node["$ref"])
            beside = {key: value for key, value in node.items() if key != "$ref"}  # allowed since 3.1
            target = self.document.at(node["$ref"])
            node = {**target, **beside} if isinstance(target, dict) else {}
        if not isinstance(node, dict) or depth > MAX_DEPTH or self.nodes > MAX_NODES:
            return {}
        made = {
            str(key): self._part(str(key), value, trail, depth)
            for key, value in node.items()
            if str(key) not in _NOT_JSON_SCHEMA and not str(key).startswith("x-")
        }
        return _modern(made, nullable=node.get("nullable") is True)

    def _part(self, key: str, value: Any, trail: tuple[str, ...], depth: int) -> Any:
        if key in ("properties", "$defs") and isinstance(value, dict):
            return {
                str(name): self.expanded(inner, trail, depth + 1)
                for name, inner in value.items()
                if not (isinstance(inner, dict) and inner.get("readOnly") is True)
            }
        if key in ("items", "additionalProperties", "not") and isinstance(value, dict):
            return self.expanded(value, trail, depth + 1)
        if key in ("allOf", "anyOf", "oneOf", "prefixItems") and isinstance(value, list):
            return [self.expanded(inner, trail, depth + 1) for inner in value]
        if key == "required" and isinstance(value, list):
            return [name for name in value if isinstance(name, str)]
        return value


def _modern(schema: JsonSchema, *, nullable: bool) -> JsonSchema:
    """A schema of version 3.0 in the words of JSON Schema: what may be null, and limits that are left out."""
    for limit, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(schema.get(limit), bool) and schema.pop(limit) and bound in schema:
            schema[limit] = schema.pop(bound)
    if isinstance(schema.get("required"), bool):  # of a parameter in the old form
        del schema["required"]
    if "properties" in schema and isinstance(schema.get("required"), list):
        schema["required"] = [name for name in schema["required"] if name in schema["properties"]]
    if schema.get("type") == "file":
        schema["type"] = "string"
    if nullable:
        if isinstance(schema.get("type"), str):
            schema["type"] = [schema["type"], "null"]
        if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
            schema["enum"] = [*schema["enum"], None]
    return schema


async def _fetched(where: str, timeout_s: float) -> bytes:
    import httpx

    try:
        async with (
            asyncio.timeout(timeout_s),
            httpx.AsyncClient(timeout=timeout_s) as client,
            client.stream("GET", where) as reply,
        ):
            if reply.status_code != 200:
                where_to = (
                    " (redirects are not followed; name the address that it leads to)" if reply.is_redirect else ""
                )
                raise UserError(f"the document {where} cannot be had: HTTP {reply.status_code}{where_to}")
            body = bytearray()
            async for chunk in reply.aiter_bytes():
                body += chunk
                if len(body) > MAX_DOCUMENT_BYTES:
                    raise UserError(f"the document {where} is larger than {MAX_DOCUMENT_BYTES >> 20} MiB")
            return bytes(body)
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
        raise UserError(f"the document {where} cannot be had: {str(error) or type(error).__name__}") from None


def _from_file(where: str) -> bytes:
    path = Path(where).expanduser()
    try:
        if path.stat().st_size > MAX_DOCUMENT_BYTES:
            raise UserError(f"the document {where} is larger than {MAX_DOCUMENT_BYTES >> 20} MiB")
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"the document {where} cannot be read: {error.strerror}") from None


def _parsed(raw: bytes, where: str) -> dict[str, Any]:
    """JSON, or else YAML, in which dates and words such as `off` stay text."""
    import yaml

    try:
        text = raw.decode("utf-8-sig")
        tree = json.loads(text) if text.lstrip().startswith("{") else yaml.load(text, _loader())
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        raise UserError(f"{where} is neither JSON nor YAML: {' '.join(str(error).split())[:200]}") from None
    if not isinstance(tree, dict):
        raise UserError(f"{where} is no OpenAPI document: it holds no mapping")
    return tree


def _loader() -> Any:
    """A safe YAML loader that makes what JSON has, as YAML 1.2 reads it."""
    import re

    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        pass

    left_out = ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp")
    Loader.yaml_implicit_resolvers = {
        first: [pair for pair in pairs if pair[0] not in left_out]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    Loader.add_implicit_resolver(left_out[0], re.compile("true|True|TRUE|false|False|FALSE"), list("tTfF"))
    return Loader
