"""`habilis runs`, `config` and `doctor`: what people look at when something went wrong, and how they tidy up."""

from __future__ import annotations

import io
import json
import re
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from habilis.cli import main
from habilis.core import events as ev
from habilis.core.types import Plan, Review, Task, TaskResult, ToolRequest, Usage
from habilis.rundir import JsonlSink, RunDir, TaskDir

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make_run(name: str, *, status: Any = "answered", age_days: float = 0, fill: int = 0) -> TaskDir:
    run = RunDir.create(Path("runs"), name)
    created = datetime.fromtimestamp(time.time() - age_days * 86_400).astimezone().isoformat()
    run.write_run({"limits": {"max_rounds": 3}}, sandbox_level="bubblewrap", created=created)
    task = run.task("task")
    task.save_task(Task(id="task", question=f"What is {name}? \x1b[2J 平均"))
    (task.workspace / "data").write_bytes(b"x" * fill)
    request = ToolRequest(name="mean", description="", input_schema={}, output_schema={})
    call = ev.ThoughtCall(call_id="c", tool="mean", arguments={"a": 1}, observation="2.5", seconds=0.1)
    sink = JsonlSink(task.events)
    for event in (
        ev.TaskStarted(task_id="task", question="q"),
        ev.Planned(attempt=1, plan=Plan(build=(request,))),
        ev.ToolRejected(tool="mean", purpose="build", attempt=1, reason="no run()"),
        ev.ToolBuilt(tool="mean", version="v", attempts=2, smoke="passed", path="p"),
        ev.Thought(position=1, stage="asked"),
        ev.Thought(position=1, stage="replied", thought="compute", calls=(call,)),
        ev.ToolCallStarted(call_id="c", tool="mean", version="v", arguments={"a": 1}),
        ev.ToolCallEnded(call_id="c", tool="mean", seconds=0.1, text="2.5"),
        ev.Thought(position=1, stage="observed", thought="compute", calls=(call,), usage=Usage(model_calls=1)),
        ev.Thought(position=2, stage="asked"),
        ev.Reviewed(attempt=1, review=Review(accepted=True, reason="fine")),
    ):
        sink.emit(event)
    sink.close()
    with task.events.open("a") as out:
        out.write('{"kind": "from_a_later_version", "x": 1}\n{"kind": "planned"}\n{"torn')
    usage = Usage(model_calls=3, prompt_tokens=900, completion_tokens=100)
    result = TaskResult(
        task_id="task",
        status=status,
        question=f"What is {name}?",
        final_answer="2.5",
        error=None if status in ("answered", "waiting") else "because",
        question_asked="Which column?" if status == "waiting" else None,
        usage=usage,
        usage_by_role={"basic": usage},
    )
    task.save_result(result)
    return task


def test_list_tells_name_state_age_size_and_question(capsys: Captured) -> None:
    assert main(["runs", "list"]) == 0
    assert capsys.readouterr().out == "no runs in runs\n"
    make_run("old", age_days=3, fill=200_000)
    make_run("asks", status="waiting", age_days=1)
    assert main(["runs", "list"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["RUN", "STATE", "AGE", "SIZE", "QUESTION"]
    assert rows[0].split()[:5] == ["asks", "waiting", "1", "d", rows[0].split()[4]]
    assert re.match(r"old +answered +3 d +\d{3} KB +What is old\? \\x1b\[2J 平均$", rows[1])
    assert main(["runs", "list", "--json", "--limit", "1"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["name"], row["state"], row["tasks"]) == ("asks", "waiting", 1)


def test_show_tells_what_happened_with_one_thought_per_round(capsys: Captured) -> None:
    make_run("one")
    assert main(["runs", "show", "one"]) == 0
    text = capsys.readouterr().out
    for part in (
        "question What is one? \\x1b[2J 平均",
        "state    finished (answered)",
        "plan     attempt 1: build mean",
        "rejected mean, attempt 1: no run()",
        "built    mean (attempts: 2, trial call: passed)",
        "call     mean(a=1)",
        "thought  1: compute\n         mean(a=1) → 2.5\nthought  2 (no reply):",
        "review   accepted by judge: fine",
        "answer   2.5",
        "usage    basic: 3 model calls, 1,000 tokens",
    ):
        assert part in text
    assert text.count("thought  1") == 1


def test_show_as_json_is_one_document(capsys: Captured) -> None:
    make_run("one")
    assert main(["runs", "show", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (task,) = document["tasks"]
    assert document["run"]["sandbox_level"] == "bubblewrap"
    assert task["result"]["final_answer"] == "2.5"
    assert [(t["position"], t["stage"]) for t in task["thoughts"]] == [(1, "observed"), (2, "asked")]


def test_show_tells_the_question_of_a_waiting_task_and_how_to_answer(capsys: Captured) -> None:
    make_run("asks", status="waiting")
    assert main(["runs", "show", "asks"]) == 0
    text = capsys.readouterr().out
    assert "Which column?" in text


def test_show_survives_broken_files_and_says_so(capsys: Captured) -> None:
    task = make_run("torn")
    task.result.write_text("{")
    task.task.write_text("")
    assert main(["runs", "show", "torn"]) == 0
    text = capsys.readouterr().out
    assert "result.json cannot be read" in text
    assert "task.json cannot be read" in text
    assert "call     mean(a=1)" in text


def test_clean_removes_what_was_named_says_so_and_keeps_the_rest(capsys: Captured) -> None:
    make_run("old", age_days=40, fill=300_000)
    make_run("asks", status="waiting", age_days=40)
    make_run("new")
    (Path("runs") / "library").mkdir()
    assert main(["runs", "clean", "--older-than", "30d", "--dry-run"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("would remove old (29")
    assert said.err == "kept asks: waiting; --force removes it\n"
    assert main(["runs", "clean", "--older-than", "30d"]) == 2
    assert "--yes" in capsys.readouterr().err
    assert sorted(p.name for p in Path("runs").iterdir()) == ["asks", "library", "new", "old"]
    assert main(["runs", "clean", "--older-than", "30d", "--yes", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in document["removed"]] == ["old"]
    assert [row["name"] for row in document["kept"]] == ["asks"]
    assert sorted(p.name for p in Path("runs").iterdir()) == ["asks", "library", "new"]
    assert main(["runs", "clean", "--older-than", "30d", "--yes", "--force"]) == 0
    assert sorted(p.name for p in Path("runs").iterdir()) == ["library", "new"]


@pytest.mark.parametrize(("said", "code", "left"), [("n\n", 1, True), ("", 1, True), ("y\n", 0, False)])
def test_clean_asks_at_a_terminal(
    said: str, code: int, left: bool, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    make_run("old")
    monkeypatch.setattr("sys.stdin", Terminal(said))
    assert main(["runs", "clean", "--keep", "0"]) == code
    assert "remove 1 run? [y/N]" in capsys.readouterr().err
    assert (Path("runs") / "old").exists() == left


def test_config_show_tells_each_value_and_where_it_came_from(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    (here / "a.yaml").write_text(
        "limits: {max_rounds: 7, max_attempts: 4}\nmodels: {basic: {headers: {X-Key: hunter2}}}\n"
    )
    monkeypatch.setenv("OPENAI_BASE_URL", "http://me:hunter2@127.0.0.1:1/v1")
    monkeypatch.setenv("HABILIS_LIMITS__MAX_ATTEMPTS", "3")
    assert main(["config", "show", "-c", "a.yaml", "--set", "limits.max_rounds=8", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["limits.max_rounds"] == {"value": 8, "origin": "command line"}
    assert document["limits.max_attempts"] == {"value": 4, "origin": "file a.yaml"}
    assert document["limits.enhance_interval"] == {"value": 2, "origin": "default"}
    assert document["models.basic.base_url"]["value"] == "http://***@127.0.0.1:1/v1"
    assert document["models.basic.base_url"]["origin"] == "environment OPENAI_BASE_URL"
    assert document["models.basic.headers"] == {"value": {"X-Key": "***"}, "origin": "file a.yaml"}
    assert document["models.basic.max_retries"] == {"value": 3, "origin": "default"}
    assert "models.judge.model" in document
    assert main(["config", "show", "-c", "a.yaml", "--set", "models.judge.model=m"]) == 0
    text = capsys.readouterr().out
    assert "hunter2" not in text
    assert re.search(r'^models\.judge\.model +"m" +command line$', text, re.M)
    assert "models.vision.model" not in text


def test_config_init_names_every_setting_and_never_overwrites(here: Path, capsys: Captured) -> None:
    from habilis.config import all_keys

    assert main(["config", "init"]) == 0
    text = (here / "habilis.yaml").read_text()
    for key in all_keys():
        if not key.startswith("models.") or key.startswith("models.basic."):
            assert f"\n#{key}:" in text
    (here / "habilis.yaml").write_text("mine")
    assert main(["config", "init"]) == 2
    assert (here / "habilis.yaml").read_text() == "mine"
    assert main(["config", "init", "--force"]) == 0
    assert (here / "habilis.yaml").read_text() == text


def findings(capsys: Captured, *words: str) -> tuple[int, dict[str, dict[str, str]]]:
    code = main(["doctor", "--json", *words])
    document = json.loads(capsys.readouterr().out)
    assert document["can_run"] == (code == 0)
    return code, {row["what"]: row for row in document["findings"]}


UNCONFINED = ("--set", "sandbox.mode=off")
"""The probe of a real sandbox is the sandbox's own test; here it would only cost time."""


def test_doctor_says_what_it_found_and_leaves_nothing_behind(here: Path, capsys: Captured) -> None:
    code, found = findings(capsys, *UNCONFINED)
    assert code == 0
    looked_at = {
        "habilis",
        "python",
        "model",
        "judge",
        "writer",
        "places",
        "sandbox",
        "tokens",
        "uv",
        "library",
        "runs",
    }
    assert set(found) == looked_at
    assert "offline demonstration model" in found["model"]["text"]
    assert "OPENAI_API_KEY" in found["model"]["todo"]
    assert (found["sandbox"]["state"], found["sandbox"]["todo"]) == ("warning", "set sandbox.mode=required")
    assert list(here.iterdir()) == []


def test_doctor_names_what_keeps_a_task_from_running(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    (here / "file").write_text("")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    code, found = findings(capsys, *UNCONFINED, "--output", "file", "--set", "writer.command=[nosuch]")
    assert code == 1
    assert {what for what, row in found.items() if row["state"] == "problem"} == {"model", "writer", "runs"}
    assert all(row["todo"] for row in found.values() if row["state"] == "problem")
    code, found = findings(capsys, "--set", "limits.max_round=1")
    assert code == 1
    assert "max_rounds" in found["settings"]["text"]


class Models(BaseHTTPRequestHandler):
    """Lists the models `one` and `two` to whoever has the key."""

    def do_GET(self) -> None:
        welcome = self.headers["Authorization"] == "Bearer right" and self.path == "/v1/models"
        body = json.dumps({"data": [{"id": "one"}, {"id": "two"}]} if welcome else {"error": "no"}).encode()
        self.send_response(200 if welcome else 401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def model_server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Models) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("key", "model", "state", "said"),
    [
        ("right", "one", "ok", "reachable"),
        ("right", "", "ok", "reachable: one"),
        ("right", "three", "warning", "does not list"),
        ("wrong", "one", "problem", "401"),
    ],
)
def test_doctor_asks_a_server_on_this_machine_whether_it_can_be_used(
    key: str, model: str, state: str, said: str, model_server: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", model_server)
    monkeypatch.setenv("OPENAI_API_KEY", key)
    monkeypatch.setenv("OPENAI_MODEL", model)
    _, found = findings(capsys, *UNCONFINED)
    assert found["model"]["state"] == state
    assert said in found["model"]["text"]


def test_doctor_never_asks_a_server_elsewhere_unless_told(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hunter2hunter2hunter2")
    monkeypatch.setenv("OPENAI_MODEL", "some-model")
    assert main(["doctor", *UNCONFINED]) == 0
    text = capsys.readouterr().out
    assert "not asked whether it is there" in text
    assert "key in OPENAI_API_KEY" in text
    assert "hunter2" not in text


def test_doctor_counts_tools_and_names_broken_files(here: Path, capsys: Captured) -> None:
    (here / "lib").mkdir()
    (here / "lib" / "broken.py").write_text("def (")
    _, found = findings(capsys, *UNCONFINED, "--library", "lib")
    assert found["library"]["state"] == "warning"
    assert "broken.py" in found["library"]["text"]
    assert [p.name for p in (here / "lib").iterdir()] == ["broken.py"]
