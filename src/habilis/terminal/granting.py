"""What tools may have beside their task's files, at the command line: asked of the person, or said with --grant."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from habilis.config import Settings
from habilis.contract.capabilities import Capabilities, Grant
from habilis.core.types import GrantRequest
from habilis.runtime.grants import Grants
from habilis.runtime.host import ToolHost
from habilis.terminal.asking import TerminalAsker
from habilis.terminal.wording import one_line, plain

YES, NO = {"y", "yes"}, {"n", "no"}


class TerminalGranter:
    """Asks at the terminal: yes, no, or the end of input, which counts as no and is asked again after a resume."""

    def __init__(self, asker: TerminalAsker) -> None:
        self._asker = asker

    async def grant(self, request: GrantRequest) -> bool | None:
        """Raises `Interrupted` on Ctrl-C."""
        question = f"{question_of(request)} [yes/no]"
        while True:
            said = await self._asker(question)
            if said is None:
                return None
            if said.lower() in YES | NO:
                return said.lower() in YES


def at_terminal() -> bool:
    """Whether a person is there to be asked."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def question_of(request: GrantRequest) -> str:
    """The question. What the tool says of itself is quoted, and short; what it asks for is shown to its end."""
    about = f' ("{one_line(request.description, 100)}")' if request.description else ""
    wanted = plain(", ".join(" ".join(need.split()) for need in request.needs))
    return f"The tool {one_line(request.tool, 80)}{about} asks for: {wanted}. Allow it for this task?"


class Walls:
    """The host that runs calls by hand, and what it gives to their tools: by settings, and what --grant adds."""

    def __init__(self, settings: Settings, by_hand: Mapping[str, Any], files: Sequence[Path], *, ask: bool) -> None:
        """`by_hand` is what `callargs.read_grants` read. Raises `UserError` for what settings name and is none."""
        self._settings, self._by_hand = settings, by_hand
        self.grants: Grants = Grants(
            _with(settings, by_hand),
            env_allow=(*settings.sandbox.env_allow, *by_hand.get("env", ())),
            files=files,
            granter=TerminalGranter(TerminalAsker(None)) if ask else None,
        )

    def host(self, warn: Any) -> ToolHost:
        """A host as a task has one."""
        return ToolHost.of(self._settings, notice=warn, inspect_https=self._settings.capabilities.inspect_https)

    async def grant(self, name: str, version: str, needs: Capabilities) -> Grant:
        """What a tool is given. Paths said by hand may come to it as arguments, and limits are no need of its own, so
        these it gets unasked; of hosts and variables it gets those that it asks for."""
        given = await self.grants.decide(name, version, needs)
        hand = self._by_hand
        return given.model_copy(
            update={
                "read": tuple(dict.fromkeys([*given.read, *hand.get("read", ())])),
                "timeout_s": hand.get("timeout", given.timeout_s),
                "memory_mb": hand.get("memory", given.memory_mb),
            }
        )

    def unused(self, needs: Sequence[Capabilities]) -> list[str]:
        """Variables that were granted by hand and that no tool asks for."""
        wanted = {name for one in needs for name in one.env}
        return [name for name in self._by_hand.get("env", ()) if name not in wanted]


def _with(settings: Settings, by_hand: Mapping[str, Any]) -> Any:
    """The rules of `settings` with what is granted by hand on their lists: then nobody is asked about hosts."""
    rules = settings.capabilities
    more: dict[str, Any] = {}
    if hosts := by_hand.get("network"):
        listed = () if rules.network == "deny" else rules.network_list
        more |= {"network": "any" if rules.network == "any" else "listed", "network_list": (*listed, *hosts)}
    if paths := by_hand.get("read"):
        more |= {"read_list": (*rules.read_list, *paths)}
    if by_hand.get("subprocess"):
        more |= {"subprocess": "allow"}
    return rules.model_copy(update=more)
