"""The text and the passages of documents, made inside the sandbox: by libraries of HTML and PDF, of long texts by us.

A document may have been made to break its reader. So readers run where tools run: no network, nothing to write, bounded
in time and memory. What one document does to its reader costs that document alone.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from habilis.config import SandboxSettings
from habilis.core.place import raise_place
from habilis.core.ports import Sandbox, SandboxExit, SandboxJob, SandboxLimits
from habilis.core.types import Frozen
from habilis.sandbox.backends.probing import choose
from habilis.sandbox.processes.interpreter import FIXED_VARIABLES, FLAGS, compiled, python
from habilis.sandbox.processes.temporary import temporary
from habilis.sources.documents.chunks import Chunk

Kind = Literal["text", "markdown", "html", "page", "pdf"]
"""`html`: all of a document's text; `page`: what a page of the web is about, menus and the like left out."""

_GUEST = Path(__file__).with_name("guest.py")
_OURS = (
    *("habilis.messages.truncation", "habilis.sources.documents.decoding", "habilis.sources.documents.blocks"),
    *("habilis.sources.documents.chunks", "habilis.sources.documents.passages"),
)
"""Modules of ours that the guest loads, each after those that it imports."""
_NEEDS: dict[Kind, tuple[str, str]] = {
    "html": ("lxml", "documents"),
    "page": ("trafilatura", "web"),
    "pdf": ("pypdf", "documents"),
}
_BATCH, _BATCH_BYTES = 32, 32 << 20
_LIMITS = SandboxLimits(wall_s=40, cpu_s=40, memory_bytes=1 << 30, output_bytes=64 << 20, processes=8)
"""Of a batch; each document adds its own time, each byte of them to time, memory and output."""
_EACH_S, _MEGABYTE_S = 20.0, 2.0
_MEMORY_EACH, _OUTPUT_EACH = 8, 4
_MOST_S = 600.0


@dataclass(frozen=True)
class Raw:
    """One document: its kind, its bytes, the encoding that whoever sent it declared, and how many tokens a passage of
    it has; with 0 its text is wanted as it is."""

    kind: Kind
    content: bytes
    declared: str | None = None
    passage_tokens: int = 0


class Part(Frozen):
    """Text of a document in Markdown. `page` counts from 1 where there are pages."""

    text: str
    page: int | None = None


class Extracted(Frozen):
    """What was in a document, as parts or passages, or why it could not be read; `ours`: that is no fault of the
    document's."""

    parts: tuple[Part, ...] = ()
    passages: tuple[Chunk, ...] = ()
    title: str = ""
    problem: str = ""
    note: str = ""
    ours: bool = False


class Extractor:
    """Takes the text out of documents. Keeps nothing running between two calls. `each_s`: seconds that a document has,
    and some more for each of its megabytes."""

    def __init__(
        self,
        settings: SandboxSettings,
        notice: Callable[[str], None],
        *,
        sandbox: Sandbox | None = None,
        each_s: float = _EACH_S,
    ) -> None:
        self._settings, self._notice, self._sandbox, self._each_s = settings, notice, sandbox, each_s

    @staticmethod
    def absent(kind: Kind) -> str | None:
        """Why documents of `kind` cannot be read by this installation; None when they can."""
        module, extra = _NEEDS.get(kind, ("json", ""))
        if importlib.util.find_spec(module) is not None:
            return None
        return f"needs {module}: install habilis[{extra}]"

    async def extract(self, documents: Sequence[Raw]) -> list[Extracted]:
        """The text of each document, in their order. A failure is a value; cancelled, nothing is left running."""
        found: list[Extracted] = []
        for batch in _batches(documents):
            found += await self._some(batch)
        return found

    async def _some(self, documents: Sequence[Raw]) -> list[Extracted]:
        absent = {d.kind: reason for d in documents if (reason := self.absent(d.kind))}
        present = [d for d in documents if d.kind not in absent]
        done = iter(await self._confined(present) if present else ())
        return [Extracted(problem=absent[d.kind], ours=True) if d.kind in absent else next(done) for d in documents]

    async def _confined(self, documents: Sequence[Raw]) -> list[Extracted]:
        """Read `documents` in one reader, and what one of them kept it from reading in another."""
        found: list[Extracted] = []
        while left := documents[len(found) :]:
            try:
                ended = await self._ran(left)
            except OSError as error:
                raise_place(error)
                problem = Extracted(problem=f"its reader could not be started: {error}", ours=True)
                return [*found, *[problem] * len(left)]
            read = _read(ended, len(left))
            found += read
            if len(read) < len(left) and (not read or _WATCH in ended.printed):
                found.append(Extracted(problem=_ending(ended)))
        return found

    async def _ran(self, documents: Sequence[Raw]) -> SandboxExit:
        self._sandbox = sandbox = self._sandbox or await choose(self._settings, self._notice)
        with temporary("documents") as folder:
            return await sandbox.run(_job(documents, folder, self._each_s))


def _batches(documents: Sequence[Raw]) -> list[list[Raw]]:
    batches: list[list[Raw]] = []
    room = 0
    for document in documents:
        if not batches or len(batches[-1]) == _BATCH or room < len(document.content):
            batches.append([])
            room = _BATCH_BYTES
        batches[-1].append(document)
        room -= len(document.content)
    return batches


def _job(documents: Sequence[Raw], workspace: Path, each_s: float) -> SandboxJob:
    sites, modules = _sites(documents), _modules()
    times = [each_s + _MEGABYTE_S * len(document.content) / (1 << 20) for document in documents]
    head = {
        "packages": [str(site) for site in sites],
        "modules": {name: str(path) for name, path in modules.items()},
        "documents": [
            {
                "kind": document.kind,
                "bytes": len(document.content),
                "declared": document.declared,
                "size": document.passage_tokens,
                "seconds": seconds,
            }
            for document, seconds in zip(documents, times, strict=True)
        ],
    }
    seconds = min(_LIMITS.wall_s + sum(times), max(_MOST_S, _LIMITS.wall_s + max(times)))
    size = sum(len(document.content) for document in documents)
    return SandboxJob(
        argv=[str(python()), *FLAGS, str(compiled(_GUEST))],
        request=json.dumps(head).encode() + b"\n" + b"".join(document.content for document in documents),
        workspace=workspace,
        read_only=(compiled(_GUEST), *modules.values(), *sites),
        env=FIXED_VARIABLES,
        limits=SandboxLimits(
            wall_s=seconds,
            cpu_s=int(seconds),
            memory_bytes=_LIMITS.memory_bytes + _MEMORY_EACH * size,
            output_bytes=_LIMITS.output_bytes + _OUTPUT_EACH * size,
            processes=_LIMITS.processes,
        ),
    )


def _modules() -> dict[str, Path]:
    """Modules of ours by name, each as one file that can be laid into the sandbox."""
    origins = {name: getattr(importlib.util.find_spec(name), "origin", None) for name in _OURS}
    return {name: compiled(Path(origin)) for name, origin in origins.items() if origin}


def _sites(documents: Sequence[Raw]) -> list[Path]:
    """The folders that the libraries lie in."""
    found: dict[Path, None] = {}
    for module in dict.fromkeys(_NEEDS[one.kind][0] for one in documents if one.kind in _NEEDS):
        spec = importlib.util.find_spec(module)
        if spec is not None and spec.origin:
            found[Path(spec.origin).resolve().parents[1]] = None
    return list(found)


def _read(ended: SandboxExit, count: int) -> list[Extracted]:
    """The documents that were read before the reader ended, each line of the reply checked like any input."""
    found: list[Extracted] = []
    for line in (ended.reply or b"").split(b"\n")[:-1][:count]:
        try:
            found.append(Extracted.model_validate(json.loads(line)))
        except (ValueError, TypeError, RecursionError):
            break
    return found


_WATCH = "Timeout ("
"""What the guest's own watch over a single document prints when it ends the reader."""


def _ending(ended: SandboxExit) -> str:
    if ended.timed_out or _WATCH in ended.printed:
        return "its reader took too long"
    if ended.stopped == "memory" or "MemoryError" in ended.printed:
        return "its reader needed too much memory"
    if ended.over_output:
        return "it holds too much text"
    return "it is broken, its reader gave up"
