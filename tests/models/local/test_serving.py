"""Servers of local models, with a stand-in for llama.cpp. What a user would lose: memory to a server that nobody uses
any more, a model loaded once per task, or the reason why it would not load."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from habilis.config import LocalSettings, ModelsSettings, RoleSettings
from habilis.core.errors import ModelUnreachable, UserError
from habilis.models.local.serving import LocalServer, _listening, hold, release, serve

from ... import nursery
from ..wires import BareServer
from .gguf_files import tiny_model

STAND_IN = (sys.executable, str(Path(__file__).parent / "stand_in.py"))
SETTINGS = LocalSettings()
PATIENCE_S = 60.0


@pytest.fixture(autouse=True)
def _let_go() -> Iterator[None]:
    yield
    release()


async def start(folder: Path, name: str = "tiny", said: list[str] | None = None, **more: float) -> LocalServer:
    model = tiny_model(folder / f"{name}.gguf") if not (folder / f"{name}.gguf").exists() else folder / f"{name}.gguf"
    tell = said.append if said is not None else lambda text: None
    return await serve(str(model), LocalSettings(), folder, tell, program=STAND_IN, **more)


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < end
        threading.Event().wait(0.02)


def started(server: LocalServer) -> list[int]:
    """The processes that served from the folder of `server`, one after another."""
    return [int(line) for line in (server.log.parent / "starts").read_text(encoding="utf-8").split()]


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def test_tasks_side_by_side_share_one_server_and_it_ends_with_them(tmp_path: Path) -> None:
    said: list[str] = []
    servers = await asyncio.gather(*(start(tmp_path, said=said) for _ in range(4)))
    assert len({server.url for server in servers}) == 1
    (pid,) = started(servers[0])
    assert [line.split(" (")[0] for line in said] == ["Loading the model tiny"]
    assert "loading" in servers[0].log.read_text(encoding="utf-8")
    assert servers[0].log.is_relative_to(tmp_path)
    release()
    assert not lives(pid)


async def test_a_server_that_died_is_started_anew(tmp_path: Path) -> None:
    first = await start(tmp_path)
    os.kill(started(first)[0], signal.SIGKILL)
    until(lambda: not lives(started(first)[0]))
    again = await start(tmp_path)
    assert len(started(again)) == 2


_USER = """
import asyncio, sys
from pathlib import Path
from habilis.config import LocalSettings
from habilis.models.local.serving import serve
folder, program = Path(sys.argv[1]), sys.argv[2:]
server = asyncio.run(serve(str(folder / "tiny.gguf"), LocalSettings(), folder, lambda text: None, program=program))
print(server.url, flush=True)
sys.stdin.read()
"""


def user(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """A process that uses the server of `folder`, and where it found it."""
    process = nursery.Program(
        [sys.executable, "-c", _USER, str(folder), *STAND_IN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


async def test_it_ends_when_its_last_user_is_killed_and_no_sooner(tmp_path: Path) -> None:
    tiny_model(tmp_path / "tiny.gguf")
    (first, url), (second, same) = user(tmp_path), user(tmp_path)
    assert url == same
    (starts,) = tmp_path.glob("local/*/starts")
    pid = int(starts.read_text(encoding="utf-8"))
    kill(first)
    assert (await start(tmp_path)).url == url
    kill(second)
    assert lives(pid)
    release()
    until(lambda: not lives(pid))


async def test_who_holds_a_server_keeps_it_between_two_tasks(tmp_path: Path) -> None:
    tiny_model(tmp_path / "tiny.gguf")
    models = ModelsSettings(basic=RoleSettings(provider="local", model=str(tmp_path / "tiny.gguf")))
    await hold(models, tmp_path, lambda text: None, start=False)
    assert not list(tmp_path.glob("local/*/starts"))
    first, url = user(tmp_path)
    kill(first)
    second, same = user(tmp_path)
    kill(second)
    assert url == same


async def test_a_model_that_does_not_load_says_why_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(
        ModelUnreachable, match=r"ValueError: tensor 'output\.weight' is missing; its log: .*server\.log"
    ):
        await start(tmp_path, "broken")
    with pytest.raises(ModelUnreachable, match="signal 9"):
        await start(tmp_path, "killed")


async def test_a_model_that_loads_for_ever_is_given_up_and_its_process_ended(tmp_path: Path) -> None:
    with pytest.raises(ModelUnreachable, match=r"did not load in 3 s"):
        await start(tmp_path, "endless", limit_s=3.0)
    # On a busy machine it may not have come as far as to note itself.
    assert not any(lives(int(pid.read_text(encoding="utf-8"))) for pid in tmp_path.glob("local/*/pid"))


async def test_ctrl_c_while_a_model_loads_leaves_no_process(tmp_path: Path) -> None:
    loading = asyncio.ensure_future(start(tmp_path, "endless"))
    while not list(tmp_path.glob("local/*/pid")):
        await asyncio.wait({loading}, timeout=0.02)
    loading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await loading
    (pid,) = tmp_path.glob("local/*/pid")
    assert not lives(int(pid.read_text(encoding="utf-8")))


@pytest.mark.slow
@pytest.mark.promise
async def test_another_program_on_the_noted_port_is_not_taken_for_the_server(tmp_path: Path) -> None:
    first = await start(tmp_path)
    other = await start(tmp_path, "other")
    note = {"port": int(other.url.rsplit(":", 1)[1].split("/")[0]), "pid": 1, "key": "k"}
    os.kill(started(first)[0], signal.SIGKILL)
    until(lambda: not lives(started(first)[0]))
    (first.log.parent / "server.json").write_text(json.dumps(note), encoding="utf-8")
    assert (await start(tmp_path)).url not in (first.url, other.url)


async def test_a_program_that_floods_whoever_asks_on_the_noted_port_is_left_at_once(tmp_path: Path) -> None:
    poured = 0

    def play(server: BareServer, link: socket.socket, line: str) -> None:
        nonlocal poured
        link.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while not server.closing.is_set():
            link.sendall(b"a" * 65_536)
            poured += 65_536

    with BareServer(play) as server:
        note = {"port": server.port, "key": "k"}
        (tmp_path / "server.json").write_text(json.dumps(note), encoding="utf-8")
        assert await _listening(tmp_path, "the-model") is None
        assert server.asked
    assert poured < 64 << 20


async def test_what_is_no_model_starts_nothing(tmp_path: Path) -> None:
    (tmp_path / "page.gguf").write_text("<html>", encoding="utf-8")
    with pytest.raises(UserError, match="GGUF"):
        await start(tmp_path, "page")
    assert not list(tmp_path.glob("local/*/server.log"))
