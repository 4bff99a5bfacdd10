"""Who can be asked, and how: Habilis in a process of its own, each peer in one that may write its folder alone.

A peer runs what a model wrote in the very machine. The kernel (Landlock) keeps it from writing, making or removing any
file outside of the folder of its question, and from signals to others where it can; one that root starts is no longer
root. It gets none of the user's environment, and ends at the time limit with its process group. Where the kernel cannot
do that, peers are not asked.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from habilis.sandbox.backends.landlock import landlock_abi
from habilis.sandbox.inside import program
from peers.agents import AGENTS, MARK

PEERS = tuple(AGENTS)
MEMORY_BYTES, FILE_BYTES = 8 << 30, 1 << 30
SHOWN = 300
_CHANGES = sum(1 << bit for bit in (1, *range(4, 15)))
"""Landlock's rights to write, remove, make and cut off; to read and to run is left as it is."""
_GRACE_S = 30
_NOBODY = 65_534


@dataclass(frozen=True)
class Asked:
    """One question: its text, the paths of its files, the folder to work in, and where the model is."""

    text: str
    files: tuple[Path, ...]
    folder: Path
    base_url: str
    model: str = ""
    limit_s: int = 900
    steps: int = 20


def run_habilis(asked: Asked, library: Path, settings: Sequence[str]) -> dict[str, Any]:
    """The result of one `habilis run`, as `--json` gives it. Raises `subprocess.TimeoutExpired`."""
    command = [sys.executable, "-m", "habilis", "run", asked.text, "--json", "--no-absorb"]
    command += ["--output", str(asked.folder / "runs"), "--library", str(library)]
    command += ["--max-time", str(asked.limit_s), *(part for path in asked.files for part in ("--file", str(path)))]
    command += [part for one in (*reaching(asked.base_url, asked.model), *settings) for part in ("--set", one)]
    said, complaint = _ended(command, asked.folder, None, asked.limit_s + _GRACE_S)
    (asked.folder / "stderr.txt").write_text(complaint, encoding="utf-8")
    result: dict[str, Any] = json.loads(said) if said.strip() else {"status": "failed", "error": complaint[-SHOWN:]}
    return result


def reaching(base_url: str, model: str = "") -> list[str]:
    """Settings of Habilis that name the model."""
    named = [f"models.basic.model={model}"] if model else []
    return [f"models.basic.base_url={base_url}", "models.basic.provider=openai", *named]


def run_peer(name: str, asked: Asked, python: str) -> dict[str, Any]:
    """What a peer says, as `status`, `final_answer` and `error`. Raises `subprocess.TimeoutExpired`."""
    files = "".join(f" The file is {path}." for path in asked.files)
    question = {"base_url": asked.base_url, "model": asked.model or "local", "text": asked.text + files}
    argv = [python, str(Path(__file__).with_name("agents.py")), name, json.dumps({**question, "steps": asked.steps})]
    said, complaint = _ended(_walled(argv, asked.folder), asked.folder, _environment(asked.folder), asked.limit_s)
    (asked.folder / "stderr.txt").write_text(complaint, encoding="utf-8")
    _, mark, answer = said.rpartition(MARK)
    if not mark:
        return {"status": "failed", "error": " ".join(complaint.split())[-SHOWN:] or "it said nothing"}
    found = json.loads(answer)
    return {"status": found["status"], "final_answer": found["text"].strip()}


def missing(name: str, python: str) -> str:
    """Why a peer cannot be asked; empty where it can."""
    if landlock_abi() < 4:
        return "this kernel has no Landlock, which keeps what a peer runs from harm"
    done = subprocess.run(
        [python, "-c", f"import sys, {name}; sys.exit(0)"], capture_output=True, text=True, check=False
    )
    lines = done.stderr.strip().splitlines()
    return f"{python}: {lines[-1] if lines else 'it ended without a word'}" if done.returncode else ""


def _walled(argv: Sequence[str], folder: Path) -> list[str]:
    """`argv` so that nothing outside of `folder` can be changed by it."""
    paths: list[Any] = [[_CHANGES, [str(folder)]], [1 << 1, ["/dev/null", "/dev/zero", "/dev/tty"]]]
    size, scoped = (24, 1 << 1) if landlock_abi() >= 6 else (16, 0)
    rules = {"size": size, "handled": _CHANGES, "handled_net": 0, "scoped": scoped, "file_bits": 1 << 1 | 1 << 14}
    limits = {"memory_bytes": MEMORY_BYTES, "file_bytes": FILE_BYTES, "core_bytes": 0}
    policy: dict[str, Any] = {"workspace": str(folder), "limits": limits, "landlock": {**rules, "paths": paths}}
    if os.geteuid() == 0:
        policy |= {"uid": _NOBODY, "keep_reading": True}
        for path in (folder, *folder.rglob("*")):
            os.chown(path, _NOBODY, _NOBODY)
    return [sys.executable, "-s", "-P", "-S", "-B", str(program("confine")), json.dumps(policy), *argv]


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL")}
    return {**kept, "HOME": str(folder), "TMPDIR": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


def _ended(argv: Sequence[str], folder: Path, env: Mapping[str, str] | None, limit_s: float) -> tuple[str, str]:
    """What a command printed, on standard output and on standard error. All of its process group ends with it."""
    started = subprocess.Popen(
        argv,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    with started:
        try:
            return started.communicate(timeout=limit_s)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGKILL)
