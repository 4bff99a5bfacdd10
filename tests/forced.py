"""A lossy merge, forced into a library: what the gate refuses, written as a generation all the same."""

from __future__ import annotations

from pathlib import Path

from habilis.contract.aliases import alias_between
from habilis.library import Library
from habilis.library.drafting import DraftLibrary
from habilis.library.generations import Generations


def force_merge(library: Path, heir: str, *members: str) -> None:
    """Publish a generation in which tool `heir` does the work of `members`, whether it can or not."""
    generations, before = Generations(library), Library(library)
    with generations.draft() as folder:
        draft = DraftLibrary(folder, before.content)
        merged = draft.get(heir)
        assert merged is not None
        new, aliases, labels = (merged.input_schema, merged.output_schema), {}, []
        for name in members:
            tool = draft.get(name)
            assert tool is not None
            known = {"version": tool.version, "description": tool.description}
            alias = alias_between((tool.input_schema, tool.output_schema), new, **known)
            assert alias is not None
            aliases[name] = alias
            labels.append(tool.label)
            records = draft.records(name)
            draft.take_out(name, "archive", f"its work is done by {heir}")
            draft.add_records(name, records)
        origin = merged.origin.model_copy(update={"parents": tuple(labels), "members": tuple(labels)})
        draft.describe(merged.manifest.model_copy(update={"aliases": aliases, "origin": origin}))
        generations.publish(folder, {"evidence": []})
    assert set(members) <= set(Library(library).aliases())
