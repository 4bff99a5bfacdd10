"""Which workspaces calls work in now: each is looked at before a call, and judged after it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from habilis.sandbox.ownership.judging import Baseline, WorkspaceJudge
from habilis.sandbox.ownership.workspace import Survey
from habilis.sandbox.processes.process import uncancelled

QUICK_S = 0.003
"""A look at a workspace that takes no longer is taken without a thread."""
_T = TypeVar("_T")


@dataclass
class Use:
    """A workspace while calls run in it: who judges it, how many run now, and ran at once at most."""

    workspace: Path
    judge: WorkspaceJudge | None = None
    calls: int = 0
    most: int = 0
    looking: asyncio.Lock = field(default_factory=asyncio.Lock)


class Custody:
    """All workspaces of one host. Of those that it expects calls in it remembers how the last one left them."""

    def __init__(self) -> None:
        self._in_use: dict[Path, Use] = {}
        self._expected: set[Path] = set()
        self._judged: dict[Path, tuple[Baseline, Survey]] = {}
        self._quick: set[Path] = set()

    def expect(self, workspace: Path) -> None:
        """Calls will come in `workspace`."""
        self._expected.add(workspace)

    def forget(self) -> None:
        """No more calls are expected anywhere."""
        self._expected.clear()
        self._judged.clear()
        self._quick.clear()

    def enter(self, workspace: Path) -> Use:
        """A call begins in `workspace`; `leave` must follow."""
        use = self._in_use.setdefault(workspace, Use(workspace))
        use.calls += 1
        use.most = max(use.most, use.calls)
        return use

    async def look(self, use: Use, files: Sequence[Path]) -> Survey:
        """The workspace before a call that may read `files`, never while it is judged after the last one."""
        workspace = use.workspace
        async with use.looking:
            if use.judge is not None:
                return await self._seen(lambda: Survey.of(workspace), workspace)
            known = self._judged.get(workspace, (None, None))

            def judge() -> WorkspaceJudge:
                began = Survey.of(workspace)
                return WorkspaceJudge(began, Baseline.of(began, *known), files)

            use.judge = await self._seen(judge, workspace)
        return use.judge.began

    def leave_at_once(self, use: Use) -> Survey | None:
        """As `leave`, without giving way to anybody; None, and nothing done, where that could take long."""
        judge = use.judge
        if judge is None or use.looking.locked() or use.workspace not in self._quick:
            return None
        use.calls -= 1
        alone = use.calls == 0
        try:
            now, seconds = _timed(lambda: judge.settled(alone=alone))
            self._remember(use.workspace, seconds)
            return self._kept(use, judge, now)
        finally:
            self._let_go(use)

    async def leave(self, use: Use) -> Survey:
        """The workspace after a call, judged; the last of those that ran at the same time leaves it in order."""
        use.calls -= 1
        try:
            async with use.looking:
                judge, alone = use.judge, use.calls == 0
                if judge is None:
                    return Survey.of(use.workspace)
                now = await self._seen(lambda: judge.settled(alone=alone), use.workspace)
                return self._kept(use, judge, now)
        finally:
            self._let_go(use)

    def _kept(self, use: Use, judge: WorkspaceJudge, now: Survey) -> Survey:
        if use.calls == 0 and use.workspace in self._expected:
            self._judged[use.workspace] = judge.baseline, now
        return now

    def _let_go(self, use: Use) -> None:
        if use.calls == 0:
            self._in_use.pop(use.workspace, None)

    async def _seen(self, look: Callable[[], _T], workspace: Path) -> _T:
        """What `look` sees, looked for in a thread where that takes long."""
        quick = workspace in self._quick
        result, seconds = _timed(look) if quick else await uncancelled(asyncio.to_thread(_timed, look))
        self._remember(workspace, seconds)
        return result

    def _remember(self, workspace: Path, seconds: float) -> None:
        if seconds < QUICK_S and workspace in self._expected:
            self._quick.add(workspace)
        else:
            self._quick.discard(workspace)


def _timed(look: Callable[[], _T]) -> tuple[_T, float]:
    began = time.perf_counter()
    return look(), time.perf_counter() - began
