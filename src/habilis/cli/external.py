"""`habilis tools`: what the sources of the settings give, and what they lack."""

from __future__ import annotations

import asyncio
import json
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from habilis.config import Settings, SourceSettings, secret
from habilis.contract.names import RESERVED
from habilis.sources.bound import ExternalTools, NamedSource, OpenedSource
from habilis.sources.making import sources_of
from habilis.terminal.choices import load
from habilis.terminal.wording import one_line, report_line


def tools(args: Namespace) -> int:
    """List the tools of all sources in use, or say of each whether it works. Returns the exit code."""
    if args.names:
        args.set = [*args.set, f"tools.use={json.dumps(args.names)}"]
    settings = load(args).settings
    rows = asyncio.run(_looked_at(sources_of(settings), settings))
    if args.json:
        print(json.dumps({"sources": rows}, ensure_ascii=False, indent=2))
    elif not rows:
        print("no sources: name some in a settings file ('habilis config init' shows how)")
    else:
        for row in rows:
            _show(row, listing=args.verb == "list")
    return 1 if args.verb == "check" and any(row["faults"] for row in rows) else 0


async def _looked_at(sources: Sequence[NamedSource], settings: Settings) -> list[dict[str, Any]]:
    """Open all sources, as a task does, and close them again."""
    external = ExternalTools([replace(named, required=False) for named in sources])
    try:
        opened = await external.open(RESERVED, lambda event: None)
        bound = {name: tool for name in external.names() if (tool := external.get(name)) is not None}
        return [_row(one, bound, settings.sources[one.named.name]) for one in opened]
    finally:
        await external.aclose()


def _row(opened: OpenedSource, bound: dict[str, Any], said: SourceSettings) -> dict[str, Any]:
    secrets = [said.auth.secret_env] if said.auth else []
    secrets += said.mcp.env if said.mcp else ()
    return {
        "name": opened.named.name,
        "kind": "mcp" if said.mcp else "openapi",
        "faults": list(opened.faults),
        "secrets": [{"name": name, "set": secret(name) is not None} for name in secrets],
        "tools": [
            {
                "name": name,
                "own_name": tool.tool.spec.name,
                "effects": tool.effects,
                "description": tool.spec.description,
                "parameters": tool.spec.parameters,
            }
            for name, tool in bound.items()
            if tool.source == opened.named.name
        ],
    }


def _show(row: dict[str, Any], *, listing: bool) -> None:
    unset = [one["name"] for one in row["secrets"] if not one["set"]]
    state = f"{len(row['tools'])} tools" if row["tools"] else "no tools"
    lacking = f"; not set: {', '.join(unset)}" if unset else ""
    print(report_line(f"{row['name']} ({row['kind']}): {state}{lacking}"))
    for fault in row["faults"]:
        print(report_line(f"  left out: {one_line(fault, 300)}"))
    for tool in row["tools"] if listing else ():
        print(report_line(f"  {tool['name']} ({tool['effects']}): {one_line(tool['description'], 100)}"))
