"""The process that watches a command (see `watchdog`): it waits at a pipe, and imports next to nothing.

Descriptor 3 is the pipe, in which the numbers of signals come, and which ends with the command; 4 is a handle of it.
"""

import _signal as signal  # type: ignore[import-not-found]  # the module around it is as large as all the rest
import os
import select
import time

PATIENCE_S = 4.5
"""Seconds from being asked to being killed; with what a kill takes they stay below five."""
WIND_DOWN_S = 10.0
"""Seconds more for a command that has heard, and waits for replies of models (core/signals.py)."""
WINDING_DOWN = 0
ENDING = frozenset({signal.SIGTERM, signal.SIGHUP})
TOLD = b"habilis: killed: it was asked to end, and was stuck\n"


def watch(pipe: int, command: int) -> None:
    """Return when the command is gone, or was killed."""
    until, waited = None, False
    while select.select([pipe], [], [], None if until is None else max(0.0, until - time.monotonic()))[0]:
        told = os.read(pipe, 64)
        if not told:
            return
        if until is None and not ENDING.isdisjoint(told):
            until = time.monotonic() + PATIENCE_S
        if until is not None and not waited and WINDING_DOWN in told:
            until, waited = until + WIND_DOWN_S, True
    os.write(2, TOLD)
    signal.pidfd_send_signal(command, signal.SIGKILL)


if __name__ == "__main__":
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    # Whoever reads the command's output waits until nobody can write to it any more.
    os.closerange(0, 2)
    os.closerange(5, 1 << 16)
    watch(3, 4)
