"""Servers of local models: one process for all tasks of a run that name the same model, started when first asked for.

A folder per model holds what its users share: `users`, locked in common by every process that uses the server,
`start`, locked by the one that starts it, `server.json`, which says where it listens, and its log. The server waits for
a lock of its own on `users`; the kernel gives it when the last user let go or died, however it died, and the server
ends. So it never outlives its users, and no user needs to be there to end it.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from habilis.config import ROLES, LocalSettings, ModelsSettings, environment
from habilis.core.digests import digest
from habilis.core.errors import ModelUnreachable
from habilis.models.local.files import check_memory, find, looked_at
from habilis.rundir.locks import take
from habilis.sandbox.processes.temporary import new_folder

PROGRAM: tuple[str, ...] = (sys.executable, "-m", "habilis.models.local.child")
POLL_S, LOAD_S = 0.05, 600.0
"""How often is looked, and how long a model may load: tens of gigabytes come from a slow disk."""
BEGINNING = "--- a new server"
"""Begins what one server writes into the log."""
MAX_LIST_BYTES = 1 << 20
"""Bytes that are read of what a server lists: whoever sends more is another program on a port that was ours."""
PATIENCE_S = 5.0
"""How long a server that ends is waited for, and a server that listens for its answer."""


@dataclass(frozen=True)
class LocalServer:
    """A server that answers those who have its key. `name` is its model's, `log` what it writes."""

    url: str
    name: str
    log: Path
    key: str = field(repr=False)


@dataclass(frozen=True)
class Order:
    """What a server's process is told, as JSON."""

    model: str
    name: str
    context_tokens: int
    threads: int
    gpu_layers: int | None
    users: str
    state: str


class _Lease:
    """What this process holds of one server: the common lock, and the process if it started it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None
        self._users = os.open(folder / "users", os.O_RDWR | os.O_CREAT, 0o600)

    async def share(self) -> None:
        """Be a user. A server that is about to end holds the lock a moment longer."""
        await _locked(self._users, PATIENCE_S, shared=True)

    def let_go(self) -> None:
        """Be a user no more; if nobody else is one, the server ends."""
        alone = take(self._users)
        os.close(self._users)
        if self.process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(PATIENCE_S if alone else POLL_S)
        if alone and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        # Where others still use it, it is no longer ours to wait for.
        self.process.returncode = self.process.returncode or 0


_leases: dict[str, _Lease] = {}
"""What this process uses, by model and settings; kept until it ends, so that the next task finds its model loaded."""


async def serve(
    model: str,
    settings: LocalSettings,
    folder: Path | None,
    say: Callable[[str], None],
    *,
    program: Sequence[str] = PROGRAM,
    limit_s: float = LOAD_S,
) -> LocalServer:
    """A server of `model`, started if none is there; `say` is told when that begins. Notes are kept below `folder`.

    Raises `UserError` for a model that cannot be served here, and `ModelUnreachable` for a server that does not start.
    """
    path = await asyncio.to_thread(find, model, settings)
    lease = await _lease(model, settings, folder)
    name = path.stem
    async with _starting(lease.folder, limit_s):
        found = await _listening(lease.folder, name)
        return found or await _start(lease, path, name, settings, say, program, limit_s)


async def hold(models: ModelsSettings, folder: Path | None, say: Callable[[str], None], *, start: bool) -> None:
    """Be a user of the servers that `models` name, so that they stay between two tasks; `start` them too.

    Tasks in processes of their own need them started: what such a task starts ends with it.
    """
    for role in ROLES:
        settings = models.role(role)
        if settings.provider == "local" and settings.model:
            await _lease(settings.model, models.local, folder)
            if start:
                await serve(settings.model, models.local, folder, say)


async def _lease(model: str, settings: LocalSettings, folder: Path | None) -> _Lease:
    key = digest([model, settings.model_dump()])
    if key not in _leases:
        lease = _Lease((folder or new_folder("local")) / "local" / key)
        await lease.share()
        _leases[key] = lease
    return _leases[key]


def release() -> None:
    """Let go of all servers that this process uses; those that nobody else uses end."""
    while _leases:
        _leases.popitem()[1].let_go()


atexit.register(release)


async def _start(
    lease: _Lease,
    path: Path,
    name: str,
    settings: LocalSettings,
    say: Callable[[str], None],
    program: Sequence[str],
    limit_s: float,
) -> LocalServer:
    """Start a server and wait until it answers."""
    head = looked_at(path)
    check_memory(path, head, settings)
    say(f"Loading the model {head.name or name} ({head.size / (1 << 30):.1f} GB) …")
    if not head.has_chat_template:
        say(f"The model {path.name} brings no chat template: it may not know how to converse or call tools.")
    state, log = lease.folder / "server.json", lease.folder / "server.log"
    state.unlink(missing_ok=True)
    order = Order(
        model=str(path),
        name=name,
        context_tokens=settings.context_tokens,
        threads=settings.threads or os.cpu_count() or 1,
        gpu_layers=settings.gpu_layers,
        users=str(lease.folder / "users"),
        state=str(state),
    )
    if lease.process is not None:
        lease.process.kill()  # the one before, which does not answer
        lease.process.wait()
    lease.process = process = _child([*program, json.dumps(asdict(order))], log)
    try:
        return await _answering(lease, process, name, limit_s)
    except BaseException:
        process.kill()
        process.wait()
        raise


def _child(command: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    """Not a process of the event loop's: it stays when that ends."""
    with log.open("ab") as out:
        out.write(f"{BEGINNING}\n".encode())
        out.flush()
        # A session of its own: Ctrl-C ends the step under way, which still needs its model.
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment(), start_new_session=True
        )


async def _answering(lease: _Lease, process: subprocess.Popen[bytes], name: str, limit_s: float) -> LocalServer:
    log = lease.folder / "server.log"
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        found = await _listening(lease.folder, name)
        if found is not None:
            return found
        if process.poll() is not None:
            how = f"code {process.returncode}" if process.returncode >= 0 else f"signal {-process.returncode}"
            raise ModelUnreachable(f"the model {name} could not be loaded ({how}): {_last_words(log)}; its log: {log}")
        await asyncio.sleep(POLL_S)
    raise ModelUnreachable(f"the model {name} did not load in {limit_s:g} s; log: {log}")


def _last_words(log: Path) -> str:
    """The line of the log that most likely says why: the first error since it began, else the last line."""
    try:
        lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
    except OSError:
        lines = []
    begun = max((number for number, line in enumerate(lines) if line == BEGINNING), default=-1)
    lines = [line for line in lines[begun + 1 :] if line]
    errors = [line for line in lines if "error" in line.lower() or "fail" in line.lower()]
    return (errors[:1] or lines[-1:] or ["it said nothing"])[0][:300]


async def _listening(folder: Path, name: str) -> LocalServer | None:
    """The server that is noted in `folder`, if it answers and serves the model `name`."""
    try:
        note = json.loads((folder / "server.json").read_text(encoding="utf-8"))
        port, key = int(note["port"]), str(note["key"])
        async with asyncio.timeout(PATIENCE_S):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                head = f"Host: 127.0.0.1\r\nAuthorization: Bearer {key}\r\nConnection: close"
                writer.write(f"GET /v1/models HTTP/1.0\r\n{head}\r\n\r\n".encode())
                said = await reader.read(1 << 16)
                while not reader.at_eof() and name.encode() not in said and len(said) < MAX_LIST_BYTES:
                    said += await reader.read(1 << 16)
            finally:
                writer.close()
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if b" 200 " not in said.split(b"\r\n", 1)[0] or name.encode() not in said:
        return None
    return LocalServer(f"http://127.0.0.1:{port}/v1", name, folder / "server.log", key)


class _starting:
    """The right to start the server of a folder, waited for while another has it."""

    def __init__(self, folder: Path, patience_s: float) -> None:
        self._path = folder / "start"
        self._patience_s = patience_s

    async def __aenter__(self) -> None:
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            await _locked(self._file, self._patience_s)
        except BaseException:
            os.close(self._file)
            raise

    async def __aexit__(self, *_: object) -> None:
        os.close(self._file)


async def _locked(file: int, patience_s: float, *, shared: bool = False) -> None:
    """Take a lock, waiting without blocking the loop. Raises `ModelUnreachable` when it is never free."""
    end = time.monotonic() + patience_s
    while not take(file, shared=shared):
        if time.monotonic() > end:
            raise ModelUnreachable("another process has been starting or ending the model's server for too long")
        await asyncio.sleep(POLL_S)
