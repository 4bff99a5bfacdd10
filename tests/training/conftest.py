"""Training runs over the real HTTP client, the real sandbox and files of a user's own; the curator is a double."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from habilis import Evolution, load_settings
from habilis.config import Settings
from habilis.core.events import Event
from habilis.curation.ledger.reports import Row
from habilis.rundir import TrainingDir, read_jsonl
from habilis.testing import RecordingSink, ScriptedServer

from .. import nursery
from .doubles import FEW, QUESTIONS, Gatherer, rows_of

ROOT = Path(__file__).resolve().parents[2]
CHILD = Path(__file__).parent / "train_child.py"


@dataclass
class World:
    """A folder with a user's files, and a scripted server for the models."""

    home: Path
    server: ScriptedServer
    sink: RecordingSink = field(default_factory=RecordingSink)
    heard: list[tuple[str, Event]] = field(default_factory=list)
    gatherers: list[Gatherer] = field(default_factory=list)

    @property
    def runs(self) -> Path:
        return self.home / "runs"

    def settings(self, *more: str) -> Settings:
        return load_settings(
            overrides=[
                f"runs_dir={self.runs}",
                f"models.basic.base_url={self.server.base_url}",
                "models.basic.model=scripted",
                "evolution.batch_size=4",
                *more,
            ]
        )

    def evolution(self, *more: str, **options: Any) -> Evolution:
        def gather(training: TrainingDir) -> Gatherer:
            self.gatherers.append(Gatherer(training))
            return self.gatherers[-1]

        options.setdefault("absorbing", gather)
        settings = options.pop("settings", None) or self.settings(*more)
        return Evolution(
            settings, sinks=[self.sink], watch=lambda task, event: self.heard.append((task, event)), **options
        )

    def rows(self, *names: str) -> list[Row]:
        return rows_of(*names)

    def training(self, name: str = "first") -> TrainingDir:
        return TrainingDir(self.runs / name)

    def replies_on_tapes(self, name: str = "first") -> int:
        """How many of the model's replies a run has put on record."""
        tapes = [
            *self.training(name).path.glob("tasks/*/tape.jsonl"),
            *self.training(name).path.glob("curator/*.jsonl"),
        ]
        return sum(line.get("kind") == "reply" for tape in tapes for line in read_jsonl(tape))

    def asked(self, task: str, name: str = "first") -> list[str]:
        """Which requests to models a task put on record, in their order."""
        lines = read_jsonl(self.training(name).path / "tasks" / task / "tape.jsonl")
        return [line["key"] for line in lines if line.get("kind") == "reply"]

    def predictions(self, name: str = "first") -> dict[str, dict[str, Any]]:
        rows = list(read_jsonl(self.training(name).predictions))
        found = {row["task_id"]: row for row in rows}
        assert len(found) == len(rows), "an id came twice"
        return found

    def answers(self, name: str = "first") -> dict[str, tuple[str, str]]:
        return {key: (row["status"], row["prediction"]) for key, row in self.predictions(name).items()}

    def expected(self, *names: str) -> dict[str, tuple[str, str]]:
        return {name: ("answered", QUESTIONS[name][1]) for name in names or FEW}

    def start(self, **orders: Any) -> subprocess.Popen[str]:
        """A training run in a process of its own, which does as `orders` say; see `train_child.py`."""
        return self.program([sys.executable, str(CHILD), json.dumps(orders)])

    def program(self, command: list[str], more: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """A program that asks the scripted server; `more` is added to its environment."""
        environment = {
            **os.environ,
            "OPENAI_BASE_URL": self.server.base_url,
            "OPENAI_MODEL": "scripted",
            "PYTHONPATH": str(ROOT / "src"),
            **(more or {}),
        }
        return nursery.Program(
            command,
            cwd=self.home,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def processes_below(folder: Path) -> dict[int, str]:
    """Running processes that name something in `folder`: command lines by number."""
    found = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit() and int(path.name) != os.getpid():
            try:
                line = (path / "cmdline").read_bytes().decode(errors="replace")
                state = (path / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if str(folder) in line and state != "Z":
                found[int(path.name)] = line.replace("\0", " ")
    return found


@pytest.fixture
def world(tmp_path: Path, sandbox_level: str) -> Iterator[World]:
    (tmp_path / "sales.csv").write_text("region,price\nnorth,10\nsouth,20\neast,30\n", encoding="utf-8")
    with ScriptedServer() as server:
        yield World(tmp_path, server)


@pytest.fixture
def said(world: World) -> Callable[[str], list[dict[str, Any]]]:
    """The rows of a file of the run called `first`."""
    return lambda name: [json.loads(line) for line in (world.runs / "first" / name).read_text().splitlines()]
