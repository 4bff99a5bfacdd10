"""Each file that a run leaves on disk, damaged in each way: the page `damaged-files.md` says what becomes of it."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

from .matrix import ACTIONS, GROUPS, KINDS, World, damage, habilis, like_others, outcome, pattern

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "damaged-files.md"


def table() -> dict[tuple[str, str], dict[str, set[str]]]:
    """What may become of a file of a group, by the kind of damage, as the page has it."""
    found = {}
    group = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            group = line.removeprefix("## ").strip().lower()
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and cells[0].startswith("`"):
            found[group, cells[0].strip("`")] = _by_kind(cells[2])
    return found


def _by_kind(cell: str) -> dict[str, set[str]]:
    """`named; missing, link: restored` by kind."""
    usual, *others = cell.split("; ")
    found = {kind: set(usual.split(", ")) for kind in KINDS}
    for other in others:
        kinds, _, outcomes = other.partition(": ")
        assert set(kinds.split(", ")) <= set(KINDS), cell
        found |= {kind: set(outcomes.split(", ")) for kind in kinds.split(", ")}
    return found


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory, sandbox_level: str) -> World:
    return World(tmp_path_factory.mktemp("damaged"))


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.sandbox
@pytest.mark.parametrize("group", GROUPS)
def test_every_file_that_is_left_on_disk_has_its_row_in_the_table(world: World, group: str) -> None:
    known = {name for where, name in table() if where == group}
    assert {pattern(name) for name in world.files(group)} == known


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.sandbox
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("group", GROUPS)
def test_damage_is_restored_named_or_made_anew_and_never_silent(world: World, group: str, kind: str) -> None:
    seen: set[str] = set()
    wrong: list[str] = []
    for name in world.files(group):
        key = pattern(name) + (" open" if "tasks/gcd" in name else "")
        if key in seen:
            continue
        seen.add(key)
        with world.fresh() as home:
            if damage(home / name, kind):
                wrong += [f"{group} {name} {kind}: {what}" for what in _wrong(group, name, kind)]
    assert not wrong, "\n".join(wrong)


def _wrong(group: str, name: str, kind: str) -> list[str]:
    """What is not as the table says, in words."""
    with like_others() if kind == "unreadable" else contextlib.nullcontext():
        said = [habilis(*words) for words in ACTIONS[group]]
    found = [one.err[-200:] for one in said if "Traceback" in one.err or "internal error" in one.err]
    allowed = table()[group, pattern(name)][kind]
    became = outcome(group, name, said)
    quiet = became == "silent" and "made anew" in allowed
    if kind != "read-only" and became not in allowed and not quiet:
        found.append(f"{became} instead of {' or '.join(sorted(allowed))}")
    if group == "training" and said[-1].code == 0:
        told = json.loads(said[-1].out)
        if (told["tasks"], told["left"], told["statuses"], told["stopped"]) != (2, 0, {"answered": 2}, "done"):
            found.append(f"counted wrong: {told['statuses']}, {told['left']} left, {told['stopped']}")
        rows = [json.loads(line) for line in Path("runs/b/predictions.jsonl").read_text().splitlines()]
        if {row["task_id"]: row["prediction"] for row in rows} != {"ar": "14", "gcd": "6"}:
            found.append("the answers are not what they were")
    return found
