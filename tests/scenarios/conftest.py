"""Whole stories over the real HTTP client, the real sandbox and files of a user's own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from habilis import Team, load_settings
from habilis.testing import RecordingSink, ScriptedServer

from .. import nursery

ROOT = Path(__file__).resolve().parents[2]
CHILD = Path(__file__).parent / "child.py"
LONG = "tools.short_way=false"
"""The way with a plan by a model, and calls by one."""


@dataclass
class World:
    """A folder with a user's files, and a scripted server for the models."""

    home: Path
    server: ScriptedServer

    def team(self, *settings: str, sink: RecordingSink | None = None) -> Team:
        loaded = load_settings(
            overrides=[
                f"runs_dir={self.home / 'runs'}",
                f"models.basic.base_url={self.server.base_url}",
                "models.basic.model=scripted",
                *settings,
            ]
        )
        return Team(loaded, library=self.home / "library", sinks=[sink] if sink else [])

    def environment(self, **more: str) -> dict[str, str]:
        """What a child process of the test needs to know, and settings of its own."""
        return {
            **os.environ,
            "OPENAI_BASE_URL": self.server.base_url,
            "OPENAI_MODEL": "scripted",
            "PYTHONPATH": str(ROOT / "src"),
            **more,
        }

    def start(
        self, run: Path, question: str, kill_at: int = 0, *more: str, **settings: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a task in a process of its own that kills itself at its `kill_at`-th event."""
        command = [sys.executable, str(CHILD), str(run), question, str(kill_at), *more]
        return nursery.run(command, cwd=self.home, env=self.environment(**settings), text=True, timeout=120)


@pytest.fixture
def world(tmp_path: Path, sandbox_level: str) -> Iterator[World]:
    (tmp_path / "runs").mkdir()
    (tmp_path / "sales.csv").write_text("region,price\nnorth,10\nsouth,20\neast,30\n", encoding="utf-8")
    (tmp_path / "euro.csv").write_text("region;price\nnorth;1.000,50\nsouth;2.000,50\n", encoding="utf-8")
    (tmp_path / "empty.csv").write_text("", encoding="utf-8")
    with ScriptedServer() as server:
        yield World(tmp_path, server)
