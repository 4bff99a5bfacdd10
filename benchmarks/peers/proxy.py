"""A proxy on loopback between everyone and the model, so that no system counts itself.

It sets what is the same for all, temperature 0 and the most tokens of a reply. It refuses calls beyond a number, and
counts calls, seconds, and tokens as the model's server tells them. The key of the server stays here.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from habilis.testing.service import QuietHandler, QuietServer

TIMEOUT_S, SETTLE_S = 3_600.0, 10.0


@dataclass
class Count:
    """What one question took. `untold` calls came without a word on their tokens, `refused` ones were one too many."""

    most: int
    calls: int = 0
    refused: int = 0
    untold: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model_s: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def admitted(self) -> bool:
        with self.lock:
            if self.calls >= self.most:
                self.refused += 1
                return False
            self.calls += 1
            return True

    def add(self, usage: Mapping[str, Any] | None, seconds: float) -> None:
        with self.lock:
            self.model_s += seconds
            if not usage:
                self.untold += 1
                return
            self.prompt_tokens += int(usage.get("prompt_tokens") or 0)
            self.completion_tokens += int(usage.get("completion_tokens") or 0)

    def figures(self) -> dict[str, Any]:
        values = {name: value for name, value in vars(self).items() if name not in ("lock", "most")}
        return {**values, "model_s": round(self.model_s, 2)}


class CountingProxy:
    """Forwards to the server at `upstream`, the address that ends in `/v1`. Use it as a context manager."""

    def __init__(self, upstream: str, *, key: str = "", most_reply_tokens: int = 1_536) -> None:
        self.upstream, self.key, self.most_reply_tokens = urlsplit(upstream.rstrip("/")), key, most_reply_tokens
        self.count = Count(most=0)
        self.under_way: set[http.client.HTTPConnection] = set()
        self.open_calls = 0
        self.settled = threading.Condition()
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.proxy = self

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def begin(self, most_calls: int) -> Count:
        """A new count, of at most so many calls."""
        self.end()
        self.count = Count(most=most_calls)
        return self.count

    def end(self) -> None:
        """Break off what is under way: it counts here and costs the next question nothing. Returns once it is counted,
        or after `SETTLE_S`."""
        with self.settled:
            for connection in self.under_way:
                with contextlib.suppress(OSError, AttributeError):
                    connection.sock.shutdown(socket.SHUT_RDWR)
            self.settled.wait_for(lambda: not self.open_calls, SETTLE_S)

    def connected(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self.upstream.scheme == "https" else http.client.HTTPConnection
        return kind(self.upstream.netloc, timeout=TIMEOUT_S)

    def __enter__(self) -> CountingProxy:
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self._http.shutdown()
        self._http.server_close()


class _Server(QuietServer):
    proxy: CountingProxy


class _Handler(QuietHandler):
    server: _Server

    def do_GET(self) -> None:
        self._forward("GET", None)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if not self.path.endswith("/chat/completions"):
            self._forward("POST", body)
            return
        proxy, count = self.server.proxy, self.server.proxy.count
        if not count.admitted():
            told = {"error": {"message": f"no call is left of {count.most}", "type": "invalid_request_error"}}
            self._answer(400, "application/json", json.dumps(told).encode())
            return
        began, usage = time.monotonic(), None
        with proxy.settled:
            proxy.open_calls += 1
        try:
            usage = _usage(self._forward("POST", json.dumps(_same_for_all(json.loads(body), proxy)).encode()))
        finally:
            count.add(usage, time.monotonic() - began)
            with proxy.settled:
                proxy.open_calls -= 1
                proxy.settled.notify_all()

    def _forward(self, method: str, body: bytes | None) -> bytes:
        """Ask the server, hand on what it says as it comes, and return it whole."""
        proxy = self.server.proxy
        path = proxy.upstream.path + self.path.removeprefix("/v1")
        headers = {
            "content-type": "application/json",
            **({"authorization": f"Bearer {proxy.key}"} if proxy.key else {}),
        }
        connection, whole = proxy.connected(), b""
        try:
            connection.connect()
            with proxy.settled:
                proxy.under_way.add(connection)
            connection.request(method, path, body, headers)
            said = connection.getresponse()
            kind = said.getheader("content-type", "application/json")
            if "event-stream" not in kind:
                whole = said.read()
                self._answer(said.status, kind, whole)
                return whole
            self.send_response(said.status)
            self.send_header("content-type", kind)
            self.send_header("connection", "close")
            self.end_headers()
            while line := said.readline():
                whole += line
                self.wfile.write(line)
                self.wfile.flush()
        except (OSError, http.client.HTTPException) as error:
            with contextlib.suppress(OSError):
                self._answer(502, "application/json", json.dumps({"error": {"message": str(error)}}).encode())
        finally:
            with proxy.settled:
                proxy.under_way.discard(connection)
            connection.close()
            self.close_connection = True
        return whole

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _same_for_all(request: dict[str, Any], proxy: CountingProxy) -> dict[str, Any]:
    """The request with what is the same for all: temperature, tokens of a reply, and a word on tokens in a stream."""
    limit = "max_completion_tokens" if "max_completion_tokens" in request else "max_tokens"
    most = min(int(request.get(limit) or proxy.most_reply_tokens), proxy.most_reply_tokens)
    asked = {**request, "temperature": 0, limit: most}
    return {**asked, "stream_options": {"include_usage": True}} if request.get("stream") else asked


def _usage(reply: bytes) -> Mapping[str, Any] | None:
    """What a reply, whole or in lines of events, says of its tokens."""
    texts = [reply] if not reply.startswith(b"data:") else [line[5:] for line in reversed(reply.splitlines())]
    for text in texts:
        with contextlib.suppress(ValueError, AttributeError):
            if usage := json.loads(text).get("usage"):
                return dict(usage)
    return None
