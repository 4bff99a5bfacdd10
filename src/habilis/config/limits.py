"""How much a task may do, take and hold in mind."""

from __future__ import annotations

from pydantic import Field

from habilis.core.types import Frozen
from habilis.core.usage import Money


class LimitsSettings(Frozen):
    """Budgets and limits of one task."""

    max_rounds: int = Field(10, ge=-1, le=99, description="tool rounds of one execution; -1: no limit")
    max_attempts: int = Field(
        5, ge=1, le=50, description="executions of one task before it ends with the best there is"
    )
    enhance_interval: int = Field(2, ge=1, description="rounds between two looks at failing tools")
    correction_retries: int = Field(
        3, ge=0, description="corrections asked for when a reply's calls do not fit their schemas"
    )
    max_result_tokens: int = Field(16_000, ge=100, description="tokens of a tool result that the model sees")
    reply_tokens: int = Field(
        1024,
        ge=1,
        description="tokens that one reply may hold: a plan, a step, a judgement, a summary, a part of an answer. "
        "max_tokens of its model bounds it too",
    )
    code_tokens: int = Field(2048, ge=1, description="the same, where the reply is the source of a tool")
    thinking_tokens: int = Field(
        8192, ge=0, description="tokens that a model that thinks before it replies may use beside these"
    )
    reply_seconds: float = Field(
        300.0,
        gt=0,
        description="seconds that one reply may take, from the request to its last word; the source of a tool: twice "
        "as long. One that takes longer is not asked for again",
    )
    max_calls: int | None = Field(60, ge=1, description="requests that a task may make to its models, retries included")
    max_tokens: int | None = Field(None, ge=1, description="tokens that a task may cost, prompt and completion")
    max_cost: Money | None = Field(None, gt=0, description="USD that a task may cost; every model needs a known price")
    max_time_s: float | None = Field(None, gt=0, description="seconds that a task may take")


class MemorySettings(Frozen):
    """What a request holds of earlier turns of a conversation."""

    max_tokens: int = Field(
        4_000,
        ge=0,
        description="tokens of earlier turns that a request holds, the newest first; older ones are looked up",
    )
