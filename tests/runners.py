"""The runners of this machine, by name, as settings. What a user is promised of one holds for all."""

RUNNERS = {"local": [], "workers": ["evolution.workers=2"], "process": ["evolution.runner=process"]}
APART = ("workers", "process")
"""Those whose tasks run in other processes."""


def words(runner: str) -> list[str]:
    """A runner as words of a command line."""
    return [word for setting in RUNNERS[runner] for word in ("--set", setting)]
