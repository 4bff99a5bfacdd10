"""Runners: who runs a task of a batch, and sees to it that a task which never ends, crashes or eats memory ends alone.

`local` runs all tasks in this process, `workers` spreads them over a few, `process` runs each in one of its own.
Results and records are the same.
"""

from habilis.training.runners.job import BatchRunner, Job
from habilis.training.runners.local import LocalRunner
from habilis.training.runners.process import ProcessRunner

__all__ = ["BatchRunner", "Job", "LocalRunner", "ProcessRunner"]
