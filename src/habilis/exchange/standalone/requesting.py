"""One operation of an API by HTTP: from arguments to a request, from the answer to a result. Goes into tools."""

from __future__ import annotations

import base64
import json
import os
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

TIMEOUT_S = 30.0
MAX_BYTES = 4 << 20
SHOWN = 500
BETWEEN = {"spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}


class SameOrigin(urllib.request.HTTPRedirectHandler):
    """Follows a service within itself and nowhere else: what is sent to it is for nobody but it."""

    def redirect_request(self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: Any) -> Any:
        if urlsplit(newurl)[:2] != urlsplit(req.full_url)[:2]:
            raise urllib.error.HTTPError(req.full_url, code, "it sends on to another place", headers, fp)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def text_of(value: Any) -> str:
    """A value as it stands in an address or a header."""
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def joined(argument: Any, value: Any) -> str:
    """A list or an object as one text."""
    between = BETWEEN.get(argument["style"], ",")
    if argument["as_json"]:
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return between.join(text_of(item) for item in value)
    if isinstance(value, dict):
        sign = "=" if argument["explode"] else between
        return between.join(f"{key}{sign}{text_of(item)}" for key, item in value.items())
    return text_of(value)


def pairs_of(argument: Any, value: Any) -> list[tuple[str, str]]:
    """An argument as fields of a query."""
    name = argument["wire"]
    if isinstance(value, dict) and argument["style"] == "deepObject":
        return [(f"{name}[{key}]", text_of(item)) for key, item in value.items()]
    if argument["explode"] and not argument["as_json"] and isinstance(value, list):
        return [(name, text_of(item)) for item in value]
    if argument["explode"] and not argument["as_json"] and isinstance(value, dict):
        return [(key, text_of(item)) for key, item in value.items()]
    return [(name, joined(argument, value))]


def request_of(operation: Any, given: dict[str, Any]) -> tuple[str, dict[str, str], bytes | None]:
    """Address, headers and body of the request. Raises ValueError for arguments that make none."""
    url, query, cookies = operation["url"], [], []
    headers = {"Accept": "application/json, */*;q=0.5", "User-Agent": "python-tool"}
    fields, whole, has_body = {}, None, False
    for argument in operation["arguments"]:
        if argument["name"] not in given:
            continue
        value, place = given[argument["name"]], argument["place"]
        if value is None and place not in ("field", "body"):
            continue
        if place == "path":
            text = quote(joined(argument, value), safe="")
            if not text.strip("."):
                raise ValueError(f"{argument['name']} must not be empty, nor dots alone")
            url = url.replace("{" + argument["wire"] + "}", text)
        elif place == "query":
            query += pairs_of(argument, value)
        elif place == "cookie":
            cookies += pairs_of(argument, value)
        elif place == "header":
            headers[argument["wire"]] = " ".join(joined(argument, value).split())
        elif place == "field":
            fields[argument["wire"]], has_body = value, True
        else:
            whole, has_body = value, True
    query += signed(operation["secret"], headers)
    if cookies:
        headers["Cookie"] = "; ".join(f"{name}={quote(text, safe='')}" for name, text in cookies)
    if query:
        url += ("&" if "?" in url else "?") + urlencode(query)
    if not has_body:
        return url, headers, None
    content = fields if whole is None else whole
    headers["Content-Type"] = operation["media"]
    if operation["media"] == "application/x-www-form-urlencoded":
        return url, headers, urlencode({name: text_of(value) for name, value in content.items()}).encode()
    plain = operation["media"] == "text/plain"
    return url, headers, (text_of(content) if plain else json.dumps(content, ensure_ascii=False)).encode()


def signed(secret: Any, headers: dict[str, str]) -> list[tuple[str, str]]:
    """Put the secret, where there is one, into the headers, or return it as a field of the query."""
    value = os.environ.get(secret["env"], "") if secret else ""
    if not value:
        return []
    if secret["place"] == "query":
        return [(secret["name"], value)]
    if secret["place"] == "basic":
        value = base64.b64encode(value.encode()).decode("ascii")
    headers[secret["name"]] = secret["before"] + value
    return []


def asked(url: str, headers: dict[str, str]) -> tuple[int, bytes]:
    """Ask for what stands at an address."""
    urllib.request.install_opener(urllib.request.build_opener(SameOrigin))
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT_S) as reply:
        return reply.status, reply.read(MAX_BYTES + 1)


def sent(method: str, url: str, headers: dict[str, str], body: bytes | None) -> tuple[int, bytes]:
    """Send a request of any other kind."""
    urllib.request.install_opener(urllib.request.build_opener(SameOrigin))
    request = urllib.request.Request(url, data=body, headers=headers, method=method)
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as reply:
        return reply.status, reply.read(MAX_BYTES + 1)


def result_of(operation: Any, given: dict[str, Any]) -> dict[str, Any]:
    """What a call comes to: status and data, or the error in words."""
    try:
        url, headers, body = request_of(operation, given)
    except ValueError as error:
        return {"error": str(error)}
    try:
        status, content = perform(operation, url, headers, body)
    except urllib.error.HTTPError as error:
        said = error.read(4 * SHOWN).decode("utf-8", "replace")
        return {"status": error.code, "error": f"HTTP {error.code} {error.reason}: {' '.join(said.split())[:SHOWN]}"}
    except urllib.error.URLError as error:
        return {"error": f"the service cannot be reached: {error.reason}"}
    if len(content) > MAX_BYTES:
        return {"status": status, "error": "the answer is larger than 4 MiB; ask for less"}
    text = content.decode("utf-8", "replace")
    try:
        return {"status": status, "data": json.loads(text) if text.strip() else None}
    except ValueError:
        return {"status": status, "data": text}


def perform(operation: Any, url: str, headers: dict[str, str], body: bytes | None) -> tuple[int, bytes]:
    """Make the request in the way that its method asks for."""
    if operation["method"] == "GET":
        return asked(url, headers)
    return sent(operation["method"], url, headers, body)
