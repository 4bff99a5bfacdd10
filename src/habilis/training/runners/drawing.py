"""The purse of a run, drawn on by a task in a process of its own: asked for over its output, answered over its input.

From the task: {"reserve": [number, tokens, cost]}, {"withdraw": number} of one that it waits for no more, and
{"settle": [number, tokens, cost]}; a cost is a text, which keeps it exact. To the task: {"granted": number}, or
{"refused": number, "why": …}.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from habilis.core.errors import HabilisError, Interrupted
from habilis.core.usage import Amount, Ceiling

if TYPE_CHECKING:
    from habilis.core.ports import Purse


class DistantPurse:
    """The task's end. `say` sends a line to whoever holds the purse; `heard` takes in what comes from there."""

    def __init__(self, limits: Ceiling, say: Callable[..., None]) -> None:
        self.limits, self._say = limits, say
        self._number = 0
        self._asked: dict[int, asyncio.Future[str]] = {}
        self._granted: list[tuple[int, Amount]] = []

    async def reserve(self, most: Amount) -> None:
        self._number += 1
        number, answer = self._number, asyncio.get_running_loop().create_future()
        self._asked[number] = answer
        self._say(reserve=[number, most.tokens, str(most.cost)])
        try:
            refusal = await answer
        except asyncio.CancelledError:
            self._say(withdraw=number)
            raise
        finally:
            del self._asked[number]
        if refusal:
            raise Interrupted(refusal)
        self._granted.append((number, most))

    def settle(self, reserved: Amount, used: Amount) -> None:
        granted = next(one for one in self._granted if one[1] == reserved)
        self._granted.remove(granted)
        self._say(settle=[granted[0], used.tokens, str(used.cost)])

    def heard(self, said: dict[str, Any]) -> None:
        """What the holder of the purse says."""
        answer = self._asked.get(said.get("granted", said.get("refused", 0)))
        if answer is not None and not answer.done():
            answer.set_result(str(said.get("why", "")))


class Till:
    """The other end, one for each such process. What it had set aside when it went comes back by `close`."""

    def __init__(self, purse: Purse, answer: Callable[[dict[str, Any]], None]) -> None:
        self._purse, self._answer = purse, answer
        self._granting: dict[int, asyncio.Task[None]] = {}
        self._granted: dict[int, Amount] = {}

    def heard(self, said: dict[str, Any]) -> None:
        """What the task says, as far as it is about the purse."""
        match said:
            case {"reserve": [int(number), int(tokens), str(cost)]}:
                most = Amount(tokens, Decimal(cost))
                self._granting[number] = asyncio.ensure_future(self._grant(number, most))
            case {"withdraw": int(number)}:
                self._withdraw(number)
            case {"settle": [int(number), int(tokens), str(cost)]} if number in self._granted:
                self._purse.settle(self._granted.pop(number), Amount(tokens, Decimal(cost)))

    def close(self) -> None:
        """The process is gone."""
        for number in {*self._granting, *self._granted}:
            self._withdraw(number)

    async def _grant(self, number: int, most: Amount) -> None:
        try:
            await self._purse.reserve(most)
        except HabilisError as refusal:
            self._answer({"refused": number, "why": str(refusal)})
        else:
            self._granted[number] = most
            self._answer({"granted": number})
        finally:
            del self._granting[number]

    def _withdraw(self, number: int) -> None:
        if number in self._granted:
            self._purse.settle(self._granted.pop(number), Amount())
        elif number in self._granting:
            self._granting[number].cancel()
