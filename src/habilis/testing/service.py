"""An HTTP service on loopback that answers as it is told: for tests of tools that ask other programs."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class SeenCall:
    """A request as it arrived. Names of headers in small letters; `path` as it was sent, still encoded."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    headers: Mapping[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Said:
    """An answer. A `body` that is no bytes is sent as JSON. `fault`: hang until the service closes; drop the
    connection at once; cut the answer in its middle."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: Literal["hang", "drop", "cut"] | None = None


class ScriptedService:
    """Answers each request with `answer(seen)`: a `Said`, or data that is sent as JSON. Use it as a context manager.

    What was asked stands in `calls`.
    """

    def __init__(self, answer: Callable[[SeenCall], Any]) -> None:
        self.answer = answer
        self.calls: list[SeenCall] = []
        self.closing = threading.Event()
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.service = self

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> ScriptedService:
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()


class QuietServer(ThreadingHTTPServer):
    """Answers on loopback, each request in a thread of its own."""

    daemon_threads = True
    request_queue_size = 256
    """Clients that may wait to be let in: of more at once, the system resets some connections."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that left is no error of the server's."""


class QuietHandler(BaseHTTPRequestHandler):
    """Keeps no log: what was asked is kept by whoever answers."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""

    def drop(self) -> None:
        """Close the connection, whatever was sent."""
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


class _Server(QuietServer):
    service: ScriptedService


class _Handler(QuietHandler):
    server: _Server

    def _any(self) -> None:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        seen = SeenCall(self.command, parts.path, tuple(parse_qsl(parts.query, True)), headers, body)
        self.server.service.calls.append(seen)
        said = self.server.service.answer(seen)
        self._send(said if isinstance(said, Said) else Said(body=said))

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _any

    def _send(self, said: Said) -> None:
        if said.fault == "hang":
            self.server.service.closing.wait()
        if said.fault in ("hang", "drop"):
            return self.drop()
        raw = isinstance(said.body, bytes)
        body = said.body if raw else b"" if said.body is None else json.dumps(said.body).encode()
        self.send_response(said.status)
        usual = {} if raw or said.body is None else {"content-type": "application/json"}
        for name, value in {**usual, **said.headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[: len(body) // 2] if said.fault == "cut" else body)
        if said.fault == "cut":
            self.drop()
        return None
