"""What is told to others while Habilis works: traces to a collector, alerts to a person."""

from __future__ import annotations

from urllib.parse import urlsplit

from pydantic import Field, field_validator

from habilis.core.types import Frozen


class TelemetrySettings(Frozen):
    """Traces and metrics by OpenTelemetry (extra `otel`)."""

    endpoint: str | None = Field(
        None,
        description="address to send traces and metrics to (OTLP over HTTP, without /v1/traces); unset: that in "
        "OTEL_EXPORTER_OTLP_ENDPOINT, otherwise nothing is sent",
    )
    contents: bool = Field(False, description="also send prompts, replies, arguments and results; secrets are masked")

    @field_validator("endpoint")
    @classmethod
    def _is_an_address(cls, endpoint: str | None) -> str | None:
        parts = urlsplit(endpoint or "http://localhost")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{endpoint!r} is not an address; for example http://localhost:4318")
        return endpoint


class AlertsSettings(Frozen):
    """When a person is to be told. Unset: never."""

    rounds: int | None = Field(8, ge=1, description="alert on more rounds than this in a task")
    tool_errors: float | None = Field(
        0.1, ge=0, le=1, description="alert on a greater share of failed tool calls, from 10 calls on"
    )
    p95_s: float | None = Field(
        10.0,
        gt=0,
        description="alert if the P95 of model calls, or of tool calls, exceeds this many seconds, from 20 calls on",
    )
    tokens: int | None = Field(None, ge=1, description="alert on more tokens than this in a task")
    command: tuple[str, ...] = Field(
        (), description="program and arguments to run for each alert, with the alert as JSON on its standard input"
    )
