"""Runs inside the sandbox, first: takes the last rights away, then runs the guest in the same interpreter.

    python -s -P -S -B confine.py POLICY python -s -P -S -B guest.py

POLICY is JSON, made by the back ends: `limits`, and optionally `uid` (drop to it), `scratch` (a folder to remove),
`keep_reading` (keep CAP_DAC_READ_SEARCH over the drop), `host_name` (call the machine so, if permitted), `host` (the
process that started this one: stay behind as a reaper of every descendant, and end with it), `asks` (ask over the
standard input whether the host still wants this), `landlock` (paths and access bits), `seccomp` (a classic BPF program
in base64), `relay` (what leads to a door) and `serve` (open the list of its children for the command, which may no
longer be able to; HABILIS_CHILDREN names the descriptor). Imports the standard library alone and as little of it as it
can: each module costs every call.

Sources: landlock(7), seccomp(2), capabilities(7), PR_SET_CHILD_SUBREAPER and PR_SET_PDEATHSIG in prctl(2).
"""

import json
import marshal
import os
import resource
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    import ctypes

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_KEEPCAPS, PR_SET_SECCOMP = 1, 4, 8, 22
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 36, 38, 47, 2
CAP_DAC_READ_SEARCH = 2
SYS_LANDLOCK_CREATE_RULESET, SYS_LANDLOCK_ADD_RULE, SYS_LANDLOCK_RESTRICT_SELF = 444, 445, 446
SYS_SECCOMP, NEW_LISTENER, WAIT_KILLABLE_RECV = {"x86_64": 317, "aarch64": 277}, 1 << 3, 1 << 5
CLONE_NEWUTS = 0x04000000
SWEEP_S = 5.0


def main() -> None:
    """Confine this process as POLICY says and become the command."""
    confine(json.loads(sys.argv[1]), sys.argv[2:])


def confine(policy: dict, command: "list[str]") -> None:  # type: ignore[type-arg]
    """The same with both at hand."""
    supervisor = supervise(policy["host"], policy.get("scratch")) if policy.get("host") else None
    if policy.get("asks") and not is_wanted():
        os._exit(1)
    if policy.get("host_name"):
        call_the_machine(policy["host_name"])
    if policy.get("uid"):
        drop_user(policy["uid"], bool(policy.get("keep_reading")))
    if supervisor is not None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != supervisor:
            os._exit(1)
    way = start_relay(policy["relay"]) if policy.get("relay") else None
    limit(policy["limits"])
    os.chdir(policy["workspace"])
    if policy.get("serve"):
        listing = os.open(f"/proc/self/task/{os.getpid()}/children", os.O_RDONLY)
        os.environ["HABILIS_CHILDREN"] = str(listing)
    if policy.get("landlock"):
        restrict_files(policy["landlock"])
    if policy.get("seccomp"):
        restrict_calls(policy["seccomp"], way)
    become(command)


def is_wanted() -> bool:
    """Ask the host, and wait for its word; the standard input is empty afterwards.

    Whoever answers lives, so all that leads from it to us is tied to a living process by now. A host that was dying
    when its child tied itself to it is known by nothing else: the child's child has no parent to look at, and a dying
    process keeps its pipes open for as long as its memory takes to be freed.
    """
    try:
        os.write(0, b"?")
        word = os.read(0, 1)
    except OSError:
        return False
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return word == b"!"


def limit(limits: dict) -> None:  # type: ignore[type-arg]
    """Set resource limits, soft and hard alike. What the system refuses to raise stays as low as it was."""
    names = {
        "cpu_s": resource.RLIMIT_CPU,
        "memory_bytes": resource.RLIMIT_AS,
        "file_bytes": resource.RLIMIT_FSIZE,
        "open_files": resource.RLIMIT_NOFILE,
        "processes": resource.RLIMIT_NPROC,
        "core_bytes": resource.RLIMIT_CORE,
        "pending_signals": getattr(resource, "RLIMIT_SIGPENDING", None),
    }
    for name, number in names.items():
        if name not in limits or number is None:
            continue
        _, hard = resource.getrlimit(number)
        wanted = limits[name] if hard == resource.RLIM_INFINITY else min(limits[name], hard)
        try:
            resource.setrlimit(number, (wanted, wanted))
        except (ValueError, OSError):
            if sys.platform == "linux":
                raise


def call_the_machine(name: str) -> None:
    """Have the machine another name for this process and all that it starts, where that is permitted."""
    if libc().unshare(CLONE_NEWUTS) == 0:
        text = name.encode()
        libc().sethostname(text, len(text))
        libc().setdomainname(text, len(text))


def drop_user(uid: int, keep_reading: bool) -> None:
    """Become user and group `uid` for good; with `keep_reading` file permissions do not stop it from reading."""
    if keep_reading:
        prctl(PR_SET_KEEPCAPS, 1)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    set_only_capability(CAP_DAC_READ_SEARCH if keep_reading else None)


def set_only_capability(capability: "int | None") -> None:
    """Leave this process with one capability and hand it on to what it starts, or with none, not even inheritable."""
    bit = 0 if capability is None else 1 << capability
    set_capabilities(bit, bit)
    if capability is not None:
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability)


def set_capabilities(bits: int, handed_on: int = 0) -> None:
    """Have these capabilities alone, and hand on those. Raises OSError."""
    import ctypes

    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)(bits, bits, handed_on, 0, 0, 0)
    if libc().capset(ctypes.byref(header), ctypes.byref(data)) != 0:
        raise OSError(ctypes.get_errno(), "capset")


LIBC: "list[ctypes.CDLL]" = []


def libc() -> "ctypes.CDLL":
    """The system's library, loaded by the first who asks: a process that is forked from that one has it."""
    if not LIBC:
        import ctypes

        LIBC.append(ctypes.CDLL(None, use_errno=True))
    return LIBC[0]


def prctl(option: int, *values: int) -> None:
    """prctl(2); does nothing where it does not exist."""
    if sys.platform != "linux":
        return
    import ctypes

    padded = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    if libc().prctl(option, *padded) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}")


def restrict_files(rules: dict) -> None:  # type: ignore[type-arg]
    """Enter a Landlock domain: `handled` rights are gone except below the listed paths."""
    import ctypes

    def call(*values: object) -> int:
        got = libc().syscall(*values)
        if got < 0:
            raise OSError(ctypes.get_errno(), f"landlock system call {values[0]}")
        return int(got)

    attributes = (ctypes.c_uint64 * 3)(rules["handled"], rules["handled_net"], rules["scoped"])
    ruleset = call(SYS_LANDLOCK_CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(rules["size"]), 0)
    for access, paths in rules["paths"]:
        for path in paths:
            add_path(call, ruleset, path, access, rules["file_bits"])
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    call(SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def add_path(call, ruleset: int, path: str, access: int, file_bits: int) -> None:  # type: ignore[no-untyped-def]
    """Allow `access` below `path`; a path that is not there is passed over."""
    import ctypes
    import stat

    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return
    if not stat.S_ISDIR(os.fstat(opened).st_mode):
        access &= file_bits
    rule = bytearray(access.to_bytes(8, sys.byteorder) + opened.to_bytes(4, sys.byteorder, signed=True))
    call(SYS_LANDLOCK_ADD_RULE, ruleset, 1, (ctypes.c_char * len(rule)).from_buffer(rule), 0)
    os.close(opened)


def restrict_calls(program: str, way: "_socket.socket | None" = None) -> None:
    """Install a seccomp filter for this process and all that it starts. Over `way`, if given, the relay gets what the
    filter asks for, and nobody here keeps it: whoever holds it can say yes."""
    import base64
    import ctypes

    code = base64.b64decode(program)
    buffer = ctypes.create_string_buffer(code, len(code))
    filled = (ctypes.c_uint64 * 2)(len(code) // 8, ctypes.addressof(buffer))  # a short number, and where they lie
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    if way is None:
        if libc().prctl(PR_SET_SECCOMP, 2, ctypes.byref(filled), 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "seccomp")
        return
    number = ctypes.c_long(SYS_SECCOMP[os.uname().machine])
    asked = libc().syscall(number, 1, ctypes.c_ulong(NEW_LISTENER | WAIT_KILLABLE_RECV), ctypes.byref(filled))
    if asked < 0:
        reason = os.strerror(ctypes.get_errno())
        sys.exit(f"granted hosts cannot be reached here: nobody may answer for a filter ({reason})")
    way.sendmsg([b"f"], [(1, 1, asked.to_bytes(4, sys.byteorder))])  # SOL_SOCKET, SCM_RIGHTS
    os.close(asked)
    way.close()


def supervise(host: int, scratch: "str | None") -> int:
    """Fork; the child returns its parent's id, the parent stays outside until no descendant is left, then exits.

    It inherits every orphan (subreaper), so a process that leaves its session or its parent is found and killed too.
    SIGTERM, also sent by the kernel when the host dies, means: kill all now. A host that died before is known by its
    number.
    """
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    blocked = {signal.SIGTERM, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != host:
        os._exit(1)
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, blocked)
        return os.getppid()
    let_go_of_pipes()
    status = None
    while status is None and signal.sigwait(blocked) == signal.SIGCHLD:
        status = reap(child)
    sweep(child if status is None else None)
    if scratch and (status is None or os.getppid() != host):  # the host may be dead and cannot tidy up
        import shutil

        shutil.rmtree(scratch, ignore_errors=True)
    code = 128 + signal.SIGKILL if status is None else os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


def let_go_of_pipes() -> None:
    """The supervisor must not hold the guest's pipes open: their end says that the guest is gone."""
    for name in ("HABILIS_IN", "HABILIS_OUT"):
        if os.environ.get(name, "").isdigit():
            os.close(int(os.environ[name]))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)


def reap(child: int) -> "int | None":
    """Collect every dead child; the wait status of `child` when it is among them."""
    found = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        if pid == child:
            found = status


def sweep(child: "int | None") -> None:
    """Kill descendants until none is left. A killed process's children become ours, so rounds find them all."""
    import time

    ends = time.monotonic() + SWEEP_S
    while time.monotonic() < ends:
        for pid in {*children(), *([child] if child else ())}:
            try:
                group = os.getpgid(pid)  # in a group that is killed, forks cannot run ahead of us
                if group != os.getpgid(0):
                    os.killpg(group, signal.SIGKILL)
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.002)
        except ChildProcessError:
            return


def children() -> "list[int]":
    """Our direct children, orphans that we adopted included."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as listing:  # noqa: PTH123
            return [int(word) for word in listing.read().split()]
    except OSError:
        return []


def start_relay(relay: dict) -> "_socket.socket | None":  # type: ignore[type-arg]
    """Have a process of its own, by `script`, pass on what the tool says to the door at `socket`.

    The policy has a `relay` where the call has a door (see `sandbox/backends/relaying.py`). With a `port` the tool
    reaches it there, on a loopback of its own; the port takes connections from now on: the tool cannot come too early.
    Without one the relay answers for the tool's sockets, and what it does that with has to be sent over the way that is
    returned. The process is nobody's child that the tool might wait for, holds none of its pipes, and ends with the
    sandbox.
    """
    import _socket

    way = None
    if "port" in relay:
        held = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        held.bind(("127.0.0.1", relay["port"]))
        held.listen(128)
    else:
        way, held = _socket.socketpair()
    between = os.fork()
    if between == 0:
        try:
            os.setsid()
            if os.fork() == 0:
                prctl(PR_SET_DUMPABLE, 0)  # it may make unix sockets, so its memory is none of the tool's
                only_descriptor(held.fileno())
                folder, name = os.path.split(relay["socket"])  # an address holds 107 bytes, which a whole path may not
                os.chdir(folder)
                run_script([relay["script"], "3", name])
        finally:
            os._exit(0)
    os.waitpid(between, 0)
    held.close()
    return way


def only_descriptor(number: int) -> None:
    """Keep descriptor `number`, as 3; what is written to the standard ones is lost."""
    os.dup2(number, 3)
    os.closerange(4, 1 << 16)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)


def become(command: "list[str]") -> None:
    """Run `command`: in this interpreter when it is a script for the same one, else by exec."""
    flags = ["-s", "-P", "-S", "-B"]
    if command[0] != sys.executable or command[1:5] != flags:
        os.execv(command[0], command)
    run_script(command[5:])


def run_script(command: "list[str]") -> None:
    """Run a script of ours, source or bytecode, in this interpreter; the rest of `command` are its arguments.

    A process that was forked from one which has loaded it goes on with that."""
    script = command[0]
    sys.argv = command
    for name, module in list(sys.modules.items()):
        if name.startswith("_habilis_") and module.__file__ == script:
            module.main()
            return
    with open(script, "rb") as opened:  # noqa: PTH123
        data = opened.read()
    code = marshal.loads(data[16:]) if script.endswith(".pyc") else compile(data, script, "exec")
    names = {"__name__": "__main__", "__file__": script, "__builtins__": __builtins__}
    exec(code, names)


if __name__ == "__main__":
    main()
