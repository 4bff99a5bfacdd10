"""What a run lost in one file comes back from another; what cannot is named; no count is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ..marks import PROMISE
from .matrix import World, habilis

pytestmark = pytest.mark.sandbox
RESUME = ("evolve", "--resume", "--run-name", "b", "--max-tokens", "1000000", "--json")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, sandbox_level: str) -> World:
    return World(tmp_path_factory.mktemp("mending"))


def answers(run: Path) -> dict[str, str]:
    return {
        row["task_id"]: row["prediction"]
        for row in map(json.loads, (run / "predictions.jsonl").read_text().splitlines())
    }


def test_rows_of_absorbed_steps_come_back_into_the_predictions(world: World) -> None:
    with world.fresh() as home:
        (home / "runs/b/predictions.jsonl").write_text("")
        said = habilis(*RESUME)
        told = json.loads(said.out)
        assert (said.code, told["left"], told["statuses"]) == (0, 0, {"answered": 2})
        assert answers(home / "runs/b") == {"ar": "14", "gcd": "6"}
        assert "the row ar is not there; restored" in said.err


def test_a_changed_answer_is_put_right_by_the_result(world: World) -> None:
    with world.fresh() as home:
        path = home / "runs/b/predictions.jsonl"
        (row,) = map(json.loads, path.read_text().splitlines())
        path.write_text(json.dumps({**{k: v for k, v in row.items() if k != "crc32"}, "prediction": "15"}) + "\n")
        assert "is not what the task came to" in habilis("runs", "check", "b", "--repair").out
        assert answers(home / "runs/b") == {"ar": "14"}


def test_cut_rows_are_named_and_never_counted(world: World) -> None:
    with world.fresh() as home:
        path = home / "runs/b/rows.jsonl"
        path.write_bytes(path.read_bytes()[:-20])
        said = habilis(*RESUME)
        assert said.code == 2
        assert "rows.jsonl: line 2 is damaged" in said.err
        shown = habilis("runs", "show", "b")
        assert "-" not in shown.out.partition("tasks    ")[2].splitlines()[0]
        assert "rows.jsonl" in shown.err


def test_a_bad_line_of_the_journal_is_set_aside_and_the_run_goes_on(world: World) -> None:
    with world.fresh() as home:
        path = home / "runs/b/journal.jsonl"
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join([*lines[:-1], b"{torn\n", *lines[-1:]]))
        said = habilis(*RESUME)
        assert (said.code, json.loads(said.out)["left"]) == (0, 0)
        assert f"journal.jsonl line {len(lines)}: damaged" in said.err
        assert b"{torn" in (home / "runs/b/damaged/journal.jsonl").read_bytes()


def test_a_lost_journal_absorbs_no_step_twice(world: World) -> None:
    with world.fresh() as home:
        (home / "runs/b/journal.jsonl").unlink()
        said = habilis(*RESUME)
        assert [row["generation"] for row in json.loads(said.out)["steps"]] == [1, 2]
        assert "step 1 is not marked as published; restored from generation 1" in said.err


def test_a_lost_state_is_made_of_the_rest(world: World) -> None:
    with world.fresh() as home:
        before = json.loads((home / "runs/b/state.json").read_text())["tokens"]
        (home / "runs/b/state.json").unlink()
        said = habilis(*RESUME)
        assert said.code == 0
        assert json.loads(said.out)["tokens"] > before


def test_the_link_of_a_library_is_put_back_and_begins_no_new_lineage(world: World) -> None:
    with world.fresh() as home:
        (home / "runs/library").unlink()
        said = habilis("run", "What is 2+3*4?", "--run-dir", "runs/next")
        assert said.code == 2
        assert "library doctor" in said.err
        assert habilis("doctor").code == 1
        assert "leads to generation 2 again" in habilis("library", "doctor", "--repair").out
        assert "2 tools" in habilis("doctor").out


def test_a_lost_source_of_a_tool_is_named_and_comes_back(world: World) -> None:
    with world.fresh() as home:
        source = home / "runs/library/evaluate_arithmetic_expression.py"
        before = source.read_bytes()
        source.unlink()
        assert habilis("library", "doctor").code == 1
        assert "the tool's source is gone" in habilis("doctor").out
        assert "restored from" in habilis("library", "doctor", "--repair").out
        assert source.read_bytes() == before


def test_a_damaged_tape_says_what_is_paid_again(world: World) -> None:
    with world.fresh() as home:
        tape = home / "runs/b/tasks/gcd/tape.jsonl"
        lines = tape.read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if b'"kind":"reply"' not in line]
        tape.write_bytes(b"".join(kept))
        lost = len(lines) - len(kept)
        said = habilis(*RESUME)
        assert said.code == 0
        assert f"tape.jsonl: {lost} finished model calls are not on it any more; a resume pays them again" in said.err


@pytest.mark.parametrize(
    "file",
    ["events.jsonl", pytest.param("checkpoints.sqlite", marks=PROMISE), pytest.param("tools/*.py", marks=PROMISE)],
)
def test_damage_of_a_task_that_goes_on_is_told_once(world: World, file: str) -> None:
    with world.fresh() as home:
        (path,) = (home / "runs/b/tasks/gcd").glob(file)
        path.unlink()
        said = habilis(*RESUME)
        assert (said.code, json.loads(said.out)["left"]) == (0, 0)
        assert len([line for line in said.err.splitlines() if f"{path.name}: " in line and " gone" in line]) == 1


def test_who_looks_at_a_run_that_lost_its_state_sees_what_it_cost(world: World) -> None:
    with world.fresh() as home:
        before = json.loads(habilis("runs", "show", "b", "--json").out)["training"]
        (home / "runs/b/state.json").unlink()
        after = json.loads(habilis("runs", "show", "b", "--json").out)["training"]
        counts = ("tasks", "left", "statuses", "tokens")
        assert [after[name] for name in counts] == [before[name] for name in counts]
        assert after["seconds"] > 0


def test_one_bit_of_a_record_is_seen(world: World) -> None:
    with world.fresh() as home:
        result = home / "runs/b/tasks/ar/result.json"
        result.write_bytes(result.read_bytes().replace(b'"final_answer": "14"', b'"final_answer": "15"'))
        said = habilis("runs", "check", "b")
        assert said.code == 1
        assert "result.json: damaged: it does not fit its checksum" in said.out
        assert habilis("runs", "check", "b", "--repair").code == 0
        assert "run b is whole" in habilis("runs", "check", "b").out
