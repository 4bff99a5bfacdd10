"""`habilis library import | export | verify` at the command line: lines for people, JSON for programs, exit codes."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage

from habilis.cli import main
from habilis.library import Library
from habilis.terminal.interrupting import Stop, run_to_stop
from habilis.testing import ScriptedServer

Captured = pytest.CaptureFixture[str]

DOUBLE = """
from pydantic import BaseModel
__TOOL_META__ = {"name": "double_it", "description": "Twice a number.", "dependencies": []}
class InputModel(BaseModel):
    number: int
class OutputModel(BaseModel):
    result: int | None = None
def run(input: InputModel) -> OutputModel:
    return OutputModel(result=2 * input.number)
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with tools of somebody else in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "double_it.py").write_text(DOUBLE)
    return tmp_path


@pytest.mark.sandbox
def test_tools_go_in_and_out_and_in_again(here: Path, capsys: Captured) -> None:
    assert main(["library", "import", "theirs", "--dry-run"]) == 0
    assert "nothing was changed" in capsys.readouterr().out
    assert not (here / "runs").exists()
    (here / "theirs" / "bad.py").write_text("(")
    assert main(["library", "import", "theirs"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("theirs/bad.py: refused: The code does not parse")
    assert lines[1] == "theirs/double_it.py: imported as double_it"
    assert lines[2].startswith("2 looked at: 1 taken, 0 tried, 1 not tried (1 the tool brings no example), 1 refused ")
    assert main(["library", "export", "--to", "package", "mine", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tools"][0]["name"] == "double_it"
    assert main(["library", "verify", "mine"]) == 0
    assert capsys.readouterr().out.startswith("mine: 1 tools, ")
    assert main(["library", "import", "mine", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [line["ending"] for line in report["lines"]] == ["same"]
    assert report["generation"] == 1
    assert main(["library", "import", "mine", "--library", "fresh"]) == 0
    assert Library(here / "fresh").names() == ["double_it"]
    (here / "mine" / "README.md").write_text("other")
    capsys.readouterr()
    assert main(["library", "verify", "mine"]) == 1
    assert capsys.readouterr().out == "README.md: it is not what was exported\n"
    assert main(["library", "verify", "--library", "fresh"]) == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["library", "import", "nowhere"], "nowhere: no such file or folder"),
        (["library", "import"], "SOURCE"),
        (["library", "export", "mine"], "--to"),
        (["library", "export", "--to", "packge", "mine"], "did you mean package?"),
        (["library", "export", "--to", "folder", "mine"], "no library at"),
        (["library", "export", "--to", "folder", "theirs", "--library", "theirs"], "theirs is there already"),
        (["library", "export", "--to", "folder", "mine", "--library", "theirs", "--tools", "x"], "there is no tool x"),
        (["library", "verify", "nowhere"], "nowhere: no such folder"),
        (["library", "verify", "--set", "exchange.redact_patterns=['(']"], "is not a regular expression"),
        (["serve"], "no library at"),
        (["serve", "--library", "theirs", "--workspace", "nowhere"], "--workspace nowhere: no such folder"),
        (["serve", "--library", "theirs", "--tools", "nothing"], "--tools nothing: there is no such tool"),
        (["serve", "nothing"], "unexpected argument"),
    ],
)
@pytest.mark.sandbox
def test_bad_usage_is_one_line_and_writes_nothing(words: list[str], told: str, here: Path, capsys: Captured) -> None:
    before = sorted(here.rglob("*"))
    assert main(words) == 2
    said = capsys.readouterr().err
    assert told in said
    assert said.count("\n") == 1
    assert sorted(here.rglob("*")) == before


def test_an_mcp_server_that_cannot_be_imported_is_named(here: Path, capsys: Captured) -> None:
    (here / "my.yaml").write_text("sources: {local: {mcp: {command: [a-server-that-is-not-there]}}}")
    assert main(["library", "import", "mcp:local", "-c", "my.yaml"]) == 2
    assert "mcp:local: a-server-that-is-not-there cannot be started" in capsys.readouterr().err
    assert main(["library", "import", "mcp:elsewhere"]) == 2
    assert "give the address of an MCP server" in capsys.readouterr().err
    assert not (here / "runs").exists()


@pytest.mark.sandbox
def test_a_foreign_tool_is_imported_proved_and_called_for_the_records(here: Path, capsys: Captured) -> None:
    """What nobody tried is said, `prove` pins what it does, and a person's own call is kept where it is asked for."""
    assert main(["library", "import", "theirs", "--json"]) == 0
    sums = json.loads(capsys.readouterr().out)["sums"]
    assert (sums["taken"], sums["tried"], sums["left"]) == (1, 0, 0)
    assert main(["library", "prove", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["sums"]["proved"], said["left"], said["generation"]) == (1, 0, 2)
    given = ["library", "call", "double_it", "--args", '{"number": 21}', "--args", '{"number": "x"}']
    assert main([*given, "--record", "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["recorded"], said["generation"]) == (1, 3)
    kinds = [call.kind for call in Library(here / "runs" / "library").records("double_it")]
    assert (kinds.count("used"), set(kinds)) == (1, {"used", "tried"})
    assert main([*given, "--json"]) == 1
    assert len(Library(here / "runs" / "library").records("double_it")) == len(kinds)


@pytest.mark.sandbox
def test_what_a_model_was_asked_for_is_told_with_its_cost(
    here: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    picky = DOUBLE.replace("double_it", "picky").replace("return", "assert input.number == 4711\n    return")
    (here / "theirs" / "picky.py").write_text(picky)
    assert main(["library", "import", "theirs"]) == 0
    with ScriptedServer(lambda *_: AIMessage('{"arguments": {"number": 4711}}')) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        capsys.readouterr()
        assert main(["library", "prove"]) == 0
        out = capsys.readouterr().out
        assert server.finished == 1
    assert "a model was asked for calls of 1 tool: 1 model call, " in out
    assert "tokens, cost unknown" in out
    assert [call.output["result"] for call in Library(here / "runs" / "library").records("picky")] == [9422]


def test_a_file_that_is_no_tool_of_the_library_is_not_recorded(here: Path, capsys: Captured) -> None:
    assert main(["library", "call", "theirs/double_it.py", "--args", '{"number": 1}', "--record"]) == 2
    assert "--record keeps calls of tools of the library" in capsys.readouterr().err


@pytest.fixture
def heeded() -> Iterator[None]:
    """Ctrl-C as a terminal's process has it: a shell starts what runs in the background with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded")
def test_the_first_ctrl_c_asks_for_an_end_and_the_second_ends_at_once(capsys: Captured) -> None:
    stop = Stop("what was taken is kept")

    async def looks() -> str:
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(0)
        while not stop.asked():
            await asyncio.sleep(0)
        return "kept"

    async def deaf() -> None:
        signal.raise_signal(signal.SIGINT)
        await asyncio.Event().wait()

    assert run_to_stop(looks(), stop) == "kept"
    assert capsys.readouterr().err == "stopping: what was taken is kept\n"
    with pytest.raises(KeyboardInterrupt):
        run_to_stop(deaf(), stop)
