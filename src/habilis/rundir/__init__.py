"""A run on disk: the only room that knows the layout of `runs/`.

runs/<name>/run.yaml                     format, settings in force (secrets masked), versions, sandbox level
runs/<name>/tasks/<id>/workspace/        the only place that the task's tools may write
runs/<name>/tasks/<id>/tools/            the task's private tools
runs/<name>/tasks/<id>/task.json         what was asked
runs/<name>/tasks/<id>/state.json        where it stands, readable at any time
runs/<name>/tasks/<id>/events.jsonl      all that happened, one line per event
runs/<name>/tasks/<id>/tape.jsonl        finished model and tool calls
runs/<name>/tasks/<id>/checkpoints.sqlite   the graph's state at each step
runs/<name>/tasks/<id>/result.json       the outcome
runs/<name>/tasks/<id>/absorbed.jsonl    how far its tools have come on their way into the library

a conversation is a run in `runs/threads/<name>/` whose tasks are its turns (`rundir.threads`),

and for a training run (`rundir.training`) in `runs/<name>/`: rows.jsonl, predictions.jsonl, scores.jsonl,
metrics.jsonl, journal.jsonl, events.jsonl, state.json, library, generations/, curator/, steps/<n>/, and
earlier/<id>.<n>/ of tasks that were begun anew. A run on a cluster has files/<digest>.json for each of its data files
(`rundir.datafiles`). What was damaged is kept in damaged/ of each run.
"""

from habilis.config import masked
from habilis.rundir.files import JsonlSink, append_line, atomic_write, read_jsonl
from habilis.rundir.keeping import (
    Cleaning,
    begin_anew,
    cleanable,
    find_run,
    finish_removals,
    list_runs,
    newest_unfinished,
)
from habilis.rundir.layout import UNFINISHED, RunDir, TaskDir
from habilis.rundir.names import THREADS, check_run_name, run_name, safe_id, slugify
from habilis.rundir.plain import check_plain_file, check_plain_folder, plain_json, read_plain
from habilis.rundir.scores import ScoresDir
from habilis.rundir.threads import ThreadDir, list_threads
from habilis.rundir.training import KeyedRows, TrainingDir

__all__ = [
    "THREADS",
    "UNFINISHED",
    "Cleaning",
    "JsonlSink",
    "KeyedRows",
    "RunDir",
    "ScoresDir",
    "TaskDir",
    "ThreadDir",
    "TrainingDir",
    "append_line",
    "atomic_write",
    "begin_anew",
    "check_plain_file",
    "check_plain_folder",
    "check_run_name",
    "cleanable",
    "find_run",
    "finish_removals",
    "list_runs",
    "list_threads",
    "masked",
    "newest_unfinished",
    "plain_json",
    "read_jsonl",
    "read_plain",
    "run_name",
    "safe_id",
    "slugify",
]
