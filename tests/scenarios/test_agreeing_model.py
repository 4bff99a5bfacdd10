"""What a user would lose: the first promise. A model that agrees with everything must not get a wrong answer through."""

from __future__ import annotations

import asyncio
import importlib.util
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from habilis import Team, load_settings
from habilis.core.types import TaskResult
from habilis.testing import ScriptedModel

from .agreeing.cases import Case, lay_out
from .agreeing.model import SPOILT, Agreeing, Temperament
from .agreeing.tuned import TUNED

ROOT = Path(__file__).resolve().parents[2]
AT_ONCE = 4


def libraries() -> Any:
    """The four libraries that `benchmarks/claims.py` asks with."""
    place = ROOT / "benchmarks" / "claim_cases" / "libraries.py"
    spec = importlib.util.spec_from_file_location("claim_libraries", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Played:
    """One task: what was asked, how the model was, and what came of it."""

    case: Case
    temper: Temperament
    library: str
    result: TaskResult

    @property
    def claimed(self) -> bool:
        return self.result.status == "answered"

    def right(self, folder: Path) -> bool:
        """Whether what is claimed is the right answer, word for word, or its number alone."""
        if not self.claimed or self.case.final is None:
            return False
        said = self.result.final_answer
        if said in (self.case.final, self.case.told(result_of(self.case, folder))):
            return True
        alone = re.fullmatch(r"The answer is ([\d,.]*\d)\.|([\d,.]*\d)", said)
        return alone is not None and _number(alone[1] or alone[2]) == _number(self.case.final)

    def wrong(self, folder: Path) -> bool:
        return self.claimed and not self.right(folder)


def _number(text: str) -> float | None:
    found = re.match(r"-?\d[\d,]*(?:\.\d+)?", text)
    return float(found[0].replace(",", "")) if found else None


def result_of(case: Case, folder: Path) -> dict[str, Any]:
    """What the right call of the right tool gives, run here: the text of the tool is the test's own."""
    space: dict[str, Any] = {"__name__": f"job_{case.job.name}"}
    exec(compile(case.job.source, case.job.name, "exec", dont_inherit=True), space)
    space["InputModel"].model_rebuild(_types_namespace=space)
    given = {name: str(folder / value) if "path" in name else value for name, value in case.arguments.items()}
    output: dict[str, Any] = space["run"](space["InputModel"](**given)).model_dump()
    return output


async def play(
    cases: Iterable[tuple[int, Case]], temper: Temperament, library: str, folder: Path, *settings: str
) -> list[Played]:
    """Each question in a team of its own over `library`, a few side by side."""
    gate = asyncio.Semaphore(AT_ONCE)
    public = folder / library.replace(" ", "-")
    if not public.exists():
        libraries().make(library, public)
    loaded = load_settings(overrides=[f"runs_dir={folder}", "evolution.absorb=false", *settings])

    async def one(number: int, case: Case) -> Played:
        model = ScriptedModel(script=Agreeing(case, temper, number))
        async with gate:
            run = folder / "runs" / f"{temper}-{library}-{number}".replace(" ", "-")
            team = Team(loaded, library=public, clients=lambda *_: model)
            result = await team.run(case.question, files=case.files, run_dir=run, base=folder)
        return Played(case, temper, library, result)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(number, case)) for number, case in cases]
    return [task.result() for task in tasks]


@pytest.mark.slow
@pytest.mark.parametrize("library", ["empty", "one unrelated", "30 unrelated", "30 look-alikes"])
@pytest.mark.parametrize("temper", SPOILT)
async def test_no_wrong_claim(tmp_path: Path, sandbox_level: str, temper: Temperament, library: str) -> None:
    lay_out(tmp_path)
    played = await play(enumerate(TUNED), temper, library, tmp_path)
    print(Counter(one.result.status for one in played))
    wrong = [one for one in played if one.wrong(tmp_path)]
    for one in played:
        by = one.result.review.by if one.result.review else ""
        print(
            "WRONG" if one in wrong else "right" if one.claimed else "     ",
            one.case.question[:60],
            "|",
            one.result.final_answer[:80],
            "|",
            by,
            "|",
            (one.result.error or "")[:150],
            one.result.attempts,
            one.result.usage.model_calls,
            one.result.seconds,
        )
    assert len(wrong) <= len(played) // 20


@pytest.mark.slow
@pytest.mark.parametrize("library", ["empty", "one unrelated", "30 unrelated", "30 look-alikes"])
async def test_right_claims_are_kept(tmp_path: Path, sandbox_level: str, library: str) -> None:
    lay_out(tmp_path)
    played = await play(enumerate(TUNED), "honest", library, tmp_path)
    for one in played:
        by = one.result.review.by if one.result.review else ""
        print(
            "right" if one.right(tmp_path) else "WRONG" if one.claimed else "     ",
            one.case.question[:60],
            "|",
            one.result.final_answer[:80],
            "|",
            by,
            "|",
            (one.result.error or "")[:150],
            one.result.attempts,
            one.result.usage.model_calls,
            one.result.seconds,
        )
    assert all(one.right(tmp_path) or one.case.final is None for one in played)
