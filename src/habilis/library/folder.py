"""A library: a folder of tools that keeps every one whole.

<name>.py  <name>.json            a tool and its manifest
records/<name>.jsonl              its recorded calls; contents of files under records/files/
archive/<name>.<version>.py …     what was replaced or set aside, with the reason
retired/  quarantine/             what was taken out of use, in the same form, its calls beside it
.aside/  .lock  .names/           candidates being made, the writers' lock, names being built
.index/                           what a large library is searched by; made again when it is lost

A tool is there from the moment that its `.py` appears under its name, and changes by one rename. Whatever stops
half way leaves the old one or the new one. Reading starts no process and removes nothing.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from habilis.contract.aliases import Alias
from habilis.contract.contract import Contract, ContractError, read_contract
from habilis.contract.names import is_plain
from habilis.contract.records import RecordedCall, RecordStore, recorded
from habilis.contract.runnable import Describer, Description, Runnable
from habilis.core.errors import UserError
from habilis.core.gathering import side_by_side
from habilis.core.masker import MASKER
from habilis.core.types import CallError, Invocation, ToolCard
from habilis.library.outofuse import next_nth, set_aside
from habilis.library.places import aside_folder, aside_root, reserved_name, settle, writer_lock
from habilis.library.reading import INDEX, KEPT_FROM, UNDESCRIBED, Broken, Reader
from habilis.library.retrieval import BM25Retriever
from habilis.library.tool import Manifest, Origin, Tool
from habilis.rundir import atomic_write
from habilis.rundir.plain import read_plain
from habilis.rundir.seals import sealed

log = logging.getLogger(__name__)

__all__ = ["INDEX", "KEPT_FROM", "UNDESCRIBED", "Broken", "Library", "dump"]


@dataclass(frozen=True)
class Presented:
    """A tool, its card, and the tool as one of a public library."""

    tool: Tool
    card: ToolCard
    public: Tool


class Library:
    """The tools in the folder `path`. The folder is made at the first write. Many processes may share it.

    Raises `UserError` for a path that is no folder or cannot be read: it must not pass for an empty library.
    `unchanging`: nobody else writes there, so that no file is looked at twice.
    """

    def __init__(self, path: Path, *, unchanging: bool = False) -> None:
        settle(path)
        if path.is_symlink() and not path.exists():
            raise UserError(f"the library {path} is a link to {path.readlink()}, which is not there")
        if path.exists() and not path.is_dir():
            raise UserError(f"the library {path} is not a folder")
        if path.exists() and not os.access(path, os.R_OK | os.X_OK):
            raise UserError(f"the library {path} cannot be read")
        self.path = path.resolve()
        self.store = RecordStore(self.path / "records")
        self._reader = Reader(self.path, unchanging=unchanging)
        self._presented: dict[str, Presented] = {}

    # --- reading -------------------------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """Names of all tools that can be used, sorted."""
        return [tool.name for tool in self.tools()]

    def tools(self) -> list[Tool]:
        """All tools that can be used, by name. Costs no process; what did not change is not read again."""
        return [entry for entry in self._reader.entries() if isinstance(entry, Tool)]

    def broken(self) -> list[Broken]:
        """Files that are no usable tools, with the reason; a tool that waits for `describe_missing` is among them."""
        return [entry for entry in self._reader.entries() if isinstance(entry, Broken)]

    def cards(self) -> list[ToolCard]:
        """What a plan shows of each tool."""
        return [self.presented(tool).card for tool in self.tools()]

    def presented(self, tool: Tool) -> Presented:
        """What is shown of a tool of this library, made once for each."""
        known = self._presented.get(tool.name)
        if known is None or known.tool is not tool:
            public = tool.model_copy(update={"layer": "public"})
            known = self._presented[tool.name] = Presented(tool, tool.card, public)
        return known

    def index(self) -> BM25Retriever:
        """An index over the cards. A large library's is kept beside it, where that can be written."""
        cards = self.cards()
        index = BM25Retriever.open(self.path / INDEX, cards)
        if index.made_anew > max(KEPT_FROM, len(cards) // 10):
            with contextlib.suppress(OSError):
                index.save(self.path / INDEX)
        return index

    def get(self, name: str) -> Tool | None:
        """The tool called `name`, or that had replaced the one of this name; None when there is none to be used."""
        if not is_plain(name):
            return None
        entry = self._reader.entry(f"{name}.py")
        if entry is None:  # a file with an odd name is known to models under another one
            return self._reader.by_other_name(name)
        return entry if isinstance(entry, Tool) else None

    def entry(self, name: str) -> Tool | Broken | None:
        """What the file of this very name holds; None when there is no such file."""
        return self._reader.entry(f"{name}.py") if is_plain(name) else None

    def aliases(self) -> list[str]:
        """Old names under which tools can be used as well, sorted."""
        return sorted({name for tool in self.tools() for name in tool.manifest.aliases} - set(self.names()))

    def find_request(self, request_key: str) -> Tool | None:
        """The tool that was built for this very request, if it is here."""
        return next((tool for tool in self.tools() if tool.manifest.request_key == request_key), None)

    def retired(self) -> list[tuple[Tool, list[RecordedCall]]]:
        """Tools that were taken out of use, by name, each with its recorded calls."""
        return [(one.tool, one.records()) for one in set_aside(self.path, places=("retired",))]

    def records(self, name: str, version: str | None = None) -> list[RecordedCall]:
        """The recorded calls of tool `name`, oldest first; those of one version only if it is given."""
        if not is_plain(name):
            return []
        return [call for call in self.store.read(name) if version in (None, call.version)]

    def content(self, digest: str) -> bytes | None:
        """The content of a recorded file."""
        return self.store.content(digest)

    def _manifest_path(self, name: str) -> Path:
        return self.path / f"{name}.json"

    # --- writing -------------------------------------------------------------------------------------------------

    def reserve(self, name: str) -> AbstractContextManager[str]:
        """A free name for a tool called `name`, this caller's alone until the block ends (`places.reserved_name`)."""
        return reserved_name(self.path, name, self._is_taken)

    def aside(self) -> AbstractContextManager[Path]:
        """A folder of one's own inside the library, for what is not a tool yet (`places.aside_folder`)."""
        return aside_folder(self.path)

    def aside_root(self) -> Path:
        """The folder that such folders lie in. Raises OSError when the library cannot be written."""
        return aside_root(self.path)

    def add(
        self,
        source: str,
        description: Description,
        contract: Contract,
        *,
        name: str,
        origin: Origin | None = None,
        aliases: Mapping[str, Alias] = MappingProxyType({}),
    ) -> Tool:
        """Put a new tool under `name` (from `reserve`). Raises FileExistsError when the name is taken after all."""
        if not is_plain(name):
            raise ValueError(f"{name!r} cannot be a tool's name")
        manifest = Manifest.of(source, description, contract, name=name, origin=origin or Origin(), aliases=aliases)
        with writer_lock(self.path):
            if self._is_taken(name):
                raise FileExistsError(f"tool {name} is already in the library")
            # The manifest first: without a source it means nothing, so the tool appears whole with one rename.
            atomic_write(self._manifest_path(name), as_kept(manifest))
            atomic_write(self.path / f"{name}.py", source)
        return self._must_get(name)

    def replace(
        self, name: str, source: str, description: Description, contract: Contract, *, origin: Origin | None = None
    ) -> Tool:
        """Put a better version in the place of tool `name`, by one rename; the old version goes into the archive."""
        with writer_lock(self.path):
            old = self._must_get(name)
            manifest = Manifest.of(source, description, contract, name=name, origin=origin or Origin(), after=old)
            self._keep_in_archive(old, f"replaced by {manifest.version}")
            manifest = manifest.model_copy(update={"nth": next_nth(self.path, name, manifest.version)})
            # Written before the source, and holding the old description too: at every moment one of both fits.
            atomic_write(self._manifest_path(name), as_kept(manifest))
            atomic_write(old.path, source)
            return self._must_get(name)

    def archive(self, name: str, reason: str) -> Path:
        """Set tool `name` aside with the reason; its records go with it. Returns where its source now lies."""
        with writer_lock(self.path):
            tool = self._must_get(name)
            kept = self._keep_in_archive(tool, reason)
            with contextlib.suppress(FileNotFoundError):
                self.store.path(name).replace(kept.with_suffix(".records.jsonl"))
            tool.path.unlink()
            self._manifest_path(name).unlink(missing_ok=True)
        return kept

    def record(self, invocation: Invocation, *, workspace: Path, files: Sequence[Path] = ()) -> RecordedCall:
        """Record one call, with the task files that it opened. Recorded again, it keeps those and takes the verdict.

        Never raises for a file that cannot be kept: the record then says why it cannot be replayed. Raises OSError
        only when the record itself cannot be written.
        """
        if not is_plain(invocation.tool):
            raise ValueError(f"{invocation.tool!r} cannot be a tool's name")
        known = next((r for r in self.store.read(invocation.tool) if r.call_id == invocation.call_id), None)
        if known is not None and known.verdict == invocation.verdict:
            return known  # a task that was killed behind it goes on
        with writer_lock(self.path):
            if known is not None:
                call = known.model_copy(update={"verdict": invocation.verdict})
            else:
                call, contents = recorded(invocation, workspace=workspace, files=files)
                call = self._with_files(call, contents)
            self.store.append(call)
            self._count(call, known)
        return call

    def keep_confirmed(self, name: str, calls: Sequence[RecordedCall], contents: Mapping[str, bytes]) -> None:
        """Record `calls` of tool `name` that no task made; `contents` are their files by digest. Raises OSError."""
        if not calls:
            return
        with writer_lock(self.path):
            for call in calls:
                self.store.append(self.store.bring(call.model_copy(update={"tool": name}), contents.get))

    async def describe_missing(self, describer: Describer) -> list[Tool]:
        """Ask `describer` for the schemas of tools that lie here without a manifest of theirs; each is asked once.

        What cannot be described stays among `broken`, with the reason; all of these are logged. A library that cannot
        be written is used all the same; its tools are asked again next time.
        """
        files = [broken.file for broken in self.broken() if broken.reason == UNDESCRIBED]
        found = await side_by_side(files, lambda _, file: self._describe(file, describer), 4)
        for broken in self.broken():
            log.warning("%s in library %s is passed over: %s", broken.file, self.path, broken.reason)
        return [tool for tool in found if tool is not None]

    async def _describe(self, file: str, describer: Describer) -> Tool | None:
        name, path = file.removesuffix(".py"), self.path / file
        stamp = self._reader.stamp(file) or ()
        try:
            source = read_plain(path).decode("utf-8")
            contract = read_contract(source)
        except (OSError, UnicodeDecodeError, ContractError):  # taken away or changed since we looked
            return None
        description = await describer.describe(Runnable(name, path, contract.requirements))
        if isinstance(description, CallError):
            self._reader.know(file, self._reader.stamp(file) or (), Broken(file, description.message))
            return None
        manifest = Manifest.of(source, description, contract, name=name, origin=Origin(how="adopted"))
        try:
            with writer_lock(self.path):
                atomic_write(self._manifest_path(name), as_kept(manifest))
            self._reader.forget(file)
        except OSError as error:
            log.warning("library %s: what %s says of itself cannot be kept: %s", self.path, file, error.strerror)
            self._reader.know(file, stamp, Tool(name=name, path=path, manifest=manifest))
        return self.get(name)

    def _is_taken(self, name: str) -> bool:
        return os.path.lexists(self.path / f"{name}.py")

    def _with_files(self, call: RecordedCall, contents: Mapping[str, bytes]) -> RecordedCall:
        try:
            digests, why_not = self.store.keep(contents)
        except OSError as error:
            digests, why_not = {}, f"its files could not be kept: {error.strerror}"
        return call.model_copy(update={"files": digests, "why_not": call.why_not or why_not})

    def _count(self, call: RecordedCall, known: RecordedCall | None) -> None:
        tool = self.get(call.tool)
        if tool is None or tool.alias is not None or tool.version != call.version:
            return
        counters = dict(tool.manifest.counters)
        if known is None:
            counters["calls"] = counters.get("calls", 0) + 1
        elif known.verdict:
            counters[known.verdict] = max(counters.get(known.verdict, 0) - 1, 0)
        if call.verdict:
            counters[call.verdict] = counters.get(call.verdict, 0) + 1
        manifest = tool.manifest.model_copy(update={"counters": counters, "before": None})
        atomic_write(self._manifest_path(call.tool), as_kept(manifest), durable=False)

    def _keep_in_archive(self, tool: Tool, reason: str) -> Path:
        folder = self.path / "archive"
        folder.mkdir(parents=True, exist_ok=True)
        kept = folder / f"{tool.name}.{tool.manifest.identity}.py"
        manifest = tool.manifest.model_copy(update={"reason": reason, "before": None})
        atomic_write(kept, tool.path.read_bytes())
        atomic_write(kept.with_suffix(".json"), as_kept(manifest))
        return kept

    def _must_get(self, name: str) -> Tool:
        tool = self.get(name)
        if tool is None:
            raise KeyError(f"no usable tool {name} in the library")
        return tool


def as_kept(manifest: Manifest) -> bytes:
    """A manifest as a library keeps it: without secrets, with its checksum."""
    return sealed(MASKER.document(dump(manifest).encode("utf-8", "surrogatepass")))


def dump(manifest: Manifest) -> str:
    """A manifest as it is handed on."""
    return json.dumps(manifest.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n"
