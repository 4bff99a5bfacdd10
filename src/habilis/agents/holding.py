"""What a task has to hold an answer against: its log of calls, its files, what the user said."""

from __future__ import annotations

from langchain_core.messages import ToolMessage

from habilis import rules
from habilis.agents.recorded import folders_of, told_with
from habilis.agents.state import TaskState, unpacked
from habilis.context.presets import ASK_USER
from habilis.context.task import TaskContext


def evidence_of(answer: str, state: TaskState, ctx: TaskContext) -> rules.Evidence:
    """What `answer` is held against: the log of calls, the files that this question brought, what the user said."""
    task, calls = ctx.task, [unpacked(raw, ctx.tape) for raw in state.get("calls", [])]
    before = set(task.earlier.files) if task.earlier else set()  # read then, or need not be now
    said = [str(m.content) for m in state.get("messages", []) if isinstance(m, ToolMessage) and m.name == ASK_USER]
    return rules.Evidence(
        answer=answer,
        question=task.question,
        calls=calls,
        attempt=state["attempt"],
        files=[file for file in task.files if file.path not in before],
        known=[*said, *told_with(task)],
        begins=[str(file["begins"]) for file in ctx.files_view if file["begins"]],
        folders=folders_of(task),
        unseen=frozenset(name for name in {call.tool for call in calls} if _reads_unseen(name, ctx)),
    )


def _reads_unseen(name: str, ctx: TaskContext) -> bool:
    """Whether no record tells which files a call of tool `name` opened."""
    if ctx.presets.has(name) or ctx.external.get(name) is not None:
        return True
    tool = ctx.library.get(name)
    return tool is not None and bool(tool.requirements)
