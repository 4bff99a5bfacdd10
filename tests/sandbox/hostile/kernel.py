"""Attempts to get at what the kernel keeps for the whole machine, or for the user: counters, locks, what it tells."""

from __future__ import annotations

import textwrap

from hostile.attack import NOT_PERMITTED, NOTHING_FOUND, Attack

DONE = "\nreturn OutputModel(value='done')"
NAME_OF_HOST = "only root may call a machine otherwise, so that its name shows"
BY_NUMBER = 'def number(here, there): return here if os.uname().machine == "x86_64" else there\n'
LOOK = """
def look(path):
    import time
    with open("held.part", "w") as held:
        held.write(path)
    os.rename("held.part", "held")
    while not os.path.exists("looked"):
        time.sleep(0.001)
    return open("looked").read()
"""
"""The host tries the file, and says what it could not do (see `witnesses`)."""


def refused(name: str, harm: str, source: str) -> Attack:
    return Attack(name, harm, NOT_PERMITTED, BY_NUMBER + textwrap.dedent(source).strip() + DONE)


def holding(name: str, harm: str, source: str, path: str = "s['given']") -> Attack:
    """An attempt to keep the host from a file that is open as `held`. What is asked for is not taken."""
    before = f"{LOOK}\nimport fcntl, struct\nwhole = struct.pack('hhqqi', fcntl.F_RDLCK, 0, 0, 0, 0)\n"
    before += f"held = os.open({path}, os.O_RDONLY)\n{textwrap.dedent(source).strip()}\n"
    return Attack(name, harm, 'output: "free"$', f"{before}return OutputModel(value=look({path}))")


def unread(name: str, harm: str, *paths: str) -> Attack:
    source = f"""
    found = []
    for path in {paths!r}:
        try:
            found += [path] if open(path, "rb").read(1) else []
        except OSError:
            pass
    return OutputModel(value=found)
    """
    return Attack(name, harm, NOTHING_FOUND, source)


ATTACKS = (
    refused(
        "all contexts of asynchronous input and output",
        "no database of the machine can have one any more",
        """
        context = ctypes.c_ulong()
        syscall(number(206, 0), 65536, ctypes.byref(context))
        """,
    ),
    refused(
        "all inotify instances of the user",
        "no program of the user can watch a file any more",
        "while True: syscall(number(294, 26), 0)",
    ),
    refused("an inotify instance by the old call", "the filter knows the new one alone", "syscall(number(253, 26), 0)"),
    refused(
        "a message queue",
        "queues that outlive the call use up the user's",
        "syscall(number(240, 180), b'habilis', 0o100 | 2, 0o600, None)",
    ),
    refused("a message to a queue", "a queue of another is filled", "syscall(number(242, 182), 0, b'x', 1, 0, None)"),
    refused(
        "a semaphore of System V",
        "semaphores that outlive the call use up the machine's",
        "syscall(number(64, 190), 0, 1, 0o1600)",
    ),
    Attack(
        "all timers of the user",
        "no program of the user can have a signal wait any more",
        r"output: (\d{1,3}|10[0-2]\d)$",
        """
        count = 0
        for _ in range(5000):
            try:
                syscall(222 if os.uname().machine == "x86_64" else 107, 0, None, ctypes.byref(ctypes.c_int()))
                count += 1
            except OSError:
                break
        return OutputModel(value=count)
        """,
    ),
    Attack(
        "all terminals of the machine",
        "nobody can log in any more",
        r"(denied|crashed): .*(No such file|Permission denied)",
        "kept = [os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY) for _ in range(100)]" + DONE,
    ),
    refused(
        "larger pipes",
        "other programs of the user get the smallest only",
        """
        import fcntl
        fcntl.fcntl(os.pipe()[0], 1031, 1 << 20)
        """,
    ),
    refused("everything written to disk at once", "all who write wait", "syscall(number(306, 267), 1)"),
    refused(
        "a lease on the task's file",
        "whoever opens the file waits for most of a minute",
        """
        import fcntl
        fcntl.fcntl(os.open(s["given"], os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK)
        """,
    ),
    refused(
        "a lease on a file of its own",
        "the host, which reads the workspace, waits",
        """
        import fcntl
        fcntl.fcntl(os.open("leased", os.O_CREAT | os.O_RDWR), fcntl.F_SETLEASE, fcntl.F_WRLCK)
        """,
    ),
    refused(
        "notes about a folder",
        "what happens in the task's folder is told by signals",
        """
        import fcntl
        fcntl.fcntl(os.open(s["shared"], os.O_RDONLY), fcntl.F_NOTIFY, 0x8000003F)
        """,
    ),
    refused(
        "a signal by what a pipe reports",
        "the kernel sends it in the tool's place",
        """
        import fcntl
        fcntl.fcntl(os.pipe()[0], fcntl.F_SETOWN, s["victim"])
        """,
    ),
    holding("a lock on the task's file", "the user's program waits for it", "fcntl.flock(held, fcntl.LOCK_EX)"),
    holding("a shared lock on the task's file", "nobody can lock it to write", "fcntl.flock(held, fcntl.LOCK_SH)"),
    holding(
        "a lock on a range of the task's file",
        "a database of the user's cannot be written",
        "fcntl.fcntl(held, fcntl.F_SETLK, whole)",
    ),
    holding(
        "a lock that belongs to a descriptor",
        "a database of the user's cannot be written",
        "fcntl.fcntl(held, fcntl.F_OFD_SETLKW, whole)",
    ),
    holding(
        "a lock on a file of the system",
        "whoever updates it waits",
        "fcntl.flock(held, fcntl.LOCK_EX)",
        "os.path.realpath(os.__file__)",
    ),
    holding(
        "a lock on a file inside the workspace",
        "the host, which keeps what calls made, waits",
        "fcntl.flock(held, fcntl.LOCK_EX)\nfcntl.fcntl(held, fcntl.F_SETLK, whole)",
        "s['inside']",
    ),
    holding(
        "a lock by a child that stays",
        "a lock is held by another than the call's first process",
        """
        import time
        if os.fork() == 0:
            fcntl.flock(os.open(s["given"], os.O_RDONLY), fcntl.LOCK_EX)
            open("taken", "w").close()
            while True: time.sleep(1)
        while not os.path.exists("taken"): time.sleep(0.001)
        """,
    ),
    unread(
        "the kernel's command line",
        "what the machine was started with, keys of its disks perhaps, is read",
        "/proc/cmdline",
        "/proc/bootconfig",
    ),
    unread(
        "figures of the disks",
        "what others read and write is measured",
        *("/proc/diskstats", "/proc/partitions", "/proc/swaps", "/proc/mdstat", "/sys/block/vda/stat"),
        "/sys/class/block/sda/stat",
    ),
    unread(
        "what the machine consists of",
        "the machine is told from others by its devices, modules and settings",
        *("/proc/modules", "/proc/interrupts", "/proc/bus/input/devices", "/proc/bus/pci/devices"),
        *("/proc/scsi/scsi", "/proc/asound/cards", "/proc/sys/kernel/random/boot_id", "/proc/sys/kernel/osrelease"),
        "/sys/devices/virtual/dmi/id/board_serial",
    ),
    unread(
        "locks and keys of others",
        "which files others hold, and what keys they have, is read",
        *("/proc/locks", "/proc/keys", "/proc/key-users"),
    ),
    Attack(
        "the host's name",
        "the machine is known by its name",
        NOTHING_FOUND,
        """
        import platform, socket
        found = {os.uname().nodename, platform.node(), socket.gethostname()}
        for path in ("/proc/sys/kernel/hostname", "/etc/hostname"):
            try:
                found.add(open(path).read().strip())
            except OSError:
                pass
        assert found
        return OutputModel(value=sorted(found & {s["nodename"]}))
        """,
        known={"landlock/ordinary": NAME_OF_HOST},
    ),
    refused("old rules for memory", "all memory is executable", "syscall(number(135, 92), 0x0400000)"),
    refused(
        "a process that looks like another",
        "tools of the administrator show it as another",
        "worked(libc.prctl(35, 8, 0, 0, 0))",
    ),
    refused(
        "pages shared with others", "what others hold in memory is found out", "worked(libc.prctl(67, 1, 0, 0, 0))"
    ),
    refused(
        "a processor core kept from others", "the tool decides who runs beside it", "worked(libc.prctl(62, 1, 0, 0, 0))"
    ),
    refused("a socket made as a node", "a socket is left in the workspace", "os.mknod('node', 0o140666)"),
    refused("mounts by number", "mounts of the host are counted and named", "syscall(458, None, None, 0, 0)"),
    refused("what others read lately", "pages that are in memory are counted", "syscall(451, 0, None, None, 0)"),
    Attack(
        "calls that nobody has looked at",
        "a call that is newer than the filter is let through",
        NOTHING_FOUND,
        """
        found = []
        wild = (0x3FFFFFFF, 0x40000000, 0x40000029, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 31 | 41)
        for number in (*range(471, 1100), *wild):
            got, error = libc.syscall(ctypes.c_long(number), 0, 0, 0, 0, 0, 0), ctypes.get_errno()
            found += [] if (got, error) == (-1, 38) else [[number, got, error]]
        return OutputModel(value=found)
        """,
    ),
)
