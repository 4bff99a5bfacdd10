"""The external tools of one task: opened with it, bound under names that no other tool bears, closed with it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from habilis.core.errors import UserError
from habilis.core.events import Event, Notice
from habilis.core.masker import MASKER
from habilis.core.ports import ExternalTool, ToolSource
from habilis.core.types import CallOutcome, Effects, ToolCard, ToolSpec
from habilis.library.tool import card_of
from habilis.messages.naming import provider_name, unique_names
from habilis.sources.foreign.presenting import presented

log = logging.getLogger(__name__)

CLOSE_S = 15.0
"""Seconds that a source may take to close; then it is left, and whoever started it must have ended what it started."""


@dataclass(frozen=True)
class NamedSource:
    """A source and how a task takes it.

    `chosen` are patterns of its tools' own names, none for all. With `prefix` its tools are bound as `<name>_<tool>`.
    A `required` source that gives no tools ends the task; another one is left out. What `general` tools are of use for
    cannot be read from their words: a search finds whatever it is asked for. Seconds.
    """

    name: str
    source: ToolSource
    prefix: bool = True
    required: bool = False
    general: bool = False
    open_timeout_s: float = 30.0
    chosen: tuple[str, ...] = ()

    def takes(self, tool: str) -> bool:
        return not self.chosen or any(fnmatchcase(tool, pattern) for pattern in self.chosen)


GivenSources = Sequence[ToolSource | NamedSource] | Mapping[str, ToolSource]
"""Sources as a program gives them."""


def named_sources(sources: GivenSources) -> list[NamedSource]:
    """Sources that a program gives: those with a name put it in front of their tools' names, others do not."""
    if isinstance(sources, Mapping):
        return [NamedSource(name, source) for name, source in sources.items()]
    return [
        source if isinstance(source, NamedSource) else NamedSource(type(source).__name__, source, prefix=False)
        for source in sources
    ]


@dataclass(frozen=True)
class BoundTool:
    """An external tool as the models of a task see it: `spec` bears its bound name, and is bounded in length."""

    source: str
    tool: ExternalTool
    spec: ToolSpec
    general: bool = False

    @property
    def effects(self) -> Effects:
        return self.tool.effects

    @property
    def version(self) -> str:
        return self.tool.version

    @property
    def card(self) -> ToolCard:
        """What a plan shows of it, and what it is found by."""
        return card_of(self.spec.name, self.spec.description, self.spec.parameters)

    async def call(self, arguments: Mapping[str, Any], workspace: Path) -> CallOutcome:
        """Run it with arguments that fit its schema. A failure is a value."""
        started = time.monotonic()
        outcome = MASKER.outcome(await self.tool.call(arguments, workspace=workspace))
        return outcome.model_copy(update={"seconds": round(time.monotonic() - started, 3), "level": "external"})


@dataclass(frozen=True)
class OpenedSource:
    """What a source came to: the tools that can be used, and in words what is left out of it and why."""

    named: NamedSource
    tools: tuple[ExternalTool, ...] = ()
    faults: tuple[str, ...] = ()


@dataclass
class ExternalTools:
    """All sources of a task. Nothing is started before `open`; `aclose` ends all that was started."""

    sources: Sequence[NamedSource] = ()
    _bound: dict[str, BoundTool] = field(default_factory=dict, repr=False)
    _started: list[NamedSource] = field(default_factory=list, repr=False)

    async def open(self, taken: Collection[str], emit: Callable[[Event], object]) -> list[OpenedSource]:
        """Open all sources side by side and bind their tools under names that are not in `taken`.

        What cannot be used is left out, in one notice for each reason. Raises `UserError` for a required source.
        """
        self._started = list(self.sources)
        async with asyncio.TaskGroup() as group:
            opening = [group.create_task(_opened(named)) for named in self.sources]
        found = [task.result() for task in opening]
        for one in found:
            if one.named.required and not one.tools:
                raise UserError(f"source {one.named.name}: {'; '.join(one.faults) or 'it gives no tools'}")
            for fault in one.faults:
                emit(Notice(level="warning", text=f"{one.named.name} is left out: {fault}"))
        self._bind(found, taken)
        if found and not self._bound:
            text = f"No tool of {', '.join(one.named.name for one in found)} can be used here (reasons above)."
            emit(Notice(level="error", text=text))
        return found

    def _bind(self, found: Iterable[OpenedSource], taken: Collection[str]) -> None:
        rows = [(one.named, tool) for one in found for tool in one.tools]
        others = sorted(set(taken))
        names = unique_names([*others, *(_bound_name(named, tool.spec.name) for named, tool in rows)])[len(others) :]
        for name, (named, tool) in zip(names, rows, strict=True):
            self._bound[name] = BoundTool(named.name, tool, presented(tool.spec, name), named.general)

    async def aclose(self) -> None:
        """Close all that was opened, side by side. What fails is logged: it must not keep the others open."""
        started, self._started = self._started, []
        await asyncio.gather(*(_close(named) for named in started))

    def get(self, name: str) -> BoundTool | None:
        """The tool bound as `name`."""
        return self._bound.get(name)

    def names(self) -> list[str]:
        """Names of all bound tools, in the order of the sources."""
        return list(self._bound)

    def cards(self) -> list[ToolCard]:
        """What a plan shows of each."""
        return [tool.card for tool in self._bound.values()]

    def is_general(self, name: str) -> bool:
        """Whether the tool bound as `name` is of use for questions of any kind."""
        return name in self._bound and self._bound[name].general

    def kept(self, k: int) -> list[ToolCard]:
        """Those that a plan is shown whatever the question, `k` at most, those of general use first.

        They cannot be built anew where they are missed, and whoever set their source up wants them for this task: all
        are kept where they are few.
        """
        general = [tool.card for tool in self._bound.values() if tool.general]
        others = [tool.card for tool in self._bound.values() if not tool.general]
        return [*general, *(others if len(self._bound) <= k else ())][:k]


def _bound_name(named: NamedSource, tool: str) -> str:
    """`<source>_<tool>`; a tool whose name begins with that of its source keeps it."""
    begins = f"{named.name}_"
    return provider_name(tool if not named.prefix or tool.startswith(begins) else begins + tool)


async def _opened(named: NamedSource) -> OpenedSource:
    """A source with the tools that were chosen of it and can be used. Never raises for a failure of the source."""
    try:
        async with asyncio.timeout(named.open_timeout_s):
            tools = await named.source.open()
    except UserError as error:
        return OpenedSource(named, faults=(str(error),))
    except TimeoutError:
        return OpenedSource(named, faults=(f"it did not open within {named.open_timeout_s:g} s",))
    usable: list[ExternalTool] = []
    lacking: dict[str, list[str]] = {}
    for tool in tools:
        if not named.takes(tool.spec.name):
            continue
        if reasons := tool.missing():
            lacking.setdefault("; ".join(reasons), []).append(tool.spec.name)
        else:
            usable.append(tool)
    faults = [f"{_listed(names)}: {reason}" for reason, names in lacking.items()]
    known = [tool.spec.name for tool in tools]
    faults += [
        f"{pattern}: there is no such tool, but {_listed(known)}"
        for pattern in named.chosen
        if not any(fnmatchcase(name, pattern) for name in known)
    ]
    if not tools:
        faults.append("it gives no tools")
    return OpenedSource(named, tuple(usable), tuple(faults))


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(name[:60] for name in names[:3]) + more


async def _close(named: NamedSource) -> None:
    try:
        async with asyncio.timeout(CLOSE_S):
            await named.source.aclose()
    except Exception as error:  # the others must be closed as well
        log.warning("source %s did not close: %s", named.name, str(error) or type(error).__name__)
