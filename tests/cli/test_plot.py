"""The picture of a training run: all three figures are drawn, in a file that programs can read."""

from __future__ import annotations

from pathlib import Path

import pytest

from habilis.cli.plot import write_plot
from habilis.core.errors import UserError
from habilis.curation.ledger.metrics import StepMetrics
from habilis.training.outcome import Training

image = pytest.importorskip("matplotlib.image")
FIRST_COLOURS = ((31, 119, 180), (255, 127, 14), (44, 160, 44))
"""The three colours that lines are drawn in."""


def training(*figures: tuple[float | None, int, float | None]) -> Training:
    steps = tuple(
        StepMetrics(step=number, generation=number, tasks=8, egl=egl, library_size=size, accuracy=accuracy)
        for number, (egl, size, accuracy) in enumerate(figures, 1)
    )
    return Training(run_dir="runs/first", stopped="done", steps=steps, tasks=8 * len(steps))


def drawn(path: Path) -> list[int]:
    """How many pixels of the picture have each of the colours."""
    pixels = (image.imread(path)[:, :, :3] * 255).round().astype(int)
    assert pixels.shape[0] >= 500
    return [int((abs(pixels - colour).sum(axis=2) < 6).sum()) for colour in FIRST_COLOURS]


def test_the_three_figures_are_lines_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "run.png"
    write_plot(training((0.9, 5, 1.0), (0.5, 8, 0.75), (0.4, 9, 1.0)), path)
    assert all(count > 300 for count in drawn(path)), drawn(path)


def test_what_is_not_known_is_no_line(tmp_path: Path) -> None:
    path = tmp_path / "run.png"
    write_plot(training((None, 0, None), (None, 0, None)), path)
    egl, library, accuracy = drawn(path)
    assert (egl, accuracy) == (0, 0)
    assert library > 100


def test_a_form_that_nobody_draws_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--plot .*run\.nothing"):
        write_plot(training((0.9, 5, 1.0)), tmp_path / "run.nothing")
