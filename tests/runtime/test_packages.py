"""What a tool's writer is told when a package cannot be installed: one line, bounded, every word of use."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.runtime.packages.policy import EnvironmentFailed, PackagePolicy, checked, explained, short_reason


def test_an_empty_list_allows_nothing_and_says_so() -> None:
    with pytest.raises(EnvironmentFailed, match="the list is empty, or do without"):
        PackagePolicy(()).check(["numpy"])
    PackagePolicy(()).check([])
    PackagePolicy("none").check([])


@pytest.mark.parametrize("text", ["numpy", "numpy>=2", "numpy[fast]>=2", "numpy ; python_version > '3'", "NumPy"])
def test_a_listed_name_is_known_however_the_requirement_is_written(text: str) -> None:
    PackagePolicy(("numpy",)).check(checked([text]))


def test_a_name_that_only_begins_like_a_listed_one_is_refused() -> None:
    with pytest.raises(EnvironmentFailed, match="package numpy-evil is refused"):
        PackagePolicy(("numpy",)).check(checked(["numpy_evil"]))


def test_users_and_passwords_of_an_index_are_not_for_the_model() -> None:
    said = "error: Failed to fetch: https://me:word@packages.example.org/simple/numpy/\n  cause: Connection refused"
    line = explained(said, ["numpy"], offline=False)
    assert "me:word" not in line
    assert "packages.example.org" in line


@given(st.text(max_size=3000), st.booleans())
def test_whatever_the_installer_says_becomes_one_bounded_line(said: str, offline: bool) -> None:
    line = explained(said, ["numpy>=2"], offline=offline)
    assert "\n" not in line
    assert "\n" not in short_reason(said)
    assert len(short_reason(said)) <= 402
