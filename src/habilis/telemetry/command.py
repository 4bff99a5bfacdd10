"""The command that settings name for alerts: run beside the work, with a bounded time, and waited for by nobody."""

from __future__ import annotations

import contextlib
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from habilis.config import harmless_environment
from habilis.core.events import Event
from habilis.core.masker import MASKER

log = logging.getLogger(__name__)

TIME_S = 10.0
"""Seconds that a command may take, the end of the task or not."""
MOST_AT_ONCE = 4
"""Commands that run side by side; an alert beyond them stands in the record and on the console alone."""
_MESSENGER = Path(__file__).with_name("messenger.py")


class AlertCommand:
    """Starts `command`, a program with its arguments, for each alert, which it finds as JSON on its standard input.

    It gets the variables that every program needs and no others. Its failure is one line in the log.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._command = tuple(command)
        self._running: list[subprocess.Popen[bytes]] = []
        self._warned = False

    def emit(self, event: Event) -> None:
        """Run the command for an alert; all other events are nothing to it."""
        if event.kind != "alert" or not self._command:
            return None
        self._look()
        if len(self._running) >= MOST_AT_ONCE:
            return self._warn("is still at work for earlier alerts")
        program = [sys.executable, "-I", "-S", str(_MESSENGER), f"{TIME_S}", *self._command]
        quiet = subprocess.DEVNULL
        try:
            process = subprocess.Popen(
                program,
                stdin=subprocess.PIPE,
                stdout=quiet,
                stderr=quiet,
                env=harmless_environment(),
                start_new_session=True,
            )
        except OSError as error:
            return self._warn(f"could not be started: {error.strerror}")
        self._running.append(process)
        assert process.stdin is not None
        with contextlib.suppress(OSError), process.stdin as pipe:  # an alert fits into a pipe: nothing waits here
            pipe.write(MASKER.document(event.model_dump_json().encode("utf-8", "backslashreplace") + b"\n"))
        return None

    @property
    def is_at_work(self) -> bool:
        """Whether a command was started that was not waited for."""
        return bool(self._running)

    def end(self, within_s: float) -> None:
        """Wait for commands under way, no longer than that; what goes on then ends by itself at its time."""
        until = time.monotonic() + within_s
        for process in self._running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, until - time.monotonic()))
        self._look()
        for process in self._running:
            threading.Thread(target=process.wait, name="alert", daemon=True).start()  # it leaves no zombie
        self._running = []

    def _look(self) -> None:
        for process in [process for process in self._running if process.poll() is not None]:
            self._running.remove(process)
            if process.returncode:
                how = {124: f"took longer than {TIME_S:g} s", 127: "could not be started"}
                self._warn(how.get(process.returncode, f"ended with exit code {process.returncode}"))

    def _warn(self, text: str) -> None:
        if not self._warned:
            log.warning("the command of alerts.command %s", text)
        self._warned = True
