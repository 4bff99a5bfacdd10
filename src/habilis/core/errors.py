"""Errors, sorted by who must act on them.

A tool's failure is no exception at all: it is a value (`types.CallError`) that the model reads.
What stands here either ends a task with an honest status or ends the command with one clear line.
"""

import errno

NOT_PLAIN = "it is a link, a pipe or a device; Habilis writes plain files and follows no link in a folder of its own"


class HabilisError(Exception):
    """Base of every error that Habilis raises on purpose. Its text is one line for a person."""


class UserError(HabilisError):
    """A person must act: bad usage, configuration or input. Ends the command with exit code 2."""


class ReplayMismatch(UserError):
    """A replay asked the model something that the tape does not hold; names the first such request."""


class ModelError(HabilisError):
    """Base of what can go wrong with a model service."""


class ModelUnreachable(ModelError):
    """No answer can be had: no connection, 401, 403, 404, a bad request, retries exhausted. Exit code 3."""


class ModelMisconfigured(ModelUnreachable):
    """No answer can be had until a person mends the address, the key or the model's name. Exit code 2."""


class ModelReplyUnusable(ModelError):
    """The model answers, but never in the form asked for, corrections included. Ends in `gave_up`."""


class ReplyTooSlow(ModelReplyUnusable):
    """A reply took longer than its purpose may take. The model may be at work still; nobody waits for it."""


class PlaceError(HabilisError):
    """This machine fails: disk, cache, descriptors, memory, interpreter, sandbox. No tool, model or judge is to blame.

    Ends the task with status `environment_error`, the command with exit code 5; its text says what to do.
    """


class SandboxUnavailable(PlaceError):
    """Nothing strong enough to run generated code works on this machine."""


class LeaseHeld(UserError):
    """Somebody else, `owner`, holds what was asked for."""

    def __init__(self, text: str, owner: str = "") -> None:
        super().__init__(text)
        self.owner = owner


class LeaseLost(PlaceError):
    """This process was taken for dead and another one went on in its place: it may write nothing more."""


class StoreConflict(PlaceError):
    """Something else stands in the store than what was to be replaced: another process wrote it."""


class WriterFailed(HabilisError):
    """A code writer gave no code. The smith feeds the reason back or gives the tool up."""


class BudgetReached(HabilisError):
    """A token or time budget is used up. Ends the task with status `budget`, all work kept."""


class Interrupted(HabilisError):
    """The user asked for an end (Ctrl-C once): the step is finished, the result is written."""


class NotPlain(OSError):
    """What lies at `path` is no plain file (or no plain folder). Whoever put it there did that, not this machine."""

    def __init__(self, path: object) -> None:
        super().__init__(errno.ELOOP, NOT_PLAIN, str(path))
