"""Runs inside the sandbox and waits there, warm: Pydantic loaded, ready to fork a process for each call.

    python -s -P -S -B confine.py POLICY python -s -P -S -B server.py

HABILIS_IN holds the set-up `{programs, packages, limits}`, HABILIS_OUT is a socket of whole messages to the host. It
sends `call NUMBER PROCESSES` with three descriptors (request, reply, printed), `kill NUMBER` and `pid NUMBER`. `seed
NUMBER PROCESSES`, with the same, loads a tool and does no call: `hold NUMBER` stops its process, and `like SEED NUMBER
PROCESSES` (arguments, reply, printed) makes a call by a process that is split off from it (see `sprouting`); `as` for
`like` has the seed make the call itself. The server sends `ready` (or `cold REASON`), `ended NUMBER STATUS` once every
process of the call is gone, `pid NUMBER` with a descriptor of its process, `refused NUMBER`, `spent SEED` for a seed
that makes a call itself, and `soiled` when what calls left in /tmp cannot be cleared: then it takes no further calls.
What is none of these is passed over.

No call may touch the server or a call beside it: each enters a Landlock domain of its own, which keeps it from
signalling, tracing and looking into whatever is not in that domain. Its process adopts its orphans; what it leaves
when it ends falls to the server, which kills every child that is not the first process of a running call. Imports the
standard library alone; `programs` are the files of ours that it loads. Sources: landlock(7) (scopes, ABI 6),
PR_SET_CHILD_SUBREAPER in prctl(2), unix(7).
"""

import gc

gc.disable()  # see the guest

import _socket  # noqa: E402
import array  # noqa: E402
import contextlib  # noqa: E402
import fcntl  # noqa: E402
import json  # noqa: E402
import marshal  # noqa: E402
import os  # noqa: E402
import select  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
import types  # noqa: E402
from typing import Any  # noqa: E402

MESSAGE_BYTES, MOST_DESCRIPTORS = 256, 8
BASE = 9  # descriptors up to here are put in order in a call
SWEEP_S = 1.0
SPARE, QUIET_MS = 1, 2
SPROUT_MS = 1_000
"""How long a seed may take to make a process: longer, and its tool has meddled with it."""


class Process:
    """A forked process: waiting for a call, or running one. `channel` hands it the call."""

    def __init__(self, pid: int, channel: Any) -> None:
        self.pid, self.channel = pid, channel
        self.handle = os.pidfd_open(pid)
        self.waits = False  # a seed, in which no call runs


class Server:
    """The server's state: its socket, the calls that run, and the processes that wait for one."""

    def __init__(self, control: Any, programs: "dict[str, Any]", given: "dict[str, Any]", domain: int) -> None:
        self.control, self.domain = control, domain
        self.guest, self.rehearse = programs["guest"], programs["rehearsal"].rehearse
        self.next_call, self.domains = programs["sprouting"].next_call, programs["domains"]
        self.limits = given["limits"]
        self.rooms = programs["rooms"].Rooms([os.environ["TMPDIR"], "/dev/shm"])
        self.running: dict[int, Process] = {}
        self.spare: list[Process] = []
        self.spares = SPARE
        self.soiled = False
        self.children = int(os.environ.pop("HABILIS_CHILDREN"))
        self.poll = select.poll()
        self.poll.register(control.fileno(), select.POLLIN)

    def serve(self) -> None:
        """Until the host lets go. A fork costs more than a call, so some are made ahead, when nothing else is to do."""
        while True:
            wanted = len(self.spare) < self.spares and not self.soiled
            ready = {found for found, _ in self.poll.poll(QUIET_MS if wanted else None)}
            if wanted and not ready:
                self.spare.append(self.fork(rehearsed=True))
            control = self.control.fileno() in ready
            if ready - {self.control.fileno()}:
                for process in [process for process in self.spare if process.handle in ready]:
                    self.spare.remove(process)
                    self.forget(process)
                    self.spares = 0  # they do not live here
                for number in [number for number, process in self.running.items() if process.handle in ready]:
                    self.end(number)
            if control and not self.hear():
                return

    def hear(self) -> bool:
        """Take one message; False at the end."""
        message, found, _, _ = self.control.recvmsg(MESSAGE_BYTES, _socket.CMSG_SPACE(4 * MOST_DESCRIPTORS))
        given = descriptors_of(found)
        try:
            if message:
                self.obey(message.split(), given)
        finally:
            for descriptor in given:
                os.close(descriptor)
        return bool(message)

    def obey(self, words: "list[bytes]", given: "list[int]") -> None:
        verb, *rest = words or [b""]
        if not all(word.isdigit() and len(word) < 10 for word in rest):
            return
        numbers = [int(word) for word in rest]
        if verb in (b"call", b"seed") and len(numbers) == 2 and len(given) == 3 and numbers[0] not in self.running:
            self.call(numbers[0], numbers[1], given, seed=verb == b"seed")
        elif verb in (b"like", b"as") and len(numbers) == 3 and len(given) == 3 and numbers[1] not in self.running:
            self.like((numbers[0], numbers[1]), numbers[2], given, split=verb == b"like")
        elif verb == b"kill" and len(numbers) == 1 and numbers[0] in self.running:
            self.kill(self.running[numbers[0]].pid)
        elif verb == b"hold" and len(numbers) == 1 and numbers[0] in self.running:
            self.hold(self.running[numbers[0]])
        elif verb == b"pid" and len(numbers) == 1 and numbers[0] in self.running:
            self.say(f"pid {numbers[0]}", self.running[numbers[0]].handle)

    def say(self, text: str, *given: int) -> None:
        try:
            send(self.control, text, *given)
        except (BrokenPipeError, ConnectionError):
            os._exit(0)

    def call(self, number: int, processes: int, given: "list[int]", *, seed: bool) -> None:
        """Start a call, or a seed. What cannot be started is refused."""
        try:
            if self.soiled:
                raise OSError
            process = self.spare.pop() if self.spare else self.fork(rehearsed=False)
            self.running[number] = process
            process.waits = seed
            send(process.channel, f"{processes} {int(seed)}", *given)
        except OSError:
            if number in self.running:
                process = self.running.pop(number)
                os.kill(process.pid, signal.SIGKILL)
                self.forget(process)
            self.say(f"refused {number}")

    def like(self, numbers: "tuple[int, int]", processes: int, given: "list[int]", *, split: bool) -> None:
        """Start a call in a process that is split off from a seed, or in the seed itself, loaded or not. A seed that
        does not answer is ended."""
        from_seed, number = numbers
        seed = self.running.get(from_seed)
        if seed is None or not seed.waits or self.soiled:
            self.say(f"refused {number}")
            return
        answer = self.sprouted(seed, f"{processes} {int(split)}", given, wait=split)
        if answer == b"self":
            seed.waits = False
            self.running[number] = self.running.pop(from_seed)
            os.kill(seed.pid, signal.SIGCONT)
            self.say(f"spent {from_seed}")
        elif answer.isdigit() and len(answer) < 10 and int(answer) in self.strangers():
            process = self.running[number] = Process(int(answer), None)
            self.poll.register(process.handle, select.POLLIN)
            os.kill(seed.pid, signal.SIGSTOP)
        else:
            self.kill(seed.pid)
            self.say(f"refused {number}")

    def sprouted(self, seed: Process, text: str, given: "list[int]", *, wait: bool) -> bytes:
        """What a seed, awake for that long, answers to a call: the number of a process, `self` (which it is not waited
        for), or nothing in time."""
        try:
            seed.channel.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while seed.channel.recv(MESSAGE_BYTES):  # its tool may have spoken unasked
                    pass
            os.kill(seed.pid, signal.SIGCONT)
            send(seed.channel, text, *given)
            if not wait:
                return b"self"
            look = select.poll()
            look.register(seed.channel.fileno(), select.POLLIN)
            return seed.channel.recv(MESSAGE_BYTES) if look.poll(SPROUT_MS) else b""
        except OSError:
            return b""

    def fork(self, *, rehearsed: bool) -> Process:
        """A process that waits for its call. Raises OSError."""
        ours, theirs = _socket.socketpair()  # streams: the filter knows no other pairs, and one message waits at most
        pid = os.fork()
        if pid == 0:
            try:
                self.become(theirs.detach(), rehearsed)
            finally:
                os._exit(70)
        theirs.close()
        process = Process(pid, ours)
        self.poll.register(process.handle, select.POLLIN)
        return process

    def become(self, channel: int, rehearsed: bool) -> None:
        """In the fork: leave everything of the server's behind, wait for the call, do it."""
        above = [fcntl.fcntl(one, fcntl.F_DUPFD, BASE + 1) for one in (channel, self.domain)]
        channel, domain = (os.dup2(one, 3 + at, inheritable=False) for at, one in enumerate(above))
        os.closerange(domain + 1, 1 << 20)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        self.domains.stand_alone(domain)
        if rehearsed:
            self.rehearse()
        waiting = _socket.socket(fileno=channel)
        message, found, _, _ = waiting.recvmsg(MESSAGE_BYTES, _socket.CMSG_SPACE(4 * MOST_DESCRIPTORS))
        processes, seed = map(int, message.split())
        if not seed:
            waiting.close()
            os.close(domain)
        wanted, answer = self.begin(processes, descriptors_of(found))
        gc.enable()
        self.guest.work(wanted, answer, (lambda: self.in_turn(waiting, domain)) if seed else None)

    def begin(self, processes: int, given: "list[int]") -> "tuple[Any, Any]":
        """Take over what a call is given: what stands in its first descriptor, and its way back."""
        request, reply, printed = given
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        os.close(printed)
        self.domains.limit(self.limits, processes)
        wanted = json.loads(b"".join(iter(lambda: os.read(request, 1 << 16), b"")))
        os.close(request)
        answer = self.guest.Reply(reply)
        answer.send({"step": "ready"})
        return wanted, answer

    def in_turn(self, waiting: Any, domain: int) -> "tuple[Any, Any]":
        """In a seed: wait for calls; returns in the process of one of them, with its arguments and its way back."""
        new, processes, given = self.next_call(waiting, descriptors_of)
        if new:
            self.domains.stand_alone(domain)
        os.close(domain)
        return self.begin(processes, given)

    def forget(self, process: Process) -> int:
        """Collect a process that has ended, and let go of what belongs to it; its wait status."""
        self.poll.unregister(process.handle)
        _, status = os.waitpid(process.pid, 0)
        os.close(process.handle)
        if process.channel is not None:
            process.channel.close()
        return status

    def end(self, number: int) -> None:
        """A call's first process has ended: see that nothing of it is left, and say so."""
        process = self.running.pop(number)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        status = self.forget(process)
        if not self.sweep():
            os._exit(1)  # its process namespace, or the supervisor, ends all that is left
        if all(one.waits for one in self.running.values()) and not self.rooms.clear():
            self.soiled = True
            self.say("soiled")
        self.say(f"ended {number} {status}")

    def hold(self, process: Process) -> None:
        """Stop a process whose tool is loaded: nothing of the tool runs until its call."""
        if process.waits:
            os.killpg(process.pid, signal.SIGSTOP)
            if not self.sweep():
                os._exit(1)

    def sweep(self) -> bool:
        """Kill what ended calls have left. False when it multiplies faster than that."""
        ends = time.monotonic() + SWEEP_S
        while strangers := self.strangers():
            if time.monotonic() > ends:
                return False
            for pid in strangers:
                self.kill(pid)
            for pid in strangers:
                os.waitpid(pid, 0)
        return True

    def kill(self, pid: int) -> None:
        """Kill a child with its whole process group, in which forks cannot run ahead of us. The groups of calls are
        their own: each has a session, which nobody joins from outside."""
        group = os.getpgid(pid)
        if group == pid or group not in {os.getpgid(0), *(process.pid for process in self.running.values())}:
            os.killpg(group, signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)

    def strangers(self) -> "set[int]":
        """Our children that neither run a call nor wait for one, dead ones included."""
        listing, more = b"", b""
        while more := os.pread(self.children, 1 << 16, len(listing)):
            listing += more
        ours = {process.pid for process in (*self.running.values(), *self.spare)}
        return {int(word) for word in listing.split()} - ours


def send(channel: Any, text: str, *given: int) -> None:
    """One message, with descriptors."""
    rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", given))] if given else []
    channel.sendmsg([text.encode("ascii")], rights)


def descriptors_of(found: "list[tuple[int, int, bytes]]") -> "list[int]":
    """The descriptors that came with a message."""
    given = array.array("i")
    for level, kind, data in found:
        if (level, kind) == (_socket.SOL_SOCKET, _socket.SCM_RIGHTS):
            given.frombytes(data[: len(data) - len(data) % given.itemsize])
    return list(given)


def module_of(name: str, path: str) -> Any:
    """One of our programs as a module, from its bytecode or source; it may be loaded by now."""
    if (present := sys.modules.get(f"_habilis_{name}")) is not None and present.__file__ == path:
        return present
    with open(path, "rb") as opened:  # noqa: PTH123
        data = opened.read()
    code = marshal.loads(data[16:]) if path.endswith(".pyc") else compile(data, path, "exec")
    module = types.ModuleType(f"_habilis_{name}")
    module.__file__ = path
    sys.modules[module.__name__] = module
    exec(code, module.__dict__)
    return module


def main() -> None:
    """Warm up, find out whether calls can be kept apart here, serve."""
    with os.fdopen(int(os.environ.pop("HABILIS_IN")), "rb") as pipe:
        given = json.loads(pipe.read())
    control = _socket.socket(fileno=int(os.environ.pop("HABILIS_OUT")))
    os.set_inheritable(control.fileno(), False)
    programs = {name: module_of(name, path) for name, path in given["programs"].items()}
    domains = programs["domains"]
    domains.adopt_orphans()
    for path in given["packages"]:
        programs["guest"].add_packages(path)
    programs["guest"].load_pydantic()
    programs["rehearsal"].warm_up()
    server = Server(control, programs, given, -1)
    try:
        server.domain = domains.new_domain()
        problem = "" if domains.held(server.domain) else "a domain of Landlock does not hold here"
    except OSError as error:
        problem = str(error)
    gc.freeze()
    server.say(f"cold {problem}" if problem else "ready")
    if not problem:
        server.serve()
    os._exit(0)


if __name__ == "__main__":
    main()
