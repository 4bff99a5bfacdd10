"""Each kind of fault at each role: the task survives it, or ends with an honest status; nothing hangs."""

from typing import Any

import pytest

from habilis.testing import ScriptedServer
from habilis.testing.faults import Fault, FaultKind, when

from ..marks import PROMISE
from .conftest import LONG, World

QUESTION = "What is the average price in euro.csv?"
MARKS = {
    "plan": "<candidates>",
    "builder": "<tool_request>",
    "mender": "<tool_code",
    "verdict": "<calls>",
    "fixed": "<records",
    "step": "Solve the task by",
    "review": "<invocations>",
    "answer": "<findings>",
}
SURVIVED: tuple[FaultKind, ...] = (
    "rate_limit", "server_error", "drop", "drop_body", "malformed_json", "empty", "no_usage", "cut", "hang",
)  # fmt: skip
STAYING: dict[FaultKind, str] = {
    "unauthorized": "unreachable",
    "not_found": "unreachable",
    "forbidden": "unreachable",
    "server_error": "unreachable",
    "empty": "gave_up",
    "refusal": "gave_up",
    "content_filter": "gave_up",
}
FORMS = ["json_schema", "function_calling", "json_mode"]
FAST = ("models.basic.timeout_s=2", "models.basic.max_retries=2")


def _server(world: World, fault: Fault, mark: str, times: int) -> ScriptedServer:
    world.server.choose = when(mark, [fault] * times)
    return world.server


async def _survives(world: World, role: str, kind: FaultKind) -> None:
    _server(world, Fault(kind, retry_after=0.01), MARKS[role], 1)
    timeout = "models.basic.timeout_s=0.5" if kind == "hang" else "models.basic.timeout_s=10"
    result = await world.team(LONG, timeout, "models.basic.max_retries=2").run(QUESTION, base=world.home)
    assert (result.status, result.final_answer) == ("answered", "1500.5"), result.error


@pytest.mark.parametrize(("role", "kind"), [("plan", "rate_limit"), ("verdict", "drop_body"), ("answer", "cut")])
async def test_a_fault_at_a_role_is_survived(world: World, role: str, kind: FaultKind) -> None:
    await _survives(world, role, kind)


def _each_at_each() -> list[Any]:
    """Each fault at each role. The promises try each fault at every third role, and each role with every third
    fault."""
    cases = ((i + j, kind, role) for i, kind in enumerate(SURVIVED) for j, role in enumerate(MARKS))
    promised = [pytest.mark.promise]
    return [pytest.param(kind, role, marks=() if number % 3 else promised) for number, kind, role in cases]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "role"), _each_at_each())
async def test_every_fault_at_every_role_is_survived(world: World, role: str, kind: FaultKind) -> None:
    await _survives(world, role, kind)


@pytest.mark.parametrize("kind", ["malformed_arguments", "unknown_tool"])
async def test_a_wrong_call_is_corrected(world: World, kind: FaultKind) -> None:
    _server(world, Fault(kind), MARKS["step"], 1)
    result = await world.team(LONG, *FAST).run(QUESTION, base=world.home)
    assert (result.status, result.final_answer) == ("answered", "1500.5"), result.error


@pytest.mark.parametrize("kind", STAYING)
async def test_a_fault_that_stays_ends_with_an_honest_status(world: World, kind: FaultKind) -> None:
    _server(world, Fault(kind), MARKS["step"], 500)
    result = await world.team(LONG, *FAST, "models.basic.max_retries=0", "limits.max_attempts=2").run(
        QUESTION, base=world.home
    )
    assert result.status == STAYING[kind], result.error
    assert result.error


async def test_a_service_that_refuses_is_asked_once_not_again_and_again(world: World) -> None:
    world.server.choose = when(lambda _: True, [Fault("unauthorized")] * 50)
    result = await world.team(LONG, *FAST).run(QUESTION, base=world.home)
    assert result.status == "unreachable"
    assert len(world.server.requests) == 1


async def test_a_model_that_hangs_ends_at_the_time_budget(world: World) -> None:
    _server(world, Fault("hang"), MARKS["step"], 50)
    result = await world.team(LONG, "limits.max_time_s=2").run(QUESTION, base=world.home)
    assert result.status == "budget"
    assert result.seconds < 20
    assert result.tools_made


@pytest.mark.parametrize("refused", [3, *(pytest.param(n, marks=PROMISE) for n in (1, 2))])
async def test_servers_that_know_fewer_forms_do_as_well(world: World, refused: int) -> None:
    world.server.refuse = set(FORMS[:refused])
    result = await world.team(LONG, *FAST).run(QUESTION, base=world.home)
    assert (result.status, result.final_answer) == ("answered", "1500.5"), result.error


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.parametrize("seed", range(2))
async def test_a_bad_day_of_the_service(world: World, seed: int) -> None:
    from habilis.testing.faults import seeded

    world.server.choose = seeded(seed, rate=0.3)
    result = await world.team(LONG, "models.basic.max_retries=8", "models.basic.timeout_s=5").run(
        QUESTION, base=world.home
    )
    assert (result.status, result.final_answer) == ("answered", "1500.5"), result.error
