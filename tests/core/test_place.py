"""What the machine refuses is told from what a tool or a person did wrong."""

from __future__ import annotations

import errno
import os

import pytest

from habilis.core.place import ADVICE, place_error


@pytest.mark.parametrize("number", ADVICE)
def test_what_the_machine_refuses_says_what_to_do(number: int) -> None:
    found = place_error(OSError(number, os.strerror(number), "/some/run/events.jsonl"))
    assert found is not None
    assert str(found).startswith("/some/run/events.jsonl: ")
    assert ADVICE[number] in str(found)


@pytest.mark.parametrize("number", [errno.EACCES, errno.ENOTDIR, errno.ENOENT])
def test_a_folder_of_the_users_is_the_users_one_of_ours_the_places(number: int) -> None:
    refused = OSError(number, os.strerror(number), "/some/cache")
    assert place_error(refused) is None
    ours = place_error(refused, ours=True)
    assert ours is not None
    assert str(ours).startswith("/some/cache ")


def test_a_refusal_without_a_name_still_says_what_to_do() -> None:
    assert str(place_error(OSError(errno.EMFILE, "Too many open files"))).startswith("Too many open files; allow more")
