"""What a user would lose: a model that cannot be reached, found out after minutes of work in place of seconds."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from habilis.cli import main
from habilis.sandbox.backends import probing
from habilis.sandbox.backends.probing import ProbeResult, missing
from habilis.testing import ScriptedServer

Captured = pytest.CaptureFixture[str]


def about(what: str, capsys: Captured, *settings: str) -> dict[str, Any]:
    """What doctor finds about that, with these settings."""
    main(["doctor", "--json", *(part for one in settings for part in ("--set", one))])
    rows = json.loads(capsys.readouterr().out)["findings"]
    found: dict[str, Any] = next(row for row in rows if row["what"] == what)
    return found


def model(capsys: Captured, *settings: str) -> dict[str, Any]:
    """What doctor finds about the model, with these settings."""
    return about("model", capsys, "sandbox.mode=off", *settings)


def test_where_tools_get_no_hosts_by_a_list_that_is_said_before_one_is_refused(capsys: Captured) -> None:
    if problem := missing("landlock"):
        pytest.skip(f"landlock: {problem}")
    text, landlock = "hosts are given to tools only under capabilities.network: any", "sandbox.backend=landlock"
    assert text in about("sandbox", capsys, landlock)["text"]
    assert text not in about("sandbox", capsys, landlock, "capabilities.network=any")["text"]


def test_why_each_task_starts_an_interpreter_is_said(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    if problem := missing("bubblewrap"):
        pytest.skip(f"bubblewrap: {problem}")
    monkeypatch.setitem(probing._found, "zygote", ProbeResult("zygote", "does not start: no room"))
    said = about("sandbox", capsys, "sandbox.backend=bubblewrap")["text"]
    assert said.startswith("bubblewrap (a tool was run in it just now)")
    assert said.endswith("; each task starts an interpreter, since none can be forked: does not start: no room")


def test_a_local_model_is_looked_at_and_not_started(tmp_path: Path, capsys: Captured) -> None:
    pytest.importorskip("xllamacpp", reason="the extra local (xllamacpp) is not installed")
    path = tmp_path / "m.gguf"
    local = ("models.basic.provider=local", f"models.basic.model={path}")
    assert "does not exist" in model(capsys, *local)["text"]
    path.write_bytes(b"GGUF\x03\0\0\0" + bytes(16))
    found = model(capsys, *local)
    assert (found["state"], "no chat template" in found["text"]) == ("warning", True)
    path.write_text("<html>", encoding="utf-8")
    assert (found := model(capsys, *local))["state"] == "problem"
    assert "GGUF" in found["text"]
    assert [one.name for one in tmp_path.iterdir()] == ["m.gguf"]


def test_a_provider_without_its_extra_is_a_problem_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    found = model(capsys, "models.basic.provider=local", "models.basic.model=m.gguf")
    assert (found["state"], found["todo"]) == ("problem", "pip install 'habilis[local]'")


def test_anthropic_is_asked_for_its_models_by_its_own_rules(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    pytest.importorskip("langchain_anthropic", reason="the extra anthropic is not installed")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    found = model(capsys, "models.basic.provider=anthropic", "models.basic.model=scripted")
    assert (found["state"], found["todo"]) == ("problem", "set ANTHROPIC_API_KEY")
    with ScriptedServer() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
        asked = ("models.basic.provider=anthropic", f"models.basic.base_url={server.anthropic_url}")
        assert "reachable: scripted" in model(capsys, *asked)["text"]
        found = model(capsys, *asked, "models.basic.model=other")
    assert (found["state"], found["todo"]) == ("warning", "perhaps one of: scripted")


def judges(capsys: Captured, *words: str) -> list[dict[str, Any]]:
    """What doctor finds about judges."""
    main(["doctor", "--json", "--set", "sandbox.mode=off", *words])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["findings"]
    return [row for row in found if row["what"] == "judge"]


def test_a_judge_that_tells_nothing_is_known_before_a_task_relies_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("HABILIS_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("HABILIS_MODELS__PROBE_JUDGES", "true")
    (offline,) = judges(capsys)
    assert "judges by rules of its own" in offline["text"]
    agreeing = json.dumps({"reason": "fine", "status": "FINISH"})
    with ScriptedServer(lambda *_: AIMessage(agreeing)) as server:
        here = ("--set", f"models.basic.base_url={server.base_url}", "--set", "models.basic.model=scripted")
        (untried,) = judges(capsys, *here)
        assert (untried["state"], "not tried yet" in untried["text"]) == ("note", True)
        assert server.requests == []
        tried = judges(capsys, *here, "--probe-judges")
        paid = len(server.requests)
        assert paid > 0
        known = judges(capsys, *here)
        assert len(server.requests) == paid
    assert [row["state"] for row in tried] == ["warning"] * 8
    review = "review: scripted tells nothing (planted cases: 0 of 2 wrong ones refused)"
    assert review in tried[0]["text"]
    assert review in known[0]["text"]
    assert "models.judge.model" in known[0]["todo"]


def test_a_model_that_is_believed_untried_is_warned_of(capsys: Captured) -> None:
    (found,) = judges(capsys, "--set", "models.basic.base_url=http://127.0.0.1:9/v1", "--set", "models.basic.model=m")
    assert (found["state"], "models.probe_judges is off" in found["text"]) == ("warning", True)


def test_a_place_that_no_task_could_work_in_is_named_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    (tmp_path / "cache").write_text("")
    monkeypatch.setenv("HABILIS_CACHE_DIR", str(tmp_path / "cache"))
    assert main(["doctor", "--json"]) == 1
    found = {row["what"]: row for row in json.loads(capsys.readouterr().out)["findings"]}
    assert found["places"]["state"] == found["sandbox"]["state"] == "problem"
    assert found["places"]["text"] == f"{tmp_path / 'cache'} stands where a folder is needed"
    assert "remove that file" in found["places"]["todo"]
