"""`habilis threads list | show | remove`: conversations that were held."""

from __future__ import annotations

import json
import sys
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

from habilis.cli.checking import tell_damage
from habilis.core.errors import UserError
from habilis.rundir import TaskDir, ThreadDir, list_threads
from habilis.terminal.choices import load
from habilis.terminal.granting import at_terminal
from habilis.terminal.tables import table, terminal_width
from habilis.terminal.wording import age_text, one_line, plain


def list_(args: Namespace) -> int:
    """Print the conversations, the last used first."""
    root = _root(args)
    rows = sorted((_row(thread) for thread in list_threads(root)), key=lambda row: (row["age_s"], row["name"]))
    if args.json:
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return 0
    if not rows:
        print(f"no conversations in {plain(str(root))}")
        return 0
    cells = [
        (row["name"], f"{row['turns']}", row["state"], age_text(row["age_s"]), one_line(row["last"], 400))
        for row in rows
    ]
    heads = ("THREAD", "QUESTIONS", "STATE", "AGE", "LAST QUESTION")
    print("\n".join(table(heads, cells, terminal_width(), spare=("QUESTIONS", "AGE"))))
    return 0


def show(args: Namespace) -> int:
    """Print one conversation: each question, its tool calls, its answer."""
    thread = _named(args, args.thread)
    tell_damage(thread.run)
    records = _records(thread)
    if args.json:
        rows = [record.turn.model_dump(mode="json") for record in records]
        document = {"thread": thread.name, "path": str(thread.path), "turns": rows}
        print(json.dumps(document, ensure_ascii=False, indent=2))
        return 0
    for record in records:
        turn = record.turn
        print(plain(f"{turn.number}. {turn.question}"))
        for call in (call for calls in turn.rounds for call in calls):
            arguments = one_line(json.dumps(call.arguments, ensure_ascii=False), 100)
            print(plain(f"   {call.tool} {arguments} → {one_line(call.result, 100)}"))
        print(plain("   " + turn.answer.replace("\n", "\n   ")))
        if turn.made:
            print(plain(f"   files: {', '.join(turn.made)}"))
    return 0


def remove(args: Namespace) -> int:
    """Remove conversations. Asks at a terminal; elsewhere only --yes will do."""
    threads = [_named(args, name) for name in args.threads]
    if not args.yes:
        if not at_terminal():
            raise UserError("removing asks first; where nobody can be asked, use --yes")
        print(f"remove {', '.join(plain(thread.name) for thread in threads)}? [yes/no] ", end="", file=sys.stderr)
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            return 1
    for thread in threads:
        with thread.lock():
            thread.run.remove()
        print(f"removed {plain(thread.name)}")
    return 0


def _root(args: Namespace) -> Path:
    return Path(load(args).settings.runs_dir)


def _named(args: Namespace, name: str) -> ThreadDir:
    thread = ThreadDir.named(_root(args), name)
    thread.record()
    return thread


def _records(thread: ThreadDir) -> list[Any]:
    from habilis.agents.turns import read_turn

    return [record for turn in thread.turns() if (record := read_turn(turn)) is not None]


def _row(thread: ThreadDir) -> dict[str, Any]:
    turns = thread.turns()
    last = turns[-1] if turns else None
    return {
        "name": thread.name,
        "turns": len(turns),
        "state": last.read_state() if last else "created",
        "age_s": max(0.0, time.time() - _used(thread, last)),
        "last": _question(last),
        "path": str(thread.path),
    }


def _used(thread: ThreadDir, last: TaskDir | None) -> float:
    """When it was last used, in seconds since the epoch."""
    at = last.state_record().get("at") if last else None
    return float(at) if isinstance(at, int | float) else thread.run.created


def _question(last: TaskDir | None) -> str:
    try:
        stored = last.load_task() if last else None
    except UserError:
        return ""
    return stored[0].question if stored else ""
