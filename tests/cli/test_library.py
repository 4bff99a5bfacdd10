"""`habilis library`: tools by hand, as an agent runs them, and the room that their packages take."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest

from habilis.cli import main
from habilis.cli.callargs import paired, read_arguments, read_grants
from habilis.contract.contract import read_contract
from habilis.contract.runnable import Description
from habilis.core.errors import UserError
from habilis.library import Library
from habilis.runtime.packages.cache import MARK, EnvironmentCache

Captured = pytest.CaptureFixture[str]


def source(name: str, body: str, *, fields: str = "path: str = ''", meta: str = "") -> str:
    return textwrap.dedent(f"""\
        from pydantic import BaseModel
        __TOOL_META__ = {{'name': '{name}', 'description': 'Does {name}.', 'dependencies': [], {meta}}}
        class InputModel(BaseModel):
            {fields}
        class OutputModel(BaseModel):
            result: str | int | None = None
            error: str | None = None
        def run(input: InputModel) -> OutputModel:
        """) + textwrap.indent(textwrap.dedent(body), "    ")


COUNT = "return OutputModel(result=len(open(input.path, encoding='utf-8').read().splitlines()))\n"
KEEP = """
from pathlib import Path
Path('made').mkdir(exist_ok=True)
Path('made/out.txt').write_text(input.path)
Path('link').symlink_to('/etc/passwd')
return OutputModel(result=sum(1 for _ in Path('made').iterdir()))
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a few tool files, a data file, and a library of one tool."""
    monkeypatch.chdir(tmp_path)
    for name, body in (("count_rows", COUNT), ("keep_it", KEEP), ("say_no", "return OutputModel(error='no')\n")):
        (tmp_path / f"{name}.py").write_text(source(name, body))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("x\n1\n")
    library = Library(tmp_path / "runs" / "library")
    known = source("double", "return OutputModel(result=input.number * 2)\n", fields="number: int")
    described = Description(name="double", description="", input_schema={}, output_schema={})
    library.add(known, described, read_contract(known), name="double")
    return tmp_path


def called(capsys: Captured, *words: str) -> tuple[int, dict[str, Any]]:
    code = main(["library", "call", *words, "--json"])
    return code, json.loads(capsys.readouterr().out)


# ---- calls


@pytest.mark.sandbox
def test_a_file_and_a_tool_of_the_library_run_in_order_through_one_host(capsys: Captured, sandbox_level: str) -> None:
    words = ["double", "--args", '{"number": 4}', "count_rows.py", "--args", '{"path": "data/a.csv"}']
    code, document = called(capsys, *words, "--file", "data/a.csv")
    assert (code, document["level"]) == (0, sandbox_level)
    calls = document["calls"]
    assert [(c["tool"], c["ok"], c["output"]["result"]) for c in calls] == [
        ("double", True, 8),
        ("count_rows", True, 2),
    ]
    assert calls[1]["opened"] == [str(Path("data/a.csv").resolve())]
    assert all(c["level"] == sandbox_level and c["seconds"] > 0 for c in calls)
    assert sorted(path.name for path in Path("runs/library").iterdir() if path.suffix == ".py") == ["double.py"]


@pytest.mark.sandbox
def test_one_failing_call_is_exit_code_one_and_the_others_still_run(capsys: Captured) -> None:
    code = main(
        ["library", "call", "double", *(w for n in ("1", '"x"', "3") for w in ("--args", f'{{"number": {n}}}'))]
    )
    said = capsys.readouterr().out
    assert code == 1
    assert '{"result": 2, "error": null}' in said
    assert "error    invalid_arguments: " in said
    assert '{"result": 6, "error": null}' in said
    assert said.endswith("3 calls, 1 failed\n")


@pytest.mark.sandbox
def test_a_tool_that_says_itself_that_it_failed_has_failed(capsys: Captured) -> None:
    code, document = called(capsys, "say_no.py", "--args", "{}")
    assert (code, document["calls"][0]["ok"], document["calls"][0]["output"]["error"]) == (1, False, "no")


@pytest.mark.sandbox
def test_a_file_that_was_not_given_is_refused_as_to_an_agent(capsys: Captured, here: Path) -> None:
    secret = here / "data" / "a.csv"
    code, document = called(capsys, "count_rows.py", "--args", json.dumps({"path": str(secret)}))
    call = document["calls"][0]
    assert (code, call["error"]["kind"]) == (1, "denied")
    assert call["refused"] == [call["error"]["message"]]
    assert main(["library", "call", "count_rows.py", "--args", json.dumps({"path": str(secret)})]) == 1
    assert "  refused  " in capsys.readouterr().out


@pytest.mark.sandbox
def test_what_a_tool_declares_and_does_not_get_is_said(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOWN", "to it")
    meta = "'capabilities': {'network': ['example.org'], 'env': ['TOKEN', 'SHOWN']}"
    Path("wants.py").write_text(source("wants", "return OutputModel(result=1)\n", meta=meta))
    _, document = called(capsys, "wants.py", "--args", "{}", "--set", "sandbox.env_allow=[SHOWN]")
    told = document["calls"][0]["refused"]
    assert [text.partition(":")[0] for text in told] == ["network example.org", "env TOKEN"]
    assert document["calls"][0]["granted"] == ["env SHOWN"]


@pytest.mark.sandbox
def test_what_is_granted_by_hand_reaches_the_tools_that_ask_for_it(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, here: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("API_TOKEN", "sk-planted")
    tables = tmp_path_factory.mktemp("tables")
    (tables / "a.csv").write_text("of the table")
    body = "import os\nreturn OutputModel(result=f\"{os.environ.get('API_TOKEN')} {open(input.path).read()}\")\n"
    Path("asks.py").write_text(source("asks", body))
    Path("blind.py").write_text(source("blind", body.replace("'API_TOKEN'", "'API_' + 'TOKE' + 'N'[::-1]")))
    given = ["--grant", "env=API_TOKEN", "--grant", f"read={tables}", "--grant", "timeout=20", "--grant", "memory=512"]
    words = ["asks.py", "blind.py", "--args", json.dumps({"path": str(tables / "a.csv")}), *given]
    code, document = called(capsys, *words)
    asks, blind = document["calls"]
    assert (code, asks["output"]["result"], blind["output"]["result"]) == (
        0,
        "[API_TOKEN] of the table",
        "None of the table",
    )
    assert asks["granted"] == [f"read {tables}", "env API_TOKEN", "timeout 20 s", "memory 512 MiB"]
    assert "env API_TOKEN" not in blind["granted"]
    assert main(["library", "call", *words]) == 0
    assert f"  granted  read {tables}, env API_TOKEN" in capsys.readouterr().out
    assert main(["library", "call", "blind.py", *words[2:]]) == 0
    assert "--grant env=API_TOKEN: no tool asks for it" in capsys.readouterr().err


@pytest.mark.sandbox
def test_programs_and_hosts_are_granted_by_hand(capsys: Captured, sandbox_level: str) -> None:
    body = "import subprocess\nreturn OutputModel(result=subprocess.check_output(['echo', 'a']).decode())\n"
    Path("lists.py").write_text(source("lists", body))
    words = ["lists.py", "--args", "{}", "--set", "capabilities.subprocess=deny"]
    code, document = called(capsys, *words)
    assert (code, document["calls"][0]["error"]["kind"]) == (1, "denied")
    code, document = called(capsys, *words, "--grant", "subprocess")
    assert (code, document["calls"][0]["granted"]) == (0, ["subprocess"])
    fetching = "import urllib.request as u\nreturn OutputModel(result=u.urlopen(input.path).read().decode())\n"
    Path("fetch.py").write_text(source("fetch", fetching))
    arguments = json.dumps({"path": "http://other.example.org/"})
    code, document = called(capsys, "fetch.py", "--args", arguments, "--grant", "network=api.example.org")
    call = document["calls"][0]
    assert (code, call["granted"], call["error"]["kind"]) == (1, ["network api.example.org"], "denied")
    if sandbox_level == "bubblewrap":
        assert "network other.example.org: not granted" in call["refused"]


@pytest.mark.sandbox
def test_a_file_that_holds_what_no_tool_should_is_not_started(capsys: Captured) -> None:
    Path("odd.py").write_text(source("odd", "import ctypes\nreturn OutputModel(result=ctypes.sizeof(ctypes.c_int))\n"))
    code, document = called(capsys, "odd.py", "--args", "{}")
    assert (code, document["calls"][0]["error"]["kind"]) == (1, "denied")
    assert "line 9: import of ctypes" in document["calls"][0]["refused"][-1]
    assert main(["library", "call", "odd.py", "--args", "{}", "--set", "capabilities.constructs=warn"]) == 0
    assert "line 9: import of ctypes" in capsys.readouterr().err


@pytest.mark.sandbox
def test_what_tools_make_is_thrown_away_unless_kept_and_links_never_are(capsys: Captured, here: Path) -> None:
    before = sorted(here.rglob("*"))
    code, document = called(capsys, "keep_it.py", "--args", '{"path": "one"}')
    assert (code, document["kept"]) == (0, [])
    assert sorted(here.rglob("*")) == before
    code, document = called(capsys, "keep_it.py", "--args", '{"path": "one"}', "--keep", "new")
    assert document["kept"] == ["made/out.txt"]
    assert [str(p.relative_to("new")) for p in sorted(Path("new").rglob("*"))] == ["made", "made/out.txt"]
    assert main(["library", "call", "keep_it.py", "--args", "{}", "--keep", "new"]) == 2
    assert "not an empty folder" in capsys.readouterr().err


@pytest.mark.sandbox
def test_calls_of_one_command_share_their_working_folder(capsys: Captured) -> None:
    body = "open('n', 'a').write('x')\nreturn OutputModel(result=len(open('n').read()))\n"
    Path("more.py").write_text(source("more", body))
    _, document = called(capsys, "more.py", "--args", "{}", "--args", "{}")
    assert [c["output"]["result"] for c in document["calls"]] == [1, 2]


@pytest.mark.sandbox
def test_a_tool_that_cannot_be_loaded_fails_and_says_why(capsys: Captured) -> None:
    Path("bad.py").write_text("import no_such_module\n" + source("bad", "return OutputModel()\n"))
    code, document = called(capsys, "bad.py", "--args", "{}", "--args", "{}")
    assert code == 1
    assert all("no_such_module" in c["error"]["message"] for c in document["calls"])


@pytest.mark.sandbox
def test_the_time_limit_is_the_one_that_was_given(capsys: Captured) -> None:
    Path("slow.py").write_text(source("slow", "while True: pass\n"))
    code, document = called(capsys, "slow.py", "--args", "{}", "--timeout", "1")
    assert (code, document["calls"][0]["error"]["kind"]) == (1, "timeout")
    assert "1 s" in document["calls"][0]["error"]["message"]


@pytest.mark.sandbox
def test_packages_are_refused_by_policy(capsys: Captured) -> None:
    text = source("needy", "return OutputModel(result=1)\n").replace("'dependencies': []", "'dependencies': ['numpy']")
    Path("needy.py").write_text(text)
    code, document = called(capsys, "needy.py", "--args", "{}", "--set", "tools.packages=none")
    assert (code, document["calls"][0]["error"]["kind"]) == (1, "unavailable")
    assert "package numpy is refused" in document["calls"][0]["error"]["message"]


@pytest.mark.sandbox
def test_a_stopped_command_leaves_no_folder_behind(here: Path) -> None:
    body = "print('x', flush=True)\nimport time\nopen(input.path, 'w').write('x')\ntime.sleep(600)\n"
    Path("wait.py").write_text(source("wait", body))
    temporary = here / "tmp"
    temporary.mkdir(mode=0o755)
    command = [sys.executable, "-m", "habilis", "library", "call", "wait.py", "--args", '{"path": "begun"}']
    running = subprocess.Popen(
        command, env={**os.environ, "TMPDIR": str(temporary)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    begun = threading.Event()
    while running.poll() is None and not any(temporary.glob("habilis-*/call-*/begun")):
        begun.wait(0.02)
    running.send_signal(signal.SIGTERM)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (130, "", "habilis: interrupted\n")
    assert list(temporary.iterdir()) == []


# ---- usage

USAGE = [
    (["double"], "no arguments: give --args JSON"),
    (["double", "--args", "{]"], "--args: line 1, column 2: Expecting property name"),
    (["double", "--args", "{}", "--args", '{"a": 1,}'], "--args 2: line 1, column 9"),
    (["double", "--args", "[1]"], "expected a JSON object of arguments by name, not a list"),
    (["double", "--args", '{"number": NaN}'], "NaN is no JSON value"),
    (["double", "--args", '{"a":' * 100_000], "nested too deeply"),
    (["double", "--args", ""], "--args: line 1, column 1"),
    (["double", "--args", "@absent.json"], "--args @absent.json: no such file"),
    (["double", "--args", "@lines.jsonl"], "--args @lines.jsonl: line 2: column 3"),
    (["duoble", "--args", "{}"], "no tool duoble in"),
    (["duoble", "--args", "{}"], "did you mean double?"),
    (["nothing_like_it", "--args", "{}"], "it has 1 tool"),
    (["double", "--args", "{}", "--library", "absent"], "no library at"),
    (["absent.py", "--args", "{}"], "absent.py: no such file"),
    (["data/", "--args", "{}"], "data: not a plain file"),
    (["data/a.csv", "--args", "{}"], "data/a.csv is not a tool"),
    (["double", "--args", "{}", "--file", "absent"], "--file absent: no such file or folder"),
    (["double", "--args", "{}", "--timeout", "0"], "--timeout 0"),
    (["double", "--args", "{}", "--timeout", "soon"], "--timeout soon: expected a time"),
    (["double", "--args", "{}", "--grant", "network=exa mple"], "not a host name such as"),
    (["double", "--args", "{}", "--grant", "env=A-B"], "is not the name of an environment variable"),
    (["double", "--args", "{}", "--grant", "env=LD_PRELOAD"], "cannot be asked for"),
    (["double", "--args", "{}", "--grant", "read=absent"], "no such file or folder"),
    (["double", "--args", "{}", "--grant", "read=/"], "is everything"),
    (["double", "--args", "{}", "--grant", "timeout=soon"], "expected a time"),
    (["double", "--args", "{}", "--grant", "timeout=9d"], "number of seconds up to 3600"),
    (["double", "--args", "{}", "--grant", "memory=much"], "whole number of MiB"),
    (["double", "--args", "{}", "--grant", "memory=1"], "from 64"),
    (["double", "--args", "{}", "--grant", "subprocess=yes"], "expected subprocess"),
    (["double", "--args", "{}", "--grant", "netwrok=x"], "did you mean network?"),
    (["double", "--args", "{}", "--grant", "network"], "expected network=VALUE"),
    (["double", "count_rows.py", "say_no.py", "--args", "{}", "--args", "{}"], "3 tools and 2 sets of arguments"),
    (["double", "--agrs", "{}"], "did you mean --args?"),
]


@pytest.mark.parametrize(("words", "said"), USAGE, ids=[said for _, said in USAGE])
def test_bad_usage_is_one_line_and_nothing_runs(words: list[str], said: str, capsys: Captured) -> None:
    Path("lines.jsonl").write_text('{"number": 1}\n{ x}\n')
    assert main(["library", "call", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert said in err


def test_arguments_come_from_files_and_standard_input_too(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("one.json").write_text('{\n  "a": 1,\n  "b": "é"\n}\n', encoding="utf-8-sig")
    Path("many.jsonl").write_text('{"a": 2}\n\n{"a": 3}\n')
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"a": 4}\r\n{"a": 5}')))
    assert read_arguments(["@one.json", "@many.jsonl", "-", '{"a": 6}']) == [
        {"a": 1, "b": "é"},
        *({"a": n} for n in range(2, 7)),
    ]


def test_tools_and_arguments_are_paired_in_three_ways() -> None:
    one, two = {"a": 1}, {"a": 2}
    assert paired(["x"], [one, two]) == [("x", one), ("x", two)]
    assert paired(["x", "y"], [one]) == [("x", one), ("y", one)]
    assert paired(["x", "y"], [one, two]) == [("x", one), ("y", two)]
    with pytest.raises(UserError, match="2 tools and 3 sets"):
        paired(["x", "y"], [one, one, two])


def test_grants_are_collected_by_kind() -> None:
    given = ["network=a.org, b.org", "env=TOKEN", "network=https://a.org/x", "read=", "subprocess", "memory=128"]
    expected = {"network": ("a.org", "b.org"), "env": ("TOKEN",), "subprocess": True, "memory": 128, "timeout": 90.0}
    assert read_grants([*given, "timeout=90"]) == expected
    assert read_grants(["read=data"]) == {"read": (str(Path("data").absolute()),)}


# ---- environments


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with one environment that was last used long ago, and a leftover."""
    monkeypatch.setenv("HABILIS_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "cache" / "environments"
    holder = EnvironmentCache(folder)
    path = holder.ensure(f"set-{'1' * 16}", lambda aside: (aside / "alpha-1.0.dist-info").mkdir(), threading.Event())
    holder.let_go(path.name)
    os.utime(path / MARK, (1, 1))
    (folder / f"set-{'2' * 16}.abc").mkdir()
    return path


def test_environments_are_listed_with_their_packages(cache: Path, capsys: Captured) -> None:
    assert main(["library", "env", "list"]) == 0
    assert "alpha==1.0" in capsys.readouterr().out
    assert main(["library", "env", "list", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["name"], row["packages"], row["last_used"], row["stays"]) == (cache.name, ["alpha==1.0"], 1.0, None)


def test_pruning_asks_first_and_says_what_went(cache: Path, capsys: Captured) -> None:
    assert main(["library", "env", "prune", "--older-than", "30d"]) == 2
    assert "confirm with --yes, or look first with --dry-run" in capsys.readouterr().err
    assert main(["library", "env", "prune", "--older-than", "30d", "--dry-run", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(row["name"], row["why"]) for row in told["removed"]] == [
        (cache.name, "age"),
        (f"set-{'2' * 16}.abc", "leftover"),
    ]
    assert cache.is_dir()
    assert main(["library", "env", "prune", "--older-than", "30d", "--yes"]) == 0
    assert f"removed {cache.name}" in capsys.readouterr().out
    assert list(cache.parent.iterdir()) == []


def test_pruning_without_a_rule_takes_leftovers_alone(cache: Path, capsys: Captured) -> None:
    assert main(["library", "env", "prune"]) == 0
    assert "only leftovers of killed builds were removed" in capsys.readouterr().out
    assert [path.name for path in cache.parent.iterdir() if path.is_dir()] == [cache.name]
    assert main(["library", "env", "prune", "--max-size", "big"]) == 2
    assert "--max-size big: expected a size" in capsys.readouterr().err
