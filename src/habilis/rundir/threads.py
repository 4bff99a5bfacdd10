"""Conversations on disk: a run whose tasks are the turns, and a small record that says so.

runs/threads/<name>/thread.json       format, name, when it began
runs/threads/<name>/.lock             held by the process that works on a turn
runs/threads/<name>/tasks/0001/       the first turn, a task like any other; with it `turn.json`, what later turns read

A turn that was killed leaves the earlier ones as they are, and can be resumed like any task.
"""

from __future__ import annotations

import contextlib
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any

from habilis.core.errors import UserError
from habilis.rundir.files import FORMAT, read_json, write_json
from habilis.rundir.layout import RunDir, TaskDir
from habilis.rundir.locks import held
from habilis.rundir.names import THREADS, check_thread_name

RECORD = "thread.json"


class ThreadDir:
    """One conversation's folder. Get one with `named` or `of`; `begin` makes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run = RunDir(path)

    @classmethod
    def named(cls, root: Path, name: str) -> ThreadDir:
        """The conversation `name` of the runs folder `root`, there or not. Raises `UserError` for no plain name."""
        check_thread_name(name)
        return cls(root / THREADS / name)

    @classmethod
    def of(cls, run: RunDir) -> ThreadDir | None:
        """The conversation that `run` is; None when it is none."""
        there = (run.path / RECORD).is_file() or run.path.absolute().parent.name == THREADS
        return cls(run.path) if there else None

    @property
    def name(self) -> str:
        return self.path.name

    def exists(self) -> bool:
        """Whether it has begun."""
        return (self.path / RECORD).is_file() or (self.path / "run.yaml").is_file()

    def begin(self, *, trust: bool = False) -> None:
        """Make it, if it is not there. One that is must have been made here, or be taken over (`trust`).

        Raises `UserError` for any other, for a folder that holds something else, and for a later format.
        """
        if self.exists():
            self.run.accept(trust=trust)
            return
        RunDir.at(self.path, trust=trust)
        self.write_record()

    def write_record(self) -> None:
        """Write `thread.json`, which holds nothing that the folder's name and `run.yaml` do not. Raises OSError."""
        began = datetime.fromtimestamp(self.run.created).astimezone().isoformat(timespec="seconds")
        write_json(self.path / RECORD, {"format": FORMAT, "name": self.name, "created": began})

    def record(self) -> dict[str, Any]:
        """What `thread.json` says. Raises `UserError` when there is none, or one of a later format."""
        found = read_json(self.path / RECORD)
        if found is None and not self.exists():
            raise UserError(f"there is no thread {self.name} in {self.path.parent.parent}; see 'habilis threads list'")
        return found or {}

    def turns(self) -> list[TaskDir]:
        """Its turns in their order; a folder that a kill left before its question was written is none."""
        return [task for task in self.run.tasks() if task.id.isdigit() and (task.task.is_file() or task.tape.exists())]

    def next_id(self) -> str:
        """The name of the turn to come."""
        turns = self.turns()
        return f"{int(turns[-1].id) + 1 if turns else 1:04d}"

    def discard_if_unused(self) -> None:
        """Remove it if no turn of it came to a model call or a result, and nobody works on it."""
        with contextlib.suppress(UserError, OSError), self.lock():
            self.run.discard_if_unused()

    def lock(self) -> AbstractContextManager[None]:
        """Hold the conversation for one turn. Raises `UserError` while another process works on it."""
        return held(
            self.path / ".lock", f"thread {self.name} is being worked on by another process; wait, or begin another"
        )


def list_threads(root: Path) -> list[ThreadDir]:
    """The conversations in the runs folder `root`, by name; none when there is no such folder."""
    folder = root / THREADS
    if not folder.is_dir():
        return []
    found = (ThreadDir(path) for path in sorted(folder.iterdir()) if not path.name.startswith("."))
    return [thread for thread in found if thread.exists()]
