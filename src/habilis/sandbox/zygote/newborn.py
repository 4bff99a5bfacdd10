"""Runs in a fork of the zygote: from its first instruction to the program that it was made for.

The fork is the first process of new namespaces. It lets go of all that was the zygote's, reads what it is to be, makes
its own file system, gives up its rights, and starts the second process, which is confined like any other (see
`confine`); it stays behind itself to collect the dead, and ends when the second does. Imports the standard library
alone. Sources: namespaces(7), user_namespaces(7), capabilities(7), netdevice(7), prctl(2).
"""

import _socket
import ctypes
import fcntl
import json
import os
import select
import signal
import sys
from typing import Any

NEW_USER = 0x10000000
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_READ, PR_CAPBSET_DROP = 1, 4, 23, 24
CAP_SETGID, CAP_SETUID = 6, 7
SET_FLAGS, UP = 0x8914, 1
BASE = 16
"""Descriptors up to here are put in order."""
REQUEST, REPLY, SPEC, ZYGOTE = 3, 4, 5, 6
FAILED = 71
LIBC = ctypes.CDLL(None, use_errno=True)


def begin(given: "list[int]", zygote: int, programs: "dict[str, Any]") -> None:
    """Become what the spec says; `given` are the descriptors of spec, request, reply and of what is printed."""
    spec, request, reply, printed = given
    confine = programs["confine"]
    in_order((request, reply, spec, zygote), printed)
    tie(confine)
    with os.fdopen(SPEC, "rb") as opened:
        wanted = json.loads(opened.read())
    try:
        build(wanted, programs["mounting"], confine)
    except OSError as error:
        os.write(1, f"the sandbox: {error.filename or 'its start'}: {error.strerror}\n".encode())
        os._exit(FAILED)
    os.setsid()
    confine.restrict_calls(wanted["seccomp"])
    second = os.fork()
    if second:
        os._exit(collect(second, confine))
    become(wanted, confine)


def in_order(wanted: "tuple[int, ...]", printed: int) -> None:
    """Have the descriptors that are ours where they are looked for, and no others."""
    above = [fcntl.fcntl(one, fcntl.F_DUPFD, BASE) for one in (*wanted, printed)]
    for place, one in zip((*range(3, 3 + len(wanted)), 1), above, strict=True):
        os.dup2(one, place)
    os.dup2(1, 2)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.closerange(3 + len(wanted), 1 << 20)


def tie(confine: Any) -> None:
    """End with the zygote, also where it has ended by now."""
    confine.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    ended = select.poll()
    ended.register(ZYGOTE, select.POLLIN)
    if ended.poll(0):
        os._exit(FAILED)


def build(wanted: "dict[str, Any]", mounting: Any, confine: Any) -> None:
    """Everything that takes rights; afterwards there are none but those that `confine` needs. Raises OSError."""
    uid, gid = os.geteuid(), os.getegid()
    proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
    if wanted["own_user"]:
        uid, gid = wanted["uid"], wanted["gid"]
        be(confine, proc, (0, uid), (0, gid))
    loopback_up()
    name = wanted["host_name"].encode()
    if LIBC.sethostname(name, len(name)) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), "its name")
    mounting.View().make(wanted["walls"])
    if wanted["own_user"]:
        if LIBC.unshare(NEW_USER) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), "a second user namespace")
        be(confine, proc, (uid, 0), (gid, 0))
        tie(confine)
    os.close(proc)
    os.close(ZYGOTE)
    keep_only(confine, () if wanted["own_user"] else (CAP_SETGID, CAP_SETUID))


def be(confine: Any, proc: int, user: "tuple[int, int]", group: "tuple[int, int]") -> None:
    """Say who a user and a group of the outer namespace are in ours; `proc` is a writable /proc."""
    confine.prctl(PR_SET_DUMPABLE, 1)  # else these files are root's
    maps = {"setgroups": "deny", "uid_map": f"{user[0]} {user[1]} 1", "gid_map": f"{group[0]} {group[1]} 1"}
    for file, text in maps.items():
        opened = os.open(f"self/{file}", os.O_WRONLY, dir_fd=proc)
        os.write(opened, text.encode())
        os.close(opened)


def loopback_up() -> None:
    """Start the loopback of a new network namespace; the kernel gives it its address."""
    asked = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    fcntl.ioctl(asked.fileno(), SET_FLAGS, b"lo".ljust(16, b"\0") + UP.to_bytes(2, sys.byteorder) + bytes(22))
    asked.close()


def keep_only(confine: Any, kept: "tuple[int, ...]") -> None:
    """Give up every capability but these, for good. Raises OSError."""
    number = 0
    while LIBC.prctl(PR_CAPBSET_READ, ctypes.c_ulong(number), 0, 0, 0) >= 0:
        if number not in kept and LIBC.prctl(PR_CAPBSET_DROP, ctypes.c_ulong(number), 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), "a right")
        number += 1
    confine.set_capabilities(sum(1 << one for one in kept))


def collect(second: int, confine: Any) -> int:
    """Be the first process: collect the dead until the second has ended; its exit code, as a shell says it.

    As an ordinary user it is dumpable, since the host, which is the same user, looks through it at what the private
    folders hold; the filter and the Landlock domain keep tools from it.
    """
    confine.set_capabilities(0)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    os.closerange(3, 1 << 20)
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == second:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def become(wanted: "dict[str, Any]", confine: Any) -> None:
    """Be the second process, which is confined and becomes the program, or an interpreter `afresh` that does so, for
    what was loaded otherwise than it is wanted. Raises what that raises."""
    confine.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    confine.prctl(PR_SET_DUMPABLE, 1)  # as after an exec
    os.environ.clear()
    os.environ.update(wanted["env"], PWD="/", HABILIS_IN=str(REQUEST), HABILIS_OUT=str(REPLY))
    if wanted["afresh"]:
        os.execv(wanted["afresh"][0], wanted["afresh"])
    confine.confine(wanted["policy"], wanted["command"])
