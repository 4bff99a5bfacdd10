"""The whole table."""

from __future__ import annotations

from hostile import (
    escape,
    everycall,
    exposure,
    filesystem,
    kernel,
    leaving,
    network,
    network_any,
    network_granted,
    pairs,
    programs,
    protocol,
    resources,
    warm_host,
)
from hostile.attack import Attack

CATEGORIES: dict[str, tuple[Attack, ...]] = {
    "information exposure": exposure.ATTACKS,
    "file system": (*filesystem.ATTACKS, *leaving.ATTACKS),
    "network": network.ATTACKS,
    "granted network": (*network_granted.ATTACKS, *network_any.ATTACKS),
    "pairs of sockets": pairs.ATTACKS,
    "programs": programs.ATTACKS,
    "resources": resources.ATTACKS,
    "kernel": (*kernel.ATTACKS, *everycall.ATTACKS),
    "escape": escape.ATTACKS,
    "protocol": protocol.ATTACKS,
    "warm host": warm_host.ATTACKS,
}
ATTACKS: tuple[Attack, ...] = tuple(attack for attacks in CATEGORIES.values() for attack in attacks)
