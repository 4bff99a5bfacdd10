"""The account of a conversation: what a turn thinks as it comes, its tool work in one line each, then the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from habilis.config import OFFLINE_NOTICE
from habilis.core import events as ev
from habilis.core.types import TaskResult
from habilis.terminal.console import LABEL_WIDTH, ConsoleSink, make_console, usage_text
from habilis.terminal.outcome import body
from habilis.terminal.wording import call_text, one_line, plain, seconds_text

if TYPE_CHECKING:
    from rich.console import Console


NO_ERROR = ', "error": null}'
"""How the result of a tool that is content ends; a person need not read it."""


class ChatSink(ConsoleSink):
    """Shows less than the account of a run: what a person sees of work that goes on between question and answer."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._model = ""
        self._told: set[str] = set()
        self._calls: dict[str, str] = {}
        self._talking = False
        self._streamed = 0

    @classmethod
    def on(cls, stream: TextIO) -> ChatSink:
        return cls(make_console(stream))

    def emit(self, event: ev.Event) -> None:
        if event.kind != "thought_piece":
            self._end_of_talk()
        super().emit(event)

    def note(self, text: str, label: str = "") -> None:
        """A line beside the conversation."""
        self._end_of_talk()
        self.line(label, text, "dim", "dim")

    def outcome(self, result: TaskResult, *, answer: bool) -> None:
        """The end of a turn: its answer where `answer` is set, or why there is none, and what it cost."""
        from rich.text import Text

        self._end_of_talk()
        if result.status == "answered":
            if answer:
                self._console.print(Text(self._fit(plain(result.final_answer)), "bold"))
        elif result.status == "interrupted":
            self.line("stopped", "/continue continues this question", "yellow", "yellow")
        elif result.status != "waiting":
            for number, (text, _) in enumerate(body(result)):
                self.line("" if number else "failed", text, "yellow", "yellow")
        self.line("", " · ".join(_facts(result)), "dim")
        if self._console.is_terminal:
            self._console.print()

    def _end_of_talk(self) -> None:
        if self._talking:
            self._talking = False
            self._console.print()

    # --- what is shown otherwise than of a run

    def _on_task_started(self, event: ev.TaskStarted) -> None:
        if event.model and event.model != self._model:
            self._model = event.model
            self.line("model", event.model, "yellow" if OFFLINE_NOTICE in event.model else "dim")

    def _on_notice(self, event: ev.Notice) -> None:
        if event.text not in self._told:  # each turn would say again what is so for all of them
            self._told.add(event.text)
            super()._on_notice(event)

    def _on_planned(self, _event: ev.Planned) -> None:
        return

    def _on_tool_build_started(self, event: ev.ToolBuildStarted) -> None:
        self._busy[f"tool {event.build_id or event.tool}"] = (
            f"{'mending' if event.purpose == 'enhance' else 'writing'} {event.tool}"
        )

    def _on_tool_built(self, event: ev.ToolBuilt) -> None:
        self._busy.pop(f"tool {event.build_id or event.tool}", None)
        self.line("tool", f"✓ {event.tool} written", "green")

    def _on_tool_call_started(self, event: ev.ToolCallStarted) -> None:
        self._busy[f"call {event.call_id}"] = f"running {event.tool}"
        self._calls[event.call_id] = call_text(event.tool, event.arguments, 100)

    def _on_tool_call_ended(self, event: ev.ToolCallEnded) -> None:
        self._busy.pop(f"call {event.call_id}", None)
        call = self._calls.pop(event.call_id, event.tool)
        room = max(60, self._console.width - LABEL_WIDTH - 2) if self._console.is_terminal else 240
        made = f" · made {', '.join(event.made)}" if event.made else ""
        failed = event.error is not None
        came = one_line(event.error or f"{event.text.replace(NO_ERROR, '}')}{made}", room // 2)
        call = one_line(call, room - len(came) - 5)  # what came of it is what a person wants to see
        self.line("call", f"✗ {call}: {came}" if failed else f"✓ {call} → {came}", "red" if failed else "green")

    def _on_thought(self, event: ev.Thought) -> None:
        if event.position != self._streamed:  # else it was shown as it came
            super()._on_thought(event)

    def _on_thought_piece(self, event: ev.ThoughtPiece) -> None:
        """What the model says, as it says it."""
        from rich.text import Text

        if self._console.is_terminal:
            self.pause()
            self._talking, self._streamed = True, event.position
            self._console.print(Text(self._fit(plain(event.text)), "dim"), end="", soft_wrap=True)

    def _refresh(self) -> None:
        if not self._talking:
            super()._refresh()

    def _on_reviewed(self, event: ev.Reviewed) -> None:
        if not event.review.accepted:
            super()._on_reviewed(event)


def _facts(result: TaskResult) -> list[str]:
    made = [f"made {', '.join(result.tools_made)}"] if result.tools_made else []
    files = [f"files {', '.join(result.files)}"] if result.files else []
    return [*made, *files, usage_text(result.usage), seconds_text(result.seconds)]
