"""Becomes a program that ends with the process which started it: `launcher.py PARENT PROGRAM ARGUMENTS…`.

The kernel ends it when its parent does (PR_SET_PDEATHSIG in prctl(2), kept over execve(2)); a parent that was gone
before is known by its number. Elsewhere than on Linux the program has to look after itself, at the end of its standard
input, say.
"""

import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def end_with(parent: int) -> None:
    """Have the kernel end this process with `parent`, or end at once where that has gone."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def main() -> None:
    """Become the program of the command line."""
    program = sys.argv[2]
    end_with(int(sys.argv[1]))
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as the interpreter found it
    try:
        os.execv(program, sys.argv[2:])
    except OSError as error:
        sys.stderr.write(f"{program}: {error.strerror}\n")
        os._exit(126)


if __name__ == "__main__":
    main()
