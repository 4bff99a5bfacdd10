"""Runners: who runs a task of a batch, and sees to it that a task which never ends, crashes or eats memory ends alone.

`local` runs all tasks in this process, `workers` spreads them over a few, `process` runs each in one of its own.
Results and records are the same. The door is lazy: a process that only hands tasks out need not load what runs them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from habilis.core.doors import lazy_door

if TYPE_CHECKING:
    from habilis.training.runners.job import BatchRunner as BatchRunner
    from habilis.training.runners.job import Job as Job
    from habilis.training.runners.local import LocalRunner as LocalRunner
    from habilis.training.runners.process import ProcessRunner as ProcessRunner

_DOOR = {"BatchRunner": "job", "Job": "job", "LocalRunner": "local", "ProcessRunner": "process"}
__all__ = [*_DOOR]
__getattr__ = lazy_door(__name__, _DOOR)
