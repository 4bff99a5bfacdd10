"""A host with things worth stealing, and a look afterwards at whether any was touched."""

from __future__ import annotations

import ctypes
import json
import os
import re
import resource
import socket
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hostile.witnesses import Witnesses

from habilis.core.types import CallOutcome
from habilis.runtime.packages.cache import MARK
from habilis.sandbox.ownership.workspace import Survey
from habilis.sandbox.zygote.spawning import nursery

SECRET = "hunter2-canary"
"""In every file, variable, command line, key and descriptor that no tool may read."""
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_KEYS = {"x86_64": (248, 250), "aarch64": (217, 219)}
_FILES = {
    "canary": "home/canary.txt",
    "shell": "home/.bashrc",
    "profile": "home/.profile",
    "ssh": "home/.ssh/id_rsa",
    "logins": "home/.ssh/authorized_keys",
    "cloud": "home/.aws/credentials",
    "netrc": "home/.netrc",
    "hook": "home/project/.git/hooks/pre-commit",
    "neighbour": "library/other_tool.py",
    "manifest": "library/hostile_tool.json",
    "other_task": "runs/other/workspace/notes.txt",
    "tape": "runs/task/tape.jsonl",
    "foreign_log": "runs/task/events.jsonl",
}


KEPT_VICTIMS: set[int] = set()
"""The neighbour processes of scenes that are kept."""


class Scene:
    """One attempt's host: files, listeners, a process beside it. `facts` is what the tool is told of it.

    A `kept` scene serves one attempt after another, over a server that goes on running: what belongs to that (its
    processes, its temporary folder, the workspace being lent) is no harm before `close`.
    """

    def __init__(self, folder: Path, source: str, *, kept: bool = False) -> None:
        self.folder, self.kept = folder, kept
        self.workspace = folder / "runs" / "task" / "workspace"
        self.workspace.mkdir(parents=True)
        self._mode = self.workspace.stat().st_mode
        paths = {name: folder / place for name, place in _FILES.items()}
        for path in paths.values():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(SECRET)
            path.chmod(0o666)
        self.module = folder / "library" / "hostile_tool.py"
        self.module.write_text(source, encoding="utf-8")
        self.given, self.inside = folder / "given.csv", self.workspace / "inside.csv"
        for path in (self.given, self.inside):
            path.write_text("a,b\n1,2\n")
        (folder / "home" / "link").symlink_to(f"to-{SECRET}")
        with_attribute(paths["canary"])
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        tempfile.tempdir = str(self.temporary)
        self._open()
        self.facts: dict[str, Any] = {
            **{name: str(path) for name, path in paths.items()},
            "home": str(folder / "home"),
            "module": str(self.module),
            "given": str(self.given),
            "inside": str(self.inside),
            "workspace": str(self.workspace),
            "host": os.getpid(),
            "victim": self.victim.pid,
            "port": self.port,
            "port6": self.port6,
            "unix": str(folder / "listener"),
            "abstract": f"\0habilis-{os.getpid()}-{self.port}",
            "key": self.key,
            "shm": self.shared.name,
            "cache": os.environ["HABILIS_CACHE_DIR"],
            **self.witnesses.facts,
        }
        self._facts_ready()

    def _open(self) -> None:
        """What is not a file: a process with the secret on its command line, open descriptors, a key."""
        self.victim = subprocess.Popen([SECRET, "300"], executable="/bin/sleep", start_new_session=True)
        if self.kept:
            KEPT_VICTIMS.add(self.victim.pid)
        self.secret_file = os.open(self.folder / "home" / "canary.txt", os.O_RDWR)
        os.set_inheritable(self.secret_file, True)
        self.shared = Path("/dev/shm") / f"habilis-{os.getpid()}-{self.folder.name}"
        self.shared.write_text(SECRET)
        self.key = add_key()
        self.sockets = {
            "tcp": bound(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            "udp": bound(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "unix": bound(socket.AF_UNIX, socket.SOCK_STREAM, str(self.folder / "listener")),
        }
        (self.folder / "listener").chmod(0o777)
        self.port = self.sockets["tcp"].getsockname()[1]
        self.udp_port = self.sockets["udp"].getsockname()[1]
        self.port6 = 0
        if socket.has_ipv6 and Path("/proc/net/if_inet6").exists():
            self.sockets["tcp6"] = bound(socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0))
            self.port6 = self.sockets["tcp6"].getsockname()[1]
        abstract = f"\0habilis-{os.getpid()}-{self.port}"
        self.sockets["abstract"] = bound(socket.AF_UNIX, socket.SOCK_STREAM, abstract)
        self.sockets["tcp"].set_inheritable(True)
        self.witnesses = Witnesses(self.folder, self.workspace)
        self.sockets |= self.witnesses.sockets

    @property
    def files(self) -> list[Path]:
        """The task's files."""
        return [self.given, self.inside, self.witnesses.folder]

    def _facts_ready(self) -> None:
        self.facts["udp_port"] = self.udp_port
        self._files, self._host = self._all_files(), host_state()
        self._programs = self._cache()

    def again(self, source: str) -> None:
        """Make ready for the next attempt."""
        tempfile.tempdir = str(self.temporary)
        left = [path for path in self.workspace.iterdir() if path != self.inside]
        folders = [str(path) for path in left if path.is_dir() and not path.is_symlink()]
        for path in left:
            if str(path) not in folders:
                path.unlink()
        if folders:  # programs do not mind how deep they are
            subprocess.run(["chmod", "-R", "u+rwx", "--", *folders], stderr=subprocess.DEVNULL, check=False)
            subprocess.run(["rm", "-rf", "--", *folders], check=True)
        self.module.write_text(source, encoding="utf-8")
        self._facts_ready()

    def beside(self, name: str, source: str) -> Path:
        """The module of another tool, which is there before the attempt."""
        path = self.module.with_name(f"{name}.py")
        path.write_text(source, encoding="utf-8")
        self._files = self._all_files()
        return path

    def left_behind(self) -> list[str]:
        """What is left of a kept scene once its host has been closed."""
        strays, self.kept = self._strays(), False
        found = [f"left in the temporary folder: {name}" for name in self._leftovers()]
        return found + strays + self._workspace_harms()

    def close(self) -> None:
        self.witnesses.close()
        for one in self.sockets.values():
            one.close()
        os.close(self.secret_file)
        self.victim.kill()
        self.victim.wait()
        KEPT_VICTIMS.discard(self.victim.pid)
        self.shared.unlink(missing_ok=True)

    def harms(self, outcome: CallOutcome) -> list[str]:
        """Everything that is not as it was, or stands where it must not."""
        found = [f"{name} was reached" for name, one in self.sockets.items() if reached(one)]
        if self.victim.poll() is not None or state_of(self.victim.pid) == "T":
            found.append("the neighbour process was stopped")
        found += [f"{name} changed" for name in differing(self._files, self._all_files())]
        found += [f"{name} of the cache changed" for name in differing(self._programs, self._cache_now())]
        found += [f"the host's {name} changed" for name in differing(self._host, host_state())]
        if (text := self.shared.read_text() if self.shared.exists() else None) != SECRET:
            found.append(f"shared memory holds {text!r}")
        found += [
            f"left in the temporary folder: {name}"
            for name in self._leftovers()
            if not (self.kept and name.startswith("habilis-"))
        ]
        found += self.witnesses.harms()
        return found + self._strays() + self._workspace_harms() + told_harms(outcome)

    def _leftovers(self) -> list[str]:
        """What lies in the temporary folder, this process's own and empty one left out."""
        below = [(path, [one.name for one in path.iterdir()]) for path in self.temporary.iterdir() if path.is_dir()]
        own = {path for path, names in below if path.name.startswith("habilis-") and names == [".lock"]}
        return [path.name for path in self.temporary.iterdir() if path not in own]

    def _strays(self) -> list[str]:
        if not self.kept and not KEPT_VICTIMS:
            zygote = nursery().number
            made = set(children_of(zygote)) if zygote is not None else set()
            strays = (set(children_of(os.getpid())) | made) - {self.victim.pid, zygote}
        else:
            strays = {pid for pid in descendants_of(os.getpid()) if not is_servers(pid)}
            strays -= KEPT_VICTIMS | {self.victim.pid}
        return [f"processes were left behind: {sorted(strays)}"] if strays else []

    def _cache(self) -> dict[str, Any]:
        return marks_below(Path(self.facts["cache"]), contents=False)

    def _cache_now(self) -> dict[str, Any]:
        return {name: marks for name, marks in self._cache().items() if name in self._programs}

    def _all_files(self) -> dict[str, Any]:
        return marks_below(self.folder, leave_out=(self.workspace, self.temporary))

    def _workspace_harms(self) -> list[str]:
        found = []
        if self.inside.read_text() != "a,b\n1,2\n":
            found.append("the task's file inside the workspace changed")
        for where, folders, names in os.walk(self.workspace):
            for name in (*folders, *names):
                path = Path(where, name)
                about = path.lstat()
                if not (stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode) or stat.S_ISLNK(about.st_mode)):
                    found.append(f"a special file was left: {name}")
                if stat.S_ISREG(about.st_mode) and about.st_mode & (stat.S_ISUID | stat.S_ISGID):
                    found.append(f"a set-user-id bit was left: {name}")
                if about.st_uid != os.getuid() and not self.kept:
                    found.append(f"{name} was not given back")
                if not stat.S_ISLNK(about.st_mode):
                    found += [f"{harm}: {name!r}" for harm in lasting_harms(path)]
                small = stat.S_ISREG(about.st_mode) and about.st_size < 1 << 20
                if small and SECRET.encode() in path.read_bytes():
                    found.append(f"the secret was copied into {name}")
        if self.workspace.stat().st_mode != self._mode:
            found.append("the mode of the workspace changed")
        found += lasting_harms(self.workspace)
        root = self.workspace.resolve()
        for name in Survey.of(self.workspace).links:
            if not (self.workspace / name).resolve().is_relative_to(root):
                found.append(f"a link that leads out was left: {name}")
        return found


def lasting_harms(path: Path) -> list[str]:
    """What lets others into a file or folder, or keeps its owner out."""
    mode = path.stat().st_mode
    found = ["others may write"] if mode & 0o022 else []
    if not mode & 0o400 or (stat.S_ISDIR(mode) and mode & 0o700 != 0o700):
        found.append("its owner cannot read it")
    attributes = [name for name in os.listxattr(path) if name != "security.selinux"]
    return found + [f"the attribute {name} was left" for name in attributes]


def told_harms(outcome: CallOutcome) -> list[str]:
    """What the outcome itself must never be: unprintable, huge, or with the secret in it."""
    try:
        text = outcome.model_dump_json() + json.dumps(outcome.output, allow_nan=False) + repr(outcome)
    except (ValueError, RecursionError, UnicodeError) as error:
        return [f"the outcome cannot be written: {error}"]
    found = ["the secret was told"] if SECRET in text else []
    found += [f"a name of more than one line: {name!r}" for name in outcome.made if CONTROL.search(name)]
    if outcome.error is not None and len(outcome.error.model_dump_json()) > 40_000:
        found.append("the error is huge")
    return found


def bound(family: int, kind: int, address: Any) -> socket.socket:
    made = socket.socket(family, kind)
    made.bind(address)
    if kind == socket.SOCK_STREAM:
        made.listen(4)
    made.setblocking(False)
    return made


def reached(one: socket.socket) -> bool:
    try:
        if one.type == socket.SOCK_STREAM:
            one.accept()[0].close()
        else:
            one.recv(10)
    except BlockingIOError:
        return False
    return True


def with_attribute(path: Path) -> None:
    try:
        os.setxattr(path, "user.note", SECRET.encode())
    except OSError:  # a file system without attributes has none to steal
        return


def add_key() -> int:
    """A key with the secret in our session's keyring; 0 where the kernel has no keys."""
    number = _KEYS.get(os.uname().machine, (0, 0))[0]
    content = SECRET.encode()
    made = ctypes.CDLL(None).syscall(number, b"user", b"habilis-test", content, ctypes.c_size_t(len(content)), -4)
    return max(0, int(made))


def marks_below(folder: Path, leave_out: tuple[Path, ...] = (), *, contents: bool = True) -> dict[str, Any]:
    """All that can be changed of each file: content, mode, owner, names, attributes, flags' trace in ctime, which tells
    of a changed content too where the file was there for a while."""
    found: dict[str, Any] = {}
    top, left_out = str(folder), {str(one) for one in leave_out}
    pending = [top]
    while pending:
        where = pending.pop()
        found[where[len(top) + 1 :] or "."] = _marks(where, os.lstat(where), contents=contents)
        try:
            below = list(os.scandir(where))
        except OSError:
            continue
        for one in below:
            if not one.is_dir(follow_symlinks=False):
                found[one.path[len(top) + 1 :]] = _marks(one.path, os.lstat(one.path), contents=contents)
            elif one.path not in left_out:
                pending.append(one.path)
    return found


def _marks(path: str, about: os.stat_result, *, contents: bool) -> tuple[Any, ...]:
    regular = stat.S_ISREG(about.st_mode)
    # the host itself touches an environment's mark at each use
    changed = about.st_ctime_ns if regular and not path.endswith(f"/{MARK}") else 0
    content = Path(path).read_bytes() if regular and (contents or not changed) else b""
    return (about.st_mode, about.st_uid, about.st_nlink * bool(changed), changed, about.st_size * regular, content)


def host_state() -> dict[str, Any]:
    """What a tool might change of the process that runs it."""
    return {
        "limits": [resource.getrlimit(n) for n in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_NPROC)],
        "priority": os.getpriority(os.PRIO_PROCESS, 0),
        "processors": os.sched_getaffinity(0),
        "folder": str(Path.cwd()),
        "session": (os.getsid(0), os.getpgid(0)),
        "name": os.uname().nodename,
        "mounts": len(Path("/proc/self/mounts").read_text().splitlines()),
    }


def differing(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def state_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def children_of(pid: int) -> list[int]:
    """Living children of `pid`: with orphans, where it adopts them."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += [int(word) for word in (task / "children").read_text().split()]
    return [child for child in found if state_of(child) not in ("Z", "")]


def descendants_of(pid: int) -> set[int]:
    """All living processes below `pid`."""
    found, pending = set(), [pid]
    while pending:
        try:
            new = set(children_of(pending.pop())) - found
        except OSError:
            continue
        found |= new
        pending += new
    return found


def is_servers(pid: int) -> bool:
    """Whether `pid`, if it lives, is a server or waits in one for a call: tools rename theirs (see `runner`)."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().startswith(("python", "bwrap"))
    except OSError:
        return True


def adopt_orphans() -> None:
    """Have every process that outlives its parents below us become our child, so that none goes unseen."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
