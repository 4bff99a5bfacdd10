"""What of the host waits to be reached by a datagram, and tries a file while a tool holds it.

A tool that holds a file writes its path into `held` in the workspace; the host then locks that file in each way, opens
it for writing, and answers `free` or what it could not do in `looked`.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

HELD, LOOKED = "held", "looked"
LOOK_S = 0.002
_WHOLE_FILE = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)


class Witnesses:
    """`sockets` by name, `facts` for the tool, and `folder`, which is one of the task's files and holds two of them."""

    def __init__(self, folder: Path, workspace: Path) -> None:
        self.folder, self._workspace = folder / "shared", workspace
        self.folder.mkdir()
        abstract = f"\0habilis-datagrams-{os.getpid()}-{folder.name}"
        self.sockets = {
            "unix datagrams": _bound(socket.SOCK_DGRAM, str(folder / "datagrams")),
            "abstract datagrams": _bound(socket.SOCK_DGRAM, abstract),
            "datagrams of the task's folder": _bound(socket.SOCK_DGRAM, str(self.folder / "datagrams")),
            "listener of the task's folder": _bound(socket.SOCK_STREAM, str(self.folder / "listener")),
        }
        self.facts: dict[str, Any] = {
            "datagrams": str(folder / "datagrams"),
            "abstract_datagrams": abstract,
            "shared": str(self.folder),
            "nodename": os.uname().nodename,
        }
        self._found: list[str] = []
        self._ending = threading.Event()
        self._watching = threading.Thread(target=self._watch, daemon=True)
        self._watching.start()

    def harms(self) -> list[str]:
        """What of the host was held up, since this was asked last."""
        found, self._found = self._found, []
        return found

    def close(self) -> None:
        self._ending.set()
        self._watching.join()

    def _watch(self) -> None:
        held, looked = self._workspace / HELD, self._workspace / LOOKED
        while not self._ending.wait(LOOK_S):
            with suppress(PermissionError):  # another attempt has shut the workspace
                if held.exists() and not looked.exists():
                    problem = tried(Path(held.read_text()))
                    self._found += [f"the host could not {problem} a file"] if problem else []
                    aside = looked.with_name(f"{LOOKED}.part")
                    aside.write_text(problem or "free")
                    aside.rename(looked)


def tried(path: Path) -> str:
    """What of its own the host cannot do with the file at `path`; nothing if all goes."""
    try:
        opened = os.open(path, (os.O_RDWR if os.access(path, os.W_OK) else os.O_RDONLY) | os.O_NONBLOCK)
    except BlockingIOError:
        return "open"
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(opened, fcntl.LOCK_UN)
        if os.access(path, os.W_OK):
            fcntl.fcntl(opened, fcntl.F_OFD_SETLK, _WHOLE_FILE)
    except BlockingIOError:
        return "lock"
    finally:
        os.close(opened)
    return ""


def _bound(kind: int, address: str) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, kind)
    made.bind(address)
    if not address.startswith("\0"):
        Path(address).chmod(0o777)
    if kind == socket.SOCK_STREAM:
        made.listen(4)
    made.setblocking(False)
    return made
