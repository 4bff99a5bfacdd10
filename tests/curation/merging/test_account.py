"""Before a change of a library is published, its account is held against its draft: what is in neither would be lost.

No step that works as written comes to an account that lies, so the lies are told here: to the check itself, and, by a
tool that somebody puts into the library's folder while a step is under way, to the step and to a change by hand.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from habilis.curation.ledger.journal import Journal
from habilis.curation.ledger.reports import Fate, Lineage, Point, StepReport
from habilis.curation.manual.change import Change
from habilis.curation.merging.publish import NotConserved, check_conserved
from habilis.library.generations import digest

from .conftest import Stage, adding

KEPT = Fate(tool="one@1", ending="kept", into="one")
MERGED = Fate(tool="two@1", ending="merged", into="one")


def account(**lies: Any) -> StepReport:
    """Of two tools that went in one is left, which does the work of both."""
    values: dict[str, Any] = {
        "step": 1,
        "generation": 1,
        "went_in": ("one@1", "two@1"),
        "fates": (KEPT, MERGED),
        "tools": 1,
    }
    return StepReport(**values | lies)


def draft(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / f"{name}.py").write_text(adding(name))
    return folder


def test_an_account_that_is_true_passes(tmp_path: Path) -> None:
    check_conserved(account(), draft(tmp_path, "one"))


@pytest.mark.parametrize(
    ("lies", "said"),
    [
        ({"went_in": ("one@1", "two@1", "three@1")}, "three@1"),
        ({"went_in": ("one@1",)}, "two@1"),
        ({"fates": (KEPT, MERGED, MERGED)}, "one twice"),
        ({"lineage": (Lineage(tool="one@1"), Lineage(tool="one@2"))}, "one name: one"),
        ({"fates": (KEPT, MERGED.model_copy(update={"into": "two"}))}, "does not hold .*: two"),
        (
            {
                "fates": (
                    KEPT.model_copy(update={"ending": "retired", "into": None}),
                    MERGED.model_copy(update={"into": None}),
                )
            },
            "does not hold .*: one",
        ),
        ({"tools": 2}, "does not hold"),
    ],
    ids=[
        "a tool without a fate",
        "a fate without a tool",
        "two fates of one tool",
        "two tools of one name",
        "a tool that is not in the draft",
        "a tool that is in the draft alone",
        "another number of tools",
    ],
)
def test_an_account_that_lies_does_not_pass(lies: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(NotConserved, match=said):
        check_conserved(account(**lies), draft(tmp_path, "one"))


class Intruding(Journal):
    """While a step is under way, when everything is verified, somebody puts a tool into the library's folder."""

    def __init__(self, path: Path, library: Path) -> None:
        super().__init__(path)
        self._library, self.intruded = library, False

    def write(self, step: int, point: Point, payload: dict[str, Any]) -> None:
        super().write(step, point, payload)
        if point == "verified" and not self.intruded:
            draft(self._library, "stray")
            self.intruded = True


async def begun(folder: Path) -> Stage:
    """A library of one tool, in its first generation."""
    stage = Stage(folder)
    first = await stage.task("t1", {"add_numbers": adding()}, {"add_numbers": [{"a": 1, "b": 2}]})
    await stage.curator(models=False).step(1, [first])
    return stage


async def test_a_step_whose_draft_holds_more_than_its_account_publishes_nothing(tmp_path: Path) -> None:
    stage = await begun(tmp_path)
    source = adding("double", "x: int; y: int")  # other code than the library's
    twice = await stage.task("t2", {"double": source}, {"double": [{"x": 2, "y": 2}]})
    journal = Intruding(tmp_path / "run" / "journal.jsonl", stage.library)
    with pytest.raises(NotConserved, match="stray"):
        await stage.curator(models=False, journal=journal).step(2, [twice])
    assert journal.intruded
    assert stage.generations.current() == 1
    (stage.library / "stray.py").unlink()
    report = await stage.curator(models=False).step(2, [twice])
    assert (report.generation, stage.names()) == (2, ["add_numbers", "double"])


async def test_a_change_by_hand_whose_draft_holds_more_than_its_account_publishes_nothing(tmp_path: Path) -> None:
    from habilis.curation.manual.tending import Tending

    stage = await begun(tmp_path)
    before = digest(stage.library.resolve())

    def work(change: Change, name: str) -> None:
        change.pin(name, True)
        draft(change.folder, "stray")

    tending = Tending(stage.library, host=stage.host)  # type: ignore[arg-type]
    with pytest.raises(NotConserved, match="stray"):
        await tending._each("pin", ["add_numbers"], work, "", False)
    assert (stage.generations.current(), digest(stage.library.resolve())) == (1, before)
