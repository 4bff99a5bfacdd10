"""The zygote (see this room): loads what tools need, then forks for whoever holds the other end of its socket.

    python -s -P -S -B zygote.py SETUP

SETUP is a descriptor of JSON: `parent` (the host's number), `control` (a descriptor: a socket of whole messages),
`own_user` (a user namespace for each fork), `machine` (what uname(2) is to say while we load), `programs` (ours, by
name), `packages` (folders to load Pydantic from, or none). A message is SPAWN with five descriptors: a channel, what
the fork is to be, its request, its reply, and what it prints. On the channel come `born NUMBER` with a descriptor of
the process or `refused ERROR`, then `ended STATUS`. Whoever shuts the channel's other end has the fork killed. Anything
else ends the zygote. Imports the standard library alone. Sources: clone(2), unix(7), pidfd_open(2), prctl(2).
"""

import gc

gc.disable()

import _socket  # noqa: E402
import ctypes  # noqa: E402
import importlib.util  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import posix  # noqa: E402
import select  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402
from typing import Any  # noqa: E402

SPAWN, GIVEN = b"spawn 1\n", 5
NEW_NAMESPACES = 0x00020000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000
"""Of mounts, the machine's name, IPC, processes, network."""
NEW_CGROUP, NEW_USER = 0x02000000, 0x10000000
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 1, 4, 38
RIGHTS_CLOSED = 0x40000000


class Zygote:
    """The state: its socket, and what it made that still runs."""

    def __init__(self, control: Any, own_user: bool, programs: "dict[str, Any]") -> None:
        self.control, self.programs = control, programs
        self.flags = NEW_NAMESPACES | (NEW_USER if own_user else 0)
        self.flags |= NEW_CGROUP if os.path.exists("/proc/self/ns/cgroup") else 0  # noqa: PTH110
        self.handle = os.pidfd_open(os.getpid())
        self.running: dict[int, tuple[int, int, Any]] = {}
        self.channels: dict[int, int] = {}
        self.poll = select.poll()
        self.poll.register(control.fileno(), select.POLLIN)

    def serve(self) -> None:
        """Until the host lets go, or says something else than it should."""
        while True:
            for found, _ in self.poll.poll():
                if found == self.control.fileno():
                    if not self.hear():
                        return
                elif found in self.running:
                    self.end(found)
                elif found in self.channels:
                    self.kill(found)

    def hear(self) -> bool:
        """Take one message; False where it is none."""
        room = _socket.CMSG_SPACE(4 * GIVEN)
        message, found, flags, _ = self.control.recvmsg(len(SPAWN) + 1, room, RIGHTS_CLOSED)
        given = self.programs["server"].descriptors_of(found)
        if message != SPAWN or len(given) != GIVEN or flags & (_socket.MSG_TRUNC | _socket.MSG_CTRUNC):
            return False
        channel, *handed = given
        self.spawn(_socket.socket(fileno=channel), handed)
        for one in handed:
            os.close(one)
        return True

    def spawn(self, channel: Any, given: "list[int]") -> None:
        """Fork. In the fork this does not return."""
        pid = self.programs["sprouting"].beside(self.flags)
        if pid == 0:
            self.leave(given)
        if pid < 0:
            self.say(channel, f"refused {-pid}")
            channel.close()
            return
        handle = os.pidfd_open(pid)
        self.running[handle] = pid, channel.fileno(), channel
        self.channels[channel.fileno()] = handle
        self.poll.register(handle, select.POLLIN)
        self.poll.register(channel.fileno(), select.POLLIN)
        self.say(channel, f"born {pid}", handle)

    def leave(self, given: "list[int]") -> None:
        """In the fork: become what it is for, and end as an interpreter does; nothing of ours is unwound."""
        code: object = 0
        try:
            signal.signal(signal.SIGUSR1, signal.SIG_DFL)
            os.uname = posix.uname
            self.programs["newborn"].begin(given, self.handle, self.programs)
        except SystemExit as end:
            code = end.code
            if isinstance(code, str):
                os.write(2, code.encode() + b"\n")
        except BaseException:  # as an interpreter tells it
            code = 1
            sys.excepthook(*sys.exc_info())
        finally:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            os._exit(code if isinstance(code, int) else int(code is not None))

    def kill(self, number: int) -> None:
        """Whoever wanted the process has let go of it."""
        self.poll.unregister(number)
        signal.pidfd_send_signal(self.channels.pop(number), signal.SIGKILL)

    def end(self, handle: int) -> None:
        """A fork has ended, and with it its namespaces."""
        pid, number, channel = self.running.pop(handle)
        self.poll.unregister(handle)
        if self.channels.pop(number, None) is not None:
            self.poll.unregister(number)
        os.close(handle)
        _, status = os.waitpid(pid, 0)
        self.say(channel, f"ended {status}")
        channel.close()

    def say(self, channel: Any, text: str, *given: int) -> None:
        try:
            self.programs["server"].send(channel, text, *given)
        except OSError:  # nobody listens: the end of the channel is found by the next look
            return


def loaded(name: str, path: str) -> Any:
    """One of our programs as a module."""
    found = importlib.util.spec_from_file_location(f"_habilis_{name}", path)
    assert found is not None
    assert found.loader is not None
    module = sys.modules[found.name] = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def end_with(parent: int) -> None:
    """End when the host does. The signal also comes when the thread ends that started us, which means nothing. What
    that thread had blocked is open again, here and in all forks."""

    def look(*_: object) -> None:
        if os.getppid() != parent:
            os._exit(0)

    signal.signal(signal.SIGUSR1, look)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where a host ignores it, nobody is told how a fork ended
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    libc = ctypes.CDLL(None)
    for option, value in ((PR_SET_PDEATHSIG, signal.SIGUSR1), (PR_SET_DUMPABLE, 0), (PR_SET_NO_NEW_PRIVS, 1)):
        libc.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0))
    look()


def main() -> None:
    """Load, serve, end."""
    with os.fdopen(int(sys.argv[1]), "rb") as opened:
        given = json.loads(opened.read())
    end_with(given["parent"])
    about = os.uname_result(given["machine"])
    os.uname = lambda: about  # what is loaded here remembers it, and the host's name is none of a tool's affair
    programs = {name: loaded(name, path) for name, path in given["programs"].items()}
    before = list(sys.path)
    for path in given["packages"]:
        programs["guest"].add_packages(path)
    if given["packages"]:
        programs["guest"].load_pydantic()
        programs["rehearsal"].warm_up()
    sys.path[:] = before
    programs["confine"].libc()
    control = _socket.socket(fileno=given["control"])
    os.set_inheritable(control.fileno(), False)
    gc.freeze()
    Zygote(control, given["own_user"], programs).serve()
    os._exit(0)


if __name__ == "__main__":
    main()
