"""uv, which resolves and installs packages for tools: wheels only, so that none of their code runs unconfined."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from habilis.config import environment
from habilis.core.errors import PlaceError
from habilis.core.place import place_error
from habilis.runtime.packages.policy import WITHOUT, EnvironmentFailed, explained
from habilis.sandbox.processes.attached import attached
from habilis.sandbox.processes.interpreter import python
from habilis.sandbox.processes.temporary import temporary

INSTALL_S = 600.0
POLL_S = 0.05


class Installer:
    """uv, called so that no setting of a tool can change what it does.

    `wheelhouse`: the folder that all wheels come from; no index is asked then. `stop` ends the work.
    """

    def __init__(self, wheelhouse: Path | None, stop: threading.Event) -> None:
        self._wheelhouse, self._stop = wheelhouse, stop

    def resolve(self, wanted: Sequence[str], held: Sequence[str], target: Path) -> None:
        """Write the exact versions for `wanted` to `target`, with hashes, `held` versions kept.

        Raises `EnvironmentFailed`, `PlaceError`.
        """
        if self._wheelhouse is not None and not self._wheelhouse.is_dir():
            raise EnvironmentFailed(
                f"no package can be installed: the folder of wheels that the settings name, {self._wheelhouse.name}, "
                "is not there; use the standard library and Pydantic alone, dependencies = []"
            )
        needs, limits = target.with_suffix(".in"), target.with_suffix(".held")
        needs.write_text("\n".join(wanted) + "\n", encoding="utf-8")
        limits.write_text("\n".join(held) + "\n", encoding="utf-8")
        options = ["--no-header", "--no-annotate", "--generate-hashes", "--constraint", str(limits)]
        self._run(wanted, "compile", *options, "--output-file", str(target), str(needs))

    def install(self, wanted: Sequence[str], lock: Path, target: Path) -> None:
        """Install what `lock` names into the folder `target`, byte-compiled, each wheel with the hash it was locked
        with. Raises `EnvironmentFailed`."""
        options = ["--no-deps", "--require-hashes", "--compile-bytecode", "--target", str(target)]
        self._run(wanted, "install", *options, "--requirements", str(lock))

    def _run(self, wanted: Sequence[str], verb: str, *arguments: str) -> None:
        sources = ["--no-index", "--find-links", str(self._wheelhouse)] if self._wheelhouse else []
        command = [uv_program(), "pip", verb, "--quiet", "--only-binary", ":all:", "--python", str(python()), *sources]
        variables = {**environment(), "NO_COLOR": "1", "UV_PYTHON_DOWNLOADS": "never"}
        with (
            temporary("uv") as folder,
            subprocess.Popen(
                attached([*command, *arguments]),
                cwd=folder,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            ) as process,
        ):
            said = self._wait(process, wanted)
        if process.returncode != 0:
            if (place := _place_said(said)) is not None:
                raise place
            raise EnvironmentFailed(explained(said, wanted, offline=self._wheelhouse is not None))

    def _wait(self, process: subprocess.Popen[str], wanted: Sequence[str]) -> str:
        ends = time.monotonic() + INSTALL_S
        while True:
            try:
                return process.communicate(timeout=POLL_S)[1]
            except subprocess.TimeoutExpired:
                if self._stop.is_set() or time.monotonic() > ends:
                    process.kill()
                    process.wait()
                    what = f"{', '.join(wanted)} could not be had within {INSTALL_S:.0f} s"
                    raise EnvironmentFailed(f"{what}; choose a smaller package, {WITHOUT}") from None


def _place_said(said: str) -> PlaceError | None:
    """What uv says of this machine: it ends the words of a system call with its number, as Rust does."""
    numbers = [int(found) for found in re.findall(r"\(os error (\d+)\)", said)]
    told = (place_error(OSError(number, f"uv: {os.strerror(number)}")) for number in numbers)
    return next(filter(None, told), None)


def uv_program() -> str:
    """The uv program: the one of the `uv` package, else the system's. Raises `EnvironmentFailed` without any."""
    try:
        import uv

        return str(uv.find_uv_bin())
    except (ImportError, FileNotFoundError):
        found = shutil.which("uv")
        if found is None:
            raise EnvironmentFailed(
                "uv is not installed, so a tool can have no packages; use the standard library and Pydantic alone, "
                "dependencies = []"
            ) from None
        return found
