"""What a sandbox gets besides its walls when its call has a door: socket, relay, and the variables that name it."""

from __future__ import annotations

import base64
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from habilis.core.ports import SandboxJob
from habilis.sandbox.inside import program
from habilis.sandbox.processes.interpreter import compiled
from habilis.sandbox.syscalls import seccomp

DOOR = Path("/run/habilis/door")
"""Where the socket lies inside."""
CERTIFICATE = Path("/run/habilis/authority.pem")
"""Where the certificate lies that tools have to trust when tunnels are looked into; outside, beside the socket."""
PORT = 3128
"""The relay's port on the sandbox's own loopback. Where a tool's sockets lead to the relay anyway it is only a name."""
_RELAY = program("relay")
_NAMES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
_TRUSTING = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
"""Variables by which clients learn what to trust: OpenSSL and Python, requests, curl and git, Node."""


def furnished(job: SandboxJob, *, mounted: bool = True) -> SandboxJob:
    """`job` with the relay to read and the variables by which clients find it; unchanged without a door.

    `mounted`: it is given a place of its own for what it needs; else that is read where it lies.
    """
    if job.door is None:
        return job
    kept = {name: value for name, value in job.env.items() if name.lower() not in _NAMES}
    url = f"http://127.0.0.1:{PORT}"
    names = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
    env = {**kept, **dict.fromkeys(names, url), "NO_PROXY": "", "no_proxy": ""}
    read_only = (*job.read_only, compiled(_RELAY))
    if (lies := certificate(job)) is not None:
        env |= dict.fromkeys(_TRUSTING, str(CERTIFICATE if mounted else lies))
        read_only += () if mounted else (lies,)
    return replace(job, env=env, read_only=read_only)


def certificate(job: SandboxJob) -> Path | None:
    """The file that is to lie at `CERTIFICATE`, if tunnels through the job's door are looked into."""
    beside = job.door.with_name(CERTIFICATE.name) if job.door is not None else None
    return beside if beside is not None and beside.is_file() else None


def policy(job: SandboxJob) -> dict[str, Any]:
    """What `confine` does for a furnished job: start the relay, then leave the tool TCP sockets of IPv4 alone."""
    if job.door is None:
        return {}
    relay = {"script": str(compiled(_RELAY)), "port": PORT, "socket": str(DOOR)}
    return {"relay": relay, **({"seccomp": _filter()} if seccomp.supported() else {})}


def lending(job: SandboxJob) -> dict[str, Any]:
    """The same where the sandbox has no network of its own: the relay answers for each socket (see `relay`)."""
    return {} if job.door is None else {"relay": {"script": str(compiled(_RELAY)), "socket": str(job.door)}}


@lru_cache(maxsize=1)
def _filter() -> str:
    return base64.b64encode(seccomp.program(sockets=(seccomp.AF_INET,))).decode("ascii")
