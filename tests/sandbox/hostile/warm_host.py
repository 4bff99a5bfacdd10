"""Attempts on a warm host: its server, and calls at the same time. For the call after, see `warm_left`.

Each is made while another call waits in the same server, which must come to its own end, and a third follows, which
must find nothing. Cold there is neither server nor neighbour, so these run warm alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from hostile import warm_left
from hostile.attack import Attack
from hostile.neighbours import NOTHING, REFUSED, neighbour, warm

REACHES = {
    "a question whether it lives, to": "os.kill(target, 0)",
    "an end for": "os.kill(target, 9)",
    "a stop for": "os.kill(target, 19)",
    "a signal by another call to": "syscall('tgkill', target, target, 9)",
    "a signal by descriptor to": "signal.pidfd_send_signal(os.pidfd_open(target), 9)",
    "tracing of": "worked(libc.ptrace(16, target, 0, 0))",
    "seizing of": "worked(libc.ptrace(0x4206, target, 0, 0))",
    "memory, read by call, of": "worked(libc.process_vm_readv(target, None, 0, None, 0, 0))",
    "memory, written by call, of": "worked(libc.process_vm_writev(target, None, 0, None, 0, 0))",
    "memory, read by /proc, of": "open(f'/proc/{target}/mem', 'rb').read(1)",
    "memory, written by /proc, of": "open(f'/proc/{target}/mem', 'r+b')",
    "the map of the memory of": "open(f'/proc/{target}/maps').read()",
    "the variables of": "open(f'/proc/{target}/environ', 'rb').read(1)",
    "the auxiliary values of": "open(f'/proc/{target}/auxv', 'rb').read(1)",
    "the stack of": "open(f'/proc/{target}/syscall').read(1)",
    "the working folder of": "os.readlink(f'/proc/{target}/cwd')",
    "a way out by the folder of": "os.listdir(f'/proc/{target}/cwd/')",
    "the root of": "os.listdir(f'/proc/{target}/root/')",
    "the program of": "os.readlink(f'/proc/{target}/exe')",
    "where descriptors lead of": "[os.readlink(f'/proc/{target}/fd/{n}') for n in range(1, 12)]",
    "a descriptor opened anew of": "open(f'/proc/{target}/fd/1', 'wb').write(b'forged')",
    "a reply forged for": "[open(f'/proc/{target}/fd/{n}', 'wb').write(b'{}') for n in range(3, 12)]",
    "a request read before": "open(f'/proc/{target}/fd/3', 'rb').read(1)",
    "a descriptor taken from": "syscall('pidfd_getfd', os.pidfd_open(target), 3, 0)",
    "first to die, out of memory:": "open(f'/proc/{target}/oom_score_adj', 'w').write('1000')",
    "pages thrown out of": "open(f'/proc/{target}/clear_refs', 'w').write('1')",
    "pages moved of": "syscall(256 if os.uname().machine == 'x86_64' else 238, target, 0, None, None)",
    "memory advice for": "syscall('process_madvise', os.pidfd_open(target), None, 0, 21, 0)",
    "another name for": "open(f'/proc/{target}/comm', 'w').write('mine')",
    "another group for": "os.setpgid(target, os.getpgid(0))",
    "other processors for": "os.sched_setaffinity(target, {0})",
    "the last place in the queue for": "os.sched_setscheduler(target, os.SCHED_IDLE, os.sched_param(0))",
    "a lower priority for": "os.setpriority(os.PRIO_PROCESS, target, 19)",
    "a lower priority on disk for": "syscall('ioprio_set', 1, target, 3 << 13)",
    "other limits for": "resource.prlimit(target, resource.RLIMIT_CPU, (1, 1))",
    "the limits, read, of": "resource.prlimit(target, resource.RLIMIT_NOFILE)",
    "a comparison with": "syscall('kcmp', os.getpid(), target, 0, 0, 0)",
}
"""What may be done to another process, and must not be. Whoever could would read another call's arguments and
variables, give its answer, or end it."""
TARGETS = {"the server": "os.getppid()", "a call beside it": "int(open('sibling').read())"}


def reaches() -> Iterator[Attack]:
    for attempt, source in REACHES.items():
        for whom, number in TARGETS.items():
            harm = "calls of one server are not kept apart from it and from each other"
            yield warm(f"{attempt} {whom}", harm, REFUSED, f"import resource, signal\ntarget = {number}\n{source}")


PROGRAMS = "path = sys.modules['_habilis_guest'].__file__\n"
ON_THE_SERVER = (
    *(
        warm(f"the server's programs, {how}", "the next server runs the tool's code", REFUSED, PROGRAMS + source)
        for how, source in {
            "written": "open(path, 'ab').write(b'x')",
            "removed": "os.unlink(path)",
            "exchanged": "open('own', 'w').close()\nos.replace('own', path)",
            "made writable": "os.chmod(path, 0o777)\nopen(path, 'ab')",  # Landlock's filter says yes and does nothing
            "hidden by a neighbour": "open(os.path.dirname(path) + '/json.py', 'w')",
        }.items()
    ),
    warm(
        "the socket of the server",
        "the call says to the host what only the server may",
        r'output: \["pipe"\]$',
        """
        import stat
        found = []
        for number in range(3, 1024):
            try:
                mode = os.fstat(number).st_mode
            except OSError:
                continue
            found.append("socket" if stat.S_ISSOCK(mode) else "pipe" if stat.S_ISFIFO(mode) else "other")
        return OutputModel(value=found)
        """,
    ),
    warm(
        "the server's objects, by the frames that lead to it",
        "the call speaks, and kills, as the server",
        NOTHING,
        """
        import signal
        frame, got = sys._getframe(), []
        while frame is not None:
            server = frame.f_locals.get("self")
            if type(server).__name__ == "Server":
                for attempt in (
                    lambda: server.control.sendmsg([b"ended 1 0"]),
                    lambda: server.kill(int(open("sibling").read())),
                    lambda: os.pread(server.children, 10, 0),
                    lambda: [p.channel.send(b"x") for p in (*server.running.values(), *server.spare)][0],
                    lambda: [signal.pidfd_send_signal(p.handle, 9) for p in server.running.values()][0],
                ):
                    try:
                        got.append(repr(attempt()))
                    except OSError:
                        pass
            frame = frame.f_back
        return OutputModel(value=got)
        """,
    ),
    warm(
        "an answer in the server's words",
        "the host takes the end of another call from a tool",
        r"(bad_output|crashed|output): ",
        "reply(b'ended 1 0\\nkill 1\\nsoiled\\nready\\n')",
    ),
    warm(
        "an end for everyone in reach",
        "the server, or a call beside it, ends",
        r"(crashed|denied|output): ",
        "os.kill(-1, 9)",
    ),
    warm("a stop for everyone in reach", "the server waits for ever", r"(crashed|denied|output): ", "os.kill(-1, 19)"),
    warm(
        "an end for the group of the server",
        "the server ends with it",
        r"(crashed|denied|output): ",
        "os.killpg(os.getpgid(os.getppid()), 9)",
    ),
    warm(
        "its guard gone, an error that nobody catches",
        "the call goes on as a server of its own",
        "crashed: its process ended.*TypeError",
        """
        class Odd(BaseException): pass
        guest = sys.modules['_habilis_guest']
        guest.refusal_of = guest.failures.__exit__ = guest.finish = os._exit = None
        raise Odd
        """,
    ),
    warm(
        "deaf until its time is up",
        "the server waits for the call, and does nothing else",
        "timeout: ",
        "import signal, time\nfor n in (1, 2, 10, 12, 15): signal.signal(n, signal.SIG_IGN)\ntime.sleep(60)",
        timeout_s=0.3,
    ),
    warm(
        "stopped until its time is up",
        "the server waits for the call, and does nothing else",
        "timeout: ",
        "os.kill(os.getpid(), 19)",
        timeout_s=0.3,
    ),
)
FORK = "\ntry:\n    pid = os.fork()\nexcept OSError:\n    return OutputModel(value='no process')\n" + (
    "if pid == 0: os._exit(0)\nos.waitpid(pid, 0)\n"
)
TAKING_ALL = (
    warm(
        "all descriptors, of a neighbour",
        "a call beside it can open nothing",
        "(crashed|denied|output): ",
        "kept = []\nwhile True:\n    try: kept.append(os.open('/dev/null', 0))\n    except OSError: break",
        beside=neighbour(last="open('mine', 'w').close()"),
    ),
    warm(
        "all processes, of a neighbour",
        "a call beside it can start nothing",
        NOTHING,
        """
        import time
        made = 0
        while made < 100:
            try:
                if os.fork() == 0:
                    time.sleep(30)
                    os._exit(0)
            except OSError:
                break
            made += 1
        open("go", "w").close()
        while not os.path.exists("ended"): time.sleep(0.002)
        """,
        settings={"processes": 8},
        beside=neighbour(last=f"{FORK}").replace(
            "return OutputModel", "open('ended', 'w').close()\nreturn OutputModel"
        ),
        known="calls at the same time share their limit of processes: one can leave none to another",
    ),
    warm(
        "the whole temporary folder, of a neighbour",
        "a call beside it can write nothing there",
        "(crashed|denied|output): ",
        """
        import time
        began()
        try:
            for n in range(64):
                with open(f"{os.environ['TMPDIR']}/{n}", "wb") as big:
                    big.write(bytes(1 << 20))
                time.sleep(0.005)
        except OSError:
            pass
        open("go", "w").close()
        time.sleep(0.5)
        """,
        settings={"file_mb": 1},
        beside=neighbour(last="time.sleep(0.3)\nopen(os.environ['TMPDIR'] + '/own', 'wb').write(bytes(200_000))"),
        known="calls at the same time share /tmp: one can fill it for another",
        by_chance=("landlock",),
    ),
    warm(
        "all memory, of a neighbour",
        "a call beside it is ended for what this one took",
        "crashed: .*memory",
        "return OutputModel(value=len(bytearray(1 << 30)))",
        settings={"memory_mb": 200},
        beside=neighbour(last="kept = bytes(1 << 20)"),
    ),
    warm(
        "a file of a neighbour in the temporary folder",
        "a call beside it reads what this one wrote",
        "(denied|crashed): ",
        "open(os.environ['TMPDIR'] + '/theirs', 'w').write('x')",
        beside=neighbour(
            "name = os.environ['TMPDIR'] + '/theirs'\nopen(name, 'w').write('own')",
            "assert open(name).read() == 'own'",
        ),
        known="calls at the same time share /tmp: one can read and change another's files there",
    ),
)
ATTACKS: tuple[Attack, ...] = (*reaches(), *ON_THE_SERVER, *TAKING_ALL, *warm_left.ATTACKS)
