"""What a person could not find out about a library and its tools."""

from __future__ import annotations

import pytest

from habilis.library import Library
from habilis.view.site import NoSuchPage, Site


@pytest.fixture
def library(tmp_path, put_tool):
    """Two tools in a plain folder."""
    folder = Library(tmp_path / "runs" / "library")
    put_tool(folder, "column_mean")
    put_tool(folder, "count_words")
    return folder


def test_the_library_lists_its_tools_and_leads_to_each(library, look):
    page = look("library/")
    for name in ("column_mean", "count_words", "2 tools"):
        assert name in page
    assert 'href="tools/column_mean/"' in page
    assert "column_mean" in look("library/", sort="calls")


def test_a_tool_shows_highlighted_code_schemas_calls_and_lineage(library, look):
    page = look("library/tools/column_mean/")
    assert '<span class="k">class</span>' in page
    for said in ("Lineage", "Recorded calls", "Schemas", "Merged, or not, and why", "Version"):
        assert said in page


def test_a_search_says_why_each_tool_was_found(library, look):
    page = look("library/", q="column mean")
    assert "column_mean" in page
    assert "100 %" in page or " % in " in page


def test_no_library_is_said_and_no_tool_is_no_page(look, site: Site, library):
    with pytest.raises((NoSuchPage, Exception)):
        look("library/tools/nope/")
    site.library = library.path.parent / "none"
    assert "no library" in look("library/")
