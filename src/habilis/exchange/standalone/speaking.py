"""One tool of an MCP server by streamable HTTP: a session for each call, from arguments to a result. Goes into tools.

Protocol: Model Context Protocol, revision 2025-06-18, transports and lifecycle.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import mimetypes
import os
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

REVISION = "2025-06-18"
TIMEOUT_S = 30.0
MAX_BYTES = 8 << 20
SHOWN = 500


class Unanswered(Exception):
    """The server gave nothing that a call can go on with; the text says why."""


class SameOrigin(urllib.request.HTTPRedirectHandler):
    """Follows a server within itself and nowhere else: what is sent to it is for nobody but it."""

    def redirect_request(self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: Any) -> Any:
        if urlsplit(newurl)[:2] != urlsplit(req.full_url)[:2]:
            raise urllib.error.HTTPError(req.full_url, code, "it sends on to another place", headers, fp)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class Session:
    """A conversation with the server, from its first message to its last."""

    def __init__(self, server: Any) -> None:
        urllib.request.install_opener(urllib.request.build_opener(SameOrigin))
        self.url, self.asked = server["url"], 0
        self.headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "User-Agent": "python-tool",
        }
        self.sign(server["secret"])

    def sign(self, secret: Any) -> None:
        """Put the secret, where there is one, into the headers or the address."""
        value = os.environ.get(secret["env"], "").strip() if secret else ""
        if not value:
            return
        if secret["place"] == "query":
            self.url += ("&" if "?" in self.url else "?") + urlencode({secret["name"]: value})
            return
        if secret["place"] == "basic":
            value = base64.b64encode(value.encode()).decode("ascii")
        self.headers[secret["name"]] = secret["before"] + value

    def begin(self) -> None:
        """The handshake."""
        us = {"name": "python-tool", "version": "1"}
        said = self.ask("initialize", {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": us})
        self.headers["MCP-Protocol-Version"] = str(said.get("protocolVersion", REVISION))
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"}, None)

    def ask(self, method: str, params: Any) -> dict[str, Any]:
        """The result of a request. Raises Unanswered."""
        self.asked += 1
        message = self.send({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params}, self.asked)
        if isinstance(message.get("result"), dict):
            return dict(message["result"])
        error = message.get("error")
        told = error.get("message") if isinstance(error, dict) else error
        raise Unanswered(f"the server refuses: {' '.join(str(told or 'it does not say why').split())[:SHOWN]}")

    def send(self, message: Any, wanted: Any) -> dict[str, Any]:
        """Send a message; returns the one that answers `wanted`, nothing where none is wanted. Raises Unanswered."""
        request = urllib.request.Request(self.url, data=json.dumps(message).encode(), headers=self.headers)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as reply:
                session = reply.headers.get("Mcp-Session-Id")
                if session:
                    self.headers["Mcp-Session-Id"] = session
                return {} if wanted is None else answer_in(reply, wanted)
        except urllib.error.HTTPError as error:
            said = " ".join(error.read(4 * SHOWN).decode("utf-8", "replace").split())[:SHOWN]
            raise Unanswered(f"HTTP {error.code} {error.reason}: {said}") from None
        except urllib.error.URLError as error:
            raise Unanswered(f"the server cannot be reached: {error.reason}") from None
        except (OSError, http.client.HTTPException) as error:
            raise Unanswered(f"the server broke off: {error or type(error).__name__}") from None

    def end(self) -> None:
        """Let the server forget the session. That it has none, or does not care, is no harm."""
        if "Mcp-Session-Id" not in self.headers:
            return
        request = urllib.request.Request(self.url, headers=self.headers, method="DELETE")
        try:
            urllib.request.urlopen(request, timeout=TIMEOUT_S).close()
        except (OSError, http.client.HTTPException):
            return


def answer_in(reply: Any, wanted: int) -> dict[str, Any]:
    """The message that answers `wanted` in a reply, which is one message or a stream of events. Raises Unanswered."""
    if not reply.headers.get("Content-Type", "").startswith("text/event-stream"):
        content = reply.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise Unanswered("the answer is larger than 8 MiB; ask for less")
        return found_in(content, wanted) or missing()
    seen, event = 0, b""
    for line in iter(lambda: reply.readline(MAX_BYTES + 1), b""):
        seen += len(line)
        if seen > MAX_BYTES:
            raise Unanswered("the answer is larger than 8 MiB; ask for less")
        if line.startswith(b"data:"):
            event += line[5:].strip() + b"\n"
        elif not line.strip() and event:
            message, event = found_in(event, wanted), b""
            if message is not None:
                return message
    return found_in(event, wanted) or missing()


def found_in(content: bytes, wanted: int) -> dict[str, Any] | None:
    """The message in `content` that answers `wanted`; None where it holds another one, or none."""
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        return None
    messages = said if isinstance(said, list) else [said]
    return next((one for one in messages if isinstance(one, dict) and one.get("id") == wanted), None)


def missing() -> dict[str, Any]:
    """Raises Unanswered."""
    raise Unanswered("the server's reply holds no answer")


def result_of(server: Any, given: dict[str, Any]) -> dict[str, Any]:
    """What a call comes to: its result, or the error in words."""
    session = Session(server)
    try:
        session.begin()
        said = session.ask("tools/call", {"name": server["tool"], "arguments": given})
    except Unanswered as error:
        return {"error": str(error)}
    finally:
        session.end()
    blocks = said.get("content")
    parts = [part_of(block) for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []
    texts = [part for part in parts if isinstance(part, str)]
    if said.get("isError"):
        return {"error": f"the tool failed: {' '.join(texts)[: 4 * SHOWN] or 'it gave no reason'}"}
    others = [part for part in parts if not isinstance(part, str)]
    structured = said.get("structuredContent")
    if structured:
        return {"result": {"result": structured, "content": others} if others else structured}
    return {"result": "\n".join(texts) if not others else parts[0] if len(parts) == 1 else parts}


def part_of(block: dict[str, Any]) -> Any:
    """A part of the answer: text as it is, a link named, anything else as a file in the working folder."""
    inside = block.get("resource")
    inside = inside if isinstance(inside, dict) else block
    if isinstance(inside.get("text"), str):
        return inside["text"]
    if block.get("type") == "resource_link":
        return {"link": block.get("uri"), "name": block.get("name"), "type": block.get("mimeType")}
    kind = str(inside.get("mimeType") or "application/octet-stream")
    try:
        content = base64.b64decode(str(inside.get("data") or inside.get("blob") or ""), validate=True)
    except ValueError:
        return f"(a part of the type {kind[:60]} came in a form that cannot be read)"
    name = f"part_{hashlib.sha256(content).hexdigest()[:12]}{mimetypes.guess_extension(kind) or '.bin'}"
    Path(name).write_bytes(content)
    return {"file": name, "type": kind}
