"""`habilis runs list | show | clean`: what runs left behind."""

from __future__ import annotations

import json
import sys
import time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from habilis.cli.checking import runs_folder, tell_damage
from habilis.cli.history import TaskHistory, read_history
from habilis.cli.terminal.wording import age_text, bytes_of, one_line, plain, report_line, seconds_of, size_text
from habilis.core.errors import UserError
from habilis.core.usage import NOTHING, money_text
from habilis.rundir import (
    Cleaning,
    RunDir,
    cleanable,
    find_run,
    finish_removals,
    list_runs,
    plain_json,
    read_jsonl,
    read_plain,
)

if TYPE_CHECKING:
    from argparse import Namespace

    from habilis.rundir import TaskDir, TrainingDir

MIN_QUESTION = 20
"""Columns below which a question is not worth showing."""


def list_(args: Namespace) -> int:
    """Print the runs, newest first, with state, age and size."""
    root = runs_folder(args)
    runs = list_runs(root)
    rows = [_row(run) for run in runs[: args.limit]]
    if args.json:
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return 0
    if not rows:
        print(f"no runs in {plain(str(root))}")
        return 0
    cells = [[r["name"], r["status"] or r["state"], age_text(r["age_s"]), size_text(r["bytes"])] for r in rows]
    cells = [["RUN", "STATE", "AGE", "SIZE"], *cells]
    if any(r["cost"] for r in rows):
        costs = ["?" if r["cost"] is None else money_text(Decimal(str(r["cost"]))) for r in rows]
        cells = [[*row, cost] for row, cost in zip(cells, ["COST", *costs], strict=True)]
    widths = [max(_cells(cell) for cell in column) for column in zip(*cells, strict=True)]
    for row, question in zip(cells, ["QUESTION", *(r["question"] for r in rows)], strict=True):
        line = "  ".join(plain(cell) + " " * (w - _cells(cell)) for cell, w in zip(row, widths, strict=True))
        room = _columns() - sum(widths) - 2 * len(widths)  # too little for a question: the name tells enough of it
        print(f"{line}  {_fit(question, room) if room >= MIN_QUESTION else ''}".rstrip())
    if len(runs) > len(rows):
        print(f"… and {len(runs) - len(rows)} older ones; --limit shows more")
    return 0


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
    told = lines(training)
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
    if go and not args.dry_run and not args.yes and not _confirmed(go):
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


def _confirmed(go: list[tuple[RunDir, int]]) -> bool:
    if not (sys.stdin is not None and sys.stdin.isatty()):
        raise UserError(f"{len(go)} runs would be removed; confirm with --yes, or look first with --dry-run")
    for run, size in go:
        print(report_line(f"  {run.name} ({size_text(size)})"), file=sys.stderr)
    print(f"remove {len(go)} run{'' if len(go) == 1 else 's'}? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _row(run: RunDir) -> dict[str, Any]:
    tasks, training = run.tasks(), run.training
    statuses = {str(task.state_record().get("status") or "") for task in tasks} if training is None else set()
    state = run.state()
    done = state in {"finished", "failed"}
    return {
        "name": run.name,
        "path": str(run.path),
        "state": state,
        "status": statuses.pop() if done and len(statuses) == 1 else "",
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


def read_question(run: RunDir) -> str:
    """The question of the run's first task, "" when it cannot be read."""
    for task in run.tasks():
        try:
            return str(plain_json(read_plain(task.task))["task"]["question"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return ""


def _print_task(history: TaskHistory) -> None:
    for label, text in history.lines():
        first, *rest = plain(text).split("\n")
        print(f"{label:<8} {first}".rstrip())
        for line in rest:
            print(f"{'':<8} {line}".rstrip())


def _columns() -> int:
    import shutil

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000


def _cells(text: str) -> int:
    """Columns that `text` takes on a terminal; wide characters take two."""
    import unicodedata

    return sum(2 if unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c) for c in plain(text))


def _fit(text: str, room: int) -> str:
    if _cells(text) <= room:
        return text
    while text and _cells(text) > room - 1:
        text = text[:-1]
    return text.rstrip() + "…"
