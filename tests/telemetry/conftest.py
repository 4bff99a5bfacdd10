"""A collector on loopback that reads what it is sent, and tasks that send it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from habilis.config import Settings, load_settings
from habilis.context.task import Events
from habilis.core import events as ev
from habilis.core.types import Usage
from habilis.telemetry.observing import TaskObservation
from habilis.telemetry.pipeline import _TOLD
from habilis.testing import RecordingSink

USED = Usage(model_calls=1, prompt_tokens=100, completion_tokens=20, cached_tokens=40)


@dataclass
class Sent:
    """A span as it arrived."""

    name: str
    kind: int
    trace: str
    id: str
    parent: str
    attributes: dict[str, Any]
    failed: bool
    message: str
    events: list[str]
    seconds: float


@dataclass
class Collector:
    """Keeps what it was sent. While `gate` is shut, it takes a request and does not answer."""

    gate: threading.Event = field(default_factory=threading.Event)
    traces: list[ExportTraceServiceRequest] = field(default_factory=list)
    metrics: list[ExportMetricsServiceRequest] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    raw: bytes = b""
    asked: threading.Event = field(default_factory=threading.Event)
    address: str = ""
    refuses: str = ""

    def take(self, path: str, body: bytes, headers: dict[str, str]) -> None:
        self.raw += body
        self.headers.append(headers)
        kinds: dict[str, tuple[Any, Any]] = {
            "/v1/traces": (ExportTraceServiceRequest, self.traces),
            "/v1/metrics": (ExportMetricsServiceRequest, self.metrics),
        }
        kind, kept = kinds[path]
        request = kind()
        request.ParseFromString(body)
        kept.append(request)
        self.asked.set()
        self.gate.wait(60)

    def spans(self) -> list[Sent]:
        """All spans, in the order of their begin."""
        found = [
            span
            for request in self.traces
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]
        return [_sent(span) for span in sorted(found, key=lambda span: span.start_time_unix_nano)]

    def span(self, name: str) -> Sent:
        (found,) = [span for span in self.spans() if span.name == name]
        return found

    def points(self, name: str) -> list[tuple[dict[str, Any], float, int]]:
        """The points of a histogram: attributes, sum, count."""
        return [
            (_plain(point.attributes), point.sum, point.count)
            for request in self.metrics[-1:]
            for resource in request.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.histogram.data_points
        ]

    def resource(self) -> dict[str, Any]:
        return _plain(self.traces[0].resource_spans[0].resource.attributes)


def _sent(span: Any) -> Sent:
    return Sent(
        span.name,
        span.kind,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        _plain(span.attributes),
        span.status.code == 2,
        span.status.message,
        [event.name for event in span.events],
        (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
    )


def _plain(attributes: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in attributes}


@pytest.fixture
def collector() -> Iterator[Collector]:
    held = Collector()
    held.gate.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            held.take(self.path, body, {name.lower(): value for name, value in self.headers.items()})
            self.send_response(404 if self.path == held.refuses else 200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None: ...  # who asked has gone

    server = Server(("127.0.0.1", 0), Handler)
    held.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield held
    held.gate.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def nobody() -> str:
    """The address of a port at which nobody listens."""
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


@pytest.fixture(autouse=True)
def _nobody_told_yet() -> Iterator[None]:
    """Nor is anybody afterwards: what still tries to send says nothing in the middle of another test."""
    _TOLD.clear()
    yield
    _TOLD.add("127.0.0.1")


@pytest.fixture
def sink() -> RecordingSink:
    return RecordingSink()


Happen = Callable[..., Any]


@pytest.fixture
def happens(tmp_path: Path, collector: Collector, sink: RecordingSink) -> Happen:
    """Lets events happen in one task that is observed, and ends it."""

    async def happens(*events: ev.Event, settings: Settings | None = None, **options: Any) -> None:
        settings = settings or sending(collector.address)
        async with TaskObservation(settings, tmp_path / "tape.jsonl", {"habilis.task": "one"}, **options) as observed:
            emit = Events([sink, *observed.sinks])
            observed.tell_to(emit)
            for event in events:
                emit(event)

    return happens


def sending(address: str, *more: str) -> Settings:
    """Settings of a task that sends its spans to `address`."""
    base = ["models.basic.provider=openai", "models.basic.base_url=http://127.0.0.1:9/v1"]
    return load_settings(overrides=[*base, f"telemetry.endpoint={address}", *more])


def begun(task: str = "one") -> ev.TaskStarted:
    return ev.TaskStarted(task_id=task, question="What is in the drawer?", model="m")


def ended(status: str = "answered", error: str | None = None) -> ev.TaskEnded:
    return ev.TaskEnded(task_id="one", status=status, final_answer="A spoon.", error=error, seconds=2.0)


def asked(call_id: str = "k-1", *, parent: str = "", seconds: float = 0.5, **more: Any) -> list[Any]:
    """A model call, from begin to end."""
    who: dict[str, Any] = {"call_id": call_id, "role": "basic", "purpose": "step 1", "model": "m", "parent": parent}
    return [ev.ModelCallStarted(**who), ev.ModelCallEnded(**{**who, "usage": USED, "seconds": seconds, **more})]


def called(call_id: str = "c1", *, error: str | None = None, seconds: float = 0.2, **more: Any) -> list[Any]:
    """A tool call, from begin to end."""
    start = ev.ToolCallStarted(
        call_id=call_id, tool="look", version="v1", arguments={"where": "drawer"}, parent="round-1"
    )
    return [start, ev.ToolCallEnded(call_id=call_id, tool="look", seconds=seconds, error=error, text="a spoon", **more)]
