"""A model's replies in an order that a seed draws: what the clock decides elsewhere, chance decides here."""

from __future__ import annotations

import json
import random
import threading
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from habilis.core.events import Event
from habilis.demo import reply
from habilis.testing.completions import content_text

QUIET_S = 0.25
"""Without a new request for so long, all who could ask are taken to have asked. No result hangs on it."""


class Shuffled:
    """Answers as the offline model does, in an order of its own: requests wait until every task at work has asked, then
    one of them, drawn by `seed`, is answered. `tasks` are run, `at_once` of them side by side. `overtaken` counts
    answers that an earlier request still waited for."""

    def __init__(self, seed: int, tasks: int, at_once: int) -> None:
        self._random, self._left, self._at_once = random.Random(seed), tasks, at_once
        self._news = threading.Condition()
        self._waiting: dict[int, str] = {}
        self._idle: set[str] = set()
        self._next: int | None = None
        self.asked = self.overtaken = 0

    def heed(self, task: str, event: Event) -> None:
        """Hear what a task does: one that ended, or waits for another's build, asks nothing."""
        with self._news:
            self._idle.discard(task)
            if event.kind == "build_awaited":
                self._idle.add(task)
            self._left -= event.kind == "task_ended"
            self._news.notify_all()

    @property
    def _asking(self) -> int:
        """How many requests there will be before anybody has to be answered."""
        return min(self._at_once, self._left) - len(self._idle)

    def __call__(
        self, messages: list[BaseMessage], tools: list[dict[str, Any]], form: dict[str, Any] | None
    ) -> AIMessage:
        self._wait_for_turn(json.dumps([content_text(message.content) for message in messages]))
        return reply(messages, tools, form)

    def _wait_for_turn(self, request: str) -> None:
        with self._news:
            self.asked += 1
            mine, self._waiting[self.asked] = self.asked, request
            self._news.notify_all()
            while self._next != mine:
                quiet = len(self._waiting) < self._asking and not self._news.wait(QUIET_S)
                if self._next is None and (quiet or len(self._waiting) >= self._asking):
                    self._next = self._random.choice(sorted(self._waiting, key=self._waiting.__getitem__))
                    self._news.notify_all()
                elif self._next not in (None, mine):
                    self._news.wait()
            self._next = None
            del self._waiting[mine]
            self.overtaken += any(number < mine for number in self._waiting)
            self._news.notify_all()
