"""The server: on loopback alone, until it is interrupted."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable

import uvicorn

from habilis.core.errors import UserError
from habilis.view.app import app_of
from habilis.view.guard import NAMES, Guard
from habilis.view.site import Site

ENDS_WITHIN_S = 1
NICENESS = 5
"""Where all processors are at work, the work goes first, and who looks at it waits."""


def serve(site: Site, port: int, ready: Callable[[str], None]) -> None:
    """Serve until a signal comes; `ready` hears the address once somebody can open it. Port 0: any free one.

    Raises `UserError` when the port is taken, KeyboardInterrupt after an interrupt.
    """
    listening = _listening(port)
    with listening:
        running: list[uvicorn.Server] = []
        app = app_of(site, lambda: any(server.should_exit for server in running))
        guard = Guard(app, listening.getsockname()[1])
        config = uvicorn.Config(
            guard,
            log_level="error",
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=ENDS_WITHIN_S,
        )
        ready(guard.address)
        os.nice(NICENESS)
        running.append(uvicorn.Server(config))
        running[0].run(sockets=[listening])


def _listening(port: int) -> socket.socket:
    """A socket that listens: who opens the address before the server runs waits a moment, and is answered."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((NAMES[0], port))
        found.listen(64)
    except (OSError, OverflowError) as error:
        found.close()
        why = getattr(error, "strerror", None) or error
        raise UserError(f"port {port} of {NAMES[0]} cannot be used: {why}; choose another with --port") from None
    return found
