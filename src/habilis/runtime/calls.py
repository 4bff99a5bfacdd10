"""One run of a tool, in the one form that it has on its way from whoever asks for it to the sandbox."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from habilis.contract.capabilities import Grant
from habilis.contract.runnable import Runnable
from habilis.runtime.egress.cassette import Recording, Replaying


@dataclass(frozen=True)
class CallSpec:
    """`tool` is to be run in `workspace` with `arguments`, or with None only to be loaded and described.

    It may read `files`, and is given `grant` and nothing else beside. `timeout_s`, in seconds, comes before the grant's
    own. `network`: keep what it exchanges with granted hosts, or answer it from what was kept and reach none. `mark` is
    told True at the moment from which the tool may run, and False where it turned out then that it did not.
    """

    tool: Runnable
    arguments: Mapping[str, Any] | None
    workspace: Path
    files: Sequence[Path] = ()
    timeout_s: float | None = None
    grant: Grant | None = None
    network: Recording | Replaying | None = None
    mark: Callable[[bool], None] = lambda began: None

    @property
    def given(self) -> dict[str, Any]:
        """The arguments as the tool's module takes them."""
        return self.tool.given(self.arguments or {})

    @property
    def wider(self) -> bool:
        """Whether it is given anything beside its workspace and files."""
        return (self.grant is not None and not self.grant.empty) or self.network is not None
