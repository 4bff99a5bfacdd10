"""Tunnels that are looked into: certificates of our own, in which tools trust while a call runs, and nobody else.

The authority is made when the first tunnel needs it. Its key, and that of the certificates it signs, live in this
process alone and end with it; no file ever holds them. Sources: RFC 5280 (certificates), RFC 6066 (server names).
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import Any

from habilis.runtime.egress.addresses import Streams

NEEDS = "capabilities.inspect_https needs the package cryptography: pip install 'habilis[inspect]'"
_DAYS = 30
_MOST_CONTEXTS = 256
_GOODBYE_S = 2.0


def lacks() -> str | None:
    """Why tunnels cannot be looked into here; None when they can."""
    return None if importlib.util.find_spec("cryptography") else NEEDS


class Authority:
    """Vouches, inside sandboxes, for the hosts that a door leads to. Raises ValueError where its package is missing."""

    def __init__(self, to_hosts: ssl.SSLContext | None = None) -> None:
        """`to_hosts` says which hosts are believed; by default those whom this machine believes."""
        if reason := lacks():
            raise ValueError(reason)
        from cryptography.hazmat.primitives.asymmetric import ec

        self._key, self._leaf_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
        self._name = _named("Habilis, for one run")
        self._certificate = self._signed(self._name, self._key.public_key(), is_authority=True, alternatives=())
        self._contexts: dict[str, ssl.SSLContext] = {}
        self.to_hosts = to_hosts or ssl.create_default_context()
        self.to_hosts.set_alpn_protocols(["http/1.1"])

    @property
    def certificate(self) -> bytes:
        """What tools have to trust, as PEM."""
        from cryptography.hazmat.primitives.serialization import Encoding

        return bytes(self._certificate.public_bytes(Encoding.PEM))

    def context(self, host: str) -> ssl.SSLContext:
        """What `host` is played with towards a tool."""
        if host not in self._contexts:
            if len(self._contexts) >= _MOST_CONTEXTS:
                self._contexts.clear()
            self._contexts[host] = self._context(host)
        return self._contexts[host]

    def _context(self, host: str) -> ssl.SSLContext:
        from cryptography import x509
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        try:
            name: Any = x509.IPAddress(ip_address(host))
        except ValueError:
            name = x509.DNSName(host)
        signed = self._signed(_named("of a granted host"), self._leaf_key.public_key(), False, (name,))
        key = self._leaf_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["http/1.1"])
        _load(context, signed.public_bytes(Encoding.PEM) + key)
        return context

    def _signed(self, subject: Any, key: Any, is_authority: bool, alternatives: tuple[Any, ...]) -> Any:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes
        from cryptography.x509.oid import ExtendedKeyUsageOID

        now = datetime.now(UTC)
        public = self._key.public_key()
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=_DAYS))
            .add_extension(x509.BasicConstraints(is_authority, 0 if is_authority else None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(public), critical=False)
            .add_extension(_usage(is_authority), critical=True)
        )
        if not is_authority:
            builder = builder.add_extension(x509.SubjectAlternativeName(list(alternatives)), critical=False)
            served = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
            builder = builder.add_extension(served, critical=False)
        return builder.sign(self._key, hashes.SHA256())


def _usage(is_authority: bool) -> Any:
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=not is_authority,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _named(text: str) -> Any:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _load(context: ssl.SSLContext, chain: bytes) -> None:
    """Give `context` certificate and key. The standard library reads them from files alone, so this file is one that
    exists in our memory only; where there is no such thing there is no sandbox with doors either."""
    memory = os.memfd_create("habilis-certificate", os.MFD_CLOEXEC)
    try:
        os.write(memory, chain)
        context.load_cert_chain(f"/proc/self/fd/{memory}")
    finally:
        os.close(memory)


async def secured(
    streams: Streams, context: ssl.SSLContext, *, limit: int, timeout_s: float, to_host: str | None = None
) -> Streams:
    """TLS on a connection: as the client of `to_host`, or, without it, as the server. Keep `streams` while it lasts.

    Raises OSError (`ssl.SSLError` is one) when the two do not come to terms.
    """
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=limit, loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport = await loop.start_tls(
        streams[1].transport,
        protocol,
        context,
        server_side=to_host is None,
        server_hostname=to_host,
        ssl_handshake_timeout=timeout_s,
        ssl_shutdown_timeout=_GOODBYE_S,
    )
    if transport is None:
        raise ConnectionAbortedError("it was closed")
    protocol.connection_made(transport)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)
