"""Attempts to take the machine from everyone else."""

from __future__ import annotations

from hostile.attack import Attack

SMALL = {"memory_mb": 256}
MEMORY = r"crashed: .*(MemoryError|memory)"
STOPPED_MEMORY = r"crashed: stopped: its processes took more than 256 MiB of memory"
HOARD = """
        import time
        for _ in range(8):
            if os.fork() == 0:
                {}
        time.sleep(15)
"""

ATTACKS = (
    Attack(
        "memory at once",
        "a process takes more than its share",
        MEMORY,
        "return OutputModel(value=len(bytearray(1 << 30)))",
        settings=SMALL,
    ),
    Attack(
        "memory of many processes",
        "together they take more than one may",
        STOPPED_MEMORY,
        HOARD.format("full = bytearray(b'x') * (100 << 20); time.sleep(15); os._exit(0)"),
        settings=SMALL,
        costly=True,
    ),
    Attack(
        "memory behind a first thread that has ended",
        "the kernel shows no memory for the process, and nobody stops it",
        STOPPED_MEMORY,
        """
        import threading, time
        threading.stack_size(1 << 20)
        def hoard():
            time.sleep(0.3)
            full = bytearray(b"x") * (60 << 20)
            time.sleep(15)
            os._exit(0)
        for _ in range(10):
            if os.fork() == 0:
                threading.Thread(target=hoard).start()
                syscall("exit", 0)
        time.sleep(15)
        """,
        settings=SMALL,
        costly=True,
    ),
    Attack(
        "memory in unnamed files",
        "memory that belongs to no process grows unseen",
        r"denied: .*not permitted",
        """
        kept = []
        began()
        for _ in range(100):
            kept.append(os.memfd_create("x"))
            for _ in range(20):
                os.write(kept[-1], bytes(1 << 20))
        return OutputModel(value=len(kept))
        """,
        settings=SMALL,
    ),
    Attack(
        "memory in shared folders",
        "files in /dev/shm and /tmp, which are memory, grow without end",
        r"(crashed|denied): .*(No space left|to disk)",
        """
        for folder in ("/dev/shm", os.environ["TMPDIR"]):
            try:
                for n in range(2000):
                    with open(f"{folder}/{n}", "wb") as part:
                        part.write(bytes(1 << 20))
            except PermissionError:
                pass
        return OutputModel(value="filled")
        """,
        settings={"memory_mb": 256, "file_mb": 8},
    ),
    Attack(
        "endless numbers of files in memory",
        "empty files in /tmp cost memory that no size limits",
        r"(crashed|denied): .*(memory|to disk|No space left)",
        """
        n = 0
        while n < 3_000_000:
            os.close(os.open(f"{os.environ['TMPDIR']}/{n}", os.O_CREAT))
            n += 1
        return OutputModel(value=n)
        """,
        settings={"memory_mb": 96, "file_mb": 16},
        timeout_s=240,
        slow=True,
    ),
    Attack(
        "endless computing",
        "a processor is taken for good",
        r"crashed: .*processor time",
        "while True: pass",
        settings={"cpu_s": 1},
        costly=True,
    ),
    Attack(
        "endless computing, warnings ignored",
        "a handler for the signal goes on",
        r"crashed: .*processor time",
        """
        import signal
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)
        while True: pass
        """,
        settings={"cpu_s": 1},
        costly=True,
    ),
    Attack(
        "a pattern that never ends",
        "C code that cannot be interrupted runs on",
        r"(timeout|crashed): stopped",
        "import re\nre.match(r'(a+)+$', 'a' * 60 + 'b')",
        settings={"cpu_s": 2},
        timeout_s=1.0,
    ),
    Attack(
        "endless sleep",
        "the task waits for ever",
        r"timeout: stopped after [\d.]+ s",
        "import time\nwhile True: time.sleep(60)",
        timeout_s=0.7,
    ),
    Attack(
        "stopping itself",
        "a stopped process is never over",
        r"timeout: stopped after [\d.]+ s",
        "import signal\nos.kill(os.getpid(), signal.SIGSTOP)",
        timeout_s=0.7,
    ),
    Attack(
        "deaf to signals",
        "a process that ignores all signals stays",
        r"timeout: stopped after [\d.]+ s",
        """
        import signal, time
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        os.fork()
        os.setsid() if os.getpid() != os.getpgid(0) else None
        while True: time.sleep(60)
        """,
        timeout_s=0.7,
    ),
    Attack(
        "one endless file",
        "the disk is full",
        r"crashed: .*(too large|over 4 MiB)",
        "with open('big', 'wb') as big:\n    while True: big.write(bytes(1 << 20))",
        settings={"file_mb": 4},
    ),
    Attack(
        "a sparse file",
        "a file claims more than there is, and a copy fills the disk",
        r"crashed: .*(too large|over 4 MiB)",
        "open('big', 'wb').truncate(1 << 40)\nreturn OutputModel(value=1)",
        settings={"file_mb": 4},
    ),
    Attack(
        "space kept ahead",
        "fallocate takes what write may not",
        r"crashed: .*(too large|over 4 MiB)",
        "os.posix_fallocate(os.open('big', os.O_CREAT | os.O_RDWR), 0, 1 << 34)\nreturn OutputModel(value=1)",
        settings={"file_mb": 4},
    ),
    Attack(
        "many files",
        "the disk is full, a little at a time",
        r"crashed: stopped: it wrote more than 16 MiB to disk",
        """
        import time
        for n in range(3000):
            with open(f"part{n}", "wb") as part:
                part.write(bytes(1 << 20))
            time.sleep(0.004)
        return OutputModel(value=1)
        """,
        settings={"file_mb": 4},
        costly=True,
    ),
    Attack(
        "many files far down",
        "files below a path too long to be opened are not counted",
        r"crashed: stopped: it wrote more than 16 MiB to disk",
        """
        import time
        def hide_and_fill():  # the folders belong to it: where somebody else fills the disk, they are its end
            for n in range(30):
                os.mkdir("d" * 250)
                os.chdir("d" * 250)
            for n in range(2000):
                with open(f"part{n}", "wb") as part:
                    part.write(bytes(1 << 20))
                time.sleep(0.004)
        hide_and_fill()
        return OutputModel(value=1)
        """,
        settings={"file_mb": 4},
    ),
    Attack(
        "all inodes",
        "the disk has space, but no file can be made",
        r"crashed: stopped: it wrote more than 4 MiB to disk",
        """
        for n in range(1_000_000):
            os.close(os.open(f"f{n}", os.O_CREAT | os.O_WRONLY))
        return OutputModel(value=1)
        """,
        settings={"file_mb": 1},
        slow=True,
    ),
    Attack(
        "folders without end",
        "the host, looking through the workspace, gives up",
        r"output: 1",
        """
        for n in range(3000):
            os.mkdir("d")
            os.chdir("d")
        open("hidden", "w").write("x")
        return OutputModel(value=1)
        """,
        settings=SMALL,
        costly=True,
    ),
    Attack(
        "folders without end in the temporary folder",
        "the host cannot tidy up",
        r"output: 1",
        """
        os.chdir(os.environ["TMPDIR"])
        for n in range(3000):
            os.mkdir("d")
            os.chdir("d")
        return OutputModel(value=1)
        """,
        settings=SMALL,
        costly=True,
    ),
    Attack(
        "all descriptors",
        "the machine can open no file any more",
        r"crashed: .*limit of open files",
        "kept = []\nwhile True: kept.append(os.open('/dev/null', 0))",
        settings={"open_files": 64},
    ),
    Attack(
        "raising its own limits",
        "a hard limit is lifted",
        "crashed: ValueError: not allowed to raise",
        """
        import resource
        resource.setrlimit(resource.RLIMIT_NOFILE, (1 << 20, 1 << 20))
        return OutputModel(value=1)
        """,
        settings={"open_files": 64},
    ),
    Attack(
        "a fork bomb",
        "the machine can start no process any more",
        r"crashed: BlockingIOError.*limit of processes",
        """
        import time
        while True:
            if os.fork() == 0:
                time.sleep(15)
                os._exit(0)
        """,
        settings={"processes": 8},
    ),
    Attack(
        "a fork bomb that eats its errors",
        "it goes on for ever",
        r"timeout: stopped after [\d.]+ s",
        """
        while True:
            try: os.fork()
            except OSError: pass
        """,
        settings={"processes": 8},
        timeout_s=0.7,
    ),
    Attack(
        "a bomb of threads",
        "threads go past the limit of processes",
        r"crashed: .*(can't start new thread|limit of processes)",
        "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(15,), daemon=True).start()",
        settings={"processes": 8},
    ),
    Attack(
        "a flood of print",
        "the host keeps it all",
        r"crashed: stopped: it printed more than 1 MiB",
        "while True: print('x' * 1000)",
        settings={"output_bytes": 1 << 20},
    ),
    Attack(
        "a flood of log records",
        "the host keeps it all",
        r"crashed: stopped: it printed more than 1 MiB",
        "import logging\nwhile True: logging.error('x' * 1000)",
        settings={"output_bytes": 1 << 20},
    ),
    Attack(
        "a huge reply",
        "the host reads it all",
        r"bad_output: stopped: its output is larger than 1 MiB",
        "return OutputModel(value='x' * (3 << 20))",
        settings={"output_bytes": 1 << 20},
    ),
    Attack(
        "a flood of print and reply at once",
        "stopped for the one, the host goes on reading the other",
        r"(crashed|bad_output): stopped",
        """
        import fcntl, time
        ways = [1, os.dup(reply_pipe())]  # the known one is closed in a child
        for way in ways:
            try:
                fcntl.fcntl(way, 1031, 1 << 20)
            except OSError:
                pass
        for way in ways * 3:
            if os.fork() == 0:
                while True: os.write(way, bytes(1 << 16))
        time.sleep(15)
        """,
        settings={"output_bytes": 1 << 20},
    ),
    Attack(
        "a flood on every descriptor",
        "a pipe that the host uses for itself takes it in without end",
        r"(crashed|bad_output): stopped",
        """
        while True:
            for number in range(1, 256):
                try: os.write(number, b'}' * 4096)
                except OSError: pass
        """,
        settings={"output_bytes": 1 << 20},
    ),
    Attack(
        "waiting for input that never comes",
        "the tool takes the terminal from the user",
        r'output: ""',
        "return OutputModel(value=sys.stdin.read())",
    ),
    Attack(
        "asking the user's terminal",
        "the tool types where the user reads",
        r"(denied|crashed): .*(No such|Permission|not permitted)",
        "return OutputModel(value=open('/dev/tty').read())",
    ),
    Attack(
        "a crash that leaves its memory on disk",
        "a core file holds what the tool held",
        r"crashed: killed by signal SIGABRT",
        "os.abort()",
    ),
    Attack(
        "a stack without end",
        "the interpreter falls",
        r"crashed: RecursionError",
        "def down(): return down()\nreturn OutputModel(value=down())",
    ),
    Attack(
        "memory locked for good",
        "memory cannot be swapped out",
        r"(crashed|denied): .*(allocate|not permitted|memory)",
        """
        size = 64 << 20
        import mmap
        room = mmap.mmap(-1, size)
        worked(libc.mlock(ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(room))), ctypes.c_size_t(size)))
        return OutputModel(value='locked')
        """,
    ),
    Attack(
        "first in every queue",
        "the tool runs before all others",
        r"(denied|crashed): .*not permitted",
        "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))\nreturn OutputModel(value=1)",
    ),
)
