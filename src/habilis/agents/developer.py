"""The tool developer: has the plan's tools built, all side by side, and binds what there is."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from habilis.agents.short_way import keep_first
from habilis.agents.state import TaskState
from habilis.agents.steps import step
from habilis.context.task import TaskContext
from habilis.core.types import Plan
from habilis.synthesis.outright import NOT_ONE_TOOL
from habilis.synthesis.smith import BuildFailure


@step
async def tool_developer(
    state: TaskState, runtime: Runtime[TaskContext]
) -> Command[Literal["executor", "integrator", "manager"]]:
    """Build what the plan asks for. What was built is kept and bound even when another build failed."""
    ctx = runtime.context
    plan = Plan.model_validate(state["plan"])
    if plan.by == "rule" and plan.build:
        return await _outright(state, ctx)
    if not state["attempt"]:
        ctx.smith.announce(plan.build)
    async with asyncio.TaskGroup() as group:
        builds = [
            group.create_task(ctx.smith.build(request, question=ctx.task.question, files=ctx.files_view))
            for request in plan.build
        ]
    results = [build.result() for build in builds]
    failures = [f"{r.name} could not be built: {r.reason}" for r in results if isinstance(r, BuildFailure)]
    built = [r.name for r in results if not isinstance(r, BuildFailure)]
    # The newest first: what the plan names now must be among the tools that fit under the limit.
    bound = list(dict.fromkeys([*built, *plan.reuse, *_kept(state, plan, ctx)]))
    update: TaskState = {"bound": bound, "build_failures": [*state.get("build_failures", []), *failures]}
    if failures and ctx.settings.tools.on_build_failure == "stop":
        return Command(update={**update, "report": failures[0]}, goto="integrator")
    return Command(update=update, goto="executor")


async def _outright(state: TaskState, ctx: TaskContext) -> Command[Literal["executor", "integrator", "manager"]]:
    """Build the one tool of a plan by rule, with its first call; without it a model plans."""
    result = await ctx.smith.build_outright(ctx.task.question, ctx.files_view, partial(keep_first, ctx))
    if isinstance(result, BuildFailure):
        failures = [] if result.reason == NOT_ONE_TOOL else [f"{result.name} could not be built: {result.reason}"]
        return Command(update={"build_failures": failures}, goto="manager")
    return Command(update={"bound": [result.name, *state["bound"]]}, goto="executor")


def _kept(state: TaskState, plan: Plan, ctx: TaskContext) -> list[str]:
    """Tools that stay bound without a word of the plan. After a refusal these are the task's own: of the others only
    those that the plan names, lest the same ones lead to the same answer."""
    bound = state.get("bound", [])
    if not state.get("report") or not (plan.reuse or plan.build):
        return bound
    own = set(ctx.library.private.names())
    return [name for name in bound if name in own]
