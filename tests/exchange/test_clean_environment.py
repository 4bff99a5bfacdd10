"""A package of ours where nothing of ours is: built as a wheel, installed into a fresh environment, its tests run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from habilis.runtime.packages.environments import copy_base
from habilis.runtime.packages.installer import uv_program

BUILD = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"


@pytest.mark.slow
async def test_its_wheel_is_installed_and_passes_its_tests_in_a_clean_environment(exchange: Any) -> None:
    double = await exchange.has(exchange.double(), "double_it")
    exchange.called(double, "c1", {"result": 6, "error": None}, number=3)
    shout = await exchange.has(exchange.shout(), "shout")
    (exchange.workspace / "a.txt").write_text("hello")
    exchange.called(shout, "c2", {"result": "HELLO", "error": None}, path="a.txt")
    out, home = exchange.home / "out", exchange.home / "clean"
    report = await exchange.give("package", out, name="my-tools")
    assert sum(tool.tests for tool in report.tools) == 2

    wheels, python = exchange.home / "wheels", home / "bin" / "python"
    wheels.mkdir()
    run(sys.executable, "-c", BUILD, str(wheels), cwd=out)
    (wheel,) = wheels.glob("*.whl")
    run(uv_program(), "venv", "--offline", "--python", sys.executable, str(home), cwd=wheels)
    run(uv_program(), "pip", "install", "--offline", "--no-deps", "--python", str(python), str(wheel), cwd=wheels)
    copy_base(next(home.glob("lib/python*/site-packages")))  # Pydantic, which no index gives here
    shutil.copytree(out / "tests", exchange.home / "tests")
    said = run(str(python), "-I", "-m", "unittest", "discover", "-v", "tests", cwd=exchange.home).stderr
    assert "Ran 1 test" in said
    asked = "import my_tools, sys; print(my_tools.double_it(number=4).result, 'habilis' in sys.modules)"
    assert run(str(python), "-I", "-c", asked, cwd=exchange.home).stdout == "8 False\n"


def run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done
