"""What a training run keeps besides its tasks: rows, predictions, metrics, its library, and where it stands."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

from habilis.core.errors import UserError
from habilis.core.masker import MASKER
from habilis.rundir.files import FORMAT, append_line, atomic_write, read_json, read_jsonl, write_json
from habilis.rundir.kept import BUILDS
from habilis.rundir.locks import held, is_held
from habilis.rundir.names import LIBRARY, check_library_name
from habilis.rundir.plain import read_plain
from habilis.rundir.seals import sealed


class TrainingDir:
    """The folder of a training run, `path`. See `runs/README.md` for what lies in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows, self.predictions = path / "rows.jsonl", path / "predictions.jsonl"
        self.metrics, self.journal = path / "metrics.jsonl", path / "journal.jsonl"
        self.events, self.state = path / "events.jsonl", path / "state.json"
        self.library = path / "library"

    def exists(self) -> bool:
        """Whether a training run was begun here."""
        begun = (self.state, self.events, self.journal, self.predictions, self.metrics)
        return any(os.path.lexists(path) for path in begun)  # one of them may be lost

    def builds(self, step: int) -> Path:
        """Folder of the builds that the tasks of `step` share."""
        return self.path / "steps" / f"{step:04d}" / BUILDS

    def save_rows(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Keep the rows of the data set, so that a resume needs no other file."""
        text = "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
        atomic_write(self.rows, text.encode("utf-8", "backslashreplace"))

    def load_rows(self) -> list[dict[str, Any]]:
        return list(read_jsonl(self.rows))

    def set_state(self, state: str, **more: Any) -> None:
        """Write where the run stands: `running`, `stopped`, `finished` or `failed`; `more` is JSON-plain."""
        write_json(self.state, {"format": FORMAT, "state": state, "at": time.time(), **more})

    def state_record(self) -> dict[str, Any]:
        """The whole of `state.json`, {} when unreadable."""
        try:
            return read_json(self.state) or {}
        except UserError:
            return {}

    def read_state(self) -> str:
        """The state as a reader should see it: a `running` run that no process holds any more is `stopped`."""
        state = str(self.state_record().get("state", "created"))
        return "stopped" if state == "running" and not self.locked() else state

    def lock(self) -> AbstractContextManager[None]:
        """Hold the run for this process. Raises `UserError` when another one works on it; freed when we die."""
        return held(self.path / ".lock", f"run {self.path.name} is in use by another process; wait until it has ended")

    def locked(self) -> bool:
        """Whether some process works on the run now."""
        return is_held(self.path / ".lock")


class Fed(NamedTuple):
    """The library that a run feeds together with others: its folder, or its name in the store that the run is kept in;
    and the run's name in its reports. All empty where it feeds none."""

    folder: Path | None = None
    shelf: str = ""
    run: str = ""


def fed_by(fixed: Mapping[str, Any]) -> Fed:
    """What a run feeds, by what `run.yaml` says is fixed. Raises `UserError` for a name that no library can have."""
    match fixed.get("feed"):
        case {"library": str(library), "run": str(run)} if library and run:
            return Fed(None, shelf(library), run) if fixed.get("store") else Fed(Path(library), "", run)
    return Fed()


def shelf(library: str) -> str:
    """The name in a store of a library that several runs feed; no run has such a one. Raises `UserError`."""
    check_library_name(library)
    return f"{LIBRARY}/{library}"


def journal_line(step: int, point: str, payload: Mapping[str, Any]) -> bytes:
    """A point of a step as a line of the journal, secrets masked."""
    line = json.dumps({"step": step, "point": point, "payload": payload}, ensure_ascii=True, separators=(",", ":"))
    return sealed(MASKER.document(f"{line}\n".encode("ascii")))


class KeyedRows:
    """A JSONL file with one row per value of `key`: put again, a row replaces the one before.

    A reader never sees a key twice, nor half a row. One writer at a time; a line torn by a kill is passed over and
    goes with the next write.
    """

    def __init__(self, path: Path, key: str) -> None:
        self._path, self._key = path, key
        self._rows: dict[Any, dict[str, Any]] = {}
        lines = 0
        for row in read_jsonl(path):
            lines += 1
            if key in row:
                self._rows[row[key]] = row
        self._whole = lines == len(self._rows) and _ends_whole(path)

    def rows(self) -> list[dict[str, Any]]:
        return list(self._rows.values())

    def get(self, value: Any) -> dict[str, Any] | None:
        return self._rows.get(value)

    def put(self, row: Mapping[str, Any]) -> None:
        """Write `row`; it is on the disk when this returns. Raises OSError, the file then being as it was."""
        value = row[self._key]
        before = self._rows.get(value)
        self._rows[value] = dict(row)
        try:
            if before is not None or not self._whole:
                self._rewrite()
            else:
                append_line(self._path, _line(row))
        except OSError:
            if before is None:
                del self._rows[value]
            else:
                self._rows[value] = before
            raise

    def arrange(self, order: Iterable[Any]) -> None:
        """Bring the rows into the order of their keys in `order`; those that it does not name come last."""
        places = {value: place for place, value in enumerate(order)}
        arranged = dict(sorted(self._rows.items(), key=lambda item: places.get(item[0], len(places))))
        if list(arranged) != list(self._rows):
            self._rows = arranged
            self._rewrite()

    def _rewrite(self) -> None:
        atomic_write(self._path, b"".join(_line(row) for row in self._rows.values()))
        self._whole = True


def _line(row: Mapping[str, Any]) -> bytes:
    text = json.dumps(row, ensure_ascii=False, default=str) + "\n"
    return sealed(MASKER.document(text.encode("utf-8", "backslashreplace")))


def _ends_whole(path: Path) -> bool:
    """Whether every line of the file is a whole row, as far as its lines tell."""
    try:
        data = read_plain(path)
    except FileNotFoundError:
        return True
    rows = sum(1 for _ in read_jsonl(path))
    return (not data or data.endswith(b"\n")) and data.count(b"\n") == rows
