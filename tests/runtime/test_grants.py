"""Who decides what a tool gets: settings, and a person, who is asked once for each version and need."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from habilis.config import CapabilitiesSettings
from habilis.contract.capabilities import Capabilities, Grant
from habilis.core.errors import Interrupted, UserError
from habilis.core.types import CallOutcome
from habilis.library import Library
from habilis.models.tape import Tape
from habilis.runtime.grants import Grants
from habilis.testing import RecordingSink, ScriptedGranter

NETWORK = Capabilities(network=("api.example.org",))


def source(name: str, body: str, *, meta: str = "") -> str:
    """The source of a small tool; the body of its `run` begins at line 7."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return (
        "from pydantic import BaseModel\n"
        f"__TOOL_META__ = {{'name': '{name}', 'description': 'Does {name}.', 'dependencies': [], {meta}}}\n"
        "class InputModel(BaseModel): ...\nclass OutputModel(BaseModel):\n    result: str | None = None\n"
        f"def run(input: InputModel) -> OutputModel:\n{lines}\n"
    )


def grants(granter: ScriptedGranter | None = None, **options: Any) -> Grants:
    rules = {k: options.pop(k) for k in list(options) if k in CapabilitiesSettings.model_fields}
    return Grants(CapabilitiesSettings(**rules), granter=granter, environ={"TOKEN": "secret", "BLANK": ""}, **options)


async def decided(needs: Capabilities, granter: ScriptedGranter | None = None, **options: Any) -> Grant:
    return await grants(granter, **options).decide("tool", "v1", needs)


async def test_a_tool_that_needs_nothing_is_given_nothing_and_nobody_is_asked() -> None:
    person = ScriptedGranter(otherwise=True)
    assert await decided(Capabilities(), person) == Grant()
    assert (await decided(Capabilities(timeout_s=5, subprocess=True), person)).empty
    assert person.asked == []


@pytest.mark.parametrize(
    ("rules", "person", "network", "reason"),
    [
        ({"network": "deny"}, True, (), "capabilities.network is deny"),
        ({"network": "deny", "network_list": ("*",)}, True, (), "capabilities.network is deny"),
        ({"network": "ask"}, None, (), "nobody is there to be asked"),
        ({"network": "ask"}, True, ("api.example.org",), None),
        ({"network": "ask"}, False, (), "not allowed when asked"),
        ({"network": "ask", "network_list": ("*.example.org",)}, None, ("api.example.org",), None),
        ({"network": "listed", "network_list": ("https://API.example.org/",)}, False, ("api.example.org",), None),
        ({"network": "listed", "network_list": ("example.org",)}, True, (), "not in capabilities.network_list"),
        ({"network": "any"}, None, ("api.example.org",), None),
    ],
)
async def test_hosts(rules: dict[str, Any], person: bool | None, network: tuple[str, ...], reason: str | None) -> None:
    granter = None if person is None else ScriptedGranter(otherwise=person)
    grant = await decided(NETWORK, granter, **rules)
    assert grant.network == network
    assert grant.any_host == (rules["network"] == "any")
    assert [reason in text for text in grant.denied] == ([] if reason is None else [True])


async def test_an_unknown_host_is_nothing_to_ask_for() -> None:
    person, unknown = ScriptedGranter(otherwise=True), Capabilities(unknown_host=True)
    grant = await decided(unknown, person)
    assert (grant.network, grant.watched, person.asked) == ((), True, [])
    assert (await decided(unknown, network="any")).network == ("*",)
    listed = await decided(unknown, network="listed", network_list=("a.org", "b.org"))
    assert listed.network == ("a.org", "b.org")
    assert not (await decided(unknown)).watched


async def test_a_tool_that_reaches_anywhere_gets_what_is_listed() -> None:
    grant = await decided(Capabilities(network=("*",)), network="listed", network_list=("a.org",))
    assert grant.network == ("a.org",)


async def test_variables_need_to_be_allowed_and_there() -> None:
    grant = await decided(Capabilities(env=("TOKEN", "OTHER", "BLANK")), env_allow=("TOKEN", "BLANK"))
    assert grant.env == ("TOKEN",)
    assert grant.denied == ("env OTHER: not in sandbox.env_allow", "env BLANK: not set in the environment")
    assert "secret" not in grant.model_dump_json()


async def test_paths_need_to_be_listed_where_their_links_lead(tmp_path: Path) -> None:
    (tmp_path / "listed").mkdir()
    (tmp_path / "listed" / "a.csv").touch()
    (tmp_path / "listed" / "away").symlink_to("/etc")
    (tmp_path / "listed_too").mkdir()
    (tmp_path / "task.csv").touch()
    asked = [f"{tmp_path}/{name}" for name in ("listed/a.csv", "listed/away", "listed_too", "listed/no", "task.csv")]
    needs = Capabilities(read=tuple(asked))
    rules = {"read_list": (str(tmp_path / "listed"),), "files": [tmp_path / "task.csv"]}
    grant = await decided(needs, **rules)
    assert grant.read == (asked[0],)
    assert len(grant.denied) == 3  # the task's own file is read without any grant
    assert (await decided(needs, files=[tmp_path / "task.csv"])).read == ()


async def test_limits_are_cut_to_what_settings_allow_and_programs_refused() -> None:
    needs = Capabilities(timeout_s=900, memory_mb=8192, subprocess=True)
    grant = await decided(needs, max_timeout_s=600, max_memory_mb=2048, subprocess="deny")
    assert (grant.timeout_s, grant.memory_mb, grant.subprocess) == (600, 2048, False)
    assert grant.denied == (
        "subprocess: capabilities.subprocess is deny",
        "timeout 900: cut to 600 (capabilities.max_timeout_s)",
        "memory 8192: cut to 2048 (capabilities.max_memory_mb)",
    )
    just = await decided(Capabilities(timeout_s=600, memory_mb=2048), max_timeout_s=600, max_memory_mb=2048)
    assert (just.timeout_s, just.memory_mb, just.denied) == (600, 2048, ())


def test_a_list_that_names_no_host_is_the_users_to_mend() -> None:
    with pytest.raises(UserError, match=r"capabilities.network_list: 'a b'"):
        Grants(CapabilitiesSettings(network_list=("a b",)))


# ---- asking


async def test_concurrent_calls_of_a_tool_ask_once_and_a_new_version_again() -> None:
    person, sink = ScriptedGranter(otherwise=True), RecordingSink()
    desk = grants(person, emit=sink.emit)
    given = await asyncio.gather(*(desk.decide("tool", "v1", NETWORK) for _ in range(20)))
    assert {grant.network for grant in given} == {("api.example.org",)}
    assert len(person.asked) == 1
    assert [event.granted for event in sink.of("grant_decided")] == [("network api.example.org",)]
    await desk.decide("tool", "v1", NETWORK.model_copy(update={"network": ("api.example.org", "b.org")}))
    assert person.asked[-1].needs == ("network b.org",)
    await desk.decide("tool", "v2", NETWORK)
    assert len(person.asked) == 3


async def test_an_answer_is_remembered_over_a_resume(tmp_path: Path) -> None:
    for said in (True, False):
        tape = Tape(tmp_path / f"{said}.jsonl")
        await decided(NETWORK, ScriptedGranter(otherwise=said), tape=tape)
        tape.close()
        again = ScriptedGranter(otherwise=not said)
        reopened = Tape(tmp_path / f"{said}.jsonl")
        assert bool((await decided(NETWORK, again, tape=reopened)).network) is said
        assert again.asked == []
        reopened.close()


async def test_who_says_nothing_is_asked_again_after_a_resume_only(tmp_path: Path) -> None:
    tape, person = Tape(tmp_path / "t.jsonl"), ScriptedGranter(otherwise=None)
    desk = grants(person, tape=tape)
    assert (await desk.decide("tool", "v1", NETWORK)).network == ()
    await desk.decide("tool", "v1", NETWORK)
    assert len(person.asked) == 1
    assert (await decided(NETWORK, ScriptedGranter(otherwise=True), tape=tape)).network == ("api.example.org",)
    tape.close()


async def test_ending_the_run_at_a_question_asks_no_further_one() -> None:
    person = ScriptedGranter(otherwise=Interrupted("ended"))
    desk = grants(person)
    asked = [desk.decide(f"tool{n}", "v1", NETWORK) for n in range(3)]
    results = await asyncio.gather(*asked, return_exceptions=True)
    assert all(isinstance(result, Interrupted) for result in results)
    with pytest.raises(Interrupted):
        await desk.decide("tool9", "v1", NETWORK)
    assert len(person.asked) == 1


async def test_a_host_that_showed_only_now_is_asked_for_next() -> None:
    person = ScriptedGranter(says={"network shown.example.org": True})
    desk = grants(person)
    unknown = Capabilities(unknown_host=True)
    assert (await desk.decide("tool", "v1", unknown)).watched
    outcome = CallOutcome(refused=("network shown.example.org: not granted",))
    assert desk.learn("tool", "v1", outcome, {}).network == ("shown.example.org",)
    assert desk.learn("tool", "v1", outcome, {}).network == ()
    assert (await desk.decide("tool", "v1", unknown)).network == ("shown.example.org",)
    assert (await desk.decide("tool", "v2", unknown)).network == ()


# ---- tools of a library


async def test_what_a_tool_cannot_work_without_is_named(tmp_path: Path, put_tool: Callable[..., Any]) -> None:
    library = Library(tmp_path)
    sources = {
        "token": source("token", "import os\nreturn OutputModel(result=os.environ['OTHER'])"),
        "region": source("region", "import os\nreturn OutputModel(result=os.getenv('REGION', 'eu'))"),
        "page": source("page", "import urllib.request\nreturn OutputModel()"),
        "host": source("host", "return OutputModel()", meta="'capabilities': {'network': ['api.example.org']}"),
        "table": source("table", "return OutputModel()", meta="'capabilities': {'read': ['/data/tables']}"),
        "program": source("program", "import subprocess\nreturn OutputModel()"),
        "guest": source("guest", "import __main__\nreturn OutputModel()"),
        "plain": source("plain", "return OutputModel(result='1')"),
    }
    tools = {name: await put_tool(library, text, name) for name, text in sources.items()}
    desk = grants(subprocess="deny")
    missing = {name: desk.missing(tool) for name, tool in tools.items() if desk.missing(tool)}
    assert {name: reasons[0].partition(":")[0] for name, reasons in missing.items()} == {
        "token": "env OTHER",
        "page": "network",
        "host": "network api.example.org",
        "table": "read /data/tables",
        "program": "subprocess",
        "guest": "line 7",
    }
    asked = grants(ScriptedGranter(), constructs="warn")
    assert not any(asked.missing(tools[name]) for name in ("page", "host", "program", "guest", "plain"))


async def test_a_source_that_no_tool_should_hold_is_refused_by_its_lines_unless_settings_only_warn(
    tmp_path: Path, put_tool: Callable[..., Any]
) -> None:
    library = Library(tmp_path)
    guest = await put_tool(library, source("guest", "import __main__\nreturn OutputModel()"), "guest")
    plain = await put_tool(library, source("plain", "return OutputModel(result='1')"), "plain")
    (fault,) = grants(constructs="refuse").faults_of(guest)
    assert fault.startswith("line 7: ")
    assert grants(constructs="refuse").faults_of(plain) == ()
    assert grants(constructs="warn").faults_of(guest) == ()


async def test_what_is_there_for_a_tool_is_not_missing_and_what_is_not_names_the_setting(
    tmp_path: Path, put_tool: Callable[..., Any]
) -> None:
    table, listed = tmp_path / "data" / "table.csv", tmp_path / "listed"
    for folder in (table.parent, listed):
        folder.mkdir()
    table.write_text("1")
    meta = f"'capabilities': {{'read': ['{table}', '{listed}'], 'env': ['TOKEN']}}"
    tool = await put_tool(Library(tmp_path / "tools"), source("t", "return OutputModel()", meta=meta), "t")
    assert grants(env_allow=("TOKEN",), files=[table.parent], read_list=(str(listed),)).missing(tool) == ()
    assert grants().missing(tool) == (
        *(f"read {path}: not below capabilities.read_list, or not there" for path in (table, listed)),
        "env TOKEN: not in sandbox.env_allow",
    )


async def test_what_was_decided_is_told_once_with_who_decided(tmp_path: Path) -> None:
    sink = RecordingSink()
    needs = Capabilities(network=("api.example.org", "b.org"))
    person = ScriptedGranter(otherwise=True)
    desk = grants(person, network="ask", network_list=("b.org",), emit=sink.emit)
    for _ in range(2):
        assert set((await desk.decide("tool", "v1", needs)).network) == {"api.example.org", "b.org"}
    await desk.decide("tool", "v2", Capabilities(network=("b.org",)))
    assert [(event.version, event.by) for event in sink.of("grant_decided")] == [("v1", "person"), ("v2", "settings")]
    assert len(person.asked) == 1


async def test_a_tool_of_before_is_read_for_what_it_needs(tmp_path: Path, put_tool: Callable[..., Any]) -> None:
    tool = await put_tool(
        Library(tmp_path), source("t", "import os\nreturn OutputModel(result=os.environ['TOKEN'])"), "t"
    )
    old = tool.manifest.model_copy(update={"capabilities": Capabilities(), "inspected": False, "timeout_s": 7.0})
    grant = await grants(env_allow=("TOKEN",)).of(tool.model_copy(update={"manifest": old}))
    assert grant.env == ("TOKEN",)


async def test_a_tool_whose_source_is_gone_is_given_what_its_manifest_says(
    tmp_path: Path, put_tool: Callable[..., Any]
) -> None:
    tool = await put_tool(Library(tmp_path), source("t", "return OutputModel()"), "t")
    needs = Capabilities(env=("TOKEN",))
    old = tool.model_copy(
        update={"manifest": tool.manifest.model_copy(update={"capabilities": needs, "inspected": False})}
    )
    tool.path.unlink()
    desk = grants(env_allow=("TOKEN",))
    assert ((await desk.of(old)).env, desk.faults_of(old)) == (("TOKEN",), ())


@pytest.mark.parametrize(("needed", "given"), [(None, 7.0), (5.0, 5.0)])
async def test_the_time_that_a_manifest_of_before_gives_counts_where_the_needs_say_nothing(
    tmp_path: Path, put_tool: Callable[..., Any], needed: float | None, given: float
) -> None:
    tool = await put_tool(Library(tmp_path), source("t", "return OutputModel()"), "t")
    needs = Capabilities(timeout_s=needed)
    old = tool.manifest.model_copy(update={"capabilities": needs, "timeout_s": 7.0})
    desk, old_tool = grants(), tool.model_copy(update={"manifest": old})
    assert (await desk.of(old_tool)).timeout_s == given
    assert desk.needs_of(old_tool) == Capabilities(timeout_s=given)


def test_what_no_answer_could_give_is_said_without_asking() -> None:
    person = ScriptedGranter(otherwise=True)
    assert grants(person).refusals("tool", "v1", NETWORK) == ()
    assert grants(person, network="listed").refusals("tool", "v1", NETWORK) == (
        "network api.example.org: not in capabilities.network_list",
    )
    assert grants().refusals("tool", "v1", NETWORK) != ()
    assert person.asked == []


def test_a_better_version_gets_no_more_by_the_way() -> None:
    more = Capabilities(network=("api.example.org", "b.org"), env=("TOKEN",), optional=("TOKEN",))
    assert grants(ScriptedGranter(otherwise=True)).widened("tool", more, NETWORK) != ()
    assert grants(network="any").widened("tool", more, NETWORK) == ()
    assert grants(network="any").widened("tool", more.model_copy(update={"optional": ()}), NETWORK) == (
        "env TOKEN: not in sandbox.env_allow",
    )
    assert grants().widened("tool", NETWORK, NETWORK) == ()
    assert grants().widened("tool", Capabilities(unknown_host=True), Capabilities()) != ()
