"""`habilis store`: the tables that runs are kept in, made, looked at and brought up to date."""

from __future__ import annotations

import argparse
import contextlib
from typing import TYPE_CHECKING, Any

from habilis.core.errors import UserError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

HELP = """Training runs can also be kept in a PostgreSQL database, so that they can continue on any machine: set store
to its address. These commands prepare the database and report what is wrong with it."""
EXIT_CODES = "exit codes: 0 all is well · 2 usage, configuration, password or tables · 5 the server cannot be reached"
VERBS = {
    "init": "create the tables of Habilis in the database",
    "check": "check whether the store can be reached and used",
    "migrate": "update the tables to this version of habilis",
}


def add_store(commands: Any, options: Callable[[argparse.ArgumentParser], None]) -> None:
    """The command `habilis store`."""
    store = commands.add_parser("store", help="prepare the database for runs", description=HELP)
    verbs = store.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, what in VERBS.items():
        options(verbs.add_parser(name, help=what, description=HELP, epilog=EXIT_CODES))


def store(args: Namespace) -> int:
    """Do what the verb says. Raises `UserError`, `PlaceError`."""
    from habilis.rundir import masked
    from habilis.rundir.store import open_store
    from habilis.terminal.choices import load

    url = load(args).settings.store
    if not url:
        raise UserError("no store is set; for example --set store=postgresql://host/database")
    shown = masked({"store": url})["store"]
    if args.verb != "check" and not url.startswith("file:"):
        print(_migrated(url, shown, fresh=args.verb == "init"))
        return 0
    with contextlib.closing(open_store(url)) as opened:
        lease = opened.lease("habilis store check", "habilis store check")
        opened.release(lease)
        runs = {name.partition("/")[0] for name in opened.names("")}
    print(f"{shown} can be used; it keeps {len(runs)} runs")
    return 0


def _migrated(url: str, shown: str, *, fresh: bool) -> str:
    try:
        from habilis.rundir.store.versions import migrate
    except ImportError as error:
        raise UserError(f"PostgreSQL needs the package psycopg ({error}): pip install 'habilis[postgres]'") from None
    before, after = migrate(url, fresh=fresh)
    if before == after:
        return f"{shown} has the tables of version {after} already"
    return f"{shown} has tables of version {after} now" + (f", from version {before}" if before else "")
