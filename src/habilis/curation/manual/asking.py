"""Asking a model for calls of a tool that gave nothing on all that could be made without one: once for each tool."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from habilis.config import Settings
from habilis.contract.aliases import untitled
from habilis.contract.expectations import read_calls
from habilis.core.errors import BudgetReached, ModelReplyUnusable, ModelUnreachable, UserError, WriterFailed
from habilis.core.types import Usage
from habilis.inputs.relations import Given
from habilis.library import Tool
from habilis.models.providers import plays_offline
from habilis.prompts import Prompts
from habilis.synthesis.replay import compact
from habilis.synthesis.writers import ModelWriter

if TYPE_CHECKING:
    from habilis.models.chat import Models
    from habilis.models.client import Factory

MOST_CALLS = 4
SHOWN_CODE, SHOWN_SCHEMA, SHOWN_PROBLEM = 12_000, 4_000, 500
"""Characters of a tool that the model is shown."""


class CallAsker:
    """The builder model, where one is set: the offline demonstration model is not asked.

    It is made with the first question, within `limits.max_tokens` and `limits.max_cost` for all of them. Once it cannot
    be had it is asked no more, and `problem` says why. `asked` counts the tools, `usage` what they cost.
    """

    def __init__(self, settings: Settings, folder: Path, clients: Factory | None = None) -> None:
        self._settings, self._folder, self._clients = settings, folder, clients
        self._models: Models | None = None
        self.asked, self.problem = 0, ""

    @property
    def usage(self) -> Usage:
        return self._models.usage if self._models is not None else Usage()

    async def calls(self, tool: Tool, source: str, problem: str) -> list[Given]:
        """Calls that may give a result, none where no model can be asked. `problem`: why the others gave none."""
        if self.problem or (self._clients is None and plays_offline(self._settings.models.role("builder"))):
            return []
        prompt = Prompts(self._settings.prompts_dir).render(
            "calls",
            name=tool.name,
            code=source.strip()[:SHOWN_CODE],
            input_schema=compact(untitled(tool.input_schema), SHOWN_SCHEMA),
            problem=problem[:SHOWN_PROBLEM],
        )
        try:
            models = self._models = self._models or self._made()
            self.asked += 1
            reply = await ModelWriter(models).write(prompt.system, prompt.user, purpose="calls")
        except (ModelUnreachable, BudgetReached, UserError) as error:
            self.problem = str(error)
            return []
        except (ModelReplyUnusable, WriterFailed):
            return []
        said = read_calls(reply)[:MOST_CALLS]
        return [
            Given(one.arguments, {n: text.encode("utf-8", "replace") for n, text in one.files.items()}) for one in said
        ]

    def _made(self) -> Models:
        from habilis.models.chat import Models
        from habilis.models.tape import Tape
        from habilis.models.usage import Budget

        limits = self._settings.limits
        return Models(
            self._settings.models,
            limits=limits,
            tape=Tape(self._folder / "tape.jsonl"),
            emit=lambda event: None,
            budget=Budget(limits.max_tokens, max_cost=limits.max_cost),
            clients=self._clients,
        )

    async def aclose(self) -> None:
        if self._models is not None:
            await self._models.aclose()
