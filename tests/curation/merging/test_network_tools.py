"""Tools of the network in a step: recorded calls are given again, so that they are merged like others; no host is
reached, and what was not recorded stays apart with the reason."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from habilis.contract.capabilities import Grant
from habilis.core.types import Invocation, Traffic
from habilis.curation.ledger.reports import Finished
from habilis.library import LayeredLibrary, Library
from habilis.prompts import Prompts
from habilis.runtime.calls import CallSpec
from habilis.runtime.egress.cassette import Recording
from habilis.runtime.host import ToolHost
from habilis.sandbox.backends.probing import make, missing
from habilis.synthesis.replay import Replayer

from ...sites import Site, serving
from ...toolshop import put
from .conftest import Stage, clusters, endings, module

pytestmark = pytest.mark.sandbox


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """A site that gives rates: the length of what is asked for."""
    async with serving(lambda site, head: b'{"rate": %d}' % len(head.split(b" ")[1])) as found:
        yield found


@pytest.fixture
async def online(stage: Stage, site: Site) -> AsyncIterator[Online]:
    if problem := missing("bubblewrap"):
        pytest.skip(f"bubblewrap: {problem}")
    made = Online(stage, site)
    yield made
    await made.host.aclose()


class Online:
    """A stage whose tools run in the real sandbox and may reach the site."""

    def __init__(self, stage: Stage, site: Site) -> None:
        self.stage, self.site = stage, site
        from habilis.config import SandboxSettings

        self.host = ToolHost(SandboxSettings(), sandbox=make("bubblewrap"))
        self.grant = Grant(network=(f"localhost:{site.port}",))

    def fetching(self, name: str, field: str = "code", path: str = "rates") -> str:
        body = (
            "    import json, urllib.request\n"
            f"    url = f'http://localhost:{self.site.port}/{path}/{{input.{field}}}'\n"
            "    return OutputModel(rate=json.load(urllib.request.urlopen(url, timeout=10))['rate'])"
        )
        source = module(name, body, f"{field}: str", "rate: int | None")
        return source.replace(
            "'examples'", f"'capabilities': {{'network': ['localhost:{self.site.port}']}}, 'examples'"
        )

    async def task(self, task_id: str, name: str, source: str, *codes: str, forget: Traffic | None = None) -> Finished:
        """A task that made the tool `name` and called it with each of `codes`; `forget`: what is known of its traffic
        instead of what passed."""
        stage = self.stage
        ended = await stage.task(task_id)
        private = Library(Path(ended.folder) / "tools")
        tool = await put(private, source, name, stage.host)
        (field,) = tool.input_schema["properties"]
        workspace = Path(ended.folder) / "workspace"
        view = LayeredLibrary(private, Library(stage.library))
        for number, code in enumerate(codes):
            arguments = {field: code}
            outcome = await self.host.call(
                CallSpec(tool.runnable, arguments, workspace=workspace, grant=self.grant, network=Recording(view.keep))
            )
            assert outcome.error is None, outcome.error
            outcome = outcome if forget is None else outcome.model_copy(update={"traffic": forget})
            call = Invocation(
                call_id=f"c{number}",
                tool=name,
                version=tool.version,
                arguments=arguments,
                outcome=outcome,
                effects=tool.effects,
                verdict="success",
            )
            view.record(call, workspace=workspace)
        return ended

    def curator(self, *said: str, policy: str = "best") -> object:
        curator = self.stage.curator(
            *said,
            policy=policy,
            overrides=["capabilities.network=listed", f'capabilities.network_list=["localhost:{self.site.port}"]'],
        )
        curator._host = self.host
        return curator


@pytest.mark.slow
@pytest.mark.promise
async def test_two_that_ask_the_same_host_for_the_same_become_one_and_the_host_is_not_asked(online: Online) -> None:
    codes = ("yen", "lira", "franc", "dollar", "guilder", "sterling")
    one = await online.task("t1", "fetch_rate", online.fetching("fetch_rate"), *codes)
    two = await online.task("t2", "look_up_rate", online.fetching("look_up_rate", "currency"), *codes[:5])
    before = online.site.connections
    report = await online.curator(clusters(["fetch_rate", "look_up_rate"])).step(1, [one, two])
    assert endings(report) == {"t1:fetch_rate": "kept", "t2:look_up_rate": "merged"}, report.evidence
    assert online.stage.get("look_up_rate").manifest.name == "fetch_rate"
    assert online.site.connections == before == 11
    again = await online.curator().step(2, [await online.task("t3", "anew", online.fetching("anew"), "pound")])
    assert again.balanced
    assert online.site.connections == 12
    records = Library(online.stage.library).records("fetch_rate")
    assert all(record.traffic is not None and record.traffic.digest for record in records)


async def test_one_that_asks_for_something_else_stays_apart_and_the_line_names_what_it_asked_for(
    online: Online,
) -> None:
    one = await online.task("t1", "fetch_rate", online.fetching("fetch_rate"), "usd", "euro")
    two = await online.task("t2", "fetch_old_rate", online.fetching("fetch_old_rate", path="RATES"), "usd")
    said = clusters(["fetch_rate", "fetch_old_rate"])
    report = await online.curator(said, policy="naive").step(1, [one, two])
    assert online.stage.names() == ["fetch_old_rate", "fetch_rate"]
    # the other is tried as the one that goes on, since it was called more often
    asked = f"GET http://localhost:{online.site.port}/rates/usd"
    assert any(f"did not ask for: {asked}" in line for line in report.evidence), report.evidence
    assert online.site.connections == 3


async def test_what_was_not_recorded_stays_apart_with_the_reason(online: Online) -> None:
    lost = Traffic(lost="https goes through unseen (capabilities.inspect_https)")
    one = await online.task("t1", "fetch_rate", online.fetching("fetch_rate"), "usd", forget=lost)
    two = await online.task("t2", "look_up_rate", online.fetching("look_up_rate", "currency"), "yen", forget=lost)
    report = await online.curator(clusters(["fetch_rate", "look_up_rate"])).step(1, [one, two])
    assert endings(report) == {"t1:fetch_rate": "kept", "t2:look_up_rate": "kept"}
    assert any(
        "none of its calls can be run again (it reached hosts, and https goes" in line for line in report.evidence
    )
    assert online.site.connections == 2


@pytest.mark.parametrize("live", [True, False])
async def test_a_mended_tool_that_asks_for_another_address_is_tried_on_the_host_inside_its_task_alone(
    online: Online, live: bool
) -> None:
    ended = await online.task("t1", "fetch_rate", online.fetching("fetch_rate"), "usd")
    private = Library(Path(ended.folder) / "tools")
    mended = await put(private, online.fetching("mended", path="RATES"), "mended", online.stage.host)
    old = private.get("fetch_rate")
    assert old is not None
    replayer = Replayer(online.host, LayeredLibrary(private), None, Prompts(), live=live)
    records, scratch = private.records("fetch_rate"), online.stage.folder / "scratch"
    report = await replayer.replay(mended.runnable, old.runnable, records, scratch, grant=online.grant)
    assert (report.replayed, report.ok) == (1, live), report
    assert online.site.connections == 1 + live
    if not live:
        assert "did not ask for: GET http://localhost" in report.failures[0]
