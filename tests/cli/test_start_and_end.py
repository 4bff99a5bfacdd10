"""What a command pays for starting and ending, counted in modules and compiled patterns, never in seconds."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from habilis.cli import YOUNG_OBJECTS, main
from habilis.library.retrieval import contrasts
from habilis.testing import ScriptedServer

ENDS = """
import gc
from habilis.cli import main
main()
print("main came back", gc.get_threshold()[0], gc.get_freeze_count() > 0)
"""
LATE = """
import sys
from habilis.cli import ahead, main
from habilis.models.client import Client

known, ask = set(), Client.ask

async def first(self, *words, **more):
    if not known:
        ahead._load()
        known.update(sys.modules)
    return await ask(self, *words, **more)

Client.ask = first
code = main(sys.argv[1:])
print(code, sorted(name for name in set(sys.modules) - known if name.startswith(("habilis", "jsonschema"))))
"""

LOADED = """
import sys
from habilis.config import load_settings
from habilis.models.client import Clients

settings = load_settings(environ={"OPENAI_BASE_URL": sys.argv[1], "OPENAI_MODEL": "m"} if sys.argv[1] else {})
Clients(settings.models, print).load("basic")
print("habilis.models.compatible" in sys.modules, "openai" in sys.modules)
"""
EARLY = """
import sys
from habilis.cli import main
from habilis.models.client import Client

known, ask = set(), Client.ask

async def first(self, *words, **more):
    known.update(() if known else sys.modules)
    return await ask(self, *words, **more)

Client.ask = first
main()
print([name for name in NOT_YET if name in known])
"""
NOT_YET = (
    "openai",
    "langchain_openai",
    "jsonschema",
    "tiktoken",
    "langgraph_sdk.client",
    "langsmith.types.run",
    "websockets",
    "rich",
    "snowballstemmer.german_stemmer",
    "habilis.grounding.checking",
    "habilis.rules.refusing",
    "habilis.synthesis.comparing",
    "habilis.sources.knowledge",
    "habilis.sources.web",
    "habilis.curation.curator",
)
"""What no first request has to wait for: most of it is imported beside it, the rest where settings ask for it."""


def ran(code: str, *words: str, folder: Path) -> list[str]:
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_the_process_of_a_command_looks_for_garbage_less_often_and_not_at_its_end(tmp_path: Path) -> None:
    assert ran(ENDS, "--version", folder=tmp_path)[1:] == [f"main came back {YOUNG_OBJECTS} True"]


def test_called_by_a_program_the_command_line_leaves_its_collector_and_its_end_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = gc.get_threshold()
    assert main(["--version"]) == 0
    assert gc.get_threshold() == before
    assert capsys.readouterr().out.startswith("habilis ")


@pytest.mark.slow
def test_behind_the_first_request_no_task_waits_for_an_import_that_could_have_been_made_beside_it(
    tmp_path: Path,
) -> None:
    words = ["run", "--quiet", "--run-dir", "r", "--library", "l", "What is 2+3*4?"]
    assert ran(LATE, *words, folder=tmp_path)[-1] == "0 []"


def test_a_first_request_waits_for_nothing_that_can_be_imported_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LangGraph looks up what a node names when it compiles a graph: a lazy door named in a node opens there."""
    words = ["run", "--quiet", "--run-dir", "r", "--library", "l", "What is 2+3*4?"]
    with ScriptedServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_MODEL", "m")
        assert ran(f"NOT_YET = {NOT_YET}\n{EARLY}", *words, folder=tmp_path)[-1] == "[]"
        assert server.requests


@pytest.mark.slow
@pytest.mark.parametrize(("address", "loaded"), [("http://127.0.0.1:9/v1", "True False"), ("", "False False")])
def test_what_asks_a_server_is_loaded_before_it_is_asked_and_only_where_one_is(
    address: str, loaded: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert ran(LOADED, address, folder=tmp_path) == [loaded]


def test_of_the_words_for_operations_only_those_that_stand_in_a_question_are_compiled_in_full() -> None:
    contrasts._operations.cache_clear()
    contrasts._whole_words.cache_clear()
    named = contrasts.operations("What is the median price?")
    assert frozenset({"median"}) in named.values()
    assert contrasts._whole_words.cache_info().misses < 5
