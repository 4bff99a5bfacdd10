"""The system calls that a tool never gets, as a classic BPF program for seccomp(2).

A deny list on top of the real walls (namespaces or Landlock): it closes the network (no `socket` of any family, and
io_uring, which could make one), other processes (ptrace, their limits and scheduling), and the kernel's wider doors
(namespaces, mounts, keys, BPF, file handles). Refused calls return an error, they do not kill, so that a tool can say
what it wanted. Numbers are those of the kernel's tables for x86-64 and for arm64 (the generic table).
"""

from __future__ import annotations

import base64
import errno
import platform
import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN, _AND = 0x20, 0x15, 0x35, 0x45, 0x06, 0x54
_ALLOW, _ERRNO, _ASK = 0x7FFF0000, 0x00050000, 0x7FC00000
"""What a filter answers: go on, fail with this number, ask whoever listens to the filter."""
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT, _THIRD_ARGUMENT, _FOURTH_ARGUMENT = 0, 4, 16, 24, 32, 40
AF_UNIX, AF_INET = 1, 2
_SOCK_STREAM, _KINDS_OF_SOCKET = 1, 0xF
_OF_STREAMS = (0, 6)
"""Protocols of a stream socket: the family's own, and TCP; MPTCP, SCTP and the like are others."""
_X32_BIT = 0x40000000
_NEW_NAMESPACES = 0x02000000 | 0x00020000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_REFUSED: dict[str, tuple[int, int | None]] = {  # name: number on (x86-64, arm64)
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "unshare": (272, 97),
    "setns": (308, 268),
    "chroot": (161, 51),
    "pivot_root": (155, 41),
    "mount": (165, 40),
    "umount2": (166, 39),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "lookup_dcookie": (212, 18),
    "quotactl": (179, 60),
    "acct": (163, 89),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "iopl": (172, None),
    "ioperm": (173, None),
    "syslog": (103, 116),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "memfd_create": (319, 279),  # its memory is no process's: 256 such files would be counted nowhere
    "memfd_secret": (447, 447),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "quotactl_fd": (443, 443),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
}
_SOCKET, _SOCKETPAIR, _CLONE, _CLONE3, _IOCTL = (41, 198), (53, 199), (56, 220), (435, 435), (16, 29)
_OF_LENT: dict[str, tuple[int, int, int]] = {  # with what the tool gets: sockets that were lent are connected
    "connect": (42, 203, 0),
    "bind": (49, 200, errno.EACCES),
    "listen": (50, 201, errno.EACCES),
    "accept": (43, 202, errno.EACCES),
    "accept4": (288, 242, errno.EACCES),
}
_SENDING = (((44, 206), _FOURTH_ARGUMENT), ((46, 211), _THIRD_ARGUMENT), ((307, 269), _FOURTH_ARGUMENT))
"""sendto, sendmsg and sendmmsg, with the place of their flags."""
_FAST_OPEN = 0x20000000
"""MSG_FASTOPEN: connects, and no wall for connect(2) is asked."""
_PROGRAMS = ((59, 221), (322, 281))
"""execve and execveat."""
_CONTROLS = (0x40086602, 0x40046602, 0x401C5820, 0x40087602, 0x5412, 0x541C)
"""Requests of ioctl(2): a file's flags, attributes and version (through a descriptor open for reading, too), and what
types into a terminal (TIOCSTI, TIOCLINUX)."""
_ONLY_SELF: dict[str, tuple[int, int]] = {  # calls that name a process first: 0, oneself, is the only one allowed
    "prlimit64": (302, 261),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
}
_SIGNALS: dict[str, tuple[int, int | None]] = {  # for kernels on which Landlock does not confine signals
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424),
}
_ATTRIBUTES: dict[
    str, tuple[int, int | None]
] = {  # for back ends that see no mounts: these change files by path, or through a descriptor open for reading
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "lchown": (94, None),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
}
_EXTENDED: dict[str, tuple[int, int | None]] = {
    "inotify_add_watch": (254, 27),
    "getxattr": (191, 8),
    "lgetxattr": (192, 9),
    "fgetxattr": (193, 10),
    "listxattr": (194, 11),
    "llistxattr": (195, 12),
    "flistxattr": (196, 13),
    "getxattrat": (464, 464),
    "listxattrat": (465, 465),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
}


class _Instruction(NamedTuple):
    code: int
    yes: int
    no: int
    value: int


def supported() -> bool:
    """Whether there is a table for this machine's processor."""
    return platform.machine() in _ARCHITECTURES


def program(*, signals: bool = True, attributes: bool = True, sockets: Sequence[int] = (), lent: bool = False) -> bytes:
    """The filter as `struct sock_filter` entries.

    `signals=False`: sending signals, to whomever, is refused too. `attributes=False`: changing a file's mode, owner or
    times does nothing and reports success (copying a file sets its mode; failing there would fail honest tools).
    `sockets`: families of which stream sockets may be made, for a sandbox whose network leads to a door alone. `lent`:
    the kernel makes none of them, but whoever listens to the filter is asked for one, which is connected already; so
    connecting does nothing and reports success, and there is no other way to an address.
    Raises KeyError on a processor without a table (see `supported`).
    """
    machine = platform.machine()
    column = list(_ARCHITECTURES).index(machine)
    code = [
        _Instruction(_LOAD, 0, 0, _ARCHITECTURE),
        _Instruction(_JUMP_EQUAL, 1, 0, _ARCHITECTURES[machine]),
        _refuse(errno.EPERM),
        _Instruction(_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        code += [_Instruction(_JUMP_AT_LEAST, 0, 1, _X32_BIT), _refuse(errno.ENOSYS)]
    groups = [(_REFUSED, errno.EPERM)]
    groups += [] if signals else [(_SIGNALS, errno.EPERM)]
    groups += [] if attributes else [(_ATTRIBUTES, 0), (_EXTENDED, errno.ENOTSUP)]
    for table, answer in groups:
        for numbers in table.values():
            number = numbers[column]
            if number is not None:
                code += [_Instruction(_JUMP_EQUAL, 0, 1, number), _refuse(answer)]
    code += _streams_of(_SOCKET[column], sockets, _ASK if lent else _ALLOW)
    if lent:
        code += _only_connected(column)
    # glibc falls back from clone3, whose flags a filter cannot see, to clone
    code += [_Instruction(_JUMP_EQUAL, 0, 1, _CLONE3[column]), _refuse(errno.ENOSYS)]
    code += _when(_SOCKETPAIR[column], _FIRST_ARGUMENT, _JUMP_EQUAL, AF_UNIX, refuse_on_match=False)
    code += _when(_CLONE[column], _FIRST_ARGUMENT, _JUMP_ANY_BIT, _NEW_NAMESPACES, refuse_on_match=True)
    code += _none_of(_IOCTL[column], _SECOND_ARGUMENT, _CONTROLS)
    for numbers in _ONLY_SELF.values():
        code += _when(numbers[column], _FIRST_ARGUMENT, _JUMP_EQUAL, 0, refuse_on_match=False)
    code.append(_Instruction(_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def without_programs() -> bytes:
    """A filter on top of `program` for a tool that may start no programs: it refuses execve(2) and execveat(2).

    Raises KeyError on a processor without a table (see `supported`).
    """
    machine = platform.machine()
    column = list(_ARCHITECTURES).index(machine)
    code = [
        _Instruction(_LOAD, 0, 0, _ARCHITECTURE),
        _Instruction(_JUMP_EQUAL, 1, 0, _ARCHITECTURES[machine]),
        _refuse(errno.EPERM),
        _Instruction(_LOAD, 0, 0, _NUMBER),
        _Instruction(_JUMP_AT_LEAST, 0, 1, _X32_BIT),
        _refuse(errno.ENOSYS),
        *(part for call in _PROGRAMS for part in (_Instruction(_JUMP_EQUAL, 0, 1, call[column]), _refuse(errno.EPERM))),
        _Instruction(_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def _refuse(number: int) -> _Instruction:
    return _Instruction(_RETURN, 0, 0, _ERRNO | number)


def _when(number: int, offset: int, jump: int, value: int, *, refuse_on_match: bool) -> list[_Instruction]:
    """Decide call `number` by one 32-bit argument; every other call goes on."""
    match, other = (_refuse(errno.EPERM), _Instruction(_RETURN, 0, 0, _ALLOW))
    if not refuse_on_match:
        match, other = other, match
    return [
        _Instruction(_JUMP_EQUAL, 0, 4, number),
        _Instruction(_LOAD, 0, 0, offset),
        _Instruction(jump, 0, 1, value),
        match,
        other,
    ]


def _only_connected(column: int) -> list[_Instruction]:
    """Nothing that makes another connection of a socket, or awaits one."""
    code = []
    for *numbers, answer in _OF_LENT.values():
        code += [_Instruction(_JUMP_EQUAL, 0, 1, numbers[column]), _refuse(answer)]
    for numbers_of, flags in _SENDING:
        code += _when(numbers_of[column], flags, _JUMP_ANY_BIT, _FAST_OPEN, refuse_on_match=True)
    return code


def _streams_of(number: int, families: Sequence[int], verdict: int) -> list[_Instruction]:
    """Refuse call `number`, socket(2), but for stream sockets of `families` with a protocol of streams."""
    refuse = _refuse(errno.EACCES)
    if not families:
        return [_Instruction(_JUMP_EQUAL, 0, 1, number), refuse]
    checks = [
        _Instruction(_LOAD, 0, 0, _SECOND_ARGUMENT),
        _Instruction(_AND, 0, 0, _KINDS_OF_SOCKET),
        _Instruction(_JUMP_EQUAL, 1, 0, _SOCK_STREAM),
        refuse,
        _Instruction(_LOAD, 0, 0, _THIRD_ARGUMENT),
        *(_Instruction(_JUMP_EQUAL, len(_OF_STREAMS) - n, 0, value) for n, value in enumerate(_OF_STREAMS)),
        refuse,
        _Instruction(_LOAD, 0, 0, _FIRST_ARGUMENT),
        *(_Instruction(_JUMP_EQUAL, len(families) - n, 0, value) for n, value in enumerate(families)),
        refuse,
        _Instruction(_RETURN, 0, 0, verdict),
    ]
    return [_Instruction(_JUMP_EQUAL, 0, len(checks), number), *checks]


def _none_of(number: int, offset: int, values: Sequence[int]) -> list[_Instruction]:
    """Refuse call `number` when one 32-bit argument is among `values`; every other call goes on."""
    return [
        _Instruction(_JUMP_EQUAL, 0, 2 * len(values) + 2, number),
        _Instruction(_LOAD, 0, 0, offset),
        *(part for value in values for part in (_Instruction(_JUMP_EQUAL, 0, 1, value), _refuse(errno.EPERM))),
        _Instruction(_RETURN, 0, 0, _ALLOW),
    ]


@lru_cache(maxsize=1)
def seal() -> str:
    """`without_programs` as a request carries it to the guest; empty on a processor for which there is no filter."""
    return base64.b64encode(without_programs()).decode("ascii") if supported() else ""
