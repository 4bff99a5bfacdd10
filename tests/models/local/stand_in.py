"""In place of llama.cpp: serves the offline model for an order, or fails at it as the model's name says."""

import os
import signal
from pathlib import Path
from typing import Any

from habilis.models.local.child import run
from habilis.testing import ScriptedServer


def start(order: dict[str, Any]) -> int:
    print("loading", order["model"], flush=True)
    if "broken" in order["name"]:
        raise ValueError("tensor 'output.weight' is missing")
    if "killed" in order["name"]:
        os.kill(os.getpid(), 9)
    if "endless" in order["name"]:
        # Whole or not at all: the test reads it as soon as it is there.
        aside, pid = Path(order["state"]).with_name("pid.new"), Path(order["state"]).with_name("pid")
        aside.write_text(str(os.getpid()), encoding="utf-8")
        aside.rename(pid)
        signal.pause()
    server = ScriptedServer(models=[order["name"]], key=order["key"]).start()
    with Path(order["state"]).with_name("starts").open("a", encoding="utf-8") as starts:
        starts.write(f"{os.getpid()}\n")
    return int(server.base_url.rsplit(":", 1)[1].split("/")[0])


if __name__ == "__main__":
    run(start)
