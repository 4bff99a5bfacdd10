"""The real client against a scripted server on loopback; waiting costs nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from habilis.config import ModelsSettings, RoleSettings
from habilis.models.chat import Models
from habilis.models.structured import Modes
from habilis.models.tape import Tape
from habilis.models.usage import Budget
from habilis.testing import FakeClock, RecordingSink, ScriptedServer


@dataclass
class Bench:
    """A server, and models that speak to it."""

    folder: Path
    clock: FakeClock = field(default_factory=FakeClock)
    sink: RecordingSink = field(default_factory=RecordingSink)
    modes: Modes = field(default_factory=Modes)
    server: ScriptedServer = field(init=False)
    opened: list[Any] = field(default_factory=list)

    def serve(self, answer: Any = None, **more: Any) -> ScriptedServer:
        """Start a server that answers by `answer`."""
        self.server = ScriptedServer(answer, **more).start()
        self.opened.append(self.server)
        return self.server

    def models(
        self, *, replay_only: bool = False, budget: Budget | None = None, prices: Any = None, **role: Any
    ) -> Models:
        """Models whose basic role has the settings `role`, on this bench's tape; `prices` are those of settings."""
        given = {"base_url": self.server.base_url, "model": "m", "timeout_s": 5.0, **role}
        made = Models(
            ModelsSettings(basic=RoleSettings(**given), prices=prices or {}),
            tape=Tape(self.folder / "tape.jsonl", replay_only=replay_only),
            emit=self.sink.emit,
            budget=budget or Budget(),
            sleep=self.clock.sleep,
            modes=self.modes,
        )
        self.opened.append(made)
        return made

    def fresh_process(self) -> None:
        """Forget what a process has learnt."""
        self.modes = Modes()
        self.sink = RecordingSink()


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    made = Bench(tmp_path)
    yield made
    for one in made.opened:
        if isinstance(one, Models):
            await one.aclose()
    for one in made.opened:
        if isinstance(one, ScriptedServer):
            one.close()
