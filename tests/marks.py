"""Marks of slow cases that keep a promise: left out of `make test`, part of `make test-promises`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

PROMISE = (pytest.mark.slow, pytest.mark.promise)


def promised(cases: Iterable[Any], share: int = 2) -> list[Any]:
    """`cases` that are all slow, of which one in `share` runs with the promises, from the first on."""
    rest = (pytest.mark.slow,)
    return [pytest.param(case, marks=rest if number % share else PROMISE) for number, case in enumerate(cases)]


def some(cases: Iterable[Any]) -> list[Any]:
    """`cases` of which every third is quick, from the first on; the others run with the promises."""
    return [pytest.param(case, marks=() if number % 3 == 0 else PROMISE) for number, case in enumerate(cases)]
