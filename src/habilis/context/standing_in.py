"""Where a merged tool fails a call, its members are tried on that very call before anyone pays for a mend.

A merge that lost something is found out by what happens. One member that answers answers; what the merged tool itself
came to is kept beside, and the next step of a training mends it by that, or undoes the merge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from habilis.contract.aliases import required
from habilis.contract.capabilities import Grant
from habilis.contract.records import is_empty, set_error
from habilis.contract.ruling import ruled
from habilis.core.events import MemberAnswered
from habilis.core.types import CallOutcome, Invocation, StoodIn

if TYPE_CHECKING:
    from habilis.context.task import TaskContext
    from habilis.library import Tool
    from habilis.library.members import Member
    from habilis.messages.calls import Call

MOST_TRIED = 6
"""Members that are run on one failing call."""


async def stood_in(call: Call, outcome: CallOutcome, ctx: TaskContext) -> CallOutcome:
    """`outcome`, or that of the first member which answers where the tool failed.

    A call with effects is never made twice: neither where the tool may write, nor where it left files. A member that
    may write, or that needs anything which the tool was not given, is not tried.
    """
    tool = ctx.library.get(call.name)
    if tool is None or not _failed(outcome) or outcome.made or ctx.effects(call.name) == "writes":
        return outcome
    tried = 0
    for member in ctx.library.members(tool):
        arguments = _arguments(call.args, tool, member)
        if arguments is None or not _may(member.tool, tool, ctx):
            continue
        tried += 1
        if tried > MOST_TRIED:
            break
        grant = await ctx.grants.of(tool) if ctx.grants.needs_of(member.tool).needs else Grant()
        answer = await ctx.run(member.tool, arguments, grant)
        output = _output(answer.output, tool, member)
        if answer.error is None and not answer.made and output is not None:
            said = StoodIn(member=member.tool.label, version=member.tool.version, failed=outcome)
            return answer.model_copy(update={"output": output, "stood_in": said})
    return outcome


def witnessed(call: Invocation) -> list[Invocation]:
    """What is to be recorded of a judged call: where a member answered, the tool's own failure too, and before it."""
    said = call.outcome.stood_in
    if said is None:
        return [call]
    own = {"call_id": f"{call.call_id}.own", "outcome": said.failed, "verdict": "failure"}
    return [call.model_copy(update=own), call.model_copy(update={"version": said.version})]


def told_of(call: Call, version: str, said: StoodIn) -> MemberAnswered:
    """The event of a member's answer."""
    why = said.failed.error.message if said.failed.error else set_error(said.failed.output) or "an empty result"
    return MemberAnswered(call_id=call.id, tool=call.name, version=version, member=said.member, failure=why)


def _failed(outcome: CallOutcome) -> bool:
    """Whether the tool is to blame, or may be."""
    return ruled(outcome)[0] in ("failure", None)


def _may(member: Tool, tool: Tool, ctx: TaskContext) -> bool:
    """Whether a member may run in the place of `tool`: it only reads, and needs no more than that."""
    if member.effects == "writes" or ctx.grants.faults_of(member):
        return False
    more = ctx.grants.needs_of(member).beyond(ctx.grants.needs_of(tool))
    return not more.needs and not more.unknown_host and ctx.host.refusal(member.requirements) is None


def _arguments(given: dict[str, Any], tool: Tool, member: Member) -> dict[str, Any] | None:
    if member.tool.name == tool.name and tool.alias is not None:
        return dict(given)
    return member.given(tool.alias.given(given) if tool.alias else given)


def _output(output: Any, tool: Tool, member: Member) -> Any:
    """What a member gave as the tool would have, by the name that it was asked for; None where that is no answer."""
    if member.tool.name != tool.name or tool.alias is None:
        output = member.gave(output)
        output = tool.alias.seen(output) if tool.alias else output
    whole = isinstance(output, dict) and all(name in output for name in required(tool.output_schema))
    return output if whole and ruled(CallOutcome(output=output))[0] == "success" and not is_empty(output) else None
