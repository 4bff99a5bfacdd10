"""EGL, library size and accuracy over the steps of a run: as lines of a terminal, or as a PNG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from habilis.core.errors import UserError

if TYPE_CHECKING:
    from habilis.curation.ledger.metrics import StepMetrics
    from habilis.training.outcome import Training

HEIGHT, WIDTH = 5, 60
_BLOCKS, _ASCII = " ▁▂▃▄▅▆▇█", " .:-=+*#@"
SERIES = {"EGL": "egl", "library": "library_size", "accuracy": "accuracy"}
LEGENDS = {
    "EGL": "tools written for each call of a tool, so far",
    "library": "tools in it after the step",
    "accuracy": "share of the step's answers that are right",
}


def terminal_plot(steps: Sequence[StepMetrics], *, ascii_only: bool = False) -> list[str]:
    """A small chart of bars for each figure, one bar a step, from zero to its highest value."""
    found: list[str] = []
    for title, name in SERIES.items():
        values: list[float | None] = [getattr(row, name) for row in steps]
        known = [value for value in values if value is not None]
        if known:
            chart = _bars(_thinned(values), 1.0 if name == "accuracy" else max(known), ascii_only)
            found += [*([""] if found else []), f"{title}: {_figure(known[0])} to {_figure(known[-1])}", *chart]
    return found


def check_plot(path: str) -> None:
    """Raises `UserError` when a plot cannot be written to `path` for want of matplotlib or of a folder."""
    import importlib.util

    if importlib.util.find_spec("matplotlib") is None:
        raise UserError("--plot needs matplotlib; install it with: pip install 'habilis[plot]'")
    if not Path(path).absolute().parent.is_dir():
        raise UserError(f"--plot {path}: there is no such folder")


def write_plot(training: Training, path: Path) -> None:
    """Draw the three figures, one under the other, into the picture `path`; its ending says in which form."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(6.4, 6.8), dpi=150, layout="constrained")
    places = figure.subplots(len(SERIES), 1, sharex=True)
    figure.suptitle(
        f"{Path(training.run_dir).name}: {training.tasks} tasks in {len(training.steps)} steps", fontsize=11
    )
    steps = [row.step for row in training.steps]
    for number, (place, (title, name)) in enumerate(zip(places, SERIES.items(), strict=True)):
        values = [getattr(row, name) for row in training.steps]
        known = [value for value in values if value is not None]
        drawn = [float("nan") if value is None else value for value in values]
        place.plot(steps, drawn, marker="o", markersize=4, color=f"C{number}", clip_on=False, zorder=3)
        place.set_title(f"{title}: {LEGENDS[title]}", fontsize=9, loc="left")
        place.set_ylim(bottom=0, top=1 if name == "accuracy" else max([*known, 0]) * 1.15 or 1)
        place.yaxis.set_major_locator(MaxNLocator(5, integer=name == "library_size"))
        place.spines[["top", "right"]].set_visible(False)
        place.grid(axis="y", alpha=0.3)
        if known:
            text, at = _figure(values[-1]) if values[-1] is not None else "", (steps[-1], drawn[-1])
            place.annotate(text, at, (6, 0), textcoords="offset points", va="center", fontsize=9, annotation_clip=False)
    places[-1].set_xlabel("step")
    places[-1].xaxis.set_major_locator(MaxNLocator(integer=True))
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise UserError(f"--plot {path}: {error}") from None


def _bars(values: Sequence[float | None], top: float, ascii_only: bool) -> list[str]:
    """Lines from the highest to the lowest; what is not known leaves a gap."""
    marks = _ASCII if ascii_only else _BLOCKS
    edge = "|" if ascii_only else "│"
    heights = [0.0 if value is None or not top else HEIGHT * value / top for value in values]
    rows = []
    for level in range(HEIGHT - 1, -1, -1):
        cells = [marks[round(min(max(height - level, 0.0), 1.0) * (len(marks) - 1))] for height in heights]
        label = _figure(top) if level == HEIGHT - 1 else "0" if level == 0 else ""
        rows.append(f"{label:>8} {edge} {' '.join(cells)}".rstrip())
    return rows


def _thinned(values: Sequence[float | None]) -> list[float | None]:
    """No more values than fit: of too many, evenly chosen ones, the first and the last among them."""
    if len(values) <= WIDTH:
        return list(values)
    return [values[round(place * (len(values) - 1) / (WIDTH - 1))] for place in range(WIDTH)]


def _figure(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.2f}"
