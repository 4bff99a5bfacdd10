"""`habilis evolve`: a training run from the command line, from a data set to a better library."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.cli.plot import check_plot, write_plot
from habilis.cli.training import TrainingConsole, report
from habilis.config import Loaded, Settings
from habilis.core.errors import UserError
from habilis.rundir import RunDir, TrainingDir, find_run, list_runs, read_jsonl
from habilis.terminal.choices import chosen_settings, load
from habilis.terminal.console import SinkHandler, make_console
from habilis.terminal.interrupting import guarded
from habilis.terminal.wording import report_line

if TYPE_CHECKING:
    from argparse import Namespace

    from habilis.curation.ledger.reports import Row
    from habilis.training.outcome import Training


def evolve(args: Namespace, factory: Callable[..., Any] | None = None) -> int:
    """Train, or go on with a run; returns the exit code. Raises `UserError` for bad usage."""
    if args.plot:
        check_plot(args.plot)
    args.stop_file = str(Path(args.stop_file).absolute()) if args.stop_file else None
    args.set = [*args.set, *([("tools.synthesis", False)] if args.freeze else [])]
    if args.resume:
        return resume(args, _named_run(args), factory)
    if args.again:
        raise UserError("--again runs rows of a run once more; add --resume")
    if args.feed and (args.library or args.freeze):
        other = "--library" if args.library else "--freeze"
        raise UserError(f"--feed works on the library that it names, {other} leaves it as it is; leave out one of them")
    if not args.dataset:
        raise UserError("no data set; for example: habilis evolve --dataset tasks.jsonl --run-name first")
    loaded = load(args)
    _prepare(loaded.settings, factory)
    rows, about = _rows(args, loaded)
    about["chosen_settings"] = chosen_settings(loaded)
    session = _Session(args, loaded, factory or _evolution(), library=_path(args.library), feed=_path(args.feed))
    name = args.run_name
    session.expect(len(rows) - args.start, {})
    return session.drive(
        lambda evolution: evolution.run(rows, name=name, start=args.start, base=_base(args.dataset), about=about),
        lambda: Path(loaded.settings.runs_dir) / name if name else None,
    )


def resume(args: Namespace, run: RunDir, factory: Callable[..., Any] | None = None) -> int:
    """Go on with the training run `run`."""
    run.accept(trust=args.trust, tasks=())
    record = run.read_run()
    size = (record.get("training") or {}).get("batch_size")
    if getattr(args, "batch_size", None) not in (None, size):
        raise UserError(f"run {run.name} has steps of {size} tasks; that cannot be changed in the middle of it")
    froze = getattr(args, "freeze", False) and record["training"].get("synthesis", True)
    if getattr(args, "start", 0) or froze or getattr(args, "feed", None):
        raise UserError("--start, --freeze and --feed belong to the start of a run; leave them out with --resume")
    loaded = load(args, record.get("chosen_settings") or {})
    _prepare(loaded.settings, factory)
    session = _Session(args, loaded, factory or _evolution())
    if not args.quiet:
        session.expect(*_left_of(run, args.again), size)
    seen: dict[str, Any] = {} if run.is_ours(()) else {"trust": True}  # no key is there: the run was looked at above
    if args.again:
        seen["again"] = [status.strip() for status in args.again.split(",")]
    return session.drive(lambda evolution: evolution.resume(run.path, **seen), lambda: run.path)


def resume_any(args: Namespace, team_factory: Callable[..., Any] | None = None) -> int:
    """Go on with the training run that `habilis runs resume` names, or with a task where it names none.

    Raises `UserError` for one task of a training run.
    """
    settings = load(args).settings
    if args.run is not None:
        _bring(settings, args.run)
    run = find_run(Path(settings.runs_dir), args.run) if args.run is not None else None
    if run is None or run.training is None:
        if args.again:
            raise UserError("--again runs rows of a training run once more; name one")
        from habilis.cli.run import resume as resume_task

        return resume_task(args, team_factory)
    if args.task_id is not None or args.answer is not None:
        raise UserError("--task-id and --answer are for single tasks; leave them out to resume a training run")
    args.plot = None
    return resume(args, run)


class _Session:
    """One training run at work for the command line: account, signals, result."""

    def __init__(self, args: Namespace, loaded: Loaded, factory: Callable[..., Any], **libraries: Path | None) -> None:
        self._args, self._settings = args, loaded.settings.evolution
        self._console = None if args.quiet else make_console(sys.stderr)
        self._sink = TrainingConsole(self._console, live=False if args.debug else None) if self._console else None
        if self._sink and not args.debug:
            logging.getLogger().handlers[:] = [SinkHandler(self._sink)]
        more: dict[str, Any] = {"sinks": [self._sink], "watch": self._sink.heard} if self._sink else {}
        self._evolution = factory(loaded.settings, scorer=_right, **libraries, **more)

    def expect(self, rows: int, ended: Mapping[str, str], size: int | None = None) -> None:
        """How many rows the run has, and which of them have their end; its steps have `size` tasks each."""
        if self._sink:
            size, most = size or self._settings.batch_size, self._settings.train_steps
            steps = -(-rows // size) if most is None else min(most, -(-rows // size))
            self._sink.board.expect(min(rows, steps * size), steps, ended)

    def drive(self, start: Callable[[Any], Coroutine[Any, Any, Training]], place: Callable[[], Path | None]) -> int:
        """Run `start(evolution)` to its end and report it. `place` is the run's folder, where that is known."""
        from habilis.training.outcome import read_training

        try:
            work = start(self._evolution)
            training = asyncio.run(guarded(work, self._ask_for_end, lambda: self._evolution.wind_down()))
        except asyncio.CancelledError:
            where = place()
            if where is None or RunDir(where).training is None:
                raise KeyboardInterrupt from None
            training = read_training(where)
        finally:
            if self._sink:
                self._sink.close()
        if self._args.plot:
            write_plot(training, Path(self._args.plot))
        return report(training, as_json=self._args.json, plot=not self._args.quiet)

    def _ask_for_end(self) -> None:
        if self._sink:
            self._sink.line("note", "finishing the tasks' steps; Ctrl-C again stops at once", "yellow", "yellow")
        self._evolution.interrupt()


def _path(given: str | None) -> Path | None:
    return Path(given) if given else None


def _prepare(settings: Settings, factory: Callable[..., Any] | None) -> None:
    """Have other processes load what they need for tasks, while this one loads what it needs itself."""
    if factory is None:
        from habilis.training.runners.choosing import prepare

        prepare(settings)


def _evolution() -> Callable[..., Any]:
    from habilis.training.trainer import Evolution

    return Evolution


async def _right(row: Row, prediction: str) -> bool | None:
    """Whether a prediction is right, as far as rules tell; what needs a judge is left to `habilis score`."""
    from habilis.evaluation.scoring import score

    return (await score(row, prediction, None)).right


def _rows(args: Namespace, loaded: Loaded) -> tuple[list[Row], dict[str, Any]]:
    """The rows of the data set, and what the run remembers of where they came from."""
    from habilis.cli.score import fields_of
    from habilis.evaluation import datasets

    fields = fields_of(args.fields) if args.fields else {}
    rows = datasets.load(args.dataset, format=args.format or "auto", fields=fields, notice=_say)
    path = args.dataset if args.dataset.startswith("hub:") else str(Path(args.dataset).expanduser().absolute())
    return rows, {"dataset": {"path": path, "format": args.format or "auto", "fields": fields}}


def _left_of(run: RunDir, again: str | None) -> tuple[int, dict[str, str]]:
    """How many rows a training run has, and how those ended that are not run any more."""
    from habilis.training.batch import is_over

    training = TrainingDir(run.path)
    reopened = [status.strip() for status in (again or "").split(",")]
    ends: dict[str, str] = {}
    with contextlib.suppress(OSError):  # the resume itself mends it, or says what is wrong
        over = [row for row in read_jsonl(training.predictions) if is_over(row)]
        ends = {str(row.get("task_id")): str(row["status"]) for row in over}
    return len(training.load_rows()), {row: said for row, said in ends.items() if said not in reopened}


def _base(dataset: str) -> Path | None:
    """The folder that file names in questions mean; None for a data set from the hub."""
    if dataset.startswith("hub:"):
        return None
    path = Path(dataset).expanduser().absolute()
    return path if path.is_dir() else path.parent


def _named_run(args: Namespace) -> RunDir:
    """The training run to go on with: that of --run-name, or the newest that has not come to its end."""
    settings = load(args).settings
    root = Path(settings.runs_dir)
    if args.run_name:
        _bring(settings, args.run_name)
        run = find_run(root, args.run_name)
        if run.training is None:
            raise UserError(f"{run.path} holds no training run that was begun; start it without --resume")
        return run
    for run in list_runs(root):
        if run.training is not None and (args.again or run.training.read_state() in ("stopped", "failed")):
            return run
    raise UserError(f"nothing to resume: no unfinished training run in {root}")


def _bring(settings: Settings, name: str) -> None:
    """Have the records of the run `name` here, where it is kept in a store and not on this disk."""
    if settings.store and "/" not in name:
        from habilis.training.holding import bring_records

        bring_records(settings, Path(settings.runs_dir) / name)


def _say(text: str) -> None:
    print(report_line(f"note  {text}"), file=sys.stderr)
