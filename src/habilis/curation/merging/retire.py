"""Tools of no worth: one whose last calls mostly failed, or that many plans were shown and nobody ever called, is taken
out of use, with the reason.

It is not lost: a request close to it brings it back through the gate (`synthesis/reviving.py`).
"""

from __future__ import annotations

from habilis.curation.merging.collect import JUDGED, Collected
from habilis.library import Tool
from habilis.library.worth import worth

LAST_CALLS, BELOW = 10, 0.3
"""By how many of its last calls a tool is judged, and the share of them that must succeed."""
LEAST_WORTH = 0.1
"""A tool that nobody ever called stays until its worth has fallen to this: some forty plans that were shown it."""


def worthless(collected: Collected) -> dict[str, str]:
    """By name, the library's tools to be taken out of use after this step, and in what words."""
    return _passed_over(collected) | _failing(collected)


def _passed_over(collected: Collected) -> dict[str, str]:
    """Those of which only offers are on record, so many that little worth is left. A pinned tool stays."""
    found = {}
    for name, times in sorted(collected.offered.items()):
        tool = collected.view.get(name)
        if tool is None or tool.name != name or tool.manifest.pinned or tool.counters.get("tasks"):
            continue
        offers = tool.counters.get("offered", 0) + times
        if worth({"offered": offers}) <= LEAST_WORTH and not _ever_called(tool, collected):
            found[name] = f"{offers} plans were shown it, and nobody ever called it"
    return found


def _ever_called(tool: Tool, collected: Collected) -> bool:
    """Whether any version of it was called, in this step too, under any of its names."""
    names = (tool.name, *tool.manifest.aliases)
    public = collected.view.public
    return any(name in collected.called or (public is not None and public.records(name)) for name in names)


def _failing(collected: Collected) -> dict[str, str]:
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
