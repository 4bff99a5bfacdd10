"""`habilis library VERB`: a library looked at, proved and changed by hand. What it does is `curation/manual/`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable

LOOKING = ("list", "show", "search", "history", "diff", "stats", "doctor")
PROVING = ("check", "test", "prove", "dedupe")
WEIGHING = ("worth",)
CHANGING = ("merge", "promote", "retire", "quarantine", "revive", "pin", "unpin", "rollback")
PRUNING = ("prune",)
VERBS = (*LOOKING, *PROVING, *WEIGHING, *CHANGING, *PRUNING)


def run(args: Namespace) -> int:
    """Do what `args.verb` says; returns the exit code. Raises `UserError` for bad usage."""
    found: dict[str, Callable[[Namespace], int]]
    if args.verb in LOOKING:  # a shell waits for `list` at every key: what runs and changes tools is not even imported
        from habilis.cli.curating import looking

        found = {
            "list": looking.list_,
            "show": looking.show,
            "search": looking.search,
            "history": looking.history,
            "diff": looking.diff,
            "stats": looking.stats,
            "doctor": looking.doctor,
        }
    elif args.verb in PROVING:
        from habilis.cli.curating import proving

        found = {"check": proving.check, "test": proving.test, "prove": proving.prove, "dedupe": proving.dedupe}
    elif args.verb in WEIGHING:
        from habilis.cli.curating import weighing

        found = {"worth": weighing.worth}
    else:
        from habilis.cli.curating import changing

        found = {"prune": changing.prune, **dict.fromkeys(CHANGING, changing.change)}
    return found[args.verb](args)
