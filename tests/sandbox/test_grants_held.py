"""A call gets what it was granted and nothing beside it, at each back end; what it was refused is said with names."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from habilis.contract.capabilities import Capabilities, Grant
from habilis.contract.runnable import Runnable
from habilis.core.masker import Masker
from habilis.core.types import CallError, CallOutcome
from habilis.runtime.calls import CallSpec
from habilis.runtime.enforcing import told
from habilis.runtime.grants import Grants
from habilis.runtime.host import ToolHost
from habilis.sandbox.backends.probing import missing

from ..sites import serving

pytestmark = pytest.mark.sandbox
MakeTool = Callable[..., Runnable]
MakeHost = Callable[..., ToolHost]
SECRET = 'sk-"planted"/secret+1 2'


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", SECRET)
    monkeypatch.setenv("NEIGHBOURS_TOKEN", "sk-neighbour")


async def test_a_variable_reaches_the_tool_that_was_granted_it_and_its_value_comes_back_nowhere(
    level: str, host_with: MakeHost, tool: MakeTool, workspace: Path
) -> None:
    body = """
    import base64, json, os, urllib.parse
    secret = os.environ["API_TOKEN"]
    print("using", secret)
    if input.number:
        raise RuntimeError("refused: " + secret)
    forms = [secret, json.dumps(secret), urllib.parse.quote(secret), base64.b64encode(secret.encode()).decode()]
    return OutputModel(value={secret: forms, "length": len(secret), "all": sorted(os.environ)})
    """
    host, reader = host_with(level), tool(body)
    grant = Grant(env=("API_TOKEN",))
    given = await host.call(CallSpec(reader, {}, workspace=workspace, grant=grant))
    assert given.granted == ("env API_TOKEN",)
    value = given.output["value"]
    assert value["length"] == len(SECRET)
    assert "NEIGHBOURS_TOKEN" not in value["all"]
    assert value["[API_TOKEN]"][0] == "[API_TOKEN]"
    failed = await host.call(CallSpec(reader, {"number": 1}, workspace=workspace, grant=grant))
    assert failed.error is not None
    assert "[API_TOKEN]" in failed.error.message
    for outcome in (given, failed):
        text = outcome.model_dump_json()
        assert "planted" not in text
        assert "c2stIn" not in text  # the beginning of its base64
    without = await host.call(CallSpec(reader, {}, workspace=workspace))
    assert without.error is not None
    assert without.error.exception == "KeyError"
    told_why = await host.call(
        CallSpec(reader, {}, workspace=workspace, grant=Grant(denied=("env API_TOKEN: not in sandbox.env_allow",)))
    )
    assert told_why.error is not None
    assert told_why.error.kind == "denied"
    assert "sandbox.env_allow" in told_why.error.message


async def test_variables_come_from_the_environment_that_was_decided_on(
    level: str, host_with: MakeHost, tool: MakeTool, workspace: Path
) -> None:
    """Neither does a call get another value than the one that was looked at, nor its record name one that it lacks."""
    names = ("API_TOKEN", "NEIGHBOURS_TOKEN", "ONLY_THERE")
    environ = {"API_TOKEN": "another-value", "ONLY_THERE": "there-alone"}
    found = f"found = [n for n in {names} if n in os.environ]"
    reader = tool(f"import os\n{found}\nreturn OutputModel(value=[*found, len(os.environ[found[0]])])")
    grant = await Grants(env_allow=names, environ=environ).decide("tool", "v1", Capabilities(env=names))
    assert grant.env == ("API_TOKEN", "ONLY_THERE")
    given = await host_with(level).call(CallSpec(reader, {}, workspace=workspace, grant=grant))
    assert given.output["value"] == ["API_TOKEN", "ONLY_THERE", len("another-value")]
    assert given.granted == ("env API_TOKEN", "env ONLY_THERE")
    assert given.refused == ("env NEIGHBOURS_TOKEN: not set in the environment",)
    assert "another-value" not in repr(grant) + grant.model_dump_json()


async def test_a_variable_that_is_gone_by_the_time_of_the_call_is_not_said_to_be_given(
    level: str, host_with: MakeHost, tool: MakeTool, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("API_TOKEN")
    reader = tool("import os\nreturn OutputModel(value='API_TOKEN' in os.environ)")
    grant = Grant(env=("API_TOKEN", "NEIGHBOURS_TOKEN"))
    outcome = await host_with(level).call(CallSpec(reader, {}, workspace=workspace, grant=grant))
    assert outcome.output["value"] is False
    assert outcome.granted == ("env NEIGHBOURS_TOKEN",)
    assert outcome.refused == ("env API_TOKEN: not set in the environment",)


async def test_a_path_is_readable_while_it_is_granted_and_never_writable(
    level: str, host_with: MakeHost, tool: MakeTool, workspace: Path, tmp_path: Path
) -> None:
    given = tmp_path / "tables"
    given.mkdir()
    (given / "a.csv").write_text("of the table")
    (tmp_path / "beside.csv").write_text("of the neighbour")
    body = """
    if input.number:
        open(input.path, "w").write("changed")
    return OutputModel(value=open(input.path).read())
    """
    host, reader = host_with(level), tool(body)

    async def read(path: Path, number: int = 0, grant: Grant | None = None) -> CallOutcome:
        return await host.call(
            CallSpec(reader, {"path": str(path), "number": number}, workspace=workspace, grant=grant)
        )

    grant = Grant(read=(str(given),))
    assert (await read(given / "a.csv", grant=grant)).output["value"] == "of the table"
    for refused in (
        await read(tmp_path / "beside.csv", grant=grant),
        await read(given / "a.csv", 1, grant=grant),
        await read(given / "a.csv"),
    ):
        assert refused.error is not None
        assert refused.error.kind == "denied"
    assert (given / "a.csv").read_text() == "of the table"


async def test_memory_and_time_are_those_of_the_grant(
    level: str, host_with: MakeHost, tool: MakeTool, workspace: Path
) -> None:
    host = host_with(level, memory_mb=256, tool_timeout_s=30)
    eater = tool("return OutputModel(value=len(bytearray(input.number << 20)))")
    more = await host.call(CallSpec(eater, {"number": 400}, workspace=workspace, grant=Grant(memory_mb=1024)))
    assert more.output["value"] == 400 << 20
    assert (await host.call(CallSpec(eater, {"number": 400}, workspace=workspace))).error is not None
    endless = tool("while True: pass", name="endless")
    ended = await host.call(CallSpec(endless, {}, workspace=workspace, grant=Grant(timeout_s=0.5)))
    assert ended.error is not None
    assert (ended.error.kind, "0.5 s" in ended.error.message) == ("timeout", True)


# ---- hosts


@pytest.fixture
async def site() -> AsyncIterator[int]:
    """A web server of this machine that says `hello`; its port."""
    async with serving(lambda *_: b"hello") as found:
        yield found.port


FETCH = """
import urllib.error, urllib.request
found = []
for host in input.path.split():
    try:
        found.append(urllib.request.urlopen(f"http://{host}/", timeout=5).read().decode())
    except urllib.error.URLError as error:
        if input.number:
            return OutputModel(error=str(error))
        found.append("refused")
return OutputModel(value=found)
"""


async def test_a_granted_host_is_reached_and_another_is_refused_by_name(
    level: str, host_with: MakeHost, tool: MakeTool, workspace: Path, site: int
) -> None:
    host, fetch = host_with(level), tool(FETCH)
    grant = Grant(network=(f"localhost:{site}",), any_host=True)
    arguments = {"path": f"localhost:{site} other.example.org"}
    try:
        both = await host.call(CallSpec(fetch, arguments, workspace=workspace, grant=grant))
        assert both.output["value"] == ["hello", "refused"]
        assert both.granted == (f"network localhost:{site}",)
        assert [reason.partition(": ")[0] for reason in both.refused] == ["network other.example.org"]
        failed = await host.call(CallSpec(fetch, {**arguments, "number": 1}, workspace=workspace, grant=grant))
        assert failed.error is not None
        assert failed.error.kind == "denied"
        assert "other.example.org" in failed.error.message
        assert "capabilities" in failed.error.message
        watched = await host.call(CallSpec(fetch, arguments, workspace=workspace, grant=Grant(watched=True)))
        assert watched.output["value"] == ["refused", "refused"]
        assert len(watched.refused) == (2 if level == "bubblewrap" else 0)
        without = await host.call(CallSpec(fetch, {**arguments, "number": 1}, workspace=workspace))
        assert without.output["error"]
    finally:
        await host.aclose()


async def test_behind_one_wall_alone_hosts_are_given_only_where_any_may_be(
    host_with: MakeHost, tool: MakeTool, workspace: Path
) -> None:
    if problem := missing("landlock"):
        pytest.skip(f"landlock: {problem}")
    host, touching = host_with("landlock"), tool("open('started', 'w')\nreturn OutputModel()")
    for hosts in (("example.org",), ("*",)):
        outcome = await host.call(CallSpec(touching, {}, workspace=workspace, grant=Grant(network=hosts)))
        assert outcome.error is not None
        assert outcome.error.kind == "denied"
        assert "capabilities.network is any" in outcome.error.message
        assert outcome.refused
    assert not (workspace / "started").exists()
    given = await host.call(
        CallSpec(touching, {}, workspace=workspace, grant=Grant(network=("example.org",), any_host=True))
    )
    assert (given.error, given.granted) == (None, ("network example.org",))


# ---- what is said


def test_a_failure_for_another_reason_stays_what_it_is() -> None:
    grant = Grant(denied=("env OTHER: not in sandbox.env_allow", "network a.org: nobody is there to be asked"))
    crashed = CallOutcome(error=CallError(kind="crashed", message="ZeroDivisionError", exception="ZeroDivisionError"))
    late = CallOutcome(error=CallError(kind="timeout", message="stopped"))
    for outcome in (crashed, late):
        assert told(outcome, grant).error == outcome.error
        assert told(outcome, grant).refused == grant.denied
    fine = CallOutcome(output={"value": 1})
    assert told(fine, grant).output == {"value": 1}
    said = told(CallOutcome(output={"value": None, "error": "cannot connect"}), grant)
    assert said.error is not None
    assert (said.error.kind, said.output) == ("denied", None)
    assert "cannot connect" in said.error.message
    lacking = told(CallOutcome(output={"error": "set OTHER first"}), Grant(denied=grant.denied[:1]))
    assert lacking.error is not None
    assert told(CallOutcome(output={"error": "no such row"}), Grant(denied=grant.denied[:1])).error is None


def test_a_short_value_tears_no_text() -> None:
    outcome = CallOutcome(output={"value": "1 is true in eu"})
    assert Masker({"A": "1", "B": "true", "C": "eu", "D": ""}).outcome(outcome) == outcome


def test_a_secret_of_digits_or_many_lines_is_found() -> None:
    secrets = Masker({"PIN": "12345678", "KEY": "-----BEGIN\nMIIEvQIBADAN\n-----END"})
    shown = secrets.value({"pin": 12345678, "line": "has MIIEvQIBADAN in it", "code": 12345678.0})
    assert shown == {"pin": "[PIN]", "line": "has [KEY] in it", "code": 12345678.0}


def test_a_secret_that_was_cut_in_two_leaves_no_piece() -> None:
    secrets = Masker({"API_TOKEN": "sk-planted-token"})
    message = "exit code 1; it printed: planted-token and sk-planted-to …"
    outcome = CallOutcome(
        error=CallError(kind="crashed", message=message), printed="ed-token\nfine\nsk-planted-token sk-plant"
    )
    shown = secrets.outcome(outcome)
    assert shown.error is not None
    assert shown.error.message == "exit code 1; it printed: [API_TOKEN] and [API_TOKEN] …"
    assert shown.printed == "[API_TOKEN]\nfine\n[API_TOKEN] [API_TOKEN]"
