"""The folder of a run and the folders of its tasks."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.config import masked
from habilis.core.errors import UserError
from habilis.core.place import scarcity
from habilis.rundir import marks, owning
from habilis.rundir.files import FORMAT, atomic_write, one_line, read_json, read_jsonl, remove_tree, write_json
from habilis.rundir.locks import held, is_held
from habilis.rundir.names import GENERATIONS, LIBRARY, check_run_name, run_name, safe_id
from habilis.rundir.parts import MAX_RUN_BYTES, as_yaml, make_folder, plain_yaml, unwritable, versions
from habilis.rundir.plain import check_plain_folder, is_plain_folder, read_plain, reading
from habilis.rundir.training import TrainingDir

if TYPE_CHECKING:
    from habilis.core.types import Decision, Task, TaskResult

UNFINISHED = frozenset({"created", "running", "waiting", "stopped"})
_STATE_OF = {"waiting": "waiting", "answered": "finished", "gave_up": "finished"} | dict.fromkeys(
    ("interrupted", "environment_error"), "stopped"
)
REMOVING = ".removing-"


class RunDir:
    """One run's folder. Make one with `create`, `open` or `at`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def name(self) -> str:
        return self.path.name

    @classmethod
    def create(cls, root: Path, name: str | None = None, label: str = "", *, now: datetime | None = None) -> RunDir:
        """A new run in `root`, named `name` or by the time and a slug of `label`.

        Two processes never get the same folder. Raises `UserError` for a name that is taken, reserved or no plain
        folder name, and when `root` cannot be written.
        """
        if name is not None:
            check_run_name(name)
        make_folder(root)
        base = name or run_name(label, now or datetime.now())
        for number in range(1, 10_000):
            path = root / (base if number == 1 else f"{base}-{number}")
            try:
                path.mkdir()
            except FileExistsError:
                if name is not None:
                    raise UserError(f"a run named {name} exists in {root}; choose another name") from None
                continue
            except OSError as error:
                raise unwritable(path, error) from None
            return cls(path)._begun()
        raise UserError(f"{root} holds too many runs named {base}; remove some with 'habilis runs clean'")

    @classmethod
    def at(cls, path: Path, *, trust: bool = False) -> RunDir:
        """The run whose own folder is `path`, made if not there or empty. Raises `UserError` for others.

        One that is there must have been made here, or be taken over (`trust`).
        """
        if path.resolve().name.lower() in (LIBRARY, GENERATIONS):
            check_run_name(path.resolve().name)
        make_folder(path)
        run = cls(path)
        if run._file.is_file():
            run.accept(trust=trust)
            return run
        if any(path.iterdir()):
            raise UserError(f"{path} is not empty and holds no run; choose another folder")
        return run._begun()

    @classmethod
    def open(cls, path: Path) -> RunDir:
        """The existing run in `path`. Raises `UserError` when there is none."""
        if not (path / "run.yaml").is_file():
            raise UserError(f"{path} holds no run (no run.yaml); see 'habilis runs list'")
        return cls(path)

    def task(self, task_id: str) -> TaskDir:
        """The folder of task `task_id`, made with its `workspace` and `tools` if it is not there."""
        path = self.path / "tasks" / safe_id(task_id)
        for folder in (path.parent, path, path / "workspace", path / "tools"):
            check_plain_folder(folder)
            make_folder(folder)
        return TaskDir(path)

    def task_there(self, task_id: str) -> TaskDir | None:
        """The folder of task `task_id` if it is there; makes nothing, and looks at no other."""
        path = self.path / "tasks" / safe_id(task_id)
        return TaskDir(path) if is_plain_folder(path.parent) and is_plain_folder(path) else None

    def tasks(self) -> list[TaskDir]:
        """The tasks that are there, by id; makes nothing."""
        return self._folders("tasks")

    def earlier(self) -> list[TaskDir]:
        """What is kept of tasks that were begun anew; what they cost counts."""
        return self._folders("earlier")

    def _folders(self, name: str) -> list[TaskDir]:
        folder = self.path / name
        return [TaskDir(p) for p in sorted(folder.iterdir()) if is_plain_folder(p)] if is_plain_folder(folder) else []

    @property
    def training(self) -> TrainingDir | None:
        """What this run holds of a training run; None when it is none."""
        training = TrainingDir(self.path)
        return training if training.exists() else None

    def write_run(
        self, settings: Mapping[str, Any] | None = None, *, sandbox_level: str = "", **more: Any
    ) -> dict[str, Any]:
        """Write `run.yaml`, keeping what it says and is not given now. `settings` are masked here, whatever they hold.

        Returns what was written; `more` are further keys (JSON-plain).
        """
        record = {"format": FORMAT, "created": datetime.now().astimezone().isoformat(timespec="seconds")}
        there = self._file.is_file()
        mark = self.mark() if there else marks.new()
        record |= self.read_run() if there else {"name": self.name}
        record |= {"versions": versions()} | more
        if sandbox_level:
            record["sandbox_level"] = sandbox_level
        if settings is not None:
            record["settings"] = masked(settings)
        atomic_write(self._file, marks.marked(as_yaml(record), mark))
        return record

    def read_run(self) -> dict[str, Any]:
        """What `run.yaml` says. Raises `UserError` when it cannot be read or is of a later format."""
        try:
            raw = read_plain(self._file, MAX_RUN_BYTES)
            record = plain_yaml(raw.decode("utf-8"), known=marks.mark_in(raw) is not None)
        except (OSError, ValueError) as error:
            raise scarcity(error) or UserError(f"{self._file} cannot be read: {one_line(error)}") from None
        if not isinstance(record, dict) or not isinstance(record.get("format"), int):
            raise UserError(f"{self._file} is not a run's record (no format)")
        if record["format"] > FORMAT:
            raise UserError(f"{self._file} has format {record['format']}; this version of habilis reads up to {FORMAT}")
        return {key: value for key, value in record.items() if key != marks.FIELD}

    # --- whose it is

    def mark(self) -> str | None:
        """By what the run and its tasks are marked as made here; None for a run of somebody else, or of before marks.

        Raises `UserError` for a key that cannot be used.
        """
        try:
            return marks.mark_in(read_plain(self._file, MAX_RUN_BYTES))
        except OSError:
            return None

    def is_ours(self, tasks: Iterable[TaskDir] | None = None) -> bool:
        """Whether this user made the run and what its `tasks` (default: all) ask, and nobody changed them since."""
        return owning.is_ours(self, tasks)

    def accept(self, *, trust: bool, tasks: Iterable[TaskDir] | None = None) -> None:
        """Let the run go on: one made here, or one that a person trusts, which is marked as theirs from now on.

        Raises `UserError` for any other, and for one in which something lies that Habilis never leaves: a link, a pipe.
        """
        owning.accept(self, trust, tasks)

    @property
    def created(self) -> float:
        """When the run was made, seconds since the epoch; from the file's time when the record cannot be read."""
        with contextlib.suppress(OSError, ValueError), reading(self._file) as stream:
            for line in stream.read(4_096).decode("utf-8", "replace").splitlines()[:5]:
                if line.startswith("created:"):
                    return datetime.fromisoformat(line.removeprefix("created:").strip(" '\"\n")).timestamp()
        with contextlib.suppress(OSError):
            return self._file.lstat().st_mtime
        return 0.0

    def state(self) -> str:
        """The run's state as a whole: a training run's own, else that of its least finished task; `created` without
        any."""
        if (training := self.training) is not None:
            return training.read_state()
        states = {task.read_state() for task in self.tasks()}
        return next((s for s in ("running", "waiting", "stopped", "created", "failed") if s in states), "") or (
            "finished" if states else "created"
        )

    def size(self) -> int:
        """Bytes of all files of the run; links are not followed."""
        total = 0
        for folder, _, names in os.walk(self.path):
            for name in names:
                with contextlib.suppress(OSError):
                    total += os.lstat(Path(folder) / name).st_size
        return total

    def remove(self) -> None:
        """Remove the run: first out of sight by one rename, so that half a run is never seen.

        Raises `UserError` when a task of it is running.
        """
        with contextlib.ExitStack() as locks:
            if (training := self.training) is not None:
                locks.enter_context(training.lock())
            for task in self.tasks():
                locks.enter_context(task.lock())
            aside = self.path.with_name(REMOVING + self.name)
            try:
                self.path.rename(aside)
                remove_tree(aside)
            except OSError as error:
                raise UserError(f"cannot remove {self.path}: {error.strerror or error}") from None

    def discard_if_unused(self) -> None:
        """Remove the run if no task of it came to a model call or a result: nothing could be started."""
        work = (task for task in self.tasks() if task.result.exists() or task.tape.exists())
        if next(work, None) is None:
            with contextlib.suppress(OSError):
                remove_tree(self.path)

    def _begun(self) -> RunDir:
        """Itself with its first `run.yaml`; a folder that cannot hold even that does not stay."""
        try:
            self.write_run()
        except OSError as error:
            with contextlib.suppress(OSError):
                self.path.rmdir()
            raise unwritable(self.path, error) from None
        return self

    @property
    def _file(self) -> Path:
        return self.path / "run.yaml"


@dataclass(frozen=True)
class TaskDir:
    """One task's folder."""

    path: Path

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def run(self) -> RunDir:
        return RunDir(self.path.parent.parent)

    @property
    def workspace(self) -> Path:
        return self.path / "workspace"

    @property
    def tools(self) -> Path:
        return self.path / "tools"

    @property
    def events(self) -> Path:
        return self.path / "events.jsonl"

    @property
    def tape(self) -> Path:
        return self.path / "tape.jsonl"

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints.sqlite"

    @property
    def result(self) -> Path:
        return self.path / "result.json"

    @property
    def decision(self) -> Path:
        return self.path / "decision.json"

    @property
    def state(self) -> Path:
        return self.path / "state.json"

    @property
    def task(self) -> Path:
        return self.path / "task.json"

    @property
    def turn(self) -> Path:
        """Of a turn of a conversation: what later turns read of it. Made again where it is lost."""
        return self.path / "turn.json"

    def absorbed_into(self) -> int | None:
        """The generation of the library that holds what the task proved; None while it was not absorbed."""
        points = [row for row in read_jsonl(self.path / "absorbed.jsonl") if row.get("point") == "published"]
        return int(points[-1]["payload"]["report"]["generation"]) if points else None

    def save_task(self, task: Task, extra: Mapping[str, Any] | None = None) -> None:
        """Write what was asked; `extra` is JSON-plain and comes back from `load_task`."""
        owning.save_marked(
            self.run, self.task, {"format": FORMAT, "task": task.model_dump(mode="json"), "extra": dict(extra or {})}
        )

    def is_ours(self, mark: str, path: Path | None = None) -> bool:
        """Whether what the task asks (or another record of it) was written here, for the run marked `mark`."""
        return owning.is_marked(path or self.task, mark)

    def load_task(self) -> tuple[Task, dict[str, Any]] | None:
        """The task and its `extra`; None when none was written. Raises `UserError` for a broken file."""
        from habilis.core.types import Task

        data = read_json(self.task)
        if data is None:
            return None
        try:
            return Task.model_validate(data["task"]), dict(data.get("extra") or {})
        except (KeyError, ValueError) as error:
            raise UserError(f"{self.task} is not a task's record: {one_line(error)}") from None

    def extra(self) -> dict[str, Any]:
        """What was written beside the question; {} when there is none. Raises `UserError` for a broken file."""
        stored = self.load_task()
        return stored[1] if stored else {}

    def save_turn(self, turn: Mapping[str, Any]) -> None:
        """Write what later turns of the conversation read of this one (JSON-plain)."""
        owning.save_marked(self.run, self.turn, {"format": FORMAT, **turn}, durable=False)

    def save_result(self, result: TaskResult) -> None:
        """Write the outcome, then the state that follows from its status."""
        write_json(self.result, result.model_dump(mode="json"))
        self.save_state_of(result)

    def save_state_of(self, result: TaskResult) -> None:
        """Write the state that follows from the outcome."""
        cost = None if result.cost is None else float(result.cost)
        self.set_state(_STATE_OF.get(result.status, "failed"), status=result.status, cost=cost)

    def load_result(self) -> TaskResult | None:
        """The outcome; None when there is none yet. Raises `UserError` for a broken file."""
        from habilis.core.types import TaskResult

        data = read_json(self.result)
        try:
            return TaskResult.model_validate(data) if data is not None else None
        except ValueError as error:
            raise UserError(f"{self.result} is not a task's result: {one_line(error)}") from None

    def save_decision(self, decision: Decision) -> None:
        """Write where a conversation of decisions stands, so that it can go on."""
        write_json(self.decision, decision.model_dump(mode="json"))
        whole = decision.error is None or decision.status in ("unanswered", "gave_up")
        self.set_state("finished" if whole else "failed", status=decision.status)

    def load_decision(self) -> Decision | None:
        """The last decision; None when there is none. Raises `UserError` for a broken file."""
        from habilis.core.types import Decision

        data = read_json(self.decision)
        try:
            return Decision.model_validate(data) if data is not None else None
        except ValueError as error:
            raise UserError(f"{self.decision} is not a decision: {one_line(error)}") from None

    def set_state(self, state: str, **more: Any) -> None:
        """Write the state: `created`, `running`, `waiting`, `finished`, `failed` or `stopped` (by the user)."""
        write_json(self.state, {"format": FORMAT, "state": state, "at": time.time(), **more}, durable=False)

    def read_state(self) -> str:
        """The state as a reader should see it: a `running` task that no process holds any more is `stopped`."""
        state = str(self.state_record().get("state", "created"))
        return "stopped" if state == "running" and not self.locked() else state

    def state_record(self) -> dict[str, Any]:
        """The whole of `state.json` (`state`, `at` in seconds since the epoch, `status` …), {} when unreadable."""
        try:
            return read_json(self.state) or {}
        except UserError:
            return {}

    def lock(self) -> AbstractContextManager[None]:
        """Hold the task for this process. Raises `UserError` when another one holds it; freed when we die."""
        return held(self.path / ".lock", f"task {self.id} of run {self.run.name} is being run by another process")

    def locked(self) -> bool:
        """Whether some process runs the task now."""
        return is_held(self.path / ".lock")
