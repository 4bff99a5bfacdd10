"""What a user would lose: one tool built twice since rules could not tell, or model calls for what rules can tell."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from habilis.curation.ledger.journal import Journal
from habilis.curation.ledger.reports import Finished, StepReport
from habilis.curation.merging.cluster import MOST_ASKED
from habilis.library import Library

from ...toolshop import put
from .conftest import Stage, adding, clusters, module

OPEN = ("sum_of_pair", "checkout_figure")
"""One job in words that share nothing."""


def tools() -> dict[str, str]:
    """Two of the same job in open words, one that rules part from the first, and one that is another job in open
    words."""
    return {
        OPEN[0]: adding(OPEN[0], description="Adds the two numbers of a pair."),
        OPEN[1]: adding(OPEN[1], description="What the amounts come to at the till.").replace("a + ", "a + 0 + "),
        "product_of_pair": module(
            "product_of_pair",
            "    return OutputModel(total=input.a * input.b)",
            description="Multiplies the two numbers of a pair.",
        ),
        "lantern_reach": module(
            "lantern_reach",
            "    return OutputModel(total=input.a * 2 - input.b)",
            description="How far a lantern shines in fog.",
        ),
    }


async def tasks(stage: Stage) -> list[Finished]:
    calls = [{"a": 2, "b": 3}, {"a": 7, "b": 1}]
    return [await stage.task(f"t{name}", {name: source}, {name: calls}) for name, source in tools().items()]


def asked_pairs(text: str) -> list[tuple[str, str]]:
    return re.findall(r"^- one: (\w+)\n  other: (\w+)$", text, re.MULTILINE)


async def step(stage: Stage, *said: Any) -> StepReport:
    return await stage.curator(*said).step(1, await tasks(stage))


async def test_what_rules_leave_open_is_asked_in_one_question_and_what_is_the_same_becomes_one(stage: Stage) -> None:
    report = await step(stage, clusters(OPEN))
    (question,) = stage.asked
    pairs = {frozenset(pair) for pair in asked_pairs(question)}
    assert frozenset(OPEN) in pairs
    assert frozenset(("sum_of_pair", "product_of_pair")) not in pairs  # rules can tell these
    assert (report.model_calls, len(stage.names())) == (1, 3), report.evidence


@pytest.mark.parametrize(
    "said",
    ["[[ as you like ]]", clusters(), clusters(OPEN).replace('"same"', '"unsure"'), RuntimeError("nobody is there")],
    ids=["rubbish", "nothing", "unsure", "unreachable"],
)
async def test_without_a_clear_word_every_open_pair_stays_apart(stage: Stage, said: Any) -> None:
    def model(*_: Any) -> Any:
        return said

    report = await step(stage, model)
    assert stage.names() == sorted(tools())
    assert report.balanced
    useless = not isinstance(said, str) or said.startswith("[[")
    assert any("what rules leave open stays apart" in line for line in report.evidence) is useless


async def test_one_that_calls_all_the_same_joins_no_two_of_different_jobs(stage: Stage) -> None:
    report = await step(stage, lambda messages, *_: clusters(*asked_pairs(str(messages[-1].content))))
    assert report.balanced
    assert {"product_of_pair", "lantern_reach"} <= {*stage.names()}, report.evidence
    for name, total in {OPEN[0]: 9, OPEN[1]: 9, "product_of_pair": 20, "lantern_reach": 6}.items():
        assert (await stage.call(name, a=5, b=4))["total"] == total


async def test_where_rules_tell_everything_nothing_is_asked(stage: Stage) -> None:
    made = {
        "average_of_numbers": "Calculates the mean of some numbers.",
        "mean_value": "The average of a list of numbers.",
        "largest_of_numbers": "Finds the largest of some numbers.",
    }
    bodies = {
        name: f"    return OutputModel(total={'max(input.a, input.b)' if 'large' in name else 2})" for name in made
    }
    finished = [
        await stage.task(name, {name: module(name, bodies[name], description=text)}, {name: [{"a": 1, "b": 2}]})
        for name, text in made.items()
    ]
    report = await stage.curator().step(1, finished)
    assert (stage.asked, report.model_calls) == ([], 0), report.evidence
    assert report.evidence  # the two means were tried as one all the same
    assert not any("largest" in line for line in report.evidence)


class Stopping(Journal):
    """Stands for a kill before the answer is noted anywhere but on the tape."""

    def write(self, step: int, point: Any, payload: Any) -> None:
        if point == "clustered":
            raise KeyboardInterrupt
        super().write(step, point, payload)


async def test_a_step_that_is_killed_after_its_question_pays_for_it_once(stage: Stage, tmp_path: Path) -> None:
    finished, paid = await tasks(stage), []

    def model(messages: Any, *_: Any) -> Any:
        paid.append(messages)
        return clusters(OPEN)

    journal = Stopping(stage.folder / "run" / "journal.jsonl")
    with pytest.raises(KeyboardInterrupt):
        await stage.curator(model, journal=journal).step(1, finished)
    assert len(paid) == 1
    report = await stage.curator(model).step(1, finished)
    assert (len(paid), report.model_calls, len(stage.names())) == (1, 1, 3), report.evidence


async def test_the_question_of_a_large_step_is_bounded_and_the_most_alike_come_first(stage: Stage) -> None:
    words = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "islet", "jetty", "knoll", "ledge"]
    made = {
        f"{one}_{other}": f"Works out the {one} {other} figure." for one, other in list(combinations(words, 2))[:12]
    }
    made["twin_of_jobs"] = next(iter(made.values())).replace("figure", "figure of jobs")
    finished = [
        await stage.task(
            name,
            {name: module(name, f"    return OutputModel(total=input.a + {n})", description=text)},
            {name: [{"a": 1, "b": 2}]},
        )
        for n, (name, text) in enumerate(made.items())
    ]
    await stage.curator(clusters()).step(1, finished)
    (question,) = stage.asked
    pairs = asked_pairs(question)
    assert len(pairs) == MOST_ASKED
    assert set(pairs[0]) == {"twin_of_jobs", next(iter(made))}


@pytest.mark.parametrize("known", [0, 12], ids=["new ones", "known ones"])
async def test_tools_that_share_a_rare_word_of_their_names_do_not_hide_the_one_of_the_same_job(
    stage: Stage, known: int
) -> None:
    """Of a project's tools each may be called after the project; `known` of them are in the library already."""
    words = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove"]
    said = [f"Works out {one} {two} {three}." for one, two, three in combinations(words, 3)]
    library = Library(stage.library)

    def tool(name: str, number: int, plus: str = "+") -> str:
        body = f"    return OutputModel(total=input.a {plus} input.b + {number})"
        return module(name, body, description=said[number])

    for number in range(20 + known):
        name = f"job_{number}" if number < 20 else f"zephyr_quay_lorry_{number}"
        await put(library, tool(name, number), name, stage.host)
    new = {f"zephyr_quay_lorry_{n}": tool(f"zephyr_quay_lorry_{n}", n, "- -") for n in range(6)}
    finished = [await stage.task(name, {name: source}, {name: [{"a": 1, "b": 2}]}) for name, source in new.items()]
    await stage.curator(clusters(*((f"job_{n}", f"zephyr_quay_lorry_{n}") for n in range(6)))).step(1, finished)
    (question,) = stage.asked
    shown = {frozenset(pair) for pair in asked_pairs(question)}
    assert {frozenset((f"job_{n}", f"zephyr_quay_lorry_{n}")) for n in range(6)} <= shown
    assert len(stage.names()) == 20 + known
