"""Runs the command of an alert and ends it when its time is over, whether or not whoever started us is still there.

A program of its own: `python -I -S messenger.py SECONDS PROGRAM ARGUMENT…`. Its exit code is that of the command, 124
when the time was over, 127 when the command could not be started.
"""

import os
import signal
import subprocess
import sys


def main() -> int:
    seconds, command = float(sys.argv[1]), sys.argv[2:]
    try:
        process = subprocess.Popen(command, start_new_session=True)
    except OSError:
        return 127
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return 124


if __name__ == "__main__":
    sys.exit(main())
