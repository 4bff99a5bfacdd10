"""The curator's gates as a change by hand uses them: a host, a staging place, tools run as replays run them."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from habilis.config import Settings
from habilis.contract.records import RecordedCall
from habilis.library import LayeredLibrary, Library, Tool
from habilis.prompts import Prompts
from habilis.runtime.grants import Grants
from habilis.runtime.host import ToolHost
from habilis.runtime.packages.environments import Environments
from habilis.synthesis.gate import Gate, Passed, Predecessor, Wanted
from habilis.synthesis.replay import Replayer


@dataclass(frozen=True)
class Gates:
    """What tools are tried with. `view` shows what is staged over the library."""

    host: ToolHost
    view: LayeredLibrary
    grants: Grants
    replayer: Replayer
    gate: Gate
    prompts: Prompts

    @property
    def staging(self) -> Path:
        return self.view.private.path

    async def passes(self, tool: Tool, name: str, records: Sequence[RecordedCall]) -> Passed:
        """`tool` as it passes the gate again, with its recorded good calls. Raises `Rejected`."""
        good = tuple(record for record in records if record.verdict == "success")
        return await self.gate.check(tool.source(), Wanted(name, sources=(Predecessor(tool, good),)))


@contextlib.asynccontextmanager
async def gates(library: Library, folder: Path, settings: Settings, host: ToolHost | None) -> AsyncIterator[Gates]:
    """Gates over `library` with `folder` for staging, which is emptied before and gone afterwards."""
    shutil.rmtree(folder, ignore_errors=True)
    staging = folder / "library"
    staging.mkdir(parents=True)
    own = host or make_host(settings)
    prompts = Prompts(settings.prompts_dir)
    grants = Grants(settings.capabilities, env_allow=settings.sandbox.env_allow)
    view = LayeredLibrary(Library(staging), library)
    replayer = Replayer(own, view, None, prompts, live=False)
    try:
        own.start_trials(view.private.aside_root())
        yield Gates(own, view, grants, replayer, Gate(own, view, replayer, grants), prompts)
    finally:
        if host is None:
            await own.aclose()
        shutil.rmtree(folder, ignore_errors=True)


def make_host(settings: Settings) -> ToolHost:
    """A host as single tasks have one."""
    tools = Environments.of(settings.tools)
    return ToolHost(settings.sandbox, environments=tools, upstream=settings.capabilities.proxy)
