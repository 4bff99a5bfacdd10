"""The verbs that change a library: merge, promote, retire, quarantine, revive, pin, unpin, rollback."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from habilis.cli.curating.showing import as_json, lines
from habilis.config import Settings
from habilis.core.errors import UserError
from habilis.curation.manual.change import ChangeRefused, HandReport
from habilis.curation.manual.tending import Tending
from habilis.rundir import find_run
from habilis.terminal.choices import library_meant
from habilis.terminal.interrupting import run_to_end
from habilis.terminal.wording import one_line, report_line


def change(args: Namespace) -> int:
    """Make the change that `args.verb` says. 1 when its gate refuses."""
    settings, path = library_meant(args)
    tending = Tending(path, settings, told=_say)
    try:
        report = run_to_end(_asked(args, tending, settings))
    except ChangeRefused as refused:
        if args.json:
            as_json({"refused": str(refused), "evidence": list(refused.evidence)})
        else:
            _say(f"habilis: {refused}")
            for line in refused.evidence:
                _say(f"  {line}")
        return 1
    if args.json:
        as_json(report.model_dump(mode="json", exclude={"usage", "seconds"}))
    else:
        lines(told(report))
    return 0


def prune(args: Namespace) -> int:
    """Pack old generations."""
    settings, path = library_meant(args)
    tending = Tending(path, settings, told=_say)
    gone = run_to_end(tending.prune(args.keep, runs=Path(settings.runs_dir), dry_run=args.dry_run))
    if args.json:
        as_json({"dry_run": args.dry_run, "packed": gone})
        return 0
    what = "would be packed" if args.dry_run else "packed"
    print(f"{what}: {', '.join(map(str, gone)) or 'none'}; 'rollback' unpacks what it needs")
    return 0


def _asked(args: Namespace, tending: Tending, settings: Settings) -> Coroutine[Any, Any, HandReport]:
    verb, dry = args.verb, args.dry_run
    if verb == "merge":
        return tending.merge(args.tools, into=args.into, policy=args.policy, dry_run=dry)
    if verb == "promote":
        return tending.promote(source_of(args.source, Path(settings.runs_dir)), under=args.under, dry_run=dry)
    if verb == "revive":
        return tending.revive(args.tool, under=args.under, dry_run=dry)
    if verb == "rollback":
        return tending.rollback(args.generation, dry_run=dry)
    if verb in ("pin", "unpin"):
        return tending.pin(args.tools, pinned=verb == "pin", dry_run=dry)
    if not args.reason.strip():
        raise UserError("--reason is empty; say why, it stays with the tool")
    take = tending.retire if verb == "retire" else tending.quarantine
    return take(args.tools, args.reason, dry_run=dry)


def source_of(said: str, runs: Path) -> Path:
    """The file that `said` means: itself, or RUN:TOOL or RUN:TASK:TOOL. Raises `UserError`."""
    path = Path(said).expanduser()
    if path.exists() or ":" not in said or said.endswith(".py"):
        return path
    run, _, rest = said.partition(":")
    task_id, _, name = rest.rpartition(":")
    folder = find_run(runs, run)
    found = {
        task.id: file
        for task in folder.tasks()
        if task_id in ("", task.id) and (file := task.tools / f"{name}.py").is_file()
    }
    if len(found) > 1:
        raise UserError(
            f"{said}: several tasks made one; say which: {', '.join(f'{run}:{one}:{name}' for one in found)}"
        )
    if not found:
        made = sorted({file.stem for task in folder.tasks() for file in task.tools.glob("*.py")})
        raise UserError(f"{said}: no task of run {folder.name} has it; they have {', '.join(made[:10]) or 'no tools'}")
    return next(iter(found.values()))


def told(report: HandReport) -> list[str]:
    """What a change did, in lines."""
    would = "would be " if report.dry_run else ""
    found = []
    for fate in report.fates:
        name = fate.tool.rpartition("@")[0].rpartition(":")[2]
        reason = f": {one_line(fate.reason, 300)}" if fate.reason else ""
        if fate.ending == "kept" and fate.into == name and ":" not in fate.tool:
            continue
        if fate.ending == "kept":
            found.append(f"{fate.tool} {would}taken into use as {fate.into}{reason}")
        elif fate.ending == "merged":
            found.append(f"{fate.tool} {would}merged into {fate.into}")
        else:
            found.append(f"{fate.tool} {would}{fate.ending}{reason}")
    found += [f"note: {note}" for note in report.notes] + [one_line(line, 500) for line in report.evidence]
    if not report.changed:
        return [*found, "nothing to do: the library is so already"]
    tools = f"{report.tools:,} tool{'' if report.tools == 1 else 's'}"
    if report.dry_run:
        return [*found, f"{report.asked}: nothing was changed (--dry-run); there would be {tools}"]
    return [*found, f"{report.asked}: generation {report.generation}, {tools}"]


def _say(text: str) -> None:
    print(report_line(text), file=sys.stderr)
