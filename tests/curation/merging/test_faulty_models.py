"""A careless model at clustering and merging, each of its faults in turn: no call is lost, the account is true."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from habilis.config import load_settings
from habilis.curation.curator import Curator
from habilis.curation.ledger.reports import StepReport
from habilis.demo.faults import OF_CLUSTERS, OF_MERGES
from habilis.demo.toolbox import source_for
from habilis.demo.understanding import all_operations
from habilis.library import Library
from habilis.questions.operations import Fields

from ...marks import promised, some
from .conftest import Stage

DISTANCES = ("levenshtein_distance", "hamming_distance")
"""Two jobs with fields of the same kinds, whose results differ on one of the calls alone."""
PAIRS = (("kitten", "sitten"), ("abcdef", "bcdefa"))
HARMLESS = ("", "invented", "path")
"""Faults of a merge that leave a tool which does all that it should."""


def tools() -> dict[str, tuple[str, list[dict[str, Any]]]]:
    """Four tools of two jobs, each job in two wordings, with the calls that prove them."""
    found = {}
    for operation in all_operations():
        for wording in operation.wordings[-2:] if operation.key in DISTANCES else ():
            fields = Fields(
                {slot.role: wording.fields[slot.role] for slot in operation.inputs}, wording.fields["outcome"]
            )
            text = operation.description.format(word=wording.word)
            source = source_for(operation, wording.name, text, fields, robust=True)
            found[wording.name] = (source, [dict(zip(fields.inputs.values(), pair, strict=True)) for pair in PAIRS])
    assert len(found) == 4
    return found


async def step(stage: Stage, faulty: Mapping[str, str]) -> StepReport:
    """A step over the four tools, each of a task of its own; `faulty` are names of models by role."""
    made = tools()
    tasks = [
        await stage.task(f"t{number}", {name: source}, {name: calls})
        for number, (name, (source, calls)) in enumerate(made.items())
    ]
    names = {role: faulty.get(role, "offline") for role in ("cluster", "builder")}
    overrides = [
        f"models.{role}.{key}" for role, name in names.items() for key in ("provider=offline", f"model={name}")
    ]
    settings = load_settings(overrides=[*overrides, "evolution.merge_policy=model"], environ={})
    curator = Curator(stage.library, stage.folder / "run", settings=settings, host=stage.host)  # type: ignore[arg-type]
    return await curator.step(1, tasks)


async def whole_and_true(stage: Stage, report: StepReport) -> None:
    """Every call that was ever right is right by its old name; the account names what there is and nothing else."""
    library = Library(stage.library)
    for name, (_, calls) in tools().items():
        for record, arguments in zip(_answers(stage, name), calls, strict=True):
            assert await stage.call(name, **arguments) == record, (name, arguments, report.evidence)
    assert report.balanced
    assert library.broken() == []
    assert {fate.into for fate in report.fates if fate.into} == set(library.names())
    assert report.tools == len(library.names())
    for line in report.lineage:
        assert line.tool.split("@")[0] in library.names()
    above = (stage.folder, *stage.folder.parents[:3])
    assert [path for folder in above for path in folder.glob("*escaped*") if path.is_file()] == []


def _answers(stage: Stage, name: str) -> list[Any]:
    """What the tool gave in its task."""
    folders = sorted((stage.folder / "run" / "tasks").iterdir())
    (records,) = [found for path in folders if (found := Library(path / "tools").records(name))]
    return [record.output for record in records]


async def test_without_a_fault_each_job_becomes_one_tool(stage: Stage) -> None:
    report = await step(stage, {})
    await whole_and_true(stage, report)
    assert len(stage.names()) == 2, report.evidence


@pytest.mark.parametrize("kind", promised(OF_CLUSTERS))
async def test_whatever_is_wrong_with_the_clusters_no_call_is_lost(stage: Stage, kind: str) -> None:
    report = await step(stage, {"cluster": f"offline:faulty:{kind}"})
    await whole_and_true(stage, report)
    spoilt = {
        "invented": 2,
        "path": 2,
        "overreach": 4,
    }  # all that it makes of two jobs is two, or no one is made of four
    assert len(stage.names()) == spoilt.get(kind, len(stage.names())), report.evidence
    if kind == "rubbish":
        assert any(line.startswith("what rules leave open stays apart:") for line in report.evidence)


@pytest.mark.parametrize("kind", some(OF_MERGES))
async def test_whatever_is_wrong_with_a_merged_tool_it_replaces_none_that_it_is_not(stage: Stage, kind: str) -> None:
    report = await step(stage, {"builder": f"offline:faulty:{kind}"})
    await whole_and_true(stage, report)
    if kind in HARMLESS:
        assert len(stage.names()) == 2, report.evidence
        return
    assert stage.names() == sorted(tools()), report.evidence
    assert sum(" stay: " in line for line in report.evidence) == 2


@pytest.mark.parametrize("seed", promised(range(6)))
async def test_whatever_a_careless_model_draws_no_call_is_lost(stage: Stage, seed: int) -> None:
    report = await step(stage, dict.fromkeys(("cluster", "builder"), f"offline:faulty:{seed}"))
    await whole_and_true(stage, report)
