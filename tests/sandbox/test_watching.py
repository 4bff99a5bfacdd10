"""What the host notices of a call that takes too much."""

from __future__ import annotations

import asyncio
import itertools
import time
from pathlib import Path

import pytest

from habilis.core.ports import SandboxLimits
from habilis.sandbox.processes.watching import Watch, older, written_since


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


async def test_a_clock_that_is_set_back_leaves_the_limit_of_the_disk_as_it_was(tmp_path: Path) -> None:
    """What is written by the new clock seems older than the call: it would fill the disk unseen."""
    stopped: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    ahead = itertools.chain([3600.0], itertools.repeat(0.0))
    watch = Watch(
        lambda why: None if stopped.done() else stopped.set_result(why),
        SandboxLimits(disk_bytes=4 << 20),
        [tmp_path],
        memory=lambda: 0,
        wall=lambda: time.time() + next(ahead),
    )
    try:
        for number in range(16):
            (tmp_path / str(number)).write_bytes(bytes(4 << 20))
        async with asyncio.timeout(60):
            assert await stopped == "disk"
    finally:
        watch.cancel()


def test_after_a_clock_was_set_back_what_was_there_before_the_call_counts_for_nothing(tmp_path: Path) -> None:
    before, fresh = tmp_path / "before", tmp_path / "fresh"
    before.write_bytes(bytes(1 << 16))
    then = before.stat().st_ctime
    fresh.write_bytes(b"x")
    while fresh.stat().st_ctime == then:  # the kernel's clock ticks some hundred times a second
        fresh.write_bytes(b"x")
    began, set_back = then + 1000, (then + fresh.stat().st_ctime) / 2
    known = older([tmp_path], began, set_back)
    assert written_since(tmp_path, began) == 0, "by the clock alone nothing was written"
    assert 0 < written_since(tmp_path, began, known) < 1 << 16
    before.chmod(0o600)
    assert written_since(tmp_path, began, known) > 1 << 16, "it was changed"


async def test_every_call_is_looked_at_until_it_ends_whatever_becomes_of_the_look_at_another() -> None:
    loop = asyncio.get_running_loop()
    troubles: list[str] = []
    loop.set_exception_handler(lambda _, context: troubles.append(str(context["exception"])))
    stopped: dict[str, str] = {}
    looks = dict.fromkeys(("ended", "heavy", "light"), 0)

    def memory_of(name: str) -> int:
        if name == "odd":
            raise ValueError("no such process")
        looks[name] += 1
        return 1 << 30 if name == "heavy" else 0

    watches = {
        name: Watch(
            lambda why, name=name: stopped.setdefault(name, why),  # type: ignore[misc]
            SandboxLimits(memory_bytes=1 << 20),
            [],
            memory=lambda name=name: memory_of(name),  # type: ignore[misc]
        )
        for name in ("odd", "ended", "heavy", "light")
    }
    watches["ended"].cancel()
    async with asyncio.timeout(60):
        while looks["light"] < 2:
            await asyncio.sleep(0.01)
    for watch in watches.values():
        watch.cancel()
    assert stopped == {"heavy": "memory"}
    assert looks["ended"] == 0
    assert set(troubles) == {"no such process"}
