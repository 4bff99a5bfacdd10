"""Kill a task the hard way, then let it go on: no finished model call is made a second time.

The task runs in a process of its own, which kills itself, without any warning to the rest of the program, the moment
its first tool call has ended.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from habilis import Team, load_settings
from habilis.core.events import Event

DATA = Path(__file__).parent / "data"
SETTINGS = load_settings(files=[Path("offline")])


class PullThePlug:
    """A sink that ends the process as a power cut would."""

    def emit(self, event: Event) -> None:
        if event.kind == "tool_call_ended":
            os.kill(os.getpid(), signal.SIGKILL)


async def die(run: Path) -> None:
    team = Team(SETTINGS, sinks=[PullThePlug()])
    await team.run("What is the average price in sales.csv?", files=[DATA / "sales.csv"], run_dir=run)


async def go_on(run: Path) -> None:
    def ended() -> list[dict]:
        lines = [json.loads(line) for line in (run / "tasks" / "task" / "events.jsonl").read_text().splitlines()]
        return [event for event in lines if event["kind"] == "model_call_ended"]

    before = len(ended())
    print(f"killed after {before} finished model calls")
    result = await Team(SETTINGS).resume(run)
    after = [event for event in ended()[before:] if not event["replayed"]]
    print(f"resumed: {result.status}, {result.final_answer}")
    print(f"model calls: {before} before the kill, {len(after)} after it, {result.usage.model_calls} in all")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(die(Path(sys.argv[1])))
    else:
        with tempfile.TemporaryDirectory() as folder:
            killed = Path(folder) / "killed"
            subprocess.run([sys.executable, __file__, killed], check=False)
            asyncio.run(go_on(killed))
