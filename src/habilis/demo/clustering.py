"""Which tools do the same job: those that this model recognises as one operation. It leaves the others alone."""

from __future__ import annotations

from typing import Any

from habilis.demo.questions.operations import recognise
from habilis.demo.questions.prompts import Seen, entries
from habilis.demo.understanding import all_operations


def cluster(seen: Seen) -> dict[str, Any]:
    """Every tool of the prompt in one cluster, twins together, in the prompt's order."""
    clusters: dict[str, list[str]] = {}
    for tool in entries(seen.parts["tools"], "name"):
        parameters = [part.split(":")[0].strip() for part in tool.get("parameters", "").split(",")]
        names = [name for name in parameters if name and name != "none"]
        operation = recognise(tool["name"], tool.get("description", ""), names, all_operations())
        job = operation.key if operation else f"the job of {tool['name']} alone"
        clusters.setdefault(job, []).append(tool["name"])
    return {"clusters": [{"tools": list(dict.fromkeys(tools))} for tools in clusters.values()]}
