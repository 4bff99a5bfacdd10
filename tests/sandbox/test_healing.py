"""What can be made again is made again: a damaged cache is no fault of a tool, and no reason to install anything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from habilis.config import SandboxSettings
from habilis.contract.runnable import Runnable
from habilis.core.errors import PlaceError
from habilis.core.ports import SandboxLimits
from habilis.runtime.calls import CallSpec
from habilis.runtime.host import ToolHost
from habilis.runtime.packages import cache
from habilis.runtime.packages.environments import Environments
from habilis.sandbox.backends import probing
from habilis.sandbox.inside import program
from habilis.sandbox.processes.interpreter import compiled
from habilis.sandbox.zygote.spawning import nursery

pytestmark = pytest.mark.sandbox
MakeTool = Callable[..., Runnable]


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _flipped(path: Path) -> None:
    """One bit of it is another."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


DAMAGES = [_cut, *(pytest.param(damage, marks=pytest.mark.slow) for damage in (_emptied, _flipped, Path.unlink))]


@pytest.fixture(scope="module")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Environments:
    return Environments(tmp_path_factory.mktemp("environments"))


async def _works(environments: Environments, tool: Runnable, workspace: Path, *, warm: bool = False) -> bool:
    host = ToolHost(SandboxSettings(warm=warm), environments=environments)
    try:
        if warm:
            host.start(workspace, ())
        outcome = await host.call(CallSpec(tool, {}, workspace=workspace))
    finally:
        await host.aclose()
    return outcome.error is None and outcome.output["value"] == 7


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(
    "file",
    [
        "pydantic/__pycache__/main.*.pyc",
        *(pytest.param(file, marks=pytest.mark.slow) for file in ("pydantic/main.py", "pydantic_core/*.so")),
    ],
)
async def test_a_damaged_base_environment_is_made_anew_before_it_is_used(
    environments: Environments, file: str, damage: Callable[[Path], None]
) -> None:
    (base,) = (await environments.ready(())).paths
    (path,) = base.glob(file)
    damage(path)
    cache._whole.clear()  # as a process that begins
    other = Environments(base.parent)
    await other.ready(())
    assert other._cache.built == 1
    assert cache.is_whole(base, again=True)


@pytest.mark.parametrize("warm", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["warm", "cold"])
async def test_an_environment_that_breaks_while_it_is_used_is_made_anew_and_the_call_again(
    environments: Environments, tool: MakeTool, workspace: Path, warm: bool
) -> None:
    (base,) = (await environments.ready(())).paths
    (path,) = base.glob("pydantic/main.py")
    path.unlink()
    next(base.glob("pydantic/__pycache__/main.*.pyc")).unlink()
    nursery().close()  # it may have loaded what is gone now
    built = environments._cache.built
    assert await _works(environments, tool("return OutputModel(value=7)"), workspace, warm=warm)
    assert environments._cache.built == built + 1
    assert path.is_file()


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_program_of_ours_is_made_anew(
    environments: Environments,
    tool: MakeTool,
    workspace: Path,
    tmp_path: Path,
    damage: Callable[[Path], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HABILIS_CACHE_DIR", str(tmp_path))
    compiled.cache_clear()
    damage(compiled(program("guest")))
    compiled.cache_clear()
    assert await _works(environments, tool("return OutputModel(value=7)"), workspace)
    compiled.cache_clear()


async def test_an_interpreter_that_does_not_work_is_named_and_nothing_else_to_be_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "python3"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(probing, "_found", {})
    for place in (broken, tmp_path / "gone"):
        monkeypatch.setattr(probing, "python", lambda place=place: place)
        with pytest.raises(PlaceError, match=f"the interpreter {place}, which runs tools, does not work: mend"):
            await probing.choose(SandboxSettings(), print)


async def test_a_tool_that_fails_is_the_tools_fault_in_a_place_that_works(
    environments: Environments, tool: MakeTool, workspace: Path
) -> None:
    """It opens too many files, fills its own disk, ends its interpreter: a value for whoever called it."""
    host = ToolHost(SandboxSettings(warm=False), limits=SandboxLimits(open_files=32), environments=environments)
    bodies = (
        "kept = [open('/dev/null') for _ in range(100)]",
        "raise OSError(28, 'No space left on device')",
        "import os\nos._exit(1)",
        "raise MemoryError",
    )
    for body in bodies:
        outcome = await host.call(CallSpec(tool(f"{body}\nreturn OutputModel()"), {}, workspace=workspace))
        assert outcome.error is not None
        assert outcome.error.kind == "crashed", body
    await host.aclose()
