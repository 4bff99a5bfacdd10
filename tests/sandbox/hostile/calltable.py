"""What a tool may ask of the kernel, written down a second time: whoever changes the filter has to say so here, too."""

from __future__ import annotations

import errno
from typing import NamedTuple

from habilis.sandbox.syscalls.callnumbers import LAST, numbers

ALLOW = "allow"
ASK = "ask"
Verdict = int | str
"""`ALLOW`, `ASK`, or the number of the error with which the call fails, 0 for one that is not made and says it was."""
Arguments = tuple[int, ...]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PLAIN = _words(
    """
    access alarm arch_prctl brk capget capset chdir clock_getres clock_gettime clock_nanosleep close close_range
    copy_file_range creat dup dup2 dup3 epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd
    eventfd2 execve execveat exit exit_group faccessat faccessat2 fadvise64 fallocate fchdir fdatasync fork fstat
    fstatfs fsync ftruncate futex futex_requeue futex_wait futex_waitv futex_wake get_mempolicy get_robust_list getcpu
    getcwd getdents getdents64 getegid geteuid getgid getgroups getitimer getpeername getpgid getpgrp getpid getppid
    getpriority getrandom getresgid getresuid getrlimit getrusage getsid getsockname getsockopt gettid gettimeofday
    getuid ioprio_get landlock_add_rule landlock_create_ruleset landlock_restrict_self link linkat lseek lstat madvise
    map_shadow_stack mbind membarrier mincore mkdir mkdirat mlock mlock2 mlockall mmap mprotect mremap mseal msync
    munlock munlockall munmap nanosleep newfstatat open openat openat2 pause pidfd_open pipe pipe2 pkey_alloc pkey_free
    pkey_mprotect poll ppoll pread64 preadv preadv2 pselect6 pwrite64 pwritev pwritev2 read readahead readlink
    readlinkat readv recvfrom recvmmsg recvmsg rename renameat renameat2 restart_syscall rmdir rseq rt_sigaction
    rt_sigpending rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigtimedwait sched_get_priority_max
    sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval
    sched_yield seccomp select sendfile set_mempolicy set_mempolicy_home_node set_robust_list set_tid_address setfsgid
    setfsuid setgid setgroups setitimer setpgid setregid setresgid setresuid setreuid setrlimit setsid setuid shutdown
    sigaltstack signalfd signalfd4 splice stat statfs statx symlink symlinkat sync_file_range sysinfo tee time
    timer_create timer_delete timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime
    timerfd_settime times truncate umask uname unlink unlinkat vfork vmsplice wait4 waitid write writev
    """
)
SIGNALS = _words("kill pidfd_send_signal rt_sigqueueinfo rt_tgsigqueueinfo tgkill tkill")
ATTRIBUTES = _words("chmod chown fchmod fchmodat fchmodat2 fchown fchownat futimesat lchown utime utimensat utimes")
EXTENDED = _words(
    """
    fgetxattr flistxattr fremovexattr fsetxattr getxattr getxattrat lgetxattr listxattr listxattrat llistxattr
    lremovexattr lsetxattr removexattr removexattrat setxattr setxattrat file_getattr
    """
)
BY_ARGUMENTS = _words(
    """
    accept accept4 bind clone clone3 connect fcntl flock ioctl listen mknod mknodat personality prctl prlimit64
    sched_setaffinity sched_setattr sched_setparam sched_setscheduler sendmmsg sendmsg sendto setpriority setsockopt
    socket socketpair
    """
)

UNASKED = ("uretprobe", "uprobe")
"""The kernel puts these into programs that somebody watches, asks no filter, and ends whoever makes one by himself."""
HIGH = 1 << 32
"""A bit that the kernel does not look at, where an argument is a whole number of 32 bits."""


class Kind(NamedTuple):
    """A filter: which level and which calls it is for, and the arguments of `seccomp.program`."""

    name: str
    options: dict[str, object]
    free: bool = False
    lent: bool = False

    @property
    def network(self) -> Verdict:
        """What becomes of calls that make or await a connection."""
        return ALLOW if self.free else errno.EACCES


KINDS = (
    Kind("bubblewrap", {}),
    Kind("bubblewrap with a door", {"sockets": (2,)}, free=True),
    Kind("landlock", {"attributes": False}),
    Kind("landlock with a door", {"attributes": False, "sockets": (2,), "lent": True}, lent=True),
    Kind("landlock of an old kernel", {"attributes": False, "signals": False}),
)


def plainly(kind: Kind, name: str) -> Verdict:
    """The verdict on a call whose arguments nobody looks at."""
    if name in SIGNALS:
        return errno.EPERM if kind.options.get("signals") is False else ALLOW
    if name in ATTRIBUTES:
        return 0 if kind.options.get("attributes") is False else ALLOW
    if name in EXTENDED:
        return errno.ENOTSUP if kind.options.get("attributes") is False else ALLOW
    return ALLOW if name in PLAIN else errno.EPERM


def by_number(kind: Kind, column: int) -> dict[int, Verdict]:
    """The verdict on every number up to some way beyond the last, but for calls that arguments decide."""
    names = {found[column]: name for name, found in numbers().items() if found[column] is not None}
    wild = (0x3FFFFFFF, 0x40000000, 0x40000029, 0x40000208, 0x7FFFFFFF, 0x80000000, 0x80000029, 0xFFFFFFFF)
    expected: dict[int, Verdict] = {}
    for number in range(LAST + 1):
        if names.get(number) not in BY_ARGUMENTS:
            expected[number] = plainly(kind, names[number]) if number in names else errno.EPERM
    return {**expected, **dict.fromkeys((*range(LAST + 1, LAST + 200), *wild), errno.ENOSYS)}


def by_arguments(kind: Kind) -> list[tuple[str, Arguments, Verdict]]:
    """Calls with arguments, and the verdict on each."""
    no, kept_in = errno.EPERM, errno.EACCES
    made = ASK if kind.lent else ALLOW if kind.free else kept_in
    fast, somewhere = 0x20000000, 0x7FFF00001000
    addressed: Verdict = ALLOW if kind.free else kept_in
    slow: Verdict = kept_in if kind.lent else ALLOW
    found: list[tuple[str, Arguments, Verdict]] = [
        *(("fcntl", (9, command), ALLOW) for command in (0, 1, 2, 3, 4, 5, 36, 1027, 1028, 1030, 1032, 1034)),
        *(("fcntl", (9, command), 0) for command in (6, 7, 37, 38, 6 | HIGH)),
        *(("fcntl", (9, command), no) for command in (8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32, 35, 39, 1024, 1025)),
        *(("fcntl", (9, command), no) for command in (1026, 1029, 1031, 1033, 1036, 1038, 1039, 1 << 31, 1024 | HIGH)),
        *(("flock", (9, how), 0) for how in (1, 2, 4, 5, 6, 8)),
        *(("ioctl", (0, request), ALLOW) for request in (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x40049409)),
        *(
            ("ioctl", (0, request), no)
            for request in (0x5412, 0x541C, 0x40086602, 0x401C5820, 0x8912, 0x8927, 0xC0502100)
        ),
        *(("ioctl", (0, request), no) for request in (0x40087602, 0x5412 | HIGH, 0xB701, 0x4020AE46, 0, 0xFFFFFFFF)),
        *(("prctl", (option,), ALLOW) for option in (1, 2, 4, 15, 16, 22, 36, 38, 39, 40, 0x53564D41)),
        *(("prctl", (option,), no) for option in (0, 14, 28, 35, 43, 59, 62, 67, 77, 100, 0x59616D61, 35 | HIGH)),
        *(("personality", (kind_of,), ALLOW) for kind_of in (0xFFFFFFFF, 0)),
        *(("personality", (kind_of,), no) for kind_of in (8, 0x0400000, 0x0040000, 0x0020008, 0x0400000 | HIGH)),
        *(("mknod", (somewhere, mode), ALLOW) for mode in (0o600, 0o100644, 0o010600)),
        *(("mknod", (somewhere, mode), no) for mode in (0o140600, 0o060600, 0o020600, 0o140600 | HIGH)),
        ("mknodat", (0, somewhere, 0o100600), ALLOW),
        *(("mknodat", (0, somewhere, mode), no) for mode in (0o140600, 0o060600, 0o020600)),
        *(("clone", (flags,), ALLOW) for flags in (17, 0x01200011, 0x003D0F00, 0x00008011, 0x4111)),
        *(("clone", (1 << bit | 17,), no) for bit in (17, 25, 26, 27, 28, 29, 30)),
        ("clone", (0x10000000 | HIGH,), no),
        ("clone3", (somewhere, 88), errno.ENOSYS),
        ("setpriority", (0, 0, 5), ALLOW),
        *(("setpriority", who, no) for who in ((0, 1, 5), (1, 0, 5), (2, 0, 5))),
        *((name, (0,), ALLOW) for name in ONLY_SELF),
        *((name, (who,), no) for name in ONLY_SELF for who in (1, 4711, 0xFFFFFFFF)),
        *(("socketpair", (1, type_, protocol), ALLOW) for type_ in (1, 0x801, 0x80001, 0x80801) for protocol in (0, 1)),
        *(("socketpair", (1, type_), kept_in) for type_ in (0, 2, 3, 4, 5, 6, 10, 0x802, 0x80002, 2 | HIGH)),
        *(("socketpair", (family, 1), kept_in) for family in (0, 2, 10, 16, 17, 30, 38, 40, 2 | HIGH)),
        *(("socket", (2, type_, protocol), made) for type_ in (1, 0x801, 0x80801) for protocol in (0, 6)),
        *(("socket", (2, 1, protocol), kept_in) for protocol in (1, 17, 132, 262)),
        *(("socket", (2, type_), kept_in) for type_ in (2, 3, 4, 5, 6, 10, 2 | HIGH)),
        *(("socket", (family, 1), kept_in) for family in (0, 1, 10, 16, 17, 30, 31, 38, 40, 44, 1 | HIGH)),
        ("connect", (3, somewhere, 16), 0 if kind.lent else kind.network),
        *((name, (3, somewhere, 16), kind.network) for name in ("bind", "listen", "accept", "accept4")),
        ("sendto", (3, somewhere, 5, 0, 0, 0), ALLOW),
        *(("sendto", (3, somewhere, 5, 0, where, 16), addressed) for where in (somewhere, 1, HIGH, 1 << 63)),
        *((name, (3, somewhere, 0, 0), ALLOW) for name in ("sendmsg", "sendmmsg")),
        ("sendto", (3, somewhere, 5, fast, 0, 0), slow),
        ("sendmsg", (3, somewhere, fast), slow),
        ("sendmmsg", (3, somewhere, 1, fast), slow),
        *(("setsockopt", (3, level, option), ALLOW) for level, option in ((1, 2), (1, 9), (1, 20), (6, 1), (0, 1))),
        *(("setsockopt", (3, 1, option), no) for option in (26, 50, 51, 52, 26 | HIGH)),
        *(("setsockopt", (3, 6, option), no) for option in (14, 19, 31, 32, 38)),
        *(("setsockopt", (3, level, 1), no) for level in (17, 41, 132, 136, 279, 282, 284)),
    ]
    return found


ONLY_SELF = ("prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr")


def refusals(kind: Kind, machine: str) -> list[tuple[int, Arguments, int]]:
    """Every call that must fail, as number and arguments, with the error; those that only say that they were made are
    not among them. What is tried with no arguments has all ones, which no call can do anything with."""
    column = ("x86_64", "aarch64").index(machine)
    ones = (0xFFFFFFFFFFFFFFFF,) * 6
    found = [
        (number, ones, verdict)
        for number, verdict in by_number(kind, column).items()
        if isinstance(verdict, int) and number not in {numbers()[name][column] for name in UNASKED}
    ]
    for name, arguments, verdict in by_arguments(kind):
        number = numbers()[name][column]
        if number is not None and isinstance(verdict, int):
            found.append((number, arguments, verdict))
    return [refusal for refusal in found if refusal[2]]
