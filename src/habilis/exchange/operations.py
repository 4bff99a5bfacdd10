"""Operations of an OpenAPI document as tools of a library: one module each, which makes its request by itself.

Such a tool asks for the service's host and for the variable that holds the secret, by name, and is held like any other:
nothing of either is granted by importing it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from itertools import islice

from habilis.contract.names import safe_name
from habilis.core.errors import UserError
from habilis.exchange.composing import asked_for, input_model, literal, meta_of, module_of, program
from habilis.exchange.surveying import ImportCandidate, Unfit
from habilis.sources.openapi.document import Document, read_document
from habilis.sources.openapi.operations import Operation, operations

DOCUMENT_S = 60.0
MAX_SCHEMES = 100
MEDIA = ("application/json", "application/x-www-form-urlencoded", "text/plain", "*/*", "")
IMPORTS = "from typing import Any, Literal\n\nfrom pydantic import BaseModel, ConfigDict, Field"
OUTPUT = """class OutputModel(BaseModel):
    status: int | None = None
    data: Any = None
    error: str | None = None"""


def is_document(source: str) -> bool:
    """Whether a source is to be read as an OpenAPI document: an address, or a file of that kind."""
    return source.startswith(("http://", "https://")) or source.lower().endswith((".yaml", ".yml", ".json"))


async def tools_of(source: str) -> list[ImportCandidate | Unfit]:
    """The operations of the document at `source` as sources of tools. Raises `UserError` where it is none."""
    document = await read_document(source, timeout_s=DOCUMENT_S)
    schemes = _schemes(document)
    names = [secret["name"] for secret in schemes.values()]
    found = await asyncio.to_thread(operations, document, None, names)
    if not found:
        raise UserError(f"{source} holds no operation")
    return [_tool(document, operation, schemes, f"{source}#{operation.name}") for operation in found]


def _tool(
    document: Document, operation: Operation, schemes: Mapping[str, dict[str, str]], label: str
) -> ImportCandidate | Unfit:
    if operation.unusable:
        return Unfit(label, operation.unusable, True)
    if operation.media not in MEDIA and not operation.media.endswith("+json"):
        return Unfit(label, f"it takes a body of {operation.media}, which no tool of a library sends", True)
    if operation.method == "head":
        return Unfit(label, "it gives no content", True)
    name = safe_name(operation.name)
    secret = _secret(document, operation, schemes)
    source = source_of(operation, name, secret).encode("utf-8")
    return ImportCandidate(label, name, source, notes=(asked_for(operation.url, secret),))


def source_of(operation: Operation, name: str, secret: Mapping[str, str] | None) -> str:
    """The source of the tool."""
    meta = meta_of(name, operation.description, operation.effects, operation.url, secret)
    about = {
        "method": operation.method.upper(),
        "url": operation.url,
        "media": "application/json" if operation.media == "*/*" else operation.media,
        "secret": dict(secret) if secret else None,
        "arguments": [
            {
                "name": a.name,
                "place": a.place,
                "wire": a.wire,
                "style": a.style,
                "explode": a.explode,
                "as_json": a.as_json,
            }
            for a in operation.arguments
        ],
    }
    parts = [
        f"OPERATION: Any = {literal(about)}",
        input_model(operation.schema),
        OUTPUT,
        _program(get=operation.method == "get"),
    ]
    title = f"{operation.method.upper()} {operation.url}, as a tool. Made from an OpenAPI document."
    return module_of(title, IMPORTS, meta, parts, "result_of(OPERATION, given)")


def _program(*, get: bool) -> str:
    """What makes the request. One that only asks holds nothing that sends, so that its effects show in the source."""
    call = "asked(url, headers)" if get else 'sent(operation["method"], url, headers, body)'
    head = "def perform(operation: Any, url: str, headers: dict[str, str], body: bytes | None) -> tuple[int, bytes]:"
    return f"{program('requesting.py', ('sent' if get else 'asked', 'perform'))}\n\n\n{head}\n    return {call}"


def _schemes(document: Document) -> dict[str, dict[str, str]]:
    """How the service wants to be told who asks, by the document's names for that."""
    holder = document.tree if document.is_swagger else document.mapping(document.tree, "components")
    key = "securityDefinitions" if document.is_swagger else "securitySchemes"
    found = {}
    schemes = document.mapping(holder, key)
    for name in islice(schemes, MAX_SCHEMES):
        said = document.mapping(schemes, name)
        kind, scheme = said.get("type"), str(said.get("scheme", "")).lower()
        if kind == "apiKey" and said.get("in") in ("header", "query") and isinstance(said.get("name"), str):
            found[name] = {"place": said["in"], "name": said["name"], "before": ""}
        elif kind == "basic" or (kind == "http" and scheme == "basic"):
            found[name] = {"place": "basic", "name": "Authorization", "before": "Basic "}
        elif kind in ("oauth2", "openIdConnect") or (kind == "http" and scheme == "bearer"):
            found[name] = {"place": "header", "name": "Authorization", "before": "Bearer "}
    return found


def _secret(document: Document, operation: Operation, schemes: Mapping[str, dict[str, str]]) -> dict[str, str] | None:
    """How this operation is told who asks, and the name of the variable; None where nobody is asked for."""
    name = next((name for name in operation.security if name in schemes), None)
    return {"env": _variable(document), **schemes[name]} if name else None


def _variable(document: Document) -> str:
    """The name of the variable for the service's secret, from the document's title."""
    title = document.mapping(document.tree, "info").get("title")
    plain = re.sub(r"[^A-Z0-9]+", "_", title.upper() if isinstance(title, str) else "").strip("_")[:40].strip("_")
    plain = (
        plain if re.match(r"[A-Z]", plain) and not re.match(r"HABILIS|LD|PYTHON", plain) else f"API_{plain}".strip("_")
    )
    return f"{plain}_API_KEY"
