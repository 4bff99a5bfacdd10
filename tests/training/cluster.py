"""A Ray cluster of this machine, for tests: a head that runs no task, and nodes that can be killed."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from habilis.training.runners.tree import descendants, kill_tree

ROOT = Path(__file__).resolve().parents[2]
RAY = [
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed here: make test-ray"),
]
NODES, TRIES = 3, 8
_HIDE = 'mount -t tmpfs none "$0" && exec "$@"'
_MEMORY = "--object-store-memory=80000000"


class Cluster:
    """`address` is where drivers join. Each node has its cache in a folder of its own below `folder`; what lies in
    `hidden` no node sees, where a user may hide it (root)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hidden = folder / "hidden"
        self.hidden.mkdir()
        self.nodes: list[subprocess.Popen[bytes]] = []
        self._before: set[Path] = set()
        self._environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "src"),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_health_check_period_ms": "500",
            "RAY_health_check_timeout_ms": "2000",
            "RAY_health_check_failure_threshold": "4",
            "RAY_enable_worker_prestart": "0",
            "RAY_prestart_worker_first_driver": "0",  # four programs a node that nobody asked for, at each driver
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
        }
        # Ray's sockets lie below its folder, and their names have a limit of 107 characters.
        self._ray = tempfile.TemporaryDirectory(prefix="ray")
        self.address = f"127.0.0.1:{_free_port()}"
        self._head = self._started(
            "head", "--head", f"--port={self.address.partition(':')[2]}", "--num-cpus=0", "--include-dashboard=false",
            f"--temp-dir={self._ray.name}",
        )  # fmt: skip

    @property
    def environment(self) -> dict[str, str]:
        """What a driver's environment needs to join."""
        return {name: value for name, value in self._environment.items() if name.startswith("RAY_")}

    def add(self) -> None:
        """Add a node, and wait until it has joined."""
        options = f"--address={self.address}", "--num-cpus=4"
        self.nodes.append(self._started(f"node{len(self.nodes)}", *options, hiding=can_hide()))

    def fill(self) -> None:
        """Add nodes until three are alive. What runs before left on them stays, and is not counted."""
        self._before = set(self.folder.glob("node*/nodes/*"))
        while sum(node.poll() is None for node in self.nodes) < NODES:
            self.add()

    def kill(self, number: int) -> None:
        """End a node with all that runs on it, as if its plug were pulled."""
        kill_tree(self.nodes[number].pid)
        self.nodes[number].wait()

    def kill_head(self) -> None:
        """End the head with all that runs there, and so the part of Ray that drivers of this machine talk to."""
        kill_tree(self._head.pid)
        self._head.wait()

    def alive(self) -> list[int]:
        return [number for number, node in enumerate(self.nodes) if node.poll() is None]

    def worked(self) -> list[int]:
        """The nodes on which tasks were begun."""
        return [number for number in range(len(self.nodes)) if self._found(number, "shared")]

    def works_on(self, number: int) -> bool:
        """Whether a task is under way on a node."""
        return self._found(number, "*/*/tasks/*/tape.jsonl")

    def _found(self, number: int, name: str) -> bool:
        runs = set((self.folder / f"node{number}").glob("nodes/*")) - self._before
        return any(any(run.glob(name)) for run in runs)

    def freeze(self, number: int) -> None:
        """Cut a node off: it does nothing until `thaw`, and knows of nothing that happened meanwhile."""
        self._signal(number, signal.SIGSTOP)

    def thaw(self, number: int) -> None:
        self._signal(number, signal.SIGCONT)

    def _signal(self, number: int, what: signal.Signals) -> None:
        for pid in [self.nodes[number].pid, *descendants(self.nodes[number].pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, what)

    def end(self) -> None:
        for process in [*self.nodes, self._head]:
            kill_tree(process.pid)
            process.wait()
        self._ray.cleanup()

    def sees(self, number: int, path: Path) -> bool:
        """Whether a node has anything there."""
        return (Path(f"/proc/{self.nodes[number].pid}/root") / path.relative_to("/")).exists()

    def _started(self, name: str, *options: str, hiding: bool = False) -> subprocess.Popen[bytes]:
        """A part of the cluster that has joined. Ray gives its parts fifteen seconds to begin: on a busy machine that
        is too little now and then."""
        for _ in range(TRIES):
            process = self._start(name, *options, hiding=hiding)
            while process.poll() is None:
                if "--block" in (self.folder / f"{name}.log").read_text():
                    return process
                threading.Event().wait(0.1)
            kill_tree(process.pid)
        raise AssertionError((self.folder / f"{name}.log").read_text()[-1000:])

    def _start(self, name: str, *options: str, hiding: bool) -> subprocess.Popen[bytes]:
        before = ["unshare", "--mount", "sh", "-c", _HIDE, str(self.hidden)] if hiding else []
        ray = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--disable-usage-stats", _MEMORY]
        log = (self.folder / f"{name}.log").open("wb")
        with log:
            return subprocess.Popen(
                [*before, *ray, *options],
                env={**self._environment, "HABILIS_CACHE_DIR": str(self.folder / name)},
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )


def can_hide() -> bool:
    """Whether this user may give a process a view of its own of the disk."""
    return os.geteuid() == 0 and shutil.which("unshare") is not None


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        yield made
    finally:
        made.end()


@pytest.fixture
def cluster(begun: Cluster, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """A cluster with three nodes, which this process may join."""
    for name, value in begun.environment.items():
        monkeypatch.setenv(name, value)
    begun.fill()
    return begun
