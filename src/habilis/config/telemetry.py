"""What is told to others while Habilis works: traces to a collector, alerts to a person."""

from __future__ import annotations

from urllib.parse import urlsplit

from pydantic import Field, field_validator

from habilis.core.types import Frozen


class TelemetrySettings(Frozen):
    """Traces and metrics by OpenTelemetry (extra `otel`)."""

    endpoint: str | None = Field(
        None,
        description="address that traces and metrics are sent to (OTLP over HTTP, without /v1/traces); unset: that of "
        "OTEL_EXPORTER_OTLP_ENDPOINT, else nothing is sent",
    )
    contents: bool = Field(False, description="send prompts, replies, arguments and results too; secrets are masked")

    @field_validator("endpoint")
    @classmethod
    def _is_an_address(cls, endpoint: str | None) -> str | None:
        parts = urlsplit(endpoint or "http://localhost")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{endpoint!r} is not an address; for example http://localhost:4318")
        return endpoint


class AlertsSettings(Frozen):
    """When a person is to be told. Unset: never."""

    rounds: int | None = Field(8, ge=1, description="more rounds than this in a task")
    tool_errors: float | None = Field(
        0.1, ge=0, le=1, description="a greater share of failed tool calls, of 10 or more"
    )
    p95_s: float | None = Field(
        10.0, gt=0, description="slower than this, in seconds: the P95 of 20 or more model calls, or tool calls"
    )
    tokens: int | None = Field(None, ge=1, description="more tokens than this in a task")
    command: tuple[str, ...] = Field(
        (), description="program with its arguments that is run for each alert, with the alert as JSON on its input"
    )
