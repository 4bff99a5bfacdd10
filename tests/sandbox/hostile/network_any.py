"""Attempts of a tool that may reach any host to reach this machine, by its own public addresses, or a cloud's metadata.

Which addresses are this machine's is said by a double (`granted.py`), since a test gives no interface an address; what
the kernel says of its own is `tests/runtime/egress/test_own_addresses.py`.
"""

from __future__ import annotations

from hostile.attack import Attack

REFUSED = r"denied: .*403:? refused by the sandbox: "
ALL_REFUSED = r'output: \["403"\]$'


def fetched(name: str, harm: str, told: str, url: str) -> Attack:
    source = f"import urllib.request\nreturn OutputModel(value=urllib.request.urlopen(f{url!r}).read().decode())"
    return Attack(name, harm, REFUSED + told, source, granted=True, any_host=True)


def asked(name: str, harm: str, told: str, hosts: str) -> Attack:
    """A request and a tunnel for each of `hosts`, an expression; told are the statuses, each once."""
    source = f"""
    got = set()
    for host in {hosts}:
        for line in (f"GET http://{{host}}/stolen HTTP/1.1", f"CONNECT {{host}}:443 HTTP/1.1"):
            got.add(say(f"{{line}}\\r\\nHost: {{host}}\\r\\n\\r\\n".encode()).split()[1])
    return OutputModel(value=sorted(got))
    """
    return Attack(name, harm, told, source, granted=True, any_host=True, slow=True)


ATTACKS = (
    fetched(
        "any host: this machine by its public address",
        "a service that this machine shows to itself, or its network, is read",
        "8.8.8.8 is this machine's own address, which only a grant that says 8.8.8.8:80",
        "http://8.8.8.8/",
    ),
    fetched(
        "any host: this machine by its address of version 6",
        "a service that listens on the other family is read",
        "2001:4860:4860::8888 is this machine's own address",
        "http://[2001:4860:4860::8888]/",
    ),
    fetched(
        "any host: a name that leads to this machine",
        "whoever owns a name opens this machine's services",
        "own.example leads to this machine's own address",
        "http://own.example/",
    ),
    fetched(
        "any host: a redirect to this machine",
        "the granted host sends the tool to this machine's public address",
        "8.8.8.8 is this machine's own address",
        "http://localhost:{s['granted']}/own",
    ),
    fetched(
        "any host: the service of Azure machines",
        "an address that looks public gives the machine's certificates and settings",
        "168.63.129.16 is a cloud's metadata address",
        "http://168.63.129.16/machine?comp=goalstate",
    ),
    asked(
        "any host: this machine wrapped into version 6",
        "a form that only the kernel or a translator understands passes the check",
        ALL_REFUSED,
        "['[::ffff:8.8.8.8]', '[64:ff9b::808:808]', '[2002:808:808::1]', '[0:0:0:0:0:ffff:808:808]']",
    ),
    asked(
        "any host: odd spellings of this machine's address",
        "a form that only the resolver understands passes the check",
        r'output: \["400", "403"\]$',
        "['134744072', '0x8080808', '010.8.8.8', '8.526344', '8.8.8.8.', '8.8.8.8%00.example', '[8.8.8.8]']",
    ),
    asked(
        "any host: metadata by its addresses",
        "the machine's cloud credentials are read",
        ALL_REFUSED,
        "['169.254.169.254', '[fd00:ec2::254]', '100.100.100.200', '192.0.0.192', '169.254.170.2', '[fd20:ce::254]',"
        " '[::ffff:169.254.169.254]', '[64:ff9b::a83f:8110]', '[::ffff:168.63.129.16]', '[fe80::a9fe:a9fe]']",
    ),
    asked(
        "any host: metadata by odd spellings",
        "the machine's cloud credentials are read by a form that only the resolver understands",
        r'output: \["400", "403"\]$',
        "['2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.254.43518', '[fe80::1%25eth0]', '2822734096',"
        " '169.254.169.254.', '168.63.33040', '[::a9fe:a9fe]']",
    ),
    asked(
        "any host: metadata by its names",
        "a resolver elsewhere leads to a cloud's credentials",
        ALL_REFUSED,
        "['metadata.google.internal', 'METADATA.google.internal.', 'metadata.goog', 'instance-data.ec2.internal',"
        " 'metadata.tencentyun.com', 'metadata']",
    ),
    asked(
        "any host: nowhere and everywhere",
        "the kernel takes an address that names nobody for this machine",
        ALL_REFUSED,
        "['0.0.0.0', '[::]', '255.255.255.255', '0.0.0.1', '224.0.0.1', '[ff02::1]', '[::1]', '127.1.2.3']",
    ),
    Attack(
        "any host: a name that is public once",
        "the name service changes its mind between the look and the connection",
        r'output: \["502", "403", "403"\]$',
        """
        asked = b"GET http://rebinding.example/stolen HTTP/1.1\\r\\nHost: rebinding.example\\r\\n\\r\\n"
        return OutputModel(value=[say(asked).split()[1] for _ in range(3)])
        """,
        granted=True,
        any_host=True,
    ),
    Attack(
        "any host: a name that is public and this machine's",
        "the second address is taken when the first does not answer",
        r'output: "HTTP/1.1 502 ',
        """
        return OutputModel(value=say(b"GET http://both.example/stolen HTTP/1.1\\r\\nHost: both.example\\r\\n\\r\\n"))
        """,
        granted=True,
        any_host=True,
        slow=True,
    ),
    Attack(
        "any host: a websocket to this machine",
        "a connection without end leads to a service of this machine",
        r'output: "HTTP/1.1 403 refused by the sandbox: 8.8.8.8 is this machine',
        """
        return OutputModel(value=say(
            b"GET http://8.8.8.8/stolen HTTP/1.1\\r\\nHost: 8.8.8.8\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket"
            b"\\r\\n\\r\\n"))
        """,
        granted=True,
        any_host=True,
        slow=True,
    ),
)
