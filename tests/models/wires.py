"""Servers on loopback that speak over a bare socket: for what no well-behaved server would send."""

from __future__ import annotations

import contextlib
import datetime
import socket
import ssl
import threading
from collections.abc import Callable
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Play = Callable[["BareServer", socket.socket, str], None]
"""Given the connection and the first line of a request, answers as it likes; the connection is closed after it."""


class BareServer:
    """Reads each request and lets `play` answer. `asked` are the first lines of the requests, in their order, `bodies`
    what they sent.

    With `secure` it speaks TLS. Use it as a context manager.
    """

    def __init__(self, play: Play, secure: ssl.SSLContext | None = None) -> None:
        self.play, self._secure = play, secure
        self.asked: list[str] = []
        self.bodies: list[bytes] = []
        self.closing = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]

    @property
    def posts(self) -> int:
        """Requests that a service would charge for."""
        return sum(line.startswith("POST") for line in self.asked)

    @property
    def base_url(self) -> str:
        return f"http{'s' if self._secure else ''}://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> BareServer:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                link, _ = self._socket.accept()
                threading.Thread(target=self._serve, args=(link,), daemon=True).start()

    def _serve(self, link: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError), link:
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._secure:
                with self._secure.wrap_socket(link, server_side=True) as inner:
                    self._answer(inner)
            else:
                self._answer(link)

    def _answer(self, link: socket.socket) -> None:
        head, body = _request_of(link)
        if head:
            self.bodies.append(body)
            self.asked.append(head.splitlines()[0])
            self.play(self, link, self.asked[-1])


def _request_of(link: socket.socket) -> tuple[str, bytes]:
    """The head of a request and its body; nothing where it is none."""
    said = b""
    while b"\r\n\r\n" not in said:
        block = link.recv(65_536)
        if not block:
            return "", b""
        if not said and not block[:1].isalpha():  # no HTTP: as the servers of this world answer that
            link.sendall(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n")
            return "", b""
        said += block
    head, _, body = said.partition(b"\r\n\r\n")
    lengths = [int(line[15:]) for line in head.splitlines() if line.lower().startswith(b"content-length:")]
    left = sum(lengths) - len(body)
    while left > 0:
        block = link.recv(65_536)
        if not block:
            break
        left -= len(block)
        body += block
    return head.decode("latin-1"), body


def answering(status: int, body: str | bytes, kind: str = "application/json", **headers: str) -> Play:
    """Answers every request alike."""

    def play(server: BareServer, link: socket.socket, line: str) -> None:
        data = body.encode() if isinstance(body, str) else body
        more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        head = f"HTTP/1.1 {status} said\r\ncontent-type: {kind}\r\ncontent-length: {len(data)}\r\n{more}"
        link.sendall(f"{head}connection: close\r\n\r\n".encode() + data)

    return play


def pouring(head: str, piece: bytes, every_s: float = 0.0) -> Play:
    """Sends `head` and then `piece` for ever, until the client leaves."""

    def play(server: BareServer, link: socket.socket, line: str) -> None:
        link.sendall(head.replace("\n", "\r\n").encode())
        while not server.closing.wait(every_s) if every_s else not server.closing.is_set():
            link.sendall(piece)

    return play


def certificate(folder: Path, *, names: tuple[str, ...] = ("127.0.0.1",), days: int = 30) -> ssl.SSLContext:
    """A server's side of TLS with a certificate of its own making; negative `days` make one that is over.

    The certificate stands in `folder/issuer.pem`, for whoever wants to trust it.
    """
    import ipaddress

    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.datetime.now(datetime.UTC)
    whom = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "habilis test")])
    alternatives: list[x509.GeneralName] = [
        x509.IPAddress(ipaddress.ip_address(name)) if name[0].isdigit() else x509.DNSName(name) for name in names
    ]
    made = (
        x509.CertificateBuilder()
        .subject_name(whom)
        .issuer_name(whom)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=60))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    issuer, private = folder / "issuer.pem", folder / "key.pem"
    issuer.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, plain)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(issuer, private)
    return context
