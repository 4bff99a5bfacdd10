"""Runs inside the sandbox, in a fork of the server whose tool is loaded: makes a process like itself for each call.

The new process is a child of the server and not of the loaded one, so that the server, which no tool has ever run in,
watches it, kills it and learns how it ended. Imports the standard library alone. Source: clone(2), CLONE_PARENT.
"""

import ctypes
import errno
import os
from typing import Any

PARENT, SET_ID, CLEAR_ID, SIGCHLD = 0x00008000, 0x01000000, 0x00200000, 17
PR_GET_TID_ADDRESS = 40
CLONE = {"x86_64": 56, "aarch64": 220}
MESSAGE_BYTES, MOST_DESCRIPTORS = 64, 8
ALONE = 3
"""Links of the folder of a process's threads when there is one thread."""


def beside(kind: int = PARENT) -> int:
    """fork(2) with these flags, by default as a child of our parent: the number of the new process, 0 in it, a
    negative error number where it cannot be done.

    Where threads run it is not: what they held would stay held for ever. The address where libc keeps a thread's own
    number is told to the kernel, as libc's own fork does. Raises nothing.
    """
    number = CLONE.get(os.uname().machine)
    libc, python = ctypes.PyDLL(None, use_errno=True), ctypes.pythonapi  # neither lets another thread run meanwhile
    where = ctypes.c_ulong()
    try:
        alone = os.stat("/proc/self/task").st_nlink == ALONE  # noqa: PTH116
    except OSError:
        alone = False
    if number is None or not alone or libc.prctl(PR_GET_TID_ADDRESS, ctypes.byref(where), 0, 0, 0) != 0:
        return -errno.EAGAIN
    flags = ctypes.c_ulong(kind | SET_ID | CLEAR_ID | SIGCHLD)
    python.PyOS_BeforeFork()
    # the last two have changed places on some processors; the other one is looked at by none of these flags
    pid = int(libc.syscall(number, flags, ctypes.c_ulong(0), ctypes.c_ulong(0), where, where))
    reason = ctypes.get_errno()
    (python.PyOS_AfterFork_Child if pid == 0 else python.PyOS_AfterFork_Parent)()
    return pid if pid >= 0 else -reason


def next_call(channel: Any, descriptors_of: Any) -> "tuple[bool, int, list[int]]":
    """Wait until a call is to be made (`PROCESSES SPLIT`, three descriptors); returns in the process that makes it: a
    new one, which our parent is told the number of, or this very one, where SPLIT is 0 or splitting is not possible.

    With whether it is a new one go the limit of processes and the descriptors.

    Ends the process when there is nobody left to make calls for.
    """
    while True:
        size = 4 * MOST_DESCRIPTORS + 32
        message, found, _, _ = channel.recvmsg(MESSAGE_BYTES, size)
        given = descriptors_of(found)
        if len(given) != 3:
            os._exit(0)
        processes, split = map(int, message.split())
        pid = beside() if split else -1
        if pid > 0:
            for one in given:
                os.close(one)
            channel.send(str(pid).encode("ascii"))
            continue
        if split and pid < 0:
            channel.send(b"self")
        channel.close()
        return pid == 0, processes, given
