"""`habilis score`: what the answers of a run are worth, against the data set that they were asked from."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from argparse import Namespace
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from habilis.config import Loaded
from habilis.core.errors import UserError
from habilis.curation.ledger.reports import Row
from habilis.evaluation import datasets
from habilis.evaluation.scoring import (
    ModelJudge,
    Prediction,
    Scored,
    matched,
    needs_judge,
    open_judge,
    predictions_of,
    rows_of,
    score_all,
)
from habilis.prompts import Prompts
from habilis.rundir import RunDir, find_run
from habilis.terminal.choices import load
from habilis.terminal.wording import plain, report_line

UNREACHABLE = 3


def score(args: Namespace) -> int:
    """Score the run of `args` and print a table. Raises `UserError` for bad usage and for data that cannot be read."""
    loaded = load(args)
    run = find_run(Path(loaded.settings.runs_dir), args.run)
    predictions = predictions_of(run)
    source, rows = _rows(args, run, loaded)
    pairs = matched(predictions, rows)
    if not any(row for _, row in pairs):
        raise UserError(f"no task of run {run.name} is in {source}; ids there are like {rows[0].id!r}")
    scored, unreachable = asyncio.run(_scored(args, loaded, run, pairs))
    covered = {"dataset": source, "rows": len(rows), "answered": sum(row is not None for _, row in pairs)}
    _report(args, run, covered, scored)
    if unreachable:
        _say(f"no judge could be asked: {unreachable}")
    return UNREACHABLE if unreachable else 0


def _rows(args: Namespace, run: RunDir, loaded: Loaded) -> tuple[str, list[Row]]:
    """The data set and its rows: the one given, else the one that the run was made with, else the rows that it kept."""
    recorded = run.read_run().get("dataset")
    own = recorded if isinstance(recorded, Mapping) and not args.dataset else {}  # another set has its own form
    own = own if run.is_ours(()) else {}  # nor may a run of somebody else say which file of ours is read
    path = str(args.dataset or own.get("path") or "")
    if not path:
        rows = rows_of(run)
        if not rows:
            raise UserError(f"run {run.name} does not say which data set it answered; name it with --dataset FILE")
        return "the run", rows
    return path, datasets.load(
        path,
        format=args.format or str(own.get("format") or "auto"),
        fields=fields_of(args.fields) if args.fields else dict(own.get("fields") or {}),
        skip_broken=args.skip_broken,
        notice=_say,
    )


def fields_of(given: Sequence[str]) -> dict[str, str]:
    """Columns by meaning, as --fields gives them. Raises `UserError`."""
    fields: dict[str, str] = {}
    for part in ",".join(given).split(","):
        meaning, equals, column = (piece.strip() for piece in part.partition("="))
        if not equals or not meaning or not column:
            raise UserError(f"--fields {part}: expected MEANING=COLUMN, for example question=text,answer=meta.gold")
        fields[meaning] = column
    return fields


async def _scored(
    args: Namespace, loaded: Loaded, run: RunDir, pairs: Sequence[tuple[Prediction, Row | None]]
) -> tuple[list[Scored], str]:
    """The scores, and why no judge could be asked where that was so."""
    settings = loaded.settings
    wanted = args.judge and any(row and needs_judge(row, p.prediction, args.scorer) for p, row in pairs)
    async with _judge(loaded, wanted) as judge:
        scored = await score_all(
            run.path,
            pairs,
            judge,
            Prompts(settings.prompts_dir),
            scorer=args.scorer,
            progress=_progress,
        )
        return scored, judge.unreachable if judge and any(
            s.scorer == "judge" and s.right is None for s in scored
        ) else ""


@contextlib.asynccontextmanager
async def _judge(loaded: Loaded, wanted: bool) -> AsyncIterator[ModelJudge | None]:
    if not wanted:
        yield None
        return
    async with open_judge(loaded.settings, _say) as judge:
        yield judge


def _progress(done: int, of: int) -> None:
    if sys.stderr.isatty():
        print(f"\rscored {done:,} of {of:,}", end="\n" if done == of else "", file=sys.stderr, flush=True)


def _say(text: str) -> None:
    print(report_line(f"note  {text}"), file=sys.stderr)


def summary(scored: Sequence[Scored]) -> dict[str, Any]:
    """Counts of some scores. `accuracy` is the share of right ones among those that could be told, None of none."""
    right = sum(one.right is True for one in scored)
    wrong = sum(one.right is False for one in scored)
    parts = [one.partial for one in scored if one.partial is not None]
    return {
        "tasks": len(scored),
        "right": right,
        "wrong": wrong,
        "unscored": len(scored) - right - wrong,
        "accuracy": round(right / (right + wrong), 4) if right + wrong else None,
        "partial": round(sum(parts) / len(parts), 4) if parts else None,
    }


def _report(args: Namespace, run: RunDir, covered: dict[str, Any], scored: Sequence[Scored]) -> None:
    categories = {
        name: summary([s for s in scored if s.category == name]) for name in sorted({s.category for s in scored})
    }
    whole = summary(scored)
    if args.json:
        document = {"run": run.name, "path": str(run.path), **covered, **whole}
        document |= {"categories": categories, "scores": [one.model_dump(mode="json") for one in scored]}
        print(json.dumps(document, ensure_ascii=False, indent=2))
        return
    print(report_line("run {}: {answered:,} of the {rows:,} tasks of {dataset}".format(run.name, **covered)))
    _print_table({**({} if list(categories) == [""] else categories), "all": whole})
    for reason, count in _reasons(scored)[:5]:
        print(report_line(f"unscored: {count:,} × {reason}"))


def _reasons(scored: Sequence[Scored]) -> list[tuple[str, int]]:
    """Why answers could not be scored, the commonest first."""
    counts: dict[str, int] = {}
    for one in scored:
        if one.right is None:
            counts[one.reason] = counts.get(one.reason, 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _print_table(lines: Mapping[str, dict[str, Any]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    partial = any(line["partial"] is not None for line in lines.values())
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("CATEGORY", overflow="ellipsis", no_wrap=True)
    for head in ("RIGHT", "WRONG", "UNSCORED", "ACCURACY", *(["PARTIAL"] if partial else [])):
        table.add_column(head, justify="right", no_wrap=True)
    for name, line in lines.items():
        cells = [f"{line['right']:,}", f"{line['wrong']:,}", f"{line['unscored']:,}", _percent(line["accuracy"])]
        cells += [_percent(line["partial"])] if partial else []
        table.add_row(Text(plain(name or "(none)")), *cells)
    Console(highlight=False, markup=False).print(table)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"
