"""One request until there is a reply: within its bound, again where that may help, no longer than the task may take."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from habilis.core.errors import BudgetReached, ModelReplyUnusable, ModelUnreachable
from habilis.core.events import Event, ModelRetry, Notice
from habilis.core.masker import MASKER
from habilis.core.place import scarcity
from habilis.core.types import Role, ToolSpec, Usage
from habilis.core.usage import NOTHING, Amount
from habilis.messages.bounds import CUT_AT, CUT_BY, Bound, marked, thought_too_long
from habilis.messages.repeating import repeats
from habilis.models.client import Client
from habilis.models.failures import RETRIED, Failure, backoff_s, expected, sort_out
from habilis.models.prices import Price, Prices
from habilis.models.quirks import KnownQuirks
from habilis.models.reaching import looked_into, unreachable
from habilis.models.request import Exchange, RequestRefused
from habilis.models.tape import ModelRequest, Slot
from habilis.models.tokens import TokenCount
from habilis.models.usage import Budget, Ledger

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage

LEAST_REPLY = 64
"""Tokens that a reply may hold however full the window is: an answer in a word must be possible."""
_NO_ROOM = re.compile(r"max_(?:completion_)?tokens|completion tokens|in (?:your|the) completion", re.IGNORECASE)
"""What a server says that has less room for the reply than it was asked to keep."""
Ends = Literal["budget", "bound", "server"]


@dataclass(frozen=True)
class Attempts:
    """Asks for one reply as often as need be. `usage` is what the task has cost so far, `count` counts a request."""

    budget: Budget
    emit: Callable[[Event], None]
    sleep: Callable[[float], Awaitable[None]]
    quirks: KnownQuirks
    usage: Callable[[], Usage]
    count: Callable[[Role, Sequence[BaseMessage], Sequence[ToolSpec]], TokenCount]
    prices: Prices

    async def reply(self, slot: Slot, client: Client, exchange: Exchange, bound: Bound, spent: Ledger) -> AIMessage:
        """The reply within `bound`, with what cut it.

        A model that proves to think before it replies is given room for that: once again for this reply, and in every
        later request. Raises as `Models.exchange` does.
        """
        from habilis.models.replies import usage_of

        known = self.quirks.of(client.where, client.name)
        room = bound.thinking if known.thinks else 0
        reply, asked = await self._asked(
            slot, client, self._within(exchange, client, bound.tokens + room), bound, spent
        )
        if known.thinks is None and bound.thinking and thought_too_long(reply):
            self.budget.check(self.usage() + spent.total)
            wider = self._within(exchange, client, bound.tokens + bound.thinking)
            reply, asked = await self._asked(slot, client, wider, bound, spent)
            known.thinks = not thought_too_long(reply)
            if known.thinks:
                self.emit(
                    Notice(level="info", text=f"{client.name} thinks before it replies: it is given room for it.")
                )
        return marked(reply, bound, asked=asked, used=usage_of(reply, lambda: 0).completion_tokens)

    def _within(self, exchange: Exchange, client: Client, tokens: int) -> Exchange:
        """`exchange` with what its reply may hold: what the window leaves, where both it and replies have a limit."""
        settings = client.settings
        if settings.max_tokens is not None and settings.token_limit is not None:
            tools = [ToolSpec.model_validate(tool) for tool in exchange.request.tools]
            left = settings.token_limit - self.count(exchange.request.role, exchange.messages, tools).tokens
            tokens = max(min(tokens, left), LEAST_REPLY)
        return replace(exchange, wire=replace(exchange.wire, max_tokens=tokens))

    async def _asked(
        self, slot: Slot, client: Client, exchange: Exchange, bound: Bound, spent: Ledger
    ) -> tuple[AIMessage, int | None]:
        """The reply, and how many tokens it was given: none where the server has no room for so many."""
        from habilis.models.replies import normalised, usage_of

        role = slot.request.role
        limit_of_money = self.budget.in_money
        price = await self.prices.demanded(limit_of_money, client) if limit_of_money else None
        self.prices.expect(client)
        retries = client.settings.max_retries or 0
        known, failure = self.quirks.of(client.where, client.name), None
        for attempt in range(1, retries + 2):
            in_pieces = known.slow or (failure is not None and failure.part == "silence")
            failure = None
            try:
                async with self.budget.drawing(lambda: _most(slot.request, exchange, bound, price)) as draw:
                    limit, ends = self._time_for(client, bound)
                    async with asyncio.timeout(limit):
                        reply = _looked_at(normalised(await _heard(client, exchange, in_pieces=in_pieces)))
                    used = usage_of(reply, lambda: _bytes(slot.request))
                    used = price.priced(used) if price is not None else used
                    draw.used = used.amount
            except expected() as error:
                if (place := scarcity(error)) is not None:
                    raise place from error
                spent.add(role, Usage(model_calls=1))
                failure = sort_out(error)
                if isinstance(error, TimeoutError) and ends == "budget":
                    raise BudgetReached(f"time budget reached: {self.budget.max_time_s:g} s are over") from None
                if isinstance(error, TimeoutError) and ends == "bound":
                    return _too_slow(bound), None
            except asyncio.CancelledError:
                spent.add(role, Usage(model_calls=1))
                raise
            if failure is None:
                known.slow = in_pieces
                if price is None and (found := await self.prices.of(client)) is not None:
                    used = found.priced(used)
                spent.add(role, used)
                return reply, exchange.wire.max_tokens
            self.budget.check(self.usage() + spent.total)
            if exchange.wire.max_tokens and failure.status in (400, 422) and _NO_ROOM.search(failure.text):
                unbounded = replace(exchange, wire=replace(exchange.wire, max_tokens=None))
                if client.settings.max_tokens is None:  # what is left is less than the bound: the server keeps to it
                    return await self._asked(slot, client, unbounded, bound, spent)
            if attempt == 1 and client.compatible:
                failure = await looked_into(failure, client.settings)
            await self._give_up(client, exchange, failure, attempt, retries)
            await self._wait(role, failure, attempt, slot.key)
        raise AssertionError("unreachable")

    async def _give_up(self, client: Client, exchange: Exchange, failure: Failure, attempt: int, retries: int) -> None:
        """Raises where another try cannot help, or was the last."""
        if failure.what == "refused" and exchange.goes_on_after(failure.text):
            raise RequestRefused(failure.text, exchange.mode)
        own_fault = failure.what == "retry" and failure.status is not None and failure.status not in RETRIED
        if own_fault and attempt > retries and exchange.about and exchange.goes_on_after(failure.text):
            raise RequestRefused(failure.text, exchange.mode)  # its own reply that a server cannot read, say
        if failure.what == "filtered":
            raise ModelReplyUnusable(f"{client.name}: the provider's content filter refused: {failure.text}")
        if failure.what != "retry" or attempt > retries:
            role, settings = exchange.request.role, client.settings
            if not client.compatible:  # made by a caller: what stands in our settings is not what it asks
                tries = f" after {attempt} attempts" if attempt > 1 else ""
                raise ModelUnreachable(f"model {client.name} at {client.where}: {failure.text}{tries}")
            raise await unreachable(failure, settings, role, model=client.name, attempts=attempt, log=client.log)

    async def _wait(self, role: Role, failure: Failure, attempt: int, seed: str) -> None:
        wait = failure.wait_s if failure.wait_s is not None else backoff_s(attempt, seed)
        remaining = self.budget.remaining_s()
        if remaining is not None and wait >= remaining:
            raise BudgetReached(f"time budget reached: the server asks to wait {wait:.0f} s ({failure.text})")
        self.emit(ModelRetry(role=role, reason=failure.text, wait_s=wait, attempt=attempt))
        await self.sleep(wait)

    def _time_for(self, client: Client, bound: Bound) -> tuple[float, Ends]:
        """Seconds that one request may take, and what sets them. Our own connections look after silent servers
        themselves; of any other the whole request counts."""
        times: list[tuple[float, Ends]] = [(bound.seconds, "bound")]
        if not client.compatible and client.settings.timeout_s is not None:
            times.append((client.settings.timeout_s, "server"))
        remaining = self.budget.remaining_s()
        if remaining is not None:
            times.append((remaining, "budget"))
        return min(times)


async def _heard(client: Client, exchange: Exchange, *, in_pieces: bool) -> AIMessage:
    """One reply; who listens hears it as it comes, without secrets that lie in two of its pieces.

    `in_pieces`: a server that was silent for too long is asked to show that it is at work; it may only be slow.
    """
    if exchange.say is None:
        return await client.ask(exchange.messages, exchange.wire, None, in_pieces=in_pieces)
    heard = MASKER.pieces(exchange.say())
    reply = await client.ask(exchange.messages, exchange.wire, heard, in_pieces=in_pieces)
    heard.end()
    return reply


def _looked_at(reply: AIMessage) -> AIMessage:
    """`reply`, which came whole or was cut, as one that was cut where it repeats itself to its end."""
    from habilis.messages.history import text_of

    cut = reply.response_metadata.get("finish_reason") == "length"
    thought = str(reply.additional_kwargs.get("reasoning_content") or "") if not reply.content else ""
    said = [text_of(reply), thought, *(str(call["args"] or "") for call in reply.invalid_tool_calls)]
    if reply.tool_calls or not any(repeats(text, cut=cut) for text in said):
        return reply
    return reply.model_copy(update={"response_metadata": {**reply.response_metadata, "finish_reason": "repetition"}})


def _too_slow(bound: Bound) -> AIMessage:
    """What stands for a reply that took too long, so that a replay finds it so as well."""
    from langchain_core.messages import AIMessage

    return AIMessage("", response_metadata={"finish_reason": "time", CUT_AT: bound.seconds, CUT_BY: bound.seconds_by})


def _most(request: ModelRequest, exchange: Exchange, bound: Bound, price: Price | None) -> Amount:
    """What a request may come to with its reply: what is sent by its size, and the bound of the reply."""
    from habilis.models.replies import BYTES_PER_TOKEN

    sent, reply = round(_bytes(request) / BYTES_PER_TOKEN), exchange.wire.max_tokens or bound.tokens
    most = Usage(prompt_tokens=sent, completion_tokens=reply)
    return Amount(most.total_tokens, price.most(most) if price is not None else NOTHING)


def _bytes(request: ModelRequest) -> int:
    sent = [request.messages, request.tools, request.schema]
    return len(json.dumps(sent, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass"))
