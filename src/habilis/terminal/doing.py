"""What one task is doing, or waiting for, and since when: read from its events alone."""

from __future__ import annotations

from dataclasses import dataclass

from habilis.core import events as ev
from habilis.terminal.wording import one_line, seconds_text

_DEEDS = {"plan": "planning", "review": "reviewing", "answer": "answering", "summary": "summing up"}
_BUILDS = {"build": "writing", "enhance": "mending", "merge": "merging into"}
_ENDS = ("tool_built", "tool_enhanced", "tool_given_up", "tool_adopted")


@dataclass(frozen=True)
class _Open:
    """Something under way: in words, since when (seconds of the board's clock), and which build it belongs to."""

    text: str
    since: float
    build: str = ""


class Doing:
    """One task, which began at `now`. All times are seconds of one clock that never goes back.

    `whole` says in words what it does as a whole, wherever nothing more exact is known.
    """

    def __init__(self, now: float, whole: str = "") -> None:
        self._whole, self._idle = whole, _Open(whole or "starting", now)
        self._models: dict[str, _Open] = {}
        self._calls: dict[str, _Open] = {}
        self._builds: dict[str, _Open] = {}
        self._awaited: dict[str, _Open] = {}
        self._held: tuple[float, _Open] | None = None

    def heard(self, event: ev.Event, now: float) -> None:
        """Take in what happens in the task."""
        if event.kind == "model_call_started":
            self._models[event.call_id or event.purpose] = self._asking(event, now)
        elif event.kind == "model_call_ended":
            self._models.pop(event.call_id or event.purpose, None)
            self._held = None
            self._ended(now)
        elif event.kind == "model_retry":
            text = f"waiting {seconds_text(event.wait_s)} for the {event.role} model: {one_line(event.reason, 80)}"
            self._held = now + event.wait_s, _Open(text, now)
        elif event.kind == "tool_call_started":
            self._calls[event.call_id] = _Open(f"calling {event.tool}", now)
        elif event.kind == "tool_call_ended":
            self._calls.pop(event.call_id, None)
            self._ended(now)
        else:
            self._heard_of_builds(event, now)

    def told(self, now: float) -> tuple[str, float]:
        """What it does, in words, and for how many seconds."""
        found = self._under_way(now) or [self._idle]
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        return found[0].text + more, max(0.0, now - found[0].since)

    def _ended(self, now: float) -> None:
        if not self._whole:
            self._idle = _Open("at work", now)

    def _asking(self, event: ev.ModelCallStarted, now: float) -> _Open:
        build = self._builds.get(event.parent)
        deed = build.text if build else _DEEDS.get(event.purpose, event.purpose or event.role)
        return _Open(f"{deed}: asking {event.model}", now, event.parent)

    def _heard_of_builds(self, event: ev.Event, now: float) -> None:
        if event.kind == "tool_build_started":
            self._awaited.pop(event.build_id, None)
            self._builds[event.build_id or event.tool] = _Open(f"{_BUILDS[event.purpose]} {event.tool}", now)
        elif event.kind == "build_awaited":
            self._awaited[event.build_id] = _Open(f"waiting for {event.tool}, which {event.builder} builds", now)
        elif event.kind in _ENDS:
            for under_way in (self._builds, self._awaited):
                under_way.pop(getattr(event, "build_id", "") or getattr(event, "tool", ""), None)
            self._ended(now)

    def _under_way(self, now: float) -> list[_Open]:
        """All that is under way, first what the person would want to know: the newest of each kind, but a wait that
        the server asked for before all."""
        held = [self._held[1]] if self._held and now < self._held[0] else []
        asked = {one.build for one in self._models.values()}
        builds = [_Open(f"{one.text}: trying it", one.since) for key, one in self._builds.items() if key not in asked]
        models = list(self._models.values())[1:] if held else list(self._models.values())
        return [*held, *models[::-1], *list(self._calls.values())[::-1], *builds[::-1], *self._awaited.values()]
