"""What nobody asks for costs no start; whoever asks for it gets it as ever."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

READY = "import sys\nfrom habilis.core.deferring import defer_unasked\ndefer_unasked()\ndefer_unasked()\n"


def ran(code: str, folder: Path) -> str:
    command = [sys.executable, "-W", "error", "-c", READY + code]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def test_a_graph_is_imported_without_the_client_of_a_server_of_graphs(tmp_path: Path) -> None:
    names = ("langgraph_sdk.auth.types", "langgraph_sdk.client")
    code = f"import langgraph.graph\nprint([name in sys.modules for name in {names}])"
    assert ran(code, tmp_path) == "[True, False]"


@pytest.mark.parametrize(
    "code",
    [
        "import langgraph.graph\nfrom langgraph_sdk import get_client\nimport langsmith.types\n"
        "from langgraph.pregel.remote import RemoteGraph\n"
        "print(callable(get_client) and isinstance(RemoteGraph, type) and isinstance(langsmith.types.Run, type))",
        "import langgraph_sdk\nversion = langgraph_sdk.__version__\nfrom langgraph_sdk import *\n"
        "print(version[0].isdigit() and callable(get_client))",
        "import httpx, snowballstemmer\n"
        "print(callable(httpx.main) and snowballstemmer.stemmer('german').stemWord('laufen') == 'lauf')",
    ],
    ids=["names", "all names", "stemmers, and a library without its command"],
)
def test_whoever_asks_for_it_gets_it(code: str, tmp_path: Path) -> None:
    assert ran(code, tmp_path) == "True"


OTHERS = """
from pathlib import Path
from habilis.core import deferring

Path("others").mkdir()
Path("others/__init__.py").write_text(SOURCE)
Path("others/inside.py").write_text("WORTH = 3")
sys.path.insert(0, ".")
deferring.UNASKED = ("others",)
import others.inside
"""


def test_what_is_not_there_is_said_as_of_any_module(tmp_path: Path) -> None:
    code = "try:\n    others.nothing\nexcept AttributeError as e:\n    print(e, others.VALUE, others.inside.WORTH)"
    found = ran(f"SOURCE = 'VALUE = 7'{OTHERS}{code}", tmp_path)
    assert found == "module 'others' has no attribute 'nothing' 7 3"


def test_looking_at_all_modules_executes_none(tmp_path: Path) -> None:
    code = "print(hasattr(others, '__wrapped__'), others.__file__ is not None, 'VALUE' in vars(others))"
    assert ran(f"SOURCE = 'VALUE = 7'{OTHERS}{code}", tmp_path) == "False True False"


def test_of_several_threads_that_ask_at_once_each_gets_a_whole_module_that_was_executed_once(tmp_path: Path) -> None:
    source = "import builtins; builtins.often = getattr(builtins, 'often', 0) + 1; sum(range(10**6)); VALUE = 7"
    code = (
        "from concurrent.futures import ThreadPoolExecutor\nimport builtins, threading\n"
        "sys.setswitchinterval(1e-5)\nall_in = threading.Barrier(8)\n"
        "def ask(_):\n    all_in.wait()\n    return others.VALUE\n"
        "with ThreadPoolExecutor(8) as pool:\n    print(sum(pool.map(ask, range(8))), builtins.often)"
    )
    assert ran(f"SOURCE = {source!r}{OTHERS}{code}", tmp_path) == "56 1"


def test_one_that_fails_says_why_each_time(tmp_path: Path) -> None:
    code = "for _ in '12':\n    try:\n        others.VALUE\n    except ValueError as e:\n        print(e, end=' ')"
    assert ran(f"SOURCE = 'raise ValueError(1)'{OTHERS}{code}", tmp_path) == "1 1"


def test_one_that_is_not_installed_is_missing_as_ever(tmp_path: Path) -> None:
    code = (
        "from habilis.core import deferring\ndeferring.UNASKED = ('not_there_at_all',)\n"
        "try:\n    import not_there_at_all\nexcept ModuleNotFoundError as error:\n    print(error.name)"
    )
    assert ran(code, tmp_path) == "not_there_at_all"


def test_a_program_that_uses_the_library_finds_its_imports_as_they_are(tmp_path: Path) -> None:
    code = "import sys, habilis, habilis.agents.team, langgraph_sdk\nprint('langgraph_sdk.client' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"
