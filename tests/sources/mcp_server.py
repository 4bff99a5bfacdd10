"""An MCP server on the standard streams, written against the protocol alone; its tools do all that can go wrong.

python mcp_server.py [pages] [silent]: `pages` splits the list of tools, `silent` answers nothing at all.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import time
from typing import Any

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}
NAMES = ("echo", "data", "image", "link", "fails", "die", "slow", "garbage", "huge", "env", "child", "refuse")
DOUBLING = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(60)}
BOMBS: dict[str, dict[str, Any]] = {
    "pattern": {"type": "object", "properties": {"n": {"pattern": "^(a+)+$"}}},
    "doubling": {"type": "object", "properties": {"n": {"$ref": "#/$defs/d0"}}, "$defs": DOUBLING | {"d60": False}},
    "itself": {"type": "object", "allOf": [{"$ref": "#"}]},
    "sound": {"type": "object", "properties": {"n": {"type": "string"}}},
}
PNG = b"\x89PNG\r\n\x1a\nrest"


def tools() -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = [
        {"name": name, "description": f"Does {name}.", "inputSchema": TEXT} for name in NAMES
    ]
    listed[1]["annotations"] = {"readOnlyHint": True}
    if "bombs" in sys.argv:
        listed += [{"name": name, "inputSchema": TEXT, "outputSchema": schema} for name, schema in BOMBS.items()]
    return listed


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}], **more}


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """The result of a tool; None for what answers nothing."""
    given = arguments.get("text", "")
    if name in BOMBS:
        return text("", structuredContent={"n": given if name == "sound" else "a" * 60 + "!"})
    if name == "echo":
        return text(given)
    if name == "data":
        return text('{"n": 3}', structuredContent={"n": 3})
    if name == "image":
        coded = base64.b64encode(PNG).decode()
        return {
            "content": [{"type": "text", "text": "See:"}, {"type": "image", "data": coded, "mimeType": "image/png"}]
        }
    if name == "link":
        return {"content": [{"type": "resource_link", "uri": "file:///a.txt", "name": "a", "mimeType": "text/plain"}]}
    if name == "fails":
        return text("the disk is full", isError=True)
    if name == "env":
        return text(json.dumps(dict(os.environ)))
    if name == "child":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], stdin=subprocess.DEVNULL)
        return text(str(child.pid))
    if name == "huge":
        return text("x" * (50 << 20))
    if name == "die":
        print("out of luck", file=sys.stderr, flush=True)
        os._exit(3)
    if name == "slow":
        time.sleep(600)
    if name == "garbage":
        print("this is no JSON", flush=True)
        print('{"jsonrpc": "2.0"}', flush=True)
        print("[" * 100_000, flush=True)
        return text("after the garbage")
    return None


def answer(message: dict[str, Any], flags: set[str]) -> dict[str, Any] | None:
    """The answer to one message of JSON-RPC."""
    method, params = message.get("method"), message.get("params") or {}
    if "id" not in message:
        return None
    reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        about = {"name": "double", "version": "1"}
        version = params.get("protocolVersion", "2025-06-18")
        return {**reply, "result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}}
    if method == "tools/list":
        rows, size = tools(), 5 if "pages" in flags else 99
        start = int(params.get("cursor") or 0)
        more = {"nextCursor": str(start + size)} if start + size < len(rows) else {}
        return {**reply, "result": {"tools": rows[start : start + size], **more}}
    if method == "tools/call" and params.get("name") == "refuse":
        return {**reply, "error": {"code": -32602, "message": "text must be short"}}
    if method == "tools/call":
        return {**reply, "result": call(params["name"], params.get("arguments") or {})}
    return {**reply, "error": {"code": -32601, "message": "no such method"}}


def main() -> None:
    flags = set(sys.argv[1:])
    if "silent" in flags:
        time.sleep(600)
    for line in sys.stdin:
        said = answer(json.loads(line), flags)
        if said is not None:
            print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
