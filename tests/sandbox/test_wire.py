"""Rubbish on the wire between host and server: whatever either hears, it goes on, and mixes nothing up."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from habilis.config import SandboxSettings
from habilis.contract.runnable import Runnable
from habilis.core.ports import SandboxExit, SandboxJob, SandboxLimits
from habilis.runtime.calls import CallSpec
from habilis.runtime.host import ToolHost
from habilis.sandbox.backends.probing import make
from habilis.sandbox.forkserver.warm import ServerGone, WarmServer
from habilis.sandbox.outcomes import NotStarted, outcomes_of
from habilis.sandbox.processes.frames import frames_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux")
VERBS = b"call seed like as hold kill pid ended refused spent soiled ready".split()
WORDS = st.sampled_from([*VERBS, b"", b"-1", b"\xff"])
NUMBERS = st.one_of(st.integers(-(2**70), 2**70), st.sampled_from([0, 1, 2, 3])).map(lambda n: str(n).encode())
MESSAGES = st.one_of(
    st.binary(min_size=1, max_size=300),
    st.lists(st.one_of(WORDS, NUMBERS), min_size=1, max_size=5).map(b" ".join).filter(bool),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


class Wire:
    """A server that was never started: its end of the socket is the test's."""

    def __init__(self, workspace: Path) -> None:
        ours, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        self.server = WarmServer(SandboxJob(argv=[], request=b"", workspace=workspace), StillTree(), ours, None)  # type: ignore[arg-type]
        self.server.usable = True


class StillTree:
    """A process tree that neither ends nor has to be ended."""

    inside = None

    def when_exited(self, told: Callable[[], None]) -> None: ...

    async def end(self) -> None: ...


@settings(max_examples=60, deadline=None)
@given(messages=st.lists(MESSAGES, max_size=8), reply=st.binary(max_size=200))
def test_whatever_a_server_says_a_call_ends_with_what_came_on_its_own_pipe(messages: list[bytes], reply: bytes) -> None:
    async def play() -> SandboxExit | None:
        wire = Wire(Path("/nowhere"))
        wire.theirs.send(b"ready")
        calling = asyncio.create_task(wire.server.call(b"{}", SandboxLimits(wall_s=5)))
        await asyncio.sleep(0)
        message, given, _, _ = await asyncio.to_thread(socket.recv_fds, wire.theirs, 256, 8)
        assert message == b"call 1 67"
        os.write(given[1], reply)
        for one in given:
            os.close(one)
        for text in messages:
            wire.theirs.send(text)
        wire.theirs.send(b"ended 1 0")
        wire.theirs.close()
        try:
            return await calling
        except ServerGone:  # a message said that the call was refused
            return None
        finally:
            await wire.server.aclose()

    ended = asyncio.run(play())
    if ended is not None:
        assert ended.reply == (reply or None)


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(
        st.binary(max_size=400),
        st.lists(
            st.fixed_dictionaries(
                {"step": st.sampled_from(["call", "ready", "describe"]) | JSON},
                optional={"result": JSON, "error": JSON, "opened": JSON, "written": JSON},
            ),
            max_size=4,
        ).map(lambda frames: b"".join(json.dumps(frame).encode() + b"\n" for frame in frames)),
    ),
    st.integers(-1, 255),
    st.sampled_from(["", "time", "output", "printed", "memory", "disk", "lost"]),
)
def test_every_reply_is_an_outcome_that_can_be_written_down(reply: bytes, code: int, stopped: str) -> None:
    job = SandboxJob(argv=[], request=b"", workspace=Path("/w"))
    ended = SandboxExit(reply=reply or None, returncode=code, printed="", stopped=stopped)
    if not stopped and not frames_of(reply)[0]:  # nothing ran: that is for the host to sort
        with pytest.raises(NotStarted):
            outcomes_of(ended, job, ("call",), (), shared=False, level="off")
        return
    found = outcomes_of(ended, job, ("call",), (), shared=False, level="off")
    assert found["call"].model_dump_json()


async def test_no_message_ends_the_server(level: str, tool: Callable[..., Runnable], workspace: Path) -> None:
    """Rubbish, with descriptors and without: calls before, between and after it have their own results."""
    rubbish: list[tuple[bytes, int]] = []

    @settings(max_examples=150, deadline=None, database=None)
    @given(MESSAGES, st.integers(0, 4))
    def collect(message: bytes, descriptors: int) -> None:
        rubbish.append((message, descriptors))

    collect()
    host = ToolHost(SandboxSettings(), sandbox=make(level))
    host.start(workspace, ())
    runnable = tool("import os\nreturn OutputModel(value=[input.number, os.getppid()])")
    parents = set()
    try:
        await host.call(CallSpec(runnable, {"number": 0}, workspace=workspace))
        assert host._servers is not None
        [place] = host._servers._places.values()
        server = place.server
        assert server is not None
        for number, (message, descriptors) in enumerate(rubbish):
            if message.startswith((b"call", b"seed", b"like", b"as")) and descriptors == 3:
                continue  # that is no rubbish, but a call
            spare = [os.open(os.devnull, os.O_RDWR) for _ in range(descriptors)]
            try:
                await asyncio.sleep(0)
                socket.send_fds(server._control, [message], spare)
            except BlockingIOError:
                await asyncio.sleep(0.01)
            finally:
                for one in spare:
                    os.close(one)
            if number % 30 == 0:
                outcome = await host.call(CallSpec(runnable, {"number": number}, workspace=workspace))
                assert outcome.error is None, outcome.error
                assert outcome.output["value"][0] == number
                parents.add(outcome.output["value"][1])
        assert len(parents) == 1
    finally:
        await host.aclose()
