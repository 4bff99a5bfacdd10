"""From arguments to a request: each where its operation wants it, in the style that it asks for.

Styles as in the OpenAPI Specification 3.1.1, section 4.8.12. A path argument can never leave its place in the path.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from habilis.sources.openapi.operations import FORM, MULTIPART, TEXT, Argument, Operation

_BETWEEN = {"form": ",", "simple": ",", "spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}
_PATH_MARKS = {"simple": ("", ","), "label": (".", "."), "matrix": (";", ",")}


class Unsendable(Exception):
    """Arguments that make no request; the text tells the model why."""


@dataclass(frozen=True)
class ApiRequest:
    """What is sent. `body` is the content, its type in the headers; `query` pairs come in their order."""

    method: str
    url: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    files: tuple[tuple[str, str], ...] = ()


def request_of(operation: Operation, arguments: Mapping[str, Any]) -> ApiRequest:
    """The request for a call. Raises `Unsendable`."""
    url = operation.url
    query: list[tuple[str, str]] = []
    headers: dict[str, str] = {"Accept": "application/json, */*;q=0.5"}
    cookies: list[str] = []
    for argument in operation.arguments:
        value = arguments.get(argument.name)
        if argument.place in ("field", "body") or (value is None and argument.place != "path"):
            continue
        if argument.place == "path":
            url = url.replace(f"{{{argument.wire}}}", _in_path(argument, value))
        elif argument.place == "query":
            query += _in_query(argument, value)
        elif argument.place == "header":
            headers[argument.wire] = _on_one_line(argument.name, _joined(argument, value))
        else:
            cookies += [f"{name}={quote(text, safe='')}" for name, text in _in_query(argument, value)]
    if cookies:
        headers["Cookie"] = "; ".join(cookies)
    body, files = _body(operation, arguments)
    if body is not None:
        headers["Content-Type"] = FORM if operation.media == FORM else _media(operation.media)
    return ApiRequest(operation.method.upper(), url, tuple(query), headers, body, files)


def _media(media: str) -> str:
    return "application/json" if media == "*/*" else media


def _in_path(argument: Argument, value: Any) -> str:
    text = _path_text(argument, value)
    if not text or text.strip(".") == "":
        raise Unsendable(f"{argument.name} must not be empty, nor dots alone: it is a part of the address")
    return text


def _path_text(argument: Argument, value: Any) -> str:
    if argument.as_json:
        return quote(json.dumps(value, ensure_ascii=False), safe="")
    begins, between = _PATH_MARKS.get(argument.style, ("", ","))
    if value is None or value in ([], {}, ""):
        return ""
    if isinstance(value, dict):
        sign = "=" if argument.explode else between
        pairs = [f"{quote(str(key), safe='')}{sign}{quote(_plain(inner), safe='')}" for key, inner in value.items()]
        if argument.style == "matrix" and not argument.explode:
            begins = f";{argument.wire}="
        return begins + (begins or between if argument.explode else between).join(pairs)
    parts = [quote(_plain(inner), safe="") for inner in (value if isinstance(value, list) else [value])]
    if argument.style == "matrix":
        name = quote(argument.wire, safe="")
        return "".join(f";{name}={part}" for part in parts) if argument.explode else f";{name}={','.join(parts)}"
    return begins + between.join(parts)


def _in_query(argument: Argument, value: Any) -> list[tuple[str, str]]:
    name = argument.wire
    if argument.as_json:
        return [(name, json.dumps(value, ensure_ascii=False))]
    if isinstance(value, dict):
        if argument.style == "deepObject":
            return [(f"{name}[{key}]", _plain(inner)) for key, inner in value.items() if inner is not None]
        if argument.explode:
            return [(str(key), _plain(inner)) for key, inner in value.items() if inner is not None]
        return [(name, ",".join(part for key, inner in value.items() for part in (str(key), _plain(inner))))]
    if isinstance(value, list):
        if argument.explode:
            return [(name, _plain(inner)) for inner in value]
        return [(name, _BETWEEN.get(argument.style, ",").join(map(_plain, value)))]
    return [(name, _plain(value))]


def _joined(argument: Argument, value: Any) -> str:
    """The value of a header, style `simple`."""
    if argument.as_json:
        return json.dumps(value)
    if isinstance(value, dict):
        sign = "=" if argument.explode else ","
        return ",".join(f"{key}{sign}{_plain(inner)}" for key, inner in value.items())
    return ",".join(map(_plain, value)) if isinstance(value, list) else _plain(value)


def _on_one_line(name: str, text: str) -> str:
    if not text.isprintable() or not text.isascii():
        raise Unsendable(f"{name} goes into a header: one line of plain letters, digits and signs (ASCII)")
    return text.strip()


def _plain(value: Any) -> str:
    """A single value as text: true and false as JSON has them."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _body(operation: Operation, arguments: Mapping[str, Any]) -> tuple[bytes | None, tuple[tuple[str, str], ...]]:
    """The content, or the parts of a multipart body."""
    places = [argument for argument in operation.arguments if argument.place in ("field", "body")]
    given = [argument for argument in places if argument.name in arguments]
    if not places or not (given or operation.body_required):
        return None, ()
    whole = next((argument for argument in places if argument.place == "body"), None)
    value = arguments.get(whole.name) if whole else {one.wire: arguments[one.name] for one in given}
    if operation.media == TEXT:
        return _plain(value).encode("utf-8", "replace"), ()
    if operation.media in (FORM, MULTIPART):
        pairs = tuple(_pairs(value if isinstance(value, dict) else {}))
        if operation.media == MULTIPART:
            return None, pairs
        return "&".join(f"{quote(name, safe='')}={quote(text, safe='')}" for name, text in pairs).encode(), ()
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"), ()


def _pairs(fields: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Fields of a form: each item of a list by itself, objects as JSON."""
    return [
        (str(name), _plain(item))
        for name, value in fields.items()
        for item in (value if isinstance(value, list) else [value])
        if item is not None
    ]
