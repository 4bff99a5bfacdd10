"""`habilis run --decide` and `--schema` as a program of the user's meets them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from langchain_core.messages import AIMessage

from habilis.cli import main
from habilis.testing import ScriptedServer

TOOL = {
    "type": "function",
    "function": {
        "name": "calculate_expression",
        "description": "Calculates an arithmetic expression with + - * / ** %, parentheses, sqrt() and cbrt().",
        "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]},
    },
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.json").write_text(json.dumps([TOOL]), encoding="utf-8")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any, str]:
    code = main(["run", *words])
    out, err = capsys.readouterr()
    return code, json.loads(out) if out.strip() else None, err


def test_calls_are_printed_run_elsewhere_and_answered_by_id(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, first, _ = run(capsys, "--decide", "--tools", "tools.json", "--run-dir", "r", "What is 2+3*4?")
    assert (code, first["status"]) == (0, "calls")
    (call,) = first["calls"]
    assert (call["name"], call["arguments"]) == ("calculate_expression", {"expression": "2 + 3 * 4"})
    code, open_, err = run(capsys, "--decide", "--run-dir", "r")
    assert (code, open_["pending"]) == (1, [call["id"]])
    assert "no result yet" in err
    (home / "results.json").write_text(json.dumps({call["id"]: {"result": 14}}), encoding="utf-8")
    code, second, _ = run(capsys, "--decide", "--run-dir", "r", "--results", "results.json")
    assert (code, second["status"]) == (0, "answered")
    assert "14" in second["answer"]


API = {
    "openapi": "3.1.0",
    "servers": [{"url": "http://127.0.0.1:9"}],
    "paths": {"/weather": {"get": {"operationId": "read_weather", "summary": "Reads the weather"}}},
}
MCP_SERVER = Path(__file__).parents[1] / "sources" / "mcp_server.py"


@pytest.mark.parametrize("kind", ["number", "integer", "string"])
def test_the_offline_model_fills_a_schema_of_one_field(
    kind: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fields = {"result": {"type": kind}, "note": {"type": "string"}}
    schema = {"type": "object", "properties": fields, "required": ["result"], "additionalProperties": False}
    (home / "schema.json").write_text(json.dumps(schema), encoding="utf-8")
    code, answer, _ = run(capsys, "--schema", "schema.json", "What is 2+3*4?")
    assert (code, answer) == (0, {"result": "14" if kind == "string" else 14})


def test_the_offline_model_fills_no_field_that_it_knows_nothing_of(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}
    (home / "schema.json").write_text(json.dumps(schema), encoding="utf-8")
    code, answer, err = run(capsys, "--schema", "schema.json", "What is 2+3*4?")
    assert (code, answer) == (1, None)
    assert "no answer fits the schema" in err


def test_the_offline_model_that_cannot_answer_makes_no_decision(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, step, _ = run(capsys, "--decide", "--tools", "tools.json", "Why is the sky blue?")
    assert (code, step["status"], step["calls"]) == (1, "gave_up", [])
    assert "could not answer" in step["error"]


def offering(home: Path) -> list[str]:
    """Settings with an API and an MCP server."""
    (home / "api.json").write_text(json.dumps(API), encoding="utf-8")
    sources = {"api": {"openapi": "api.json"}, "files": {"mcp": {"command": [sys.executable, str(MCP_SERVER)]}}}
    settings = {"sources": sources, "tool_sets": {"some": ["api", "files.echo"]}}
    (home / "mine.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    return ["-c", "mine.yaml"]


@pytest.mark.parametrize(
    ("names", "offered"),
    [
        (["--tools", "api"], {"api_read_weather"}),
        (["--tools", "some"], {"api_read_weather", "files_echo"}),
        (["--tools", "tools.json"], {"calculate_expression"}),
    ],
)
def test_tools_of_sources_are_offered_by_name(
    names: list[str], offered: set[str], home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = sorted(offered)[0]
    args = {"expression": "1"} if name == "calculate_expression" else {}
    reply = AIMessage("", tool_calls=[{"name": name, "args": args, "id": "a"}])
    with ScriptedServer(lambda *_: reply) as server:
        asked = ["--set", f"models.basic.base_url={server.base_url}", "--set", "models.basic.model=m"]
        code, step, _ = run(capsys, "--decide", *offering(home), *names, *asked, "How is the weather?")
        assert (code, [one["name"] for one in step["calls"]]) == (0, [name])
        sent = server.requests[-1].body["tools"]
    assert {tool["function"]["name"] for tool in sent} == offered


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--decide"], "no question"),
        (["--decide", "q", "--tools", "no.json"], "--tools no.json: No such file"),
        (["--decide", "q", "--results", "tools.json"], "expected an object of results"),
        (["--decide", "q"], "there is no tool to decide for"),
        (["--decide", "q", "--tools", "weather"], "there is no source or tool set weather"),
        (["--decide", "--run-dir", "r", "--tools", "weather"], "belongs to the first step"),
        (["--results", "tools.json", "q"], "--results belongs to --decide"),
        (["--decide", "--schema", "tools.json", "q"], "--decide works with neither"),
        (["--schema", "tools.json", "q"], "a JSON schema is an object"),
        (["--schema", "no.json", "q"], "--schema no.json: No such file"),
        (["--schema", '{"type": "integer"', "q"], "--schema is not JSON"),
        (["--schema", '{"type": "whole"}', "q"], "--schema is not a valid JSON schema: at type"),
    ],
)
def test_bad_usage_is_one_line(words: list[str], said: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, None)
    assert said in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.sandbox
def test_an_answer_by_schema_is_printed_as_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "form.json").write_text('{"type": "integer"}', encoding="utf-8")
    for schema in ("form.json", '{"type": "integer"}'):
        code, result, _ = run(capsys, "--quiet", "--json", "--schema", schema, "What is 2+3*4?")
        assert (code, result["answer_data"], result["final_answer"]) == (0, 14, "14")


def test_a_first_row_of_data_is_not_counted_as_names_without_a_word(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "ages.csv").write_text("Anna,12\nBen,15\nCid,9\n", encoding="utf-8")
    assert main(["run", "How many rows are in ages.csv?", "--file", "ages.csv"]) == 0
    out, err = capsys.readouterr()
    assert out.strip() == "2 (the first row of ages.csv was taken for the names of its columns)"
    assert "ages.csv seems to have no names of columns" in err
