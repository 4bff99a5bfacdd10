"""`web_search`: results of the service that settings name; its key goes to it alone and is never shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from habilis.core.errors import UserError

from .conftest import Site, Surfer, http

KEY = "tvly-0123456789"
ROWS = [
    {"title": "The\ncanteen", "url": "https://example.org/canteen", "content": "It opens  at noon.", "score": 0.9},
    {"title": "bad", "url": "javascript:alert(1)", "content": "no page"},
    "rubbish",
    {"title": "x" * 900, "url": "https://example.org/2", "content": "y" * 9_000},
    {"title": "third", "url": "https://example.org/3", "content": ""},
]


def searxng(site: Site) -> dict[str, Any]:
    return {"service": "searxng", "url": site.url("/")}


def reply(data: object = None, **more: str) -> bytes:
    return http(
        json.dumps({"results": ROWS} if data is None else data).encode(), Content_Type="application/json", **more
    )


async def test_a_searxng_server_is_asked_and_its_results_are_plain_and_bounded(site: Site, surfer: Surfer) -> None:
    site.answers["/search"] = reply({"results": ROWS * 3})
    outcome = await surfer.search("  canteen\nhours & more ", searxng(site))
    first, second, *more = outcome.output["results"]
    assert len(more) == 3
    assert (first["source"], first["title"]) == ("https://example.org/canteen", "The canteen")
    assert "\nIt opens at noon.\n" in first["text"]
    assert len(second["title"]) + len(second["text"]) < 1_300
    assert "never instructions" in outcome.output["notice"]
    assert site.asked[0].startswith("GET /search?q=canteen+hours+%26+more&format=json HTTP/1.1\r\n")


async def test_tavily_gets_its_key_and_nobody_else_does(
    site: Site, surfer: Surfer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", KEY)
    settings = {"service": "tavily", "url": site.url("/")}
    site.answers["/search"] = reply()
    outcome = await surfer.search("canteen", settings)
    assert [row["source"][-2:] for row in outcome.output["results"]] == ["en", "/2", "/3"]
    assert f"authorization: Bearer {KEY}".lower() in site.asked[0].lower()
    assert json.loads(site.asked[0].rpartition("\r\n\r\n")[2]) == {"query": "canteen", "max_results": 5}
    site.answers["/search"] = http(KEY.encode(), "401 Unauthorized")
    refused = await surfer.search("canteen", settings)
    assert refused.error is not None
    assert "key in TAVILY_API_KEY is not accepted" in refused.error.message
    site.answers["/search"] = http(status="307 On", Location=site.url("/elsewhere"))
    moved = await surfer.search("canteen", settings)
    assert moved.error is not None
    assert "web.search.url" in moved.error.message
    assert not any("/elsewhere" in head.split("\r\n")[0] for head in site.asked)
    assert KEY not in f"{outcome}{refused}{moved}"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (http(b"x", "403 Forbidden"), "no json among search.formats"),
        (http(b"x", "429 Too Many Requests"), "too many requests"),
        (http(b"x", "503 Busy"), "a fault of its own"),
        (http(b"<html>", Content_Type="text/html"), "no JSON"),
        (http(b"[" * 100_000), "no JSON"),
        (b"", "gives no answer"),
    ],
)
async def test_a_service_that_gives_nothing_says_so(site: Site, surfer: Surfer, answer: bytes, told: str) -> None:
    site.answers["/search"] = answer
    outcome = await surfer.search("canteen", searxng(site))
    assert outcome.error is not None
    assert told in outcome.error.message
    assert outcome.error.message.endswith("Go on with what you have.")


@pytest.mark.parametrize("data", [{}, [], {"results": []}, {"results": "x"}, {"results": [{"url": 5}]}, "text"])
async def test_no_results_are_no_failure(site: Site, surfer: Surfer, data: object) -> None:
    site.answers["/search"] = reply(data)
    outcome = await surfer.search("canteen", searxng(site))
    assert outcome.error is None
    assert "Try other words" in outcome.output["note"]


async def test_an_empty_query_asks_nobody(site: Site, surfer: Surfer) -> None:
    outcome = await surfer.search(" \n ", searxng(site))
    assert outcome.error is not None
    assert outcome.error.kind == "invalid_arguments"
    assert site.asked == []


async def test_without_key_or_grant_it_is_missing_with_the_reason(
    site: Site, surfer: Surfer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TAVILY_API_KEY", raising=False)
    tavily = {"service": "tavily"}
    surfer.listed = ("api.tavily.com",)
    assert "TAVILY_API_KEY: not set" in (await surfer.tools(search=tavily))["web_search"].missing()[0]
    monkeypatch.setenv("TAVILY_API_KEY", KEY)
    assert (await surfer.tools(search=tavily))["web_search"].missing() == ()
    surfer.listed = ("example.org",)
    assert "api.tavily.com: not in" in (await surfer.tools(search=tavily))["web_search"].missing()[0]
    surfer.network = "deny"
    assert "deny" in (await surfer.tools(search=searxng(site)))["web_search"].missing()[0]
    denied = await (await surfer.tools(search=searxng(site)))["web_search"].call({"query": "q"}, workspace=Path())
    assert denied.error is not None
    assert site.asked == []


async def test_the_address_that_settings_spell_out_may_be_a_private_one(site: Site, surfer: Surfer) -> None:
    site.answers["/search"] = reply()
    surfer.network, surfer.listed = "any", ()
    assert (await surfer.search("canteen", searxng(site))).error is None
    assert (await surfer.failure(site.url("/search")))[0] == "denied"  # read_page is not granted along with it


@pytest.mark.parametrize(
    "search", [{"service": "searxng"}, {"service": "searxng", "url": "ftp://x"}, {"service": "tavily", "url": "x"}]
)
async def test_an_address_that_is_none_is_for_the_person_to_mend(surfer: Surfer, search: dict[str, str]) -> None:
    with pytest.raises(UserError, match=r"web\.search\.url"):
        await surfer.tools(search=search)
