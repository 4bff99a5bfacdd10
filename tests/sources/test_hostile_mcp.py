"""MCP servers that mean harm: what they say is data, bounded before it is kept, and each ends as a line or a value."""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from habilis.config import McpSettings, SourceSettings
from habilis.sources.bound import ExternalTools, NamedSource
from habilis.sources.foreign.presenting import bounded_schema
from habilis.sources.mcp import McpSource
from habilis.testing import Said, ScriptedService

from .hostile_mcp_server import ORDERS

SERVER = Path(__file__).with_name("hostile_mcp_server.py")
MEGA = 1 << 20


@contextmanager
def memory_within(megabytes: int) -> Iterator[None]:
    """What happens inside has this process grow by so much at its peak and no more (proc(5), clear_refs and VmHWM)."""
    Path("/proc/self/clear_refs").write_text("5")
    before = _peak()
    yield
    assert _peak() - before < megabytes * MEGA


def _peak() -> int:
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) << 10


@asynccontextmanager
async def opened(kind: str, *, open_timeout_s: float = 10, mcp: dict[str, Any] | None = None, **said: Any) -> Any:
    """The server's tools as a task has them, and what is said of those that are left out."""
    server = mcp or {"command": [sys.executable, str(SERVER), kind]}
    source = McpSource("double", SourceSettings(mcp=McpSettings(**server), **said))
    told: list[str] = []
    tools = ExternalTools([NamedSource("double", source, open_timeout_s=open_timeout_s)])
    try:
        await tools.open((), lambda event: told.append(getattr(event, "text", "")))
        yield tools, told
    finally:
        await tools.aclose()


@pytest.mark.parametrize("kind", ["flood", "endless"])
async def test_a_server_that_never_answers_and_never_is_silent_is_a_line(kind: str) -> None:
    with memory_within(400):
        async with opened(kind, open_timeout_s=0.8) as (tools, told):
            assert tools.names() == []
    assert told[0] == "double is left out: it did not open within 0.8 s"


@pytest.mark.slow
async def test_a_list_without_end_is_cut_and_what_is_kept_of_it_is_little() -> None:
    with memory_within(600):
        async with opened("many") as (tools, _):
            assert len(tools.names()) == 1_000
        async with opened("pages", open_timeout_s=30) as (tools, _):
            kept = sum(len(tools.get(name).tool.spec.description) for name in tools.names())
            assert tools.names()
            assert kept < 8 * MEGA


async def test_schemas_of_every_kind_become_small_ones_and_stop_nothing() -> None:
    async with opened("schemas") as (tools, told):
        assert {name.removeprefix("double_") for name in tools.names()} >= {
            "deep",
            "wide",
            "pattern",
            "circle",
            "names",
        }
        for name in tools.names():
            bound = tools.get(name)
            assert len(json.dumps(bound.spec.parameters)) <= 12_000, name
            assert len(json.dumps(bound.tool.spec.parameters)) <= 200_000, name
            assert "pattern" not in json.dumps(bound.spec.parameters)
        assert all("\n" not in line for line in told)


@pytest.mark.parametrize("required", [7, [["x"]], [{}], None])
def test_what_requires_odd_things_is_bounded_like_any_other(required: Any) -> None:
    schema = bounded_schema({"required": required, "properties": {f"p{n}": {} for n in range(9_000)}})
    assert len(schema["properties"]) == 64
    assert schema["required"] == []


async def test_a_list_that_is_nested_too_deep_to_read_is_a_line_at_once() -> None:
    async with opened("nested", open_timeout_s=30) as (tools, told):
        assert tools.names() == []
    assert "the answer cannot be read" in told[0]


async def test_a_description_of_50_mb_is_a_line() -> None:
    with memory_within(400):
        async with opened("description") as (tools, told):
            assert tools.names() == []
    assert "larger than 8 MiB" in told[0]


async def test_orders_in_a_description_are_one_cut_line_of_the_server_s_own_words() -> None:
    async with opened("orders") as (tools, _):
        name = next(name for name in tools.names() if "SYSTEM" in name)
        assert name.isprintable()
        assert " " not in name
        spec = tools.get(name).spec
        assert spec.description.isprintable()
        assert len(spec.description) <= 1_000
        assert "SYSTEM" in spec.description  # it did arrive
        assert ORDERS not in spec.description


async def test_what_a_server_says_of_its_results_is_not_computed_here() -> None:
    """A pattern such as ^(a+)+$ in an output schema would hold the whole process for good."""
    async with opened("judge") as (tools, _):
        outcome = await tools.get("double_judged").call({"text": "x"}, Path())
    assert outcome.output == {"x": "a" * 40 + "b"}


@pytest.mark.parametrize("kind", ["parts", "odd", "files"])
async def test_odd_results_are_values(kind: str, tmp_path: Path) -> None:
    async with opened(kind, timeout_s=20) as (tools, _):
        outcome = await tools.get("double_judged").call({"text": "x"}, tmp_path)
    assert outcome.error is None
    assert len(json.dumps(outcome.output)) < 100_000
    assert all(path.name.isprintable() for path in tmp_path.rglob("*"))
    assert len(list(tmp_path.rglob("*"))) < 10


@cache
def packed(megabytes: int) -> bytes:
    """Blanks that unpack to a thousand times their size."""
    packing = zlib.compressobj(9, wbits=31)
    return b"".join([*(packing.compress(b" " * MEGA) for _ in range(megabytes)), packing.flush()])


async def test_an_answer_that_unpacks_without_end_is_a_line() -> None:
    said = Said(body=packed(200), headers={"content-type": "application/json", "content-encoding": "gzip"})
    with ScriptedService(lambda seen: said) as service, memory_within(120):
        async with opened("", mcp={"url": f"{service.url}/mcp"}) as (tools, told):
            assert tools.names() == []
        assert service.calls
    assert "packed" in told[0]
    assert "\n" not in told[0]
