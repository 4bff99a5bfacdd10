"""Attempts to become someone else, to get at other processes, and to stay."""

from __future__ import annotations

import textwrap

from hostile.attack import NOT_PERMITTED, OUT_OF_SIGHT, Attack

NEVER = r"(denied|crashed): .*([Nn]ot permitted|Permission denied|No such|not implemented|Read-only|Invalid argument)"
DONE = "\nreturn OutputModel(value='done')"


def calling(name: str, harm: str, source: str, told: str = NEVER) -> Attack:
    return Attack(name, harm, told, textwrap.dedent(source).strip("\n") + DONE)


def refused(name: str, harm: str, source: str) -> Attack:
    return calling(name, harm, f"worked({source})", NOT_PERMITTED)


ATTACKS = (
    refused("tracing the host", "the host's memory and registers are the tool's", "libc.ptrace(16, s['host'], 0, 0)"),
    refused(
        "reading the host's memory",
        "secrets are read out of the host",
        "libc.process_vm_readv(s['host'], None, 0, None, 0, 0)",
    ),
    refused(
        "writing the host's memory",
        "the host runs what the tool wrote",
        "libc.process_vm_writev(s['host'], None, 0, None, 0, 0)",
    ),
    calling(
        "memory of a neighbour by /proc",
        "another process's memory is read",
        "open(f\"/proc/{s['victim']}/mem\", 'rb').read(1)",
    ),
    calling(
        "a descriptor of the host",
        "the host's open files are the tool's",
        "syscall('pidfd_getfd', 0, 0, 0)",
        NOT_PERMITTED,
    ),
    calling(
        "comparing with the host",
        "addresses inside the kernel are found out",
        "syscall('kcmp', os.getpid(), s['host'], 0, 0, 0)",
        NOT_PERMITTED,
    ),
    calling(
        "memory of another thrown out",
        "another process is slowed down",
        "syscall('process_madvise', 0, None, 0, 21, 0)",
        NOT_PERMITTED,
    ),
    calling("becoming root", "the tool is root", "os.setuid(0)"),
    calling("becoming root, all three ids", "the tool is root", "os.setresuid(0, 0, 0)"),
    calling("joining groups", "the tool may what a group may", "os.setgroups([0, 6, 27])"),
    calling(
        "taking capabilities",
        "the tool has rights of root",
        """
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)
        data = (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6)
        worked(libc.capset(header, data))
        """,
    ),
    calling("capabilities by inheritance", "started programs have rights", "worked(libc.prctl(47, 2, 21, 0, 0))"),
    Attack(
        "rights that are left",
        "the tool is root, or holds a right besides reading what the rules allow",
        r"output: \[\]",
        """
        left = ["root"] if 0 in os.getresuid() + os.getresgid() else []
        header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
        worked(libc.capget(header, data))
        left += [f"{value:#x}" for value in data if value & ~4]
        return OutputModel(value=left)
        """,
    ),
    Attack(
        "programs that are root when started",
        "a set-user-id program does what the tool may not",
        r"output: \[\]|denied: ",
        """
        import subprocess
        got = []
        for command in (["su", "-c", "id -u"], ["sudo", "-n", "id", "-u"], ["pkexec", "id", "-u"], ["newgrp", "root"]):
            try:
                said = subprocess.run(command, capture_output=True, timeout=5, stdin=subprocess.DEVNULL)
                began()
                got += [command[0]] if said.returncode == 0 and said.stdout.strip() == b"0" else []
            except (OSError, subprocess.TimeoutExpired):
                pass
        return OutputModel(value=got)
        """,
    ),
    refused(
        "a user namespace",
        "inside it the tool is root and the kernel's wider doors are open",
        "libc.unshare(0x10000000)",
    ),
    refused("a mount namespace", "the tool arranges files anew", "libc.unshare(0x00020000)"),
    refused("a network namespace", "the tool has an interface of its own", "libc.unshare(0x40000000)"),
    calling(
        "a user namespace by clone",
        "the flag comes in by another call",
        "syscall('clone', 0x10000000 | 17, 0, 0, 0, 0)",
        NOT_PERMITTED,
    ),
    calling(
        "a user namespace by clone3",
        "flags in memory pass the filter",
        """
        arguments = (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, 17)
        began()
        pid = syscall('clone3', ctypes.byref(arguments), 88)
        if pid == 0: os._exit(0)
        """,
        r"(denied|crashed): .*(Function not implemented|not permitted)",
    ),
    calling(
        "the host's namespaces",
        "the tool joins them",
        "worked(libc.setns(os.open('.', os.O_RDONLY), 0))",
        NOT_PERMITTED,
    ),
    refused(
        "a mount",
        "the tool covers files with its own",
        "libc.mount(b'none', s['workspace'].encode(), b'tmpfs', 0, None)",
    ),
    refused(
        "a bind over the task's file",
        "the next reader finds the tool's file",
        "libc.mount(s['inside'].encode(), s['given'].encode(), None, 4096, None)",
    ),
    refused(
        "read-only made writable", "the walls' own mounts change", "libc.mount(b'none', b'/', None, 32 | 4096, None)"
    ),
    refused("a mount taken away", "what lay below it comes to light", "libc.umount2(b'/proc', 2)"),
    calling(
        "a mount by the new calls",
        "the filter knows only the old ones",
        "syscall('fsopen', b'tmpfs', 0)",
        NOT_PERMITTED,
    ),
    calling(
        "a copy of a mount", "a tree is taken out of its walls", "syscall('open_tree', -100, b'/', 1)", NOT_PERMITTED
    ),
    calling("another root", "the tool decides what / is", "os.chroot('.')", NOT_PERMITTED),
    calling("a pivot of the root", "the tool decides what / is", "syscall('pivot_root', b'.', b'.')", NOT_PERMITTED),
    calling(
        "a file by its handle",
        "a number opens any file of the disk",
        "worked(libc.open_by_handle_at(-100, None, 0))",
        NOT_PERMITTED,
    ),
    refused("watching all files", "every access on the machine is told", "libc.fanotify_init(0, 0)"),
    calling("a signal to the host", "the host ends", "os.kill(s['host'], 9)"),
    calling("a signal to a neighbour", "another process ends", "os.kill(s['victim'], 9)"),
    calling(
        "a signal to the host's group", "all that the user started with it ends", "os.killpg(os.getpgid(s['host']), 9)"
    ),
    calling("a signal by another call", "the host ends", "syscall('tgkill', s['host'], s['host'], 9)"),
    calling(
        "a signal by descriptor",
        "the host ends",
        """
        import signal
        began()
        handle = syscall('pidfd_open', s['victim'], 0)
        signal.pidfd_send_signal(handle, 9)
        """,
    ),
    Attack(
        "a signal to everyone",
        "whatever the user runs ends",
        r"(crashed|denied|output): ",
        "os.kill(-1, 15)\nreturn OutputModel(value=1)",
    ),
    Attack(
        "a signal to its parent and its own group",
        "its guard ends, and it stays",
        r"crashed: (killed by signal|its process ended)",
        """
        import time
        try:
            os.kill(os.getppid(), 9) if os.getppid() > 1 else None
        except OSError:
            pass
        os.killpg(0, 9)
        time.sleep(15)
        """,
    ),
    Attack(
        "a daemon",
        "a process of its own session outlives the call",
        r'output: "started"',
        """
        import time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.closerange(0, 256)
                open("started", "w").close()
                while True: time.sleep(1)
            os._exit(0)
        while not os.path.exists("started"): time.sleep(0.01)
        return OutputModel(value="started")
        """,
    ),
    Attack(
        "a fork after the end",
        "a process started on the way out stays",
        r"output: 1",
        """
        import atexit, time
        def late():
            if os.fork() == 0:
                os.setsid()
                began()
                while True: time.sleep(1)
            while not os.path.exists(".began"): time.sleep(0.001)
        atexit.register(late)
        return OutputModel(value=1)
        """,
    ),
    Attack(
        "a chain of forks",
        "a process that is always another one is never caught",
        r"crashed: its process ended without a result",
        """
        while True:
            if os.fork(): os._exit(0)
            os.setsid()
        """,
    ),
    Attack(
        "a guard of its own",
        "the tool adopts its orphans and clears the death signal, so that nobody finds them",
        r'output: "started"',
        """
        import time
        if os.fork() == 0:
            libc.prctl(1, 0, 0, 0, 0)
            libc.prctl(36, 1, 0, 0, 0)
            if os.fork() == 0:
                os.setsid()
                open("started", "w").close()
            while True: time.sleep(1)
        while not os.path.exists("started"): time.sleep(0.01)
        return OutputModel(value="started")
        """,
    ),
    Attack(
        "a child that shares its files",
        "a process made with clone's flags is not counted as its child",
        r"output: 1",
        """
        import time
        if syscall("clone", 0x00008000 | 17, 0, 0, 0, 0) == 0:  # CLONE_PARENT
            while True: time.sleep(1)
        return OutputModel(value=1)
        """,
    ),
    calling(
        "typing into the terminal",
        "the user's shell runs what the tool typed",
        """
        import fcntl, termios
        for number in range(3):
            fcntl.ioctl(number, termios.TIOCSTI, b'x')
        """,
        NOT_PERMITTED,
    ),
    calling(
        "a filter of its own over ours",
        "the newer filter allows what ours refuses",
        """
        import socket
        code = (ctypes.c_uint64 * 1)(0x7FFF000000000006)
        class Program(ctypes.Structure):
            _fields_ = [('size', ctypes.c_ushort), ('code', ctypes.c_void_p)]
        filled = Program(1, ctypes.addressof(code))
        syscall('seccomp', 1, 0, ctypes.byref(filled))
        socket.socket()
        """,
        r"denied: no network",
    ),
    calling(
        "new privileges allowed again",
        "set-user-id programs work again",
        "worked(libc.prctl(38, 0, 0, 0, 0))",
        r"crashed: .*Invalid argument",
    ),
    calling("a program in the kernel", "the kernel runs the tool's code", "syscall('bpf', 0, None, 0)", NOT_PERMITTED),
    calling(
        "counters of the processor",
        "others' secrets are measured",
        "syscall('perf_event_open', None, 0, -1, -1, 0)",
        NOT_PERMITTED,
    ),
    calling(
        "faults by userfaultfd",
        "the kernel is held in the middle of a copy",
        "syscall('userfaultfd', 1)",
        NOT_PERMITTED,
    ),
    calling("a keyring of its own", "keys outlive the call", "syscall('keyctl', 1, None, 0, 0, 0)", NOT_PERMITTED),
    calling(
        "a kernel module from memory",
        "the kernel runs the tool's code",
        "syscall('init_module', None, 0, b'')",
        NOT_PERMITTED,
    ),
    calling(
        "a kernel module from a file",
        "the kernel runs the tool's code",
        "syscall('finit_module', 0, b'', 0)",
        NOT_PERMITTED,
    ),
    calling(
        "another kernel", "the machine starts the tool's kernel", "syscall('kexec_load', 0, 0, None, 0)", NOT_PERMITTED
    ),
    refused("a restart", "the machine restarts", "libc.reboot(0)"),
    refused("swap", "the tool's file is the machine's memory", "libc.swapon(b'/dev/null', 0)"),
    refused("accounting", "every process is written down in the tool's file", "libc.acct(b'x')"),
    refused("the machine's name", "the machine is called otherwise", "libc.sethostname(b'x', 1)"),
    calling("the clock", "time is set", "import time\ntime.clock_settime(time.CLOCK_REALTIME, 0)", NOT_PERMITTED),
    refused(
        "input and output ports",
        "devices are spoken to directly",
        "libc.iopl(3) if os.uname().machine == 'x86_64' else libc.reboot(0)",
    ),
    calling(
        "limits of the host",
        "the host can open no file any more",
        "import resource\nresource.prlimit(s['host'], resource.RLIMIT_NOFILE, (3, 3))",
    ),
    calling("the host's turn", "the host runs last", "os.setpriority(os.PRIO_PROCESS, s['host'], 19)"),
    calling("the host's processors", "the host runs on one", "os.sched_setaffinity(s['host'], {0})"),
    calling(
        "the host's scheduling",
        "the host runs when nothing else does",
        "os.sched_setscheduler(s['host'], os.SCHED_IDLE, os.sched_param(0))",
    ),
    calling(
        "the host's disk turn", "the host's reads wait", "syscall('ioprio_set', 1, s['host'], 3 << 13)", NOT_PERMITTED
    ),
    calling("who is who", "the tool maps its uid to root", "open('/proc/self/uid_map', 'wb', 0).write(b'0 0 1')"),
    Attack(
        "a library loaded into others",
        "a preload reaches a set-user-id program",
        OUT_OF_SIGHT,
        "open('/etc/ld.so.conf.d/x.conf', 'w')" + DONE,
    ),
)
