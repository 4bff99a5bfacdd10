"""A task whose tools want more than its files: what they get, what is asked, what is written down, what is left out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from habilis.core.errors import Interrupted
from habilis.testing import ScriptedGranter

from ..sites import serving
from .conftest import Script, Stage, call, calling, tool_source

pytestmark = pytest.mark.sandbox
SECRET = "sk-planted-5f2c9"
PLAN = {"required_tool_names": ["teller"]}
TELL = """import os
token = os.environ["API_TOKEN"]
print("token:", token)
open("kept.txt", "w").write("done")
if input.x: raise RuntimeError("bad token " + token)
return OutputModel(result={"said": token, token: 1, "length": len(token)})"""


def requests(name: str) -> dict[str, Any]:
    return {
        "tool_requests": [{"name": name, "description": "Do it.", "parameters": [{"name": "x", "type": "integer"}]}]
    }


def code(name: str, body: str, meta: str = "") -> str:
    source = tool_source(name, body)
    source = source.replace(
        '"effects": "reads"', f'"effects": "reads", "examples": [{{"arguments": {{"x": 1}}}}]{meta}'
    )
    return f"```python\n{source}\n```"


async def test_a_secret_reaches_its_tool_and_nothing_that_is_kept(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    monkeypatch.setenv("API_TOKEN", SECRET)
    stage.add("teller", tool_source("teller", TELL))
    script = Script(
        [calling(call("teller", {"x": 0}), call("teller", {"x": 1})), "It says so."], [PLAN], codes=["none"]
    )
    result = await stage.play(script, "sandbox.env_allow=[API_TOKEN]")
    assert result.status == "answered", result.error
    told, failed = result.invocations
    assert told.outcome.output["result"] == {"said": "[API_TOKEN]", "[API_TOKEN]": 1, "length": len(SECRET)}
    assert told.outcome.granted == ("env API_TOKEN",)
    assert "bad token [API_TOKEN]" in failed.outcome.error.message
    assert (stage.root / "run").is_dir()
    kept = [path for path in stage.root.rglob("*") if path.is_file()]
    assert len(kept) > 5
    assert [path for path in kept if SECRET.encode() in path.read_bytes()] == []
    assert SECRET not in caplog.text
    assert all(SECRET not in event.model_dump_json() for event in stage.sink.events)
    assert [event.granted for event in stage.sink.of("tool_call_ended")] == [("env API_TOKEN",)] * 2
    records = (stage.root / "run" / "tasks" / "task" / "tools" / "records" / "teller.jsonl").read_text()
    assert '"granted":["env API_TOKEN"]' in records


async def test_a_tool_without_its_secret_is_left_out_and_named(stage: Stage) -> None:
    stage.add("teller", tool_source("teller", TELL))
    stage.add("adder", tool_source("adder", "return OutputModel(result=input.x + 1)"))
    script = Script([calling(call("adder", {"x": 1})), "2"], [{"required_tool_names": ["adder", "teller"]}])
    result = await stage.play(script)
    shown = script.of("plans")[0][0][-1].content
    assert "adder" in shown
    assert "teller" not in shown
    assert [spec["function"]["name"] for spec in script.of("steps")[0][1]][:1] == ["adder"]
    notices = [event.text for event in stage.sink.of("notice")]
    assert "teller is left out: env API_TOKEN: not in sandbox.env_allow" in notices
    assert not any(text.startswith("No tool of the library") for text in notices)
    assert result.status == "answered"


async def test_a_library_of_which_nothing_can_be_used_says_so(stage: Stage) -> None:
    stage.add("teller", tool_source("teller", TELL))
    await stage.play(Script(["42"]))
    errors = [event.text for event in stage.sink.of("notice") if event.level == "error"]
    assert [text.split(":")[0] for text in errors] == ["No tool of the library can be used here"]


FETCH = "import urllib.request as u\nreturn OutputModel(result=u.urlopen('http://api.example.org/').read())"


async def test_a_person_is_asked_before_anything_runs_and_not_again_after_a_resume(stage: Stage) -> None:
    stage.add("fetcher", tool_source("fetcher", FETCH))
    steps = [calling(*(call("fetcher", {"x": n}) for n in range(3))), "done"]
    script = Script(steps, [{"required_tool_names": ["fetcher"]}])
    person = ScriptedGranter(otherwise=False)
    result = await stage.play(script, granter=person)
    assert [(asked.tool, asked.needs) for asked in person.asked] == [("fetcher", ("network api.example.org",))]
    assert all(one.outcome.error.kind == "denied" for one in result.invocations)
    assert all("not allowed when asked" in one.outcome.error.message for one in result.invocations)
    kinds = [event.kind for event in stage.sink.events]
    assert kinds.index("grant_decided") < kinds.index("tool_call_started")
    again = ScriptedGranter(otherwise=True)
    team = stage.team(Script(steps, [{"required_tool_names": ["fetcher"]}]), granter=again)
    task = stage.root / "run" / "tasks" / "task"
    (task / "result.json").unlink()
    await team.resume(stage.root / "run")
    assert again.asked == []


async def test_ending_the_run_at_the_question_leaves_nothing_running(stage: Stage) -> None:
    stage.add("fetcher", tool_source("fetcher", FETCH))
    stage.add("writer", tool_source("writer", "open('wrote', 'a').write('x')\nreturn OutputModel(result=1)"))
    steps = [calling(call("writer", {"x": 1}), call("fetcher", {"x": 1})), "done"]
    plan = {"required_tool_names": ["fetcher", "writer"]}
    person = ScriptedGranter(otherwise=Interrupted("ended at a question"))
    result = await stage.play(Script(steps, [plan]), granter=person)
    assert (result.status, result.error) == ("interrupted", "ended at a question")
    workspace = stage.root / "run" / "tasks" / "task" / "workspace"
    assert not (workspace / "wrote").exists()
    resumed = await stage.team(Script(["done"], [plan]), granter=ScriptedGranter()).resume(stage.root / "run")
    assert resumed.status == "answered"
    assert (workspace / "wrote").read_text() == "x"


async def test_a_new_tool_shows_what_it_needs_and_is_not_blamed_for_what_it_was_not_given(stage: Stage) -> None:
    body = "import os\nreturn OutputModel(result=len(os.environ['API_TOKEN']))"
    script = Script(["42"], [requests("measure")], codes=[code("measure", body)])
    await stage.play(script)
    assert [event.needs for event in stage.sink.of("needs_found")] == [("env API_TOKEN (inferred)",)]
    built = stage.sink.of("tool_built")
    assert [event.smoke.partition(":")[0] for event in built] == ["not tried"]
    assert "sandbox.env_allow" in built[0].smoke
    assert stage.sink.of("tool_rejected") == []


async def test_a_candidate_that_holds_what_no_tool_should_is_sent_back_with_its_line(stage: Stage) -> None:
    good = code("measure", "return OutputModel(result=input.x + 1)")
    bad = code("measure", "import ctypes\nreturn OutputModel(result=ctypes.sizeof(ctypes.c_int))")
    script = Script([calling(call("measure", {"x": 1})), "2"], [requests("measure")], codes=[bad, good])
    await stage.play(script)
    assert "line 17: import of ctypes" in stage.sink.of("tool_rejected")[0].reason
    assert "line 17: import of ctypes" in script.of("codes")[1][0][-1].content
    assert stage.sink.of("tool_built")[0].attempts == 2


async def test_settings_may_only_warn_of_it(stage: Stage) -> None:
    bad = code("measure", "import ctypes\nreturn OutputModel(result=ctypes.sizeof(ctypes.c_int))")
    script = Script([calling(call("measure", {"x": 1})), "4"], [requests("measure")], codes=[bad])
    result = await stage.play(script, "capabilities.constructs=warn")
    assert result.status == "answered"
    assert any("import of ctypes" in event.text for event in stage.sink.of("notice"))


async def test_a_better_version_does_not_get_more_by_the_way(stage: Stage) -> None:
    stage.add("halver", tool_source("halver", "return OutputModel(result=8 // input.x)"))
    wider = "import urllib.request\nurllib.request.urlopen('http://api.example.org/')\nreturn OutputModel(result=0)"
    same = "return OutputModel(result=8 // input.x if input.x else 0)"
    script = Script(
        [calling(call("halver", {"x": 0})), "x", calling(call("halver", {"x": 0}, "again")), "0"],
        [{"required_tool_names": ["halver"]}],
        codes=[code("halver", wider), code("halver", same)],
        fixed=[{"results": [{"record": "r1", "fixed": True, "reason": "so"}]}],
    )
    person = ScriptedGranter(otherwise=True)
    await stage.play(script, "limits.enhance_interval=1", granter=person)
    reason = stage.sink.of("tool_rejected")[0].reason
    assert "It needs more than the version before" in reason
    assert "network api.example.org" in reason
    assert person.asked == []
    assert len(stage.sink.of("tool_enhanced")) == 1


async def test_programs_are_refused_where_settings_say_so(stage: Stage) -> None:
    listing = "import subprocess\nreturn OutputModel(result=subprocess.check_output(['echo', 'a']).decode())"
    stage.add("lister", tool_source("lister", listing))
    steps = [calling(call("measure", {"x": 1})), "1"]
    codes = [code("measure", listing), code("measure", "return OutputModel(result=input.x)")]
    plan = {"required_tool_names": ["lister"], **requests("measure")}
    result = await stage.play(Script(steps, [plan], codes=codes), "capabilities.subprocess=deny")
    assert "starts programs" in stage.sink.of("tool_rejected")[0].reason
    assert result.status == "answered"
    notices = [event.text for event in stage.sink.of("notice")]
    assert "lister is left out: subprocess: capabilities.subprocess is deny" in notices
    listed = Script([calling(call("lister", {"x": 1})), "a"], [{"required_tool_names": ["lister"]}])
    allowed = await stage.team(listed).run("What?", run_dir=stage.root / "other", base=stage.root)
    assert allowed.invocations[0].outcome.output["result"] == "a\n"
    assert allowed.invocations[0].outcome.granted == ("subprocess",)


@pytest.fixture
async def site() -> AsyncIterator[int]:
    """A web server of this machine that says `hello`; its port."""
    async with serving(lambda *_: b"hello") as found:
        yield found.port


@pytest.mark.parametrize("allowed", [True, False])
async def test_a_host_that_only_the_run_shows_is_asked_for_and_the_call_made_again(
    stage: Stage, sandbox_level: str, site: int, allowed: bool
) -> None:
    if sandbox_level != "bubblewrap":
        pytest.skip("hosts are granted by bubblewrap alone")
    body = "import urllib.request as u\nreturn OutputModel(result=u.urlopen(f'http://127.0.0.1:{input.x}/').read())"
    stage.add("fetcher", tool_source("fetcher", body))
    steps = [calling(call("fetcher", {"x": site})), "done"]
    person = ScriptedGranter(otherwise=allowed)
    result = await stage.play(Script(steps, [{"required_tool_names": ["fetcher"]}]), granter=person)
    assert [asked.needs for asked in person.asked] == [(f"network 127.0.0.1:{site}",)]
    outcome = result.invocations[0].outcome
    if allowed:
        assert outcome.output["result"] == "hello"
        assert outcome.granted == (f"network 127.0.0.1:{site}",)
    else:
        assert outcome.error.kind == "denied"
        assert f"127.0.0.1:{site}" in outcome.error.message


async def test_a_hostile_file_of_a_library_is_not_started(stage: Stage) -> None:
    stage.add("curious", tool_source("curious", "import __main__\nopen('started', 'w')\nreturn OutputModel(result=1)"))
    script = Script([calling(call("curious", {"x": 1})), "1"], [{"required_tool_names": ["curious"]}])
    result = await stage.play(script, "retrieval.candidates=0")
    assert all(one.outcome.error.kind in ("denied", "unknown_tool") for one in result.invocations)
    assert not (stage.root / "run" / "tasks" / "task" / "workspace" / "started").exists()


async def test_a_tool_that_declares_itself_pure_is_not_believed(stage: Stage) -> None:
    stage.add("adder", tool_source("adder", "return OutputModel(result=eval('1 + 1'))", effects="pure"))
    steps = [calling(call("adder", {"x": 1}, "first")), calling(call("adder", {"x": 1}, "second")), "2"]
    await stage.play(Script(steps, [{"required_tool_names": ["adder"]}]))
    assert [event.reused for event in stage.sink.of("tool_call_ended")] == [False, False]
