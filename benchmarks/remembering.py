"""A proxy on loopback that asks the model's server each request once: what was asked before gets the same reply.

    python benchmarks/remembering.py http://127.0.0.1:8080/v1 replies.jsonl [--port 8081]

For questions that are asked with several libraries at temperature 0: where a library changes nothing in a request, the
model need not compute its reply again. Only whole replies with status 200 are kept, one JSON line each. Seconds that
were measured behind it say nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import json
import threading
from pathlib import Path
from urllib.parse import urlsplit

from habilis.testing.service import QuietHandler, QuietServer

TIMEOUT_S = 3_600.0


class Remembering(QuietServer):
    """Forwards to `upstream`, the address that ends in `/v1`, what is not in the file `keep`."""

    def __init__(self, upstream: str, keep: Path, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.upstream, self.keep = urlsplit(upstream.rstrip("/")), keep
        self.one_at_a_time, self.asked, self.known = threading.Lock(), 0, 0
        lines = keep.read_text(encoding="utf-8").splitlines() if keep.exists() else []
        self.replies = {row["request"]: (row["type"], row["reply"]) for row in map(json.loads, lines)}

    def reply(self, method: str, path: str, body: bytes) -> tuple[int, str, bytes]:
        """Status, content type and body. One at a time, so that equal requests side by side are asked once."""
        digest = hashlib.sha256(path.encode() + b"\n" + body).hexdigest()
        with self.one_at_a_time:
            if digest in self.replies:
                self.known += 1
                kind, text = self.replies[digest]
                return 200, kind, text.encode()
            status, kind, said = self._ask(method, path, body)
            if method == "POST" and status == 200:
                self.asked += 1
                self._remember(digest, kind, said.decode())
            return status, kind, said

    def _ask(self, method: str, path: str, body: bytes) -> tuple[int, str, bytes]:
        connection = http.client.HTTPConnection(self.upstream.netloc, timeout=TIMEOUT_S)
        connection.request(method, self.upstream.path + path, body, {"content-type": "application/json"})
        said = connection.getresponse()
        return said.status, said.headers.get("content-type", "application/json"), said.read()

    def _remember(self, digest: str, kind: str, text: str) -> None:
        self.replies[digest] = (kind, text)
        with self.keep.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"request": digest, "type": kind, "reply": text}) + "\n")


class _Handler(QuietHandler):
    server: Remembering

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def _answer(self, method: str) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        status, kind, said = self.server.reply(method, self.path.removeprefix("/v1"), body)
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("upstream", help="the model's server, such as http://127.0.0.1:8080/v1")
    parser.add_argument("keep", type=Path, help="file of the replies")
    parser.add_argument("--port", type=int, default=8081)
    args = parser.parse_args()
    with Remembering(args.upstream, args.keep, args.port) as server:
        print(f"ready: http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print(f"{server.asked} requests asked, {server.known} known", flush=True)


if __name__ == "__main__":
    main()
