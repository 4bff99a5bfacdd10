"""What a user would lose: gigabytes fetched unasked, or a task begun with a file that cannot be served."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from habilis.config import LocalSettings
from habilis.core.errors import UserError
from habilis.models.local.files import available_memory, check, check_memory, find, looked_at, on_hub
from habilis.models.local.gguf import Head

from .gguf_files import tiny_model

SETTINGS = LocalSettings()


def test_a_file_by_its_path_is_taken_as_it_is(tmp_path: Path) -> None:
    path = tiny_model(tmp_path / "tiny.gguf")
    check(str(path), "basic", SETTINGS)
    assert find(str(path), SETTINGS) == path


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (None, r"set models\.judge\.model"),
        ("/nowhere/m.gguf", r"/nowhere/m\.gguf does not exist"),
        (".", "is a folder"),
    ],
)
def test_what_is_no_file_is_named_before_anything_starts(model: str | None, said: str) -> None:
    with pytest.raises(UserError, match=said):
        check(model, "judge", SETTINGS)


def test_a_file_that_is_no_model_is_named(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_text("<html>not found</html>", encoding="utf-8")
    with pytest.raises(UserError, match="does not begin as a GGUF file"):
        check(str(tmp_path / "m.gguf"), "basic", SETTINGS)
    with pytest.raises(UserError, match=r"m\.gguf"):
        check(str(tmp_path), "basic", SETTINGS)


def test_a_model_that_does_not_fit_is_refused_unless_a_gpu_holds_it(tmp_path: Path) -> None:
    free = available_memory()
    assert free is not None
    big = Head(free * 2)
    with pytest.raises(UserError, match=r"context_tokens; if a GPU holds it, set models\.local\.gpu_layers"):
        check_memory(tmp_path / "big.gguf", big, SETTINGS)
    check_memory(tmp_path / "big.gguf", big, LocalSettings(gpu_layers=99))
    check_memory(tmp_path / "small.gguf", looked_at(tiny_model(tmp_path / "small.gguf")), SETTINGS)


@pytest.mark.parametrize(
    ("model", "place"),
    [
        ("owner/repo:file.gguf", ("owner/repo", None, "file.gguf")),
        ("owner/repo@v1:sub/file.gguf", ("owner/repo", "v1", "sub/file.gguf")),
        ("models/file.gguf", None),
        ("/a/b:c.gguf", None),
        ("owner/repo", None),
    ],
)
def test_what_names_a_place_on_a_hub(model: str, place: Any) -> None:
    assert on_hub(model) == place


class _Hub(BaseHTTPRequestHandler):
    """A hub with one file."""

    data = b""
    asked: list[str]

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""

    def do_HEAD(self) -> None:
        self._head()

    def do_GET(self) -> None:
        self._head()
        self.wfile.write(self.data)

    def _head(self) -> None:
        self.asked.append(f"{self.command} {self.path}")
        self.send_response(200 if self.path.endswith("/tiny.gguf") else 404)
        self.send_header("ETag", f'"{hashlib.sha1(self.data).hexdigest()}"')
        self.send_header("X-Repo-Commit", "a" * 40)
        self.send_header("Content-Length", str(len(self.data)))
        self.end_headers()


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[tuple[str, list[str]]]:
    asked: list[str] = []
    data = tiny_model(tmp_path / "source.gguf").read_bytes()
    handler = type("Hub", (_Hub,), {"data": data, "asked": asked})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}", asked
    server.shutdown()
    server.server_close()


def test_a_hubs_model_is_fetched_once_and_only_with_consent(
    hub: tuple[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    url, asked = hub
    monkeypatch.setenv("HF_ENDPOINT", url)
    with pytest.raises(UserError, match=r"models\.local\.download=true"):
        find("owner/repo:tiny.gguf", LocalSettings())
    assert asked == []
    willing = LocalSettings(download=True)
    path = find("owner/repo:tiny.gguf", willing)
    assert looked_at(path).name == "tiny"
    fetched = len(asked)
    assert fetched
    assert find("owner/repo:tiny.gguf", LocalSettings()) == path
    assert len(asked) == fetched
    with pytest.raises(UserError, match="the hub could not be read"):
        find("owner/repo:other.gguf", willing)
