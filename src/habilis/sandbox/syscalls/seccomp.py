"""The system calls that a tool gets, as a filter for seccomp(2): what is not listed here is refused.

It stands on top of the real walls (namespaces or Landlock) and closes what they leave open: sockets, other processes,
what the kernel counts for the whole machine or for a user (aio contexts, keys, inotify instances, message queues,
shared memory, leases), and its wider doors (namespaces, mounts, BPF, file handles, io_uring). Where the number of a
call says too little, its arguments decide. Refused calls return an error, they do not kill, so that a tool can say what
it wanted. Calls that are newer than `callnumbers` do not exist here, which sends libc back to those that do.

Locks on files (flock, and the locks of fcntl) report success and are not taken. A lock needs no more than a descriptor
open for reading, belongs to the file and not to the walls before it, and would hold up whoever else locks one of the
task's files; but SQLite, and what is built on it, does not work where locks fail. What this costs: a tool's lock holds
nobody off, be it another process or a call at the same time. Tools that use such files count as writing, and calls that
write are made one after the other. Whether a file is locked (F_GETLK) is answered by the kernel: SQLite asks for it.
"""

from __future__ import annotations

import base64
import errno
import platform
from collections.abc import Sequence
from functools import lru_cache

from habilis.sandbox.syscalls.bpf import ALLOW, ASK, CallRule, Check, FilterCase, always, assembled, fail
from habilis.sandbox.syscalls.callnumbers import LAST, numbers

AF_UNIX, AF_INET = 1, 2
_STREAM, _KIND = (1,), 0xF
"""SOCK_STREAM, and the bits of a socket's type that say its kind."""
_OF_STREAMS = (0, 6)
"""Protocols of a stream socket: the family's own, and TCP; MPTCP, SCTP and the like are others."""
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_FILES = """
read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek open openat openat2 creat close
close_range dup dup2 dup3 pipe pipe2 stat fstat lstat newfstatat statx statfs fstatfs access faccessat faccessat2
truncate ftruncate fallocate fadvise64 readahead fsync fdatasync sync_file_range sendfile splice tee vmsplice
copy_file_range getdents getdents64 getcwd chdir fchdir umask rename renameat renameat2 mkdir mkdirat rmdir link linkat
unlink unlinkat symlink symlinkat readlink readlinkat
"""
_WAITING = """
poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2
signalfd signalfd4 timerfd_create timerfd_settime timerfd_gettime futex futex_waitv futex_wake futex_wait futex_requeue
"""
_MEMORY = """
mmap mprotect munmap brk mremap msync mincore madvise mlock mlock2 munlock mlockall munlockall mbind set_mempolicy
get_mempolicy set_mempolicy_home_node pkey_mprotect pkey_alloc pkey_free membarrier mseal map_shadow_stack
"""
_PROCESSES = """
fork vfork execve execveat exit exit_group wait4 waitid getpid getppid gettid getpgid getpgrp getsid setpgid setsid
pidfd_open set_tid_address set_robust_list get_robust_list rseq arch_prctl sched_yield sched_getaffinity
sched_getscheduler sched_getparam sched_getattr sched_get_priority_max sched_get_priority_min sched_rr_get_interval
getcpu getpriority ioprio_get getrlimit setrlimit getrusage times seccomp landlock_create_ruleset landlock_add_rule
landlock_restrict_self
"""
_RIGHTS = """
getuid geteuid getgid getegid getresuid getresgid getgroups setuid setgid setreuid setregid setresuid setresgid
setgroups setfsuid setfsgid capget capset
"""
"""The kernel checks what may be changed; `confine` gives up its rights below the filter."""
_TIME = """
time gettimeofday clock_gettime clock_getres clock_nanosleep nanosleep alarm getitimer setitimer timer_create
timer_settime timer_gettime timer_getoverrun timer_delete
"""
_OWN_SIGNALS = """
rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend sigaltstack pause restart_syscall
"""
_MACHINE = "uname sysinfo getrandom"
_OF_SOCKETS = "recvfrom recvmsg recvmmsg shutdown getsockname getpeername getsockopt"
_SIGNALS = "kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal"
_ATTRIBUTES = """
chmod fchmod fchmodat fchmodat2 chown lchown fchown fchownat utime utimes futimesat utimensat
"""
_EXTENDED = """
getxattr lgetxattr fgetxattr getxattrat listxattr llistxattr flistxattr listxattrat setxattr lsetxattr fsetxattr
setxattrat removexattr lremovexattr fremovexattr removexattrat file_getattr
"""
_WHOLE_CALLS = (_FILES, _WAITING, _MEMORY, _PROCESSES, _RIGHTS, _TIME, _OWN_SIGNALS, _MACHINE, _OF_SOCKETS)

_NEW_NAMESPACES = 0x02000000 | 0x00020000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
_ONLY_SELF = ("prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr")
"""Calls that name a process first: 0, oneself, is the only one allowed."""
_DESCRIPTOR_COMMANDS = (0, 1, 2, 3, 4, 1027, 1028, 1030, 1032, 1034)
"""Of fcntl(2): F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_QUERY, F_CREATED_QUERY, F_DUPFD_CLOEXEC,
F_GETPIPE_SZ, F_GET_SEALS. Not: leases, notes about folders, whom to signal, larger pipes (a user has few)."""
_WHO_LOCKS, _LOCKS = (5, 36), (6, 7, 37, 38)
"""F_GETLK and F_OFD_GETLK; F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW."""
_REQUESTS = (
    *(0x5401, 0x802C542A, 0x5413, 0x540F),  # is it a terminal, how wide is it, whose is it
    *(0x541B, 0x5411, 0x5421, 0x5450, 0x5451, 0x5460),  # bytes that wait, not to wait, to be kept over exec, its size
    *(0x40049409, 0x4020940D, 0xC020660B, 0x80086601),  # to share blocks with another file, where they lie, its flags
)
"""Of ioctl(2). Not: what changes a file's flags through a descriptor open for reading, what types into a terminal, what
tells of network interfaces, or what any device has of its own."""
_OPTIONS = (
    *(1, 2, 3, 4, 7, 8, 15, 16, 21, 22, 23, 24, 25, 27, 29, 30, 34, 36, 37, 38, 39, 40, 41, 42, 47),
    *(50, 51, 52, 53, 54, 55, 56, 60, 61, 63, 64, 65, 66, 0x53564D41),
)
"""Of prctl(2): death signal, dumps, capabilities, name, seccomp, timer slack, orphans, new privileges, a thread's
address, huge pages, speculation, vector length, pointer authentication and tags, no memory both written and run, names
of mappings. Not: PR_SET_MM, sharing of memory pages or of a core with others, who may trace it."""
_PERSONALITIES = (0xFFFFFFFF, 0)
"""To ask, and the plain one: others bring back old rules, such as memory that is all executable."""
_KIND_OF_FILE, _PLAIN_FILES = 0xF000, (0, 0x8000, 0x1000)
"""The bits of mknod(2)'s mode that say what is made; plain files and pipes."""
_SOCKET_OPTIONS, _PROGRAMS_OF_SOCKETS = 1, (26, 50, 51, 52)
"""SOL_SOCKET, and its options that attach a program to a socket."""
_LEVELS_OF_STREAMS, _OTHER_PROTOCOLS = (0, 6), (14, 19, 31, 32, 38)
"""IPPROTO_IP and IPPROTO_TCP; TCP_MD5SIG, TCP_REPAIR, TCP_ULP, TCP_MD5SIG_EXT, TCP_AO_ADD_KEY."""
_FAST_OPEN = 0x20000000
"""MSG_FASTOPEN: connects, and no wall for connect(2) is asked."""
_AWAITING = ("bind", "listen", "accept", "accept4")
_PROGRAMS = ("execve", "execveat")
_REFUSED, _NO_NETWORK = fail(errno.EPERM), fail(errno.EACCES)


def supported() -> bool:
    """Whether there is a table for this machine's processor."""
    return platform.machine() in _ARCHITECTURES


@lru_cache(maxsize=16)
def program(
    *,
    signals: bool = True,
    attributes: bool = True,
    sockets: tuple[int, ...] = (),
    lent: bool = False,
    machine: str | None = None,
) -> bytes:
    """The filter as `struct sock_filter` entries.

    `signals=False`: sending signals, to whomever, is refused too. `attributes=False`: changing a file's mode, owner or
    times does nothing and reports success (copying a file sets its mode; failing there would fail honest tools).
    `sockets`: families of which stream sockets may be made, for a sandbox whose network leads to a door alone. `lent`:
    the kernel makes none of them, but whoever listens to the filter is asked for one, which is connected already; so
    connecting does nothing and reports success, and there is no other way to an address. `machine`: the processor, by
    default this one.
    Raises KeyError on a processor without a table (see `supported`).
    """
    rules = {
        **_by_name(" ".join(_WHOLE_CALLS), ALLOW),
        **_by_name(_SIGNALS, ALLOW if signals else _REFUSED),
        **_by_name(_ATTRIBUTES, ALLOW if attributes else fail(0)),
        **_by_name(_EXTENDED, ALLOW if attributes else fail(errno.ENOTSUP)),
        **_looked_into(),
        **_of_pairs(),
        **_of_network(sockets, lent=lent),
    }
    return _program(rules, _REFUSED, machine)


def without_programs(machine: str | None = None) -> bytes:
    """A filter on top of `program` for a tool that may start no programs: it refuses execve(2) and execveat(2).

    Raises KeyError on a processor without a table (see `supported`).
    """
    return _program({name: always(_REFUSED) for name in _PROGRAMS}, ALLOW, machine)


@lru_cache(maxsize=1)
def seal() -> str:
    """`without_programs` as a request carries it to the guest; empty on a processor for which there is no filter."""
    return base64.b64encode(without_programs()).decode("ascii") if supported() else ""


def _program(rules: dict[str, CallRule], unlisted: int, machine: str | None) -> bytes:
    machine = machine or platform.machine()
    architecture, column = _ARCHITECTURES[machine], list(_ARCHITECTURES).index(machine)
    found = {number: rule for name, rule in rules.items() if (number := numbers()[name][column]) is not None}
    return assembled(architecture, found, unlisted, LAST, fail(errno.ENOSYS))


def _by_name(names: str, answer: int) -> dict[str, CallRule]:
    return dict.fromkeys(names.split(), always(answer))


def _only(*checks: Check, otherwise: int = _REFUSED) -> CallRule:
    """Allowed where all of `checks` hold."""
    return CallRule((FilterCase(checks, ALLOW),), otherwise)


def _looked_into() -> dict[str, CallRule]:
    """Calls, sockets' aside, of which an argument says whether they may be made."""
    locking = (
        FilterCase((Check(1, (*_DESCRIPTOR_COMMANDS, *_WHO_LOCKS)),), ALLOW),
        FilterCase((Check(1, _LOCKS),), fail(0)),
    )
    return {
        "fcntl": CallRule(locking, _REFUSED),
        "flock": always(fail(0)),
        "ioctl": _only(Check(1, _REQUESTS)),
        "prctl": _only(Check(0, _OPTIONS)),
        "personality": _only(Check(0, _PERSONALITIES)),
        "mknod": _only(Check(1, _PLAIN_FILES, _KIND_OF_FILE)),
        "mknodat": _only(Check(2, _PLAIN_FILES, _KIND_OF_FILE)),
        "clone": _only(Check(0, (0,), _NEW_NAMESPACES)),
        "clone3": always(fail(errno.ENOSYS)),  # its flags are out of sight; libc falls back to clone
        "setpriority": _only(Check(0, (0,)), Check(1, (0,))),
        **dict.fromkeys(_ONLY_SELF, _only(Check(0, (0,)))),
    }


def _of_pairs() -> dict[str, CallRule]:
    """What can be done with a pair of sockets: streams, connected from the beginning, which no address leads out of."""
    attaching = FilterCase((Check(1, (_SOCKET_OPTIONS,)), Check(2, _PROGRAMS_OF_SOCKETS)), _REFUSED)
    others = FilterCase((Check(1, (_LEVELS_OF_STREAMS[1],)), Check(2, _OTHER_PROTOCOLS)), _REFUSED)
    known = FilterCase((Check(1, (_SOCKET_OPTIONS, *_LEVELS_OF_STREAMS)),), ALLOW)
    return {
        "socketpair": _only(Check(0, (AF_UNIX,)), Check(1, _STREAM, _KIND), otherwise=_NO_NETWORK),
        "setsockopt": CallRule((attaching, others, known), _REFUSED),
    }


def _of_network(sockets: Sequence[int], *, lent: bool) -> dict[str, CallRule]:
    """What makes a socket, or leads it anywhere."""
    unaddressed = Check(4, (0,)), Check(4, (0,), high=True)
    free = bool(sockets) and not lent

    def slow(argument: int) -> tuple[Check, ...]:
        """The flags of sending do not connect."""
        return (Check(argument, (0,), _FAST_OPEN),) if lent else ()

    return {
        "socket": _made(sockets, ASK if lent else ALLOW),
        "connect": always(ALLOW if free else fail(0) if lent else _NO_NETWORK),
        **dict.fromkeys(_AWAITING, always(ALLOW if free else _NO_NETWORK)),
        "sendto": always(ALLOW) if free else _only(*unaddressed, *slow(3), otherwise=_NO_NETWORK),
        # the address of these two lies in memory; sockets that are connected take none (unix) or ignore it (TCP)
        "sendmsg": _only(*slow(2), otherwise=_NO_NETWORK),
        "sendmmsg": _only(*slow(3), otherwise=_NO_NETWORK),
    }


def _made(families: Sequence[int], answer: int) -> CallRule:
    """socket(2): stream sockets of `families` with a protocol of streams."""
    if not families:
        return always(_NO_NETWORK)
    checks = Check(1, _STREAM, _KIND), Check(2, _OF_STREAMS), Check(0, tuple(families))
    return CallRule((FilterCase(checks, answer),), _NO_NETWORK)
