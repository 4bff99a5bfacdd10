"""How tools are made, found, handed on and served."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import Field, field_validator

from habilis.core.types import Frozen


class ToolsSettings(Frozen):
    """How tools are made and kept."""

    synthesis: bool = Field(
        True, description="have missing tools written and failing ones mended; false: work with the tools there are"
    )
    short_way: bool = Field(
        True,
        description="have a question of one job, for which the library has nothing, answered by one tool written with "
        "its first call; false: always plan by a model",
    )
    on_build_failure: Literal["continue", "stop"] = Field(
        "continue", description="stop: end the task when a tool could not be built"
    )
    packages: Literal["any", "none"] | tuple[str, ...] = Field(
        "any",
        description="packages that tools may name as dependencies: any, none, or a list of names; what these need "
        "themselves comes along",
    )
    wheelhouse: str | None = Field(None, description="folder of wheels to take packages from; no index is asked then")
    summarise_results: bool = Field(
        True, description="let the summarise role extract from an over-long result before it is cut"
    )
    only_tool: bool = Field(
        False,
        description="take a call of an unknown tool for the only one bound, if its arguments fit and it does not write",
    )
    finish_task: bool = Field(False, description="offer finish_task; a plain answer stays the primary way to end")
    use: tuple[str, ...] | None = Field(
        None, description="names of sources and tool_sets that tasks work with; unset: all sources"
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
        description="program and arguments that writes tools; it reads the prompt on stdin and prints code. [codex]: "
        "the Codex CLI, with the options that it needs; empty: the builder role writes them",
    )


class RetrievalSettings(Frozen):
    """Which tools of the library a plan's prompt shows."""

    candidates: int = Field(20, ge=0, le=100, description="tools shown to the manager")
    vectors: str = Field(
        "",
        description="vectors beside words: wordllama (extra vectors), or a folder or package with weights (static "
        "ones, or a MiniLM); none if empty",
    )


class ExchangeSettings(Frozen):
    """What is handed on with a library, and how it is served to other programs."""

    redact: tuple[Literal["secrets", "emails", "home_paths"], ...] = Field(
        ("secrets", "emails", "home_paths"), description="what is taken out of recorded calls when they are exported"
    )
    redact_patterns: tuple[str, ...] = Field((), description="regular expressions of what is taken out as well")

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
