"""What models cost, in tokens and in money, and how much of both there may be."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

from pydantic import PlainSerializer

from habilis.core.frozen import Frozen

CURRENCY = "USD"
"""Of every price and cost."""
Money = Annotated[Decimal, PlainSerializer(float, return_type=float)]
"""An exact amount, added up as such; written as the nearest number, from which the very amount is read back."""
NOTHING = Decimal(0)


@dataclass(frozen=True)
class Amount:
    """What requests take, or may come to at most: tokens, and money."""

    tokens: int = 0
    cost: Decimal = NOTHING

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.tokens + other.tokens, self.cost + other.cost)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.tokens - other.tokens, self.cost - other.cost)


@dataclass(frozen=True)
class Ceiling:
    """How much there is in all; None is no limit."""

    tokens: int | None = None
    cost: Decimal | None = None

    @property
    def any(self) -> bool:
        """Whether there is a limit."""
        return self.tokens is not None or self.cost is not None

    def reached(self, spent: Amount, whose: str = "") -> str | None:
        """Which limit `spent` has reached, in words; None while there is room. `whose`: of what it is the budget."""
        if self.tokens is not None and spent.tokens >= self.tokens:
            return f"token budget{whose} reached: {spent.tokens:,} of {self.tokens:,} tokens used"
        if self.cost is not None and spent.cost >= self.cost:
            return f"money budget{whose} reached: {money_text(spent.cost)} of {money_text(self.cost)} spent"
        return None

    def hold(self, amount: Amount) -> bool:
        """Whether `amount` goes beyond none of them."""
        over = self.tokens is not None and amount.tokens > self.tokens
        return not over and (self.cost is None or amount.cost <= self.cost)


class Usage(Frozen):
    """What models cost: calls and tokens, failed attempts included.

    Of the prompt's tokens, `cached_tokens` were read from the server's cache, and `written_tokens` were kept in it, at
    a price of their own. `cost` is in `CURRENCY`, by the tables named in `prices`; None where a price is not known, and
    so in every sum with such a call.
    """

    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    cost: Money | None = None
    prices: tuple[str, ...] = ()

    def __add__(self, other: Usage) -> Usage:
        costs = [one.cost for one in (self, other) if one.total_tokens or one.cost is not None]
        known = [cost for cost in costs if cost is not None]
        return Usage(
            model_calls=self.model_calls + other.model_calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            written_tokens=self.written_tokens + other.written_tokens,
            cost=sum(known, NOTHING) if costs and len(known) == len(costs) else None,
            prices=tuple(sorted({*self.prices, *other.prices})),
        )

    def since(self, before: Usage) -> Usage:
        """What was used since it stood at `before`."""
        known = self.cost is not None and not before.unpriced
        return Usage(
            model_calls=self.model_calls - before.model_calls,
            prompt_tokens=self.prompt_tokens - before.prompt_tokens,
            completion_tokens=self.completion_tokens - before.completion_tokens,
            cached_tokens=self.cached_tokens - before.cached_tokens,
            written_tokens=self.written_tokens - before.written_tokens,
            cost=self.amount.cost - before.amount.cost if known else None,
            prices=self.prices,
        )

    @property
    def total_tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    @property
    def unpriced(self) -> bool:
        """Whether tokens were used whose price is not known."""
        return self.cost is None and self.total_tokens > 0

    @property
    def amount(self) -> Amount:
        """What it takes of a budget; money that is not known counts as none."""
        return Amount(self.total_tokens, self.cost or NOTHING)

    def replayed(self) -> Usage:
        """The same, told again from a tape: nothing is paid."""
        return self.model_copy(update={"cost": NOTHING, "prices": ()})


def money_text(cost: Decimal) -> str:
    """`$0.0123`; what is less than the last of its places is said to be so."""
    return f"${cost:,.4f}" if not cost or cost >= Decimal("0.0001") else "under $0.0001"
