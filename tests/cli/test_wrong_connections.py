"""Wrong connections on the command line. What a user would lose: a night's rows, or an hour in the wrong file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from habilis.cli import main
from habilis.testing import Fault, ScriptedServer

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HABILIS_SANDBOX__MODE", "off")


def said(capsys: Captured, *words: str) -> tuple[int, str]:
    code = main(list(words))
    captured = capsys.readouterr()
    return code, captured.out + captured.err


def test_the_file_is_named_that_holds_a_wrong_address(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "my.yaml").write_text("models: {basic: {base_url: 'localhost:1/v1', model: m}}", encoding="utf-8")
    code, line = said(capsys, "run", "-c", "my.yaml", "6*7")
    assert code == 2
    assert "models.basic.base_url in my.yaml" in line
    assert "scheme" in line


def test_a_variable_and_an_option_are_named_as_they_were_given(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer(faults=[Fault("not_found", text="model 'm' not found")] * 9) as server:
        monkeypatch.setenv("HABILIS_MODELS__BASIC__BASE_URL", server.base_url)
        code, line = said(capsys, "run", "--quiet", "--set", "models.basic.model=m", "6*7")
        assert (code, len(server.requests)) == (3, 1)
        assert "set --set models.basic.model to one of scripted" in line
        monkeypatch.setenv("HABILIS_MODELS__BASIC__BASE_URL", "http://127.0.0.1:1/v1")
        code, line = said(capsys, "run", "--set", "models.basic.model=m", "--set", "models.basic.max_retries=0", "6*7")
    assert code == 3
    assert "mend scheme, host and port in HABILIS_MODELS__BASIC__BASE_URL" in line


def test_the_result_tells_a_wrong_setting_from_a_server_that_fails(capsys: Captured) -> None:
    with ScriptedServer(key="right") as server:
        here = ("--set", f"models.basic.base_url={server.base_url}", "--set", "models.basic.model=scripted")
        code = main(["run", "--json", *here, "6*7"])
        refused = json.loads(capsys.readouterr().out)
        assert (code, refused["status"]) == (3, "unreachable")
        assert "OPENAI_API_KEY" in refused["error"]
        secure = here[1].replace("http://", "https://")
        code = main(["run", "--json", "--set", secure, *here[2:], "6*7"])
    wrong = json.loads(capsys.readouterr().out)
    assert (code, wrong["status"]) == (2, "misconfigured")
    assert "http:// in place of https://" in wrong["error"]


def test_a_role_of_its_own_is_named_as_itself(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer(key="right") as server:
        monkeypatch.setenv("OPENAI_API_KEY", "right")
        here = ("--set", f"models.basic.base_url={server.base_url}", "--set", "models.basic.model=scripted")
        code, line = said(capsys, "run", "--quiet", *here, "--set", "models.builder.base_url=127.0.0.1:9", "6*7")
    assert code == 2
    assert "--set models.builder.base_url: '127.0.0.1:9' is not the address" in line


def test_a_training_stops_at_once_and_goes_on_once_the_key_is_right(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"id": str(number), "question": f"What is {number} * 7?", "answer": str(number * 7)} for number in range(6)]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with ScriptedServer(key="right") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_MODEL", "scripted")
        monkeypatch.setenv("OPENAI_API_KEY", "wrong")
        words = ("--run-name", "r", "--set", "evolution.concurrency=2", "--set", "evolution.batch_size=3")
        code, line = said(capsys, "evolve", "--dataset", "rows.jsonl", *words)
        assert code == 3, line
        assert "check the key in OPENAI_API_KEY" in line
        assert len(server.requests) <= 3
        monkeypatch.setenv("OPENAI_API_KEY", "right")
        code, line = said(capsys, "evolve", "--resume", "--run-name", "r")
    assert code == 0, line
    assert "6 answered" in line
