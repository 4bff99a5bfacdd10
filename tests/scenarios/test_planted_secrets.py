"""Keys of each kind, which everyone repeats in every form: none of them is found in what is left behind.

The servers here say the secrets that they are sent, and the models all of them, wherever a model has a word. What looks
for them (`tests.planted`) knows nothing of the masker.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from habilis.cli import main
from habilis.config import cache_dir
from habilis.rundir import read_jsonl
from habilis.testing import Fault, ScriptedServer, ScriptedService, SeenRequest

from .. import nursery
from ..planted import forms, leaks, left_behind
from ..runners import RUNNERS
from ..runners import words as words_of
from .conftest import CHILD, ROOT
from .test_external import API, MCP_SERVER

pytestmark = pytest.mark.sandbox
KEY, GRANTED, BASE_PASSWORD = "sk-planted/Key+0123456789", 'tok"en\\/plan ted-77', "base url/pw-4242"
PLANTED = {
    "OPENAI_API_KEY": KEY,
    "ANTHROPIC_API_KEY": "sk-ant-planted_Key-5566",
    "API_TOKEN": GRANTED,
    "WEATHER_KEY": "weather-secret-42/x?",
    "FILES_TOKEN": "files-token~x9y8",
    "TAVILY_API_KEY": "tvly-planted-0987",
    "HTTPS_PROXY": "proxy-pass:31337",
    "the base URL": BASE_PASSWORD,
    "a header": "header-key-5151",
}
SECRETS = tuple(PLANTED.values())
KINDS = ("folder", "skills", "package")
EVERY_FORM = "\n".join(form for secret in SECRETS for form in forms(secret).values())
FEW = "\n".join([*SECRETS, *forms(KEY).values()])
QUESTION = "What is the token's length?"
TELLER = '''```python
"""Tells."""
import base64, json, os
from urllib.parse import quote

from pydantic import BaseModel

__TOOL_META__ = {"name": "teller", "description": "Tells a length.", "dependencies": [], "effects": "pure",
                 "examples": [{"arguments": {"x": 1}, "files": {}}]}


class InputModel(BaseModel):
    x: int


class OutputModel(BaseModel):
    result: dict | None = None
    error: str | None = None


def run(input: InputModel) -> OutputModel:
    token = os.environ["API_TOKEN"]
    raw = token.encode()
    said = [token, raw.hex(), raw.hex(":").upper(), quote(token, safe=""), json.dumps(token), repr(token)]
    said += [base64.b64encode(b"x" * n + raw).decode() for n in range(3)]
    print(*said)
    if input.x > 5:
        raise RuntimeError("wrong: " + " ".join(said))
    return OutputModel(result={"length": len(token), token: said})
```'''
PLAN = {
    "required_tool_names": ["weather_forecast", "files_env", "web_search"],
    "tool_usage_guidance": f"Ask all of them. {FEW}",
    "tool_requests": [
        {
            "name": "teller",
            "description": "Tells a length.",
            "parameters": [{"name": "x", "type": "integer"}],
            "returns": [{"name": "result", "type": "object"}],
        }
    ],
}


class Script:
    """The models of the task. `rounds` counts those of the executor."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, messages: list[BaseMessage], tools: list[Any], form: Any) -> AIMessage:
        self.asked.append(json.dumps([str(message.content) for message in messages]))
        last = str(messages[-1].content)
        for mark, said in (
            ("<candidates>", PLAN),
            ("<answer>", {"status": "FINISH", "reason": f"fine {FEW}"}),
            ("<findings>", {"final_answer": f"18 {EVERY_FORM}", "reasoning_summary": FEW}),
        ):
            if mark in last:
                return AIMessage(json.dumps(said))
        if "<tool_request>" in last:
            return AIMessage(f"{FEW}\n{TELLER}")
        done = len([message for message in messages if message.type == "tool"])
        if not done:
            return _calling(
                ("weather_forecast", {"place": f"Oslo {KEY}"}),
                ("files_env", {"text": EVERY_FORM[:900]}),
                ("web_search", {"query": "canteen"}),
                ("teller", {"x": 9}),
                ("teller", {"x": 1}),
            )
        return AIMessage("It is 18.")  # what is left of a masked form would be a value that stands nowhere


def _calling(*calls: tuple[str, dict[str, Any]]) -> AIMessage:
    rows = [{"name": name, "args": args, "id": f"{name}{number}"} for number, (name, args) in enumerate(calls)]
    return AIMessage(f"I ask. {EVERY_FORM}", tool_calls=rows)


def _repeats(seen: Any) -> Any:
    """A service that says all that it was sent, the secrets among it in every form."""
    said = {name: [value, *forms(value).values()] for name, value in {**seen.headers, **dict(seen.query)}.items()}
    results = [{"title": EVERY_FORM[:100], "url": "https://example.org/", "content": json.dumps(said)}]
    return {"degrees": 18.0, "you": said, "results": results}


class Place:
    """A user's folders, the servers, and a terminal to read."""

    def __init__(self, home: Path, server: ScriptedServer, service: ScriptedService) -> None:
        self.home, self.server, self.service = home, server, service
        self.script = Script()
        server.answer = self.script
        (home / "weather.json").write_text(json.dumps(API))

    @property
    def base_url(self) -> str:
        return self.server.base_url.replace("://", "://me:base%20url%2Fpw-4242@")

    def environment(self) -> dict[str, str]:
        """The shell of the user: every secret in its variable, the key with a line break behind it."""
        named = {name: value for name, value in PLANTED.items() if name.isupper()}
        return named | {
            "OPENAI_API_KEY": f"{KEY}\n",
            "OPENAI_BASE_URL": self.base_url,
            "OPENAI_MODEL": "scripted",
            "HTTPS_PROXY": "http://me:proxy-pass%3A31337@127.0.0.1:9",
            "HABILIS_CACHE_DIR": str(self.home / "cache"),
            "TMPDIR": str(self.home / "tmp"),
        }

    def settings(self) -> list[str]:
        """Words of the command line that name every secret."""
        auth = {"header": "X-Key", "secret_env": "WEATHER_KEY"}
        weather = {"openapi": str(self.home / "weather.json"), "base_url": self.service.url, "auth": auth}
        files = {"mcp": {"command": [sys.executable, str(MCP_SERVER)], "env": ["FILES_TOKEN"]}}
        rows = [
            f"runs_dir={self.home / 'runs'}",
            f"models.basic.headers.X-Api-Key={PLANTED['a header']}",
            f"sources.weather={json.dumps(weather)}",
            f"sources.files={json.dumps(files)}",
            "tool_sets.both=[weather, files.env]",
            "tools.use=[both]",
            "sandbox.env_allow=[API_TOKEN]",
            "web.search.service=tavily",
            f"web.search.url={self.service.url}",
            "capabilities.network=listed",
            f"capabilities.network_list=[{self.service.url.removeprefix('http://')}]",
        ]
        return [word for row in rows for word in ("--set", row)]


@pytest.fixture
def place(tmp_path: Path, sandbox_level: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    (tmp_path / "tmp").mkdir()
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "environments").symlink_to(cache_dir() / "environments")  # built once for all tests
    with ScriptedServer() as server, ScriptedService(_repeats) as service:
        found = Place(tmp_path, server, service)
        for name, value in found.environment().items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(tmp_path)
        yield found


def searched(text: str) -> list[str]:
    """What of the planted secrets stands in `text`."""
    return [f"{secret}: {form}" for secret in SECRETS for form in leaks(text.encode(), secret)]


def everywhere(place: Place) -> list[str]:
    """What of them lies in any folder of the user's, whatever has no business there left out."""
    return left_behind(place.home, *SECRETS)


@pytest.mark.slow
def test_a_run_a_replay_and_an_export_leave_no_secret(place: Place, capfd: pytest.CaptureFixture[str]) -> None:
    code = main(["run", QUESTION, "--debug", "--json", "--library", "library", *place.settings()])
    out, errors = capfd.readouterr()
    assert code == 0, errors[-3000:]
    result = json.loads(out)
    _it_began(place, result)
    assert searched("".join(place.script.asked)) == [], "what came in masked goes to no model either"
    assert searched(out) + searched(errors) == []
    assert everywhere(place) == []
    asked = len(place.server.requests)
    (run,) = [path.name for path in (place.home / "runs").iterdir() if (path / "run.yaml").is_file()]
    commands = (
        ["run", "--replay", run, "--library", "library", *place.settings()],
        ["runs", "show", run, *place.settings()],
        ["config", "show", *place.settings()],
        *(["library", "export", kind, "--to", kind, "--library", "library", *place.settings()] for kind in KINDS),
    )
    for command in commands:
        code = main(command)
        out, errors = capfd.readouterr()
        assert code == 0, (command, out, errors)
        assert searched(out) + searched(errors) == [], command
    assert len(place.server.requests) == asked, "the replay asked nobody"
    assert all(list((place.home / kind).rglob("*.py")) for kind in KINDS)
    assert everywhere(place) == []


def _it_began(place: Place, result: dict[str, Any]) -> None:
    """All secrets were used where they belong, and repeated."""
    outcomes = {call["call_id"]: call["outcome"] for call in result["invocations"]}
    assert result["status"] == "answered"
    assert outcomes["teller4"]["output"]["result"]["length"] == len(GRANTED)
    assert "wrong: [API_TOKEN]" in outcomes["teller3"]["error"]["message"]
    assert outcomes["weather_forecast0"]["output"]["degrees"] == 18.0
    assert "[FILES_TOKEN]" in json.dumps(outcomes["files_env1"])
    assert outcomes["web_search2"]["error"] is None
    sent = {name: value for seen in place.service.calls for name, value in seen.headers.items()}
    assert sent["x-key"] == PLANTED["WEATHER_KEY"]
    assert sent["authorization"] == f"Bearer {PLANTED['TAVILY_API_KEY']}"
    (asked, *_) = place.server.requests
    assert asked.headers["x-api-key"] == PLANTED["a header"]
    assert asked.headers["authorization"].startswith("Basic ")
    assert searched(EVERY_FORM)


@pytest.mark.parametrize("provider", ["openai", pytest.param("anthropic", marks=pytest.mark.slow)])
def test_a_server_that_repeats_the_key_in_its_refusal_shows_it_to_nobody(
    place: Place, provider: str, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("langchain_anthropic") if provider == "anthropic" else None
    name = "ANTHROPIC_API_KEY" if provider == "anthropic" else "OPENAI_API_KEY"
    url = place.server.anthropic_url if provider == "anthropic" else place.server.base_url

    def refuses(seen: SeenRequest) -> Fault:
        return Fault("unauthorized", text=f"no such key: {' '.join(forms(PLANTED[name]).values())} {seen.headers}")

    place.server.choose = refuses
    more = [f"models.basic.{row}" for row in (f"provider={provider}", f"base_url={url}", "model=m")]
    code = main(["run", QUESTION, "--debug", "--set", f"runs_dir={place.home / 'runs'}", *_set(more)])
    out, errors = capfd.readouterr()
    assert (code, out) == (3, "")
    assert "no such key: [" in errors
    (asked, *_) = place.server.requests
    assert PLANTED[name] in (asked.headers.get("x-api-key"), asked.headers.get("authorization", "")[7:])
    assert searched(errors) == []
    assert everywhere(place) == []


def _set(rows: list[str]) -> list[str]:
    return [word for row in rows for word in ("--set", row)]


@pytest.mark.slow
def test_a_stream_of_small_pieces_shows_no_secret(place: Place, capfd: pytest.CaptureFixture[str]) -> None:
    stream = ["--set", "models.basic.stream=true"]
    code = main(["run", QUESTION, "--debug", "--library", "library", *stream, *place.settings()])
    out, errors = capfd.readouterr()
    assert code == 0, errors[-3000:]
    assert any(seen.body.get("stream") for seen in place.server.requests)
    assert searched(out) + searched(errors) == []
    assert everywhere(place) == []


@pytest.mark.slow
@pytest.mark.parametrize("at", [2, 9, 16, 22, 28])
def test_a_run_that_is_killed_leaves_no_secret_and_goes_on(place: Place, at: int) -> None:
    pairs = [row.partition("=") for row in place.settings()[1::2]]
    told = {f"HABILIS_{name.upper().replace('.', '__')}": value for name, _, value in pairs}
    env = {**os.environ, **told, "PYTHONPATH": str(ROOT / "src")}
    run = str(place.home / "runs" / "run")
    for words, code in (([str(CHILD), run, QUESTION, str(at)], -9), (["-m", "habilis", "runs", "resume", run], 0)):
        ended = nursery.run([sys.executable, *words], cwd=place.home, env=env, text=True, timeout=300)
        assert ended.returncode == code, ended.stderr[-2000:]
        assert searched(ended.stdout + ended.stderr) == []
        assert everywhere(place) == []
    again = place.server.repeated()
    assert [seen for seen in again if "You mend one Python" not in seen.prompt] == [], "mending asks twice by itself"


@pytest.mark.slow
@pytest.mark.parametrize("runner", RUNNERS)
def test_a_training_run_leaves_no_secret(place: Place, runner: str, capfd: pytest.CaptureFixture[str]) -> None:
    rows = [{"id": f"{number}", "question": f"{QUESTION} Number {number}", "answer": "18"} for number in range(2)]
    (place.home / "tasks.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    words = ["evolve", "--dataset", "tasks.jsonl", "--run-name", "one", *words_of(runner), "--debug"]
    code = main([*words, *place.settings()])
    out, errors = capfd.readouterr()
    assert code == 0, errors[-3000:]
    predictions = list(read_jsonl(place.home / "runs" / "one" / "predictions.jsonl"))
    assert all("[OPENAI_API_KEY]" in json.dumps(row) for row in predictions)
    assert list((place.home / "runs" / "one" / "library").glob("*.py"))
    assert searched(out) + searched(errors) + searched("".join(place.script.asked)) == []
    assert everywhere(place) == []
    assert main(["score", "one", *place.settings()]) in (0, 1)
    assert searched("".join(capfd.readouterr())) == []
