"""The process that serves a local model: `python -m habilis.models.local.child ORDER`.

It ends when nobody uses it any more, see `serving.py`.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

Start = Callable[[dict[str, Any]], int]
"""Serves the model of an order, to those who have its key, and returns the port once requests are answered."""


def run(start: Start) -> None:
    """Carry out the order of the command line: serve, say where, wait for the last user to leave."""
    order = json.loads(sys.argv[1])
    order["key"] = secrets.token_urlsafe(24)
    leaving = threading.Thread(target=_leave_when_unused, args=(Path(order["users"]), Path(order["state"])))
    leaving.start()
    try:
        port = start(order)
    except Exception as error:
        print(f"error: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)
    state = Path(order["state"])
    aside = state.with_suffix(".new")
    with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump({"port": port, "pid": os.getpid(), "key": order["key"]}, file)
    aside.replace(state)
    leaving.join()


def _leave_when_unused(users: Path, state: Path) -> None:
    file = os.open(users, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(file, fcntl.LOCK_EX)
    with contextlib.suppress(OSError):
        state.unlink()
    os.kill(os.getpid(), signal.SIGKILL)


def llama(order: dict[str, Any]) -> int:
    """llama.cpp's own server, by xllamacpp (https://github.com/xorbitsai/xllamacpp), in this process."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = order["model"]
    params.model_alias = {order["name"]}
    params.n_parallel = 1  # each further request at once would need memory for a context of its own
    params.n_ctx = order["context_tokens"]
    params.cpuparams.n_threads = order["threads"]
    if order["gpu_layers"] is not None:
        params.n_gpu_layers = order["gpu_layers"]
    params.use_jinja = True
    params.api_keys = [order["key"]]  # else any page in a browser of this machine could ask it
    params.hostnames = ["127.0.0.1"]
    params.port = _free_port()
    server = xllamacpp.Server(params)
    _keep.append(server)
    port: int = urlsplit(str(server.listening_address)).port or params.port
    return port


_keep: list[Any] = []
"""What must not be freed while it serves."""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    run(llama)
