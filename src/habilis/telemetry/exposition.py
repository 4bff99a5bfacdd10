"""WorkFigures as text for Prometheus (text exposition format 0.0.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from habilis.telemetry.figures import QUANTILES, WorkFigures, quantile

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def exposition(figures: WorkFigures, runs: int) -> str:
    """The figures of `runs` runs; their tokens and calls only ever grow, unless runs are removed."""
    failed = figures.tool_errors
    lines = [
        *_family("habilis_runs", "gauge", "Runs that are kept.", {"": runs}),
        *_family("habilis_tasks_total", "counter", "Tasks that ended, by status.", _by("status", figures.ends)),
        *_family(
            "habilis_tool_calls_total",
            "counter",
            "Tool calls that were run, by what they came to.",
            _by("outcome", {"ok": len(figures.tool_s) - failed, "error": failed}),
        ),
        *_family(
            "habilis_tokens_total",
            "counter",
            "Tokens that model calls took.",
            _by("type", {"input": figures.prompt_tokens, "output": figures.completion_tokens}),
        ),
        *_summary("habilis_task_rounds", "Rounds of a task.", figures.rounds),
        *_summary("habilis_model_call_duration_seconds", "How long model calls took.", figures.model_s),
        *_summary("habilis_tool_call_duration_seconds", "How long tool calls took.", figures.tool_s),
    ]
    return "\n".join(lines) + "\n"


def _by(label: str, values: Mapping[str, float]) -> dict[str, float]:
    return {f'{{{label}="{_escaped(name)}"}}': value for name, value in sorted(values.items())}


def _family(name: str, kind: str, about: str, values: Mapping[str, float]) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"
    for labels, value in values.items():
        yield f"{name}{labels} {value!r}"


def _summary(name: str, about: str, ordered: Sequence[float]) -> Iterator[str]:
    found = {f'{{quantile="{share}"}}': quantile(ordered, share) for share in QUANTILES}
    yield from _family(name, "summary", about, {key: value for key, value in found.items() if value is not None})
    yield f"{name}_sum {sum(ordered)!r}"
    yield f"{name}_count {len(ordered)}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
