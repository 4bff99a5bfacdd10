"""One measured figure, and the table of them."""

from __future__ import annotations

import os
import platform
import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = sys.executable


@dataclass(frozen=True)
class Figure:
    """A figure of ours and, where there is one, what it is measured against in the same run."""

    what: str
    unit: str
    ours: Sequence[float]
    beside: str = ""
    theirs: Sequence[float] = ()

    def row(self) -> str:
        ours = statistics.median(self.ours)
        cells = [self.what, _amount(ours, self.unit, self.ours)]
        if self.theirs:
            theirs = statistics.median(self.theirs)
            cells += [f"{_amount(theirs, self.unit, self.theirs)}: {self.beside}", f"{ours / theirs:.2f}"]
        else:
            cells += ["", ""]
        return f"| {' | '.join([*cells, str(len(self.ours))])} |"


def table(figures: Iterable[Figure]) -> str:
    """A Markdown table: medians, the range of all repeats in brackets."""
    head = "| measured | Habilis | compared with, in the same run | ratio | n |\n| --- | --- | --- | --- | --- |"
    return "\n".join([head, *(figure.row() for figure in figures)])


def machine() -> str:
    """What the figures were measured on."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{cores} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"


def _amount(value: float, unit: str, repeats: Sequence[float]) -> str:
    spread = "" if len(set(repeats)) < 2 else f" ({_number(min(repeats), unit)}–{_number(max(repeats), unit)})"
    return f"{_number(value, unit)} {unit}{spread}".strip()


def _number(value: float, unit: str) -> str:
    return f"{value:.2f}" if unit == "s" else f"{value:.1f}" if unit == "ms" else f"{value:,.0f}"
