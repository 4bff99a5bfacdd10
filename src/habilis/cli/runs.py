"""`habilis runs list | show | clean`: what runs left behind."""

from __future__ import annotations

import json
import sys
import time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from habilis.cli.checking import runs_folder, tell_damage
from habilis.cli.finding import matching, read_question, status_of
from habilis.cli.history import TaskHistory, read_history
from habilis.core.errors import UserError
from habilis.core.usage import NOTHING, money_text
from habilis.rundir import (
    Cleaning,
    RunDir,
    cleanable,
    find_run,
    finish_removals,
    list_runs,
    read_jsonl,
)
from habilis.terminal.asking import removal_confirmed
from habilis.terminal.tables import table, terminal_width
from habilis.terminal.wording import age_text, bytes_of, one_line, plain, report_line, seconds_of, size_text

if TYPE_CHECKING:
    from argparse import Namespace

    from habilis.rundir import TaskDir, TrainingDir


def list_(args: Namespace) -> int:
    """Print the runs, newest first, with state, age and size."""
    root = runs_folder(args)
    runs = list_runs(root)
    found = list(matching(runs, args.query, args.status)) if args.query or args.status is not None else runs
    rows = [_row(run) for run in found[: args.limit]]
    if args.json:
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return 0
    if not rows:
        print(f"none of {len(runs)} runs fits" if runs and not found else f"no runs in {plain(str(root))}")
        return 0
    print("\n".join(_table(rows)))
    if len(found) > len(rows):
        print(f"… and {len(found) - len(rows)} older ones; --limit shows more")
    return 0


def _table(rows: list[dict[str, Any]]) -> list[str]:
    heads = ["RUN", "STATE", "AGE", "SIZE", "QUESTION"]
    cells = [
        [row["name"], row["status"] or row["state"], age_text(row["age_s"]), size_text(row["bytes"]), row["question"]]
        for row in rows
    ]
    if any(row["cost"] for row in rows):
        costs = ["?" if row["cost"] is None else money_text(Decimal(str(row["cost"]))) for row in rows]
        cells = [[*row[:-1], cost, row[-1]] for row, cost in zip(cells, costs, strict=True)]
        heads.insert(-1, "COST")
    return table(heads, cells, terminal_width(), spare=("SIZE", "AGE", "COST"))


def show(args: Namespace) -> int:
    """Print what one run did: question, outcome, plans, tools, calls, thoughts, usage."""
    root = runs_folder(args)
    if args.run is None:
        newest = next(iter(list_runs(root)), None)
        if newest is None:
            raise UserError(f"no runs in {root}")
        run = newest
    else:
        run = find_run(root, args.run)
    record = run.read_run()
    if run.training is not None and args.task_id is None:
        code = _show_training(run, record, as_json=args.json)
        tell_damage(run)
        return code
    histories = [read_history(task) for task in run.tasks() if args.task_id in (None, task.id)]
    if args.task_id and not histories:
        known = ", ".join(task.id for task in run.tasks()) or "none"
        raise UserError(f"run {run.name} has no task {args.task_id}; it has: {known}")
    if args.json:
        document = {"run": record, "path": str(run.path), "tasks": [h.document() for h in histories]}
        print(json.dumps(document, ensure_ascii=False, indent=2, default=str))
        tell_damage(run)
        return 0
    print(plain(f"run      {run.path}"))
    print(plain(f"created  {record.get('created', '?')}, habilis {record.get('versions', {}).get('habilis', '?')}"))
    if not histories:
        print("no tasks")
    for history in histories:
        print()
        _print_task(history)
    tell_damage(run)
    return 0


def _show_training(run: RunDir, record: dict[str, Any], *, as_json: bool) -> int:
    """Print what a training run came to: figures of its steps, and the tasks that did not end with an answer."""
    from habilis.cli.training import lines
    from habilis.training.outcome import read_training

    training = read_training(run.path)
    ends = list(read_jsonl(run.path / "predictions.jsonl"))
    state = run.state()
    if as_json:
        document = {"run": record, "state": state, "training": training.model_dump(mode="json"), "predictions": ends}
        print(json.dumps(document, ensure_ascii=False, indent=2, default=str))
        return 0
    print(plain(f"created  {record.get('created', '?')}, habilis {record.get('versions', {}).get('habilis', '?')}"))
    told = lines(training, width=terminal_width())
    print("\n".join(plain(line) for line in told if state != "running" or not line.startswith("outcome ")))
    print(f"state    {state}")
    for row in ends:
        if row.get("status") != "answered":
            print(
                report_line(
                    f"  {row.get('task_id')}: {row.get('status')}: {one_line(str(row.get('error') or ''), 300)}"
                )
            )
    return 0


def clean(args: Namespace) -> int:
    """Remove finished runs by age, size and number; asks first at a terminal."""
    if args.older_than is None and args.max_size is None and args.keep is None:
        raise UserError("say what to clean: --older-than 30d, --max-size 2GB, --keep 20, or several of them")
    rule = Cleaning(
        seconds_of(args.older_than, "--older-than") if args.older_than is not None else None,
        bytes_of(args.max_size, "--max-size") if args.max_size is not None else None,
        args.keep,
        args.force,
    )
    root = runs_folder(args)
    go, stay = cleanable(root, rule, time.time())
    if not args.json:
        for run, state in stay:
            hint = "" if state == "running" or args.force else "; --force removes it"
            print(report_line(f"kept {run.name}: {state}{hint}"), file=sys.stderr)
    many, shown = f"{len(go)} run{'' if len(go) == 1 else 's'}", (f"{run.name} ({size_text(size)})" for run, size in go)
    if go and not args.dry_run and not args.yes and not removal_confirmed(many, shown):
        return 1
    removed = []
    if not args.dry_run:
        finish_removals(root)
    for run, size in go:
        if not args.dry_run:
            run.remove()
        removed.append({"name": run.name, "bytes": size})
        if not args.json:
            print(report_line(f"{'would remove' if args.dry_run else 'removed'} {run.name} ({size_text(size)})"))
    total = sum(size for _, size in go)
    if args.json:
        kept = [{"name": run.name, "state": state} for run, state in stay]
        print(json.dumps({"dry_run": args.dry_run, "removed": removed, "bytes": total, "kept": kept}, indent=2))
    else:
        word = "would free" if args.dry_run else "freed"
        print(f"{word} {size_text(total)} in {len(go)} run{'' if len(go) == 1 else 's'}")
    return 0


def _row(run: RunDir) -> dict[str, Any]:
    tasks, training = run.tasks(), run.training
    state, status = run.state(), status_of(run)
    return {
        "name": run.name,
        "path": str(run.path),
        "state": state,
        "status": "" if status == state else status,
        "tasks": len(tasks),
        "created": run.created,
        "age_s": max(0.0, time.time() - run.created),
        "bytes": run.size(),
        "cost": _cost(tasks, training),
        "question": one_line(read_question(run) if training is None else f"(training, {len(tasks)} tasks)", 400),
    }


def _cost(tasks: list[TaskDir], training: TrainingDir | None) -> float | None:
    """USD that a run has cost; None where that is not known."""
    costs = [where.state_record().get("cost") for where in (tasks if training is None else [training])]
    known = [Decimal(str(cost)) for cost in costs if isinstance(cost, int | float)]
    return float(sum(known, NOTHING)) if costs and len(known) == len(costs) else None


def _print_task(history: TaskHistory) -> None:
    for label, text in history.lines():
        first, *rest = plain(text).split("\n")
        print(f"{label:<8} {first}".rstrip())
        for line in rest:
            print(f"{'':<8} {line}".rstrip())
