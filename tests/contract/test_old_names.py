"""A tool asked for by an old name: it answers as the old one did, and is mended without forgetting anybody."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from habilis.contract.aliases import Alias
from habilis.library import Library, Tool
from habilis.runtime.calls import CallSpec

from ..toolshop import Shop, put

Source = Callable[..., str]
SECOND = "    return OutputModel(result=len(open(input.path).read().split('\\n')) - 1)"


@pytest.fixture
async def merged(tmp_path: Path, source_of: Source) -> Shop:
    """A shop whose public tool `count_rows` was once also `lines_of(file) -> n`."""
    shop = Shop(tmp_path, public=True)
    assert shop.public is not None
    (shop.workspace / "a.csv").write_text("x\n1\n2\n")
    tool = await put(shop.public, source_of(), "count_rows", shop.host)
    text, number = {"type": "string"}, {"type": "integer"}
    alias = Alias(
        arguments={"file": "path"},
        fields={"result": "n"},
        description="Lines of a file.",
        input_schema={"type": "object", "properties": {"file": text}, "required": ["file"]},
        output_schema={"type": "object", "properties": {"n": number}},
    )
    manifest = tool.manifest.model_copy(update={"aliases": {"lines_of": alias}})
    (shop.public.path / "count_rows.json").write_text(manifest.model_dump_json())
    return shop


def named(shop: Shop, name: str) -> Tool:
    tool = shop.library.get(name)
    assert tool is not None
    return tool


async def test_an_old_name_has_its_own_form_and_reaches_the_new_tool(merged: Shop) -> None:
    tool = named(merged, "lines_of")
    assert (tool.layer, tool.spec.name, tool.description) == ("public", "lines_of", "Lines of a file.")
    assert list(tool.spec.parameters["properties"]) == ["file"]
    outcome = await merged.host.call(CallSpec(tool.runnable, {"file": "a.csv"}, workspace=merged.workspace))
    assert outcome.output == {"n": 3}
    assert (merged.library.names(), merged.library.aliases()) == (["count_rows"], ["lines_of"])
    assert [card.name for card in merged.library.cards()] == ["count_rows"]


async def test_a_tool_comes_before_the_old_name_of_another_in_whatever_layer(merged: Shop, source_of: Source) -> None:
    """A private fork still answers to an old name under which the public library has a tool of its own again."""
    assert merged.public is not None
    own = await put(merged.private, source_of(), "count_rows", merged.host)
    aliases = named(merged, "lines_of").manifest.aliases
    manifest = own.manifest.model_copy(update={"aliases": aliases})
    (merged.private.path / "count_rows.json").write_text(manifest.model_dump_json())
    assert named(merged, "lines_of").layer == "private", "both have it as an old name"
    await put(merged.public, source_of("lines_of", fields="    file: str"), "lines_of", merged.host)
    back = named(merged, "lines_of")
    assert (back.layer, back.alias) == ("public", None)
    assert named(merged, "count_rows").layer == "private"


async def test_what_failed_by_an_old_name_is_mended_in_the_tool_and_both_names_keep_working(
    merged: Shop, source_of: Source
) -> None:
    old = named(merged, "lines_of")
    await merged.called(old, {"file": "a.csv"}, "success", "c1")
    failure = await merged.called(old, {"file": "missing.csv"}, "failure", "c2")
    forgetful = source_of(fields="    path: str\n    more: int", meta="'dependencies': []")
    robust = source_of(
        body="    import os\n    if not os.path.exists(input.path): return OutputModel(result=0)\n" + SECOND,
        meta="'dependencies': []",
    )
    merged.writer.replies = [forgetful, robust]
    merged.models.replies = [{"results": [{"record": "r1", "fixed": True, "reason": "nothing there"}]}]
    better: Any = await merged.smith.enhance(old, [failure])
    assert isinstance(better, Tool), better
    assert (better.name, better.layer, better.origin.how) == ("count_rows", "private", "forked")
    assert Library(merged.private.path).aliases() == ["lines_of"]
    outcome = await merged.host.call(
        CallSpec(named(merged, "lines_of").runnable, {"file": "none.csv"}, workspace=merged.workspace)
    )
    assert outcome.output == {"n": 0}
    assert merged.private.get("lines_of") is not None


async def test_a_mended_tool_that_breaks_an_old_name_is_not_taken(merged: Shop, source_of: Source) -> None:
    old = named(merged, "lines_of")
    await merged.called(old, {"file": "a.csv"}, "success", "c1")
    failure = await merged.called(named(merged, "count_rows"), {"path": "missing.csv"}, "failure", "c2")
    wrong = source_of(body="    return OutputModel(result=7)", meta="'dependencies': []")
    merged.writer.replies = [wrong] * 3
    merged.models.replies = [{"results": [{"record": "r1", "fixed": True, "reason": "fine"}]}] * 3
    kept = await merged.smith.enhance(named(merged, "count_rows"), [failure])
    assert not isinstance(kept, Tool)
    assert "lines_of: Call with arguments" in kept.reason
    assert merged.private.names() == []
