"""Our end of the template process (`template`), from which the programs of tasks are forked."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Awaitable, Mapping, Sequence
from typing import NamedTuple

from habilis.sandbox.processes.attached import attached
from habilis.training.runners.template import FILES

MODULE = "habilis.training.runners.template"
START_S = 60.0
"""Seconds within which a template process has loaded everything, on a busy machine."""
MOST_FAILURES = 2
"""Template processes that may end or stay silent, one after the other, before no other is started."""
KILLED = -int(signal.SIGKILL)


class Streams(NamedTuple):
    """The ends of a program's files that are ours: of its standard input, output and error."""

    told: asyncio.WriteTransport
    says: asyncio.StreamReader
    errors: asyncio.StreamReader


class Fork(NamedTuple):
    """A program that was forked: its process, and its exit code, once it has ended."""

    number: int
    streams: Streams
    code: Awaitable[int]


class TemplateGone(OSError):
    """Nothing was forked: the template process has ended, or can fork no more."""


class Template:
    """A template process with this environment. The thread that makes it must live as long."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment, self.owner = dict(environment), os.getpid()
        self._turn = threading.Lock()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.settimeout(START_S)
        with theirs:
            try:
                self._process = subprocess.Popen(
                    attached([sys.executable, "-m", MODULE, str(theirs.fileno())]),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env=self.environment,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
            except BaseException:
                self._control.close()
                raise

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def fork(self, files: Sequence[int]) -> int:
        """The number of a new program with these files; waits until everything is loaded. Raises `TemplateGone`."""
        try:
            with self._turn:
                socket.send_fds(self._control, [b"fork"], files)
                said = self._control.recv(16)
        except OSError as error:
            raise TemplateGone(*error.args) from None
        if not (number := int(said or b"0")):
            raise TemplateGone
        return number

    def retire(self) -> None:
        """Have it end with the last of its programs; who waits for a fork still gets it."""
        with contextlib.suppress(OSError):  # it has gone
            self._control.shutdown(socket.SHUT_WR)

    def end(self) -> None:
        """End it, and all its programs."""
        self._control.close()
        self._process.kill()
        self._process.wait()


class Templates:
    """The template process of this process: one, with the environment that programs are to have now."""

    def __init__(self) -> None:
        self._now: Template | None = None
        self._older: list[Template] = []
        self._theirs: list[Template] = []
        """Those of the process that we were forked from: let be."""
        self._failures = 0

    def get(self, environment: Mapping[str, str]) -> Template | None:
        """The template process, started now if need be; None where programs are started by themselves."""
        if self._now is not None and self._now.owner != os.getpid():
            self._theirs += [*self._older, self._now]
            self._now, self._older = None, []
        if self._now is not None and not (self._now.alive and self._now.environment == environment):
            self._retire(self._now)
        if self._now is None and sys.platform == "linux" and self._failures < MOST_FAILURES:
            self._now = Template(environment)
        return self._now

    def told(self, template: Template, *, worked: bool) -> None:
        """Whether a program could be forked from it. If not, it is asked no more."""
        if worked:
            self._failures = 0
        elif template is self._now:
            self._failures += 1
            self._retire(template)

    def end(self) -> None:
        """End all that there are, with their programs."""
        for template in [*self._older, *([self._now] if self._now else [])]:
            if template.owner == os.getpid():
                template.end()
        self._now, self._older = None, []

    def _retire(self, template: Template) -> None:
        template.retire()
        for one in self._older:
            if not one.alive:
                one.end()
        self._older = [*(one for one in self._older if one.alive), template]
        self._now = None


_TEMPLATES = Templates()
atexit.register(_TEMPLATES.end)


def prepared(environment: Mapping[str, str]) -> None:
    """Have a template process with this environment load what programs need, if there is none that does."""
    with contextlib.suppress(OSError):  # who needs a program is told
        _TEMPLATES.get(environment)


async def forked(environment: Mapping[str, str], longest: int) -> Fork | None:
    """A task's program with this environment, whose lines have at most `longest` bytes, forked from the template
    process; None where there is none, and a program has to be started by itself."""
    template = _TEMPLATES.get(environment)
    if template is None:
        return None
    ours, theirs = zip(*(os.pipe() if number else os.pipe()[::-1] for number in range(FILES)), strict=True)
    try:
        # Not broken off: the files must stay open until they are handed over, or these numbers may mean others.
        number = await asyncio.shield(asyncio.to_thread(_handed_over, template, theirs))
    except TemplateGone:
        _TEMPLATES.told(template, worked=False)
        _close(ours)
        return None
    except BaseException:  # a program that was forked all the same ends, since nobody speaks to it
        _close(ours)
        raise
    _TEMPLATES.told(template, worked=True)
    told, _ = await asyncio.get_running_loop().connect_write_pipe(asyncio.BaseProtocol, os.fdopen(ours[0], "wb", 0))
    says, errors, ended = [await _reader(file, longest) for file in ours[1:]]
    return Fork(number, Streams(told, says, errors), _code_in(ended))


def _handed_over(template: Template, files: Sequence[int]) -> int:
    try:
        return template.fork(files)
    finally:
        _close(files)


async def _reader(file: int, longest: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=longest)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(file, "rb", 0))
    return reader


async def _code_in(ended: asyncio.StreamReader) -> int:
    """The exit code that the template process writes; where it went first, its programs were killed with it."""
    return int(await ended.read() or KILLED)


def _close(files: Sequence[int]) -> None:
    for file in files:
        os.close(file)
