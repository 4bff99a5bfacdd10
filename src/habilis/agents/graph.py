"""The outer graph: manager → tool developer → executor → manager … → integrator."""

from __future__ import annotations

from functools import cache
from typing import Literal

from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from habilis.agents import summary
from habilis.agents.developer import tool_developer
from habilis.agents.executor import build_executor
from habilis.agents.integrator import integrator
from habilis.agents.manager import manager
from habilis.agents.short_way import one_call_may_do
from habilis.agents.state import ExecutorState, TaskState
from habilis.agents.steps import step
from habilis.context.task import TaskContext
from habilis.core.events import ExecutionEnded
from habilis.core.types import Plan

TaskGraph = CompiledStateGraph[TaskState, TaskContext, TaskState, TaskState]


def initial_state() -> TaskState:
    """Where every task starts."""
    return {
        "attempt": 0,
        "bound": [],
        "build_failures": [],
        "capabilities": "",
        "report": "",
        "pending": "",
        "earlier": [],
        "summary": "",
        "stop": "",
        "accepted": False,
        "messages": [],
        "calls": [],
        "rounds": 0,
        "round_limit_reached": False,
        "position": 0,
        "enhancements": {},
        "tape": 0,
    }


@step
async def executor(state: TaskState, runtime: Runtime[TaskContext]) -> Command[Literal["manager"]]:
    """One execution in the sub-graph, and what it leaves to the next plan: its answer, or a summary of its work."""
    ctx = runtime.context
    attempt = state["attempt"] + 1
    start: ExecutorState = {
        "attempt": attempt,
        "bound": state["bound"],
        "toolless": not state["bound"] and bool(state.get("build_failures")),
        "messages": _opening(state, ctx),
        "calls": state["calls"],
        "rounds": 0,
        "empty_run": 0,
        "empty_total": 0,
        "was_cut": False,
        "failed_run": 0,
        "too_long": False,
        "ending": "",
        "stop": "",
        "text": "",
        "short": "call" if attempt == 1 and one_call_may_do(Plan.model_validate(state["plan"]), ctx) else "",
        "told": {},
        "position": state["position"],
        "enhancements": state["enhancements"],
        "tape": state["tape"],
    }
    end = await _executor().ainvoke(start, context=ctx)
    text, messages, told = end["text"], end["messages"], ""
    if end["stop"] == "out_of_rounds":
        told = await summary.summarise(messages, ctx)
        messages = [messages[0], HumanMessage(f"{summary.HEADING}\n{told}")]
    ctx.emit(ExecutionEnded(attempt=attempt, stop=end["stop"], text=text or told))
    limit = ctx.settings.limits.max_rounds
    update: TaskState = {
        "attempt": attempt,
        "pending": text,
        "earlier": [*state["earlier"], *([state["pending"]] if state["pending"] else [])],
        "summary": told or state["summary"],
        "capabilities": summary.missing_capabilities(told or text),
        "stop": end["stop"],
        "told": end["told"],
        "messages": messages,
        "calls": end["calls"],
        "rounds": state["rounds"] + end["rounds"],
        "round_limit_reached": state["round_limit_reached"] or 0 < limit <= end["rounds"],
        "position": end["position"],
        "enhancements": end["enhancements"],
    }
    return Command(update=update, goto="manager")


def _opening(state: TaskState, ctx: TaskContext) -> list[BaseMessage]:
    """The first messages of an execution: the task, earlier work, and a failure report last of all."""
    plan = Plan.model_validate(state["plan"])
    prompt = ctx.prompts.render(
        "execute",
        question=ctx.task.question,
        files=ctx.files_view,
        missing=ctx.task.missing,
        guidance="\n".join([plan.guidance, *_not_there(state)]).strip(),
    )
    messages: list[BaseMessage] = [HumanMessage(prompt.user), *state["messages"][1:]]
    if state["report"]:
        messages.append(HumanMessage(ctx.prompts.render("retry", failure_report=state["report"]).user))
    return messages


def _not_there(state: TaskState) -> list[str]:
    """What guidance may speak of and could not be built, a line each."""
    failed = [text.partition(":")[0] for text in state.get("build_failures", [])]
    return [f"{text}: there is no such tool now." for text in failed if text.endswith(" could not be built")]


@cache
def _executor() -> CompiledStateGraph[ExecutorState, TaskContext, ExecutorState, ExecutorState]:
    return build_executor()


def build_graph(checkpointer: BaseCheckpointSaver[str] | None = None) -> TaskGraph:
    """The compiled graph over a `TaskContext` context, checkpointed by `checkpointer`."""
    return _compiled().copy({"checkpointer": checkpointer})


@cache
def _compiled() -> TaskGraph:
    """The graph without checkpoints: compiled once, since that takes milliseconds and gives the same each time."""
    graph = StateGraph(TaskState, context_schema=TaskContext)
    graph.add_node("manager", manager)
    graph.add_node("tool_developer", tool_developer)
    graph.add_node("executor", executor)
    graph.add_node("integrator", integrator)
    graph.add_edge(START, "manager")
    return graph.compile(name="habilis")
