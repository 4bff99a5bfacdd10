"""What a call is told and says goes through descriptors, which may run out at any of them."""

from __future__ import annotations

import contextlib
import os
import resource
import sys
from collections.abc import Iterator

import pytest

from habilis.sandbox.processes.pipes import Pipes

from ..openfiles import count

NEEDED = 7
"""Descriptors of one call: the request, and three pipes."""


@contextlib.contextmanager
def so_many_left(left: int) -> Iterator[None]:
    """Only so many more files may be opened here."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    filling: list[int] = []
    try:
        for _ in range(count() + left):  # whatever holes there are below the last of these, they are filled
            filling.append(os.open(os.devnull, os.O_RDONLY))
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(filling) + 1, hard))
        for one in filling[len(filling) - left :]:
            os.close(one)
        del filling[len(filling) - left :]
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for one in filling:
            os.close(one)


@pytest.mark.skipif(sys.platform != "linux", reason="open files are counted on Linux")
@pytest.mark.parametrize("left", range(NEEDED + 1))
def test_where_descriptors_run_out_none_of_a_call_stays_open(left: int) -> None:
    before = count()
    with so_many_left(left):
        if left < NEEDED:
            with pytest.raises(OSError, match="Too many open files"):
                Pipes.open(b"asked")
        else:
            pipes = Pipes.open(b"asked")
            pipes.close_childs()
            pipes.close_ours()
    assert count() == before
