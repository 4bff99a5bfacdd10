"""Environments of packages: refused, resolved, shared, and never built twice. The wheels are made here."""

from __future__ import annotations

import asyncio
import concurrent.futures
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from habilis.config import SandboxSettings, ToolsSettings
from habilis.contract.runnable import Runnable
from habilis.runtime.calls import CallSpec
from habilis.runtime.host import ToolHost
from habilis.runtime.packages.cache import MARK
from habilis.runtime.packages.environments import LOCK_COPY, Environments, base_name
from habilis.runtime.packages.policy import EnvironmentFailed, checked
from habilis.runtime.packages.pruning import leftovers

pytestmark = pytest.mark.sandbox


def make_wheel(folder: Path, name: str, version: str, needs: str = "", *, tag: str = "py3-none-any") -> None:
    module = name.replace("-", "_")
    about = f"{module}-{version}.dist-info"
    lines = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    with zipfile.ZipFile(folder / f"{module}-{version}-{tag}.whl", "w") as wheel:
        wheel.writestr(f"{module}/__init__.py", f"VERSION = {version!r}\n")
        wheel.writestr(f"{about}/METADATA", lines + (f"Requires-Dist: {needs}\n" if needs else ""))
        wheel.writestr(f"{about}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        wheel.writestr(f"{about}/RECORD", "")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of wheels: alpha 1.0 and 2.0, and beta, which needs alpha<2."""
    folder = tmp_path_factory.mktemp("wheels")
    for name, version, needs in (("alpha", "1.0", ""), ("alpha", "2.0", ""), ("beta", "1.0", "alpha<2")):
        make_wheel(folder, name, version, needs)
    make_wheel(folder, "delta", "1.0", "not-there")
    make_wheel(folder, "windows-only", "1.0", tag="cp311-cp311-win_amd64")
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


@pytest.mark.parametrize("warm", [True, False], ids=["warm", "cold"])
async def test_tools_with_conflicting_needs_both_work_in_one_task(
    environments: Environments, tool: Callable[..., Runnable], workspace: Path, warm: bool
) -> None:
    """Warm, each environment has a server of its own, and a call finds that of its own tool."""
    host = ToolHost(SandboxSettings(warm=warm), environments=environments)
    host.start(workspace, ())
    body = "import alpha\nreturn OutputModel(value=alpha.VERSION)"
    tools = [
        tool(body, name="one", requirements=("alpha<2",)),
        tool(body, name="two", requirements=("alpha>=2",)),
        tool(body, name="three", requirements=("alpha==1.0",)),
    ]
    try:
        outcomes = await asyncio.gather(
            *(host.call(CallSpec(each, {}, workspace=workspace)) for each in (*tools, *tools))
        )
    finally:
        await host.aclose()
    versions = [o.output and o.output["value"] for o in outcomes]
    assert versions == ["1.0", "2.0", "1.0"] * 2, outcomes


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


@pytest.mark.parametrize("wanted", [["no-such-package"], ["beta", "alpha>=2"], ["gamma"], ["pydantic<1"], ["alpha>2"]])
async def test_what_cannot_be_had_is_said_in_a_line(environments: Environments, wanted: list[str]) -> None:
    with pytest.raises(EnvironmentFailed) as caught:
        await environments.ready(wanted)
    said = str(caught.value)
    assert wanted[0].partition("<")[0] in said
    assert "\n" not in said
    assert len(said) < 700


@pytest.mark.parametrize(
    ("wanted", "why", "instead"),
    [
        (["sklearn"], "package sklearn cannot be installed: .* has none of that name", "choose one that is there"),
        (["delta"], "package not-there, which delta needs, cannot be installed", r"dependencies = \[\]"),
        (["gamma"], "package gamma cannot be installed: .* nothing is built from source", "another version or package"),
        (["windows-only"], "no wheel of it for Python 3", "choose another"),
        (
            ["alpha>2"],
            "package alpha cannot be installed in a version that fits alpha>2",
            r"only alpha<=2\.0 is available",
        ),
        (["alpha>=2", "beta"], "alpha>=2, beta cannot be installed together", "widen a version range or drop one"),
    ],
)
async def test_the_writer_is_told_which_package_why_and_what_instead(
    environments: Environments, wanted: list[str], why: str, instead: str
) -> None:
    with pytest.raises(EnvironmentFailed, match=why) as caught:
        await environments.ready(wanted)
    assert re.search(instead, str(caught.value))


async def test_an_index_out_of_reach_is_said_without_its_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_INDEX_URL", "http://user:topsecret@127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    with pytest.raises(
        EnvironmentFailed, match=r"numpy cannot be installed: the package index cannot be reached"
    ) as caught:
        await Environments(tmp_path / "environments").ready(["numpy"])
    assert "topsecret" not in str(caught.value)


async def test_a_wheelhouse_that_is_not_there_costs_the_packages_alone(tmp_path: Path) -> None:
    environments = Environments.of(ToolsSettings(wheelhouse=str(tmp_path / "gone")), tmp_path / "environments")
    assert (await environments.ready([])).paths
    with pytest.raises(EnvironmentFailed, match="folder of wheels that the settings name, gone, is not there"):
        await environments.ready(["alpha"])


async def test_listed_packages_come_with_what_they_need_and_no_others(tmp_path: Path, wheels: Path) -> None:
    settings = ToolsSettings(packages=("Beta",), wheelhouse=str(wheels))
    environments = Environments.of(settings, tmp_path / "environments")
    assert (await environments.ready(["beta>=1"])).paths
    with pytest.raises(EnvironmentFailed, match=r"package alpha is refused: .* list; use .* beta"):
        await environments.ready(["alpha"])


async def test_no_packages_means_the_base_with_what_is_in_it(tmp_path: Path) -> None:
    environments = Environments.of(ToolsSettings(packages="none"), tmp_path / "environments")
    assert await environments.ready(["typing_extensions>=4"]) == await environments.ready([])
    with pytest.raises(EnvironmentFailed, match=r"package alpha is refused: this run allows no packages; .* = \[\]"):
        await environments.ready(["alpha"])


async def test_the_lock_lies_with_the_environment_and_holds_each_wheel_to_its_hash(
    tmp_path: Path, wheels: Path
) -> None:
    own = tmp_path / "wheels"
    shutil.copytree(wheels, own)
    made = await Environments(tmp_path / "environments", find_links=own).ready(["beta"])
    lock = (made.paths[0] / LOCK_COPY).read_text()
    assert re.findall(r"^[a-z]+==[\d.]+", lock, re.MULTILINE) == ["alpha==1.0", "beta==1.0"]
    assert lock.count("--hash=sha256:") == 2
    make_wheel(own, "alpha", "1.0", "beta")  # the same version with another content
    again = await Environments(tmp_path / "environments", find_links=own).ready(["beta", "alpha"])
    assert again.paths[0] != made.paths[0]


@pytest.mark.slow
@pytest.mark.promise
async def test_a_lock_whose_wheels_are_gone_is_made_anew(tmp_path: Path, wheels: Path) -> None:
    own, folder = tmp_path / "wheels", tmp_path / "environments"
    shutil.copytree(wheels, own)
    first = await Environments(folder, find_links=own).ready(["alpha"])
    shutil.rmtree(first.paths[0])
    (own / "alpha-2.0-py3-none-any.whl").unlink()
    again = await Environments(folder, find_links=own).ready(["alpha"])
    assert (again.paths[0] / "alpha" / "__init__.py").read_text() == "VERSION = '1.0'\n"


BUILDER = """
import asyncio, logging, sys
from pathlib import Path
from habilis.runtime.packages.environments import Environments
logging.basicConfig(level=logging.INFO, format="%(message)s")
environments = Environments(Path(sys.argv[1]), find_links=Path(sys.argv[2]))
print("ready to start", flush=True)
sys.stdin.readline()
print(asyncio.run(environments.ready(["beta"])).digest)
"""


@pytest.mark.slow
@pytest.mark.promise
def test_four_processes_build_an_environment_once(tmp_path: Path, wheels: Path) -> None:
    folder = tmp_path / "environments"
    builders = [start(BUILDER, folder, wheels) for _ in range(4)]
    for builder in builders:
        assert builder.stdout is not None
        assert builder.stdout.readline() == "ready to start\n"
    said = []
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for out, err in pool.map(lambda builder: builder.communicate("go\n", timeout=120), builders):
            said.append((out.strip(), [line.split(" built in")[0] for line in err.splitlines() if " built in" in line]))
    assert len({digest for digest, _ in said}) == 1
    built = sorted(name.split("-")[0] for _, names in said for name in names)
    assert built == ["environment base", "environment lock", "environment set"], said


HALF_BUILDER = """
import sys, threading, time
from pathlib import Path
from habilis.runtime.packages.cache import EnvironmentCache
def fill(aside):
    (aside / "half").write_text("of it")
    print("half way", flush=True)
    sys.stdin.readline()
EnvironmentCache(Path(sys.argv[1])).ensure(sys.argv[2], fill, threading.Event())
"""


@pytest.mark.slow
@pytest.mark.promise
async def test_a_killed_build_leaves_nothing_half(tmp_path: Path, wheels: Path) -> None:
    folder = tmp_path / "environments"
    builder = start(HALF_BUILDER, folder, base_name())
    assert builder.stdout is not None
    assert builder.stdout.readline() == "half way\n"
    assert leftovers(folder) == []  # it is at work
    builder.kill()
    builder.communicate()
    assert not (folder / base_name()).exists()
    assert [path.name.split(".")[0] for path in leftovers(folder) if path.is_dir()] == [base_name()]
    found = await Environments(folder, find_links=wheels).ready([])
    assert not (found.paths[0] / "half").exists()
    assert (found.paths[0] / "pydantic" / "main.py").is_file()
    assert leftovers(folder) == []


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.promise
async def test_an_environment_that_was_removed_by_hand_is_made_again(environments: Environments) -> None:
    made = await environments.ready(["alpha==1.0"])
    shutil.rmtree(made.paths[0])
    assert await environments.ready(["alpha==1.0"]) == made
    assert (made.paths[0] / "alpha").is_dir()


@pytest.mark.slow
@pytest.mark.promise
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
