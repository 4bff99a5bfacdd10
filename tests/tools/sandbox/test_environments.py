"""Environments of packages: refused, resolved, shared, and never built twice. The wheels are made here."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from habilis.config import SandboxSettings
from habilis.tools.environments import MARK, EnvironmentFailed, Environments, checked
from habilis.tools.host import Runnable, ToolHost

pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of wheels: alpha 1.0 and 2.0, and beta, which needs alpha<2."""
    folder = tmp_path_factory.mktemp("wheels")
    for name, version, needs in (("alpha", "1.0", ""), ("alpha", "2.0", ""), ("beta", "1.0", "alpha<2")):
        about = f"{name}-{version}.dist-info"
        lines = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}/__init__.py", f"VERSION = {version!r}\n")
            wheel.writestr(f"{about}/METADATA", lines + (f"Requires-Dist: {needs}\n" if needs else ""))
            wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{about}/RECORD", "")
    (folder / "gamma-1.0.tar.gz").write_bytes(b"never built")
    return folder


@pytest.fixture
def environments(tmp_path: Path, wheels: Path) -> Environments:
    return Environments(tmp_path / "environments", find_links=wheels)


@pytest.mark.parametrize(
    "text",
    [
        "--index-url=http://example.org",
        "-r other.txt",
        "-e .",
        "./local",
        "../up",
        "/abs/path.whl",
        "alpha @ file:///tmp/alpha.whl",
        "alpha @ https://example.org/alpha.whl",
        "git+https://example.org/alpha",
        "alpha\n--pre",
        "",
    ],
)
def test_a_requirement_that_is_none_is_refused_with_the_form_to_use(text: str) -> None:
    with pytest.raises(EnvironmentFailed, match="write a name with an optional version range"):
        checked([text])


def test_equal_sets_are_equal_however_they_are_written() -> None:
    assert checked(["Alpha >= 1", "beta_x"]) == checked(["beta-x", "alpha>=1", "alpha>=1"])
    assert checked(["alpha; python_version < '3'"]) == ()


async def test_tools_with_conflicting_needs_both_work(
    environments: Environments, tool: Callable[..., Runnable], workspace: Path
) -> None:
    host = ToolHost(SandboxSettings(), environments=environments)
    body = "import alpha\nreturn OutputModel(value=alpha.VERSION)"
    outcomes = await asyncio.gather(
        host.call(tool(body, name="one", requirements=("alpha<2",)), {}, workspace=workspace),
        host.call(tool(body, name="two", requirements=("alpha>=2",)), {}, workspace=workspace),
    )
    assert [o.output and o.output["value"] for o in outcomes] == ["1.0", "2.0"], outcomes


async def test_one_set_is_installed_once_for_all_who_ask(environments: Environments) -> None:
    found = await asyncio.gather(*(environments.ready(["alpha==1.0"]) for _ in range(5)))
    assert len(set(found)) == 1
    folder = found[0].paths[0].parent
    assert len([p for p in folder.iterdir() if p.name.startswith("set-") and p.is_dir()]) == 1
    other_way_to_say_it = await environments.ready(["alpha<1.5", "alpha>=1"])
    assert other_way_to_say_it.paths == found[0].paths


async def test_a_dependency_comes_along(environments: Environments) -> None:
    found = await environments.ready(["beta"])
    assert (found.paths[0] / "alpha" / "__init__.py").read_text() == "VERSION = '1.0'\n"
    assert list(found.paths[0].rglob("alpha/__pycache__/*.pyc"))


@pytest.mark.parametrize("wanted", [["no-such-package"], ["beta", "alpha>=2"], ["gamma"], ["pydantic<1"]])
async def test_what_cannot_be_had_is_said_in_a_line(environments: Environments, wanted: list[str]) -> None:
    with pytest.raises(EnvironmentFailed) as caught:
        await environments.ready(wanted)
    said = str(caught.value)
    assert wanted[0].partition("<")[0] in said
    assert "\n" not in said
    assert len(said) < 700


async def test_a_build_cut_short_is_made_again(environments: Environments) -> None:
    first = await environments.ready([])
    (first.paths[0] / MARK).unlink()
    (first.paths[0] / "pydantic" / "main.py").unlink()
    again = await Environments(first.paths[0].parent).ready([])
    assert again == first
    assert (again.paths[0] / "pydantic" / "main.py").is_file()


async def test_the_base_needs_no_installer_and_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    found = await Environments(tmp_path / "environments", find_links=tmp_path).ready([])
    script = "import sys; sys.path.insert(0, sys.argv[1]); import pydantic; print(pydantic.__file__)"
    command = [str(found.python), "-I", "-S", "-B", "-c", script, str(found.paths[0])]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.startswith(str(found.paths[0]))


async def test_a_ready_environment_starts_no_process(
    environments: Environments, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await environments.ready(["alpha==1.0"])
    started: list[str] = []
    sys.addaudithook(lambda event, _: started.append(event) if event == "subprocess.Popen" else None)
    assert await Environments(made.paths[0].parent, find_links=wheels).ready(["alpha==1.0"]) == made
    assert started == []


async def test_cancelling_stops_the_installer(environments: Environments) -> None:
    await environments.ready([])
    building = asyncio.create_task(environments.ready(["alpha==2.0"]))
    await asyncio.sleep(0)
    building.cancel()
    with pytest.raises(asyncio.CancelledError):
        await building
    assert (await environments.ready(["alpha==2.0"])).paths[0].is_dir()
