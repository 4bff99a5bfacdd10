"""A training run: rows, predictions, figures, journal, generations, each against those that say the same."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, get_args

from habilis.checking.damages import Damage, Mender, readable_json, said
from habilis.checking.libraries import check_library
from habilis.checking.tasks import ENDED, check_task
from habilis.core.errors import UserError
from habilis.core.types import Status, TaskResult, Usage
from habilis.library.generations import Generations
from habilis.rundir import KeyedRows, RunDir, TaskDir, TrainingDir, append_line, marks, read_jsonl, safe_id
from habilis.rundir.damage import bad_lines
from habilis.rundir.training import fed_by, journal_line

STATUSES = frozenset(get_args(Status))
Log = list[dict[str, Any]]


def check_training(run: RunDir, *, repair: bool, whole: bool) -> list[Damage]:
    """What is damaged in the training run `run`; see `check_run`."""
    return _Training(run, repair, whole).check()


class _Training:
    def __init__(self, run: RunDir, repair: bool, whole: bool) -> None:
        self._run, self._repair, self._whole = run, repair, whole
        self._dir, self._mend = TrainingDir(run.path), Mender(run.path, repair)
        self._fixed: Mapping[str, Any] = run.read_run().get("training") or {}
        fed = fed_by(self._fixed)
        self._fed, self._library_at = fed.run, fed.folder or self._dir.library

    def check(self) -> list[Damage]:
        mend, here = self._mend, self._dir
        rows = self._rows()
        events = mend.log(here.events, lambda row: row["kind"])
        journal = mend.log(here.journal, lambda row: (row["step"], row["point"], row["payload"]))
        mend.found += self._library(journal)
        self._published(journal)
        steps = self._metrics(events)
        predictions = self._predictions(rows, events, steps)
        self._state(predictions)
        for row in rows:
            known = predictions.get(str(row["id"])) or {}
            if self._whole or known.get("step") not in steps:
                self._task(row, known, steps)
        self._curator()
        if steps and not events:
            mend.mend(here.events, "it is gone", "its account of the past is lost; what comes is written anew")
        return mend.found

    def _rows(self) -> Log:
        """The rows of the data set, [] where they are not those that the run began with."""
        path, what = self._dir.rows, ""
        try:
            rows, bad = bad_lines(path, lambda row: (row["id"], row["question"]))
            if bad:
                what = f"line {min(bad)} is damaged"
            elif "rows" in self._fixed and self._fixed["rows"] != marks.digest_of_file(path):
                what = "it has changed since the run began"
        except (OSError, UserError) as error:
            rows, what = [], f"it cannot be read: {said(error)}"
        if what:
            data = (self._run.read_run().get("dataset") or {}).get("path")
            other = f" on {data}" if data else ""
            do = f"restore it, or start another run{other}; answers so far stand in predictions.jsonl"
            self._mend.broken(path, what, do)
        return [] if what else rows

    def _library(self, journal: Log) -> list[Damage]:
        reports = [row["payload"].get("report") or {} for row in journal if row["point"] == "published"]
        published = max((int(report.get("generation") or 0) for report in reports), default=0)
        tools = [task.tools for task in self._run.tasks()]
        return check_library(
            self._library_at, repair=self._repair, sources=tools, published=published, whole=self._whole
        )

    def _published(self, journal: Log) -> None:
        """Steps whose generation is there and whose point is not: a step absorbed twice would count twice."""
        known = {row["step"] for row in journal if row["point"] == "published"}
        try:
            generations = Generations(self._library_at)
        except UserError:
            return
        for number in generations.numbers():
            report = generations.report(number) or {}
            step = report.get("step")
            ours = (report.get("run") or "") == self._fed
            if isinstance(step, int) and ours and "fates" in report and step not in known:
                tape = self._run.path / "curator" / f"step-{step:04d}.jsonl"
                payload = {"parent": report.get("parent") or 0, "report": report | {"usage": _paid(tape)}}
                line = journal_line(step, "published", payload)
                what, cure = f"step {step} is not marked as published", f"restored from generation {number}"
                self._mend.mend(self._dir.journal, what, cure, partial(append_line, self._dir.journal, line))

    def _metrics(self, events: Log) -> set[int]:
        """The steps that have their row of figures, those restored included."""
        there = {row["step"] for row in self._mend.log(self._dir.metrics, lambda row: row["step"] > 0)}
        told = {row["step"]: row["metrics"] for row in events if row["kind"] == "step_ended"}
        for step in sorted(told.keys() - there):
            self._put(self._dir.metrics, "step", told[step], f"the figures of step {step} are not there")
        return there | told.keys()

    def _predictions(self, rows: Log, events: Log, steps: set[int]) -> dict[str, dict[str, Any]]:
        """The predictions by id, those restored included."""
        path = self._dir.predictions
        found = {
            row["task_id"]: row for row in self._mend.log(path, lambda r: r["task_id"] and r["status"] in STATUSES)
        }
        told = {row["task_id"]: row for row in events if row["kind"] == "step_task_ended"}
        for number, row in enumerate(rows):
            name, known = str(row["id"]), found.get(str(row["id"]))
            step = number // max(int(self._fixed.get("batch_size") or 1), 1) + 1
            result = self._result(name) if known is None or self._whole or known.get("step") not in steps else None
            if known is None:
                known = _from_event(row, told.get(name)) or _from_result(row, step, result)
                if known is not None:
                    self._put(path, "task_id", known, f"the row {name} is not there")
                    found[name] = known
                elif step in steps:
                    cure = "the next resume answers it anew"
                    self._mend.mend(path, f"the row {name} is not there, nor what it came to", cure)
            elif _differ(known, result):
                better = known | {"prediction": result.final_answer if result else ""}
                self._put(path, "task_id", better, f"the row {name} is not what the task came to")
        return found

    def _task(self, row: Mapping[str, Any], known: Mapping[str, Any], steps: set[int]) -> None:
        """The folder of a row's task. What its step still needs of it is made anew from its tape."""
        task = self._folder(str(row["id"]))
        if not self._whole and known.get("status") not in ENDED and _has_question(task):
            self._mend.odd(task.path / ".lock")
            return  # its own resume looks at the rest, and tells of it
        if not task.path.is_dir():
            if known.get("status") in ENDED:
                self._mend.broken(task.path, "the task's folder is gone", "its answer stands in predictions.jsonl")
            return
        result = check_task(task, self._mend, alone=False)
        if result is not None or known.get("status") not in ENDED or known.get("open"):
            return
        if known.get("step") in steps:
            cure = "restored from predictions.jsonl, without its account of calls"
            self._mend.mend(task.result, "it is gone", cure, lambda: task.save_result(_result_of(row, known, task)))
            return
        self._put(
            self._dir.predictions,
            "task_id",
            {**known, "open": True},
            f"the task {row['id']} left no result",
            "the next resume makes it anew from the task's tape",
        )

    def _state(self, predictions: Mapping[str, Mapping[str, Any]]) -> None:
        path = self._dir.state
        damaged = os.path.lexists(path)
        if self._mend.document(path, "and made anew", lambda row: row["state"] and float(row.get("tokens", 0)) >= 0):
            return
        tokens = sum(_tokens(row.get("usage")) for row in predictions.values())
        seconds = sum(float(row.get("seconds") or 0) for row in read_jsonl(self._dir.metrics))
        more = {"stopped": "interrupted", "reason": "where it stood was lost; continue with --resume"}

        def write() -> None:
            self._dir.set_state("stopped", tokens=tokens, seconds=seconds, **more)

        if not damaged:
            self._mend.mend(path, "it is gone", "restored from predictions, figures and tapes", write)
        elif self._repair:
            write()

    def _curator(self) -> None:
        for tape in sorted((self._run.path / "curator").glob("*.jsonl")):
            self._mend.log(tape, lambda row: row["kind"])
        for build in sorted(self._run.path.glob("steps/*/builds/*.json")):
            self._build(build)

    def _build(self, path: Path) -> None:
        """What tasks of a step share; lost, a tool is built once more."""
        if self._mend.odd(path):
            return
        entry = readable_json(path)
        if not isinstance(entry, dict) or not {"task", "requests"} <= entry.keys():
            self._mend.aside(path, "it is not a record of a build", "nothing depends on it any more")

    def _folder(self, name: str) -> TaskDir:
        return TaskDir(self._run.path / "tasks" / safe_id(name))

    def _result(self, name: str) -> TaskResult | None:
        try:
            return self._folder(name).load_result()
        except UserError:
            return None

    def _put(self, path: Path, key: str, row: Mapping[str, Any], what: str, cure: str = "") -> None:
        def put() -> None:
            KeyedRows(path, key).put(row)

        self._mend.mend(path, what, cure or "restored from its twin", put)


def _has_question(task: TaskDir) -> bool:
    try:
        return task.load_task() is not None
    except UserError:
        return False


def _differ(known: Mapping[str, Any], result: TaskResult | None) -> bool:
    """Whether a prediction and a result both are answers, and not the same."""
    both = result is not None and known["status"] == result.status == "answered"
    return both and result is not None and known.get("prediction") != result.final_answer


def _from_event(row: Mapping[str, Any], told: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A prediction as the account of the run tells of it."""
    if told is None or told.get("status") == "interrupted":
        return None
    names = ("prediction", "status", "step", "seconds", "usage")
    error = {"error": told["error"]} if told.get("error") else {}
    return {"task_id": row["id"], "question": row["question"], **{name: told.get(name) for name in names}, **error}


def _from_result(row: Mapping[str, Any], step: int, result: TaskResult | None) -> dict[str, Any] | None:
    """A prediction as the task's result tells of it, where that is an end."""
    if result is None or result.status not in ENDED:
        return None
    return {
        "task_id": row["id"],
        "question": row["question"],
        "prediction": result.final_answer if result.status == "answered" else "",
        "status": result.status,
        "step": step,
        "seconds": result.seconds,
        "usage": result.usage.model_dump(mode="json"),
        **({"error": result.error} if result.error else {}),
    }


def _result_of(row: Mapping[str, Any], known: Mapping[str, Any], task: TaskDir) -> TaskResult:
    return TaskResult(
        task_id=task.id,
        status=known["status"],
        question=str(row["question"]),
        final_answer=str(known.get("prediction") or ""),
        error=known.get("error"),
        usage=Usage.model_validate(known.get("usage") or {}),
        seconds=float(known.get("seconds") or 0),
        run_dir=str(task.run.path.resolve()),
    )


def _tokens(usage: Any) -> int:
    try:
        return Usage.model_validate(usage or {}).total_tokens
    except ValueError:
        return 0


def _paid(tape: Path) -> dict[str, Any]:
    """What the model calls on a tape cost."""
    rows = [row for row in read_jsonl(tape) if row.get("kind") in ("reply", "refusal")]
    return sum((Usage.model_validate(row.get("usage", {})) for row in rows), Usage()).model_dump(mode="json")
