"""Servers that send too much, or never end. What a user would lose: the memory of the machine, or the whole night."""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from habilis.config import LimitsSettings, ModelsSettings, RoleSettings
from habilis.core.errors import HabilisError
from habilis.models.chat import Models
from habilis.models.reaching import list_models
from habilis.models.tape import Tape
from habilis.models.usage import Budget
from habilis.testing import FakeClock, RecordingSink

from .wires import BareServer, Play, answering, pouring

ASK = [HumanMessage("What is 2+2?")]
MIB = 1 << 20
JSON = "HTTP/1.1 200 OK\ncontent-type: application/json\n"
STREAM = "HTTP/1.1 200 OK\ncontent-type: text/event-stream\n\n"
CHUNK = b'data: {"choices": [{"delta": {"content": ""}}]}\n\n'


@cache
def packed(size: int) -> bytes:
    """Zeros, a thousand times smaller (RFC 1952), made of one packed piece again and again."""
    pack, piece, told = zlib.compressobj(9, zlib.DEFLATED, -15), b"0" * MIB, 0
    once = pack.compress(piece) + pack.flush(zlib.Z_FULL_FLUSH)
    for _ in range(size // MIB):
        told = zlib.crc32(piece, told)
    head, end = b"\x1f\x8b\x08" + bytes(6) + b"\xff", b"\x03\x00"
    return head + once * (size // MIB) + end + struct.pack("<II", told, size)


def large(server: BareServer, link: socket.socket, line: str) -> None:
    link.sendall(f"{JSON}content-length: {100 * MIB}\n\n".replace("\n", "\r\n").encode() + b'{"choices": "')
    while not server.closing.is_set():
        link.sendall(b"a" * MIB)


TOO_LARGE, TOO_SLOW = "8 MB", "within 1 s"
# Each is made when a test asks for it: together they are a hundred megabytes in the memory of every test process.
FLOODS: dict[str, Callable[[], tuple[Play, str]]] = {
    "100 MB": lambda: (large, TOO_LARGE),
    "endless": lambda: (pouring(f"{JSON}\n", b"1" * 65_536), TOO_LARGE),
    "a bomb": lambda: (answering(200, packed(200 * MIB), content_encoding="gzip"), TOO_LARGE),
    "a bomb as an error": lambda: (answering(400, packed(200 * MIB), content_encoding="gzip"), TOO_LARGE),
    "endless headers": lambda: (pouring("HTTP/1.1 200 OK\n", b"x-more: of the same\r\n" * 100), "server"),
    "one endless header": lambda: (pouring("HTTP/1.1 200 OK\nx: ", b"y" * 65_536), "server"),
    "a byte now and then": lambda: (pouring(f"{JSON}\n", b" ", 0.1), TOO_SLOW),
    "a header now and then": lambda: (pouring("HTTP/1.1 200 OK\n", b"x: y\r\n", 0.1), TOO_SLOW),
    "told to go on for ever": lambda: (pouring("", b"HTTP/1.1 100 Continue\r\n\r\n", 0.01), TOO_SLOW),
}
WHOLE: dict[str, Callable[[], tuple[Play, str]]] = {
    "little things": lambda: (answering(200, f"[{','.join(['{}'] * 2_600_000)}]"), "500,000 parts"),
    "little texts": lambda: (answering(200, json.dumps(["ab"] * 1_300_000)), "500,000 parts"),
    "little numbers": lambda: (answering(200, json.dumps([0.1] * 1_500_000)), "500,000 parts"),
    "things in things": lambda: (answering(200, "[" * 400_000), "too deeply"),
    "a long text": lambda: (
        answering(200, json.dumps({"choices": [{"message": {"content": "word " * 1_500_000}}]})),
        "it answered|no message",
    ),
    "a long error": lambda: (answering(400, json.dumps({"error": {"message": "a " * 3_900_000}})), "HTTP 400"),
}
"""Replies that are not too long, and take many times their length in memory, or all of a stack."""
STREAMS: dict[str, Callable[[], tuple[Play, str]]] = {
    "one endless event": lambda: (pouring(STREAM, b"data: " + b"x" * 65_536), "one event of more than 1 MB"),
    "an event of endless lines": lambda: (
        pouring(STREAM, b"data:\n" * 1000),
        f"one event of more than 1 MB|{TOO_SLOW}",
    ),
    "endless events": lambda: (pouring(STREAM, CHUNK * 1000), f"{TOO_SLOW}|64 MB"),
    "endless comments": lambda: (pouring(STREAM, b": still here\n\n" * 1000), f"{TOO_SLOW}|64 MB"),
    "a comment now and then": lambda: (pouring(STREAM, b": still here\n\n", 0.1), TOO_SLOW),
    "a packed stream": lambda: (
        answering(200, packed(200 * MIB), "text/event-stream", content_encoding="gzip"),
        "one event of more than 1 MB",
    ),
}


async def told(server: BareServer, folder: Path, **role: Any) -> tuple[str, RecordingSink]:
    """What a person is told who asks a model there."""
    settings = RoleSettings(
        **{"base_url": server.base_url, "model": "m", "timeout_s": 5.0, "max_retries": 3, "structured_mode": "auto"}
        | role
    )
    sink = RecordingSink()
    models = Models(
        ModelsSettings(basic=settings),
        limits=LimitsSettings(reply_seconds=1.0),
        tape=Tape(folder / f"tape-{server.port}.jsonl"),
        emit=sink.emit,
        budget=Budget(),
        sleep=FakeClock().sleep,
    )
    try:
        await models.chat("basic", ASK, purpose="step", say=lambda: lambda text: None)
    except HabilisError as error:
        return str(error), sink
    finally:
        await models.aclose()
    return "it answered", sink


def fits(line: str, expected: str) -> bool:
    return any(part in line for part in expected.split("|"))


@pytest.mark.parametrize("name", ["100 MB", "a bomb", "endless headers", "a byte now and then", "things in things"])
async def test_a_reply_without_measure_is_ended(name: str, tmp_path: Path) -> None:
    play, expected = (FLOODS | WHOLE)[name]()
    with BareServer(play) as server:
        line, _ = await told(server, tmp_path)
        assert fits(line, expected), line
        assert server.posts == (4 if expected in ("server", "too deeply") else 1)


@pytest.mark.parametrize("name", ["an event of endless lines", "a comment now and then", "a packed stream"])
async def test_a_stream_without_measure_is_ended(name: str, tmp_path: Path) -> None:
    play, expected = STREAMS[name]()
    with BareServer(play) as server:
        line, _ = await told(server, tmp_path, stream=True)
        assert fits(line, expected), line
        assert server.posts == 1


@pytest.mark.parametrize("name", ["endless", "a bomb", "a byte now and then"])
async def test_a_list_of_models_without_measure_is_ended(name: str) -> None:
    with BareServer(FLOODS[name]()[0]) as server:
        with pytest.raises(HabilisError, match=r"8 MB|no answer in time"):
            await list_models(RoleSettings(base_url=server.base_url, timeout_s=0.5))
        assert server.asked


async def test_a_packed_reply_is_read(tmp_path: Path) -> None:
    reply = json.dumps({"choices": [{"message": {"content": "4"}, "finish_reason": "stop"}]}).encode()
    pack = zlib.compressobj(9, zlib.DEFLATED, 31)
    body = pack.compress(reply) + pack.flush()
    with BareServer(answering(200, body, content_encoding="gzip")) as server:
        assert (await told(server, tmp_path))[0] == "it answered"


CHILD = """
import asyncio, json, pathlib, sys
from tests.models.test_floods import told
class There:
    def __init__(self, port): self.port, self.base_url = port, f"http://127.0.0.1:{port}/v1"
async def main():
    lines = {}
    for name, port, role in json.loads(sys.argv[1]):
        lines[name] = (await told(There(port), pathlib.Path(sys.argv[2]), **role))[0]
    status = pathlib.Path("/proc/self/status").read_text()  # its peak, which a parent's size is no part of
    print(json.dumps([lines, int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")))]))
asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_floods_of_every_kind_end_and_leave_the_memory_alone(provider: str, tmp_path: Path) -> None:
    if provider == "anthropic":
        pytest.importorskip("langchain_anthropic")
    cases = {name: (*made(), False) for name, made in WHOLE.items()}
    cases |= {name: (*made(), True) for name, made in STREAMS.items()}
    for name, made in FLOODS.items():
        for ending, streamed in (("", False), (", streamed", True)):
            play, end = made()  # on a busy machine, too slow before it is too large
            cases[name + ending] = (play, f"{end}|{TOO_SLOW}", streamed)
    servers = {name: BareServer(case[0]).__enter__() for name, case in cases.items()}
    try:
        asks = [[name, servers[name].port, {"stream": cases[name][2], "provider": provider}] for name in cases]
        done = subprocess.run(
            [sys.executable, "-c", CHILD, json.dumps(asks), str(tmp_path)],
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
            cwd=Path(__file__).parents[2],
            env={"PATH": "/usr/bin:/bin", "ANTHROPIC_API_KEY": "none"},
        )
    finally:
        for server in servers.values():
            server.__exit__()
    lines, kilobytes = json.loads(done.stdout)
    wrong = {name: line for name, line in lines.items() if not fits(line, cases[name][1])}
    assert not wrong
    late = [name for name in cases if not servers[name].asked]
    assert len(late) <= 1, f"the flood came; on a busy machine one may be ended before it does: {late}"
    print(f"{provider}: {kilobytes >> 10} MB at most")
    assert kilobytes < 300 * 1024
