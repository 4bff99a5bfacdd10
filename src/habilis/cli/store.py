"""`habilis store`: the tables that runs are kept in, made, looked at, brought up to date and pruned."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.core.errors import UserError
from habilis.terminal.wording import report_line, size_text

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Collection

HELP = """Training runs can also be kept in a PostgreSQL database, so that they can continue on any machine: set store
to its address. These commands prepare the database and report what is wrong with it."""
EXIT_CODES = "exit codes: 0 all is well · 2 usage, configuration, password or tables · 5 the server cannot be reached"
VERBS = {
    "init": "create the tables of Habilis in the database",
    "check": "check whether the store can be reached and used",
    "migrate": "update the tables to this version of habilis",
}
PRUNE_HELP = """The store keeps every version of a file that a task or a library had. Removes the contents that no run
and no library refers to any longer, such as earlier versions of a task's files. Trainings may run meanwhile: what one
of them may still need stays. With --to each content is copied to a folder first; without it the command asks."""
PRUNE_CODES = (
    "exit codes: 0 done · 1 not confirmed · 2 usage, configuration, password or tables · 5 server or disk fails"
)


def add_store(commands: Any, options: Callable[[argparse.ArgumentParser], None]) -> None:
    """The command `habilis store`."""
    store = commands.add_parser("store", help="prepare the database for runs", description=HELP)
    verbs = store.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, what in VERBS.items():
        options(verbs.add_parser(name, help=what, description=HELP, epilog=EXIT_CODES))
    help_ = "remove contents that nothing refers to"
    prune = verbs.add_parser("prune", help=help_, description=PRUNE_HELP, epilog=PRUNE_CODES)
    options(prune)
    prune.add_argument("--to", metavar="FOLDER", help="first copy each content there, under its SHA-256")
    prune.add_argument("--dry-run", action="store_true", help="only report how much would be removed")
    prune.add_argument("--yes", action="store_true", help="do not ask")


def store(args: Namespace) -> int:
    """Do what the verb says. Raises `UserError`, `PlaceError`."""
    from habilis.rundir.store import open_store

    url, shown = _address(args)
    if args.verb != "check" and not url.startswith("file:"):
        print(_migrated(url, shown, fresh=args.verb == "init"))
        return 0
    with contextlib.closing(open_store(url)) as opened:
        lease = opened.lease("habilis store check", "habilis store check")
        opened.release(lease)
        runs = {name.partition("/")[0] for name in opened.names("")}
    print(f"{shown} can be used; it keeps {len(runs)} runs")
    return 0


def prune(args: Namespace) -> int:
    """Remove what nothing in the store refers to; asks first, unless it is copied. Raises `UserError`, `PlaceError`,
    OSError."""
    from habilis.rundir.store import copy_out, open_store
    from habilis.terminal.asking import removal_confirmed

    url, shown = _address(args)
    with contextlib.closing(open_store(url)) as opened:
        unused = opened.unused()
        gone: Collection[str] = unused.free
        if not args.dry_run and unused.free:
            if args.to is not None:
                copy_out(opened, unused.free, Path(args.to))
            elif not args.yes and not removal_confirmed(_many(unused.free.values()), ()):
                return 1
            gone = opened.remove(unused.free)
    text = _many([unused.free[digest] for digest in gone])
    out = f"{shown}: {'would remove' if args.dry_run else 'removed'} {text} that nothing refers to"
    if gone and args.to is not None and not args.dry_run:
        out += f"; copies are in {args.to}"
    if unused.held:
        out += f"; {_many(unused.held.values())} may be needed by trainings that are at work, and stay"
    print(report_line(out))
    return 0


def _many(sizes: Collection[int]) -> str:
    return f"{len(sizes)} content{'' if len(sizes) == 1 else 's'} ({size_text(sum(sizes))})"


def _address(args: Namespace) -> tuple[str, str]:
    """The address of the store, and the same as it may be shown. Raises `UserError`."""
    from habilis.rundir import masked
    from habilis.terminal.choices import load

    url = load(args).settings.store
    if not url:
        raise UserError("no store is set; for example --set store=postgresql://host/database")
    return url, masked({"store": url})["store"]


def _migrated(url: str, shown: str, *, fresh: bool) -> str:
    try:
        from habilis.rundir.store.versions import migrate
    except ImportError as error:
        raise UserError(f"PostgreSQL needs the package psycopg ({error}): pip install 'habilis[postgres]'") from None
    before, after = migrate(url, fresh=fresh)
    if before == after:
        return f"{shown} has the tables of version {after} already"
    return f"{shown} has tables of version {after} now" + (f", from version {before}" if before else "")
