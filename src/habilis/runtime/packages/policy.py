"""Which packages a tool may depend on, and what its writer is told when it cannot have one."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

FORM = "write a name with an optional version range, such as 'numpy>=2'"
WITHOUT = "or do without: use the standard library and Pydantic alone, dependencies = []"
_REASON_CHARACTERS = 400
_NO_WHEEL = re.compile(
    r"Because ([\w.-]+?)(?:==\S+)? has no (?:usable wheels|wheels)|Wheels are required for `([\w.-]+)`"
)
_UNKNOWN = re.compile(r"Because ([\w.-]+) was not found in")
_NO_VERSION = re.compile(
    r"(?:only|versions? of) ([\w.-]+?)(?:[<>=!~].*?)? (?:is|are) available|no version of ([\w.-]+)"
)
_UNREACHABLE = re.compile(
    r"Failed to fetch|error sending request|timed out|Connection refused|dns error", re.IGNORECASE
)


class EnvironmentFailed(Exception):
    """No environment can be had for a requirement set. The text tells the tool's writer what to do."""


@dataclass(frozen=True)
class PackagePolicy:
    """Which packages tools may name as dependencies. What those need themselves comes along unasked.

    `any`: every one; `none`: not one; else those named, each in its normal form.
    """

    allowed: Literal["any", "none"] | tuple[str, ...] = "any"

    def check(self, requirements: Collection[str]) -> None:
        """Raises `EnvironmentFailed`, naming the first package of `requirements` that is not allowed."""
        if self.allowed == "any" or not requirements:
            return
        if self.allowed == "none":
            raise EnvironmentFailed(
                f"package {_named(next(iter(requirements)))} is refused: this run allows no packages; "
                "use the standard library and Pydantic alone, dependencies = []"
            )
        refused = next((name for name in map(_named, requirements) if name not in self.allowed), None)
        if refused is not None:
            listed = f"use one of these: {', '.join(self.allowed)}" if self.allowed else "the list is empty"
            raise EnvironmentFailed(f"package {refused} is refused: it is not on this run's list; {listed}, {WITHOUT}")


def checked(requirements: Sequence[str]) -> tuple[str, ...]:
    """`requirements` in their one normal form, sorted. Raises `EnvironmentFailed` for flags, URLs and paths."""
    if not requirements:
        return ()
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    found = set()
    for text in requirements:
        try:
            parsed = Requirement(text)
        except InvalidRequirement:
            raise EnvironmentFailed(f"dependency {text!r} is not a package requirement; {FORM}") from None
        if parsed.url:
            raise EnvironmentFailed(f"dependency {text!r} is a URL or a path, which is refused; {FORM}")
        parsed.name = canonicalize_name(parsed.name)
        if parsed.marker is None or parsed.marker.evaluate():
            found.add(str(parsed))
    return tuple(sorted(found))


def explained(said: str, wanted: Sequence[str], *, offline: bool) -> str:
    """One line for the tool's writer out of the installer's message `said`: which package, why, what instead."""
    reason, source = short_reason(said), "this run's folder of wheels" if offline else "the package index"
    together = ", ".join(wanted)
    if found := _UNKNOWN.search(said):
        whose = "" if any(_named(text) == found[1] for text in wanted) else f", which {together} needs,"
        hint = "choose one that is there" if offline else "check the name, which may differ from the module's"
        return f"package {found[1]}{whose} cannot be installed: {source} has none of that name; {hint}, {WITHOUT}"
    if found := _NO_WHEEL.search(said):
        name, version = found[1] or found[2], ".".join(map(str, sys.version_info[:2]))
        what = f"{source} has no wheel of it for Python {version} on this machine, and nothing is built from source"
        return f"package {name} cannot be installed: {what}; choose another version or package, {WITHOUT} ({reason})"
    if _UNREACHABLE.search(said):
        hint = "do without packages, dependencies = []"
        return f"{together} cannot be installed: {source} cannot be reached; {hint} ({reason})"
    if found := _NO_VERSION.search(said):
        name = found[1] or found[2]
        return (
            f"package {name} cannot be installed in a version that fits {together}; widen the version range ({reason})"
        )
    if "unsatisfiable" in said:
        return f"{together} cannot be installed together; widen a version range or drop one of them ({reason})"
    return f"{together} cannot be installed: {reason}; choose another package, {WITHOUT}"


def short_reason(said: str) -> str:
    """The installer's message as one line of bounded length, without drawing characters and users of addresses."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", said)
    plain = re.sub(r"[×╰─▶│├]+", " ", plain)
    plain = re.sub(r"(?<=://)[^/\s@]*@", "", plain)
    plain = plain.removeprefix("error:").removeprefix(" No solution found when resolving dependencies")
    text = " ".join(plain.removeprefix("\n").replace("cause: ", "").split())
    return text if len(text) <= _REASON_CHARACTERS else text[:_REASON_CHARACTERS] + " …"


def _named(requirement: str) -> str:
    """The package that a normalised requirement names."""
    found = re.match(r"[a-z0-9][a-z0-9-]*", requirement)
    return found[0] if found else requirement
