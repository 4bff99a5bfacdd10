"""A new tool is tried again before it goes into the library: what its task proved must hold here as well."""

from __future__ import annotations

from habilis.curation.merging.collect import Collected
from habilis.synthesis.gate import Gate, Predecessor, Rejected, Wanted


async def why_not(collected: Collected, name: str, gate: Gate) -> str:
    """Why a new tool may not go into the library: it breaks the gate when it is tried again. Empty when it may."""
    tool = collected.staging.get(name)
    if tool is None:
        problem = collected.staging.entry(name)
        return getattr(problem, "reason", "it cannot be read")
    good = tuple(record for record in collected.staging.records(name) if record.verdict == "success")
    try:
        await gate.check(tool.source(), Wanted(name, sources=(Predecessor(tool, good),)))
    except Rejected as rejected:
        return str(rejected)
    return ""
