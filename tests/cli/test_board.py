"""The live view of a training: what a person sees at a glance, at any size, and what is left of it: nothing."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from habilis.cli.training import TrainingConsole, can_show
from habilis.core import events as ev
from habilis.core.events import StepEnded, StepStarted, StepTaskEnded
from habilis.core.types import Usage
from habilis.core.usage import NOTHING
from habilis.terminal.board import Board
from habilis.terminal.pane import Pane

from ..screens import Screen

CALL: dict[str, Any] = {"call_id": "m1", "role": "basic", "purpose": "plan", "model": "gpt"}
BUILD: dict[str, Any] = {**CALL, "call_id": "m2", "role": "builder", "purpose": "write tool", "parent": "b1"}


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def board(clock: Clock) -> Board:
    """A run of 12 rows in 3 steps, at the beginning of its first one."""
    board = Board(clock)
    board.expect(12, 3, {})
    board.emit(StepStarted(step=1, tasks=("a", "b", "c", "d"), left=4))
    return board


def seen(board: Board, columns: int = 80, rows: int = 24) -> list[str]:
    lines = [line.plain for line in board.lines(columns, rows)]
    assert all(cell_len(line) < columns for line in lines)
    assert len(lines) < rows
    return lines


def doing(board: Board, task: str) -> str:
    """What the board says of one task, without its name and time."""
    (row,) = [line for line in seen(board, 160) if line.startswith(f" {task} ")]
    return re.sub(r"^ \S+ +(\d+ s|[\d:]+)  ", "", row)


def ended(task: str, status: str = "answered") -> StepTaskEnded:
    return StepTaskEnded(step=1, task_id=task, status=status)


def test_what_each_task_waits_for(board: Board, clock: Clock) -> None:
    board.heard("a", ev.TaskStarted(task_id="a", question="?"))
    assert doing(board, "a") == "starting"
    board.heard("a", ev.ModelCallStarted(**CALL))
    assert doing(board, "a") == "planning: asking gpt"
    board.heard("a", ev.ModelRetry(role="basic", reason="429 too many requests", wait_s=20, attempt=1))
    assert doing(board, "a") == "waiting 20.0 s for the basic model: 429 too many requests"
    clock.now += 21
    assert doing(board, "a") == "planning: asking gpt"
    board.heard("a", ev.ModelCallEnded(**CALL))
    board.heard("a", ev.ToolBuildStarted(tool="mean", build_id="b1"))
    assert doing(board, "a") == "writing mean: trying it"
    board.heard("a", ev.ModelCallStarted(**BUILD))
    assert doing(board, "a") == "writing mean: asking gpt"
    board.heard("b", ev.BuildAwaited(tool="average", builder="a", build_id="b2"))
    assert doing(board, "b") == "waiting for average, which a builds"
    board.heard("a", ev.ToolCallStarted(call_id="c", tool="rows", version="1", arguments={}))
    assert doing(board, "a") == "writing mean: asking gpt, and 1 more"
    board.heard("a", ev.ModelCallEnded(**BUILD))
    board.heard("a", ev.ToolBuilt(tool="mean", version="1", attempts=1, smoke="passed", path="p", build_id="b1"))
    assert doing(board, "a") == "calling rows"
    board.heard("b", ev.ToolAdopted(tool="mean", version="1", origin_task="a", origin_tool="mean", build_id="b2"))
    assert doing(board, "b") == "at work"


def test_how_far_it_is_and_what_it_costs(board: Board, clock: Clock) -> None:
    assert seen(board)[0] == "step 1 of 3 · 0 of 12 tasks · 0 s"
    usage = Usage(model_calls=1, prompt_tokens=1200, cost=NOTHING + 2)
    board.heard("a", ev.ModelCallEnded(**CALL, usage=usage))
    clock.now += 75
    board.emit(ended("a"))
    board.emit(ended("b", "gave_up"))
    told = " · ".join(seen(board, 160)[:1])
    assert told == "step 1 of 3 · 2 of 12 tasks · 1 answered, 1 given up · 1:15 · 1,200 tokens · $2.0000"


def test_an_unknown_cost_is_not_told_as_one(board: Board) -> None:
    board.heard("a", ev.ModelCallEnded(**CALL, usage=Usage(model_calls=1, prompt_tokens=5)))
    assert "$" not in seen(board, 160)[0]


def test_no_time_is_foretold_before_there_is_something_to_tell_by(board: Board, clock: Clock) -> None:
    for task in "abcd":
        board.heard(task, ev.TaskStarted(task_id=task, question="?"))
    for task in "abc":
        clock.now += 30
        board.emit(ended(task))
        assert board.left_s() is None
    clock.now += 30
    board.emit(ended("d"))
    assert board.left_s() == 240  # four took two minutes, eight are left
    assert "about 4 min left" in seen(board, 160)[0]


def test_a_resumed_run_counts_what_ended_before_but_not_its_pace(clock: Clock) -> None:
    board = Board(clock)
    board.expect(6, 2, {"x": "answered", "y": "gave_up", "z": "answered"})
    board.emit(StepStarted(step=2, tasks=("a", "b", "c"), left=3))
    assert seen(board)[0] == "step 2 of 2 · 3 of 6 tasks · 2 answered, 1 given up · 0 s"
    board.emit(ended("a", "interrupted"))
    assert "3 of 6" in seen(board)[0]
    assert board.left_s() is None


def test_the_curator_is_seen_when_all_tasks_of_the_step_have_ended(board: Board) -> None:
    for task in "abc":
        board.emit(ended(task))
        assert not any("curator" in line for line in seen(board))
    board.emit(ended("d"))
    assert doing(board, "curator") == "absorbing what step 1 proved"
    board.heard("curator", ev.ToolBuildStarted(tool="mean", purpose="merge", build_id="b"))
    assert doing(board, "curator") == "merging into mean: trying it"
    board.emit(StepEnded(step=1, metrics={}))
    assert not any("curator" in line for line in seen(board))


@pytest.mark.parametrize(("columns", "rows"), [(40, 10), (80, 24), (20, 5), (120, 10)])
def test_it_fits_and_says_how_many_are_not_shown(board: Board, columns: int, rows: int) -> None:
    for number in range(30):
        board.heard(f"task-平均-{number}", ev.ToolBuildStarted(tool="平均价格" * 20, build_id=f"{number}"))
    lines = seen(board, columns, rows)
    shown = sum(line.startswith(" task") for line in lines)
    assert lines[-1].startswith(f" … and {30 - shown} more")
    assert len(lines) <= rows - 2


def test_no_name_can_steer_the_terminal(board: Board) -> None:
    nasty = "\x1b]0;owned\x07\x1b[2J\r\n\u202egnp"
    board.heard(nasty, ev.ToolCallStarted(call_id="c", tool=nasty, version="1", arguments={}))
    board.heard("a", ev.ModelCallStarted(**{**CALL, "model": nasty, "purpose": nasty}))
    assert not set("".join(seen(board))) & set("\x1b\x07\r\n\u202e")


class Tty(io.StringIO):
    """The file of a terminal: each write goes to the screen."""

    encoding = "utf-8"  # type: ignore[assignment]

    def __init__(self, screen: Screen) -> None:
        super().__init__()
        self.screen, self.writes = screen, 0

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.screen.feed(text)
        self.writes += 1
        return len(text)


def terminal(columns: int = 80, rows: int = 24, **environ: str) -> tuple[Console, Tty]:
    tty = Tty(Screen(columns, rows))
    environ = {"TERM": "xterm", **environ}
    return Console(file=tty, width=columns, height=rows, markup=False, highlight=False, _environ=environ), tty


def test_what_is_printed_stands_above_and_stays_and_nothing_else_does() -> None:
    console, tty = terminal()
    shown = ["head", " a  1 s", " b  2 s"]
    pane = Pane(console, lambda columns, rows: [Text(line) for line in shown])
    pane.open()
    pane.draw()
    assert tty.screen.text == "head\n a  1 s\n b  2 s"
    pane.above("✓ a\n")
    assert tty.screen.text == "✓ a\nhead\n a  1 s\n b  2 s"
    shown[1:] = [" b  3 s"]
    pane.draw()
    assert tty.screen.text == "✓ a\nhead\n b  3 s"
    tty.screen.feed("^C")
    pane.above("✓ b\n")
    pane.close()
    pane.above("done\n")
    assert tty.screen.text == "✓ a\n✓ b\ndone"


def test_each_frame_is_one_write_and_none_where_nothing_changed() -> None:
    console, tty = terminal()
    pane = Pane(console, lambda columns, rows: [Text("one"), Text("two")])
    pane.draw()
    pane.draw()
    assert tty.writes == 1


def test_a_line_typed_into_it_tears_nothing() -> None:
    console, tty = terminal()
    typed = [0]
    pane = Pane(console, lambda columns, rows: [Text("one"), Text("two")], lambda: typed[0])
    pane.above("kept\n")
    pane.draw()
    for told in ("", "what next?"):
        tty.screen.feed(f"{told}\r\n")
        typed[0] += len(told) + 1
        pane.draw()
        assert tty.screen.text == "kept\none\ntwo"


@pytest.mark.parametrize(("columns", "rows"), [(40, 24), (25, 10), (120, 30)])
def test_it_follows_the_terminal_and_leaves_nothing_of_the_size_before(columns: int, rows: int) -> None:
    console, tty = terminal()
    pane = Pane(console, lambda columns, rows: [Text("x" * (columns - 1)), Text("y" * (columns - 1))])
    pane.above("kept\n")
    pane.draw()
    console.size = (columns, rows)  # type: ignore[assignment]
    tty.screen.resize(columns, rows)
    pane.draw()
    assert tty.screen.text == f"kept\n{'x' * (columns - 1)}\n{'y' * (columns - 1)}"


def lived(console: Console) -> None:
    """A short training on `console`."""
    shown = TrainingConsole(console)
    shown.board.expect(2, 1, {})
    shown.emit(StepStarted(step=1, tasks=("a", "b"), left=2))
    shown.heard("a", ev.TaskStarted(task_id="a", question="?"))
    shown.heard("a", ev.Notice(level="warning", text="careful"))
    shown.emit(StepTaskEnded(step=1, task_id="a", status="answered", prediction="7", seconds=1))
    shown.close()


def test_the_account_above_the_board_is_the_account() -> None:
    console, tty = terminal()
    lived(console)
    kept = [line.split() for line in tty.screen.text.splitlines()]
    assert kept == [["step", "1:", "2", "tasks"], ["warning", "a:", "careful"], ["✓", "a,", "1.0", "s", "→", "7"]]


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_who_wants_no_colour_and_a_dumb_terminal_get_the_account_alone(environ: dict[str, str]) -> None:
    assert not can_show(terminal(**environ)[0])


def test_pipes_build_servers_and_terminals_without_unicode_do_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    assert can_show(terminal()[0])
    pipe = io.StringIO()
    assert not can_show(Console(file=pipe))
    lived(Console(file=pipe))
    assert pipe.getvalue() == "step: 1: 2 tasks\nwarning: a: careful\n  ✓ a, 1.0 s → 7\n"
    monkeypatch.setenv("CI", "true")
    assert not can_show(terminal()[0])
    monkeypatch.setenv("CI", "false")
    console, tty = terminal()
    tty.encoding = "ascii"  # type: ignore[misc]
    assert not can_show(console)
