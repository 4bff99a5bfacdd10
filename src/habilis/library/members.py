"""The members of a merged tool: tools that it took the place of. The archive keeps them, and they can be called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from habilis.contract.aliases import Alias, alias_between
from habilis.contract.records import RecordedCall
from habilis.library.outofuse import SetAside, set_aside
from habilis.library.tool import Manifest, Tool

MENDED = ("enhanced", "forked")


@dataclass(frozen=True)
class Member:
    """A tool in the archive, and the way from its calls to those of the one that does its work."""

    tool: Tool
    alias: Alias

    def given(self, arguments: dict[str, Any]) -> dict[str, Any] | None:
        """A call of the merged tool as one of the member; None where that cannot be said."""
        return self.alias.back(arguments)

    def gave(self, output: Any) -> Any:
        """What the member gave, as the merged tool would have given it."""
        return self.alias.forth(output)

    def own(self, call: RecordedCall) -> RecordedCall | None:
        """A recorded call of the merged tool as one of the member; None where that cannot be said."""
        arguments = self.given(call.arguments)
        if arguments is None:
            return None
        return call.model_copy(update={"arguments": arguments, "output": self.alias.seen(call.output), "stood_in": ""})


def members_of(folders: Sequence[Path], tool: Tool) -> list[Member]:
    """What the libraries in `folders` keep of the tools that `tool` took the place of: the one by whose name it was
    asked for first, then by name. The version that a mend replaced is none of them: it is known to be wrong."""
    manifest = tool.manifest
    names = {*manifest.aliases, *(label.rpartition("@")[0] for label in manifest.origin.members)}
    before = manifest.origin.parents[:1] if manifest.origin.how in MENDED else ()
    found: dict[str, Member] = {}
    for name in sorted(names, key=lambda name: (name != tool.name, name)):
        for one in (one for folder in folders for one in set_aside(folder, name, ("archive",))):
            alias = _way(one, manifest)
            if alias is not None and one.label not in before:
                found.setdefault(one.label, Member(one.tool, alias))
    return list(found.values())


def line_of(folders: Sequence[Path], tool: Tool) -> list[Tool]:
    """What the libraries in `folders` keep of all that `tool` was made from, or took the place of."""
    found: dict[str, Tool] = {}
    waiting = [*tool.origin.parents, *tool.origin.members]
    while waiting:
        label = waiting.pop(0)
        name = label.rpartition("@")[0]
        if label in found or label == tool.label:
            continue
        for one in (one for folder in folders for one in set_aside(folder, name, ("archive",)) if one.label == label):
            found[label] = one.tool
            waiting += [*one.tool.origin.parents, *one.tool.origin.members]
    return list(found.values())


def _way(one: SetAside, heir: Manifest) -> Alias | None:
    """From a kept tool to the one that does its work; None where that did not replace it, or nothing leads there."""
    alias = heir.aliases.get(one.tool.name)
    if alias is not None and alias.version == one.tool.version:
        return alias
    if one.label not in heir.origin.members:
        return None
    own = one.tool.manifest
    return alias_between((own.input_schema, own.output_schema), (heir.input_schema, heir.output_schema))
