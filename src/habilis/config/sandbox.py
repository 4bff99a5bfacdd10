"""How tools are confined, and what they may be given beyond that."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator

from habilis.core.types import Frozen


class SandboxSettings(Frozen):
    """How generated code is confined."""

    mode: Literal["required", "best-effort", "off"] = Field(
        "required", description="required: refuse when nothing strong enough works"
    )
    backend: Literal["auto", "bubblewrap", "landlock"] = Field(
        "auto", description="which back end to use; auto: the strongest whose probe passes"
    )
    tool_timeout_s: float = Field(
        120.0, gt=0, description="seconds that one tool call may take, and compute (120 at least)"
    )
    memory_mb: int = Field(1024, ge=64, description="memory of one tool call, MiB")
    file_mb: int = Field(256, ge=1, description="size of one file that a tool writes, MiB")
    processes: int = Field(64, ge=1, description="processes of one tool call")
    env_allow: tuple[str, ...] = Field(
        (), description="names of environment variables that tools which ask for them may see"
    )
    warm: bool = Field(True, description="keep a process ready in a task's sandbox, from which each call is forked")


class CapabilitiesSettings(Frozen):
    """What tools may be given that ask for more than their task's files (variables: sandbox.env_allow)."""

    network: Literal["deny", "ask", "listed", "any"] = Field(
        "ask",
        description="hosts that tools may reach; ask: a person, nobody there means no; listed: network_list",
    )
    network_list: tuple[str, ...] = Field(
        (), description="hosts that need no asking: example.org, *.example.org, example.org:8443"
    )
    proxy: str | None = Field(
        None, description="your own proxy, through which granted hosts are reached: http://host:port"
    )
    inspect_https: bool = Field(
        False,
        description="look into the https of tools, so that such calls can be recorded and replayed (SECURITY.md)",
    )
    read_list: tuple[str, ...] = Field(
        (), description="absolute paths that tools which ask for them may read, besides the task's files"
    )
    subprocess: Literal["allow", "deny"] = Field(
        "allow", description="whether tools that start programs are run; such programs stand behind the same walls"
    )
    max_timeout_s: float = Field(3600.0, gt=0, description="seconds that a tool may ask for, for one call")
    max_memory_mb: int = Field(4096, ge=64, description="memory that a tool may ask for, for one call, MiB")
    constructs: Literal["warn", "refuse"] = Field(
        "refuse", description="what happens to a tool whose source holds what no tool should (SECURITY.md)"
    )
    effects: Literal["stronger", "trust"] = Field(
        "stronger", description="a declared effect counts if it is stronger than what the source shows; trust: always"
    )

    @field_validator("read_list")
    @classmethod
    def _absolute(cls, paths: tuple[str, ...]) -> tuple[str, ...]:
        for path in paths:
            if not Path(path).is_absolute():
                raise ValueError(f"{path!r} is no absolute path")
        return paths
