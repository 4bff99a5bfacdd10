"""Attempts of a tool that may reach one host, `localhost` at one port, to reach any other."""

from __future__ import annotations

from hostile.attack import NOTHING_FOUND, Attack

GRANTED_ONLY = "denied: a tool reaches granted hosts alone, through the HTTP proxy that HTTPS_PROXY names"
REFUSED = r"denied: .*403:? refused by the sandbox: "
FORM = r'output: "HTTP/1.1 400 '
NEAR = """
try:
    others = {int(name) for name in os.listdir("/proc") if name.isdigit()} - {1, os.getpid()}
except PermissionError:  # it was started in the same moment
    others = set(range(os.getpid() - 9, os.getpid() + 9)) - {os.getpid()}
assert others, "no relay"
"""


def direct(name: str, harm: str, source: str) -> Attack:
    return Attack(name, harm, GRANTED_ONLY, f"import socket\n{source}\nreturn OutputModel(value=1)", granted=True)


def past_the_proxy(name: str, harm: str, place: str) -> Attack:
    """A connection to `place`. Where connecting cannot fail it leads to the proxy all the same, which answers."""
    source = f"""
    import socket
    with socket.create_connection({place}, 2) as client:
        client.sendall(b"GET /stolen HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
        return OutputModel(value=client.recv(4096).decode().partition("\\r\\n")[0])
    """
    return Attack(name, harm, GRANTED_ONLY, source, granted=True, told_on={"landlock": FORM + ".*this proxy alone"})


def fetched(name: str, harm: str, told: str, url: str) -> Attack:
    source = f"import urllib.request\nreturn OutputModel(value=urllib.request.urlopen(f{url!r}).read().decode())"
    return Attack(name, harm, REFUSED + told, source, granted=True)


def said(name: str, harm: str, told: str, data: str) -> Attack:
    """`data` is an expression for what is said to the proxy, `g` in it the granted place; told is the answer's first
    line."""
    return Attack(
        name, harm, told, f"g = b'localhost:%d' % s['granted']\nreturn OutputModel(value=say({data}))", granted=True
    )


ATTACKS = (
    past_the_proxy(
        "granted: tcp to the host's loopback",
        "the listener gets a connection, past the proxy",
        "('127.0.0.1', s['port'])",
    ),
    past_the_proxy("granted: tcp to the world", "a connection leaves the machine, past the proxy", "('192.0.2.1', 80)"),
    past_the_proxy(
        "granted: tcp to the granted host itself",
        "the granted host is reached without anyone looking",
        "('127.0.0.1', s['granted'])",
    ),
    Attack(
        "granted: tcp to the host's loopback by a program",
        "what the tool starts is not held as it is itself",
        r'output: "ConnectionRefusedError"$',
        """
        import subprocess
        code = "\\n".join((
            "import socket",
            "try:",
            f"    client = socket.create_connection(('127.0.0.1', {s['port']}), 2)",
            "    client.sendall(b'stolen' + bytes((13, 10, 13, 10)))",
            "    print(client.recv(4096).decode().partition(' the')[0])",
            "except OSError as error:",
            "    print(type(error).__name__)",
        ))
        ran = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True)
        return OutputModel(value=(ran.stdout or ran.stderr).strip())
        """,
        granted=True,
        told_on={"landlock": r'output: "HTTP/1.1 400"$'},
    ),
    Attack(
        "granted: a connection made by sending",
        "the listener gets a connection that no wall for connecting saw",
        r'output: \["\w+Error", "\w+Error", "\w+Error"\]$',
        """
        import socket
        fast, place, found = 0x20000000, ("127.0.0.1", s["port"]), []
        spent = socket.create_connection(("127.0.0.1", 3128))
        spent.sendall(b"x\\r\\n\\r\\n")
        while spent.recv(1000):
            pass
        for client, send in ((socket.socket(), "sendto"), (socket.socket(), "sendmsg"), (spent, "sendto")):
            try:
                client.sendto(b"x", fast, place) if send == "sendto" else client.sendmsg([b"x"], [], fast, place)
                found.append("sent")
            except OSError as error:
                found.append(type(error).__name__)
        return OutputModel(value=found)
        """,
        granted=True,
    ),
    Attack(
        "granted: a connection undone and made anew",
        "the listener gets a connection by a socket that was let through once",
        r'output: "(HTTP/1.1 400.*|\w*Error)"$',
        """
        import socket
        with socket.create_connection(("127.0.0.1", 3128)) as client:
            libc.connect(client.fileno(), bytes(16), 16)
            try:
                client.connect(("127.0.0.1", s["port"]))
                client.sendall(b"stolen\\r\\n\\r\\n")
                return OutputModel(value=client.recv(1000).decode().partition("\\r\\n")[0])
            except OSError as error:
                return OutputModel(value=type(error).__name__)
        """,
        granted=True,
    ),
    Attack(
        "granted: waiting for others",
        "whoever reaches this machine reaches the tool",
        r'output: "listens"$',  # on a loopback that nobody else has
        """
        import socket
        with socket.socket() as server:
            for step in (lambda: server.bind(("0.0.0.0", 0)), server.listen):
                try:
                    step()
                except PermissionError:
                    return OutputModel(value="refused")
            return OutputModel(value="listens")
        """,
        granted=True,
        told_on={"landlock": 'output: "refused"$'},
    ),
    Attack(
        "granted: who answers for sockets, looked for",
        "the tool answers its own calls for sockets",
        NOTHING_FOUND,
        """
        import errno, fcntl
        found = []
        for number in range(3, 256):
            try:
                fcntl.ioctl(number, 0x40082102, bytes(8))  # is there a call of that number?
                found.append(number)
            except OSError as error:
                found += [number] if error.errno in (errno.ENOENT, errno.EINPROGRESS) else []
        return OutputModel(value=found)
        """,
        granted=True,
    ),
    Attack(
        "granted: a filter of its own that lets it through",
        "the tool's own answer for a connection counts",
        r'output: \["installed", "ConnectionRefusedError"\]$',  # where nobody is asked, there is nothing to gain
        """
        import socket, struct
        step = lambda code, yes, no, value: struct.pack("=HBBI", code, yes, no, value)
        code = step(6, 0, 0, 0x7FFF0000)
        held = ctypes.create_string_buffer(code, len(code))
        program = (ctypes.c_uint64 * 2)(1, ctypes.addressof(held))
        found = []
        try:
            syscall("seccomp", 1, 8, ctypes.byref(program))
            found.append("installed")
        except OSError as error:
            found.append("refused")
        syscall("seccomp", 1, 0, ctypes.byref(program))
        try:
            with socket.create_connection(("127.0.0.1", s["port"]), 2) as client:
                client.sendall(b"stolen\\r\\n\\r\\n")
                found.append(client.recv(1000).decode().partition(" the")[0])
        except OSError as error:
            found.append(type(error).__name__)
        return OutputModel(value=found)
        """,
        granted=True,
        told_on={"landlock": r'output: \["refused", "HTTP/1.1 400'},
    ),
    direct(
        "granted: udp",
        "a datagram leaves the machine",
        "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', s['udp_port']))",
    ),
    direct(
        "granted: a name looked up",
        "a name server is asked, and so told",
        "socket.getaddrinfo('secret.example.org', 80)",
    ),
    direct(
        "granted: IPv6",
        "the listener on ::1 gets a connection",
        "socket.socket(socket.AF_INET6).connect(('::1', s['port6'] or 9))",
    ),
    direct(
        "granted: a unix socket by its path",
        "a service of the host is reached",
        "socket.socket(socket.AF_UNIX).connect(s['unix'])",
    ),
    direct(
        "granted: an abstract unix socket",
        "a service without a path is reached",
        "socket.socket(socket.AF_UNIX).connect(s['abstract'])",
    ),
    direct(
        "granted: the door without the relay",
        "the proxy is spoken to with descriptors or credentials of a unix socket",
        "socket.socket(socket.AF_UNIX).connect('/run/habilis/door')",
    ),
    direct(
        "granted: the door of a neighbouring call",
        "what another tool was granted is reached",
        "socket.socket(socket.AF_UNIX).connect(s['neighbour_door'])",
    ),
    direct(
        "granted: netlink, packets and other protocols of streams",
        "a part of the kernel that no honest client needs is reached",
        """
def refused(*kind):
    try:
        socket.socket(*kind).close()
        return False
    except PermissionError:
        return True
kinds = [(16, 3), (17, 3), (2, 3), (40, 1), (38, 5), (2, 1, 262), (2, 1, 132), (2, 5, 132), (2, 2, 136)]
open_kinds = [kind for kind in kinds if not refused(*kind)]
assert not open_kinds, open_kinds
socket.socket(2, 1, 262)
""",
    ),
    Attack(
        "granted: neighbouring doors looked for",
        "a door of another call is found by its folder",
        r'output: \["door"\]$',
        """
        found = []
        folder = os.path.dirname(s["neighbour_door"])
        for folder in ("/run/habilis", "/tmp", folder, os.path.dirname(folder)):
            try:
                found += [name for name in os.listdir(folder) if "door" in name]
            except OSError:
                pass
        return OutputModel(value=found)
        """,
        granted=True,
        told_on={"landlock": NOTHING_FOUND},
    ),
    Attack(
        "granted: memory and descriptors of the relay",
        "the process that may open unix sockets is taken over",
        NOTHING_FOUND,
        NEAR
        + """
found = []
for pid in others:
    for what in ("mem", "fd/3"):
        try:
            found.append([pid, os.open(f"/proc/{pid}/{what}", os.O_RDWR)])
        except OSError:
            pass
return OutputModel(value=found)
""",
        granted=True,
    ),
    Attack(
        "granted: a port of its own in place of the relay",
        "anyone but the tool itself loses the network",
        r'output: "refused"$',
        NEAR
        + """
import signal, urllib.request
for pid in others:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass
try:
    got = urllib.request.urlopen(f"http://localhost:{s['granted']}/", timeout=5).read().decode()
except OSError:
    got = "refused"
return OutputModel(value=got)
""",
        granted=True,
        told_on={"landlock": 'output: "granted"$'},
    ),
    fetched(
        "granted: the metadata service by its address",
        "the machine's cloud credentials are read",
        "169.254.169.254 is not granted",
        "http://169.254.169.254/latest/meta-data/",
    ),
    fetched(
        "granted: a granted name that leads inwards",
        "the owner of a granted name has the proxy connect to the metadata service",
        "inward.example leads to a link-local address",
        "http://inward.example/",
    ),
    fetched(
        "granted: the host's loopback through the proxy",
        "a service of the host is reached through the proxy, which runs there",
        "127.0.0.1 is not granted",
        "http://127.0.0.1:{s['port']}/",
    ),
    fetched(
        "granted: another port of the granted host",
        "a service beside the granted one is reached",
        r"port \d+ of localhost is not granted",
        "http://localhost:{s['port']}/",
    ),
    fetched(
        "granted: a tunnel to another port",
        "a service beside the granted one is reached by CONNECT",
        r"port \d+ of localhost is not granted",
        "https://localhost:{s['port']}/",
    ),
    fetched(
        "granted: a redirect to the host's loopback",
        "the granted host sends the tool where it may not go",
        "127.0.0.1 is not granted",
        "http://localhost:{s['granted']}/in",
    ),
    fetched(
        "granted: a redirect to the metadata service",
        "the granted host sends the tool to the machine's cloud credentials",
        "169.254.169.254 is not granted",
        "http://localhost:{s['granted']}/metadata",
    ),
    said(
        "granted: another Host than the target",
        "a granted address serves as a front for another host",
        FORM + "the Host field names another host",
        """b"GET http://%b/stolen HTTP/1.1\\r\\nHost: evil.example\\r\\n\\r\\n" % g""",
    ),
    said(
        "granted: the granted name as user information",
        "what stands behind the @ is reached",
        FORM + "user information",
        """b"GET http://%b@127.0.0.1:%d/ HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n" % (g, s["port"])""",
    ),
    Attack(
        "granted: odd spellings of an address",
        "a form that only the resolver understands passes the check",
        r'output: \["400", "403"\]$',
        """
        names = ["0x7f.1", "2130706433", "127.1", "0177.0.0.1", "[::ffff:127.0.0.1]", "127.0.0.1.", "[::]", "0",
                 "localhost%00.example", "localhost%2e", "127.0.0.1%20", "127。0。0。1", "①②⑦.0.0.1", "lOcAlHoSt",
                 "localhost.", "[::1]"]
        got = set()
        for name in names:
            place = f"{name}:{s['port']}".encode()
            for line in (b"CONNECT %s HTTP/1.1" % place, b"GET http://%s/ HTTP/1.1" % place):
                got.add(say(line + b"\\r\\nHost: %s\\r\\n\\r\\n" % place).split()[1])
        return OutputModel(value=sorted(got))
        """,
        granted=True,
    ),
    said("granted: rubbish", "the proxy breaks", FORM, "os.urandom(5000).replace(b'\\r', b'') + b'\\r\\n\\r\\n'"),
    said(
        "granted: HTTP/2",
        "the proxy takes one protocol for another",
        r'output: "HTTP/1.1 505 ',
        r'b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"',
    ),
    said(
        "granted: TRACE",
        "the granted host echoes what the proxy adds",
        r'output: "HTTP/1.1 405 ',
        """b"TRACE http://%b/stolen HTTP/1.1\\r\\nHost: %b\\r\\n\\r\\n" % (g, g)""",
    ),
    said(
        "granted: credentials for proxies",
        "what is meant for a proxy goes to the host",
        r'output: "HTTP/1.1 200 ',
        """
        b"GET http://%b/ HTTP/1.1\\r\\nHost: %b\\r\\nProxy-Authorization: Basic eDp5\\r\\n\\r\\n"
        % (g, g)
        """.strip(),
    ),
    said(
        "granted: a head of a megabyte",
        "the host's memory fills",
        r'output: "HTTP/1.1 431 ',
        """b"GET http://%b/ HTTP/1.1\\r\\nX: " % g + b"x" * (1 << 20)""",
    ),
    said(
        "granted: a length and chunks",
        "proxy and host see different requests",
        FORM + "the length of the body can be read in two ways",
        """
        b"POST http://%b/ HTTP/1.1\\r\\nHost: %b\\r\\nContent-Length: 4\\r\\nTransfer-Encoding: chunked"
        b"\\r\\n\\r\\n0\\r\\n\\r\\nGET /smuggled HTTP/1.1\\r\\n\\r\\n" % (g, g)
        """.strip(),
    ),
    said(
        "granted: a request behind a request",
        "the second request is never looked at",
        r'output: "HTTP/1.1 200 ',
        """
        b"GET http://%b/ HTTP/1.1\\r\\nHost: %b\\r\\n\\r\\n"
        b"GET /smuggled HTTP/1.1\\r\\nHost: evil\\r\\n\\r\\n" % (g, g)
        """.strip(),
    ),
    said(
        "granted: a folded line and a bare line feed",
        "proxy and host see different fields",
        FORM + "a header field is malformed",
        """
        b"GET http://%b/ HTTP/1.1\\r\\nHost: %b\\r\\nX: 1\\n smuggled\\nY: 2\\r\\n\\r\\n"
        % (g, g)
        """.strip(),
    ),
    said(
        "granted: a chunk without end",
        "the proxy waits for, or holds, four gigabytes",
        FORM + "a chunk of the body is malformed",
        """
        b"POST http://%b/ HTTP/1.1\\r\\nHost: %b\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n"
        b"ffffffffffffffff\\r\\nx" % (g, g)
        """.strip(),
    ),
    said(
        "granted: a websocket to another host",
        "a connection without end leads elsewhere",
        r'output: "HTTP/1.1 403 ',
        """
        b"GET http://evil.example/ HTTP/1.1\\r\\nHost: evil.example\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket"
        b"\\r\\n\\r\\n"
        """.strip(),
    ),
    Attack(
        "granted: a head that never ends",
        "a connection of the proxy is held for ever",
        r'output: "HTTP/1.1 408 ',
        """
        import socket, time
        with socket.create_connection(("127.0.0.1", 3128), 20) as client:
            client.settimeout(0.2)
            while True:
                client.send(b"G")
                try:
                    return OutputModel(value=client.recv(1000).decode().splitlines()[0])
                except TimeoutError:
                    pass
        """,
        granted=True,
    ),
    Attack(
        "granted: a thousand connections",
        "the host runs out of open files",
        r"output: \[true, true\]$",
        """
        import socket
        held = []
        try:
            for n in range(1000):
                held.append(socket.create_connection(("127.0.0.1", 3128), 0.3))
        except OSError:
            pass
        turned_away = 0
        for client in held[:300]:
            client.settimeout(0.05)
            try:
                turned_away += b" 503 " in client.recv(1000)
            except OSError:
                pass
        return OutputModel(value=[len(held) < 1000, turned_away > 0])
        """,
        settings={"open_files": 1200},
        granted=True,
    ),
    Attack(
        "granted: a process that goes on after the call",
        "the network is used when nobody looks any more",
        "output: 1$",
        """
        import time
        parent = os.getpid()
        if os.fork() == 0:
            os.setsid()
            began()
            while os.getppid() == parent:
                time.sleep(0.001)
            while True:
                say(b"GET http://localhost:%d/after HTTP/1.0\\r\\n\\r\\n" % s["granted"])
        while not os.path.exists(".began"):
            time.sleep(0.001)
        return OutputModel(value=1)
        """,
        granted=True,
    ),
    Attack(
        "granted: the host's own proxy settings",
        "the proxy of the host is used, past the door",
        r'output: \{"http": "http://127.0.0.1:3128", "https": "http://127.0.0.1:3128"\}$',
        """
        import urllib.request
        return OutputModel(value={k: v for k, v in sorted(urllib.request.getproxies().items()) if v})
        """,
        settings={"env_allow": ["HTTP_PROXY", "ALL_PROXY", "NO_PROXY"]},
        granted=True,
    ),
)
