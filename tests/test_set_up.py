"""The set-up behind every make target: on a machine without a fitting Python it must say what to do, in words."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
OLD = '#!/bin/sh\ncase "$2" in *print*) echo 3.9 ;; *) exit 1 ;; esac\n'
BARE = '#!/bin/sh\ncase "$2" in *print*) echo 3.12 ;; *ensurepip*) exit 1 ;; esac\n'


@pytest.fixture
def house(tmp_path: Path) -> Path:
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "set-up", tmp_path / ".ci")
    for name in ("requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "bin").mkdir()
    for tool in ("sh", "cat", "cksum", "dirname"):
        found = shutil.which(tool)
        assert found
        (tmp_path / "bin" / tool).symlink_to(found)
    return tmp_path


def _set_up(house: Path, **pythons: str) -> subprocess.CompletedProcess[str]:
    for name, text in pythons.items():
        path = house / "bin" / name
        path.write_text(text)
        path.chmod(0o755)
    env = {"PATH": str(house / "bin"), "HOME": str(house)}
    return subprocess.run(["sh", ".ci/set-up"], cwd=house, env=env, capture_output=True, text=True, check=False)


def test_no_python_at_all_is_said(house: Path) -> None:
    done = _set_up(house)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Habilis needs Python 3.11 or newer as python3 or python3.N on the PATH.\n"


def test_a_python_that_is_too_old_is_named(house: Path) -> None:
    done = _set_up(house, python3=OLD)
    assert done.returncode == 1
    assert "needs Python 3.11 or newer" in done.stderr
    assert "python3 is 3.9" in done.stderr


def test_a_python_without_venv_is_named_with_its_package(house: Path) -> None:
    done = _set_up(house, python3=BARE)
    assert done.returncode == 1
    assert "apt install python3.12-venv" in done.stderr


def test_what_stands_is_left_as_it_is(house: Path) -> None:
    (house / ".venv" / "bin").mkdir(parents=True)
    (house / ".venv" / "bin" / "python").symlink_to(sys.executable)
    stamp = subprocess.run(
        "{ pwd; cat requirements.lock pyproject.toml; } | cksum",
        shell=True,
        cwd=house,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    (house / ".venv" / "ready").write_text(stamp)
    done = _set_up(house)  # no python on the PATH: anything but nothing would fail
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (house / "requirements.lock").write_text("# another lock")
    assert _set_up(house).returncode == 1


@pytest.fixture
def browserless(house: Path) -> Path:
    """A house whose .venv has Playwright, on a machine without Chromium."""
    shutil.copy(ROOT / ".ci" / "set-up-browser", house / ".ci")
    python = house / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    return house


def _set_up_browser(house: Path, **programs: str) -> subprocess.CompletedProcess[str]:
    for name, text in programs.items():
        path = house / "bin" / name.replace("_", "-")
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    env = {"PATH": str(house / "bin"), "HOME": str(house)}
    return subprocess.run(["sh", ".ci/set-up-browser"], cwd=house, env=env, capture_output=True, text=True, check=False)


def test_a_browser_that_cannot_be_had_is_said(browserless: Path) -> None:
    done = _set_up_browser(browserless, id="echo 1000", apt_get="exit 7")
    assert done.returncode == 1
    assert "only root can install it" in done.stderr
    done = _set_up_browser(browserless, id="echo 0", apt_get="exit 7")
    assert done.returncode == 1
    assert "could not install it" in done.stderr


def test_a_browser_is_installed_by_root_alone_and_once(browserless: Path) -> None:
    calls = browserless / "calls"
    done = _set_up_browser(browserless, id="echo 0", apt_get=f'echo "$@" >>{calls}')
    assert done.returncode == 0
    assert [line.split()[1] for line in calls.read_text().splitlines()] == ["update", "install"]
    assert "chromium" in calls.read_text()
    done = _set_up_browser(browserless, chromium="", apt_get="exit 7")
    assert (done.returncode, done.stderr) == (0, "")
