"""Reading an OpenAPI document, and following the references in it, which may lead in circles.

Formats: OpenAPI Specification 3.0.4 and 3.1.1, Swagger 2.0. References: JSON Pointer (RFC 6901) within the document;
one that leads elsewhere is never fetched, what it stands for counts as anything.
"""

from __future__ import annotations

import asyncio
import json
import stat
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from habilis.core.errors import UserError
from habilis.core.types import JsonSchema
from habilis.runtime.egress.unpacking import ASKED, NotUnpacked, TooLarge, unpacked
from habilis.sandbox.processes.attached import attached
from habilis.schemas.references import pointed
from habilis.sources.foreign.presenting import is_within
from habilis.sources.openapi import parsing
from habilis.sources.openapi.parsing import parsed

MAX_DOCUMENT_BYTES = 32 << 20
_MOST_HERE = 1 << 20
"""Bytes of a document in JSON that is read in this process."""
MAX_DEPTH = 10
MAX_NODES, MAX_ALL_NODES = 4_000, 300_000
"""Parts that are followed of one schema, and of all of a document; what lies beyond counts as anything."""
MAX_VALUE_CHARS, MAX_VALUE_DEPTH = 20_000, 8
"""Of what a schema holds beside schemas: examples, defaults, lists of values. What is larger is left out."""
MAX_TEXT_CHARS = 4_000
_MOST_REFERENCES = 50
"""References that lead to references, one after another."""
_FOLLOWED = {
    *("properties", "$defs", "items", "additionalProperties", "not", "allOf", "anyOf", "oneOf", "prefixItems"),
    "required",
}
_NOT_JSON_SCHEMA = {"xml", "discriminator", "externalDocs", "example", "deprecated", "nullable", "$ref"}


async def read_document(where: str, *, timeout_s: float) -> Document:
    """The document at the path or address `where`. Raises `UserError` that says what is wrong with it."""
    is_address = where.startswith(("http://", "https://"))
    raw = await _fetched(where, timeout_s) if is_address else await asyncio.to_thread(_from_file, where)
    tree = await _parsed(raw, where, timeout_s)
    version = str(tree.get("openapi") or tree.get("swagger") or "")
    if not version.startswith(("3.0", "3.1", "2.")):
        said = f"its version is {version[:20]!r}" if version else "it names no version"
        raise UserError(f"{where} is not an OpenAPI document of version 3.0, 3.1 or 2.0: {said}")
    if not isinstance(tree.get("paths", {}), dict):
        raise UserError(f"{where}: its paths are not a mapping")
    return Document(where, tree, version)


@dataclass(frozen=True)
class Document:
    """A document as it was read. `where` is its path or address."""

    where: str
    tree: Mapping[str, Any]
    version: str
    spent: Counter[str] = field(default_factory=Counter, compare=False, repr=False)
    """Parts of schemas that were followed so far."""

    @property
    def is_swagger(self) -> bool:
        return self.version.startswith("2.")

    def found(self, node: Any) -> Any:
        """`node`, or what its reference leads to; an empty mapping for one that leads nowhere, out, or in circles."""
        seen: set[str] = set()
        while isinstance(node, dict) and isinstance(node.get("$ref"), str):
            if node["$ref"] in seen or len(seen) >= _MOST_REFERENCES:
                return {}
            seen.add(node["$ref"])
            node = self.at(node["$ref"])
        return node

    def at(self, reference: str) -> Any:
        """What stands at a reference; an empty mapping where there is nothing."""
        try:
            return pointed(self.tree, reference) if reference != "#" else {}
        except KeyError:
            return {}

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
        self.document.spent["parts"] += 1
        spent = self._left() <= 0
        while isinstance(node, dict) and isinstance(node.get("$ref"), str):
            if node["$ref"] in trail:
                return {"description": "the same again"}
            if spent or len(trail) > _MOST_REFERENCES:
                return {}
            trail = (*trail, node["$ref"])
            beside = {key: value for key, value in node.items() if key != "$ref"}  # allowed since 3.1
            target = self.document.at(node["$ref"])
            node = {**target, **beside} if isinstance(target, dict) else {}
        if not isinstance(node, dict) or depth > MAX_DEPTH or spent:
            return {}
        made = {
            str(key): self._part(str(key), value, trail, depth)
            for key, value in islice(node.items(), MAX_NODES)
            if str(key) not in _NOT_JSON_SCHEMA and not str(key).startswith("x-") and self._counts(str(key), value)
        }
        return _modern(made, nullable=node.get("nullable") is True)

    def _counts(self, key: str, value: Any) -> bool:
        """Whether a part is followed, or small enough to be taken as it is."""
        if key in _FOLLOWED or isinstance(value, str):
            return len(key) <= MAX_TEXT_CHARS
        return is_within(value, MAX_VALUE_CHARS, MAX_VALUE_DEPTH)

    def _left(self) -> int:
        """How many parts may still be followed."""
        return min(MAX_NODES - self.nodes, MAX_ALL_NODES - self.document.spent["parts"])

    def _part(self, key: str, value: Any, trail: tuple[str, ...], depth: int) -> Any:
        left = max(self._left(), 0)
        if key in ("properties", "$defs") and isinstance(value, dict):
            return {
                str(name): self.expanded(inner, trail, depth + 1)
                for name, inner in islice(value.items(), left)
                if not (isinstance(inner, dict) and inner.get("readOnly") is True)
            }
        if key in ("items", "additionalProperties", "not") and isinstance(value, dict):
            return self.expanded(value, trail, depth + 1)
        if key in ("allOf", "anyOf", "oneOf", "prefixItems") and isinstance(value, list):
            return [self.expanded(inner, trail, depth + 1) for inner in islice(value, left)]
        if key == "required" and isinstance(value, list):
            return list(dict.fromkeys(name for name in islice(value, MAX_NODES) if isinstance(name, str)))
        if isinstance(value, str):
            return value[:MAX_TEXT_CHARS]
        return value if is_within(value, MAX_VALUE_CHARS, MAX_VALUE_DEPTH) else {}


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

    too_large = f"the document {where} is larger than {MAX_DOCUMENT_BYTES >> 20} MiB"
    try:
        async with (
            asyncio.timeout(timeout_s),
            httpx.AsyncClient(timeout=timeout_s, headers={"Accept-Encoding": ASKED}) as client,
            client.stream("GET", where) as reply,
        ):
            if reply.status_code != 200:
                where_to = (
                    " (redirects are not followed; name the address that it leads to)" if reply.is_redirect else ""
                )
                raise UserError(f"the document {where} could not be fetched: HTTP {reply.status_code}{where_to}")
            packing = reply.headers.get("content-encoding", "")
            return await unpacked(reply.aiter_raw(), packing, MAX_DOCUMENT_BYTES)
    except TooLarge:
        raise UserError(too_large) from None
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, NotUnpacked) as error:
        raise UserError(f"the document {where} could not be fetched: {str(error) or type(error).__name__}") from None


def _from_file(where: str) -> bytes:
    path = Path(where).expanduser()
    try:
        looks = path.stat()
        if not stat.S_ISREG(looks.st_mode):
            raise UserError(f"the document {where} cannot be read: it is not a plain file")
        if looks.st_size > MAX_DOCUMENT_BYTES:
            raise UserError(f"the document {where} is larger than {MAX_DOCUMENT_BYTES >> 20} MiB")
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"the document {where} cannot be read: {error.strerror}") from None


async def _parsed(raw: bytes, where: str, timeout_s: float) -> dict[str, Any]:
    """The document as data: a small one of JSON here, any other by a process of its own, which is gone after."""
    try:
        if len(raw) <= _MOST_HERE and raw.lstrip()[:1] == b"{":
            tree = parsed(raw)
        else:
            tree = json.loads(await _parsed_apart(raw, timeout_s))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{where} is neither JSON nor YAML: {' '.join(str(error).split())[:200]}") from None
    if not isinstance(tree, dict):
        raise UserError(f"{where} is not an OpenAPI document: it holds no mapping")
    return tree


async def _parsed_apart(raw: bytes, timeout_s: float) -> bytes:
    """The document as JSON. Raises ValueError with the reason."""
    pipe = asyncio.subprocess.PIPE
    command = attached([sys.executable, "-I", parsing.__file__])
    child = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL)
    try:
        async with asyncio.timeout(timeout_s):
            said, _ = await child.communicate(raw)
    except TimeoutError:
        raise ValueError(f"it takes longer than {timeout_s:g} s to read") from None
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    if child.returncode == 0:
        return said
    raise ValueError(said.decode("utf-8", "replace") if child.returncode == 1 and said else "its reader gave up")
