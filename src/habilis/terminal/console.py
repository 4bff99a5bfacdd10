"""The account of a run, for people: lines on standard error as things happen, then the outcome.

On a terminal it is laid out in two columns with a line of current activity below; elsewhere each event is one plain
line. It reads events alone. All text of models and tools is shown as text: neither markup nor control characters in
it mean anything here.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from habilis.config import OFFLINE_NOTICE
from habilis.core import events as ev
from habilis.core.types import Usage
from habilis.core.usage import money_text
from habilis.terminal.wording import call_text, one_line, plain, plan_text, seconds_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

LABEL_WIDTH = 8
SAYING = 60
"""Characters of a reply that the line of current activity shows while it comes."""
_STOPS = {
    "out_of_rounds": "no rounds left",
    "empty_replies": "the model kept giving empty replies",
    "cut_replies": "the model's replies ran on until they were cut off",
    "failing": "several rounds in a row failed",
    "repeating": "the same call came again and again",
    "stopped": "stopped",
}
_ASCII = str.maketrans({"✓": "+", "✗": "x", "·": "|", "…": "~", "→": ">", "—": "-", "●": "*"})


class ConsoleSink:
    """Shows each event on `console`. `live` adds the line of current activity (terminals only)."""

    def __init__(self, console: Console, *, live: bool | None = None) -> None:
        self._console = console
        self._live = console.is_terminal if live is None else live
        self._ascii = not (console.encoding or "").lower().startswith("utf")
        self._status: Status | None = None
        self._busy: dict[str, str] = {}
        self._usage = Usage()
        self._saying = ""
        self.asked: str | None = None

    def emit(self, event: ev.Event) -> None:
        show = getattr(self, f"_on_{event.kind}", None)
        if show is not None:
            show(event)
        self._refresh()

    def line(self, label: str, text: str, style: str = "", label_style: str = "cyan") -> None:
        """One entry of the account; `text` may have several lines."""
        from rich.table import Table
        from rich.text import Text

        label, text = self._fit(label), self._fit(plain(text))
        if not self._console.is_terminal:
            text = " ".join(text.split())
            self._print(Text(f"{label}: {text}" if label else f"  {text}"), soft_wrap=True)
            return
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=LABEL_WIDTH, no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(Text(label, label_style), Text(text, style))
        self._print(grid)

    def pause(self) -> None:
        """Take the line of current activity away, for a prompt or for good; the next event brings it back."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def close(self) -> None:
        self._live = False
        self.pause()

    def _print(self, what: Any, **options: Any) -> None:
        self._console.print(what, **options)

    def _fit(self, text: str) -> str:
        return text.translate(_ASCII) if self._ascii else text

    def _refresh(self) -> None:
        if not self._live:
            return None
        from rich.text import Text

        parts = list(dict.fromkeys(self._busy.values()))
        if not parts:
            return self.pause()
        if self._usage.model_calls:
            parts.append(usage_text(self._usage, unknown=False))
        room = max(10, self._console.width - 4)
        text = Text(self._fit(one_line(" · ".join(parts), room)), "dim", no_wrap=True, overflow="ellipsis")
        if self._status is None:
            spinner = "line" if self._ascii else "dots"
            self._status = self._console.status(text, spinner=spinner, spinner_style="cyan")
            self._status.start()
        else:
            self._status.update(text)
        return None

    def _on_task_started(self, event: ev.TaskStarted) -> None:
        self.line("resuming" if event.resumed else "question", event.question, "bold")
        if event.model:
            self.line("model", event.model, "yellow" if OFFLINE_NOTICE in event.model else "dim")
        if event.files:
            self.line("files", ", ".join(event.files), "dim")

    def _on_notice(self, event: ev.Notice) -> None:
        style = {"info": "dim", "warning": "yellow", "error": "red"}[event.level]
        self.line("note" if event.level == "info" else event.level, event.text, style, style)

    def _on_model_call_started(self, event: ev.ModelCallStarted) -> None:
        self._busy[f"model {event.role} {event.purpose}"] = f"{event.purpose or event.role}: asking {event.model}"

    def _on_model_call_ended(self, event: ev.ModelCallEnded) -> None:
        self._busy.pop(f"model {event.role} {event.purpose}", None)
        self._usage += event.usage
        if event.error:
            self.line("model", f"✗ {event.purpose or event.role}: {one_line(event.error, 400)}", "red")

    def _on_model_retry(self, event: ev.ModelRetry) -> None:
        self._busy.pop("saying", None)  # what was said so far is said again
        self._saying = ""
        wait = f"; waiting {seconds_text(event.wait_s)}" if event.wait_s else ""
        self.line("retry", f"{event.role} model, try {event.attempt}: {one_line(event.reason)}{wait}", "yellow")

    def _on_planned(self, event: ev.Planned) -> None:
        plan = event.plan
        again = f"attempt {event.attempt}: " if event.attempt > 1 else ""
        self.line("plan", again + plan_text(plan.model_dump()))
        if plan.guidance.strip():
            self.line("", one_line(plan.guidance, 300), "dim")

    def _on_tool_build_started(self, event: ev.ToolBuildStarted) -> None:
        doing = {"build": "writing", "enhance": "mending", "merge": "merging into"}[event.purpose]
        self._busy[f"tool {event.build_id or event.tool}"] = f"{doing} {event.tool}"
        self.line("tool", f"{doing} {event.tool}")

    def _on_tool_built(self, event: ev.ToolBuilt) -> None:
        self._busy.pop(f"tool {event.build_id or event.tool}", None)
        self.line(
            "", f"✓ {event.tool} built, {_attempts(event.attempts)}; trial call: {one_line(event.smoke)}", "green"
        )

    def _on_needs_found(self, event: ev.NeedsFound) -> None:
        self.line("", f"{event.tool} needs {one_line(', '.join(event.needs), 300)}", "dim")

    def _on_grant_decided(self, event: ev.GrantDecided) -> None:
        parts = [f"given {', '.join(event.granted)}"] if event.granted else []
        parts += [f"not given {'; '.join(event.denied)}"] if event.denied else []
        style = "yellow" if event.denied else "dim"
        self.line("grant", f"{event.tool}: {one_line(' · '.join(parts) or 'nothing', 400)}", style)

    def _on_tool_adopted(self, event: ev.ToolAdopted) -> None:
        self._busy.pop(f"tool {event.tool}", None)
        self.line("", f"✓ {event.tool} taken over: {event.origin_tool} of task {event.origin_task}", "green")

    def _on_tool_enhanced(self, event: ev.ToolEnhanced) -> None:
        self._busy.pop(f"tool {event.build_id or event.tool}", None)
        replay = f"{event.replayed} of {event.records} recorded calls replayed"
        replay += f", {event.judged} differences settled by a judge" if event.judged else ""
        self.line("", f"✓ {event.tool} mended, {_attempts(event.attempts)}; {replay}", "green")

    def _on_tool_rejected(self, event: ev.ToolRejected) -> None:
        self.line("", f"✗ {event.tool}, attempt {event.attempt} rejected: {one_line(event.reason, 300)}", "yellow")

    def _on_tool_given_up(self, event: ev.ToolGivenUp) -> None:
        self._busy.pop(f"tool {event.build_id or event.tool}", None)
        whats = {"enhance": "not mended, the version before stays", "merge": "not made, the tools before stay"}
        what = whats.get(event.purpose, "not built")
        self.line("", f"✗ {event.tool} {what}: {one_line(event.reason, 300)}", "red")

    def _on_tool_archived(self, event: ev.ToolArchived) -> None:
        self.line("tool", f"{event.tool} set aside: {one_line(event.reason)}", "dim")

    def _on_tool_call_started(self, event: ev.ToolCallStarted) -> None:
        self._busy[f"call {event.call_id}"] = f"running {event.tool}"
        self.line("call", call_text(event.tool, event.arguments))

    def _on_tool_call_ended(self, event: ev.ToolCallEnded) -> None:
        self._busy.pop(f"call {event.call_id}", None)
        took = "from the record" if event.reused else seconds_text(event.seconds)
        if event.error is not None:
            self.line("", f"✗ {event.tool}, {took}: {one_line(event.error, 300)}", "red")
            return
        if event.refused:
            self.line("", f"{event.tool} did without {one_line('; '.join(event.refused), 300)}", "yellow")
        made = f" · made {', '.join(event.made)}" if event.made else ""
        self.line("", f"✓ {event.tool}, {took} → {one_line(event.text)}{made}", "green")

    def _on_member_answered(self, event: ev.MemberAnswered) -> None:
        self.line("", f"{event.member} answered for {event.tool}: {one_line(event.failure, 300)}", "yellow")

    def _on_judged(self, event: ev.Judged) -> None:
        if event.verdict == "success":
            return
        words = {"failure": "failed", "input_error": "was given bad input"}[event.verdict]
        self.line("verdict", f"{event.tool} {words}: {one_line(event.reason)} (by {event.by})", "yellow")

    def _on_thought(self, event: ev.Thought) -> None:
        self._busy.pop("saying", None)
        self._saying = ""
        if event.stage == "replied" and event.calls and event.thought.strip():
            self.line("thought", one_line(event.thought, 300), "italic")

    def _on_thought_piece(self, event: ev.ThoughtPiece) -> None:
        """What the model is saying, at the end of the line of current activity; the whole is shown when it is said."""
        self._saying = (self._saying + event.text)[-SAYING:]
        self._busy["saying"] = one_line(self._saying)

    def _on_rolled_back(self, event: ev.RolledBack) -> None:
        self.line("back", f"{one_line(event.reason)}; messages dropped: {event.dropped}", "yellow")

    def _on_summarised(self, event: ev.Summarised) -> None:
        self.line("folded", f"earlier rounds: {event.before_tokens:,} → {event.after_tokens:,} tokens", "dim")

    def _on_execution_ended(self, event: ev.ExecutionEnded) -> None:
        if event.stop in _STOPS:
            self.line("ended", f"attempt {event.attempt}: {_STOPS[event.stop]}", "yellow")

    def _on_reviewed(self, event: ev.Reviewed) -> None:
        ok = event.review.accepted
        word = f"{'✓ accepted' if ok else '✗ sent back'} by {event.review.whose}"
        self.line("review", f"{word}: {one_line(event.review.reason, 300)}", "green" if ok else "yellow")

    def _on_asked(self, event: ev.Asked) -> None:
        self.asked = event.question
        self.line("asks", event.question, "bold magenta", "magenta")

    def _on_alert(self, event: ev.Alert) -> None:
        self.line("alert", event.text, "yellow", "yellow")

    def _on_task_ended(self, _event: ev.TaskEnded) -> None:
        self._busy.clear()
        self.pause()


class SinkHandler(logging.Handler):
    """Shows log records as lines of the account, so that they do not tear the line of current activity."""

    def __init__(self, sink: ConsoleSink) -> None:
        super().__init__()
        self._sink = sink

    def emit(self, record: logging.LogRecord) -> None:
        self._sink.line("log", record.getMessage(), "yellow", "yellow")


def usage_text(usage: Usage, *, unknown: bool = True) -> str:
    """`4 model calls, 1,234 tokens, $0.0123`; `unknown`: say so where the cost is not known."""
    calls = f"{usage.model_calls} model call{'' if usage.model_calls == 1 else 's'}"
    return f"{calls}, {usage.total_tokens:,} tokens{cost_text(usage) if unknown or not usage.unpriced else ''}"


def cost_text(usage: Usage) -> str:
    """`, $0.0123`, or that it is unknown; empty for what cost nothing."""
    if usage.unpriced:
        return ", cost unknown"
    return f", {money_text(usage.cost)}" if usage.cost else ""


def _attempts(count: int) -> str:
    return "1 attempt" if count == 1 else f"{count} attempts"


def make_console(stream: Any) -> Console:
    """A Rich console on `stream` that neither guesses at markup nor colours numbers; NO_COLOR is honoured by Rich."""
    from rich.console import Console

    return Console(file=stream, markup=False, highlight=False, emoji=False)
