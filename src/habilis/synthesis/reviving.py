"""Bringing a retired tool back: a request close to one is answered with it, if it still passes the gate."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from habilis.contract.aliases import kinds
from habilis.core.types import JsonSchema, ToolRequest
from habilis.library import LayeredLibrary, Tool
from habilis.synthesis.gate import Gate, Passed, Predecessor, Rejected, Wanted

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Revived:
    """A retired tool that passed the gate anew. `origin` is what its new manifest says of where it comes from."""

    passed: Passed
    origin: dict[str, Any]


async def revived(
    gate: Gate, library: LayeredLibrary, request: ToolRequest, key: str, wanted: Wanted
) -> Revived | None:
    """The retired tool that answers `request`, None when there is none or it no longer passes.

    It does when it was built for the very same request (`key`), or bears the name asked for and takes and gives fields
    of the same names and types.
    """
    for tool, records in library.retired():
        if tool.manifest.request_key != key and not _is_like(tool, request):
            continue
        proofs = tuple(record for record in records if record.verdict == "success")
        try:
            again = Wanted(wanted.name, wanted.fields, sources=(Predecessor(tool, proofs),), ground=wanted.ground)
            passed = await gate.check(tool.source(), again)
        except Rejected as rejected:
            log.info("retired tool %s no longer passes: %s", tool.name, rejected)
            continue
        origin = {
            "how": "revived",
            "parents": (tool.label,),
            "writer": tool.origin.writer,
            "model": tool.origin.model,
        }
        return Revived(passed, origin)
    return None


def _is_like(tool: Tool, request: ToolRequest) -> bool:
    named = request.name in (tool.name, tool.origin.asked_name)
    takes = kinds(tool.input_schema) == kinds(request.input_schema)
    return named and takes and _fields(tool.output_schema) == _fields(request.output_schema)


def _fields(schema: JsonSchema) -> dict[str, str]:
    return {name: kind for name, kind in kinds(schema).items() if name != "error"}
