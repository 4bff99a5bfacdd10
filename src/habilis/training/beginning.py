"""What a run begins with, and what of it stays as it was for ever."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from habilis.config import Settings
from habilis.core.errors import UserError
from habilis.curation.ledger.reports import Row
from habilis.rundir import RunDir, TrainingDir
from habilis.training.holding import stored


def check_rows(rows: Sequence[Row], start: int) -> None:
    """Raises `UserError` where there are none, or an id comes twice."""
    if not rows:
        raise UserError("the data set has no rows" + (f" after the first {start}" if start else ""))
    twice = [name for name, count in Counter(row.id for row in rows).items() if count > 1]
    if twice:
        raise UserError(f"the data set has more than one row with the id {twice[0]}; ids must differ")


def new_run(root: Path, name: str | None) -> RunDir:
    """A new run; one that was killed before it began is taken over. Raises `UserError` for a name that is taken."""
    try:
        return RunDir.create(root, name, "training")
    except UserError:
        path = root / (name or "")
        if name and (path / "run.yaml").is_file() and not (path / "tasks").exists() and not TrainingDir(path).exists():
            return RunDir.at(path)
        if name and (path / "run.yaml").is_file():
            raise UserError(taken(RunDir(path))) from None
        raise


def taken(run: RunDir) -> str:
    """That there is such a run, and what to do."""
    return f"a run named {run.name} exists in {run.path.parent}; continue it with --resume, or choose another name"


def kept_row(row: Row) -> dict[str, Any]:
    """`row` as the run keeps it. Answers that a benchmark guards stay where they are: no copy of them may spread."""
    kept = row.model_copy(update={"answer": None, "rubric": None}) if row.extra.get("guarded") else row
    return kept.model_dump(mode="json")


def fixed_of(settings: Settings, base: Path | None, library: Path | None, feed: Path | None) -> dict[str, Any]:
    """What a run keeps for ever, as it stands in `run.yaml`."""
    place = feed if feed is None or settings.store else feed.absolute()
    fed = {"feed": {"library": str(place), "run": secrets.token_hex(8)}} if place else {}
    return {
        "batch_size": settings.evolution.batch_size,
        "synthesis": settings.tools.synthesis,
        "base": str(base.absolute()) if base else None,
        "library": str(library.absolute()) if library else None,
        **fed,
        **stored(settings),
    }


def with_fixed(settings: Settings, fixed: dict[str, Any]) -> Settings:
    """`settings` with what a run keeps for ever: which rows make a step, and whether tools are made."""
    evolution = settings.evolution.model_copy(
        update={"batch_size": fixed.get("batch_size", settings.evolution.batch_size)}
    )
    tools = settings.tools.model_copy(update={"synthesis": fixed.get("synthesis", settings.tools.synthesis)})
    return settings.model_copy(update={"evolution": evolution, "tools": tools})
