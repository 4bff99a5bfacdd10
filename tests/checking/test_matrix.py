"""Each file that a run leaves on disk, damaged in each way: the page `damaged-files.md` says what becomes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .matrix import ACTIONS, GROUPS, KINDS, Said, World, counts, damage, habilis, outcome, patterns, withheld

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "damaged-files.md"
OUTCOMES = {"restored", "named", "made anew", "made anew if needed", "not needed", "whole", "passed over"}
IF_NEEDED = {("made anew if needed", "made anew"), ("made anew if needed", "not needed")}


def table() -> dict[tuple[str, str], dict[str, str]]:
    """What becomes of a file of a group, by the kind of damage, as the page has it."""
    found = {}
    group = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            group = line.removeprefix("## ").strip().lower()
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and cells[0].startswith("`"):
            found[group, cells[0].strip("`")] = _by_kind(cells[2])
    return found


def _by_kind(cell: str) -> dict[str, str]:
    """`named; missing, link: restored` by kind. What may only be read counts as whole, if nothing else is said."""
    usual, *others = cell.split("; ")
    found = dict.fromkeys(KINDS, usual) | {"read-only": "whole"}
    for other in others:
        kinds, _, outcome = other.partition(": ")
        assert set(kinds.split(", ")) <= set(KINDS), cell
        found |= dict.fromkeys(kinds.split(", "), outcome)
    assert set(found.values()) <= OUTCOMES, cell
    return found


def row(group: str, name: str) -> str:
    """The row of the table for a file: one for tasks as they stand, where there is one."""
    of_its_state, of_any = patterns(name)
    return of_its_state if (group, of_its_state) in table() else of_any


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory, sandbox_level: str) -> World:
    return World(tmp_path_factory.mktemp("damaged"))


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.sandbox
@pytest.mark.parametrize("group", GROUPS)
def test_every_file_that_is_left_on_disk_has_its_row_in_the_table(world: World, group: str) -> None:
    known = {name for where, name in table() if where == group}
    assert {row(group, name) for name in world.files(group)} == known


IN_TURN, WAYS = 3, 5
"""With the promises, each file is damaged in every fifth way, each in others than the one before it: a file costs a
command or two each time, and there are hundreds of files and ways."""


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.sandbox
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("turn", range(IN_TURN))
def test_damage_is_restored_named_or_made_anew_and_never_silent(world: World, group: str, turn: int) -> None:
    files = list(enumerate(one_of_each(world.files(group))))[turn::IN_TURN]
    damaged(world, group, [(name, kind) for number, name in files for kind in KINDS[number % WAYS :: WAYS]])


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("kind", KINDS)
def test_damage_of_each_kind_to_each_file_is_never_silent(world: World, group: str, kind: str) -> None:
    damaged(world, group, [(name, kind) for name in one_of_each(world.files(group))])


def one_of_each(names: list[str]) -> list[str]:
    """Of files that are alike, the first."""
    return list({patterns(name)[0]: name for name in reversed(names)}.values())[::-1]


def damaged(world: World, group: str, cases: list[tuple[str, str]]) -> None:
    """Each of these files, damaged in such a way, becomes what the table says."""
    wrong: list[str] = []
    for name, kind in cases:
        with world.fresh() as home:
            if damage(home / name, kind):
                wrong += [f"{group} {name} {kind}: {what}" for what in _wrong(world, group, name, kind)]
    assert cases
    assert not wrong, "\n".join(wrong)


def _wrong(world: World, group: str, name: str, kind: str) -> list[str]:
    """What is not as the table says, in words."""
    with withheld(kind):
        said = [habilis(*words) for words in ACTIONS[group]]
    found = [one.err[-200:] for one in said if "Traceback" in one.err or "internal error" in one.err]
    expected, became = table()[group, row(group, name)][kind], outcome(group, name, said)
    if became == "silent":
        became = "whole" if kind == "read-only" else "not needed"
    if became != expected and (expected, became) not in IF_NEEDED:
        found.append(f"{became} instead of {expected}")
    if said[-1].code == 0:
        found += _wrong_end(group, said[-1])
    shown = counts(said[0])
    if group == "training" and said[0].code == 0 and shown != world.counts and Path(name).name not in said[0].err:
        found.append(f"counted wrong without a word: {shown}")
    return found


def _wrong_end(group: str, said: Said) -> list[str]:
    """What is wrong of the end that it came to."""
    told = json.loads(said.out)
    if group != "training":
        return [] if told["final_answer"] == "14" else [f"answered {told['final_answer']}"]
    found = []
    if (told["tasks"], told["left"], told["statuses"], told["stopped"]) != (2, 0, {"answered": 2}, "done"):
        found.append(f"counted wrong: {told['statuses']}, {told['left']} left, {told['stopped']}")
    rows = [json.loads(line) for line in Path("runs/b/predictions.jsonl").read_text().splitlines()]
    if {row["task_id"]: row["prediction"] for row in rows} != {"ar": "14", "gcd": "6"}:
        found.append("the answers are not what they were")
    return found
