"""The account of a run: whole, readable at any width, deaf to what texts would do to a terminal."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from habilis.core import events as ev
from habilis.core.errors import UserError
from habilis.core.types import Plan, Review, TaskResult, ToolRequest, Usage
from habilis.core.usage import NOTHING
from habilis.terminal.console import ConsoleSink, make_console
from habilis.terminal.outcome import EXIT_CODES, report
from habilis.terminal.wording import bytes_of, call_text, one_line, plain, seconds_of

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "console"
REQUEST = ToolRequest(name="column_mean", description="d", input_schema={}, output_schema={})
ARGUMENTS = {"path": "examples/data/sales.csv", "column": "price", "delimiter": ";"}
CALL = ev.ThoughtCall(call_id="c1", tool="column_mean", arguments=ARGUMENTS)

EVENTS: list[ev.Event] = [
    ev.TaskStarted(
        task_id="task",
        question="What is the average price in examples/data/sales.csv? 平均价格是多少？",
        files=("examples/data/sales.csv",),
        model="offline demonstration model",
    ),
    ev.Notice(text="no key is set: answering with the offline demonstration model"),
    ev.Notice(level="warning", text="the sandbox is weaker than it could be"),
    ev.ModelCallStarted(role="basic", purpose="plan", model="m"),
    ev.ModelRetry(role="basic", reason="429 too many requests", wait_s=2.0, attempt=1),
    ev.ModelCallEnded(
        role="basic", purpose="plan", model="m", usage=Usage(model_calls=2, prompt_tokens=1200, cost=NOTHING)
    ),
    ev.Planned(attempt=1, plan=Plan(reuse=("list_sum",), build=(REQUEST,), guidance="Read the column,\nthen average.")),
    ev.ToolBuildStarted(tool="column_mean"),
    ev.ToolRejected(
        tool="column_mean", purpose="build", attempt=1, reason="SyntaxError: [bold]not markup[/bold] line 3"
    ),
    ev.ToolBuilt(tool="column_mean", version="abc", attempts=2, smoke="passed", path="/x"),
    ev.ToolBuildStarted(tool="other"),
    ev.ToolGivenUp(tool="other", purpose="build", reason="3 attempts failed"),
    ev.Thought(position=1, stage="replied", thought="I will read the file with [red]the tool[/red].", calls=(CALL,)),
    ev.ToolCallStarted(call_id="c1", tool="column_mean", version="abc", arguments=ARGUMENTS),
    ev.ToolCallEnded(call_id="c1", tool="column_mean", seconds=0.18, error="KeyError: 'price' \x1b[2J\x07 wiped?"),
    ev.Judged(call_id="c1", tool="column_mean", verdict="failure", reason="the reader is at fault", by="model"),
    ev.ToolBuildStarted(tool="column_mean", purpose="enhance"),
    ev.ToolEnhanced(tool="column_mean", version="b", previous="a", attempts=1, replayed=1, records=1),
    ev.RolledBack(reason="empty reply", dropped=2),
    ev.Summarised(before_tokens=12000, after_tokens=3000),
    ev.ToolCallStarted(call_id="c2", tool="column_mean", version="b", arguments=ARGUMENTS),
    ev.ToolCallEnded(call_id="c2", tool="column_mean", seconds=75, text='{"mean": 12.5}', made=("out.csv",)),
    ev.Judged(call_id="c2", tool="column_mean", verdict="success", reason="an answer", by="rule"),
    ev.ExecutionEnded(attempt=1, stop="out_of_rounds", text=""),
    ev.Reviewed(attempt=1, review=Review(accepted=False, reason="no conclusion")),
    ev.Planned(attempt=2, plan=Plan()),
    ev.ToolCallStarted(call_id="c3", tool="column_mean", version="b", arguments={}),
    ev.ToolCallEnded(call_id="c3", tool="column_mean", seconds=0, text="12.5", reused=True),
    ev.Asked(question="Which currency?"),
    ev.ExecutionEnded(attempt=2, stop="answer", text="12.5"),
    ev.Reviewed(attempt=2, review=Review(accepted=True, reason="the mean was computed")),
    ev.ToolArchived(tool="other", reason="it was never called", path="/x"),
    ev.TaskEnded(task_id="task", status="answered", final_answer="12.5"),
]

RESULT = TaskResult(
    task_id="task",
    status="answered",
    question="q",
    final_answer="The average price is 12.5 € [bold]really[/bold]\n平均价格是 12.5",
    reasoning_summary="The mean of the 4 values of the column.",
    sandbox_level="bubblewrap",
    model="offline demonstration model",
    tools_made=("column_mean",),
    tools_used=("column_mean", "list_sum"),
    usage=Usage(model_calls=5, prompt_tokens=3000, completion_tokens=400, cost=NOTHING),
    seconds=2.5,
    run_dir="/somewhere/runs/20260102-120000-what-is-the-average-price",
)


class Screen(io.StringIO):
    """A stream with a terminal's answer to `isatty`, and an encoding."""

    def __init__(self, tty: bool, encoding: str = "utf-8") -> None:
        super().__init__()
        self._tty = tty
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding

    def isatty(self) -> bool:
        return self._tty


def shown(
    events: list[ev.Event],
    result: TaskResult | None,
    *,
    width: int,
    tty: bool,
    colour: bool = False,
    encoding: str = "utf-8",
) -> str:
    from rich.console import Console

    screen = Screen(tty, encoding)
    console = Console(
        file=screen, width=width, force_terminal=tty, color_system="256" if colour else None, markup=False
    )
    sink = ConsoleSink(console, live=False)
    for event in events:
        sink.emit(event)
    if result is not None:
        report(result, console, as_json=False, quiet=False, out=Screen(tty))
    return screen.getvalue()


@pytest.mark.parametrize(("name", "width", "tty"), [("wide", 120, True), ("narrow", 60, True), ("piped", 80, False)])
def test_the_account_of_a_run(name: str, width: int, tty: bool) -> None:
    text = "\n".join(line.rstrip() for line in shown(EVENTS, RESULT, width=width, tty=tty).splitlines()) + "\n"
    golden = GOLDEN / f"{name}.txt"
    if not golden.exists():
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(text, encoding="utf-8")
        pytest.fail(f"{golden} was missing and is written now; read it and run again")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("tty", [True, False])
@pytest.mark.parametrize("event", EVENTS, ids=lambda event: str(event.kind))
def test_no_text_can_steer_the_terminal(event: ev.Event, tty: bool) -> None:
    nasty = "\x1b]0;owned\x07\x1b[2J\r\u202egnp\u2066"
    fixed = {"kind", "level", "role", "stage", "purpose", "stop", "by", "verdict"}
    data = {k: nasty if isinstance(v, str) and k not in fixed else v for k, v in event.model_dump().items()}
    text = shown([type(event).model_validate(data)], None, width=80, tty=tty)
    assert not set(text) & set("\x1b\x07\r\u202e\u2066")


def test_every_event_of_one_line_stays_one_line_where_lines_are_read_by_programs() -> None:
    text = shown(EVENTS, None, width=40, tty=False)
    assert "plan: use list_sum · build column_mean\n" in text
    assert text == shown(EVENTS, None, width=1000, tty=False)
    assert all(line.strip() for line in text.splitlines())


def test_nothing_is_wider_than_the_terminal() -> None:
    from rich.cells import cell_len

    for width in (30, 60, 80, 120):
        for line in shown(EVENTS, RESULT, width=width, tty=True).splitlines():
            assert cell_len(line) <= width


def test_no_color_is_honoured_and_colour_is_there_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[32m" in shown(EVENTS, RESULT, width=80, tty=True, colour=True)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    screen = Screen(True)
    ConsoleSink(make_console(screen), live=False).emit(EVENTS[0])
    assert "average price" in screen.getvalue()
    assert not re.search(r"\x1b\[[0-9;]*(3[0-9]|9[0-7])", screen.getvalue())


def test_a_terminal_without_unicode_gets_signs_that_it_has() -> None:
    text = shown(
        [event for event in EVENTS if event.kind != "task_started"], None, width=80, tty=True, encoding="ascii"
    )
    assert text.isascii()


@pytest.mark.parametrize(
    ("out_tty", "err_tty", "plain_answer"), [(True, True, False), (True, False, True), (False, True, True)]
)
def test_the_answer_is_on_standard_output_unless_the_panel_shows_it(
    out_tty: bool, err_tty: bool, plain_answer: bool
) -> None:
    from rich.console import Console

    screen, out = Screen(err_tty), Screen(out_tty)
    console = Console(file=screen, force_terminal=err_tty, width=80, _environ={"TERM": "xterm"})
    assert report(RESULT, console, as_json=False, quiet=False, out=out) == 0
    assert out.getvalue() == (RESULT.final_answer + "\n" if plain_answer else "")
    assert "offline demonstration model" in screen.getvalue()
    assert "bubblewrap" in screen.getvalue()
    assert RESULT.run_dir[:20] in screen.getvalue()
    assert ("The average price is 12.5" in screen.getvalue()) == err_tty


def test_a_task_that_gave_up_says_what_is_missing_and_what_to_try(capsys: pytest.CaptureFixture[str]) -> None:
    told = {"missing": "No tool read the file.", "suggestions": ("Name the file.",), "found": ("f() gave 1",)}
    result = RESULT.model_copy(update={"status": "gave_up", "error": "x", "final_answer": "", "attempts": 1, **told})
    assert report(result, None, as_json=False, quiet=True, out=Screen(False)) == 1
    assert capsys.readouterr().err == "habilis: no answer: No tool read the file. Try: Name the file.\n"
    screen = Screen(False)
    report(result, make_console(screen), as_json=False, quiet=False, out=Screen(False))
    assert "no answer: No tool read the file. / Found: f() gave 1 / Try: Name the file." in screen.getvalue()


def test_what_was_not_verified_is_never_printed_as_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    result = RESULT.model_copy(
        update={"status": "gave_up", "error": "no conclusion", "final_answer": "maybe 7", "attempts": 1}
    )
    for quiet in (True, False):
        out = Screen(False)
        assert report(result, None, as_json=False, quiet=quiet, out=out) == 1
        assert out.getvalue() == ""
    assert capsys.readouterr().err == "habilis: no answer: no conclusion\n"
    text = shown([], result, width=100, tty=True)
    assert "No answer" in text
    assert "not verified: maybe 7" in text


def test_a_waiting_task_says_what_it_asks_and_how_to_answer() -> None:
    result = RESULT.model_copy(update={"status": "waiting", "question_asked": "Which currency?", "final_answer": ""})
    for tty in (True, False):
        text = shown([], result, width=140, tty=tty)
        assert "Which currency?" in text
        assert "--answer" in text


def test_each_status_has_its_exit_code() -> None:
    assert EXIT_CODES == {
        "answered": 0,
        "waiting": 0,
        "gave_up": 1,
        "timed_out": 1,
        "crashed": 1,
        "misconfigured": 2,
        "unreachable": 3,
        "budget": 4,
        "environment_error": 5,
        "interrupted": 130,
    }


def test_long_arguments_leave_room_for_each_other() -> None:
    text = call_text("t", {"text": "x" * 10_000, "column": "price"})
    assert len(text) < 200
    assert 'column="price"' in text
    assert one_line("a\n  b\tc" * 1000, 20) == "a b ca b ca b ca b…"
    assert plain("a\nb\tc\x1b") == "a\nb\tc\\x1b"


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("30s", 30), ("5m", 300), ("1.5h", 5400), ("30d", 2_592_000)]
)
def test_times_are_understood(text: str, seconds: float) -> None:
    assert seconds_of(text, "--max-time") == seconds


@pytest.mark.parametrize(("text", "count"), [("1000", 1000), ("2GB", 2 << 30), ("1.5k", 1536), ("500 MiB", 500 << 20)])
def test_sizes_are_understood(text: str, count: int) -> None:
    assert bytes_of(text, "--max-size") == count


@pytest.mark.parametrize("text", ["", "-1", "1 parsec", "nan", "1e9"])
def test_what_is_no_time_or_size_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="--x"):
        seconds_of(text, "--x")
    with pytest.raises(UserError, match="--x"):
        bytes_of(text, "--x")
