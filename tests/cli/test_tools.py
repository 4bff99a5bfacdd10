"""`habilis tools`: a user sees what the sources give and what they lack before a task needs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from habilis.cli import main

API = {
    "openapi": "3.1.0",
    "servers": [{"url": "http://127.0.0.1:9"}],
    "paths": {"/a": {"get": {"operationId": "look", "summary": "Looks"}, "post": {"operationId": "change"}}},
}


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("api.json").write_text(json.dumps(API))
    Path("mine.yaml").write_text(
        yaml.safe_dump(
            {
                "sources": {
                    "api": {"openapi": "api.json"},
                    "keyed": {"openapi": "api.json", "auth": {"secret_env": "NO_SUCH_KEY"}},
                    "gone": {"mcp": {"command": ["/no/such/program"]}},
                },
                "tool_sets": {"looking": ["api.look"]},
            }
        )
    )
    return "mine.yaml"


def test_the_list_shows_each_tool_with_its_effects_and_what_is_left_out(
    config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tools", "list", "-c", config]) == 0
    shown = capsys.readouterr().out
    assert "api (openapi): 2 tools\n  api_look (reads): Looks.\n  api_change (writes): POST /a." in shown
    assert "keyed (openapi): no tools; not set: NO_SUCH_KEY" in shown
    assert "gone (mcp): no tools\n  left out: /no/such/program cannot be started" in shown


def test_the_check_fails_where_a_source_does(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "check", "-c", config]) == 1
    assert main(["tools", "check", "api", "-c", config]) == 0
    assert "api_look" not in capsys.readouterr().out


def test_json_holds_schemas_and_says_which_secrets_are_set(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "list", "looking", "keyed", "--json", "-c", config]) == 0
    api, keyed = json.loads(capsys.readouterr().out)["sources"]
    assert [tool["name"] for tool in api["tools"]] == ["api_look"]
    assert api["tools"][0]["parameters"]["type"] == "object"
    assert keyed["secrets"] == [{"name": "NO_SUCH_KEY", "set": False}]


def test_a_name_that_is_not_there_and_no_sources_at_all_are_said(
    config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tools", "list", "apo", "-c", config]) == 2
    assert "did you mean api?" in capsys.readouterr().err
    assert main(["tools", "list"]) == 0
    assert "no sources" in capsys.readouterr().out
    assert main(["run", "--tools", "apo", "-c", config, "--set", "models.basic.provider=offline", "What is 2+2?"]) == 2
    assert "did you mean api?" in capsys.readouterr().err
