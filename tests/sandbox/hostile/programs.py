"""Attempts to start a program, by a tool that was not granted any."""

from __future__ import annotations

import textwrap

from hostile.attack import NOT_PERMITTED, Attack

TOLD = "denied: a tool starts programs only with the capability subprocess"
PROOF = """
import subprocess
proof = ["/bin/sh", "-c", "echo started > proof"]
"""
STARTED = "\nreturn OutputModel(value=os.path.exists('proof'))"


def starting(name: str, source: str, told: str = TOLD) -> Attack:
    body = PROOF + textwrap.dedent(source).strip("\n") + STARTED
    return Attack(name, "a program is started that nobody granted", told, body, programs=False)


NOT_STARTED = "output: false"
ATTACKS = (
    starting("a program", "subprocess.run(proof, check=True)"),
    starting("a program by way of the shell", "os.system(proof[2])", NOT_STARTED),
    starting("a program with a pipe", "os.popen(proof[2]).read()"),
    starting("becoming a program", "os.execv(proof[0], proof)"),
    starting("becoming a program, in a fork", "os.fork() or os.execv(proof[0], proof)\nos.wait()", NOT_STARTED),
    starting("a program, started by libc", "os.posix_spawn(proof[0], proof, {})"),
    starting(
        "a program by its open file",
        """
        opened = os.open("/bin/sh", os.O_RDONLY)
        os.execve(opened, proof, {})
        """,
    ),
    starting(
        "a program by the other call",
        """
        parts = (ctypes.c_char_p * 4)(*(part.encode() for part in proof), None)
        number = 322 if os.uname().machine == "x86_64" else 281
        syscall(number, -100, b"/bin/sh", parts, (ctypes.c_char_p * 1)(None), 0)
        """,
        NOT_PERMITTED,
    ),
    starting(
        "a program by another numbering of calls",
        """
        parts = (ctypes.c_char_p * 4)(*(part.encode() for part in proof), None)
        syscall(0x40000000 | 520, b"/bin/sh", parts, None)
        """,
        "crashed: .*Function not implemented",
    ),
    starting("a program by libc's system", "libc.system(proof[2].encode())", NOT_STARTED),
    starting(
        "a program of its own making",
        """
        with open("own", "w") as own:
            own.write("#!/bin/sh\\necho started > proof\\n")
        try:
            os.chmod("own", 0o755)
        except OSError:
            pass
        subprocess.run([os.path.abspath("own")])
        """,
    ),
    starting(
        "a program by the loader of programs",
        """
        import glob
        loader = next(iter(glob.glob("/lib*/ld-linux*") or glob.glob("/lib/ld-*")), "/lib64/ld-linux-x86-64.so.2")
        subprocess.run([loader, *proof])
        """,
    ),
    starting(
        "another interpreter",
        """
        subprocess.run([sys.executable, "-S", "-c", "open('proof', 'w')"])
        """,
    ),
    starting(
        "a program from a thread",
        """
        import threading
        thread = threading.Thread(target=lambda: os.system(proof[2]))
        thread.start()
        thread.join()
        """,
        NOT_STARTED,
    ),
    starting(
        "a filter that allows all, laid over the one that refuses",
        """
        allow = ctypes.create_string_buffer((6).to_bytes(2, "little") + bytes(2) + (0x7FFF0000).to_bytes(4, "little"))
        filled = (ctypes.c_uint64 * 2)(1, ctypes.addressof(allow))
        libc.prctl(22, ctypes.c_ulong(2), ctypes.byref(filled), 0, 0)
        subprocess.run(proof)
        """,
    ),
    starting("the filter switched off", "libc.prctl(22, 0, 0, 0, 0)\nsubprocess.run(proof)"),
    starting(
        "a process of a pool, started anew",
        """
        import multiprocessing
        process = multiprocessing.get_context("spawn").Process(target=os.mkdir, args=("proof",))
        process.start()
        process.join()
        """,
        NOT_STARTED,
    ),
)
