"""Log files of applications (a time and a level in each line) and of web servers (access logs)."""

from __future__ import annotations

import re

from habilis.demo.families.asked import AskedPatterns, Match, Values
from habilis.questions.operations import DemoOperation
from habilis.questions.world import World

_LEVEL = re.compile(r"\b(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b")


class Logs(AskedPatterns):
    """Family of log files."""

    def values(self, operation: DemoOperation, match: Match, world: World) -> Values | None:
        said = match.groupdict()
        if said.get("level"):
            return {"level": said["level"].upper()}
        if operation.key == "log_level_share":  # which an error rate means where lines begin with levels
            return {"level": "ERROR"} if _LEVEL.search(world.files[0].begins) else None
        if not operation.key.startswith("status"):
            return {}
        lowest, highest = _statuses(said.get("status") or "", said.get("fault") or "")
        return {"lowest": lowest, "highest": highest}


def _statuses(status: str, fault: str) -> tuple[int, int]:
    """The range of statuses that a question means; a failed request is one with 400 or above (RFC 9110, section 15)."""
    if status:
        return int(status.lower().replace("x", "0")), int(status.lower().replace("x", "9"))
    return {"server": (500, 599), "client": (400, 499)}.get(fault.lower(), (400, 599))
