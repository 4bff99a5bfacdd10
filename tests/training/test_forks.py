"""Programs of tasks that are forked from the template process: nobody notices, but for the time that it saves."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from habilis.config import environment
from habilis.training.runners import forks
from habilis.training.runners.forks import KILLED, Fork, Template, Templates, forked
from habilis.training.runners.program import LocalProgram
from habilis.training.runners.template import FILES, MORE_THAN_ONE_THREAD, Forks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="programs are forked on Linux alone")
LONGEST = 1 << 20


@pytest.fixture
def templates(monkeypatch: pytest.MonkeyPatch) -> Iterator[Templates]:
    made = Templates()
    monkeypatch.setattr(forks, "_TEMPLATES", made)
    yield made
    made.end()


async def begun(**more: str) -> Fork:
    """A program that waits for its first line."""
    fork = await forked({**environment(), **more}, LONGEST)
    assert fork is not None
    return fork


async def ended(fork: Fork) -> tuple[int, str]:
    printed = await fork.streams.errors.read()
    return await fork.code, printed.decode()


def current(templates: Templates) -> Template:
    found = templates._now
    assert found is not None
    return found


async def gone(template: Template) -> int:
    return await asyncio.to_thread(template._process.wait, 20)


async def test_a_program_hears_says_and_ends_like_any_other(templates: Templates) -> None:
    program = await LocalProgram.start({"learnt": [], "settings": {}, "job": {}})
    said = [line async for line in program.lines()]
    death = await program.death()
    assert death.code == 1
    assert len(said) == 1
    assert said[0].startswith(b'{"failed": "ValidationError:')
    assert b"Traceback" in death.printed


async def test_the_second_program_costs_no_imports(templates: Templates) -> None:
    first, second = await begun(), await begun()
    assert current(templates)._process.pid == parent_of(first.number) == parent_of(second.number)
    assert os.getsid(first.number) == first.number, "its group can be ended without the others"
    for fork in (first, second):
        fork.streams.told.close()
        await fork.code


def parent_of(number: int) -> int:
    return int(Path(f"/proc/{number}/stat").read_bytes().rpartition(b")")[2].split()[1])


async def test_what_a_neighbour_holds_open_keeps_no_program_waiting(templates: Templates) -> None:
    first, second = await begun(), await begun()
    first.streams.told.close()
    assert (await ended(first))[0] == 1
    second.streams.told.close()
    assert (await ended(second))[0] == 1


async def test_a_signal_is_told_as_such(templates: Templates) -> None:
    fork = await begun()
    os.kill(fork.number, signal.SIGSEGV)
    assert (await ended(fork))[0] == -signal.SIGSEGV
    fork.streams.told.close()


async def test_when_the_template_is_killed_its_programs_end_and_the_next_begins(templates: Templates) -> None:
    fork = await begun()
    current(templates)._process.kill()
    assert (await ended(fork))[0] == KILLED
    fork.streams.told.close()
    again = await begun()
    again.streams.told.close()
    assert (await ended(again))[0] == 1


async def test_one_that_dies_while_it_is_asked_costs_no_program(
    templates: Templates, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(forks, "MODULE", "habilis.no_such_module")
        for _ in range(forks.MOST_FAILURES + 1):
            program = await LocalProgram.start({"learnt": [], "settings": {}, "job": {}})
            assert [line async for line in program.lines()]
            assert (await program.death()).code == 1
    assert templates.get(environment()) is None, "what fails again and again is tried no more"


def test_a_fork_that_the_machine_refuses_is_said_and_keeps_no_file_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more processes, or no memory: the program is started by itself then, as where a template has gone."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        made = Forks(theirs)
        files = [os.dup(theirs.fileno()) for _ in range(FILES)]

        def refused() -> int:
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

        monkeypatch.setattr(os, "fork", refused)
        assert not made._fork(files)
        assert ours.recv(16) == b"0"
        assert not made._told
        for file in files:
            with pytest.raises(OSError, match="Bad file descriptor"):
                os.fstat(file)
        os.close(made._hears)
        os.close(made._wakes)


async def test_a_template_in_which_a_thread_runs_forks_nothing() -> None:
    """A fork would lack the thread, and might wait for ever for a lock that it held."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        command = [sys.executable, "-c", WITH_A_THREAD, str(theirs.fileno())]
        process = await asyncio.create_subprocess_exec(*command, pass_fds=[theirs.fileno()])
        assert await process.wait() == MORE_THAN_ONE_THREAD


WITH_A_THREAD = """
import sys, threading
from habilis.training.runners import template
threading.Thread(target=threading.Event().wait, daemon=True).start()
sys.exit(template.main())
"""


async def test_another_environment_is_that_of_the_next_program(templates: Templates) -> None:
    first = await begun(HABILIS_SEEN="one")
    old = current(templates)
    second = await begun(HABILIS_SEEN="two")
    for fork, value in ((first, b"one"), (second, b"two")):
        assert b"HABILIS_SEEN=" + value in Path(f"/proc/{fork.number}/environ").read_bytes().split(b"\0")
    assert old.alive, "its program still runs"
    first.streams.told.close()
    await first.code
    assert await gone(old) == 0
    second.streams.told.close()
    await second.code


async def test_a_start_that_is_broken_off_leaves_no_program(
    templates: Templates, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await begun()
    first.streams.told.close()
    await first.code
    made: list[int] = []
    known, hold, seen, done = Template.fork, asyncio.Event(), asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow(self: Template, files: Any) -> int:
        loop.call_soon_threadsafe(seen.set)
        asyncio.run_coroutine_threadsafe(hold.wait(), loop).result()
        made.append(known(self, files))  # were they closed meanwhile, these numbers could be anybody's files
        loop.call_soon_threadsafe(done.set)
        return made[-1]

    monkeypatch.setattr(Template, "fork", slow)
    starting = asyncio.ensure_future(LocalProgram.start({}))
    await seen.wait()
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    hold.set()
    await done.wait()
    await over(made[0])


async def test_all_end_with_who_started_them(tmp_path: Path) -> None:
    host = await asyncio.create_subprocess_exec(sys.executable, "-c", HOST, stdout=asyncio.subprocess.PIPE)
    assert host.stdout is not None
    number = int(await host.stdout.readline())
    template = parent_of(number)
    host.kill()
    await host.wait()
    for one in (number, template):
        await over(one)


async def over(number: int) -> None:
    """Returns when a process has ended."""
    try:
        opened = os.pidfd_open(number)
    except ProcessLookupError:
        return
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(opened, ended.set)
    try:
        async with asyncio.timeout(20):
            await ended.wait()
    finally:
        loop.remove_reader(opened)
        os.close(opened)


HOST = """
import asyncio
from habilis.config import environment
from habilis.training.runners.forks import forked

async def main():
    fork = await forked(environment(), 1000)
    print(fork.number, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""
