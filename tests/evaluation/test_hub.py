"""The hub: the published sets come from there by name, with the files that their rows need, and a token where asked.

The real client library against a server of ours on loopback.
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from habilis.core.errors import UserError
from habilis.evaluation.datasets import load

GAIA = {"task_id": "c6", "Question": "How many?", "Level": 1, "Final answer": "12", "file_name": "c6.txt"}


class Hub(ThreadingHTTPServer):
    """The little of the hub's protocol that a download of one repository takes."""

    daemon_threads = True

    def __init__(self, files: dict[str, bytes], token: str = "") -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files, self.token = files, token
        self.served: list[str] = []

    @property
    def commit(self) -> str:
        """Another one for other files, as on the hub: the client keeps what it knows of a commit."""
        return _oid(json.dumps(list(self.files)).encode())


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Hub

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        files, path = self.server.files, self.path.split("?")[0]
        if "/none/" in path:
            self._reply(404, b"{}", {"X-Error-Code": "RepoNotFound"})
        elif self.server.token and self.headers.get("Authorization") != f"Bearer {self.server.token}":
            self._reply(403, b"{}", {"X-Error-Code": "GatedRepo"})
        elif "/tree/" in path:
            rows = [{"type": "file", "path": n, "size": len(b), "oid": _oid(b)} for n, b in files.items()]
            self._reply(200, json.dumps(rows).encode())
        elif path.startswith("/api/"):
            info = {"id": "x/y", "sha": self.server.commit, "siblings": [{"rfilename": name} for name in files]}
            self._reply(200, json.dumps(info).encode())
        else:
            name = path.split(f"/resolve/{self.server.commit}/")[1]
            self.server.served.append(name)
            self._reply(200, files[name], {"ETag": f'"{_oid(files[name])}"', "X-Repo-Commit": self.server.commit})

    def _reply(self, code: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(code)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


def _oid(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    pytest.importorskip("huggingface_hub", reason="the extra 'datasets' is not installed")
    monkeypatch.setenv("HABILIS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    server = Hub({})
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_gaia_comes_with_its_files_and_no_others(hub: Hub) -> None:
    hub.files = {
        "2023/validation/metadata.jsonl": json.dumps(GAIA).encode(),
        "2023/validation/c6.txt": b"content",
        "2023/test/metadata.jsonl": b"{}",
        "README.md": b"#",
    }
    row = load("hub:gaia")[0]
    assert Path(row.files[0]).read_bytes() == b"content"
    assert (row.extra["benchmark"], row.answer) == ("gaia", "12")
    assert set(hub.served) == {"2023/validation/metadata.jsonl", "2023/validation/c6.txt"}
    assert load("hub:gaia-benchmark/GAIA@main:2023/validation/metadata.jsonl")[0].files


def test_a_set_in_parts_is_one_set(hub: Hub) -> None:
    part = [json.dumps({"id": n, "question": f"{n}?"}).encode() for n in (1, 2)]
    hub.files = {"data/train-00000-of-00002.jsonl": part[0], "data/train-00001-of-00002.jsonl": part[1]}
    assert [row.id for row in load("hub:x/y")] == ["1", "2"]
    hub.files["data/test-00000-of-00001.jsonl"] = part[0]
    with pytest.raises(UserError, match="several files of data; name one"):
        load("hub:x/y")
    assert len(load("hub:x/y:data/test-*")) == 1


def test_a_gated_set_takes_the_token_of_the_environment(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.files = {"2023/validation/metadata.jsonl": json.dumps({**GAIA, "file_name": ""}).encode()}
    hub.token = "s3cret"
    with pytest.raises(UserError, match=r"accept their conditions on the hub, then put a token into .* as HF_TOKEN"):
        load("hub:gaia")
    monkeypatch.setenv("HF_TOKEN", "s3cret")
    assert load("hub:gaia")[0].id == "c6"


def test_what_is_not_there_is_said(hub: Hub) -> None:
    with pytest.raises(UserError, match="hub:none/such: the hub has no such data set"):
        load("hub:none/such")
    hub.files = {"README.md": b"#"}
    with pytest.raises(UserError, match="no file of data in there"):
        load("hub:x/y")


def test_a_hub_that_is_away_is_said_in_one_line(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(UserError, match="hub:x/away: the hub could not be read") as caught:
        load("hub:x/away")
    assert "\n" not in str(caught.value)


def test_a_name_that_is_none_is_said() -> None:
    with pytest.raises(UserError, match="expected hub:OWNER/NAME"):
        load("hub:what is this")


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(UserError, match=r"pip install 'habilis\[datasets\]'"):
        load("hub:gaia")
