"""A process that runs one task and kills itself with SIGKILL at its n-th event.

Arguments: run folder, question, n, and the name of a conversation (in the runs folder) if the task is a turn of one.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from habilis import Team, load_settings
from habilis.core.events import Event


class KillAt:
    """Ends the process, without any clean-up, when event `number` comes (counted from 1; 0: never)."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.seen = 0

    def emit(self, event: Event) -> None:
        self.seen += 1
        if self.seen == self.number:
            os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    run_dir, question, number = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    team = Team(load_settings(), library=run_dir.parent / "library", sinks=[KillAt(number)])
    where = {"thread": sys.argv[4]} if len(sys.argv) > 4 else {"run_dir": run_dir}
    result = asyncio.run(team.run(question, **where))
    sys.stdout.write(result.model_dump_json())


if __name__ == "__main__":
    main()
