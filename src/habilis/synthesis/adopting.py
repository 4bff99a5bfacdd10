"""Taking over a tool that another task has just built, in place of having one written."""

from __future__ import annotations

from collections.abc import Callable

from habilis.contract.names import ToolName
from habilis.core.events import Event, Notice, ToolAdopted
from habilis.core.place import raise_place
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
    emit: Callable[[Event], None],
    ground: TaskGround = NO_GROUND,
    *,
    name: str,
    key: str,
    task: str,
) -> Tool | None:
    """The offered tool as one of task `task`, in `private`, under the name `name` that is reserved there; None when it
    does not pass here, and `emit` hears why.

    It has to load and to pass a trial call, its own example or one made of `ground`, and to take the fields asked for,
    but for their names. Raises `PlaceError`.
    """
    try:
        tool = await _adopted(gate, private, offer, request, ground, name=name, key=key, task=task)
    except (Rejected, OSError) as refused:
        raise_place(refused, ours=True)
        emit(Notice(text=f"{offer.tool} of task {offer.task} was not taken over: {refused}"))
        return None
    emit(ToolAdopted(tool=tool.name, version=tool.version, origin_task=offer.task, origin_tool=offer.tool))
    return tool


async def _adopted(
    gate: Gate,
    private: Library,
    offer: Offer,
    request: ToolRequest,
    ground: TaskGround,
    *,
    name: str,
    key: str,
    task: str,
) -> Tool:
    passed = await gate.check(offer.source, Wanted(name, (), ground=ground))
    if not accepts(passed.description.input_schema, request.input_schema):
        raise Rejected("its input fields are others than those asked for")
    origin = Origin(
        how="adopted",
        parents=(f"{offer.tool}@{offer.version}",),
        task=task,
        asked_name=request.name,
        our_suffix=ToolName.given(name, request.name).our_suffix,
        request_key=key,
        smoke=passed.smoke,
        shared_by=offer.task,
    )
    return private.add(passed.source, passed.description, passed.contract, name=name, origin=origin)
