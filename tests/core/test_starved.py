"""A command without memory ends: nobody has to kill it, and what is told is what failed."""

from __future__ import annotations

import json
import sys

from habilis.core.place import NO_MEMORY

from .. import nursery

DEAD_THREAD = """
import threading
from habilis.core.starved import end_when_starved
class Dead(threading.Thread):
    def _bootstrap(self):
        raise MemoryError
end_when_starved(5, look_s=0.05)
try:
    Dead(daemon=True).start()
except MemoryError:
    print("told")
"""
NO_MEMORY_LEFT = """
import resource, threading
from habilis.core.starved import end_when_starved
resource.setrlimit(resource.RLIMIT_AS, (1 << 20, resource.RLIM_INFINITY))
end_when_starved(5, look_s=0.05)
threading.Event().wait()
"""
MEMORY_AGAIN = """
import resource, time
from habilis.core.starved import LOOKS, end_when_starved
looks = []
resource.setrlimit(resource.RLIMIT_AS, (1 << 20, resource.RLIM_INFINITY))
import habilis.core.starved as starved
look = starved._Looks.look
def counted(self, *given):
    looks.append(1)
    if len(looks) == LOOKS:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    look(self, *given)
starved._Looks.look = counted
end_when_starved(5, look_s=0.01)
while len(looks) < 4 * LOOKS:
    pass
print("goes on")
"""
NO_MEMORY_IN_A_CHILD = """
import functools, os, resource
from habilis.training.runners import child
child.end_when_starved = functools.partial(child.end_when_starved, look_s=0.05)
os.dup2(os.pipe()[0], 0)  # whoever started it has not yet said what to do
resource.setrlimit(resource.RLIMIT_AS, (1 << 20, resource.RLIM_INFINITY))
child.main()
"""


def _ended(program: str) -> tuple[int, str, str]:
    ended = nursery.run([sys.executable, "-c", program], text=True, timeout=60)
    return ended.returncode, ended.stdout, ended.stderr


def test_a_thread_that_dies_as_it_begins_is_told_to_who_started_it() -> None:
    assert _ended(DEAD_THREAD) == (0, "told\n", "")


def test_who_waits_for_ever_without_memory_is_ended_with_one_line() -> None:
    assert _ended(NO_MEMORY_LEFT) == (5, "", f"habilis: {NO_MEMORY}\n")


def test_who_has_memory_again_goes_on() -> None:
    assert _ended(MEMORY_AGAIN) == (0, "goes on\n", "")


def test_the_process_of_a_task_says_that_the_place_failed() -> None:
    """Its parent has memory, and waits for a word."""
    code, out, err = _ended(NO_MEMORY_IN_A_CHILD)
    assert (code, json.loads(out), err) == (1, {"failed": NO_MEMORY, "place": True}, "")
