"""Tools of a library called for another program: sandboxed, warm, and given nothing that settings do not give."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from habilis.config import Settings
from habilis.contract.taskfiles import link_into
from habilis.core.types import CallError, CallOutcome, TaskFile
from habilis.library import Library, Tool
from habilis.runtime.calls import CallSpec
from habilis.runtime.grants import Grants
from habilis.runtime.host import ToolHost
from habilis.sandbox.processes.temporary import new_folder
from habilis.sandbox.processes.walking import remove

log = logging.getLogger(__name__)


class Caller:
    """Runs tools of `library` in `workspace`, a folder of its own if none is given, with `files` to read.

    Nobody is there to be asked, so settings alone decide what a tool is given. Close it when done.
    """

    def __init__(
        self,
        library: Library,
        settings: Settings,
        *,
        workspace: Path | None = None,
        files: Sequence[TaskFile] = (),
        names: Sequence[str] = (),
        host: ToolHost | None = None,
    ) -> None:
        self.library, self._settings, self._names = library, settings, frozenset(names)
        self._own = new_folder("calls")
        self._workspace = workspace.resolve() if workspace is not None else self._own.resolve()
        self._files = [Path(file.path) for file in files]
        link_into(self._workspace, files)
        self._grants = Grants(settings.capabilities, env_allow=settings.sandbox.env_allow, files=self._files)
        self._host = host or ToolHost.of(settings)
        self._left_out: set[str] = set()

    async def start(self) -> None:
        """Get ready for calls in the background. Raises `SandboxUnavailable` where no tool may be run."""
        await self._host.level()
        self._host.start(self._workspace, self._files)

    def tools(self) -> list[Tool]:
        """The tools that can be called here, by name; those left out are named in the log, once, with the reason."""
        found = []
        for tool in self.library.tools():
            if self._names and tool.name not in self._names:
                continue
            missing = self.missing(tool)
            if missing and tool.version not in self._left_out:
                self._left_out.add(tool.version)
                log.warning("%s is left out: %s", tool.name, "; ".join(missing))
            if not missing:
                found.append(tool)
        return found

    def missing(self, tool: Tool) -> tuple[str, ...]:
        """Why `tool` cannot work here, whatever it is called with."""
        refusal = self._host.refusal(tool.requirements)
        return ((refusal,) if refusal else ()) + self._grants.missing(tool)

    def get(self, name: str) -> Tool | None:
        """The tool called `name`, by an old name too, if it is one of those that may be called."""
        tool = self.library.get(name)
        allowed = tool is not None and (not self._names or tool.manifest.name in self._names)
        return tool if allowed else None

    async def call(self, tool: Tool, arguments: Mapping[str, Any]) -> CallOutcome:
        """One call. Never raises for a tool's failure; cancellation ends its processes."""
        if faults := self._grants.faults_of(tool):
            text = f"not started, it holds what no tool should: {'; '.join(faults)}"
            return CallOutcome(error=CallError(kind="denied", message=text), refused=faults)
        grant = await self._grants.of(tool)
        return await self._host.call(
            CallSpec(
                tool.runnable,
                arguments,
                workspace=self._workspace,
                files=self._files,
                timeout_s=grant.timeout_s,
                grant=grant,
            )
        )

    async def aclose(self) -> None:
        """End all that runs, and remove the working folder if it is one of our own."""
        await self._host.aclose()
        remove(self._own)
