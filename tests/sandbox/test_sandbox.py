"""Which confinement is chosen, when it is refused, and that it holds for root and for ordinary users."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

import habilis
from habilis.config import SandboxSettings
from habilis.contract.runnable import Runnable
from habilis.core.errors import PlaceError, SandboxUnavailable
from habilis.core.ports import SandboxExit, SandboxJob
from habilis.runtime.calls import CallSpec
from habilis.runtime.host import ToolHost
from habilis.sandbox.backends.bubblewrap import Bubblewrap
from habilis.sandbox.backends.landlock import REFER_ABI, landlock_abi
from habilis.sandbox.backends.probing import Unconfined, attacked, choose, make, missing
from habilis.sandbox.ownership.tenancy import Tenancy, is_tenant, uid_for
from habilis.sandbox.syscalls import seccomp

MakeTool = Callable[..., Runnable]
OTHER_USER = 65534


async def test_each_back_end_of_this_machine_withstands_the_probe(level: str) -> None:
    assert await attacked(make(level)) is None


async def test_the_probe_sees_through_a_sandbox_that_holds_nothing() -> None:
    problem = await attacked(Unconfined("off"))
    assert problem is not None
    for breach in ("read a file outside", "reached a listener", "sent a datagram to a unix socket", "wrote outside"):
        assert breach in problem


async def test_the_probe_refuses_a_sandbox_in_which_nothing_works(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    problem = await attacked(Bubblewrap(broken, Tenancy()))
    assert problem is not None
    assert "No permissions to create a new namespace" in problem
    assert "does not start" in str(await attacked(Bubblewrap(tmp_path / "missing", Tenancy())))


async def test_a_sandbox_that_lies_does_not_pass() -> None:
    class Silent:
        level = "silent"

        async def run(self, job: SandboxJob) -> SandboxExit:
            return SandboxExit(reply=b"[]", returncode=0, printed="")

    assert "could not write in its workspace" in str(await attacked(Silent()))


async def test_off_is_off_and_says_so(tool: MakeTool, workspace: Path) -> None:
    host = ToolHost(SandboxSettings(mode="off"))
    assert await host.level() == "off"
    outcome = await host.call(CallSpec(tool("return OutputModel(value=1)"), {}, workspace=workspace))
    assert outcome.output == {"value": 1, "error": None}
    assert outcome.level == "off"


@pytest.mark.skipif(sys.platform != "linux", reason="the choice is Linux's")
async def test_nothing_strong_enough_is_refused_or_said_aloud(monkeypatch: pytest.MonkeyPatch) -> None:
    from habilis.sandbox.backends import probing as sandbox

    monkeypatch.setattr(sandbox, "missing", lambda level: "not here")
    monkeypatch.setattr(sandbox, "_found", {})
    with pytest.raises(SandboxUnavailable, match="bubblewrap: not here; landlock: not here"):
        await choose(SandboxSettings(), print)
    said: list[str] = []
    chosen = await choose(SandboxSettings(mode="best-effort"), said.append)
    assert chosen.level == "unconfined"
    assert "unconfined" in said[0]


async def test_a_named_back_end_is_not_replaced_by_another(level: str) -> None:
    assert (await choose(SandboxSettings.model_validate({"backend": level}), print)).level == level


async def test_where_no_tool_at_all_can_be_started_the_place_is_to_blame(
    tool: MakeTool, workspace: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: something odd' >&2\nexit 1\n")
    broken.chmod(0o755)
    for program, words in ((broken, "something odd"), (tmp_path / "none", "No such file")):
        host = ToolHost(SandboxSettings(), sandbox=Bubblewrap(program, Tenancy()))
        with pytest.raises(PlaceError, match=f"no tool can be run: .*{words}"):
            await host.call(CallSpec(tool("return {}"), {}, workspace=workspace))


def test_a_workspace_has_a_uid_of_its_own(tmp_path: Path) -> None:
    assert uid_for(tmp_path) == uid_for(tmp_path)
    assert uid_for(tmp_path) != uid_for(tmp_path / "other")
    assert is_tenant(uid_for(tmp_path))
    assert not any(is_tenant(uid) for uid in (0, 1000, 33_333, 61_184, 65_534, 524_288))


@pytest.mark.skipif(os.getuid() != 0, reason="only root lends workspaces")
async def test_a_workspace_left_lent_by_a_killed_host_is_given_back(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "file").touch()
    for path in (workspace, workspace / "file"):
        os.chown(path, uid_for(workspace), uid_for(workspace))
    async with Tenancy().lend(workspace, ()) as tenant:
        assert workspace.stat().st_uid == tenant.uid
    assert {p.stat().st_uid for p in (workspace, workspace / "file")} == {0}


@pytest.mark.skipif(os.getuid() != 0, reason="only root lends workspaces")
async def test_a_file_with_a_second_name_outside_is_not_lent(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    workspace.mkdir()
    outside.touch()
    os.link(outside, workspace / "inside")
    async with Tenancy().lend(workspace, ()):
        assert outside.stat().st_uid == 0


async def test_a_pipe_among_the_tasks_files_is_not_written_to(
    level: str, host_with: Callable[..., ToolHost], tool: MakeTool, workspace: Path
) -> None:
    """Whoever reads it would be sent what the tool read, though the folder is read-only."""
    if landlock_abi() < REFER_ABI:
        pytest.skip("needs Landlock")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        os.mkfifo(folder / "pipe")
        (folder / "pipe").chmod(0o666)
        reader = os.open(folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        body = """
        import os
        os.makedirs("deep/down")
        os.rename("deep/down", "moved")
        for place in (".", "/tmp" if os.environ["TMPDIR"] == "/tmp" else os.environ["TMPDIR"]):
            with open(f"{place}/from", "w") as made:
                made.write("x")
            os.mkdir(f"{place}/folder")
            os.rename(f"{place}/from", f"{place}/folder/to")
            os.link(f"{place}/folder/to", f"{place}/again")
        open("/dev/null", "w").write("x")
        return OutputModel(value=os.write(os.open(input.path, os.O_WRONLY | os.O_NONBLOCK), b"stolen"))
        """
        called = host_with(level).call(
            CallSpec(tool(body), {"path": f"{name}/pipe"}, workspace=workspace, files=[folder])
        )
        outcome = await called
        assert outcome.error is not None
        assert outcome.error.kind == "denied", outcome.error.message
        assert f"{name}/pipe" in outcome.error.message
        assert os.read(reader, 10) == b""
        os.close(reader)


@pytest.mark.skipif(not seccomp.supported(), reason="no table of system calls for this processor")
def test_the_filter_fits_into_what_the_kernel_takes() -> None:
    for signals in (True, False):
        for attributes in (True, False):
            for lent in (True, False):
                sockets = (seccomp.AF_INET,) if lent else ()
                code = seccomp.program(signals=signals, attributes=attributes, sockets=sockets, lent=lent)
                assert len(code) % 8 == 0
                assert len(code) // 8 < 4096


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to become another user")
def test_an_ordinary_user_is_held_as_well(level: str, tmp_path: Path) -> None:
    python = reachable_python()
    if python is None:
        pytest.skip("no Python here that another user may run")
    home = Path("/tmp") / f"habilis-user-{os.getpid()}"
    try:
        home.mkdir()
        for name in ("workspace", "cache"):
            (home / name).mkdir()
        (home / "canary").write_text("secret")
        (home / "given").mkdir()
        (home / "given" / "canary").write_text("canary")
        (home / "t.py").write_text(USER_TOOL)
        (home / "script.py").write_text(USER_SCRIPT)
        for path in (home, *home.rglob("*")):
            os.chown(path, OTHER_USER, OTHER_USER)
        said = subprocess.run(
            [*as_other_user(), python, str(home / "script.py"), str(home), level],
            env={
                "PYTHONPATH": ":".join(library_paths()),
                "HOME": str(home),
                "HABILIS_CACHE_DIR": str(home / "cache"),
                "TOKEN_NAME": "sk-canary",
            },
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert said.returncode == 0, said.stderr
        assert json.loads(said.stdout) == {
            "probe": None,
            "read": "denied",
            "made": ["x.txt"],
            "bomb": "BlockingIOError",
            "granted": ["canary [TOKEN_NAME]", ["read " + str(home / "given"), "env TOKEN_NAME"]],
        }
    finally:
        shutil.rmtree(home)


USER_TOOL = """
import os, time
from pydantic import BaseModel
class InputModel(BaseModel):
    path: str = ""
    bomb: bool = False
class OutputModel(BaseModel):
    value: str = ""
def run(input):
    if input.bomb:
        while True:
            if os.fork() == 0:
                time.sleep(30)
                os._exit(0)
    open("x.txt", "w").write("x")
    return OutputModel(value=f"{open(input.path).read()} {os.environ.get('TOKEN_NAME', '')}")
"""
USER_SCRIPT = """
import asyncio, json, sys
from pathlib import Path
from habilis.config import SandboxSettings
from habilis.contract.capabilities import Grant
from habilis.contract.runnable import Runnable
from habilis.runtime.calls import CallSpec
from habilis.runtime.host import ToolHost
from habilis.sandbox.backends.probing import attacked, make
home, level = Path(sys.argv[1]), sys.argv[2]
async def main():
    host = ToolHost(SandboxSettings(processes=8), sandbox=make(level))
    tool, workspace = Runnable("t", home / "t.py"), home / "workspace"
    read = await host.call(CallSpec(tool, {"path": str(home / "canary")}, workspace=workspace))
    bomb = await host.call(CallSpec(tool, {"bomb": True}, workspace=workspace))
    grant = Grant(read=(str(home / "given"),), env=("TOKEN_NAME",))
    given = await host.call(CallSpec(tool, {"path": str(home / "given" / "canary")}, workspace=workspace, grant=grant))
    seen = [given.output["value"], given.granted]
    print(json.dumps({"granted": seen, "probe": await attacked(make(level)), "read": read.error.kind, "made": read.made,
                      "bomb": bomb.error.exception}))
asyncio.run(main())
"""


def as_other_user() -> list[str]:
    return ["setpriv", f"--reuid={OTHER_USER}", f"--regid={OTHER_USER}", "--clear-groups"]


def library_paths() -> list[str]:
    """Where the packages lie that run this test."""
    return [str(Path(habilis.__file__).parents[1]), *(p for p in sys.path if p.endswith("site-packages"))]


def reachable_python() -> str | None:
    """A Python of this version that the other user may run with our packages."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (
        str(Path(sys.executable).resolve()),
        f"/usr/bin/python{version}",
        f"/usr/local/bin/python{version}",
    ):
        command = [*as_other_user(), candidate, "-c"]
        try:
            tried = subprocess.run(
                [*command, "import habilis, pydantic, yaml, os, sys; assert os.access(sys.executable, os.X_OK)"],
                env={"PYTHONPATH": ":".join(library_paths())},
                capture_output=True,
                timeout=30,
            )
        except OSError:
            continue
        if tried.returncode == 0:
            return candidate
    return None


async def test_a_temporary_folder_with_a_long_name_is_no_reason_to_refuse_a_level(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An address of a socket holds 107 bytes, and on some machines the temporary folder's name alone has more."""
    far = tmp_path / ("long" * 30)
    far.mkdir()
    far.chmod(0o755)
    monkeypatch.setattr(tempfile, "tempdir", str(far))
    for level in ("bubblewrap", "landlock"):
        if not missing(level):
            assert await attacked(make(level)) is None
