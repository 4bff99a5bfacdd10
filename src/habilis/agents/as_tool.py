"""Another team as a tool: a question for it in words, its answer back, its cost in the budget of who asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.core.errors import PlaceError, UserError
from habilis.core.ports import ExternalTool
from habilis.core.types import CallOutcome, Effects, Task, ToolSpec
from habilis.sources.foreign.answers import failed
from habilis.sources.foreign.apart import TOO_DEEP, apart, too_deep
from habilis.sources.foreign.presenting import version_of

if TYPE_CHECKING:
    from habilis.agents.team import Team

_SCHEMA = {
    "type": "object",
    "properties": {"question": {"type": "string", "description": "the whole question, with all that it needs"}},
    "required": ["question"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class TeamTool:
    """The ports `ToolSource` and `ExternalTool` over one team. It works in runs of its own, and on no file of the task.

    Its own limits bound each question; what it cost counts into the budget of the task that asked, once it is done.
    """

    team: Team
    name: str
    description: str
    effects: Effects = "writes"

    async def open(self) -> Sequence[ExternalTool]:
        return [self]

    async def aclose(self) -> None:
        """There is nothing to close: a team closes what it opened with each of its tasks."""

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(name=self.name, description=self.description, parameters=_SCHEMA)

    @property
    def version(self) -> str:
        return version_of(self.spec.model_dump(), "team")

    def missing(self) -> tuple[str, ...]:
        return ()

    async def call(self, arguments: Mapping[str, Any], *, workspace: Path) -> CallOutcome:
        if too_deep():
            return TOO_DEEP
        # A task, not words: a path that a model wrote into its question must not become a file of the task.
        task = Task(id="task", question=str(arguments["question"]))
        try:
            result = await apart(self.team.run(task))
        except UserError as error:
            return failed("unavailable", f"the team could not begin: {error}")
        if result.status == "answered":
            answer = result.final_answer if result.answer_data is None else result.answer_data
            return CallOutcome(output=answer, usage=result.usage)
        if result.status == "environment_error":
            raise PlaceError(result.error or "this machine failed")
        told = f"the team found no answer ({result.status}: {result.error or 'no reason given'})"
        best = f"; its best text: {result.final_answer}" if result.final_answer else ""
        return failed("unavailable", told + best).model_copy(update={"usage": result.usage})
