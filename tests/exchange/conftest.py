"""Libraries to hand on and take over, made with the host that runs tools in this process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from habilis.config import Settings
from habilis.core.types import CallOutcome, Invocation
from habilis.exchange.exporting import Exporter
from habilis.exchange.importing import Importer
from habilis.exchange.reports import ExportReport, ImportReport
from habilis.library import Library, Tool

Put = Callable[..., Awaitable[Tool]]

DOUBLE = "    return OutputModel(result=2 * input.number)"
TEXT = "    return OutputModel(result=open(input.path, encoding='utf-8').read().upper())"


class Exchange:
    """A place with a library `ours`, where things are imported and exported with a host in this process."""

    def __init__(self, home: Path, host: Any, put: Put, source: Callable[..., str]) -> None:
        self.home, self.host, self._put, self.source = home, host, put, source
        self.settings = Settings()
        self.ours = home / "ours"

    def double(self, name: str = "double_it", **more: Any) -> str:
        """The source of a tool that needs no file."""
        example = "'dependencies': [], 'examples': [{'arguments': {'number': 1}}]"
        given = {"body": DOUBLE, "fields": "    number: int", "meta": example} | more
        return self.source(name, **given)

    def shout(self, name: str = "shout") -> str:
        """The source of a tool that reads a text file."""
        example = "'dependencies': [], 'examples': [{'arguments': {'path': 'a.txt'}, 'files': {'a.txt': 'x'}}]"
        return self.source(name, body=TEXT, result="str | None", meta=example)

    async def has(self, source: str, name: str, library: Path | None = None, **origin: Any) -> Tool:
        """Put a tool straight into a library."""
        return await self._put(Library(library or self.ours), source, name, self.host, **origin)

    def called(self, tool: Tool, call_id: str, output: Any, library: Path | None = None, **arguments: Any) -> None:
        """Record a call of `tool` that succeeded, in `workspace`, where its files are."""
        self.workspace.mkdir(exist_ok=True)
        outcome = CallOutcome(output=output, level="bubblewrap")
        call = Invocation(
            call_id=call_id,
            tool=tool.name,
            version=tool.version,
            arguments=arguments,
            outcome=outcome,
            effects=tool.effects,
            verdict="success",
        )
        Library(library or self.ours).record(call, workspace=self.workspace)

    @property
    def workspace(self) -> Path:
        return self.home / "workspace"

    async def take(self, *sources: Path, into: Path | None = None, dry_run: bool = False) -> ImportReport:
        importer = Importer(into or self.ours, self.settings, self.host)
        return await importer.run(sources, dry_run=dry_run)

    async def give(self, kind: Any, target: Path, *, records: bool = True, **options: Any) -> ExportReport:
        exporter = Exporter(Library(self.ours), self.settings, self.host, records=records)
        return await exporter.export(kind, target, **options)

    def digests(self, library: Path) -> dict[str, str]:
        return {tool.name: tool.manifest.digest for tool in Library(library).tools()}


@pytest.fixture
def exchange(tmp_path: Path, in_process_host: Any, put_tool: Put, source_of: Callable[..., str]) -> Exchange:
    return Exchange(tmp_path, in_process_host, put_tool, source_of)
