"""From settings to the sources that they name: which kinds there are, and what of them a task works with."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping

from habilis.config import Settings, SourceSettings
from habilis.core.errors import UserError
from habilis.core.ports import ToolSource
from habilis.sources.bound import NamedSource


def _openapi(name: str, said: SourceSettings) -> ToolSource:
    from habilis.sources.openapi import OpenApiSource

    return OpenApiSource(said)


def _mcp(name: str, said: SourceSettings) -> ToolSource:
    from habilis.sources.mcp import McpSource

    return McpSource(name, said)


KINDS: Mapping[str, Callable[[str, SourceSettings], ToolSource]] = {"openapi": _openapi, "mcp": _mcp}
"""What makes a source of each kind; a kind is a field of `SourceSettings`."""


def sources_of(settings: Settings) -> list[NamedSource]:
    """The sources that `tools.use` names, itself or by sets; all of them when it is unset. Nothing is started.

    Raises `UserError` that names what is not there.
    """
    found = []
    for name, chosen in chosen_of(settings).items():
        said = settings.sources[name]
        found.append(
            NamedSource(
                name,
                _made(name, said),
                required=said.required,
                open_timeout_s=said.open_timeout_s,
                chosen=tuple(chosen),
            )
        )
    return found


def chosen_of(settings: Settings) -> dict[str, list[str]]:
    """By source, the patterns of tools that are taken; an empty list is all of them."""
    if settings.tools.use is None:
        return {name: [] for name in settings.sources}
    whole: set[str] = set()
    chosen: dict[str, list[str]] = {}
    for said in settings.tools.use:
        for entry in settings.tool_sets.get(said, (said,)):
            name, _, tool = entry.partition(".")
            if name not in settings.sources:
                where = f"tool_sets.{said}" if said in settings.tool_sets else "tools.use"
                raise UserError(f"{where}: {_unknown(name, [*settings.sources, *settings.tool_sets])}")
            chosen.setdefault(name, [])
            if tool:
                chosen[name].append(tool)
            else:
                whole.add(name)
    return {name: [] if name in whole else tools for name, tools in chosen.items()}


def _unknown(name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    near = difflib.get_close_matches(name, names, 1, 0.6)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(names) or 'none (settings: sources)'}"
    return f"there is no source or tool set {name}; {hint}"


def _made(name: str, said: SourceSettings) -> ToolSource:
    kind = next(kind for kind in KINDS if getattr(said, kind) is not None)
    return KINDS[kind](name, said)
