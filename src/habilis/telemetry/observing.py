"""What watches a task or a training besides its record: alerts, and spans where a collector is named."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from habilis.config import ROLES, otlp_endpoint
from habilis.core.events import Event
from habilis.core.ports import EventSink
from habilis.telemetry.alerts import OF_A_TASK, OF_CALLS, AlertWatch
from habilis.telemetry.command import AlertCommand

if TYPE_CHECKING:
    from habilis.config import Settings
    from habilis.telemetry.pipeline import Pipeline
    from habilis.telemetry.spans import SpanSink, Workflow

log = logging.getLogger(__name__)

COMMAND_S = 0.4
"""Seconds that the end of a task waits for the commands of its alerts."""


class _Observation:
    """Used with `async with`: what is open at its end is ended, and nothing holds that up for long. `tell_to` says what
    alerts are told to."""

    _spans: SpanSink | None = None
    _workflow: Workflow | None = None

    def __init__(self, settings: Settings, alerts: AlertWatch, *, tells: bool = True) -> None:
        self._alerts = alerts
        self._command = AlertCommand(settings.alerts.command if tells else ())
        self._pipeline = _pipeline(settings)

    def tell_to(self, emit: Callable[[Event], None]) -> None:
        """Who hears alerts."""
        self._alerts.tell = emit

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._spans is not None:
            self._spans.close()
        if self._workflow is not None:
            self._workflow.end(self._error())
        await _let_go(self._command, self._pipeline)

    def _error(self) -> str:
        """Why it was broken off, empty if it was not."""
        return self._spans.error if self._spans is not None else ""


class TaskObservation(_Observation):
    """Of one task. `sinks` are to hear all that happens in it.

    `about` names the task in its spans, and by `habilis.task` in its alerts. `part_of` is the `traceparent` of the
    training that it is a task of, empty where that is not traced: what is counted over all tasks, and the command, are
    the training's then.
    """

    def __init__(self, settings: Settings, tape: Path, about: Mapping[str, str], *, part_of: str | None = None) -> None:
        names = OF_A_TASK | OF_CALLS if part_of is None else OF_A_TASK
        watch = AlertWatch(settings.alerts, "task", about["habilis.task"], names)
        super().__init__(settings, watch, tells=part_of is None)
        if self._pipeline is not None:
            from habilis.telemetry.contents import TapeContents
            from habilis.telemetry.spans import SpanSink, Workflow, parent_of

            contents = TapeContents(tape) if settings.telemetry.contents else None
            self._workflow = None if part_of else Workflow(self._pipeline, "run", about)
            parent = self._workflow.context if self._workflow else parent_of(part_of or "")
            self._spans = SpanSink(self._pipeline, parent, _roles(settings), contents, about)
        found: list[EventSink | None] = [self._spans, self._alerts, self._command]
        self.sinks = [sink for sink in found if sink is not None]


class TrainingObservation(_Observation):
    """Of a training: what is counted over all its tasks, its curator's work, its span, which its tasks belong to.

    `failed` says why it was broken off, if it was.
    """

    failed = ""

    def __init__(self, settings: Settings, name: str) -> None:
        super().__init__(settings, AlertWatch(settings.alerts, "run", name, OF_CALLS))
        if self._pipeline is not None:
            from habilis.telemetry.spans import SpanSink, Workflow

            self._workflow = Workflow(self._pipeline, "training", {"habilis.run": name})
            self._spans = SpanSink(self._pipeline, self._workflow.context, _roles(settings), agent="curator")
        found: list[EventSink | None] = [self._workflow, self._spans, self._command]
        self.sinks = [sink for sink in found if sink is not None]

    @property
    def trace(self) -> str:
        """What its tasks are to go on from, wherever they run; empty without a collector."""
        return self._workflow.traceparent if self._workflow is not None else ""

    def watching(self, watch: Callable[[str, Event], None]) -> Callable[[str, Event], None]:
        """Who hears, by a task's id, what happens in it: we, then `watch`."""

        def heard(task_id: str, event: Event) -> None:
            self._alerts.emit(event)
            self._command.emit(event)
            watch(task_id, event)

        return heard

    @property
    def curator_sinks(self) -> list[EventSink]:
        """They are to hear what the curator does."""
        return [self._alerts, *([self._spans] if self._spans is not None else [])]

    def _error(self) -> str:
        return self.failed


def _pipeline(settings: Settings) -> Pipeline | None:
    """The way to the collector; None where none is named, or the packages for it are not there."""
    named = settings.telemetry.endpoint
    if not (named or otlp_endpoint()):
        return None
    try:
        from habilis.telemetry.pipeline import opened

        return opened(named)
    except ModuleNotFoundError as error:
        level = logging.WARNING if named else logging.DEBUG  # the variable may be meant for other programs
        log.log(level, "no traces are sent: the package %s is not installed; pip install 'habilis[otel]'", error.name)
    except Exception as error:  # one of many variables is wrong, or a file that it names: no reason to end a task
        log.warning("no traces are sent: %s", " ".join(str(error).split()) or type(error).__name__)
    return None


def _roles(settings: Settings) -> dict[str, dict[str, Any]]:
    """What the conventions want to know of the model of each role: its provider and its server."""
    found: dict[str, dict[str, Any]] = {}
    for role in ROLES:
        model = settings.models.role(role)
        provider = "openai" if model.provider in (None, "auto") else model.provider
        about: dict[str, Any] = {"gen_ai.provider.name": provider}
        with suppress(ValueError):
            parts = urlsplit(model.base_url or "")
            if parts.hostname:
                port = parts.port or (443 if parts.scheme == "https" else 80)
                about |= {"server.address": parts.hostname, "server.port": port}
        found[role] = about
    return found


async def _let_go(command: AlertCommand, pipeline: Pipeline | None) -> None:
    waiting = [asyncio.to_thread(command.end, COMMAND_S)] if command.is_at_work else []
    await asyncio.gather(*waiting, *([pipeline.aclose()] if pipeline is not None else []))
