"""What looks whether an attempt left something behind has to see it: else no attempt would ever be found out."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from hostile.scene import differing, marks_below

CHANGES: dict[str, Callable[[Path], object]] = {
    "a longer content": lambda folder: (folder / "below" / "a").write_text("longer"),
    "another mode": lambda folder: (folder / "below" / "a").chmod(0o777),
    "another mode of a folder": lambda folder: (folder / "below").chmod(0o777),
    "a second name": lambda folder: os.link(folder / "below" / "a", folder / "b"),
    "a new file": lambda folder: (folder / "below" / "new").touch(),
    "no file": lambda folder: (folder / "below" / "a").unlink(),
    "a link to a folder": lambda folder: (folder / "link").symlink_to(folder / "below"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("contents", [True, False])
def test_a_change_is_seen(tmp_path: Path, change: Callable[[Path], object], contents: bool) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "a").write_text("a")
    before = marks_below(tmp_path, contents=contents)
    assert differing(before, marks_below(tmp_path, contents=contents)) == []
    change(tmp_path)
    assert differing(before, marks_below(tmp_path, contents=contents))


def test_what_is_left_out_is_not_looked_at(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    before = marks_below(tmp_path, (tmp_path / "below",))
    (tmp_path / "below" / "a").touch()
    assert marks_below(tmp_path, (tmp_path / "below",)) == before
