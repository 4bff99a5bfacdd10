"""The verb that says what tools are worth: by their record, and by running taped tasks without them."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from habilis.cli.curating.showing import Progress, as_json, lines, plainly
from habilis.core.errors import UserError
from habilis.curation.manual import browsing
from habilis.curation.manual.change import unknown
from habilis.library.catalogue import Catalogue
from habilis.library.worth import WorthRecord, record_of
from habilis.rundir import find_run
from habilis.terminal.choices import library_meant
from habilis.terminal.interrupting import run_to_end
from habilis.terminal.tables import table, terminal_width
from habilis.terminal.wording import age_text, one_line, report_line

if TYPE_CHECKING:
    from habilis.config import Settings
    from habilis.training.rerunning import Rerun, TaskTotals

AT_A_TERMINAL = 50
"""Tools that are shown there unless it is told otherwise."""


def worth(args: Namespace) -> int:
    """Print what tools are worth. 1 where a rerun failed for another reason than the tool's absence."""
    settings, path = library_meant(args)
    if args.offline and not args.replay:
        raise UserError("--offline belongs to --replay RUN: the record alone asks no model")
    catalogue = Catalogue.of(browsing.opened(path).path)
    for name in args.tools:
        if name not in catalogue.tools or catalogue.tools[name].problem:
            raise UserError(unknown(name, catalogue))
    found = _records(path, catalogue, args.tools)
    if args.replay:
        return _replayed(args, settings, path, found)
    width = terminal_width()
    limit = args.limit if args.limit is not None else AT_A_TERMINAL if width and not args.json else 0
    shown = found[: limit or None]
    if args.json:
        as_json({"library": str(path), "total": len(found), "tools": [_plain(one) for one in shown]})
        return 0
    if not found:
        print(report_line(f"no tools in {path}"))
        return 0
    lines(table(_HEADS, [_cells(one) for one in shown], width))
    if len(shown) < len(found):
        print(f"{len(shown):,} of {len(found):,} tools; --limit 0 shows all")
    return 0


_HEADS = ("NAME", "WORTH", "CALLS", "GOOD", "FAILED", "TASKS", "SAVED TOKENS", "LAST USED", "PASSED OVER")


def _records(path: Path, catalogue: Catalogue, said: Sequence[str]) -> list[WorthRecord]:
    """What is on record of the tools that are meant, those of most worth first."""
    folder = browsing.opened(path).path
    meant = [one for name, one in catalogue.tools.items() if not one.problem and (not said or name in said)]
    found = [record_of(folder, one.name, one.aliases, one.counts, one.card.worth) for one in meant]
    return sorted(found, key=lambda one: (-one.worth, -one.saved_tokens, one.name))


def _plain(one: WorthRecord) -> dict[str, object]:
    used = None if one.last_used is None else datetime.fromtimestamp(one.last_used, UTC).isoformat(timespec="seconds")
    return {**one.model_dump(mode="json"), "last_used": used}


def _cells(one: WorthRecord) -> tuple[str, ...]:
    used = "" if one.last_used is None else age_text(max(0.0, time.time() - one.last_used))
    counts = (one.calls, one.success, one.failure, one.tasks, one.saved_tokens)
    return (one.name, f"{one.worth:.2f}", *(f"{n:,}" if n else "" for n in counts), used, f"{one.offered or ''}")


def _replayed(args: Namespace, settings: Settings, path: Path, found: Sequence[WorthRecord]) -> int:
    from habilis.training.rerunning import concerned, rerun, taped_tasks

    run = find_run(Path(settings.runs_dir), args.replay)
    tasks = taped_tasks(run, path)
    wanted = [(one.name, concerned(tasks, one.name)) for one in found]
    progress = Progress(sum(len(some) for _, some in wanted), "tasks run again:")
    rows: list[tuple[str, int, list[Rerun]]] = []
    try:
        for name, some in wanted:
            work = rerun(some, name, settings, pay=not args.offline, told=lambda one: progress.step())
            rows.append((name, len(tasks) - len(some), run_to_end(work) if some else []))
    finally:
        progress.clear()
    if args.json:
        as_json({"run": run.name, "library": str(path), "offline": args.offline, "tools": [_tool(*r) for r in rows]})
    else:
        _print_reruns(rows, len(tasks))
    return 1 if any(one.without_it and one.without_it.status in _FAILED for _, _, some in rows for one in some) else 0


_FAILED = {"environment_error", "crashed"}


def _tool(name: str, untouched: int, some: Sequence[Rerun]) -> dict[str, object]:
    return {"name": name, "untouched": untouched, "tasks": plainly(some)}


def _print_reruns(rows: Sequence[tuple[str, int, list[Rerun]]], tasks: int) -> None:
    told = [(name, some) for name, _, some in rows if some]
    for name, some in told:
        whole = [one for one in some if one.without_it is not None]
        sides = [(one.with_it, one.without_it) for one in whole if one.without_it is not None]
        print(report_line(f"{name}: {len(some)} of {tasks} taped tasks were shown it or called it"))
        if sides:
            lines([f"  with it     {_sum([a for a, _ in sides])}", f"  without it  {_sum([b for _, b in sides])}"])
            print(f"  paid        {sum(one.paid_tokens for one in some):,} tokens")
        for one in some:
            lines([f"  {one.task_id}  {_told(one)}"])
    if silent := len(rows) - len(told):
        print(f"{silent} tool{'s' * (silent != 1)} that no taped task was shown")


def _sum(sides: Sequence[TaskTotals]) -> str:
    answered, tokens = sum(one.answered for one in sides), sum(one.tokens for one in sides)
    calls = sum(one.calls for one in sides)
    return f"answered {answered} of {len(sides)}, {tokens:,} tokens, {calls:,} call{'s' * (calls != 1)}"


def _told(one: Rerun) -> str:
    end = "" if one.without_it is None else f"{one.without_it.status.replace('_', ' ')} without it; "
    return one_line(f"{end}{f'they part at {one.parted}' if one.parted else 'they never part'}", 300)
