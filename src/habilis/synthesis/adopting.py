"""Taking over a tool that another task has just built, in place of having one written."""

from __future__ import annotations

from habilis.contract.names import safe_name
from habilis.core.types import ToolRequest
from habilis.library import Library, Origin, Tool
from habilis.synthesis.calls_by_rule import NO_GROUND, TaskGround
from habilis.synthesis.fields import accepts
from habilis.synthesis.gate import Gate, Rejected, Wanted
from habilis.synthesis.sharing import Offer


async def adopted(
    gate: Gate,
    private: Library,
    offer: Offer,
    request: ToolRequest,
    *,
    key: str,
    task: str,
    ground: TaskGround = NO_GROUND,
) -> Tool:
    """The offered tool as one of task `task`, in `private`, under the name that was asked for.

    It has to load and to pass a trial call here, its own example or one made of `ground`, and to take the fields asked
    for, but for their names. Raises `Rejected` when it does not, and OSError.
    """
    with private.reserve(request.name) as name:
        passed = await gate.check(offer.source, Wanted(name, (), ground=ground))
        if not accepts(passed.description.input_schema, request.input_schema):
            raise Rejected("its input fields are others than those asked for")
        origin = Origin(
            how="adopted",
            parents=(f"{offer.tool}@{offer.version}",),
            task=task,
            asked_name=request.name,
            our_suffix=name != safe_name(request.name),
            request_key=key,
            smoke=passed.smoke,
            shared_by=offer.task,
        )
        return private.add(passed.source, passed.description, passed.contract, name=name, origin=origin)
