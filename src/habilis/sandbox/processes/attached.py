"""Commands whose process ends with ours, from its first instruction on, however we end."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

_LAUNCHER = Path(__file__).with_name("launcher.py")


def attached(command: Sequence[str], *, cwd: str | Path | None = None) -> list[str]:
    """`command` for a process that is started by this thread, which must live as long, and ends with it.

    Raises FileNotFoundError or PermissionError for a program that cannot be run; `cwd` is where it will begin.
    """
    name = command[0]
    found = str(Path(cwd or ".", name).absolute()) if os.sep in name else shutil.which(name)
    program = Path(found or "")
    if found is None or not program.is_file():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    if not os.access(program, os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
    return [sys.executable, "-I", "-S", str(_LAUNCHER), str(os.getpid()), str(program), *command[1:]]
