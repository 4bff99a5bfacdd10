"""Asking models by role: budget, tape, events, retries and usage around every request.

The order of one request: budget → history repaired → tape (answered from it, or a place claimed) → the server, again
and again within its limits → usage → tape → reply. Nothing acts on a reply before it is on the tape.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import BaseModel

from habilis.config import LimitsSettings, ModelsSettings, RoleSettings
from habilis.core.errors import BudgetReached, ModelReplyUnusable, ModelUnreachable, PlaceError, ReplyTooSlow
from habilis.core.events import Event, ModelCallEnded, ModelCallStarted, Notice
from habilis.core.masker import MASKER
from habilis.core.types import Purpose, Role, ToolSpec, Usage
from habilis.demo import MODEL_NAME
from habilis.messages.bounds import Bound, cut_of
from habilis.models.attempts import Attempts
from habilis.models.client import Client, Clients, Factory
from habilis.models.entries import Entry
from habilis.models.patience import Patience
from habilis.models.prices import Prices
from habilis.models.providers import address
from habilis.models.quirks import PROCESS_QUIRKS, Quirks
from habilis.models.request import Exchange, Listener, RequestRefused, Wire
from habilis.models.tape import AGENTS, ModelRequest, Slot, Tape
from habilis.models.tokens import TokenCount, TokenCounter
from habilis.models.usage import Budget, Ledger

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage

    from habilis.models.structured import Modes

T = TypeVar("T", bound=BaseModel)


class Models:
    """The models of one task, by role.

    All asking raises `BudgetReached`, `ModelUnreachable`, `ReplayMismatch`, and `ModelReplyUnusable` when the
    provider's filter or the model itself refuses.
    """

    def __init__(
        self,
        settings: ModelsSettings,
        *,
        limits: LimitsSettings | None = None,
        tape: Tape,
        emit: Callable[[Event], None],
        budget: Budget,
        clients: Factory | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.perf_counter,
        modes: Modes | None = None,
        folder: Path | None = None,
    ) -> None:
        """`limits` bound replies; `clients` makes the chat model of a role in place of ours; `modes` remembers forms of
        structured answers, and quirks; `folder` is where servers of local models are noted (`Clients`).

        Raises `UserError` if the settings name no model.
        """
        self.tape = tape
        self.budget = budget
        self.probes_judges = settings.probe_judges
        self.trying_a_judge = asyncio.Lock()
        self._emit = emit
        self._limits = limits or LimitsSettings()
        self._clock = clock
        self._modes = modes
        quirks = self._quirks = modes.quirks if modes else PROCESS_QUIRKS
        self._clients = Clients(settings, lambda text: emit(Notice(text=text)), clients, folder=folder, quirks=quirks)
        prices = Prices(settings.prices)
        self._attempts = Attempts(
            budget, emit, sleep, quirks, usage=lambda: self.usage, count=self.count, prices=prices
        )
        self._ledger = Ledger()
        budget.own.spent = self.usage.amount
        self._replayed_names: dict[str, str] = {}
        self.last_modes: dict[str, str] = {}
        """The form in which a role last gave a structured answer, live or replayed."""
        self.patience = Patience()
        self._counters: dict[str, TokenCounter] = {}
        if not tape.replay_only:
            self._clients.check("basic")
            if limit := budget.in_money:
                self._clients.check_prices(limit, prices)

    # --- what they are

    def name(self, role: Role) -> str:
        """The model of `role`, for people."""
        client = self._clients.known(role)
        settings = self._clients.settings(role)
        if client is not None:
            return client.name
        if role in self._replayed_names:
            return self._replayed_names[role]
        if self._clients.is_offline(role):
            return MODEL_NAME
        return settings.model or f"the first model of {address(settings)}"

    def is_offline(self) -> bool:
        """Whether the offline demonstration model plays the basic role."""
        return self.name("basic") == MODEL_NAME

    def token_limit(self, role: Role) -> int | None:
        """Tokens that a request to `role` may hold; None is no limit."""
        return self._clients.settings(role).token_limit

    @property
    def usage(self) -> Usage:
        """What the task has cost so far, in all; what was paid before a resume counts."""
        return sum(self.usage_by_role.values(), Usage())

    @property
    def usage_by_role(self) -> dict[str, Usage]:
        """What the task has cost so far, by role."""
        roles = self.tape.paid()
        for role, usage in self._ledger.by_role.items():
            roles[role] = roles.get(role, Usage()) + usage
        return roles

    def charge(self, usage: Usage) -> None:
        """Add what models have cost that a tool asked, an agent say; the budget counts it under `tools`."""
        self._ledger.add(AGENTS, usage)
        self.budget.own.spent += usage.amount

    def count(self, role: Role, messages: Sequence[BaseMessage], tools: Sequence[ToolSpec] = ()) -> TokenCount:
        """Tokens of a request: messages, arguments of tool calls, tool schemas."""
        name = self._clients.settings(role).model or ""
        if name not in self._counters:
            self._counters[name] = TokenCounter(name)
        return self._counters[name].count(messages, tools)

    # --- asking

    async def chat(
        self,
        role: Role,
        messages: Sequence[BaseMessage],
        *,
        tools: Sequence[ToolSpec] = (),
        purpose: Purpose,
        label: str = "",
        about: str | None = None,
        say: Listener | None = None,
        stop: Sequence[str] = (),
    ) -> AIMessage:
        """The reply to `messages`: plain text, calls as the model sent them (`messages.calls` checks them).

        `say` hears the text as it comes, where streaming is set. The reply may end before any text of `stop`, where the
        server knows how. Raises `RequestRefused` for a refusal that speaks of `about`, a pattern.
        """
        from habilis.messages.history import repair_history
        from habilis.messages.naming import Naming
        from habilis.models.wire import request_part, tools_part

        naming = Naming.of(tools)
        sent = repair_history(naming.outward(messages))
        parts = tools_part(naming.specs)
        request = ModelRequest(role, purpose, tuple(map(request_part, sent)), tuple(parts), label=label)
        wire = Wire(tools=[{"type": "function", "function": part} for part in parts], stop=stop)
        exchange = Exchange(request, sent, wire, refusable=about is not None, about=about or "", say=say)
        reply, _ = await self.exchange(request, lambda _: exchange)
        return naming.inward(reply)

    async def structured(
        self, role: Role, messages: Sequence[BaseMessage], output: type[T], *, purpose: Purpose, label: str = ""
    ) -> T:
        """An answer in the form of `output`. Raises `ModelReplyUnusable` when every mode and correction failed."""
        from habilis.models.structured import PROCESS_MODES, StructuredAsker

        return await StructuredAsker(self, self._modes or PROCESS_MODES).ask(role, messages, output, purpose, label)

    def load(self) -> None:
        """Import what the first request would wait for; a replay asks nobody. Safe on a thread of its own."""
        if not self.tape.replay_only:
            self._clients.load("basic")

    def known_client(self, role: Role) -> Client | None:
        """The client of `role` if anything was asked of it."""
        return self._clients.known(role)

    async def client(self, role: Role) -> Client:
        """The client of `role`, made if need be. Raises `UserError` or `ModelUnreachable`."""
        return await self._clients.get(role)

    async def quirks(self, role: Role) -> Quirks:
        """What the server of `role` takes otherwise than others. Raises as `client` does."""
        client = await self.client(role)
        return self._quirks.of(client.where, client.name)

    def mode_setting(self, role: Role) -> str:
        """The mode for structured answers that is set for `role`."""
        return self._clients.settings(role).structured_mode or "auto"

    def stands_apart(self, role: Role) -> bool:
        """Whether `role` is played by another model, or on another server, than the basic one."""
        settings = [self._clients.settings(one) for one in (role, "basic")]
        clients = [self._clients.known(one) for one in (role, "basic")]
        named = [(one.provider, one.base_url, one.model) for one in settings]
        found = [(client.where, client.name) for client in clients if client is not None]
        return len(set(named)) > 1 or len(set(found)) > 1

    def settings(self, role: Role) -> RoleSettings:
        """The settings of `role`."""
        return self._clients.settings(role)

    def tell(self, text: str, level: Literal["info", "warning"] = "warning") -> None:
        """Tell whoever watches the task."""
        self._emit(Notice(level=level, text=text))

    async def aclose(self) -> None:
        """Close all connections and the tape."""
        await self._clients.aclose()
        self.tape.close()

    # --- one request

    async def exchange(self, request: ModelRequest, build: Callable[[Client], Exchange]) -> tuple[AIMessage, str]:
        """One logical request: the reply, and the mode in which it was asked for. `build` is called only to send it.

        Raises `RequestRefused` (its second argument is the mode) when the exchange is refusable and was refused.
        """
        self._check_budgets()
        slot = self.tape.slot(request)
        if slot.entry is not None:
            return self._replay(slot.entry, request)
        try:
            client = await self._clients.get(request.role)
            return await self._live(slot, client, build(client))
        except BaseException:
            self.tape.release(slot)
            raise

    def _check_budgets(self) -> None:
        """Raises `BudgetReached`. Calls that an agent among the tools made are bounded where they are made."""
        used = self.usage_by_role
        self.budget.check(sum(used.values(), Usage()))
        self.budget.check_calls(sum(usage.model_calls for role, usage in used.items() if role != AGENTS))

    def bound(self, request: ModelRequest) -> Bound:
        """What bounds the reply to `request`."""
        return Bound.of(request.purpose, self._limits, request.role, self._clients.settings(request.role))

    def _replay(self, entry: Entry, request: ModelRequest) -> tuple[AIMessage, str]:
        from habilis.models.wire import reply_from

        if self.tape.replay_only:  # else it counts as paid already
            self._ledger.add(entry.role, entry.usage)
        if entry.model:
            self._replayed_names[entry.role] = entry.model
        call_id = f"{entry.key}-{entry.n}"
        who: dict[str, Any] = {"call_id": call_id, "role": entry.role, "purpose": entry.purpose, "model": entry.model}
        self._emit(ModelCallStarted(**who))
        self._emit(ModelCallEnded(**who, usage=entry.usage.replayed(), replayed=True, error=entry.error))
        if entry.reply is None:
            if entry.final:
                raise ModelUnreachable(entry.error or "refused")
            raise RequestRefused(entry.error, entry.mode)
        return _usable(reply_from(entry.reply), entry.model, request), entry.mode

    async def _live(self, slot: Slot, client: Client, exchange: Exchange) -> tuple[AIMessage, str]:
        from habilis.models.wire import reply_from, reply_part

        request, role = slot.request, slot.request.role
        call_id = f"{slot.key}-{slot.n}"
        who: dict[str, Any] = {"call_id": call_id, "role": role, "purpose": request.told, "model": client.name}
        self._emit(ModelCallStarted(**who))
        start = self._clock()
        spent = Ledger()
        error: str | None = "interrupted"
        try:
            self.tape.reserve()
            reply = await self._attempts.reply(slot, client, exchange, self.bound(request), spent)
            kept = MASKER.value(reply_part(reply))  # a server, or its model, may repeat the key
            self.tape.record_reply(slot, kept, spent.total, model=client.name, mode=exchange.mode)
            error = None
        except RequestRefused as refused:
            error = str(refused.args[0])
            self.tape.record_refusal(slot, error, spent.total, model=client.name, mode=exchange.mode, final=False)
            raise
        except ModelUnreachable as unreachable:
            error = str(unreachable)
            self.tape.record_refusal(slot, error, spent.total, model=client.name, mode=exchange.mode, final=True)
            raise
        except (BudgetReached, PlaceError, OSError) as reached:  # OSError: the tape could not be written
            error = str(reached)
            raise
        finally:
            self._ledger.add(role, spent.total)
            seconds = self._clock() - start
            self._emit(ModelCallEnded(**who, usage=spent.total, seconds=seconds, error=error))
        return _usable(reply_from(kept), client.name, request), exchange.mode  # live and replayed are the same


def _usable(reply: AIMessage, model: str, request: ModelRequest) -> AIMessage:
    """`reply`, unless the model or its provider refused to answer, or the time for it ran out."""
    cut = cut_of(reply)
    if cut is not None and cut.why == "time":
        raise ReplyTooSlow(
            f"{model} gave no whole reply ({request.told}) within {cut.at:g} s: "
            f"raise {cut.setting}, or use a faster model"
        )
    if reply.content or reply.tool_calls or reply.invalid_tool_calls:
        return reply
    refusal = reply.additional_kwargs.get("refusal")
    if refusal:
        raise ModelReplyUnusable(f"{model} refuses to answer: {refusal}")
    if reply.response_metadata.get("finish_reason") == "content_filter":
        raise ModelReplyUnusable(f"{model}: the provider's content filter withheld the reply")
    return reply
