"""How tools are made, found, handed on and served."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import Field, field_validator

from habilis.core.types import Frozen


class ToolsSettings(Frozen):
    """How tools are made and kept."""

    synthesis: bool = Field(
        True, description="write missing tools and repair failing ones; false: use only existing tools"
    )
    short_way: bool = Field(
        True,
        description="answer a question that is one job by one tool and its first call, written together where no "
        "library tool fits; false: a model always plans and tells what its calls gave",
    )
    on_build_failure: Literal["continue", "stop"] = Field(
        "continue", description="stop: end the task when a tool could not be built"
    )
    packages: Literal["any", "none"] | tuple[str, ...] = Field(
        "any",
        description="packages that tools may depend on: any, none, or a list of names; their own dependencies are "
        "always allowed",
    )
    wheelhouse: str | None = Field(None, description="folder of wheels to install packages from, instead of an index")
    finish_task: bool = Field(False, description="offer finish_task; a plain answer remains the primary way to end")
    use: tuple[str, ...] | None = Field(
        None, description="names of the sources and tool_sets that tasks use; unset: all sources"
    )

    @field_validator("packages", mode="before")
    @classmethod
    def _normal_names(cls, names: object) -> object:
        """Names in the normal form of PEP 503, sorted, each once."""
        if names in ("any", "none"):
            return names
        if not isinstance(names, list | tuple):
            raise ValueError(f"{names!r} is not any, none, or a list of names such as [numpy, pandas]")
        for name in map(str, names):
            if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", name):
                raise ValueError(f"{name!r} is not the name of a package; versions do not belong here")
        return tuple(sorted({re.sub(r"[-_.]+", "-", str(name)).lower() for name in names}))


class WriterSettings(Frozen):
    """Who writes tool code."""

    command: tuple[str, ...] = Field(
        (),
        description="program (and arguments) that writes tools; it reads the prompt from stdin and prints code. "
        "[codex]: the Codex CLI with the options that it needs; empty: the builder role writes tools",
    )


class RetrievalSettings(Frozen):
    """Which tools of the library a plan's prompt shows."""

    candidates: int = Field(20, ge=0, le=100, description="tools shown to the manager")
    vectors: str = Field(
        "",
        description="vectors for search in addition to words: wordllama (extra vectors), or a folder or package "
        "with weights (static ones, or a MiniLM); empty: no vectors",
    )


class ExchangeSettings(Frozen):
    """What is handed on with a library, and how it is served to other programs."""

    redact: tuple[Literal["secrets", "emails", "home_paths"], ...] = Field(
        ("secrets", "emails", "home_paths"), description="what is removed from recorded calls on export"
    )
    redact_patterns: tuple[str, ...] = Field((), description="regular expressions for what else is removed")

    @field_validator("redact_patterns")
    @classmethod
    def _expressions(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            try:
                empty = re.compile(pattern).match("") is not None
            except re.error as error:
                raise ValueError(f"{pattern!r} is not a regular expression: {error}") from None
            if empty:
                raise ValueError(f"{pattern!r} matches the empty text")
        return patterns
