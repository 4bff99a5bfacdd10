"""Many hostile calls in one task leave its host as it was: nothing of them may add up over a run of hours."""

from __future__ import annotations

import sys

import pytest

from .test_attack_table import HostProcess, skip_unless_possible

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux")
GROWTH_KIB = 12 * 1024
"""What the host may hold more after two hundred calls than after forty: 160 replies of up to a few KB are kept by
nobody, but an allocator returns little."""


@pytest.mark.parametrize("count", [12, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
@pytest.mark.parametrize("user", ["root", "ordinary"])
def test_a_host_is_as_it_was_after_many_hostile_calls(user: str, level: str, count: int) -> None:
    skip_unless_possible(level, user)
    if count < 100 and (level == "bubblewrap") != (user == "ordinary"):
        pytest.skip("the short run tries each back end as one user")
    host = HostProcess(user)
    try:
        host.ask(level, "cold", "a pipe left behind")  # what is made once per process is made
        found = host.ask(level, "many", str(count), patience_s=600.0)
    finally:
        host.close()
    assert found["wrong"] == []
    assert found["after"] == found["before"]
    assert found["kinds"] > count // 2, "they are not mixed"
    if count > 100:
        first, last = found["kib"]
        assert last - first < GROWTH_KIB, f"{first} KiB after forty calls, {last} KiB after all"
