"""What the host notices of a call that takes too much."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from habilis.core.ports import SandboxLimits
from habilis.tools.sandbox.watching import Watch


@pytest.mark.parametrize("full", ["workspace", "tmp"])
async def test_each_folder_of_a_call_is_looked_at_when_the_disk_fills(tmp_path: Path, full: str) -> None:
    """They lie on one disk: what fills one must not be looked for in the other alone."""
    folders = [tmp_path / "workspace", tmp_path / "tmp"]
    for folder in folders:
        folder.mkdir()
    stopped: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    watch = Watch(
        lambda why: None if stopped.done() else stopped.set_result(why),
        SandboxLimits(disk_bytes=4 << 20),
        folders,
        memory=lambda: 0,
    )
    try:
        for number in range(16):
            (tmp_path / full / str(number)).write_bytes(bytes(4 << 20))
        async with asyncio.timeout(60):
            assert await stopped == "disk"
    finally:
        watch.cancel()
