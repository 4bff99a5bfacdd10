"""MCP servers: what they offer can be called, what they do wrong is a value, and nothing of them is left running."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from habilis.config import AuthSettings, McpSettings, SourceSettings
from habilis.core.errors import UserError
from habilis.core.types import CallOutcome
from habilis.sources.mcp import McpSource
from habilis.testing import Said, ScriptedService, SeenCall

SERVER = Path(__file__).with_name("mcp_server.py")


class Used:
    """An open source with its tools by name."""

    def __init__(self, source: McpSource, folder: Path, tools: Sequence[Any]) -> None:
        self.source, self.folder = source, folder
        self.tools = {tool.spec.name: tool for tool in tools}

    async def call(self, name: str, **arguments: Any) -> CallOutcome:
        return await self.tools[name].call(arguments, workspace=self.folder)

    @property
    def pid(self) -> int:
        pid = self.source._server.pid  # type: ignore[union-attr]
        assert pid is not None
        return pid


@asynccontextmanager
async def using(folder: Path, *flags: str, mcp: dict[str, Any] | None = None, **said: Any) -> AsyncIterator[Used]:
    server = mcp or {}
    if "url" not in server:
        server = {"command": [sys.executable, str(SERVER), *flags], **server}
    source = McpSource("double", SourceSettings(mcp=McpSettings(**server), **said))
    try:
        yield Used(source, folder, await source.open())
    finally:
        await source.aclose()


def failure(outcome: CallOutcome) -> tuple[str, str]:
    assert outcome.error is not None, outcome
    return outcome.error.kind, outcome.error.message


def runs(pid: int) -> bool:
    """Whether a process is there and alive; one that has ended and waits to be asked for counts as gone."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def gone(pids: Sequence[int]) -> None:
    """Wait for processes that were killed: the kernel takes its time on a busy machine."""
    async with asyncio.timeout(60):
        while any(map(runs, pids)):
            await asyncio.sleep(0.01)


async def test_results_come_by_their_kind(tmp_path: Path) -> None:
    async with using(tmp_path, "pages") as used:
        assert len(used.tools) == 12
        assert (await used.call("echo", text="hallo")).output == "hallo"
        assert (await used.call("data")).output == {"n": 3}
        assert (await used.call("link")).output == {"link": "file:///a.txt", "name": "a", "type": "text/plain"}
        image = await used.call("image")
        assert failure(await used.call("fails")) == ("crashed", "the tool failed: the disk is full")
        assert failure(await used.call("refuse"))[0] == "invalid_arguments"
    (name,) = image.made
    assert image.output == ["See:", {"file": name, "type": "image/png", "bytes": 12}]
    assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


async def test_a_server_is_taken_to_write_whatever_it_says_unless_settings_trust_it(tmp_path: Path) -> None:
    async with using(tmp_path) as used:
        assert {tool.effects for tool in used.tools.values()} == {"writes"}
    async with using(tmp_path, mcp={"trust_hints": True}) as used:
        assert [name for name, tool in used.tools.items() if tool.effects == "reads"] == ["data"]


async def test_a_server_that_dies_in_a_call_is_a_value_and_is_started_again_once(tmp_path: Path) -> None:
    async with using(tmp_path) as used:
        first = used.pid
        kind, message = failure(await used.call("die"))
        assert kind == "unavailable"
        assert "out of luck" in message
        assert "is unknown" in message
        assert (await used.call("echo", text="again")).output == "again"
        assert used.pid != first
        await used.call("die")
        assert "ended, and again" in failure(await used.call("echo", text="x"))[1]


async def test_a_schema_of_a_server_never_holds_us_up(tmp_path: Path) -> None:
    async with using(tmp_path, "bombs") as used, asyncio.timeout(60):
        assert (await used.call("sound", text="x")).output == {"n": "x"}
        for bomb in ("pattern", "doubling", "itself"):  # what a server said is shown, whatever it said of it before
            assert (await used.call(bomb)).output is not None


async def test_noise_between_messages_is_passed_over(tmp_path: Path) -> None:
    async with using(tmp_path) as used:
        assert (await used.call("garbage")).output == "after the garbage"


async def test_an_answer_of_50_mb_is_refused_and_the_server_lives_on(tmp_path: Path) -> None:
    async with using(tmp_path, max_mb=1) as used:
        first = used.pid
        assert "larger than 1 MiB" in failure(await used.call("huge"))[1]
        assert (await used.call("echo", text="still there")).output == "still there"
        assert used.pid == first


async def test_a_slow_call_ends_at_its_limit_and_nothing_is_left(tmp_path: Path) -> None:
    async with using(tmp_path, timeout_s=0.3) as used:
        pid = used.pid
        kind, message = failure(await used.call("slow"))
        assert kind == "timeout"
        assert "is unknown" in message
    assert not runs(pid)


async def test_a_cancelled_task_leaves_no_process_neither_the_server_nor_what_it_started(tmp_path: Path) -> None:
    pids: list[int] = []

    async def task() -> None:
        async with using(tmp_path) as used:
            pids.append(used.pid)
            pids.append(int((await used.call("child")).output))
            await used.call("slow")

    running = asyncio.create_task(task())
    while len(pids) < 2:
        await asyncio.sleep(0.01)
    assert all(map(runs, pids))
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await gone(pids)


async def test_closing_that_is_cut_short_kills_all_the_same(tmp_path: Path) -> None:
    source = McpSource("double", SourceSettings(mcp=McpSettings(command=(sys.executable, str(SERVER)))))
    used = Used(source, tmp_path, await source.open())
    pids = [used.pid, int((await used.call("child")).output)]
    closing = asyncio.create_task(source.aclose())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    await gone(pids)


async def test_a_server_gets_the_variables_that_are_named_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FILES_TOKEN", "token-for-files")
    monkeypatch.setenv("OTHER_TOKEN", "not-for-it")
    async with using(tmp_path, mcp={"env": ["FILES_TOKEN"]}) as used:
        seen = json.loads((await used.call("env")).output)
    assert seen["FILES_TOKEN"] == "[FILES_TOKEN]"
    assert "OTHER_TOKEN" not in seen
    monkeypatch.delenv("FILES_TOKEN")
    with pytest.raises(UserError, match="FILES_TOKEN is not set"):
        async with using(tmp_path, mcp={"env": ["FILES_TOKEN"]}):
            pass


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["/no/such/program"], "cannot be started"),
        ([sys.executable, "-c", "import sys; sys.exit('I want a licence')"], "I want a licence"),
        ([sys.executable, "-c", "print('hello')"], "no MCP server answers"),
    ],
)
async def test_what_is_no_server_is_said_in_one_line(command: list[str], words: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=words) as caught:
        async with using(tmp_path, mcp={"command": command}):
            pass
    assert "\n" not in str(caught.value)


async def test_a_server_that_says_nothing_is_gone_after_its_time(tmp_path: Path) -> None:
    from habilis.sources.bound import ExternalTools, NamedSource

    source = McpSource("d", SourceSettings(mcp=McpSettings(command=(sys.executable, str(SERVER), "silent"))))
    external, notices = ExternalTools([NamedSource("d", source, open_timeout_s=0.3)]), []
    await external.open((), notices.append)
    await external.aclose()
    assert "did not open within 0.3 s" in notices[0].text
    assert not [p for p in psutil.process_iter(["cmdline", "ppid"]) if _ours(p)]


def _ours(process: psutil.Process) -> bool:
    return process.info["ppid"] == os.getpid() and "silent" in (process.info["cmdline"] or ())


@pytest.mark.slow
@pytest.mark.promise
async def test_a_server_of_the_official_sdk_is_understood(tmp_path: Path) -> None:
    server = tmp_path / "server.py"
    server.write_text(
        "from mcp.server import MCPServer\n"
        "server = MCPServer('Sums')\n"
        "@server.tool()\n"
        "def add(a: int, b: int) -> int:\n"
        "    'Adds two numbers.'\n"
        "    return a + b\n"
        "server.run()\n"
    )
    async with using(tmp_path, mcp={"command": [sys.executable, str(server)]}) as used:
        assert set(used.tools["add"].spec.parameters["properties"]) == {"a", "b"}
        assert (await used.call("add", a=19, b=23)).output == {"result": 42}


# ---- over HTTP


def _answers(flags: set[str]) -> Any:
    spec = importlib.util.spec_from_file_location("mcp_double", SERVER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def answer(seen: SeenCall) -> Any:
        if seen.method != "POST":
            return Said(405)
        said = module.answer(seen.data, flags)
        return Said(202) if said is None else said

    return answer


async def test_a_server_behind_an_address_is_asked_with_its_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_KEY", "the-key-of-the-server")
    with ScriptedService(_answers(set())) as service:
        auth = AuthSettings(secret_env="MCP_KEY")
        async with using(tmp_path, mcp={"url": f"{service.url}/mcp"}, auth=auth, max_mb=1) as used:
            assert (await used.call("echo", text="hallo")).output == "hallo"
            assert failure(await used.call("huge"))[0] == "unavailable"
            assert (await used.call("data")).output == {"n": 3}
        assert {seen.headers["authorization"] for seen in service.calls} == {"Bearer the-key-of-the-server"}


@pytest.mark.parametrize("said", [Said(401), Said(500), Said(fault="drop"), Said(body=b"<html>")])
async def test_an_address_that_is_no_server_is_said_in_one_line(said: Said, tmp_path: Path) -> None:
    with ScriptedService(lambda seen: said) as service, pytest.raises(UserError, match="no MCP server answers"):
        async with using(tmp_path, mcp={"url": f"{service.url}/mcp"}):
            pass


async def test_a_redirect_carries_no_secret_to_another_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_KEY", "the-key-of-the-server")
    with ScriptedService(lambda seen: {}) as thief:
        leads = Said(307, headers={"location": f"{thief.url}/mcp"})
        with ScriptedService(lambda seen: leads) as service, pytest.raises(UserError):
            async with using(tmp_path, mcp={"url": service.url}, auth=AuthSettings(secret_env="MCP_KEY")):
                pass
        assert thief.calls == []
