"""Events of a task or a training as spans and metrics, named by the semantic conventions for generative AI.

Source: OpenTelemetry semantic conventions for generative AI systems, v0.1.0 (agent spans, inference spans, tool
execution, client metrics): `invoke_workflow` → `invoke_agent` → `chat`, `execute_tool`. Builds have no name there; they
are spans `build {tool}` with attributes of our own below `habilis.`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

import habilis
from habilis.config import OFFLINE_NOTICE
from habilis.core import events as ev
from habilis.telemetry.pipeline import muted

if TYPE_CHECKING:
    from habilis.telemetry.contents import TapeContents
    from habilis.telemetry.pipeline import Pipeline

_TOKEN_BUCKETS = [4.0**power for power in range(14)]
_SECOND_BUCKETS = [0.01 * 2**power for power in range(14)]
_GOOD_ENDS = {"answered", "waiting"}
Attributes = dict[str, str | bool | int | float]


class Instruments:
    """What is measured."""

    def __init__(self, pipeline: Pipeline) -> None:
        meter = pipeline.meter
        self.tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            "{token}",
            "Number of input and output tokens used.",
            explicit_bucket_boundaries_advisory=_TOKEN_BUCKETS,
        )
        durations = {
            "gen_ai.client.operation.duration": "GenAI operation duration.",
            "gen_ai.execute_tool.duration": "Tool execution duration.",
            "gen_ai.invoke_agent.duration": "Agent and workflow duration.",
        }
        self.operation, self.tool, self.agent = (
            meter.create_histogram(name, "s", about, explicit_bucket_boundaries_advisory=_SECOND_BUCKETS)
            for name, about in durations.items()
        )


class Workflow:
    """The span of a run: one task, or a training. `traceparent` is what its parts go on from (W3C Trace Context)."""

    def __init__(self, pipeline: Pipeline, name: str, attributes: Mapping[str, str]) -> None:
        self._span = pipeline.tracer.start_span(
            f"invoke_workflow {name}",
            kind=SpanKind.INTERNAL,
            attributes={
                "gen_ai.operation.name": "invoke_workflow",
                "gen_ai.agent.name": name,
                "gen_ai.workflow.name": name,  # what it was called before v0.1.0 of the conventions
                **attributes,
            },
        )
        self.context = set_span_in_context(self._span)
        carrier: dict[str, str] = {}
        TraceContextTextMapPropagator().inject(carrier, self.context)
        self.traceparent = carrier.get("traceparent", "")

    def emit(self, event: ev.Event) -> None:
        """Take in how a step's tasks end, those too whose process died and sent nothing."""
        if event.kind == "step_task_ended" and event.status not in _GOOD_ENDS:
            self._span.add_event("habilis.task_ended", {"habilis.task": event.task_id, "habilis.status": event.status})
        elif event.kind == "alert":
            self._span.add_event("habilis.alert", _of_alert(event))

    def end(self, error: str = "") -> None:
        """`error`: the class of what it failed by."""
        with muted():
            _end(self._span, error)


class SpanSink:
    """The spans of one task below `parent`, by `agent`. `about` is what its span says, `about_role` what those of calls
    say of the model of a role. With `contents` they say what was said, too."""

    def __init__(
        self,
        pipeline: Pipeline,
        parent: Context,
        about_role: Mapping[str, Attributes],
        contents: TapeContents | None = None,
        about: Mapping[str, str] | None = None,
        agent: str = "habilis",
    ) -> None:
        self._tracer, self._measures = pipeline.tracer, Instruments(pipeline)
        self._parent, self._about_role, self._contents, self._agent = parent, about_role, contents, agent
        self._about = dict(about or {})
        self._root: Span | None = None
        self._open: dict[str, Span] = {}
        self.error = ""

    def emit(self, event: ev.Event) -> None:
        """Begin, or end, the span that the event tells of."""
        show = getattr(self, f"_on_{event.kind}", None)
        if show is not None:
            with muted():
                show(event)

    def close(self) -> None:
        """End what is still open: it was broken off."""
        with muted():
            for span in reversed(list(self._open.values())):
                _end(span, "interrupted")
            self._open.clear()
            if self._root is not None:
                self.error = self.error or "interrupted"
                _end(self._root, "interrupted")
                self._root = None

    def begin(self, attributes: Attributes | None = None) -> Span:
        """The span of the agent, begun if it is not."""
        if self._root is None:
            self._root = self._tracer.start_span(
                f"invoke_agent {self._agent}",
                context=self._parent,
                kind=SpanKind.INTERNAL,
                attributes={
                    "gen_ai.operation.name": "invoke_agent",
                    "gen_ai.agent.name": self._agent,
                    "gen_ai.agent.version": habilis.__version__,
                    **self._about,
                    **self._about_role.get("basic", {}),
                    **(attributes or {}),
                },
            )
        return self._root

    # --- what happens

    def _on_task_started(self, event: ev.TaskStarted) -> None:
        span = self.begin({"habilis.resumed": event.resumed})
        span.set_attributes({"gen_ai.request.model": event.model, **_offline(event.model)})
        self._say(span, "gen_ai.input.messages", [_text("user", event.question)])

    def _on_task_ended(self, event: ev.TaskEnded) -> None:
        span = self.begin()
        span.set_attribute("habilis.status", event.status)
        answer = {**_text("assistant", event.final_answer), "finish_reason": "stop" if event.error is None else "error"}
        self._say(span, "gen_ai.output.messages", [answer])
        for left in reversed(list(self._open.values())):
            _end(left, "interrupted")
        self._open.clear()
        self.error = "" if event.status in _GOOD_ENDS else event.status
        _end(span, self.error, self._told(event.error))
        self._root = None
        about: Attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": self._agent}
        self._measures.agent.record(event.seconds, _with_error(about, self.error))

    def _on_step_ended(self, event: ev.StepEnded) -> None:
        """The curator has done its part of a step."""
        if self._root is not None:
            _end(self._root, "")
            self._root = None

    def _on_model_call_started(self, event: ev.ModelCallStarted) -> None:
        about = {"habilis.role": event.role, "habilis.purpose": event.purpose, **self._of_model(event)}
        self._start(event.call_id, f"chat {event.model}", event.parent, about, SpanKind.CLIENT)

    def _on_model_call_ended(self, event: ev.ModelCallEnded) -> None:
        about = self._of_model(event)
        error = "" if event.error is None else "interrupted" if event.error == "interrupted" else "model_error"
        usage = {
            "gen_ai.usage.input_tokens": event.usage.prompt_tokens,
            "gen_ai.usage.output_tokens": event.usage.completion_tokens,
            "gen_ai.usage.cache_read.input_tokens": event.usage.cached_tokens,
            "gen_ai.usage.cache_creation.input_tokens": event.usage.written_tokens,
        }
        span = self._open.get(event.call_id)
        if span is not None:
            span.set_attributes({"habilis.replayed": True} if event.replayed else usage)
            if self._contents is not None and (said := self._contents.of(event.call_id)) is not None:
                span.set_attributes({"gen_ai.input.messages": said[0], "gen_ai.output.messages": said[1]})
        self._finish(event.call_id, error, event.error)
        if event.replayed:
            return
        self._measures.operation.record(event.seconds, _with_error(about, error))
        for kind, count in (("input", event.usage.prompt_tokens), ("output", event.usage.completion_tokens)):
            if count:
                self._measures.tokens.record(count, {**about, "gen_ai.token.type": kind})

    def _on_tool_call_started(self, event: ev.ToolCallStarted) -> None:
        about: Attributes = {**_of_tool(event.tool), "gen_ai.tool.call.id": event.call_id}
        span = self._start(event.call_id, f"execute_tool {event.tool}", event.parent, about)
        span.set_attribute("habilis.tool.version", event.version)
        self._say(span, "gen_ai.tool.call.arguments", event.arguments)

    def _on_tool_call_ended(self, event: ev.ToolCallEnded) -> None:
        error = "" if event.error is None else "tool_error"
        if (span := self._open.get(event.call_id)) is not None:
            span.set_attributes({"habilis.sandbox": event.level, "habilis.reused": event.reused})
            self._say(span, "gen_ai.tool.call.result", event.text)
        self._finish(event.call_id, error, event.error)
        if not event.reused:
            self._measures.tool.record(event.seconds, _with_error(_of_tool(event.tool), error))

    def _on_tool_build_started(self, event: ev.ToolBuildStarted) -> None:
        about: Attributes = {"habilis.tool": event.tool, "habilis.build": event.purpose}
        self._start(event.build_id or event.tool, f"build {event.tool}", "", about)

    def _on_tool_rejected(self, event: ev.ToolRejected) -> None:
        span = self._open.get(event.build_id or event.tool)
        if span is not None:
            reason: Attributes = {"habilis.reason": event.reason} if self._contents is not None else {}
            span.add_event("habilis.rejected", {"habilis.attempt": event.attempt, **reason})

    def _on_tool_built(self, event: ev.ToolBuilt | ev.ToolEnhanced) -> None:
        if (span := self._open.get(event.build_id or event.tool)) is not None:
            named: Attributes = {"habilis.tool": event.tool}  # its writer may have named it
            span.set_attributes({**named, "habilis.attempts": event.attempts, "habilis.tool.version": event.version})
            span.update_name(f"build {event.tool}")
        self._finish(event.build_id or event.tool, "", None)

    _on_tool_enhanced = _on_tool_built

    def _on_tool_given_up(self, event: ev.ToolGivenUp) -> None:
        self._finish(event.build_id or event.tool, "given_up", event.reason)

    def _on_model_retry(self, event: ev.ModelRetry) -> None:
        self.begin().add_event("habilis.retry", {"habilis.role": event.role, "habilis.attempt": event.attempt})

    def _on_alert(self, event: ev.Alert) -> None:
        self.begin().add_event("habilis.alert", _of_alert(event))

    # --- inside

    def _start(self, key: str, name: str, parent: str, about: Attributes, kind: SpanKind = SpanKind.INTERNAL) -> Span:
        """A span below what it belongs to, or else below the agent."""
        self._finish(key, "interrupted", None)
        above = self._open.get(parent) or self.begin()
        span = self._tracer.start_span(name, context=set_span_in_context(above), kind=kind, attributes=about)
        self._open[key] = span
        return span

    def _finish(self, key: str, error: str, text: str | None) -> None:
        span = self._open.pop(key, None)
        if span is not None:
            _end(span, error, self._told(text))

    def _of_model(self, event: ev.ModelCallStarted | ev.ModelCallEnded) -> Attributes:
        about = self._about_role.get(event.role, {})
        named = {"gen_ai.operation.name": "chat", "gen_ai.request.model": event.model}
        return {**named, **about, **_offline(event.model)}

    def _told(self, text: str | None) -> str | None:
        """An error's words, which may be those of a result: only where contents are sent."""
        return text if self._contents is not None else None

    def _say(self, span: Span, name: str, content: Any) -> None:
        if self._contents is not None:
            text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, default=str)
            span.set_attribute(name, text)


def parent_of(traceparent: str) -> Context:
    """The context that a `traceparent` names (W3C Trace Context)."""
    return TraceContextTextMapPropagator().extract({"traceparent": traceparent})


def _text(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": content}]}


def _offline(model: str) -> Attributes:
    """The offline model has no provider, whatever the settings name."""
    return {"gen_ai.provider.name": "offline"} if OFFLINE_NOTICE in model else {}


def _of_tool(tool: str) -> Attributes:
    return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, "gen_ai.tool.type": "function"}


def _of_alert(event: ev.Alert) -> Attributes:
    return {"habilis.alert": event.name, "habilis.value": event.value, "habilis.limit": event.limit}


def _with_error(about: Attributes, error: str) -> Attributes:
    return {**about, "error.type": error} if error else about


def _end(span: Span, error: str, text: str | None = None) -> None:
    if error:
        span.set_attribute("error.type", error)
        span.set_status(Status(StatusCode.ERROR, text))
    span.end()
