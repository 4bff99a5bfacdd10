"""A task's process that does what its task's name says; any other task is run as it should be."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys


def say(**what: object) -> None:
    print(json.dumps(what), flush=True)


def main() -> None:
    line = sys.stdin.readline()
    kind = json.loads(line)["job"]["task"]["id"]
    if kind == "exits":
        sys.stderr.write("noise\nlibfoo: assertion failed\n")
        sys.stderr.flush()
        os._exit(7)
    if kind == "segfaults":
        ctypes.string_at(0)
    if kind == "babbles":
        sys.stdout.write('no json\n{"event": {"kind": "from_a_later_version"}}\n[1]\n{"done": tr')
        sys.stdout.flush()
        os._exit(0)
    if kind == "blocks":  # deaf to everything, with a process of its own in a session of its own
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        subprocess.Popen([sys.executable, "-c", "while True: pass", sys.argv[1]], start_new_session=True)
        say(event={"kind": "notice", "text": "blocked"})
        while True:
            pass
    if kind == "eats":
        held = b"x" * (400 << 20)
        say(event={"kind": "notice", "text": f"ate {len(held)}"})
        signal.pause()


if __name__ == "__main__":
    main()
