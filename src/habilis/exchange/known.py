"""What a library holds already, as an import has to know it: sources by digest, older versions, names, calls."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property

from habilis.contract.records import RecordedCall
from habilis.library import Library, Manifest, Tool
from habilis.library.generations import Generations
from habilis.library.outofuse import SetAside, set_aside
from habilis.library.tool import digest_of


class Holdings:
    """The library in force, and the names that an import takes in it as it goes on."""

    def __init__(self, generations: Generations) -> None:
        catalogue = generations.catalogue()
        self._folder = generations.library.resolve()
        self._library = Library(generations.library)
        self.before = sorted(catalogue.tools)
        self._digests = {name: self._read(name) for name in self.before}
        self._versions = {digest[:16]: name for name, digest in self._digests.items()}
        self._taken = catalogue.taken()

    def of(self, version: str) -> tuple[str, str] | None:
        """The tool of this very source, or the one that was made from it, with the reason; None when there is none."""
        if version in self._versions:
            return self._versions[version], ""
        if version in self._archived and (name := self._successor(version)) is not None:
            return name, "it is an older version, kept in the archive"
        return None

    def has(self, version: str) -> bool:
        """Whether a source is here, in use or not."""
        return self.of(version) is not None or self.out_of_use(version) is not None

    def out_of_use(self, version: str) -> str | None:
        """Why a source is not wanted: this library took it out of use itself. None where it did not."""
        one = next((one for one in self._out_of_use if one.tool.version == version), None)
        if one is None:
            return None
        word = "retired" if one.place == "retired" else "quarantined"
        return f"this library has it already, {word}" + (f": {one.reason}" if one.reason else "")

    def add(self, name: str, version: str) -> None:
        """Take `name` for a source of this import."""
        self._taken.add(name)
        if version:
            self._versions[version] = name

    def is_taken(self, name: str) -> bool:
        """Whether something can be asked for under `name`, by an old name too."""
        return name in self._taken

    def tool(self, name: str) -> Tool | None:
        """The tool of the library in force called `name`; None for one of this import."""
        return self._library.get(name) if name in self._digests else None

    def digest(self, name: str) -> str:
        return self._digests[name]

    def labels(self) -> list[str]:
        """The tools of before, as reports name them."""
        return [f"{name}@{self._digests[name][:16]}" for name in self.before]

    def calls(self, name: str) -> list[RecordedCall]:
        """The recorded calls of tool `name` in the library in force."""
        return self._library.records(name)

    def _read(self, name: str) -> str:
        try:
            return digest_of((self._folder / f"{name}.py").read_bytes())
        except OSError:  # a link to nowhere, say; the draft tells
            return ""

    @cached_property
    def _archived(self) -> dict[str, Manifest]:
        """What is in the archive, by version."""
        return {one.tool.version: one.tool.manifest for one in set_aside(self._folder, places=("archive",))}

    @cached_property
    def _out_of_use(self) -> list[SetAside]:
        return set_aside(self._folder, places=("retired", "quarantine"))

    def _successor(self, version: str) -> str | None:
        """The tool in use that was made from `version`, by way of others or not."""
        children: dict[str, list[str]] = {}
        tools = {tool.manifest.identity: tool for tool in self._library.tools()}
        for manifest in [*(tool.manifest for tool in tools.values()), *self._archived.values()]:
            for parent in manifest.origin.parents:
                children.setdefault(parent.rpartition("@")[2], []).append(manifest.identity)
        seen, waiting = {version}, [version]
        while waiting:
            for child in sorted(children.get(waiting.pop(0), ())):
                if child in tools:
                    return tools[child].name
                if child not in seen:
                    seen.add(child)
                    waiting.append(child)
        return None


def unknown(calls: Sequence[RecordedCall], there: Sequence[RecordedCall]) -> list[RecordedCall]:
    """Those of `calls` that are not `there` yet, whatever their ids, with ids that are free there."""
    said, ids = {content_of(call) for call in there}, {call.call_id for call in there}
    found = []
    for call in calls:
        content = content_of(call)
        if content not in said:
            call_id = call.call_id if call.call_id not in ids else f"{call.call_id}.{content[:12]}"
            said.add(content)
            ids.add(call_id)
            found.append(call.model_copy(update={"call_id": call_id}))
    return found


def content_of(call: RecordedCall) -> str:
    """A digest of what a call was and gave, whatever it is called and whichever tool's name it is filed under."""
    said = call.model_dump(exclude={"call_id", "tool", "traffic", "redacted"})
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
