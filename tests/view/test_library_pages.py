"""What a person could not find out about a library and its tools."""

from __future__ import annotations

import pytest

from habilis.core.errors import UserError
from habilis.curation.manual.browsing import Ancestor
from habilis.library import Library
from habilis.library.generations import Generations
from habilis.view.lineage import lineage
from habilis.view.site import Site


@pytest.fixture
async def library(tmp_path, put_tool, source_of):
    """Two tools in a plain folder."""
    folder = Library(tmp_path / "runs" / "library")
    for name in ("column_mean", "count_words"):
        await put_tool(folder, source_of(name), name)
    return folder


async def published(path, source_of, put_tool, names, report):
    """The next generation of the library at `path`, with tools of these names added."""
    generations = Generations(path)
    with generations.draft() as draft:
        for name in names:
            await put_tool(Library(draft), source_of(name), name)
        return generations.publish(draft, report)


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
    with pytest.raises(UserError, match="nope"):
        look("library/tools/nope/")
    site.library = library.path.parent / "none"
    assert "no library" in look("library/")


async def test_a_generation_shows_what_it_changed_and_why(tmp_path, look, source_of, put_tool):
    path = tmp_path / "runs" / "library"
    await published(path, source_of, put_tool, ["column_mean"], {"tools": 1, "by": "hand", "asked": "begin"})
    why = {"notes": ["for a reason"], "evidence": ["column_mean and count_words differ on 3 calls"]}
    await published(path, source_of, put_tool, ["count_words"], {"tools": 2, "by": "hand", "asked": "add it", **why})
    assert "add it" in look("library/generations/")
    page = look("library/generations/2/")
    for said in ("count_words", "for a reason", "after", "2 tools"):
        assert said in page
    assert "differ on 3 calls" in look("library/tools/count_words/")
    assert "the first one" in look("library/generations/1/")


async def test_any_two_generations_can_be_held_against_each_other(tmp_path, look, source_of, put_tool):
    path = tmp_path / "runs" / "library"
    for number, name in enumerate(("column_mean", "count_words", "rows_matching"), 1):
        await published(path, source_of, put_tool, [name], {"tools": number, "by": "hand", "asked": "add"})
    assert 'name="a"' in look("library/generations/")
    page = look("library/generations/", a="1", b="3")
    assert page.count('class="badge good">new') == 2
    back = look("library/generations/3/1/")
    assert back.count('class="badge bad">gone') == 2
    with pytest.raises(UserError, match="no generation 9"):
        look("library/generations/1/9/")


def test_tools_are_listed_by_tag_and_by_worth(library, look):
    assert "column_mean" in look("library/", tag="built", sort="worth")
    assert "0 tools" in look("library/", tag="merged")
    assert "Worth" in look("library/")


async def test_a_tool_that_changed_is_seen_in_a_list_that_was_looked_at_before(library, look, source_of, put_tool):
    assert "rows_matching" not in look("library/", sort="worth")
    await put_tool(library, source_of("rows_matching"), "rows_matching")
    assert "rows_matching" in look("library/", sort="worth")


def test_a_lineage_is_drawn_from_what_came_first_to_what_came_last(tmp_path):
    old, other = (Ancestor(tool=f"{name}@1", how="built", task="t1") for name in ("old", "other"))
    merged = Ancestor(tool="new@3", how="merged", place="in use", parents=(old, other))
    picture = lineage(tmp_path, merged)
    assert picture is not None
    last, *before = picture.versions
    assert [one.about.tool for one in before] == ["old@1", "other@1"]
    assert all(one.x < last.x and one.made_into is last for one in before)
    assert before[0].y < before[1].y
    assert picture.columns == ()
    assert lineage(tmp_path, old) is None


async def test_a_lineage_says_in_which_generation_each_version_came(tmp_path, source_of, put_tool):
    path = tmp_path / "runs" / "library"
    fates = [{"tool": "task-1:old@1", "ending": "kept", "into": "old"}]
    await published(path, source_of, put_tool, ["column_mean"], {"tools": 1, "fates": fates})
    made = [{"tool": "new@3", "parents": ["old@1"]}]
    await published(path, source_of, put_tool, ["count_words"], {"tools": 2, "lineage": made})
    picture = lineage(path, Ancestor(tool="new@3", parents=(Ancestor(tool="old@1"),)))
    assert picture is not None
    assert [text for _, text in picture.columns] == ["generation 1", "generation 2"]
