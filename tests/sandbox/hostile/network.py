"""Attempts to reach anything but the host that asked."""

from __future__ import annotations

from hostile.attack import NO_NETWORK, NOT_PERMITTED, NOTHING_FOUND, Attack


def socket_of(name: str, family: str, kind: str, harm: str) -> Attack:
    return Attack(
        name, harm, NO_NETWORK, f"import socket\nsocket.socket({family}, {kind})\nreturn OutputModel(value=1)"
    )


ATTACKS = (
    Attack(
        "tcp to a listener of the host",
        "the listener gets a connection",
        NO_NETWORK,
        "import socket\nsocket.create_connection(('127.0.0.1', s['port']), 2)\nreturn OutputModel(value=1)",
    ),
    Attack(
        "tcp over IPv6",
        "the listener on ::1 gets a connection",
        NO_NETWORK,
        "import socket\nsocket.create_connection(('::1', s['port6'] or 9), 2)\nreturn OutputModel(value=1)",
    ),
    Attack(
        "udp to a listener of the host",
        "the listener gets a datagram",
        NO_NETWORK,
        """
        import socket
        socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", s["udp_port"]))
        return OutputModel(value=1)
        """,
    ),
    Attack(
        "udp to the world",
        "a datagram leaves the machine",
        NO_NETWORK,
        """
        import socket
        socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53))
        return OutputModel(value=1)
        """,
    ),
    Attack(
        "a name looked up",
        "a name server is asked, and so told",
        NO_NETWORK,
        "import socket\nreturn OutputModel(value=str(socket.getaddrinfo('secret.example.org', 80)))",
    ),
    Attack(
        "http with the standard library",
        "a page is fetched",
        NO_NETWORK,
        "import urllib.request\nreturn OutputModel(value=str(urllib.request.urlopen('http://192.0.2.1/', timeout=2)))",
    ),
    Attack(
        "asyncio's connections",
        "the listener gets a connection",
        NO_NETWORK,
        "import asyncio\nasyncio.run(asyncio.open_connection('127.0.0.1', s['port']))\nreturn OutputModel(value=1)",
    ),
    Attack(
        "a unix socket by its path",
        "a service of the host, such as a container engine's, is reached",
        NO_NETWORK,
        "import socket\nsocket.socket(socket.AF_UNIX).connect(s['unix'])\nreturn OutputModel(value=1)",
    ),
    Attack(
        "an abstract unix socket",
        "a service without a path, such as a desktop's bus, is reached",
        NO_NETWORK,
        "import socket\nsocket.socket(socket.AF_UNIX).connect(s['abstract'])\nreturn OutputModel(value=1)",
    ),
    Attack(
        "a server of its own",
        "others can connect to the tool",
        NO_NETWORK,
        "import socket\nsocket.create_server(('0.0.0.0', 0))\nreturn OutputModel(value=1)",
    ),
    socket_of("netlink", "socket.AF_NETLINK", "socket.SOCK_RAW", "routes and interfaces are read"),
    socket_of("raw packets", "socket.AF_PACKET", "socket.SOCK_RAW", "the wire is listened to"),
    socket_of("raw ICMP", "socket.AF_INET", "socket.SOCK_RAW", "a ping leaves the machine"),
    socket_of("vsock", "40", "socket.SOCK_STREAM", "the virtual machine's host is reached"),
    socket_of("the kernel's ciphers", "38", "socket.SOCK_SEQPACKET", "a door into the kernel's crypto code is opened"),
    socket_of("bluetooth", "31", "socket.SOCK_RAW", "a radio is used"),
    Attack(
        "a socketpair of another family",
        "a family other than unix comes in by the side door",
        r"denied: .*(not permitted|not supported|Permission denied)",
        """
        import socket
        socket.socketpair(30, socket.SOCK_STREAM)
        return OutputModel(value=1)
        """,
    ),
    Attack(
        "inherited sockets",
        "a listener of the host is used through its number",
        NOTHING_FOUND,
        """
        import socket
        found = []
        for number in range(3, 256):
            try:
                found.append(str(socket.socket(fileno=number).getsockname()))
            except OSError:
                pass
        return OutputModel(value=found)
        """,
    ),
    Attack(
        "sockets by io_uring",
        "the kernel makes a socket without the call that is filtered",
        NOT_PERMITTED,
        """
        parameters = ctypes.create_string_buffer(120)
        return OutputModel(value=syscall("io_uring_setup", 8, ctypes.cast(parameters, ctypes.c_void_p)))
        """,
    ),
    Attack(
        "sockets by the x32 table",
        "the call's second number is not filtered",
        r"(denied|crashed): .*(Operation not permitted|Function not implemented)",
        "return OutputModel(value=syscall(0x40000000 | 41, 2, 1, 0))",
    ),
    Attack(
        "sockets by 32-bit calls",
        "machine code makes the call by the old gate, with other numbers",
        r"output: -(1|13|38)$|crashed: killed by signal",
        """
        import mmap
        if os.uname().machine != "x86_64":
            return OutputModel(value=-1)
        code = mmap.mmap(-1, 4096, prot=7)  # push rbx; eax=359 (socket); ebx=2; ecx=1; edx=0; int 0x80; pop rbx; ret
        code.write(bytes.fromhex("53b867010000bb02000000b90100000031d2cd805bc3"))
        start = ctypes.addressof(ctypes.c_char.from_buffer(code))
        return OutputModel(value=ctypes.CFUNCTYPE(ctypes.c_int)(start)())
        """,
    ),
    Attack(
        "a program that has its own network code",
        "a shell connects where Python may not",
        r"output: (1|2|127|\"no bash\")",
        """
        import subprocess
        try:
            line = f"echo x > /dev/tcp/127.0.0.1/{s['port']}"
            return OutputModel(value=subprocess.run(["bash", "-c", line]).returncode)
        except FileNotFoundError:
            return OutputModel(value="no bash")
        """,
    ),
    Attack(
        "the proxy of the host",
        "the host's proxy settings are used",
        NOTHING_FOUND,
        "import urllib.request\nreturn OutputModel(value=urllib.request.getproxies())",
    ),
)
