"""Programs that begin as a fork of a process which has imported Habilis once: a second less for each.

Everything else is a process of its own as a person starts one: its arguments, folder, environment, streams, signals and
exit code. What an import costs, and whether one is missing, is for the tests that start an interpreter.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
import types
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

IMPORTED = (
    "habilis.agents.checkpoints",
    "habilis.agents.team",
    "habilis.cli.absorbing",
    "habilis.cli.chat",
    "habilis.terminal.chatsink",
    "habilis.terminal.console",
    "habilis.cli.run",
    "habilis.cli.runs",
    "habilis.cli.settings",
    "habilis.cli.curating.options",
    "habilis.cli.threads",
    "habilis.curation.absorb",
    "habilis.training.trainer",
    "habilis.models.forms",
    "habilis.tool_calling.narrator",
    "habilis.demo.model",
    "habilis.testing",
    "jinja2",
    "jsonschema",
    "httpx",
    "langgraph.checkpoint.sqlite.aio",
    "numpy",
    "snowballstemmer",
)
"""What runs of a task import anyway, sooner or later."""


class Program(subprocess.Popen[Any]):
    """Like `subprocess.Popen`, for a command that is Python: `-m module`, `-c code` or a file, with arguments."""

    def _execute_child(self, args: Sequence[Any], *given: Any) -> None:
        _, before_exec, _, _, cwd, env, _, _, shell, *streams = given[:15]
        assert before_exec is None, "for this start an interpreter"
        assert not shell
        order = {
            "words": [os.fsencode(word).hex() for word in args[1:]],
            "folder": os.fspath(cwd or Path.cwd()),
            "environment": dict(os.environ if env is None else env),
            "session": bool(given[20]),
        }
        data = json.dumps(order).encode()
        theirs = [own if given == -1 else given for own, given in enumerate((streams[0], streams[3], streams[5]))]
        self._line = socket.socket(socket.AF_UNIX)
        self._line.connect(_nursery())
        socket.send_fds(self._line, [b"%d\n" % len(data)], theirs)
        self._line.sendall(data)
        self._close_pipe_fds(*streams)
        self._child_created = True
        self._said = self._line.makefile("rb")
        self.pid = int(self._said.readline())

    def __exit__(self, *failed: Any) -> None:
        # A test that failed asks the program for nothing more, which may then never end by itself.
        if failed[0] is not None:
            self.kill()
        super().__exit__(*failed)

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._line], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self._ended()
        return self.returncode

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._line], [], [], 0)[0]:
            self._ended()
        return self.returncode

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        return self.poll()

    def _ended(self) -> None:
        self.returncode = os.waitstatus_to_exitcode(int(self._said.readline()))
        self._said.close()
        self._line.close()


def run(
    args: Sequence[Any], *, input: Any = None, timeout: float | None = None, **more: Any
) -> subprocess.CompletedProcess[Any]:
    """Like `subprocess.run` with `capture_output`, by a `Program`."""
    pipe = subprocess.PIPE
    more.setdefault("stdin", subprocess.DEVNULL if input is None else pipe)
    with Program(args, stdout=pipe, stderr=pipe, **more) as program:
        try:
            out, errors = program.communicate(input, timeout=timeout)
        except BaseException:
            program.kill()
            raise
    return subprocess.CompletedProcess(args, program.returncode, out, errors)


@cache
def _nursery() -> str:
    """The address of this process's nursery, which is started when first asked for, and ends with us."""
    folder = tempfile.mkdtemp(prefix="nursery-")
    path = f"{folder}/socket"
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, __file__, path]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"

    def end() -> None:
        process.communicate()
        shutil.rmtree(folder)

    atexit.register(end)
    return path


def _order(path: str) -> dict[str, Any]:
    """What a program is to be; returns in the program's own process alone."""
    for name in IMPORTED:
        import_module(name)
    gc.freeze()  # what lives here lives as long; looking through it would copy it into every program
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    print("ready", flush=True)
    while listener in select.select([listener, 0], [], [])[0]:
        line, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            return _begun(line)
        line.close()
    os._exit(0)


def _begun(line: socket.socket) -> dict[str, Any]:
    """Forks once more: one process becomes the program, and one waits for its end and tells of it."""
    size, descriptors, _, _ = socket.recv_fds(line, 32, 3)
    head, _, data = size.partition(b"\n")
    while len(data) < int(head):
        data += line.recv(1 << 16)
    if program := os.fork():
        with contextlib.suppress(OSError):
            line.sendall(b"%d\n" % program)
            for descriptor in descriptors:
                os.close(descriptor)
            line.sendall(b"%d\n" % os.waitpid(program, 0)[1])
        os._exit(0)
    order: dict[str, Any] = json.loads(data)
    if order["session"]:
        os.setsid()
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    line.close()
    return order


def _become(order: dict[str, Any]) -> None:
    """Goes on as the program of `order`. Who started the tests may have had them ignore signals, as nohup does."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.stdin = sys.__stdin__ = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.__stdout__ = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    words = [os.fsdecode(bytes.fromhex(word)) for word in order["words"]]
    if words[0] == "-m":
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    elif words[0] == "-c":
        sys.argv = ["-c", *words[2:]]
        sys.modules["__main__"] = module = types.ModuleType("__main__")
        exec(compile(words[1], "<string>", "exec"), module.__dict__)
    else:
        sys.argv = words
        runpy.run_path(words[0], run_name="__main__")


def _end(code: object) -> None:
    """Ends as an interpreter does, but that it clears away nothing of what the nursery imported: that costs as much as
    the import."""
    if isinstance(code, str):
        print(code, file=sys.stderr)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    order = _order(sys.argv[1])
    try:
        _become(order)
    except SystemExit as done:
        _end(done.code)
    except BaseException:
        traceback.print_exc()
        _end(1)
    _end(None)
