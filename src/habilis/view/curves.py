"""Figures over steps as a curve: a line of points in a picture, with its smallest and largest value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from habilis.view.records import number

WIDTH, HEIGHT, LEFT, EDGE = 320.0, 110.0, 44.0, 8.0


@dataclass(frozen=True)
class Curve:
    """`points` are in units of the picture, as SVG wants them; `dots` the same one by one, with step and value."""

    title: str
    points: str
    dots: tuple[tuple[float, float, int, str], ...]
    low: str
    high: str
    last: str


def curve(title: str, rows: Sequence[dict[str, Any]], key: str, form: str = "{:,.0f}") -> Curve | None:
    """The curve of `key` over the steps in `rows`; None where no row has it. A share begins at 0 and ends at 1."""
    found = [(step, value) for row in rows if (value := number(row.get(key))) is not None if (step := _step(row))]
    if not found:
        return None
    steps, values = [step for step, _ in found], [value for _, value in found]
    share = form.endswith("%}")
    low, high = (0.0, max(1.0, *values)) if share else (min(0.0, *values), max(values))
    wide, tall = max(steps[-1] - steps[0], 1), (high - low) or 1.0
    dots = tuple(
        (
            round(LEFT + (step - steps[0]) / wide * (WIDTH - LEFT - EDGE), 1),
            round(HEIGHT - EDGE - (value - low) / tall * (HEIGHT - 2 * EDGE), 1),
            step,
            form.format(value),
        )
        for step, value in found
    )
    points = " ".join(f"{x},{y}" for x, y, _, _ in dots)
    return Curve(title, points, dots, form.format(low), form.format(high), dots[-1][3])


def curves(rows: Sequence[dict[str, Any]]) -> list[Curve]:
    """The curves of a training."""
    wanted = (
        ("Accuracy", "accuracy", "{:.0%}"),
        ("Reuse", "reuse_rate", "{:.0%}"),
        ("Library, tools", "library_size", "{:,.0f}"),
        ("New tools per call (EGL)", "egl", "{:.2f}"),
        ("Tokens per task", "tokens_per_task", "{:,.0f}"),
        ("Cost per task", "cost_per_task", "{:.4f}"),
        ("Seconds", "seconds", "{:,.0f}"),
    )
    return [found for title, key, form in wanted if (found := curve(title, rows, key, form))]


def _step(row: dict[str, Any]) -> int:
    found = number(row.get("step"))
    return int(found) if found is not None else 0
