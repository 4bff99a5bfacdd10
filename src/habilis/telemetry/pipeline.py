"""The way to a collector: OTLP over HTTP (OpenTelemetry Protocol 1.x, protobuf), sent by threads of its own.

One way for all tasks of a process that send to the same place; it is closed with the last of them. Nothing waits for a
collector: what it did not take within `CLOSE_S` is sent for a while longer if the process lives on, and lost if not.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import urlsplit

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricExportResult, MetricsData, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult

import habilis

log = logging.getLogger(__name__)

CLOSE_S = 0.4
"""Seconds that the end of a task may wait for a collector."""
MAX_ATTRIBUTE_CHARS = 65_536
_NOISY = (
    "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "opentelemetry.exporter.otlp.proto.http.metric_exporter",
    "opentelemetry.sdk._shared_internal",
)
_MUTED = threading.local()
_LOCK = threading.Lock()
_OPEN: dict[str, Pipeline] = {}
_TOLD: set[str] = set()
"""Collectors that were said not to answer: once in a process is enough."""


def opened(endpoint: str | None) -> Pipeline:
    """The way to `endpoint`; None: to where the variables OTEL_EXPORTER_OTLP_… lead. Close it with `aclose`."""
    key = endpoint or ""
    with _LOCK:
        pipeline = _OPEN.get(key) or _OPEN.setdefault(key, Pipeline(endpoint))
        pipeline.users += 1
        return pipeline


class Pipeline:
    """Takes spans and measurements in, and sends them."""

    def __init__(self, endpoint: str | None) -> None:
        _hush()
        self._key = endpoint or ""
        self.users = 0
        base = endpoint.rstrip("/") if endpoint else None
        spans = _Spans(self._missed, f"{base}/v1/traces" if base else None)
        metrics = _Metrics(endpoint=f"{base}/v1/metrics" if base else None)
        self._whereto = urlsplit(spans._endpoint).hostname or "the collector"
        resource = Resource(
            {
                "service.name": "habilis",
                "service.version": habilis.__version__,
                "service.instance.id": str(uuid.uuid4()),
            }
        ).merge(OTELResourceDetector().detect())
        resource = Resource.create().merge(resource)
        self._tracers = TracerProvider(
            resource=resource,
            shutdown_on_exit=False,
            span_limits=SpanLimits(max_span_attribute_length=MAX_ATTRIBUTE_CHARS),
        )
        self._tracers.add_span_processor(BatchSpanProcessor(spans))
        reader = PeriodicExportingMetricReader(metrics)
        self._meters = MeterProvider([reader], resource, shutdown_on_exit=False)
        self.tracer = self._tracers.get_tracer("habilis", habilis.__version__)
        self.meter = self._meters.get_meter("habilis", habilis.__version__)

    async def aclose(self) -> None:
        """One user less; with the last one all is sent, or given up after `CLOSE_S`."""
        with _LOCK:
            self.users -= 1
            if self.users:
                return
            _OPEN.pop(self._key, None)
        traces, metrics = ending = [
            threading.Thread(target=_quietly, args=(end,), name="telemetry", daemon=True)
            for end in (self._tracers.shutdown, self._meters.shutdown)
        ]
        for thread in ending:
            thread.start()
        await asyncio.to_thread(_wait, ending)
        if traces.is_alive():
            self._missed()
        elif metrics.is_alive():
            log.debug("metrics do not reach %s", self._whereto)

    def _missed(self) -> None:
        if self._whereto not in _TOLD:
            _TOLD.add(self._whereto)
            log.warning("traces do not reach %s; the work goes on without them", self._whereto)


class _Spans(OTLPSpanExporter):
    def __init__(self, missed: Callable[[], None], endpoint: str | None) -> None:
        super().__init__(endpoint=endpoint)
        self._missed = missed

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = SpanExportResult.FAILURE
        with muted(), contextlib.suppress(Exception):  # what a collector makes of it is its own affair
            result = super().export(spans)
        if result is not SpanExportResult.SUCCESS:
            self._missed()
        return result


class _Metrics(OTLPMetricExporter):
    """Many collectors take traces alone: one that takes no metrics is nothing to tell."""

    def export(
        self, metrics_data: MetricsData, timeout_millis: float | None = 10_000, **kwargs: object
    ) -> MetricExportResult:
        with muted(), contextlib.suppress(Exception):
            return super().export(metrics_data, timeout_millis, **kwargs)
        return MetricExportResult.FAILURE


@contextlib.contextmanager
def muted() -> Iterator[None]:
    """Let the SDK log nothing in this thread: it has a line for each try."""
    before = getattr(_MUTED, "on", False)
    _MUTED.on = True
    try:
        yield
    finally:
        _MUTED.on = before


def _hush() -> None:
    for name in _NOISY:
        logger = logging.getLogger(name)
        if _is_loud not in logger.filters:
            logger.addFilter(_is_loud)


def _is_loud(record: logging.LogRecord) -> bool:
    return not getattr(_MUTED, "on", False)


def _quietly(end: Callable[[], object]) -> None:
    with muted():
        try:
            end()
        except Exception as error:
            log.debug("telemetry did not end well: %s", error)


def _wait(threads: Sequence[threading.Thread]) -> None:
    """Wait until all of them have ended, or `CLOSE_S` is over."""
    until = time.monotonic() + CLOSE_S
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
