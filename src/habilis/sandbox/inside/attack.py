"""Runs inside a sandbox that is being probed: tries what no tool may do and reports what succeeded."""

import json
import os
import socket
from collections.abc import Callable


def read(path: str) -> None:
    with open(path, "rb") as opened:  # noqa: PTH123
        opened.read()


def connect(port: int) -> None:
    socket.create_connection(("127.0.0.1", port), 2).close()


def datagram(port: int) -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as sender:
        sender.sendto(b"!", ("127.0.0.1", port))


def leave(place: str) -> None:
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with one, other:
        one.sendto(b"!", place)


def main() -> None:
    """Read the targets, attack each, write the list of what was not held."""
    with os.fdopen(int(os.environ["HABILIS_IN"]), "rb") as pipe:
        target = json.loads(pipe.read())
    attacks: dict[str, Callable[[], None]] = {
        "read a file outside": lambda: read(target["canary"]),
        "reached a listener of the host": lambda: connect(target["port"]),
        "sent a datagram": lambda: datagram(target["port"]),
        "sent a datagram to a unix socket": lambda: leave(target["unix"]),
        "sent a datagram to an abstract unix socket": lambda: leave(target["abstract"]),
        "signalled another process": lambda: os.kill(target["pid"], 0),
    }
    try:
        with open(target["canary"], "ab") as canary:  # noqa: PTH123 - the host looks whether it arrived
            canary.write(b"!")
    except OSError:
        pass
    broken = []
    for name, attack in attacks.items():
        try:
            attack()
        except (OSError, KeyError):
            continue
        broken.append(name)
    if os.geteuid() == 0:
        broken.append("kept the rights of root")
    with open("mark", "wb") as mark:  # noqa: PTH123
        mark.write(b"x")
    with os.fdopen(int(os.environ["HABILIS_OUT"]), "wb") as pipe:
        pipe.write(json.dumps(broken).encode())


if __name__ == "__main__":
    main()
