"""How a task's result leaves the program: exit code, panel, plain answer, JSON."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from habilis.config import OFFLINE_NOTICE
from habilis.core.types import Status, TaskResult
from habilis.rundir import THREADS, TaskDir, safe_id
from habilis.terminal.console import usage_text
from habilis.terminal.streams import note_kept
from habilis.terminal.wording import plain, seconds_text

if TYPE_CHECKING:
    from rich.console import Console

EXIT_CODES: dict[Status, int] = {
    "answered": 0,
    "waiting": 0,
    "gave_up": 1,
    "timed_out": 1,
    "crashed": 1,
    "unreachable": 3,
    "misconfigured": 2,
    "budget": 4,
    "environment_error": 5,
    "interrupted": 130,
}
_TITLES: dict[Status, tuple[str, str]] = {
    "answered": ("Answer", "green"),
    "waiting": ("Waiting for you", "magenta"),
    "gave_up": ("No answer", "yellow"),
    "timed_out": ("No answer: out of time", "yellow"),
    "crashed": ("No answer: crashed", "red"),
    "unreachable": ("No answer: model unreachable", "red"),
    "budget": ("No answer: budget used up", "yellow"),
    "misconfigured": ("No answer: the model's settings are wrong", "red"),
    "environment_error": ("No answer: this machine failed", "red"),
    "interrupted": ("Interrupted", "yellow"),
}


def report(
    result: TaskResult, console: Console | None, *, as_json: bool, quiet: bool, out: TextIO | None = None
) -> int:
    """Hand `result` over and return its exit code.

    Standard output gets the JSON document, or the answer in plain (no answer, nothing). People get the account on
    `console`, standard error; on a terminal that shows both, the answer stands in the panel alone.
    """
    out = out or sys.stdout
    if result.run_dir:
        note_kept(_shown_path(str(TaskDir(Path(result.run_dir) / "tasks" / safe_id(result.task_id)).result)))
    shown = console is not None and console.is_terminal and out.isatty()
    if console is not None and not console.is_terminal:
        _heading(result, console)
    if as_json:
        print(result.model_dump_json(indent=2), file=out)
    elif result.status == "answered" and not shown:
        print(plain(result.final_answer) if out.isatty() else result.final_answer, file=out)
    out.flush()
    if console is not None:
        _panel(result, console) if console.is_terminal else _lines(facts(result), console)
    elif quiet and result.status != "answered":
        tried = " ".join([result.missing, *(["Try:", *result.suggestions] if result.suggestions else [])])
        text = result.question_asked if result.status == "waiting" else tried.strip() or result.error
        print(f"habilis: {_TITLES[result.status][0].lower()}: {plain(' '.join((text or '').split()))}", file=sys.stderr)
    return EXIT_CODES[result.status]


def body(result: TaskResult) -> list[tuple[str, str]]:
    """The paragraphs of the outcome with their styles."""
    parts: list[tuple[str, str]] = []
    if result.status == "waiting":
        parts.append((result.question_asked or "", "bold"))
        if result.run_dir:
            parts.append((f"answer with: {answer_hint(result)}", "dim"))
    elif result.status == "answered":
        parts.append((result.final_answer, ""))
    else:
        parts.append((result.missing or result.error or "no reason was given", ""))
        parts += [(f"Found: {found}", "") for found in result.found]
        if result.attempts and result.final_answer.strip():
            parts.append((f"The best there is, not verified: {result.final_answer}", ""))
        if result.suggestions:
            parts.append((f"Try: {' '.join(result.suggestions)}", ""))
    because = result.reasoning_summary.strip()
    if result.status == "answered" and because and because != result.final_answer.strip():
        parts.append((result.reasoning_summary, "dim"))
    return [(plain(text), style) for text, style in parts if text.strip()]


def facts(result: TaskResult) -> list[str]:
    """What stands below the outcome: who answered, under which confinement, at which cost, where it lies."""
    cost = [result.model] if result.model else []
    cost += [f"sandbox {result.sandbox_level}"] if result.sandbox_level else []
    cost += [usage_text(result.usage), seconds_text(result.seconds)]
    rows = [" · ".join(cost)]
    tools = [f"made {', '.join(result.tools_made)}"] if result.tools_made else []
    tools += [f"used {', '.join(result.tools_used)}"] if result.tools_used else []
    rows += ["tools: " + "; ".join(tools)] if tools else []
    stood_in = [(call.outcome.stood_in, call.tool) for call in result.invocations]
    members = dict.fromkeys(f"{said.member} answered for {tool}" for said, tool in stood_in if said is not None)
    rows += [f"merged tools failed: {', '.join(members)}"] if members else []
    rows += ["the limit of rounds was reached"] if result.round_limit_reached else []
    rows += ["files: " + ", ".join(result.files)] if result.files else []
    rows += [f"run: {_shown_path(result.run_dir)}"] if result.run_dir else []
    return [plain(row) for row in rows]


def answer_hint(result: TaskResult) -> str:
    turn = f" --task-id {result.task_id}" if Path(result.run_dir).parent.name == THREADS else ""
    return f'habilis runs resume "{_shown_path(result.run_dir)}"{turn} --answer "…"'


def _shown_path(path: str) -> str:
    """`path` as seen from the current folder, where it lies below it."""
    here = Path.cwd()
    return str(Path(path).relative_to(here)) if Path(path).is_relative_to(here) else path


def _panel(result: TaskResult, console: Console) -> None:
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    title, colour = _TITLES[result.status]
    parts = [Text(text, style) for text, style in body(result)]
    for row in facts(result):
        parts.append(Text(row, "yellow" if OFFLINE_NOTICE in row else "dim", overflow="fold"))
    if len(parts) > len(facts(result)):
        parts.insert(len(parts) - len(facts(result)), Text(""))
    console.print(Panel(Group(*parts), title=Text(title), title_align="left", border_style=colour, padding=(0, 1)))


def _heading(result: TaskResult, console: Console) -> None:
    """One line ahead of the answer: what it is, or why there is none."""
    title = _TITLES[result.status][0].lower()
    told = "" if result.status == "answered" else f": {' / '.join(' '.join(t.split()) for t, _ in body(result))}"
    _lines([title + told], console)


def _lines(rows: list[str], console: Console) -> None:
    from rich.text import Text

    for row in rows:
        console.print(Text(row), soft_wrap=True)
