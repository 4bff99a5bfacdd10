"""Which function does the work of each command. Only the module of the one that is asked for is imported."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from importlib import import_module
from typing import Any

CHANGES = ("merge", "promote", "retire", "quarantine", "revive", "pin", "unpin", "rollback")
WORK = {
    "run": "run.run",
    "chat": "chat.chat",
    "threads list": "threads.list_",
    "threads show": "threads.show",
    "threads remove": "threads.remove",
    "evolve": "evolve.evolve",
    "runs list": "runs.list_",
    "runs show": "runs.show",
    "runs stats": "stats.stats",
    "runs check": "checking.check",
    "runs clean": "runs.clean",
    "runs resume": "evolve.resume_any",
    "score": "score.score",
    # A shell waits for `library list` at every key: what runs and changes tools is not even imported for it.
    "library list": "curating.looking.list_",
    "library show": "curating.looking.show",
    "library search": "curating.looking.search",
    "library history": "curating.looking.history",
    "library diff": "curating.looking.diff",
    "library stats": "curating.looking.stats",
    "library doctor": "curating.looking.doctor",
    "library check": "curating.proving.check",
    "library test": "curating.proving.test",
    "library prove": "curating.proving.prove",
    "library dedupe": "curating.proving.dedupe",
    "library worth": "curating.weighing.worth",
    **{f"library {verb}": "curating.changing.change" for verb in CHANGES},
    "library prune": "curating.changing.prune",
    "library call": "library.call",
    "library import": "exchange.import_",
    "library export": "exchange.export",
    "library verify": "exchange.verify",
    "library env list": "environments.list_",
    "library env prune": "environments.prune",
    "serve": "exchange.serve",
    **{f"tools {verb}": "external.tools" for verb in ("list", "check")},
    "view": "view.view",
    **{f"store {verb}": "store.store" for verb in ("init", "check", "migrate")},
    "store prune": "store.prune",
    "completion": "completion.completion",
    "config show": "settings.show",
    "config init": "settings.init",
    "doctor": "doctor.doctor",
}
"""By the words of a command, the function in `habilis.cli`."""
_OF_A_TEAM = ("run", "chat", "runs resume")


def work_of(args: Namespace, team_factory: Callable[..., Any] | None) -> int:
    """Do what `args` ask for; returns the exit code."""
    words = " ".join(filter(None, (args.command, getattr(args, "verb", None), getattr(args, "env_verb", None))))
    module, _, name = WORK[words].rpartition(".")
    work: Callable[..., int] = getattr(import_module(f"habilis.cli.{module}"), name)
    return work(args, team_factory) if words in _OF_A_TEAM else work(args)
