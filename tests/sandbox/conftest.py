"""Hosts, tools and workspaces for the tests of host and sandbox."""

from __future__ import annotations

import os
import textwrap
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from habilis.config import SandboxSettings
from habilis.contract.runnable import Runnable
from habilis.core.types import CallOutcome
from habilis.runtime.calls import CallSpec
from habilis.runtime.host import ToolHost
from habilis.sandbox.backends.probing import make, missing

HEAD = """
from typing import Any
from pydantic import BaseModel
class InputModel(BaseModel):
    path: str = ""
    number: int = 0
class OutputModel(BaseModel):
    value: Any = None
    error: str | None = None
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """The folder that the tools of a test may write."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def tool(tmp_path: Path) -> Callable[..., Runnable]:
    """Makes a tool of the body of its `run`, or of a whole module."""

    def make_tool(
        body: str = "", *, module: str | None = None, name: str = "probe_tool", requirements: tuple[str, ...] = ()
    ) -> Runnable:
        path = tmp_path / f"{name}.py"
        text = HEAD + "def run(input: InputModel) -> OutputModel:\n" + textwrap.indent(textwrap.dedent(body), "    ")
        path.write_text(text if module is None else textwrap.dedent(module), encoding="utf-8")
        return Runnable(name, path, requirements)

    return make_tool


@pytest.fixture(params=["bubblewrap", "landlock"])
def level(request: pytest.FixtureRequest) -> str:
    """Each back end that this machine offers."""
    problem = missing(request.param)
    if problem:
        pytest.skip(f"{request.param}: {problem}")
    return str(request.param)


class WarmHost(ToolHost):
    """A host that expects calls wherever one is made, as a task's host does in the task's workspace."""

    async def call(self, spec: CallSpec) -> CallOutcome:
        self.start(spec.workspace, spec.files)
        return await super().call(spec)


@pytest.fixture(params=["warm", "cold"])
def way(request: pytest.FixtureRequest) -> str:
    """Both ways to run a call: forked by a server that waits in the sandbox, and an interpreter of its own."""
    return str(request.param)


@pytest.fixture
async def host_with(way: str) -> AsyncIterator[Callable[..., ToolHost]]:
    """Makes a host whose sandbox is the back end of that level, with settings of the test's own."""
    made: list[ToolHost] = []

    def make_host(level: str | None, **settings: object) -> ToolHost:
        kind = WarmHost if way == "warm" else ToolHost
        made.append(kind(SandboxSettings.model_validate(settings), sandbox=make(level) if level else None))
        return made[-1]

    yield make_host
    for host in made:
        await host.aclose()


@pytest.fixture
def host(host_with: Callable[..., ToolHost]) -> ToolHost:
    """A host at the level that this machine gives."""
    return host_with(None)


def value_of(outcome: CallOutcome) -> Any:
    assert outcome.error is None, outcome.error
    return outcome.output["value"]


def children_of(pid: int) -> list[int]:
    with suppress(OSError):
        tasks = Path(f"/proc/{pid}/task").iterdir()
        return [int(word) for task in tasks for word in (task / "children").read_text().split()]
    return []


def servers() -> list[int]:
    """The server processes below us: Pythons with forks of their own that wait for calls."""
    found, pending = set(), [(os.getpid(), b"", b"")]
    while pending:
        pid, parents, grandparents = pending.pop()
        words = command_line(pid)
        pending += [(child, words, parents) for child in children_of(pid)]
        # what a zygote makes has its words; the one below it is the first of its namespace, the next one the program
        made = all(b"zygote.pyc" in line for line in (words, parents, grandparents))
        if parents and (b"server.pyc" in words or made):
            found.add(pid)
    supervised = {pid for pid in found if any(children_of(child) for child in children_of(pid))}
    return [pid for pid in found - supervised if children_of(pid)]


def command_line(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""
