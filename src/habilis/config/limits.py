"""How much a task may do, take and hold in mind."""

from __future__ import annotations

from pydantic import Field

from habilis.core.types import Frozen
from habilis.core.usage import Money


class LimitsSettings(Frozen):
    """Budgets and limits of one task."""

    max_rounds: int = Field(10, ge=-1, le=99, description="tool rounds of one execution; -1: no limit")
    max_attempts: int = Field(5, ge=1, le=50, description="executions of one task before it ends with its best result")
    enhance_interval: int = Field(2, ge=1, description="rounds between two checks for failing tools")
    max_result_tokens: int = Field(16_000, ge=100, description="most tokens of a tool result that the model sees")
    reply_tokens: int = Field(
        1024,
        ge=1,
        description="tokens that one reply may hold: a plan, a step, a judgement, a summary, a part of an answer. "
        "The model's max_tokens also applies",
    )
    code_tokens: int = Field(2048, ge=1, description="the same, for replies that are a tool's source")
    thinking_tokens: int = Field(8192, ge=0, description="further tokens for a model that thinks before it replies")
    reply_seconds: float = Field(
        300.0,
        gt=0,
        description="seconds that one reply may take, from the request to its last word; for a tool's source, twice "
        "as long. A reply that takes longer is not requested again",
    )
    max_calls: int | None = Field(60, ge=1, description="requests that a task may make to its models, retries included")
    max_tokens: int | None = Field(None, ge=1, description="tokens that a task may use, prompt and completion")
    max_cost: Money | None = Field(None, gt=0, description="USD that a task may cost; every model needs a known price")
    max_time_s: float | None = Field(None, gt=0, description="seconds that a task may take")


class MemorySettings(Frozen):
    """What a request holds of earlier turns of a conversation."""

    max_tokens: int = Field(
        4_000,
        ge=0,
        description="tokens of earlier turns in a request, newest first; older ones are looked up",
    )
