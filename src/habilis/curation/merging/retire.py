"""Tools that keep failing: a tool of the library whose last calls mostly failed is taken out of use, with the reason.

It is not lost: a request close to it brings it back through the gate (`synthesis/reviving.py`).
"""

from __future__ import annotations

from habilis.curation.merging.collect import JUDGED, Collected
from habilis.library import Tool

LAST_CALLS, BELOW = 10, 0.3
"""By how many of its last calls a tool is judged, and the share of them that must succeed."""


def failing(collected: Collected) -> dict[str, str]:
    """By name, the library's tools of which too few of their last calls succeeded, and in what words.

    Only those that were called in this step are looked at, and only calls of the version in force count. Calls that
    asked for what is not there say nothing about a tool. A pinned tool stays.
    """
    found = {}
    owners = {tool.manifest.name for name in collected.called if (tool := collected.view.get(name)) is not None}
    for name in sorted(owners & set(collected.catalogue.tools)):
        tool = collected.view.get(name)
        if tool is None or tool.manifest.pinned:
            continue
        verdicts = _verdicts(tool, collected)[-LAST_CALLS:]
        good = verdicts.count("success")
        if len(verdicts) == LAST_CALLS and good / LAST_CALLS < BELOW:
            found[name] = f"{LAST_CALLS - good} of its last {LAST_CALLS} calls failed"
    return found


def _verdicts(tool: Tool, collected: Collected) -> list[str]:
    """Verdicts on calls of this version, those of the library before those of this step."""
    names = (tool.name, *sorted(tool.manifest.aliases))
    public, staged = collected.view.public, collected.staging
    records = [call for library in (public, staged) if library for name in names for call in library.records(name)]
    used = [call for call in records if call.version == tool.version and call.used]
    return [call.verdict for call in used if call.verdict in JUDGED]
