"""What a user would lose: two tools of one code that no search finds, their names being not alike."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from habilis.core.errors import UserError
from habilis.curation.manual.duplicates import candidates
from habilis.library import Library
from habilis.library.catalogue import Catalogue

from ...toolshop import put, tool_source

ROWS = "    return OutputModel(result=len(open(input.path, encoding='utf-8').read().splitlines()))"
AGAIN = "    # how long it is\n    path = input.path\n    return OutputModel(result=len(path) - 1)"
LENGTH = "    named = input.path\n    return OutputModel(result=len(named) - 1)"


@pytest.fixture
async def library(tmp_path: Path) -> Library:
    found = Library(tmp_path / "tools")
    for name, body in (("count_rows", ROWS), ("zebra", AGAIN), ("quick_brown", LENGTH)):
        await put(found, tool_source(name, body=body), name)
    return found


@pytest.mark.parametrize("names", [(), ("zebra",), ("quick_brown",)])
def test_tools_of_equal_code_are_proposed_whatever_they_are_called(library: Library, names: tuple[str, ...]) -> None:
    one, other, alike = candidates(library, names)[0]
    assert ({one.name, other.name}, alike) == ({"zebra", "quick_brown"}, 1.0)


def test_an_old_manifest_without_the_digest_is_read_and_its_tool_is_found(library: Library) -> None:
    for name in ("zebra", "quick_brown"):
        path = library.path / f"{name}.json"
        said = json.loads(path.read_text(encoding="utf-8"))
        assert said.pop("likeness")
        path.write_text(json.dumps(said), encoding="utf-8")
    assert Catalogue.of(library.path).tools["zebra"].likeness == ""
    assert {tool.name for tool in candidates(library)[0][:2]} == {"zebra", "quick_brown"}


def test_a_catalogue_on_disk_keeps_the_digest(library: Library) -> None:
    known = Catalogue.of(library.path)
    known.save(known)
    kept = Catalogue.of(library.path)
    assert kept.tools["zebra"].likeness == kept.tools["quick_brown"].likeness != ""
    with pytest.raises(UserError):
        candidates(library, ["nobody"])
