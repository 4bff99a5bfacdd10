"""`habilis runs stats`: figures over runs, from their records."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from habilis.cli.checking import runs_folder
from habilis.rundir import find_run, list_runs
from habilis.terminal.tables import table
from habilis.terminal.wording import seconds_text

if TYPE_CHECKING:
    from argparse import Namespace


def stats(args: Namespace) -> int:
    """Print rounds, durations, failed calls, tokens and successes of the named runs, by default of all."""
    from habilis.telemetry.figures import summary
    from habilis.telemetry.recorded import Recorded

    root = runs_folder(args)
    named = {run.path: run for run in (find_run(root, name) for name in args.runs)}
    runs = list(named.values()) if args.runs else list_runs(root)
    found = summary(Recorded().of(runs), len(runs))
    if args.json:
        print(json.dumps(found, ensure_ascii=False, indent=2))
        return 0
    for line in lines(found):
        print(line)
    return 0


def lines(found: dict[str, Any]) -> list[str]:
    """The figures as text."""
    tasks, tokens, tools = found["tasks"], found["tokens"], found["tool_calls"]
    ends = ", ".join(f"{count} {status}" for status, count in tasks["statuses"].items()) or "none ended"
    head = [
        f"runs     {found['runs']:,}",
        f"tasks    {tasks['ended']:,}: {ends}" + _share(", success rate", tasks["success_rate"]),
        f"tokens   {tokens['input']:,} in, {tokens['output']:,} out",
        f"failed   {tools['failed']:,} of {tools['count']:,} tool calls" + _share(",", tools["error_rate"]),
    ]
    rounds = found["rounds"]
    rows = [["rounds of a task", f"{rounds['tasks']:,}", _plain(rounds["median"]), _plain(rounds["p95"])]]
    for name, part in (("model calls", found["model_calls"]), ("tool calls", tools)):
        rows.append([name, f"{part['count']:,}", _seconds(part["median_s"]), _seconds(part["p95_s"])])
    return [*head, "", *table(("", "COUNT", "MEDIAN", "P95"), rows)]


def _share(label: str, share: float | None) -> str:
    return "" if share is None else f"{label} {100 * share:.1f} %"


def _plain(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


def _seconds(value: float | None) -> str:
    return "–" if value is None else seconds_text(value)
