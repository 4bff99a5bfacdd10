"""The executor: a ReAct sub-graph over the task's tools, with roll-back, mending of failing tools, and summary.

act → call_tools → (ask) → (enhance) → (summarise) → act, act → roll_back → act, act → (enhance) → END.
Every `after_…` router is a pure function, tested as a table.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt

from habilis.agents import mending, rounds, summary
from habilis.agents.asking import echoes
from habilis.agents.correcting import corrected_step
from habilis.agents.remembering import earlier_messages
from habilis.agents.short_way import answered, first_reply
from habilis.agents.showing import showing
from habilis.agents.state import ExecutorState, Short, Stop
from habilis.agents.steps import step
from habilis.config import LimitsSettings
from habilis.context.presets import ASK_USER, FINISH_TASK
from habilis.context.task import TaskContext
from habilis.core.events import Asked, RolledBack, Thought, ThoughtCall, Told
from habilis.core.parents import under
from habilis.core.types import ToolSpec, Usage
from habilis.messages.bounds import USELESS, cut_of
from habilis.messages.calls import check_calls, with_unique_ids
from habilis.messages.history import is_empty_reply, roll_back

NUDGE = "Your last reply was empty. Call a tool, or give your answer in plain text."
CUT = "Your last reply was cut off at its length limit. Answer again, shorter."
CUT_HOW = "Your last reply {cut}. Answer again, shorter."
MOST_EMPTY, MOST_FAILED = 10, 3
"""Empty replies of one execution before it ends; rounds in a row in which every call failed."""
NOBODY = "Nobody is there to answer. Go on with what you know, and say what you assumed."

AfterAct = Literal["call_tools", "roll_back", "enhance", "__end__"]
AfterTools = Literal["ask", "enhance", "summarise", "act", "__end__"]


def is_last_round(state: Mapping[str, Any], limits: LimitsSettings) -> bool:
    """Whether the next reply is the one without tools: the round budget is used, or the execution is to end."""
    if state.get("ending"):
        return True
    return limits.max_rounds >= 0 and state.get("rounds", 0) >= limits.max_rounds


def after_act(reply: AIMessage, *, last: bool, care_due: bool) -> AfterAct:
    """Where a reply leads: to its calls, to a roll-back when it is empty, to a look at failing tools, or out."""
    if last:
        return "enhance" if care_due else "__end__"
    if reply.tool_calls:
        return "call_tools"
    if is_empty_reply(reply) or is_cut(reply):
        return "roll_back"
    return "enhance" if care_due else "__end__"


def after_tools(state: Mapping[str, Any], limits: LimitsSettings, *, asking: bool, care_due: bool) -> AfterTools:
    """Where a tool round leads: a question to the user first, then failing tools when due, then the summary."""
    if asking:
        return "ask"
    at_interval = state["rounds"] % limits.enhance_interval == 0
    if care_due and (at_interval or state.get("ending") or state.get("stop")):
        return "enhance"
    return after_care(state)


def after_care(state: Mapping[str, Any]) -> Literal["summarise", "act", "__end__"]:
    """Where the loop goes once failing tools were looked at."""
    if state.get("stop"):
        return "__end__"
    return "summarise" if state.get("too_long") else "act"


def is_cut(reply: AIMessage) -> bool:
    """Whether the reply broke off at its bound, or repeats itself: half a sentence is no answer."""
    return cut_of(reply) is not None


@step
async def act(state: ExecutorState, runtime: Runtime[TaskContext]) -> Command[AfterAct]:
    """Ask the model for its next step. The system prompt stands in front and is never stored."""
    ctx = runtime.context
    last = is_last_round(state, ctx.settings.limits)
    position = state["position"] + 1
    if state["short"] == "call" and (first := first_reply(ctx)) is not None:
        ctx.emit(_thought(position, first, Usage(), Usage()))
        made: ExecutorState = {"messages": [*state["messages"], first], "position": position, "short": "answer"}
        return Command(update=made, goto="call_tools")
    ctx.emit(Thought(position=position, stage="asked"))
    before = ctx.models.usage
    if state["short"] == "answer" and not last:
        with under(f"round-{position}"):
            answer = await answered(state, ctx)
        if answer is not None:
            said = AIMessage(answer.final_answer)
            ctx.emit(_thought(position, said, before, ctx.models.usage))
            given: ExecutorState = {"text": answer.final_answer, "stop": "answer", "told": answer.model_dump()}
            given |= {"short": "", "messages": [*state["messages"], said], "position": position}
            return Command(update=given, goto="__end__")
    with under(f"round-{position}"):
        reply = await _next_reply(state, ctx, last=last, position=position)
    ctx.emit(_thought(position, reply, before, ctx.models.usage))
    goto = after_act(reply, last=last, care_due=mending.is_due(state, ctx))
    short: Short = "answer" if state["short"] == "call" and len(reply.tool_calls) == 1 else ""
    update: ExecutorState = {"messages": [*state["messages"], reply], "position": position, "short": short}
    if goto != "roll_back":
        update["empty_run"] = 0
    if goto in ("enhance", "__end__"):
        update["text"] = "" if is_cut(reply) else str(reply.content).strip()
        update["stop"] = "cut_replies" if is_cut(reply) else _stop(state, update["text"], last=last)
    return Command(update=update, goto=goto)


def _stop(state: ExecutorState, text: str, *, last: bool) -> Stop:
    if state.get("ending"):
        return state["ending"]
    return "out_of_rounds" if last and not text else "answer"


async def _next_reply(state: ExecutorState, ctx: TaskContext, *, last: bool, position: int) -> AIMessage:
    """One reply whose calls fit their schemas, or the last one after all corrections were asked for.

    The bad replies and what was said about them are not stored, unless no reply was good; then the last one is, and
    the tool round answers its calls with the reasons.
    """
    history = [*earlier_messages(ctx), *showing(state["messages"], ctx)]
    messages: list[BaseMessage] = [SystemMessage(ctx.system_prompt), *history]
    if last:
        messages.append(HumanMessage(ctx.prompts.render("last_round", rounds=state["rounds"]).system))
    elif state["empty_run"]:
        messages.append(HumanMessage(state.get("cut_how", CUT) if state["was_cut"] else NUDGE))
    checked, _ = await corrected_step(
        messages,
        [] if last else _offered(state, ctx),
        ctx,
        label="answer without tools" if last else f"step {position}",
        position=position,
        prefix=f"{_turn(ctx)}c{position}",
        taken={raw["call_id"] for raw in state["calls"]},
        unshown=[] if last else ctx.presets.unshown(),
        whole=not (state["empty_run"] and state["was_cut"]),
    )
    return checked.message


def _offered(state: ExecutorState, ctx: TaskContext, called: Collection[str] = ()) -> list[ToolSpec]:
    """What the model may call. Without a single tool it is not shown `ask_user`: a weak model would ask the user for
    what the tools were to find out."""
    specs = ctx.specs_for(state["bound"], called)
    hidden = {ASK_USER} - set(called) if state.get("toolless") else set()
    return [spec for spec in specs if spec.name not in hidden]


def _turn(ctx: TaskContext) -> str:
    """What ids of calls begin with: those of a conversation's turns must not be the same."""
    return f"t{ctx.task.earlier.turn}" if ctx.task.earlier else ""


def _thought(position: int, reply: AIMessage, before: Usage, after: Usage) -> Thought:
    calls = [ThoughtCall(call_id=c["id"] or "", tool=c["name"], arguments=c["args"]) for c in reply.tool_calls]
    used = after.since(before)
    return Thought(position=position, stage="replied", thought=str(reply.content), calls=tuple(calls), usage=used)


@step
async def call_tools(state: ExecutorState, runtime: Runtime[TaskContext]) -> Command[AfterTools]:
    """Run the calls of the last reply and commit the round whole: results, log, counters in one step."""
    ctx = runtime.context
    limits = ctx.settings.limits
    reply = state["messages"][-1]
    assert isinstance(reply, AIMessage)
    checked = check_calls(reply, _offered(state, ctx, {c["name"] for c in reply.tool_calls}))
    results = await rounds.run_round(checked, state, ctx)
    rounds.observe(state["position"], str(reply.content), results, ctx)
    answered: list[BaseMessage] = [
        ToolMessage(r.text, tool_call_id=r.call_id, name=r.tool, status="error" if r.outcome.error else "success")
        for r in results
    ]
    echoed = await echoes(checked.calls, ctx)
    failed = bool(results or echoed) and all(r.outcome.error for r in results)
    unfit = failed and not checked.calls
    update: ExecutorState = {
        "calls": rounds.logged(state, results),
        "rounds": state["rounds"] + 1,
        "failed_run": state["failed_run"] + 1 if failed else 0,
    }
    if rounds.repeated_too_often(results):
        update["ending"] = "repeating"
    elif unfit or update["failed_run"] >= MOST_FAILED:  # corrected in vain: another round helps no more
        update["ending"] = "failing"
    finish = next((call for call in checked.calls if call.name == FINISH_TASK), None)
    if finish is not None:
        update |= {"stop": "finished", "text": str(finish.args.get("answer", "")).strip()}
        answered.append(ToolMessage("Finished.", tool_call_id=finish.id, name=FINISH_TASK))
    update["messages"] = [*state["messages"], *answered, *echoed]
    update["too_long"] = summary.too_long(update["messages"], state["bound"], ctx)
    now: ExecutorState = {**state, **update}
    asking = sum(call.name == ASK_USER for call in checked.calls) > len(echoed)
    goto = after_tools(now, limits, asking=asking, care_due=mending.is_due(now, ctx))
    return Command(update=update, goto=goto)


@step
async def ask(state: ExecutorState, runtime: Runtime[TaskContext]) -> Command[AfterTools]:
    """Put the round's questions to the user, the other calls being committed already.

    An interrupted node runs again from its start; the tape keeps the answers that were given.
    """
    ctx = runtime.context
    answered = {m.tool_call_id for m in state["messages"] if isinstance(m, ToolMessage)}
    said: list[BaseMessage] = []
    for message in state["messages"]:
        for call in message.tool_calls if isinstance(message, AIMessage) else ():
            if call["name"] == ASK_USER and call["id"] not in answered:
                said.append(ToolMessage(_answer_to(call, ctx), tool_call_id=call["id"], name=ASK_USER))
    now: ExecutorState = {**state, "messages": [*state["messages"], *said]}
    goto = after_tools(now, ctx.settings.limits, asking=False, care_due=mending.is_due(now, ctx))
    return Command(update={"messages": now["messages"]}, goto=goto)


def _answer_to(call: Mapping[str, Any], ctx: TaskContext) -> str:
    question = str(call["args"].get("question", ""))
    given = ctx.tape.answer(call["id"])
    if given is None:
        ctx.emit(Asked(question=question))
        given = str(interrupt({"question": question})) if ctx.may_ask else NOBODY
        ctx.tape.answered(call["id"], given)
        ctx.emit(Told(call_id=call["id"], question=question, answer=given))
    return given


@step
async def enhance(
    state: ExecutorState, runtime: Runtime[TaskContext]
) -> Command[Literal["call_tools", "summarise", "act", "__end__"]]:
    """Look at failing tools; when one was mended after the answer was given, the answer is asked for again.

    An answer that rests on a failed call is worth little once its tool works: the loop goes on with the new version,
    within the same round budget, instead of handing it to a review that must refuse it. What the model would be asked
    a second time, word for word, it is not asked: the calls of its first reply are made with the mended tool.
    """
    ctx = runtime.context
    offered = ctx.specs(state["bound"])
    mended = await mending.mend(state, ctx)
    update: ExecutorState = {
        "calls": mended.calls,
        "messages": mended.messages,
        "enhancements": mended.enhancements,
    }
    if mended.tools:
        update |= {"failed_run": 0, "ending": ""}
        rounds_left = not is_last_round({"rounds": state["rounds"]}, ctx.settings.limits)
        if state.get("stop") == "answer" and rounds_left:
            update |= {"stop": "", "text": "", "messages": mended.messages[:-1]}
    update["too_long"] = summary.too_long(update["messages"], state["bound"], ctx)
    now: ExecutorState = {**state, **update}
    goto = after_care(now)
    if mended.tools and goto == "act" and not is_last_round(now, ctx.settings.limits):
        known = mending.reply_known(state["messages"], now["messages"])
        if known is not None and ctx.specs(state["bound"]) == offered:
            return Command(update={**update, **_said_again(known, now, ctx)}, goto="call_tools")
    return Command(update=update, goto=goto)


def _said_again(reply: AIMessage, state: ExecutorState, ctx: TaskContext) -> ExecutorState:
    """The state after a reply that need not be paid for again; its calls get ids of their own."""
    position = state["position"] + 1
    taken = {raw["call_id"] for raw in state["calls"]}
    again = with_unique_ids(reply, f"{_turn(ctx)}c{position}", taken)
    ctx.emit(_thought(position, again, Usage(), Usage()))
    return {"messages": [*state["messages"], again], "position": position, "empty_run": 0}


@step
async def summarise(state: ExecutorState, runtime: Runtime[TaskContext]) -> Command[Literal["act"]]:
    """Fold the history into one summary."""
    ctx = runtime.context
    return Command(update={"messages": await summary.fold(state, ctx), "too_long": False}, goto="act")


@step
async def drop_empty(state: ExecutorState, runtime: Runtime[TaskContext]) -> Command[Literal["act", "__end__"]]:
    """Answer an empty reply: drop it and nudge; at the next one take the step before it back as well.

    Results of calls that write are never taken back: the model must know what was done. A reply that was cut off is
    dropped alike, but takes nothing with it: the way to it was good. The third in a row is the last.
    """
    ctx = runtime.context
    empty_run, empty_total = state["empty_run"] + 1, state["empty_total"] + 1
    messages, rounds_back = state["messages"][:-1], 0
    reply = state["messages"][-1]
    cut = cut_of(reply) if isinstance(reply, AIMessage) and not is_empty_reply(reply) else None
    was_cut = cut is not None
    if empty_run > 1 and not was_cut:
        kept = {raw["call_id"] for raw in state["calls"] if raw["effects"] == "writes"}
        messages, rounds_back = roll_back(messages, kept)
    dropped = len(state["messages"]) - len(messages)
    what = "reply cut off" if was_cut else "empty reply"
    ctx.emit(RolledBack(reason=f"{what}, number {empty_total}", dropped=dropped))
    update: ExecutorState = {
        "messages": messages,
        "rounds": state["rounds"] - rounds_back,
        "empty_run": empty_run,
        "empty_total": empty_total,
        "was_cut": was_cut,
        "cut_how": CUT_HOW.format(cut=cut) if cut is not None and cut.is_known else CUT,
    }
    if empty_run >= USELESS or empty_total > MOST_EMPTY:
        return Command(update={**update, "stop": "cut_replies" if was_cut else "empty_replies"}, goto="__end__")
    return Command(update=update, goto="act")


def build_executor() -> CompiledStateGraph[ExecutorState, TaskContext, ExecutorState, ExecutorState]:
    """The compiled sub-graph; it checkpoints with the graph that it is called in."""
    graph = StateGraph(ExecutorState, context_schema=TaskContext)
    graph.add_node("act", act)
    graph.add_node("call_tools", call_tools)
    graph.add_node("ask", ask)
    graph.add_node("enhance", enhance)
    graph.add_node("summarise", summarise)
    graph.add_node("roll_back", drop_empty)
    graph.add_edge(START, "act")
    return graph.compile(name="executor")
