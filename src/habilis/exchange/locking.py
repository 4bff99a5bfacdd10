"""The exact versions that exported tools ran with: those of the environments that were built for them.

Nothing is asked of an index for it: what was never resolved here is named without a version, and said so. Packages
whose versions two tools do not agree on stand apart, since no one environment can hold both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from habilis.config import Settings
from habilis.exchange.parcels import Parcel
from habilis.runtime.packages.environments import BASE_PACKAGES, Environments, base_versions
from habilis.runtime.packages.policy import EnvironmentFailed

_PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==(\S+?)(?:\s*;\s*(.*?))?\s*\\?$")


@dataclass(frozen=True)
class Locked:
    """`text` is the lock of all tools that go together, `together` what they require; `apart` are locks by tool."""

    text: str
    together: tuple[str, ...] = ()
    apart: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def locked(parcels: Sequence[Parcel], settings: Settings) -> Locked:
    """The lock for the tools in `parcels`."""
    environments = Environments.of(settings.tools)
    base = dict(version.split("==") for version in base_versions())
    held = dict(base)
    together: list[str] = []
    apart: dict[str, str] = {}
    notes: list[str] = []
    for parcel in parcels:
        needs = parcel.manifest.requirements
        if not needs:
            continue
        pins = _pins(environments, needs)
        if pins is None:
            together += list(needs)
            notes.append(f"{parcel.tool.name}: its packages were never resolved here, so requirements.lock lacks them")
            continue
        wanted = {name: version for name, version in pins.items() if name not in BASE_PACKAGES}
        if any(held.get(name, version) != version for name, version in wanted.items()):
            apart[parcel.tool.name] = _text({**base, **wanted})
            notes.append(f"{parcel.tool.name}: its packages do not go with those of other tools; they are an extra")
            continue
        held |= wanted
        together += list(needs)
    return Locked(_text(held), tuple(dict.fromkeys(together)), apart, tuple(notes))


def _pins(environments: Environments, needs: Sequence[str]) -> dict[str, str] | None:
    """The versions that `needs` were resolved to; None where they never were."""
    try:
        text = environments.lock(needs)
    except (EnvironmentFailed, OSError):
        return None
    if text is None:
        return None
    found = (_PIN.match(line) for line in text.splitlines())
    return {pin[1].lower().replace("_", "-"): pin[2] for pin in found if pin}


def _text(pins: Mapping[str, str]) -> str:
    return "".join(f"{name}=={version}\n" for name, version in sorted(pins.items()))
