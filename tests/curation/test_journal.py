"""The journal: what was written is there after a kill, what was cut off was never written."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.core.errors import UserError
from habilis.curation.ledger.journal import Journal


def test_what_was_written_is_found_by_the_next_process(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run" / "journal.jsonl")
    assert journal.entry(1, "collected") is None
    journal.write(1, "collected", {"tools": ["ä", "b"]})
    journal.write(2, "collected", {})
    journal.write(1, "collected", {"tools": []})
    again = Journal(journal.path)
    assert again.entry(1, "collected") == {"tools": []} == journal.entry(1, "collected")
    assert again.entry(2, "collected") == {}
    assert again.entry(2, "published") is None


@given(cut=st.integers(0, 400), then=st.booleans())
def test_cut_off_anywhere_it_holds_what_was_whole_and_goes_on(cut: int, then: bool, tmp_path_factory) -> None:
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    journal = Journal(path)
    for step in range(1, 5):
        journal.write(step, "merged", {"of": step, "text": "x}}" * step})
    whole = path.read_bytes()
    path.write_bytes(whole[:cut])
    lines = whole[:cut].count(b"\n")
    again = Journal(path)
    assert [again.entry(step, "merged") is not None for step in range(1, 5)] == [n < lines for n in range(4)]
    again.write(9, "published", {"done": True})
    if then:
        again.write(10, "published", {})
    last = Journal(path)
    assert last.entry(9, "published") == {"done": True}
    assert [last.entry(step, "merged") is not None for step in range(1, 5)] == [n < lines for n in range(4)]


def test_a_damaged_middle_is_an_error_that_names_the_line(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.write(1, "merged", {})
    journal.path.write_bytes(b"not a line of ours\n" + journal.path.read_bytes())
    with pytest.raises(UserError, match="damaged at line 1"):
        Journal(journal.path)


def test_a_full_disk_costs_the_entry_and_no_other(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.write(1, "merged", {"a": 1})
    journal.path.write_bytes(journal.path.read_bytes() + b'{"step":2,"po')
    journal = Journal(journal.path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            journal.write(2, "merged", {"long": "x" * 200})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    journal.write(3, "merged", {"b": 2})
    again = Journal(journal.path)
    assert [again.entry(step, "merged") for step in (1, 2, 3)] == [{"a": 1}, None, {"b": 2}]


def test_two_points_of_one_step_do_not_mix(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.write(3, "merged", {"a": 1})
    journal.write(3, "verified", {"b": 2})
    assert (journal.entry(3, "merged"), journal.entry(3, "verified")) == ({"a": 1}, {"b": 2})
