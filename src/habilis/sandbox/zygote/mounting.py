"""Runs in a fork of the zygote: makes the file system that bubblewrap would make, out of the same words.

Understands the options of bwrap(1) that the back end uses, and no others. Imports the standard library alone. Sources:
bwrap(1), mount(2), openat2(2), open_tree(2), move_mount(2), mount_setattr(2) (Linux 5.12), pivot_root(2).
"""

import ctypes
import os
import stat
from collections.abc import Callable

READ_ONLY, NO_SUID, NO_DEVICES, NO_PROGRAMS = 1, 2, 4, 8
"""Of mount(2) and mount_setattr(2) alike."""
SLAVE, WITH_ALL, DETACH = 1 << 19, 1 << 14, 2
CLONE_TREE, CLOSED, RECURSIVE, EMPTY_PATH, FROM_DESCRIPTOR = 1, os.O_CLOEXEC, 0x8000, 0x1000, 4
HERE = -100
OPEN_TREE, MOVE_MOUNT, OPEN_AT, MOUNT_SETATTR = 428, 429, 437, 442
IN_ROOT = 0x10
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
ROOM = "/tmp"
"""Where the new root is mounted for the moment in which it is made."""
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
TOLD_BY_PROC = ("sys", "sysrq-trigger", "irq", "bus")

LIBC = ctypes.CDLL(None, use_errno=True)


def checked(got: int, what: str) -> int:
    """Raises OSError where a call has failed."""
    if got < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), what)
    return got


def call(number: int, what: str, *values: object) -> int:
    """A system call; whole numbers are passed as long ones. Raises OSError."""
    given = [ctypes.c_long(value) if isinstance(value, int) else value for value in values]
    return checked(LIBC.syscall(ctypes.c_long(number), *given), what)


def mount(kind: str, place: str, flags: int, options: str = "") -> None:
    """Mount a new file system of this kind."""
    data = options.encode() or None
    checked(LIBC.mount(kind.encode(), os.fsencode(place), kind.encode(), ctypes.c_ulong(flags), data), place)


def restrict(folder: int, path: str, attributes: int, how: int) -> None:
    """Add attributes to a mount, or to all mounts of a tree."""
    wanted = (ctypes.c_uint64 * 4)(attributes, 0, 0, 0)
    call(MOUNT_SETATTR, path, folder, os.fsencode(path), how, ctypes.byref(wanted), ctypes.sizeof(wanted))


def attach(source: int, place: str, attributes: int) -> None:
    """Mount what is open as `source`, with all that is mounted below it, with these attributes too."""
    tree = call(OPEN_TREE, place, source, b"", CLONE_TREE | CLOSED | RECURSIVE | EMPTY_PATH)
    restrict(tree, "", attributes, EMPTY_PATH | RECURSIVE)
    call(MOVE_MOUNT, place, tree, b"", HERE, os.fsencode(place), FROM_DESCRIPTOR)
    os.close(tree)


class View:
    """The file system while it is made; `_old` is the host's root."""

    def __init__(self) -> None:
        self._old = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._mode, self._size = 0o755, 0
        self._words: dict[str, tuple[int, Callable[..., None]]] = {
            "--perms": (1, self._perms),
            "--size": (1, self._sized),
            "--dir": (1, self._dir),
            "--tmpfs": (1, self._tmpfs),
            "--bind": (2, lambda source, place: self._bind(source, place, NO_SUID | NO_DEVICES)),
            "--ro-bind": (2, lambda source, place: self._bind(source, place, READ_ONLY | NO_SUID | NO_DEVICES)),
            "--symlink": (2, self._symlink),
            "--proc": (1, self._proc),
            "--dev": (1, self._dev),
            "--remount-ro": (1, lambda place: restrict(HERE, place, READ_ONLY, 0)),
        }

    def make(self, words: "list[str]") -> None:
        """Obey `words` in a new root, and leave the old one for good. Raises OSError, KeyError for an unknown word."""
        checked(LIBC.mount(None, b"/", None, ctypes.c_ulong(SLAVE | WITH_ALL), None), "/")
        mount("tmpfs", ROOM, NO_SUID | NO_DEVICES, "mode=0755")
        os.chdir(ROOM)
        call(PIVOT_ROOT[os.uname().machine], "pivot_root", b".", b".")
        before = os.umask(0)
        left = iter(words)
        for word in left:
            count, obey = self._words[word]
            obey(*(next(left) for _ in range(count)))
            if word not in ("--perms", "--size"):
                self._mode, self._size = 0o755, 0
        os.umask(before)
        os.fchdir(self._old)
        checked(LIBC.umount2(b".", DETACH), "the old root")
        os.chdir("/")
        os.close(self._old)

    def _perms(self, mode: str) -> None:
        self._mode = int(mode, 8)

    def _sized(self, size: str) -> None:
        self._size = int(size)

    def _dir(self, place: str) -> None:
        os.makedirs(os.path.dirname(place), 0o755, exist_ok=True)  # noqa: PTH103, PTH120
        if not os.path.isdir(place):  # noqa: PTH112
            os.mkdir(place, self._mode)  # noqa: PTH102

    def _tmpfs(self, place: str) -> None:
        self._point(place, folder=True)
        size = f",size={self._size}" if self._size else ""
        mount("tmpfs", place, NO_SUID | NO_DEVICES, f"mode={self._mode:04o}{size}")

    def _bind(self, source: str, place: str, attributes: int) -> None:
        how = (ctypes.c_uint64 * 3)(os.O_PATH | os.O_CLOEXEC, 0, IN_ROOT)  # links lead where they led in the old root
        found = call(OPEN_AT, source, self._old, os.fsencode(source), ctypes.byref(how), ctypes.sizeof(how))
        self._point(place, folder=stat.S_ISDIR(os.fstat(found).st_mode))
        attach(found, place, attributes)
        os.close(found)

    def _point(self, place: str, *, folder: bool) -> None:
        """See that there is something to mount on."""
        os.makedirs(place if folder else os.path.dirname(place), 0o755, exist_ok=True)  # noqa: PTH103, PTH120
        if not folder and not os.path.exists(place):  # noqa: PTH110
            os.close(os.open(place, os.O_CREAT | os.O_RDONLY | os.O_CLOEXEC, 0o444))

    def _symlink(self, target: str, place: str) -> None:
        os.makedirs(os.path.dirname(place), 0o755, exist_ok=True)  # noqa: PTH103, PTH120
        os.symlink(target, place)  # noqa: PTH211

    def _proc(self, place: str) -> None:
        self._point(place, folder=True)
        mount("proc", place, NO_SUID | NO_DEVICES | NO_PROGRAMS)
        for name in TOLD_BY_PROC:
            inner = f"{place}/{name}"
            if os.access(inner, os.W_OK):
                opened = os.open(inner, os.O_PATH | os.O_CLOEXEC)
                attach(opened, inner, READ_ONLY | NO_SUID | NO_DEVICES)
                os.close(opened)

    def _dev(self, place: str) -> None:
        """The devices that bwrap gives; no terminals, which the back end covers anyway."""
        self._tmpfs(place)
        for name in DEVICES:
            self._bind(f"/dev/{name}", f"{place}/{name}", NO_SUID)
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            os.symlink(f"/proc/self/fd/{number}", f"{place}/{name}")  # noqa: PTH211
        for name, target in (("fd", "/proc/self/fd"), ("core", "/proc/kcore"), ("ptmx", "pts/ptmx")):
            os.symlink(target, f"{place}/{name}")  # noqa: PTH211
        for name in ("shm", "pts"):
            os.mkdir(f"{place}/{name}", 0o755)  # noqa: PTH102
