"""The offline model clusters and merges by what tools do, keeps every old call, and spoils its replies only by name."""

from __future__ import annotations

import asyncio
import json
from itertools import combinations

import pytest
from langchain_core.messages import HumanMessage, SystemMessage

from habilis.config import ModelsSettings, RoleSettings
from habilis.contract.contract import read_contract
from habilis.core.errors import UserError
from habilis.demo import MODEL_NAME, OfflineModel, reply
from habilis.demo.faults import FAULTS, OF_CLUSTERS, OF_MERGES, Faults
from habilis.models.client import Clients

SALES = "sales.csv"
TWINS = {
    "column_average": ("What is the average price in sales.csv?", "What is the mean of price in sales.csv?",
                       "What is the typical price in sales.csv?"),
    "convert_unit": ("Convert 5 km to m", "How many m are 5 km?", "Express 5 km in m"),
    "base64_encode": ("Encode 'tide' in base64", "Convert 'tide' to base64"),
    "group_sum": ("What is the total quantity per region in sales.csv?", "sum of quantity by product in sales.csv"),
    "roman": ("Write 14 as a Roman numeral", "Convert 15 to a Roman numeral"),
}  # fmt: skip


def row(tool) -> dict[str, str]:
    """A tool as the prompt shows it: names with their kinds."""
    names = ", ".join(f"{name}: string" for name in tool.card()["parameters"])
    return {"name": tool.name, "description": tool.meta["description"], "parameters": names, "result": "x: number"}


def tools_of(player, questions):
    found = {}
    for question in questions:
        played = player.play(question, [SALES] if SALES in question else [])
        assert played.status == "answered"
        found |= played.tools
    return list(found.values())


def words_on(player, rows, **model) -> list[tuple[str, str, str]]:
    """What is said of each two of some tools: their names and the word, as often as it is said."""
    pairs = [{"one": one["name"], "other": other["name"]} for one, other in combinations(rows, 2)]
    said = json.loads(ask(player, "cluster", {"tools": rows, "pairs": pairs}, **model))["pairs"]
    return [(pair["one"], pair["other"], pair["word"]) for pair in said]


def ask(player, prompt, values, faults: Faults | None = None) -> str:
    rendered = player.prompts.render(prompt, **values)
    return str(reply([SystemMessage(rendered.system), HumanMessage(rendered.user)], faults=faults).content)


def merge_values(tools, calls=()) -> dict:
    rows = [{"name": tool.name, "code": tool.source.strip(), "calls": list(calls)} for tool in tools]
    return {"tools": rows, "failure": ""}


# good replies


def test_twins_are_the_same_and_strangers_are_not(player, loaded):
    groups = [tools_of(player, questions) for questions in TWINS.values()]
    stranger = {
        "name": "paint_fence",
        "description": "Paints a fence.",
        "parameters": "none",
        "result": "colour: string",
    }
    rows = [row(tool) for group in groups for tool in reversed(group)] + [stranger]
    said = words_on(player, sorted(rows, key=lambda one: one["name"]))
    same = {pair for group in groups for pair in combinations(sorted(tool.name for tool in group), 2)}
    assert {(one, other) for one, other, word in said if word == "same"} == same
    assert len(said) == len(rows) * (len(rows) - 1) // 2


@pytest.mark.parametrize("questions", TWINS.values(), ids=TWINS)
def test_a_merged_tool_repeats_every_call_of_the_tools_that_it_replaces(player, loaded, questions):
    recorded = []
    for question in questions:
        played = player.play(question, [SALES] if SALES in question else [])
        (tool,) = played.tools.values()
        for _, arguments in played.calls[-1:]:
            recorded.append((tool, arguments, tool.call(arguments, player.folder)))
    tools = [tool for tool, *_ in recorded]
    source = ask(player, "merge", merge_values(tools)).removeprefix("```python\n").removesuffix("\n```")
    read_contract(source)
    merged = loaded(source)
    assert sorted(merged.meta["aliases"]) == sorted(tool.name for tool in tools)
    assert merged.try_example(player.folder / "example")["error"] is None
    for tool, arguments, output in recorded:
        alias = merged.meta["aliases"][tool.name]
        given = {alias.get("arguments", {}).get(name, name): value for name, value in arguments.items()}
        seen = merged.call(given, player.folder)
        assert {alias.get("fields", {}).get(name, name): value for name, value in seen.items()} == output


def test_tools_of_different_jobs_are_not_made_one(player):
    tools = tools_of(player, [TWINS["roman"][0], TWINS["base64_encode"][0]])
    said = ask(player, "merge", merge_values(tools))
    assert "```" not in said
    assert MODEL_NAME in said


def test_no_two_jobs_have_names_of_the_same_words():
    """Names of the same words, in whatever order, count as one job for the curator."""
    from habilis.demo.understanding import all_operations

    found: dict[tuple[str, ...], str] = {}
    for operation in all_operations():
        for wording in operation.wordings:
            key = tuple(sorted(wording.name.split("_")))
            assert found.setdefault(key, operation.key) == operation.key, wording.name


# faults on purpose


def test_without_its_name_no_fault_is_made(player):
    assert Faults.named(None) is None
    assert Faults.named("gpt-4") is None
    assert OfflineModel().faults is None


@pytest.mark.parametrize("kind", OF_CLUSTERS)
def test_a_cluster_reply_can_be_spoilt_in_each_way(player, kind):
    rows = [row(tool) for tool in tools_of(player, [*TWINS["roman"], *TWINS["base64_encode"]])]
    names = {one["name"] for one in rows}
    faults = Faults.named(f"offline:faulty:{kind}")
    if kind == "rubbish":
        with pytest.raises(json.JSONDecodeError):
            words_on(player, rows, faults=faults)
        return
    good, said = words_on(player, rows), words_on(player, rows, faults=faults)
    assert {
        "incomplete": set(said) < set(good),
        "invented": bool({other for _, other, _ in said} - names),
        "path": any("/" in other for _, other, _ in said),
        "double": len({pair[:2] for pair in said}) * 2 == len(said),
        "overreach": {word for *_, word in said} == {"same"} != {word for *_, word in good},
    }[kind]


@pytest.mark.parametrize("kind", OF_MERGES)
def test_a_merge_reply_can_be_spoilt_in_each_way(player, loaded, kind):
    tools = tools_of(player, TWINS["column_average"])
    said = ask(player, "merge", merge_values(tools), faults=Faults.named(f"offline:faulty:{kind}"))
    if kind == "rubbish":
        assert "```" not in said
        return
    merged = loaded(said.removeprefix("```python\n").removesuffix("\n```"))
    first, aliases = tools[0], merged.meta["aliases"]
    arguments = {"file_path": SALES, "column": "price"}
    if kind == "lossy":
        assert merged.call(arguments, player.folder) != first.call(arguments, player.folder)
    elif kind == "crashing":
        merged.try_example(player.folder / "example")
        with pytest.raises(RuntimeError):
            merged.call(arguments, player.folder)
    elif kind == "wrong_signature":
        assert not {"file_path", "column"} & set(merged.card()["parameters"])
    elif kind == "incomplete":
        assert len(aliases) < len(tools)
    elif kind == "invented":
        assert set(aliases) > {tool.name for tool in tools}
    else:
        assert "/" in merged.name


def test_a_seed_draws_faults_and_good_replies_always_the_same_way(player):
    tools = tools_of(player, TWINS["column_average"])
    replies = {seed: ask(player, "merge", merge_values(tools), Faults(seed=seed)) for seed in range(40)}
    assert replies == {seed: ask(player, "merge", merge_values(tools), Faults(seed=seed)) for seed in range(40)}
    assert ask(player, "merge", merge_values(tools)) in replies.values()
    assert len(set(replies.values())) == len(OF_MERGES) + 1


def test_faults_are_chosen_by_the_models_name_in_the_settings():
    async def model(name):
        settings = ModelsSettings(builder=RoleSettings(provider="offline", model=name))
        return await Clients(settings, lambda text: None).get("builder")

    client = asyncio.run(model("offline:faulty:lossy"))
    assert client.model.faults == Faults(kind="lossy")
    assert client.name == f"{MODEL_NAME}, faulty on purpose"
    assert asyncio.run(model(None)).model.faults is None
    with pytest.raises(UserError, match=f"offline:faulty:evil.*{FAULTS[0]}"):
        asyncio.run(model("offline:faulty:evil"))
