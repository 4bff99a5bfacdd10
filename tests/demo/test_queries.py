"""Plain questions about one's own tables: most get their right answer, and none a wrong one."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from habilis.contract.taskfiles import is_nameless
from habilis.demo.form import written
from habilis.demo.toolbox import source_for
from habilis.demo.understanding import Unclear, Understood, all_operations, understand
from habilis.grounding.checking import quotations
from habilis.questions.operations import fields_of, request_for, result_of
from habilis.questions.prompts import SeenFile
from habilis.questions.world import FilledOperation, Ref, viewed

from .conftest import Loaded, Player
from .held_questions import HELD
from .plain_questions import TABLES, TUNED, Asked, rows_of


@cache
def tool(key: str) -> tuple[Loaded, Any, Any]:
    """A better version of a tool, with its operation and fields."""
    operation = next(one for one in all_operations() if one.key == key)
    request = request_for(operation, "")
    fields = fields_of(operation, [one["name"] for one in request["parameters"]], [request["returns"][0]["name"]])
    assert fields is not None
    return (
        Loaded(source_for(operation, request["name"], request["description"], fields, robust=True)),
        operation,
        fields,
    )


def seen(name: str) -> SeenFile:
    begins = "\n".join((TABLES / name).read_text(encoding="utf-8").splitlines()[:3])
    return SeenFile(name, begins, is_nameless(begins))


def understood(question: str, name: str) -> Understood | Unclear:
    return understand(question, [seen(name)])


@cache
def answered(question: str, name: str) -> str | None:
    return answered_in(TABLES, question, seen(name))


def answered_in(folder: Path, question: str, file: SeenFile) -> str | None:
    """What the tools that the model would write for a question make of it; None where it gives up."""
    found = understand(question, [file])
    if isinstance(found, Unclear):
        return None
    results: list[Any] = []
    for step in found.steps:
        loaded, operation, fields = tool(step.operation.key)
        values = {}
        for role, value in step.values.items():
            if isinstance(value, FilledOperation):
                value = value.text.format(*(results[ref.step] for ref in value.calls))
            values[fields.inputs[role]] = results[value.step] if isinstance(value, Ref) else value
        try:
            output = loaded.call(values, folder)
        except (KeyError, IndexError):
            return None
        if output["error"]:
            return None
        results.append(viewed(result_of(operation, output), step.view))
    return ", ".join(written(results[index], found.form) for index in found.asked)


def is_right(answer: str, truth: Any) -> bool:
    if isinstance(truth, dict):
        found = dict(part.rsplit(": ", 1) for part in answer.split(", ") if ": " in part)
        return found.keys() == truth.keys() and all(is_right(found[key], truth[key]) for key in truth)
    if (isinstance(truth, list) and len(truth) > 1) or (isinstance(truth, list) and isinstance(truth[0], str)):
        return answer == ", ".join(truth)
    number = truth[0] if isinstance(truth, list) else truth
    return abs(float(answer) - number) <= 1e-5 * max(1, abs(number))


@pytest.mark.parametrize(("question", "name", "worked_out"), [*TUNED, *HELD])
def test_no_answer_is_wrong(question: str, name: str, worked_out: Any) -> None:
    answer, truth = answered(question, name), worked_out(rows_of(name))
    assert answer is None or (truth is not None and is_right(answer, truth)), (answer, truth)


@pytest.mark.parametrize(("asked", "share"), [(TUNED, 0.9), (HELD, 0.7)], ids=["tuned", "held"])
def test_most_questions_are_answered(asked: tuple[Asked, ...], share: float) -> None:
    clear = [(question, name) for question, name, worked_out in asked if worked_out(rows_of(name)) is not None]
    given_up = [question for question, name in clear if answered(question, name) is None]
    assert len(given_up) <= (1 - share) * len(clear), given_up


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("How many orders were not from Oslo or Bergen?", "orders.csv"),
        ("How many customers only ordered lamps?", "orders.csv"),
        ("How many customers have all orders shipped?", "orders.csv"),
        ("What percentage of orders in Oslo were shipped and returned?", "orders.csv"),
        ("What is the total price of orders in Oslo?", "orders.csv"),
        ("What are the two cheapest products?", "orders.csv"),
        ("How many expenses were approved by Kim?", "expenses.csv"),
        ("How many employees were hired before March?", "employees.csv"),
        ("How many years are in the data?", "books.csv"),
        ("What is the average score?", "students.csv"),
        ("How many trips to Museum started in Harbour?", "bike_trips.csv"),
    ],
)
def test_what_may_mean_several_things_gets_no_answer(question: str, name: str) -> None:
    assert answered(question, name) is None


@pytest.mark.parametrize(
    ("question", "name", "said"),
    [
        ("How many students have a score over 80?", "students.csv", '"score" may be mathScore, physicsScore'),
        ("How many orders in Oslo have a quantity less than the average?", "orders.csv", "less than the average"),
        ("What is the average of the second column?", "readings.csv", "no line with the names of its columns"),
    ],
)
def test_it_says_what_it_does_not_understand(question: str, name: str, said: str) -> None:
    found = understood(question, name)
    assert isinstance(found, Unclear)
    assert said in found.reason


@pytest.mark.parametrize(
    ("question", "name", "right"),
    [
        ("What was watched on DVD?", "movies_watched.tsv", None),
        ("What is due in June?", "todo.csv", None),
        ("What was closed in January?", "tickets.csv", None),
        ("When was Iron Valley watched?", "movies_watched.tsv", "2024-01-13"),
        ("What is the due date of Fix gate?", "todo.csv", "20.06.2024"),
        ("What dates were movies watched on DVD?", "movies_watched.tsv", "2024-01-20, 2024-02-17"),
    ],
)
def test_what_was_done_is_not_answered_with_when(question: str, name: str, right: str | None) -> None:
    assert answered(question, name) == right


def test_order_lines_are_not_counted_as_orders(tmp_path: Path) -> None:
    loaded, _, fields = tool("query_number")
    (tmp_path / "orders.csv").write_text("order_id,item\n1,lamp\n1,desk\n2,lamp\n")
    found = understand("How many orders are there?", [SeenFile("orders.csv", "order_id,item\n1,lamp\n1,desk")])
    assert isinstance(found, Understood)
    values = {fields.inputs[role]: value for role, value in found.steps[0].values.items()}
    assert "repeats" in loaded.call(values, tmp_path)["error"]


def test_a_later_question_with_another_condition_uses_the_same_tool(player: Player) -> None:
    for name in ("orders.csv", "weather.csv"):
        (player.folder / name).write_bytes((TABLES / name).read_bytes())
    first = player.play("How many orders in Oslo were shipped?", ["orders.csv"])
    assert (first.final, len(first.tools)) == ("3", 1)
    later = player.play("What is the average temperature at Lake?", ["weather.csv"], library=[*first.tools.values()])
    assert (later.final, later.plan["tool_requests"]) == ("4.02", [])


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("How many orders have a quantity over 4?", "4"),
        ("Which two products sold the most units?", "lamp, chair"),
        ("How many different customers live in Bergen?", "1"),
        ("What is the difference between the total quantity in Oslo and in Bergen?", "9"),
        ("How many customers have all orders shipped?", None),
        ("How many expenses were approved by Kim?", None),
    ],
)
def test_parts_of_a_question_may_stand_in_any_order(question: str, right: str | None) -> None:
    name = "expenses.csv" if "expenses" in question else "orders.csv"
    assert answered(question, name) == right


def test_a_condition_in_an_answer_does_not_look_like_a_quotation(player: Player) -> None:
    (player.folder / "orders.csv").write_bytes((TABLES / "orders.csv").read_bytes())
    found = player.play("How many orders have a quantity over 10?", ["orders.csv"]).text.partition("(from")[0]
    assert "quantity greater 10" in found
    assert list(quotations(found)) == []
