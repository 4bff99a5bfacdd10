"""How tools are confined, and what they may be given beyond that."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator

from habilis.core.types import Frozen


class SandboxSettings(Frozen):
    """How generated code is confined."""

    mode: Literal["required", "best-effort", "off"] = Field(
        "required",
        description="required: refuse to run tools if no strong level works; best-effort: then run them unconfined; "
        "off: no sandbox",
    )
    backend: Literal["auto", "bubblewrap", "landlock"] = Field(
        "auto", description="which back end to use; auto: the strongest whose probe passes"
    )
    tool_timeout_s: float = Field(
        120.0, gt=0, description="seconds that one tool call may take; also its processor time, but at least 120"
    )
    memory_mb: int = Field(1024, ge=64, description="memory of one tool call, MiB")
    file_mb: int = Field(256, ge=1, description="size of one file that a tool writes, MiB")
    processes: int = Field(64, ge=1, description="processes of one tool call")
    env_allow: tuple[str, ...] = Field((), description="environment variables that tools may see if they ask for them")
    warm: bool = Field(True, description="keep a process ready in a task's sandbox and fork each call from it")


class CapabilitiesSettings(Frozen):
    """What tools may be given that ask for more than their task's files (variables: sandbox.env_allow)."""

    network: Literal["deny", "ask", "listed", "any"] = Field(
        "ask",
        description="hosts that tools may reach; ask: ask a person (no, if nobody is there); listed: those in "
        "network_list",
    )
    network_list: tuple[str, ...] = Field(
        (), description="hosts granted without asking: example.org, *.example.org, example.org:8443"
    )
    proxy: str | None = Field(None, description="your own proxy to reach granted hosts: http://host:port")
    inspect_https: bool = Field(
        False,
        description="decrypt the https traffic of tools, so that such calls can be recorded and replayed (SECURITY.md)",
    )
    read_list: tuple[str, ...] = Field(
        (), description="absolute paths that tools may read if they ask for them, besides the task's files"
    )
    subprocess: Literal["allow", "deny"] = Field(
        "allow", description="whether tools may start programs; these run in the same sandbox"
    )
    max_timeout_s: float = Field(3600.0, gt=0, description="most seconds that a tool may ask for, per call")
    max_memory_mb: int = Field(4096, ge=64, description="most memory that a tool may ask for, per call, MiB")
    constructs: Literal["warn", "refuse"] = Field(
        "refuse", description="what happens if a tool's source contains what no tool should (SECURITY.md)"
    )

    @field_validator("read_list")
    @classmethod
    def _absolute(cls, paths: tuple[str, ...]) -> tuple[str, ...]:
        for path in paths:
            if not Path(path).is_absolute():
                raise ValueError(f"{path!r} is not an absolute path")
        return paths
