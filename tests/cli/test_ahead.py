"""What a user would lose if imports on a thread met those of the task: an answer, where the machine is busy."""

from __future__ import annotations

import subprocess
import sys

ROUNDS = 60
RACE = """
import random, sys, threading, time
from habilis.cli import ahead
from habilis.schemas import checking

sys.setswitchinterval(1e-6)
for _ in range(int(sys.argv[1])):
    for name in [one for one in sys.modules if one.partition(".")[0] == "jsonschema"]:
        del sys.modules[name]
    checking.checker_of.cache_clear()
    both = threading.Barrier(2)

    def load():
        both.wait()
        ahead._load()

    other = threading.Thread(target=load)
    other.start()
    both.wait()
    until = time.perf_counter() + random.random() * 0.012
    while time.perf_counter() < until:
        pass
    checking.checker_of('{"type": "object"}')
    other.join()
"""


def test_a_schema_is_checked_while_a_thread_imports_what_is_needed_later() -> None:
    """The library of schemas imports itself in a circle: the thread and the task would each find it half made."""
    done = subprocess.run([sys.executable, "-c", RACE, str(ROUNDS)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-400:]
