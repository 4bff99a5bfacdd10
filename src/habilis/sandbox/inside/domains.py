"""Runs inside the sandbox, in the server and its forks: keeps processes apart that share one sandbox.

Each call enters a Landlock domain of its own, which keeps it from signalling, tracing and looking into whatever is not
in that domain. Imports the standard library alone. Sources: landlock(7) (scopes, ABI 6), prctl(2).
"""

import ctypes
import os
import resource
import signal
import sys

SYS_LANDLOCK_CREATE_RULESET, SYS_LANDLOCK_ADD_RULE, SYS_LANDLOCK_RESTRICT_SELF = 444, 445, 446
REFER = 1 << 13
SCOPES = 3  # abstract unix sockets and signals
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 36, 38


def limit(limits: "dict[str, int]", processes: int) -> None:
    """Set a call's limits, soft and hard."""
    names = {
        "cpu_s": resource.RLIMIT_CPU,
        "open_files": resource.RLIMIT_NOFILE,
    }
    for name, number in names.items():
        resource.setrlimit(number, (limits[name], limits[name]))
    _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    wanted = processes if hard == resource.RLIM_INFINITY else min(processes, hard)
    resource.setrlimit(resource.RLIMIT_NPROC, (wanted, wanted))


LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
LIBC.syscall.argtypes = [ctypes.c_long] * 5


def prctl(option: int, value: int) -> None:
    if LIBC.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}")


def new_domain() -> int:
    """A Landlock ruleset that takes no file away, and lets what enters it reach only what is in it. Raises OSError.

    It has to say that files may move from folder to folder: that right alone is gone unless a rule gives it.
    """
    attributes = (ctypes.c_uint64 * 3)(REFER, 0, SCOPES)
    made = LIBC.syscall(SYS_LANDLOCK_CREATE_RULESET, ctypes.addressof(attributes), ctypes.sizeof(attributes), 0, 0)
    if made < 0:
        raise OSError(ctypes.get_errno(), "no scopes in this kernel's Landlock")
    os.set_inheritable(made, False)
    top = os.open("/", os.O_PATH)
    rule = ctypes.create_string_buffer(REFER.to_bytes(8, sys.byteorder) + top.to_bytes(4, sys.byteorder), 12)
    if LIBC.syscall(SYS_LANDLOCK_ADD_RULE, made, 1, ctypes.addressof(rule), 0) != 0:
        raise OSError(ctypes.get_errno(), "a rule of Landlock was refused")
    os.close(top)
    return int(made)


def adopt_orphans() -> None:
    """Become the parent of every process below whose own parent has ended."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def stand_alone(domain: int) -> None:
    """Have a session and a domain of one's own, adopt one's orphans, and end with the server."""
    os.setsid()
    adopt_orphans()
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    enter(domain)


def enter(domain: int) -> None:
    """Enter a domain for good; its descriptor stays open. Raises OSError."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    if LIBC.syscall(SYS_LANDLOCK_RESTRICT_SELF, domain, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the call's domain was refused")


def held(domain: int) -> bool:
    """Whether a process in `domain` is truly kept from this one: found out by trying."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    reached = 1
    try:
        server = os.getppid()
        enter(domain)
        reached = 0
        for attempt in (lambda: os.kill(server, 0), lambda: os.open(f"/proc/{server}/environ", os.O_RDONLY)):
            try:
                attempt()
                reached += 1
            except OSError:
                continue
    finally:
        os._exit(reached)
