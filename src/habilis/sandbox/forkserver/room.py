"""A folder that one warm server works in on behalf of many workspaces, each thrown away after a call or two.

A server's mounts are fixed when it starts, and to start one for a single call gains nothing. So what lies in a
throw-away workspace is moved here for its call, and back again afterwards; one workspace at a time, so that none sees
another.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from habilis.sandbox.processes.walking import remove

PATIENCE_S = 0.5
"""About what an interpreter of its own takes to start, and more of the processor than a turn here."""


class Room:
    """A new, empty folder below `beside`, for workspaces of the same file system. Raises OSError when there is none."""

    def __init__(self, beside: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-trials-", dir=beside))
        self._taken = asyncio.Lock()

    @asynccontextmanager
    async def instead_of(self, workspace: Path) -> AsyncIterator[Path]:
        """The folder, holding what `workspace` holds; `workspace` itself when it is taken or cannot be moved."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._taken.acquire()
        except TimeoutError:
            yield workspace
            return
        try:
            if moved(workspace, self.folder):
                try:
                    yield self.folder
                finally:
                    if not moved(self.folder, workspace):
                        self._empty()
            else:
                yield workspace
        finally:
            self._taken.release()

    def _empty(self) -> None:
        with suppress(FileNotFoundError):  # the library around it is gone, and so is all that lay in here
            for name in os.listdir(self.folder):  # noqa: PTH208
                with suppress(OSError):
                    (self.folder / name).unlink()
                remove(self.folder / name)

    def close(self) -> None:
        """Remove the folder."""
        remove(self.folder)


def moved(source: Path, target: Path) -> bool:
    """Move all that lies in `source`; where that is not possible, or there is no `target`, nothing."""
    done: list[str] = []
    if not target.is_dir():
        return False
    try:
        for name in os.listdir(source):  # noqa: PTH208
            (source / name).rename(target / name)
            done.append(name)
    except OSError:
        for name in done:
            with suppress(OSError):
                (target / name).rename(source / name)
        return False
    return True
