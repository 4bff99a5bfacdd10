"""`habilis library env list | prune`: the packages that were installed for tools, and the room that they take."""

from __future__ import annotations

import json
import sys
import time
from argparse import Namespace
from pathlib import Path

from habilis.runtime.packages.environments import environments_folder
from habilis.runtime.packages.pruning import PruningRule, going, kept, take_away
from habilis.terminal.asking import removal_confirmed
from habilis.terminal.tables import table, terminal_width
from habilis.terminal.wording import age_text, bytes_of, one_line, report_line, seconds_of, size_text


def list_(args: Namespace) -> int:
    """Print the environments, the last used first, with packages, last use and size."""
    folder = _folder()
    found = kept(folder)
    if args.json:
        rows = [
            {
                "name": one.name,
                "path": str(one.path),
                "packages": list(one.packages),
                "requirements": list(one.asked),
                "bytes": one.bytes,
                "last_used": one.used,
                "stays": one.stays or None,
            }
            for one in found
        ]
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return 0
    if not found:
        print(f"no environments in {report_line(str(folder))}")
        return 0
    now = time.time()
    cells = [
        (
            one.name,
            age_text(max(0.0, now - one.used)),
            size_text(one.bytes),
            one.stays,
            one_line(", ".join(one.packages)),
        )
        for one in found
    ]
    heads = ("ENVIRONMENT", "LAST USE", "SIZE", "", "PACKAGES")
    print("\n".join(table(heads, cells, terminal_width(), spare=("SIZE", "LAST USE"))))
    total = size_text(sum(one.bytes for one in found))
    print(f"{len(found)} environment{'' if len(found) == 1 else 's'}, {total}, in {report_line(str(folder))}")
    return 0


def prune(args: Namespace) -> int:
    """Remove environments by last use and size, and what killed builds left; asks first at a terminal."""
    rule = PruningRule(
        seconds_of(args.older_than, "--older-than") if args.older_than is not None else None,
        bytes_of(args.max_size, "--max-size") if args.max_size is not None else None,
    )
    go = going(_folder(), rule, time.time())
    whole = [one for one in go if one.why != "leftover" and not one.path.name.startswith("lock-")]
    many = f"{len(whole)} environment{'' if len(whole) == 1 else 's'}"
    shown = (f"{one.path.name} ({size_text(one.bytes)})" for one in whole)
    if whole and not args.dry_run and not args.yes and not removal_confirmed(many, shown):
        return 1
    done = go if args.dry_run else [one for one in go if take_away(one)]
    freed = sum(one.bytes for one in done)
    if args.json:
        rows = [{"name": one.path.name, "bytes": one.bytes, "why": one.why} for one in done]
        busy = [one.path.name for one in go if one not in done]
        print(json.dumps({"dry_run": args.dry_run, "removed": rows, "bytes": freed, "in_use": busy}, indent=2))
        return 0
    word = "would remove" if args.dry_run else "removed"
    for one in done:
        print(report_line(f"{word} {one.path.name} ({size_text(one.bytes)}, {_WHY[one.why]})"))
    for one in go:
        if one not in done:
            print(report_line(f"kept {one.path.name}: in use"), file=sys.stderr)
    print(f"{'would free' if args.dry_run else 'freed'} {size_text(freed)}")
    if not args.older_than and not args.max_size:
        print("only leftovers of killed builds were removed; --older-than 30d or --max-size 2GB removes environments")
    return 0


_WHY = {"age": "not used for that long", "size": "to fit the size", "leftover": "left by a build that was killed"}


def _folder() -> Path:
    return environments_folder()
