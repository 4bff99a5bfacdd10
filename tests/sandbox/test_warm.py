"""What the warm way adds: a server that many calls go through, and that none of them may reach."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from habilis.config import SandboxSettings
from habilis.contract.runnable import Description, Runnable
from habilis.runtime.calls import CallSpec
from habilis.runtime.host import ToolHost
from habilis.sandbox.backends.probing import make

from .conftest import servers, value_of

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux"),
]
MakeTool = Callable[..., Runnable]
ADD = "return OutputModel(value=input.number + 1)"


@pytest.fixture
async def warm(level: str, workspace: Path) -> AsyncIterator[ToolHost]:
    """A host that expects calls in the workspace."""
    host = ToolHost(SandboxSettings(), sandbox=make(level))
    host.start(workspace, ())
    yield host
    await host.aclose()


async def test_calls_are_forks_of_one_server(warm: ToolHost, tool: MakeTool, workspace: Path) -> None:
    body = "import os\nreturn OutputModel(value=[os.getpid(), os.getppid()])"
    pids = [value_of(await warm.call(CallSpec(tool(body), {}, workspace=workspace))) for _ in range(4)]
    assert len({own for own, _ in pids}) == 4
    assert len({server for _, server in pids}) == 1


async def test_temporary_folders_full_of_files_are_not_the_next_calls(
    warm: ToolHost, tool: MakeTool, workspace: Path
) -> None:
    """More than a server clears: it is let go of, and the next call has another."""
    fill = """
    import os, tempfile
    for n in range(2500):
        open(f"{tempfile.gettempdir()}/{n}", "w").close()
    return OutputModel(value=os.getppid())
    """
    look = "import os, tempfile\nreturn OutputModel(value=len(os.listdir(tempfile.gettempdir())))"
    value_of(await warm.call(CallSpec(tool(fill), {}, workspace=workspace)))
    left = value_of(await warm.call(CallSpec(tool(look), {}, workspace=workspace)))
    assert isinstance(left, int)
    assert left < 100


async def test_what_the_host_puts_into_the_workspace_belongs_to_the_next_call(
    warm: ToolHost, tool: MakeTool, workspace: Path
) -> None:
    """Large results are put there for tools to work on, also while the workspace is lent."""
    await warm.call(CallSpec(tool(ADD), {}, workspace=workspace))
    (workspace / "sub").mkdir(mode=0o700)
    for name in ("late.txt", "sub/later.txt"):
        (workspace / name).write_text("a")
        (workspace / name).chmod(0o600)
    body = """
    for name in ("late.txt", "sub/later.txt"):
        open(name, "a").write("b")
    return OutputModel(value=open("late.txt").read())
    """
    outcome = await warm.call(CallSpec(tool(body), {}, workspace=workspace))
    assert value_of(outcome) == "ab"
    assert outcome.made == ("late.txt", "sub/later.txt")


async def test_later_files_are_seen(warm: ToolHost, tool: MakeTool, workspace: Path, tmp_path: Path) -> None:
    await warm.call(CallSpec(tool(ADD), {}, workspace=workspace))
    given = tmp_path / "given.txt"
    given.write_text("late")
    read = tool("return OutputModel(value=open(input.path).read())", name="read")
    outcome = await warm.call(CallSpec(read, {"path": str(given)}, workspace=workspace, files=[given]))
    assert value_of(outcome) == "late"


async def test_trials_in_folders_of_their_own_are_warm_and_see_nothing_of_each_other(
    level: str, tool: MakeTool, tmp_path: Path
) -> None:
    host = ToolHost(SandboxSettings(), sandbox=make(level))
    host.start_trials(tmp_path)
    body = """
    import os
    seen = sorted(os.listdir("."))
    open(f"made{input.number}.txt", "w").write(os.getcwd())
    os.makedirs("folder/deep")
    return OutputModel(value=[seen, os.getppid()])
    """
    parents = set()
    try:
        for number in range(3):
            folder = tmp_path / f"trial{number}"
            folder.mkdir()
            (folder / f"given{number}.txt").write_text("x")
            described, outcome = await host.try_out(CallSpec(tool(body), {"number": number}, workspace=folder))
            assert isinstance(described, Description)
            assert outcome is not None
            seen, parent = value_of(outcome)
            assert seen == [f"given{number}.txt"]
            assert outcome.made == (f"made{number}.txt",)
            assert sorted(path.name for path in folder.iterdir()) == [
                "folder",
                f"given{number}.txt",
                f"made{number}.txt",
            ]
            assert all(path.stat().st_uid == os.getuid() for path in folder.rglob("*"))
            parents.add(parent)
        assert len(parents) == 1
    finally:
        await host.aclose()
    assert [path.name for path in tmp_path.iterdir() if "trials" in path.name] == []


async def test_trials_go_on_when_the_library_around_their_folder_is_gone(
    level: str, tool: MakeTool, tmp_path: Path
) -> None:
    """The curator's host outlives the staging folder of each step."""
    host = ToolHost(SandboxSettings(), sandbox=make(level))
    module = tool(ADD)
    try:
        for step in range(2):
            library, workspace = tmp_path / f"library{step}", tmp_path / f"workspace{step}"
            library.mkdir()
            workspace.mkdir()
            for again in ("there", "gone"):
                if again == "there":
                    host.start_trials(library)
                else:
                    shutil.rmtree(library)
                described, outcome = await host.try_out(CallSpec(module, {"number": step}, workspace=workspace))
                assert isinstance(described, Description)
                assert outcome is not None
                assert value_of(outcome) == step + 1
    finally:
        await host.aclose()


async def test_cold_is_the_way_where_no_server_starts(level: str, tool: MakeTool, workspace: Path) -> None:
    class NoServer:
        """A back end of a kernel that cannot keep calls apart."""

        def __init__(self) -> None:
            self.level, self._real = level, make(level)
            self.asked = 0

        async def run(self, job: object) -> object:
            return await self._real.run(job)  # type: ignore[arg-type]

        async def serve(self, job: object) -> object:
            self.asked += 1
            raise OSError("not here")

    sandbox = NoServer()
    host = ToolHost(SandboxSettings(), sandbox=sandbox)  # type: ignore[arg-type]
    host.start(workspace, ())
    for number in range(2):
        assert value_of(await host.call(CallSpec(tool(ADD), {"number": number}, workspace=workspace))) == number + 1
    await host.aclose()
    assert sandbox.asked == 1


async def test_a_server_that_did_not_start_is_tried_again_after_a_pause(
    level: str, tool: MakeTool, workspace: Path
) -> None:
    """Else one bad moment of the machine would make all calls of a long run slow."""
    from habilis.sandbox.forkserver.pool import Servers

    class Unlucky:
        def __init__(self, failures: int) -> None:
            self.level, self._real, self.failures = level, make(level), failures

        async def run(self, job: Any) -> Any:
            return await self._real.run(job)

        async def serve(self, job: Any) -> Any:
            self.failures -= 1
            if self.failures >= 0:
                raise OSError("not now")
            return await self._real.serve(job)  # type: ignore[attr-defined]

    class Patient(ToolHost):
        async def _warm(self) -> Servers:
            if self._servers is None:
                self._servers = Servers(await self._chosen(), again_s=0.001)
            return self._servers

    host = Patient(SandboxSettings(), sandbox=Unlucky(3))
    host.start(workspace, ())
    try:
        async with asyncio.timeout(60):
            while not servers():
                assert value_of(await host.call(CallSpec(tool(ADD), {"number": 1}, workspace=workspace))) == 2
    finally:
        await host.aclose()


@pytest.mark.parametrize("limit", [{"idle_s": 0.01}, {"idle_s": 300.0, "heavy_bytes": 1}], ids=["idle", "heavy"])
async def test_an_idle_server_leaves_and_another_comes(
    level: str, tool: MakeTool, workspace: Path, limit: dict[str, Any]
) -> None:
    from habilis.sandbox.forkserver.pool import Servers

    class Hasty(ToolHost):
        async def _warm(self) -> Servers:
            if self._servers is None:
                self._servers = Servers(await self._chosen(), look_s=0.01, **limit)
            return self._servers

    host = Hasty(SandboxSettings(), sandbox=make(level))
    host.start(workspace, ())
    try:
        first = value_of(await host.call(CallSpec(tool(ADD), {"number": 1}, workspace=workspace)))
        while servers():
            await asyncio.sleep(0.01)
        assert first == value_of(await host.call(CallSpec(tool(ADD), {"number": 1}, workspace=workspace))) == 2
    finally:
        await host.aclose()
    assert servers() == []
