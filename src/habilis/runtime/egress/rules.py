"""What all connections of one door go by: limits, grants, and who notes or answers for the hosts."""

from __future__ import annotations

from dataclasses import dataclass

from habilis.contract.hosts import HostGrants
from habilis.runtime.egress.cassette import Recorder, Stored
from habilis.runtime.egress.inspecting import Authority
from habilis.runtime.egress.wayout import WayOut

REFUSED_BY = "refused by the sandbox"
"""How every refusal begins that a tool reads (the guest knows it too)."""
UNSEEN = "https goes through unseen (capabilities.inspect_https)"


@dataclass(frozen=True)
class DoorLimits:
    """Limits of one door. Seconds, bytes, counts. `transfer_bytes` counts both directions of all its connections."""

    connections: int = 128
    head_bytes: int = 32 << 10
    head_s: float = 10.0
    connect_s: float = 10.0
    idle_s: float = 60.0
    transfer_bytes: int = 1 << 30


@dataclass(frozen=True)
class Visit:
    """What came of one request: never its path, query, fields or body. `host` is empty when none could be read."""

    host: str
    port: int
    allowed: bool
    bytes_up: int = 0
    bytes_down: int = 0
    reason: str = ""


@dataclass
class Rules:
    """What all connections of one door share. `carried` bytes so far, of all of them.

    `traffic` notes what passes, or answers in the place of all hosts. With an `authority` tunnels are looked into.
    """

    grants: HostGrants
    limits: DoorLimits
    way_out: WayOut
    traffic: Recorder | Stored | None = None
    authority: Authority | None = None
    carried: int = 0

    def lose(self, why: str) -> None:
        """Something passes that no record can hold."""
        if isinstance(self.traffic, Recorder):
            self.traffic.lose(why)
