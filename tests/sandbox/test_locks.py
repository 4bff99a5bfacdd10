"""Files that programs lock, in a tool whose locks are not taken: databases work, and nobody outside is held up."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from habilis.contract.runnable import Runnable
from habilis.runtime.calls import CallSpec
from habilis.runtime.host import ToolHost

from .conftest import value_of

MakeTool = Callable[..., Runnable]

DATABASE = """
import sqlite3
first, second = (sqlite3.connect("data.db", timeout=0.05, isolation_level=None) for _ in range(2))
mode = first.execute(f"PRAGMA journal_mode={input.path}").fetchone()[0]
first.execute("CREATE TABLE IF NOT EXISTS t (n INTEGER)")
first.execute("BEGIN IMMEDIATE")
first.execute("INSERT INTO t VALUES (1)")
try:
    second.execute("BEGIN IMMEDIATE")
    both = "both write"
except sqlite3.OperationalError as error:
    both = str(error)
first.execute("COMMIT")
second.execute("INSERT INTO t VALUES (2)")
first.execute("BEGIN")
first.execute("DELETE FROM t WHERE n = 2")
first.execute("ROLLBACK")
whole = second.execute("PRAGMA integrity_check").fetchone()[0]
total = second.execute("SELECT sum(n) FROM t").fetchone()[0]
first.close(), second.close()
return OutputModel(value=[mode, both, whole, total])
"""


@pytest.mark.parametrize("journal", ["delete", "wal"])
async def test_a_database_works_with_every_journal_and_keeps_what_call_after_call_wrote(
    level: str, host_with: Callable[..., ToolHost], tool: MakeTool, workspace: Path, journal: str
) -> None:
    """Two connections of one tool still keep out of each other's way: SQLite sees to that by itself."""
    one, runnable = host_with(level), tool(DATABASE)
    for total in (3, 6):
        outcome = await one.call(CallSpec(runnable, {"path": journal}, workspace=workspace))
        assert value_of(outcome) == [journal, "database is locked", "ok", total]
    with sqlite3.connect(workspace / "data.db") as outside:
        assert outside.execute("SELECT count(*) FROM t").fetchone() == (4,)
    outside.close()


READ = """
import sqlite3
with sqlite3.connect(f"file:{input.path}?mode=ro", uri=True) as base:
    return OutputModel(value=base.execute("SELECT sum(n) FROM t").fetchone()[0])
"""


async def test_a_database_among_the_tasks_files_is_read_while_its_owner_writes_it(
    level: str, host_with: Callable[..., ToolHost], tool: MakeTool, workspace: Path, tmp_path: Path
) -> None:
    """The owner's lock is seen (what it has begun counts for nothing yet), and no lock of the tool's delays it."""
    given = tmp_path / "given.db"
    owner = sqlite3.connect(given, isolation_level=None)
    owner.execute("CREATE TABLE t (n INTEGER)")
    owner.execute("INSERT INTO t VALUES (4)")
    owner.execute("BEGIN IMMEDIATE")
    owner.execute("INSERT INTO t VALUES (5)")
    one, runnable = host_with(level), tool(READ)
    outcome = await one.call(CallSpec(runnable, {"path": str(given)}, workspace=workspace, files=[given]))
    assert value_of(outcome) == 4
    owner.execute("COMMIT")
    outcome = await one.call(CallSpec(runnable, {"path": str(given)}, workspace=workspace, files=[given]))
    assert value_of(outcome) == 9
    owner.close()


HONEST = """
import asyncio, fcntl, os, socket, subprocess, sys, threading
from concurrent.futures import ThreadPoolExecutor

def locked():
    with open("lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.lockf(lock, fcntl.LOCK_UN)
        fcntl.flock(lock, fcntl.LOCK_UN)
    return "locked"

async def waited():
    loop = asyncio.get_running_loop()
    one, other = socket.socketpair()
    one.setblocking(False), other.setblocking(False)
    reading = asyncio.create_task(loop.sock_recv(other, 10))
    await loop.sock_sendall(one, b"waited")
    said = await reading
    one.close(), other.close()
    return (await asyncio.to_thread(said.decode))

def handed_over():
    one, other = socket.socketpair()
    if os.fork() == 0:
        reading, writing = os.pipe()
        os.write(writing, b"handed over")
        socket.send_fds(one, [b"x"], [reading])
        os._exit(0)
    _, descriptors, _, _ = socket.recv_fds(other, 1, 1)
    os.wait()
    with os.fdopen(descriptors[0], "rb", 0) as pipe:
        said = pipe.read(11).decode()
    one.close(), other.close()
    return said

def moved():
    with open("from", "wb") as made:
        made.write(b"moved" * 1000)
    import shutil
    shutil.copy2("from", "to")
    with open("to", "r+b") as there, open("from", "rb") as here:
        os.sendfile(there.fileno(), here.fileno(), 0, 100)
        os.copy_file_range(here.fileno(), there.fileno(), 5)
        os.posix_fadvise(here.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
    os.replace("to", "there")
    os.symlink("there", "link")
    return open("link").read(5)

def computed():
    with ThreadPoolExecutor(4) as pool:
        total = sum(pool.map(lambda n: n * n, range(100)))
    os.nice(1)
    os.sched_setaffinity(0, os.sched_getaffinity(0))
    return total

def started():
    ran = subprocess.run(["/bin/sh", "-c", "echo started | cat; uname -n >/dev/null"], capture_output=True, text=True)
    return ran.stdout.strip() or ran.stderr

return OutputModel(value=[locked(), asyncio.run(waited()), handed_over(), moved(), computed(), started()])
"""


async def test_what_honest_tools_ask_of_the_kernel_they_get(
    level: str, host_with: Callable[..., ToolHost], tool: MakeTool, workspace: Path
) -> None:
    from habilis.contract.capabilities import Grant

    outcome = await host_with(level).call(CallSpec(tool(HONEST), {}, workspace=workspace, grant=Grant(subprocess=True)))
    assert value_of(outcome) == ["locked", "waited", "handed over", "moved", 328350, "started"]
