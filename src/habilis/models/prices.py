"""What a model's tokens cost: by the prices that settings give, else by the table of the extra `prices`.

Nothing is fetched: the table is the one that its package brings. What nobody knows stays unknown, and is never 0.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from habilis.config import PriceSettings, RoleSettings
from habilis.core.errors import ModelMisconfigured, UserError
from habilis.core.usage import NOTHING, Usage
from habilis.models.providers import address, is_loopback, plays_offline

if TYPE_CHECKING:
    from habilis.models.client import Client

MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """What tokens of one model cost, by which table."""

    table: str
    cost: Callable[[Usage], Decimal]

    def priced(self, usage: Usage) -> Usage:
        """`usage` with what it cost."""
        return usage.model_copy(update={"cost": self.cost(usage), "prices": (self.table,) if self.table else ()})

    def most(self, usage: Usage) -> Decimal:
        """What `usage` may cost at most: a server may also keep the prompt in its cache, which some ask more for."""
        kept = (0, usage.prompt_tokens)
        each = [usage.model_copy(update={"cached_tokens": 0, "written_tokens": written}) for written in kept]
        return max(map(self.cost, each))


FREE = Price("", lambda usage: NOTHING)
"""Nobody asks money for what this machine computes: the offline demonstration model, and models that we serve."""


class Prices:
    """The prices of one task's models, each looked up once. `own` come before the table's."""

    def __init__(self, own: Mapping[str, PriceSettings]) -> None:
        self._own = own
        self._looked_up: dict[tuple[str, str], asyncio.Future[Price | None]] = {}

    def expect(self, client: Client) -> asyncio.Future[Price | None]:
        """Have the price of a client's model looked up, while a reply is on its way: reading the table takes time."""
        key = (client.where, client.name)
        if key not in self._looked_up:
            self._looked_up[key] = asyncio.ensure_future(self._look_up(client))
        return self._looked_up[key]

    async def of(self, client: Client) -> Price | None:
        """The price of a client's model; None where it is not known."""
        return await asyncio.shield(self.expect(client))

    async def _look_up(self, client: Client) -> Price | None:
        free = client.offline or client.settings.provider == "local"
        if free or client.name in self._own or not client.compatible:  # whom a caller made asks we know not where
            return self._at_hand(client.name, free=free)
        return await asyncio.to_thread(listed, client.name, client.where)

    def check(self, limit: str, asked: Iterable[RoleSettings]) -> None:
        """Raises `UserError` where the setting `limit` bounds money and a model has no price that is known.

        A model that no setting names is looked at when its server has named it.
        """
        for settings in asked:
            free = plays_offline(settings) or settings.provider == "local"
            name, where = settings.model or "", address(settings)
            if name and self._at_hand(name, free=free) is None and listed(name, where) is None:
                raise UserError(_unknown(limit, name))

    async def demanded(self, limit: str, client: Client) -> Price:
        """The price of a client's model. Raises `ModelMisconfigured` where it is not known."""
        price = await self.of(client)
        if price is None:
            raise ModelMisconfigured(_unknown(limit, client.name))
        return price

    def _at_hand(self, name: str, *, free: bool) -> Price | None:
        own = self._own.get(name)
        return Price("settings", own_cost(own)) if own is not None else FREE if free else None


def own_cost(price: PriceSettings) -> Callable[[Usage], Decimal]:
    """What usage costs by a price of the settings; without one of its own, a cached token costs what any other does."""
    cached = price.input if price.cached_input is None else price.cached_input

    def cost(usage: Usage) -> Decimal:
        fresh = usage.prompt_tokens - usage.cached_tokens
        return (fresh * price.input + usage.cached_tokens * cached + usage.completion_tokens * price.output) / MILLION

    return cost


def listed(model: str, where: str) -> Price | None:
    """The price of `model` at the address `where` by the table that is installed; None where it has none.

    It goes by address, since others who serve a model of that name ask what they like.
    """
    if is_loopback(where) or importlib.util.find_spec("genai_prices") is None:
        return None
    import genai_prices

    def counted(usage: Usage) -> genai_prices.types.PriceCalculation:
        return genai_prices.calc_price(
            genai_prices.Usage(
                input_tokens=usage.prompt_tokens,
                output_tokens=usage.completion_tokens,
                cache_read_tokens=usage.cached_tokens,
                cache_write_tokens=usage.written_tokens,
            ),
            model,
            provider_api_url=where,
        )

    try:
        found = counted(Usage(prompt_tokens=3, cached_tokens=1, written_tokens=1, completion_tokens=1)).model_price
    except (LookupError, ValueError):  # not listed, or not priced by tokens of text
        return None
    if any(getattr(found, name, None) is None for name in ("input_mtok", "output_mtok")):
        return None
    return Price(f"genai-prices {genai_prices.__version__}", lambda usage: counted(usage).total_price)


def _unknown(limit: str, model: str) -> str:
    hint = "" if importlib.util.find_spec("genai_prices") else ", or install a table: pip install 'habilis[prices]'"
    return f"{limit} is set, but the price of {model} is unknown: set models.prices{hint}"
