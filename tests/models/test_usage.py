"""What a user would lose: a task that spends past its budget, or a bill that leaves calls out."""

from __future__ import annotations

import pytest

from habilis.core.errors import BudgetReached
from habilis.core.types import Usage
from habilis.models.usage import Budget, Ledger
from habilis.testing import FakeClock


def test_usage_adds_up_by_role_and_in_all() -> None:
    ledger = Ledger()
    ledger.add("basic", Usage(model_calls=1, prompt_tokens=10, completion_tokens=2))
    ledger.add("judge", Usage(model_calls=1, prompt_tokens=5, completion_tokens=1))
    ledger.add("basic", Usage(model_calls=1))
    assert ledger.by_role["basic"] == Usage(model_calls=2, prompt_tokens=10, completion_tokens=2)
    assert ledger.total == Usage(model_calls=3, prompt_tokens=15, completion_tokens=3)


def test_tokens_and_time_end_a_task_and_say_which() -> None:
    clock = FakeClock()
    budget = Budget(100, 60, clock=clock)
    budget.check(Usage(prompt_tokens=60, completion_tokens=39))
    with pytest.raises(BudgetReached, match="100 of 100 tokens"):
        budget.check(Usage(prompt_tokens=60, completion_tokens=40))
    clock.now = 60
    with pytest.raises(BudgetReached, match="60 s are over"):
        budget.check(Usage())


def test_no_limit_is_no_limit() -> None:
    budget = Budget()
    budget.check(Usage(prompt_tokens=10**9))
    assert budget.remaining_s() is None


def test_time_spent_before_a_resume_counts() -> None:
    assert Budget(None, 60, clock=FakeClock(), spent_s=50).remaining_s() == 10
