"""The text of HTML and PDF documents, taken out by libraries that work inside the sandbox.

A page or a PDF may have been made to break its reader. So the readers run where tools run: no network, nothing to
write, bounded in time and memory. What one document does to its reader costs that document alone.
"""

from __future__ import annotations

import importlib.util
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from habilis.config import SandboxSettings
from habilis.core.errors import SandboxUnavailable
from habilis.core.ports import Sandbox, SandboxExit, SandboxJob, SandboxLimits
from habilis.core.types import Frozen
from habilis.tools.sandbox.interpreter import FIXED_VARIABLES, FLAGS, compiled, python
from habilis.tools.sandbox.probing import choose

Kind = Literal["html", "page", "pdf"]
"""`html`: all of a document's text; `page`: what a page of the web is about, menus and the like left out."""

_GUEST = Path(__file__).with_name("guest.py")
_NEEDS: dict[Kind, tuple[str, str]] = {
    "html": ("lxml", "documents"),
    "page": ("trafilatura", "web"),
    "pdf": ("pypdf", "documents"),
}
_BATCH, _BATCH_BYTES = 32, 32 << 20
_LIMITS = SandboxLimits(wall_s=60, cpu_s=60, memory_bytes=1 << 30, output_bytes=64 << 20, processes=8)
_EACH_S = 20.0


@dataclass(frozen=True)
class Raw:
    """One document: its kind and its bytes; of HTML, UTF-8 whatever it says of itself."""

    kind: Kind
    content: bytes


class Part(Frozen):
    """Text of a document in Markdown. `page` counts from 1 where there are pages."""

    text: str
    page: int | None = None


class Extracted(Frozen):
    """What was in a document, or why it could not be read; `ours`: that is no fault of the document's."""

    parts: tuple[Part, ...] = ()
    title: str = ""
    problem: str = ""
    note: str = ""
    ours: bool = False


class Extractor:
    """Takes the text out of documents. Keeps nothing running between two calls."""

    def __init__(
        self, settings: SandboxSettings, notice: Callable[[str], None], *, sandbox: Sandbox | None = None
    ) -> None:
        self._settings, self._notice, self._sandbox = settings, notice, sandbox

    @staticmethod
    def absent(kind: Kind) -> str | None:
        """Why documents of `kind` cannot be read by this installation; None when they can."""
        module, extra = _NEEDS[kind]
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
        try:
            sandbox = self._sandbox or await choose(self._settings, self._notice)
            self._sandbox = sandbox
            with tempfile.TemporaryDirectory(prefix="habilis-documents-") as folder:
                ended = await sandbox.run(_job(documents, Path(folder)))
        except (SandboxUnavailable, OSError) as error:
            problem = Extracted(problem=f"its reader could not be started: {error}", ours=True)
            return [problem] * len(documents)
        found = _read(ended, len(documents))
        if found is not None:
            return found
        if len(documents) == 1:
            return [Extracted(problem=_ending(ended))]
        return [one for document in documents for one in await self._confined([document])]


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


def _job(documents: Sequence[Raw], workspace: Path) -> SandboxJob:
    sites = _sites(documents)
    head = {
        "packages": [str(site) for site in sites],
        "documents": [{"kind": document.kind, "bytes": len(document.content)} for document in documents],
    }
    seconds = min(_LIMITS.wall_s + _EACH_S * (len(documents) - 1), 600.0)
    return SandboxJob(
        argv=[str(python()), *FLAGS, str(compiled(_GUEST))],
        request=json.dumps(head).encode() + b"\n" + b"".join(document.content for document in documents),
        workspace=workspace,
        read_only=(compiled(_GUEST), *sites),
        env=FIXED_VARIABLES,
        limits=SandboxLimits(
            wall_s=seconds,
            cpu_s=int(seconds),
            memory_bytes=_LIMITS.memory_bytes,
            output_bytes=_LIMITS.output_bytes,
            processes=_LIMITS.processes,
        ),
    )


def _sites(documents: Sequence[Raw]) -> list[Path]:
    """The folders that the libraries lie in."""
    found: dict[Path, None] = {}
    for module in dict.fromkeys(_NEEDS[document.kind][0] for document in documents):
        spec = importlib.util.find_spec(module)
        if spec is not None and spec.origin:
            found[Path(spec.origin).resolve().parents[1]] = None
    return list(found)


def _read(ended: SandboxExit, count: int) -> list[Extracted] | None:
    """The reply, checked like any input; None when it is not whole."""
    try:
        rows = json.loads(ended.reply or b"")
        found = [Extracted.model_validate(row) for row in rows]
    except (ValueError, TypeError, ValidationError, RecursionError):
        return None
    return found if len(found) == count else None


def _ending(ended: SandboxExit) -> str:
    if ended.timed_out:
        return "its reader took too long"
    if ended.stopped == "memory" or "MemoryError" in ended.printed:
        return "its reader needed too much memory"
    if ended.over_output:
        return "it holds too much text"
    return "it is broken, its reader gave up"
