"""The benchmark beside peers counts all alike, lets nobody do harm, names who is missing, and goes on when stopped."""

from __future__ import annotations

import importlib
import json
import os
import select
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage

from habilis.sandbox.backends.landlock import landlock_abi
from habilis.testing import ScriptedServer

ROOT = Path(__file__).resolve().parents[1]
MODULES = ("peers.proxy", "peers.systems", "peers.tables", "beside_peers")
walled = pytest.mark.skipif(not landlock_abi(), reason="this kernel has no Landlock")


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    found = {name.rpartition(".")[2]: importlib.import_module(name) for name in MODULES}
    return SimpleNamespace(**found)


def posted(base_url: str, **body: Any) -> bytes:
    data = json.dumps({"messages": [{"role": "user", "content": "hi"}], **body}).encode()
    head = {"content-type": "application/json", "authorization": "Bearer none"}
    said: bytes = urllib.request.urlopen(urllib.request.Request(f"{base_url}/chat/completions", data, head)).read()
    return said


def test_one_proxy_counts_and_holds_all_to_the_same_limits(bench: SimpleNamespace) -> None:
    with (
        ScriptedServer(lambda *_: AIMessage("four words of text"), key="secret") as server,
        bench.proxy.CountingProxy(server.base_url, key="secret", most_reply_tokens=64) as proxy,
    ):
        count = proxy.begin(2)
        whole = json.loads(posted(proxy.base_url, temperature=1.5, max_tokens=9_999))
        streamed = posted(proxy.base_url, stream=True, max_completion_tokens=32)
        with pytest.raises(urllib.error.HTTPError) as refused:
            posted(proxy.base_url)
        assert (refused.value.code, "no call is left of 2" in refused.value.read().decode()) == (400, True)
        refused.value.close()
        asked = [seen.body for seen in server.requests]
    assert [(body["temperature"], body.get("max_tokens"), body.get("max_completion_tokens")) for body in asked] == [
        (0, 64, None),
        (0, None, 32),
    ]
    assert b"[DONE]" in streamed
    assert (count.calls, count.refused, count.untold) == (2, 1, 0)
    assert count.completion_tokens == 2 * whole["usage"]["completion_tokens"] > 0
    assert count.prompt_tokens == 2 * whole["usage"]["prompt_tokens"] > 0


def test_a_server_that_tells_no_tokens_is_told_of_as_such(bench: SimpleNamespace) -> None:
    with (
        ScriptedServer(lambda *_: AIMessage("text"), usage=False) as server,
        bench.proxy.CountingProxy(server.base_url) as proxy,
    ):
        count = proxy.begin(9)
        posted(proxy.base_url)
    assert (count.calls, count.untold, count.prompt_tokens) == (1, 1, 0)


def test_a_call_that_is_broken_off_counts_with_its_seconds(bench: SimpleNamespace) -> None:
    with (
        ScriptedServer(lambda *_: AIMessage("text"), faults=["hang"]) as server,
        bench.proxy.CountingProxy(server.base_url) as proxy,
        ThreadPoolExecutor() as pool,
    ):
        count = proxy.begin(9)
        waiting = pool.submit(posted, proxy.base_url)
        assert server.wait_for(1)
        proxy.end()
        assert (count.calls, count.untold, count.model_s > 0) == (1, 1, True)
        error = waiting.exception()
        assert isinstance(error, urllib.error.HTTPError)
        error.close()


def fake(folder: Path, script: str) -> str:
    """What stands for the interpreter of a peer."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def asked(bench: SimpleNamespace, folder: Path, base_url: str = "", **more: Any) -> Any:
    folder.mkdir()
    return bench.systems.Asked("How many?", (), folder, base_url, **more)


@walled
def test_what_a_peer_runs_changes_its_own_folder_alone(bench: SimpleNamespace, tmp_path: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("kept")
    precious.chmod(0o640)
    script = f"""touch mine.txt; rm {precious}; echo gone > {precious}; touch {tmp_path}/new
    id -u > me; [ "$(cat me)" = {os.getuid()} ] || chmod 777 {precious}
    [ -z "$HABILIS_SECRET" ] && printf '\\036{{"status": "answered", "text": "done"}}'"""
    os.environ["HABILIS_SECRET"] = "x"
    try:
        said = bench.systems.run_peer("smolagents", asked(bench, tmp_path / "work"), fake(tmp_path, script))
    finally:
        del os.environ["HABILIS_SECRET"]
    assert said == {"status": "answered", "final_answer": "done"}
    assert (tmp_path / "work" / "mine.txt").is_file(), "it did run"
    assert (precious.read_text(), precious.stat().st_mode & 0o777) == ("kept", 0o640)
    assert (tmp_path / "work" / "me").read_text() != "0\n"
    assert not (tmp_path / "new").exists()
    assert "denied" in (tmp_path / "work" / "stderr.txt").read_text()


@walled
def test_a_peer_ends_at_the_limit_with_all_that_it_started(bench: SimpleNamespace, tmp_path: Path) -> None:
    script = "sleep 600 & echo $! > child; wait"
    with pytest.raises(bench.systems.subprocess.TimeoutExpired):
        bench.systems.run_peer("smolagents", asked(bench, tmp_path / "work", limit_s=1), fake(tmp_path, script))
    try:
        child = os.pidfd_open(int((tmp_path / "work" / "child").read_text()))
    except ProcessLookupError:
        return
    try:
        assert select.select([child], [], [], 30)[0], "it is still there"
    finally:
        os.close(child)


@walled
def test_a_peer_that_crashes_is_no_answer(bench: SimpleNamespace, tmp_path: Path) -> None:
    script = "echo 42; echo 'cannot start' >&2; exit 1"
    said = bench.systems.run_peer("smolagents", asked(bench, tmp_path / "work"), fake(tmp_path, script))
    assert said == {"status": "failed", "error": "cannot start"}


def test_a_peer_that_is_missing_is_told_by_name(bench: SimpleNamespace, tmp_path: Path) -> None:
    why = bench.systems.missing("smolagents", fake(tmp_path, "echo 'No module named smolagents' >&2; exit 1"))
    assert "smolagents" in bench.tables.table([], [], {"smolagents": why})


@walled
@pytest.mark.slow
def test_the_loop_with_a_python_tool_runs_what_the_model_wrote(bench: SimpleNamespace, tmp_path: Path) -> None:
    def model(messages: Any, tools: Any, form: Any) -> AIMessage:
        results = [one.content for one in messages if isinstance(one, ToolMessage)]
        call: Any = {"name": "run_python", "args": {"code": "print(6 * 7)"}, "id": "a"}
        return AIMessage(f"It is {results[-1]}") if results else AIMessage("", tool_calls=[call])

    with ScriptedServer(model) as server, bench.proxy.CountingProxy(server.base_url) as proxy:
        count = proxy.begin(5)
        question = asked(bench, tmp_path / "work", proxy.base_url)
        said = bench.systems.run_peer("langgraph", question, sys.executable)
    assert said == {"status": "answered", "final_answer": "It is 42"}, said
    assert count.calls == 2


def test_lines_of_another_run_are_refused_and_a_cut_line_is_forgotten(bench: SimpleNamespace, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    results = bench.tables.Results(path, {"seed": 1})
    results.add({"system": "a", "task": "1"})
    path.write_text(path.read_text() + '{"system": "a", "ta')
    again = bench.tables.Results(path, {"seed": 1})
    again.add({"system": "a", "task": "2"})
    whole = bench.tables.Results(path, {"seed": 1})
    assert [whole.has("a", task) for task in "123"] == [True, True, False]
    with pytest.raises(SystemExit, match="is of another run"):
        bench.tables.Results(path, {"seed": 2})


def test_no_table_is_in_both_halves(bench: SimpleNamespace) -> None:
    row: Callable[..., Any] = bench.beside_peers.Row
    rows = [row(id=f"{n}", question="q", files=(f"/data/{n % 20}.csv",)) for n in range(60)]
    halves = {half: bench.beside_peers.chosen(rows, half, None, 3, None) for half in ("tuning", "held")}
    files = [{one.files[0] for one in found} for found in halves.values()]
    assert files[0].isdisjoint(files[1])
    assert all(files)
    assert sum(map(len, halves.values())) == 60
    assert bench.beside_peers.chosen(rows, "held", None, 3, 4) == halves["held"][:4]


@pytest.mark.slow
@pytest.mark.sandbox
def test_the_whole_way_offline_goes_on_where_it_was_stopped(
    bench: SimpleNamespace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--dataset", str(ROOT / "examples/benchmark/tasks.jsonl"), "--limit", "1", "--evolve", "1"]
    words += ["--keep", str(tmp_path), "--set", "models.probe_judges=false", "--peers-python", sys.executable]
    for name in (bench.beside_peers.COLD, bench.beside_peers.EVOLVED, "smolagents"):
        words += ["--only", name]
    with ScriptedServer() as server:
        bench.beside_peers.main([*words, "--base-url", server.base_url])
        asked = len(server.requests)
        bench.beside_peers.main([*words, "--base-url", server.base_url])
        assert len(server.requests) == asked, "nothing is asked twice"
    out = capsys.readouterr().out
    assert "| habilis, cold | 1 of 1 | 0 | 0 |" in out
    assert "| habilis, evolved | 1 of 1 | 0 | 0 |" in out
    assert "not asked: smolagents" in out
    rows = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()[1:]]
    assert all(row["calls"] and row["prompt_tokens"] and row["completion_tokens"] for row in rows)
