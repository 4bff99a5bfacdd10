"""A process that curates one step and kills itself with SIGKILL at a point. Arguments: folder, point, before|after."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from habilis.config import load_settings
from habilis.core.types import TaskResult
from habilis.curation.curator import Curator
from habilis.curation.ledger.journal import Journal
from habilis.curation.ledger.reports import Finished, Point
from habilis.runtime.host import ToolHost


class KillingJournal(Journal):
    point = ""
    before = False

    def write(self, step: int, point: Point, payload: dict[str, Any]) -> None:
        if point == self.point and self.before:
            os.kill(os.getpid(), signal.SIGKILL)
        super().write(step, point, payload)
        if point == self.point:
            os.kill(os.getpid(), signal.SIGKILL)


async def main() -> None:
    folder, point, when = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    journal = KillingJournal(folder / "run" / "journal.jsonl")
    journal.point, journal.before = point, when == "before"
    settings = load_settings(overrides=["evolution.merge_policy=model"])
    host = ToolHost(settings.sandbox)
    tasks = [
        Finished(
            task_id=path.name,
            status="answered",
            folder=str(path),
            result=TaskResult(task_id=path.name, status="answered", question="?"),
        )
        for path in sorted((folder / "run" / "tasks").iterdir())
        if path.name in ("t1", "t2")
    ]
    try:
        curator = Curator(folder / "library", folder / "run", settings=settings, host=host, journal=journal)
        report = await curator.step(2, tasks)
    finally:
        await host.aclose()
    sys.stdout.write(report.model_copy(update={"seconds": 0.0}).model_dump_json())


if __name__ == "__main__":
    asyncio.run(main())
