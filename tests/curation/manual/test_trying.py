"""Tools that nobody has called get calls that pin what they do, and nothing that nobody could rely on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from habilis.config import load_settings
from habilis.contract.records import counted
from habilis.curation.manual.duplicates import duplicates
from habilis.curation.manual.tending import Tending
from habilis.curation.manual.trying import Proved, TriedTools, try_tools
from habilis.library import Library
from habilis.library.generations import Generations
from habilis.synthesis.first_calls import first_calls
from habilis.testing import ScriptedModel

from ..merging.conftest import module

SETTINGS = load_settings(environ={})


class Shelf:
    """A library of foreign tools, none of them called."""

    def __init__(self, path: Path, host: Any, put: Callable[..., Any]) -> None:
        self.path, self.host, self._put = path, host, put

    @property
    def library(self) -> Library:
        return Library(self.path)

    async def has(self, name: str, body: str, takes: str = "number: int", gives: str = "value: float | None") -> None:
        await self._put(self.library, module(name, body, takes, gives), name, self.host)

    async def tried(self, names: Sequence[str] = (), *script: Any, **settings: Any) -> TriedTools:
        """With `script` a model that gives these replies is set."""
        self.model = ScriptedModel(script=list(script))
        clients = (lambda *_: self.model) if script else None
        chosen = SETTINGS.model_copy(update=settings)
        return await try_tools(self.library, names or self.library.names(), chosen, host=self.host, clients=clients)

    async def proved(self) -> dict[str, Proved]:
        """Tries all tools, and keeps what held."""
        tried = await self.tried()
        await self.tending().keep_calls("prove all tools", tried.calls, tried.contents)
        return {one.name: one for one in tried.proved}

    def tending(self) -> Tending:
        return Tending(self.path, SETTINGS, host=self.host)


@pytest.fixture
def shelf(tmp_path: Path, in_process_host: Any, put_tool: Callable[..., Any]) -> Shelf:
    return Shelf(tmp_path / "library", in_process_host, put_tool)


async def test_a_tool_gets_calls_that_bind_and_prove_no_use(shelf: Shelf) -> None:
    await shelf.has("twice", "    return OutputModel(value=2 * input.number)")
    proved = (await shelf.proved())["twice"]
    assert (proved.ending, proved.calls >= 5, proved.known) == ("proved", True, 0)
    calls = shelf.library.records("twice")
    assert {call.kind for call in calls} == {"tried"}
    assert all(call.output["value"] == 2 * call.arguments["number"] for call in calls)
    assert counted(calls)["calls"] == 0
    before = Generations(shelf.path).current()
    assert (await shelf.proved())["twice"].calls == 0  # once is enough
    assert Generations(shelf.path).current() == before


async def test_what_gives_something_else_each_time_is_not_kept(shelf: Shelf) -> None:
    await shelf.has("dice", "    import random\n    return OutputModel(value=random.random())")
    dice = (await shelf.tried()).proved[0]
    assert (dice.ending, dice.calls, dice.why) == ("failed", 0, "it gives something else each time")


async def test_a_tool_that_fails_says_why(shelf: Shelf) -> None:
    await shelf.has("never", "    raise ValueError('the moon is not full')")
    never = (await shelf.tried()).proved[0]
    assert never.ending == "failed"
    assert "the moon is not full" in never.why


async def test_what_reaches_hosts_is_not_called(shelf: Shelf) -> None:
    body = "    import urllib.request\n    text = urllib.request.urlopen('https://example.org/').read()\n"
    await shelf.has("fetch", body + "    return OutputModel(value=len(text))")
    (fetch,) = (await shelf.tried()).proved
    assert (fetch.ending, fetch.tries) == ("network", 0)
    assert "example.org" in fetch.why


async def test_a_file_is_made_for_a_tool_that_wants_one(shelf: Shelf) -> None:
    body = "    with open(input.csv_path, encoding='utf-8') as stream:\n"
    body += "        return OutputModel(value=len(stream.readlines()))"
    await shelf.has("rows", body, "csv_path: str")
    rows = (await shelf.proved())["rows"]
    assert rows.ending == "proved"
    call = shelf.library.records("rows")[0]
    assert call.replayable
    assert all(shelf.library.content(digest) for digest in call.files.values())


async def test_what_was_stopped_keeps_what_is_done(shelf: Shelf) -> None:
    for name in ("aaa", "bbb", "ccc", "ddd"):
        await shelf.has(name, "    return OutputModel(value=2 * input.number)")
    done: list[Proved] = []
    tried = await try_tools(
        shelf.library, shelf.library.names(), SETTINGS, host=shelf.host, told=done.append, stopped=lambda: bool(done)
    )
    assert 0 < len(tried.proved) < 4
    assert tried.calls.keys() == {one.name for one in tried.proved}


async def test_tools_of_equal_code_with_one_single_result_are_proposed_and_merged(shelf: Shelf) -> None:
    for name in ("room", "lab"):
        await shelf.has(name, "    return OutputModel(value=293.15)", "unit: str = 'K'")
    (pair,), left = await duplicates(shelf.library, SETTINGS, host=shelf.host)
    assert (pair.verdict in ("equal", "same"), left) == (True, 0)
    await shelf.proved()
    (pair,), _ = await duplicates(shelf.library, SETTINGS, host=shelf.host)
    assert (pair.verdict, pair.same > 0) == ("same", True)
    report = await shelf.tending().merge(["room", "lab"])
    assert len(shelf.library.names()) == 1, report.evidence
    assert any("their code is equal" in line for line in report.evidence)


async def test_one_single_result_of_other_code_is_not_enough(shelf: Shelf) -> None:
    from habilis.curation.manual.change import ChangeRefused

    await shelf.has("room", "    return OutputModel(value=293.15)", "unit: str = 'K'")
    await shelf.has("lab", "    return OutputModel(value=293 + 0.15)", "unit: str = 'K'")
    await shelf.proved()
    with pytest.raises(ChangeRefused) as refused:
        await shelf.tending().merge(["room", "lab"])
    assert any("distinct results are needed" in line for line in refused.value.evidence)


async def test_calls_that_were_tried_bind_what_would_replace_the_tool(shelf: Shelf) -> None:
    from habilis.curation.manual.change import ChangeRefused

    await shelf.has("twice", "    return OutputModel(value=2 * input.number)")
    await shelf.has("thrice", "    return OutputModel(value=3 * input.number)")
    await shelf.proved()
    with pytest.raises(ChangeRefused):
        await shelf.tending().merge(["twice", "thrice"])


async def test_equal_code_beyond_the_limit_is_proposed_all_the_same(shelf: Shelf) -> None:
    for number in range(6):
        await shelf.has(f"tool_{number}", f"    return OutputModel(value=input.number + {number // 2})")
    found, _ = await duplicates(shelf.library, SETTINGS, limit=1, host=shelf.host)
    assert {one.tools for one in found if one.verdict in ("equal", "same")} >= {
        ("tool_0", "tool_1"),
        ("tool_2", "tool_3"),
        ("tool_4", "tool_5"),
    }


SHOWN = '''
def run(input):
    """Adds.

    >>> run(InputModel(first=2, second=40))
    {"first": 1, "second": 5}
    {"other": 1}
    """
'''


def test_calls_that_a_docstring_shows_come_first() -> None:
    schema = {"properties": {"first": {"type": "integer"}, "second": {"type": "integer"}}, "required": ["first"]}
    found = [given.arguments for given in first_calls(SHOWN, schema, "seed")]
    assert found[:2] == [{"first": 2, "second": 40}, {"first": 1, "second": 5}]
    assert {"other": 1} not in found


@pytest.mark.parametrize(
    ("name", "said", "fits"),
    [
        ("share", {"type": "number", "minimum": 0, "maximum": 1}, lambda v: 0 <= v <= 1),
        ("count", {"type": "integer", "minimum": 1000}, lambda v: v >= 1000),
        ("day", {"type": "string", "format": "date"}, lambda v: len(v) == 10),
        ("unit", {"type": "string", "description": "one of: km, m, or cm"}, lambda v: v in ("km", "m", "cm")),
        ("kind", {"enum": ["a", "b"]}, lambda v: v in ("a", "b")),
        ("values", {"type": "array", "items": {"type": "number"}, "minItems": 5}, lambda v: len(v) >= 5),
        ("maybe", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, lambda v: isinstance(v, int)),
        ("point", {"$ref": "#/$defs/Point"}, lambda v: set(v) == {"x"}),
        ("loop", {"$ref": "#/$defs/Loop"}, None),
    ],
)
def test_values_fit_what_the_schema_says(name: str, said: Any, fits: Any) -> None:
    points = {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}
    loop = {"type": "object", "properties": {"in": {"$ref": "#/$defs/Loop"}}, "required": ["in"]}
    schema = {"properties": {name: said}, "required": [name], "$defs": {"Point": points, "Loop": loop}}
    found = [given.arguments[name] for given in first_calls("", schema, "seed")]
    assert not found if fits is None else found and all(map(fits, found))


PICKY = """    if not input.code.startswith('QX-'):
        raise ValueError('no code of ours')
    return OutputModel(value=float(len(input.code)))"""
GOOD_CALLS = """Here they are:
{"arguments": {"code": "QX-1"}}
{"arguments": {"code": "QX-22"}, "files": {}}
{"arguments": {"code": "nothing"}}
"""


async def test_a_model_is_asked_once_where_nothing_else_gives_a_result(shelf: Shelf) -> None:
    await shelf.has("picky", PICKY, "code: str")
    await shelf.has("twice", "    return OutputModel(value=2 * input.number)")
    tried = await shelf.tried((), GOOD_CALLS)
    proved = {one.name: one for one in tried.proved}
    assert (proved["picky"].ending, proved["twice"].ending) == ("proved", "proved")
    assert {"QX-1", "QX-22"} <= {call.arguments["code"] for call in tried.calls["picky"]}
    assert all(call.arguments["code"].startswith("QX-") for call in tried.calls["picky"]), "what fails is not kept"
    assert (tried.asked, tried.usage.model_calls, len(shelf.model.asked)) == (1, 1, 1)
    assert tried.usage.total_tokens > 0
    ((messages, _),) = shelf.model.asked
    assert "no code of ours" in str(messages[-1].content)


async def test_a_model_brings_the_files_that_its_calls_name(shelf: Shelf) -> None:
    body = "    lines = open(input.path, encoding='utf-8').read().split('\\n')\n"
    body += "    assert lines[0] == 'head-of-ours'\n    return OutputModel(value=float(lines[1]))"
    await shelf.has("reader", body, "path: str")
    said = '{"arguments": {"path": "in.txt"}, "files": {"in.txt": "head-of-ours\\n7"}}'
    tried = await shelf.tried((), said)
    assert tried.proved[0].ending == "proved"
    assert tried.calls["reader"][0].output["value"] == 7


@pytest.mark.parametrize("reply", ["I cannot say.", '{"arguments": {"code": "x"}}', "", '{"arguments": 7} {"argu'])
async def test_a_model_that_helps_nothing_leaves_the_tool_unproved(shelf: Shelf, reply: str) -> None:
    await shelf.has("picky", PICKY, "code: str")
    tried = await shelf.tried((), *[reply] * 4)
    assert (tried.proved[0].ending, tried.proved[0].why, tried.calls["picky"]) == (
        "failed",
        "ValueError: no code of ours",
        [],
    )
    assert tried.asked == 1


async def test_a_model_that_cannot_be_reached_is_not_asked_again(shelf: Shelf) -> None:
    for name in ("picky", "choosy", "fussy", "dainty"):
        await shelf.has(name, PICKY, "code: str")
    roles = SETTINGS.models.model_copy(update={"basic": SETTINGS.models.basic.model_copy(update={"max_retries": 0})})
    tried = await shelf.tried((), *[ConnectionError("nobody there")] * 9, models=roles)
    assert {one.ending for one in tried.proved} == {"failed"}
    assert tried.not_asked
    assert len(shelf.model.asked) <= 2, "two tools are tried side by side"


async def test_the_limits_hold_for_all_tools_together(shelf: Shelf) -> None:
    for name in ("picky", "choosy", "fussy", "dainty"):
        await shelf.has(name, PICKY, "code: str")
    limits = SETTINGS.limits.model_copy(update={"max_tokens": 10})
    tried = await shelf.tried((), *["nothing"] * 9, limits=limits)
    assert "budget" in tried.not_asked
    assert len(shelf.model.asked) <= 2


async def test_the_offline_model_is_not_asked(shelf: Shelf) -> None:
    await shelf.has("picky", PICKY, "code: str")
    tried = await shelf.tried()
    assert (tried.proved[0].ending, tried.asked, tried.usage.model_calls, tried.not_asked) == ("failed", 0, 0, "")
