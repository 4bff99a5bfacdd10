"""Operations as tools: what is asked of the service is what its document says, and its secret goes nowhere else."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from habilis.config import AuthSettings, SourceSettings
from habilis.core.errors import UserError
from habilis.core.types import CallOutcome
from habilis.sources.openapi import OpenApiSource
from habilis.testing import Said, ScriptedService, SeenCall

SECRET = "s3cret-of-the-weather"
WEATHER: dict[str, Any] = {
    "openapi": "3.1.0",
    "paths": {
        "/places/{place}/forecast": {
            "parameters": [{"$ref": "#/components/parameters/place"}],
            "get": {
                "operationId": "getForecast",
                "summary": "The weather of the next days",
                "parameters": [
                    {"name": "days", "in": "query", "schema": {"type": "integer", "maximum": 9}},
                    {"name": "fields", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
                    {"name": "X-Units", "in": "header", "schema": {"type": "string", "enum": ["metric", "imperial"]}},
                    {"name": "Host", "in": "header", "schema": {"type": "string"}},
                ],
            },
            "post": {
                "operationId": "reports.add",
                "description": "Adds a report.",
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Report"}}},
                },
            },
        },
        "/search": {
            "put": {
                "parameters": [{"name": "text", "in": "query", "schema": {"type": "string"}}],
                "requestBody": {
                    "content": {"application/json": {"schema": {"properties": {"text": {"type": "string"}}}}}
                },
            }
        },
    },
    "components": {
        "parameters": {"place": {"name": "place", "in": "path", "required": True, "schema": {"type": "string"}}},
        "schemas": {
            "Report": {
                "type": "object",
                "required": ["rain", "id"],
                "properties": {
                    "id": {"type": "string", "readOnly": True},
                    "rain": {"type": "boolean"},
                    "parent": {"$ref": "#/components/schemas/Report"},
                },
            }
        },
    },
}
API_KEY = AuthSettings(secret_env="WEATHER_KEY", header="X-Key")


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEATHER_KEY", SECRET)


class Api:
    """A service with its document, and the tools that are made of them."""

    def __init__(self, folder: Path, document: dict[str, Any], answer: Callable[[SeenCall], Any], **said: Any) -> None:
        self.folder, self.path = folder, folder / "api.yaml"
        self.path.write_text(yaml.safe_dump(document))
        self.service = ScriptedService(answer)
        self.settings = {"openapi": str(self.path), "base_url": self.service.url, **said}
        self.source = OpenApiSource(SourceSettings(**self.settings))

    async def __aenter__(self) -> Api:
        self.service.__enter__()
        try:
            self.tools = {tool.spec.name: tool for tool in await self.source.open()}
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.source.aclose()
        self.service.__exit__()

    async def call(self, name: str, /, **arguments: Any) -> CallOutcome:
        return await self.tools[name].call(arguments, workspace=self.folder)


def failure(outcome: CallOutcome) -> tuple[str, str]:
    assert outcome.error is not None, outcome
    return outcome.error.kind, outcome.error.message


async def test_each_argument_goes_where_the_document_says(tmp_path: Path) -> None:
    async with Api(tmp_path, WEATHER, lambda seen: {"sun": True}, auth=API_KEY) as api:
        assert {name: tool.effects for name, tool in api.tools.items()} == {
            "getForecast": "reads",
            "reports_add": "writes",
            "put_search": "writes",
        }
        schema = api.tools["getForecast"].spec.parameters
        assert set(schema["properties"]) == {"place", "days", "fields", "X-Units"}
        assert schema["required"] == ["place"]
        outcome = await api.call("getForecast", place="a/b?", days=3, fields=["t", "r"], **{"X-Units": "metric"})
        assert outcome.output == {"sun": True}
        await api.call("reports_add", place="Oslo", rain=False, parent={"rain": True})
        await api.call("put_search", text="q", body={"text": "b"})
        await api.call("put_search", text="q")
    get, post, put, bare = api.service.calls
    assert (get.path, get.query) == ("/places/a%2Fb%3F/forecast", (("days", "3"), ("fields", "t"), ("fields", "r")))
    assert (get.headers["x-units"], get.headers["x-key"]) == ("metric", SECRET)
    assert (post.path, post.data) == ("/places/Oslo/forecast", {"rain": False, "parent": {"rain": True}})
    assert post.headers["content-type"] == "application/json"
    assert (put.query, put.data) == ((("text", "q"),), {"text": "b"})
    assert bare.body == b""


async def test_a_circle_of_references_ends(tmp_path: Path) -> None:
    async with Api(tmp_path, WEATHER, lambda seen: None) as api:
        schema = api.tools["reports_add"].spec.parameters
    assert schema["required"] == ["place", "rain"]
    assert "id" not in schema["properties"]
    assert len(json.dumps(schema)) < 2_000


@pytest.mark.parametrize("place", ["", ".", ".."])
async def test_a_path_argument_cannot_leave_its_place(place: str, tmp_path: Path) -> None:
    async with Api(tmp_path, WEATHER, lambda seen: None) as api:
        kind, message = failure(await api.call("getForecast", place=place))
    assert (kind, api.service.calls) == ("invalid_arguments", [])
    assert "place" in message


async def test_a_header_cannot_be_broken_out_of(tmp_path: Path) -> None:
    async with Api(tmp_path, WEATHER, lambda seen: None) as api:
        outcome = await api.call("getForecast", place="x", **{"X-Units": "metric\r\nX-Key: mine"})
    assert failure(outcome)[0] == "invalid_arguments"


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (400, "invalid_arguments", "Correct the arguments"),
        (401, "denied", "The secret in WEATHER_KEY was not taken: only a person can mend that"),
        (403, "denied", "not allowed"),
        (404, "invalid_arguments", "no such place"),
        (429, "unavailable", "free in 7 s"),
        (500, "unavailable", "The service itself failed"),
    ],
)
async def test_a_refusal_tells_the_model_what_to_do(status: int, kind: str, words: str, tmp_path: Path) -> None:
    said = Said(status, {"message": f"no such place, {SECRET}"}, {"retry-after": "7"})
    async with Api(tmp_path, WEATHER, lambda seen: said, auth=API_KEY) as api:
        found = failure(await api.call("getForecast", place="x"))
    assert found[0] == kind
    assert words in found[1]
    assert SECRET not in found[1]
    assert f"HTTP {status}" in found[1]


@pytest.mark.parametrize(
    ("said", "kind", "words"),
    [
        (Said(fault="drop"), "unavailable", "cannot be reached"),
        (Said(body={"a": "b" * 100}, fault="cut"), "unavailable", "cannot be reached"),
        (Said(fault="hang"), "timeout", "no answer within"),
        (Said(body=b'{"a": [1, 2', headers={"content-type": "application/json"}), "bad_output", "cannot be read"),
        (Said(body=b"[" * 90_000, headers={"content-type": "application/json"}), "bad_output", "cannot be read"),
        (lambda: Said(body=b"x" * (50 << 20)), "bad_output", "larger than 1 MiB"),
        (
            Said(body=gzip.compress(b"x" * (8 << 20)), headers={"content-encoding": "gzip"}),
            "bad_output",
            "larger than 1 MiB",
        ),
        (Said(302, headers={"location": "http://127.0.0.2:9/elsewhere"}), "denied", "127.0.0.2"),
        (Said(302, headers={"location": "/places/x/forecast"}), "bad_output", "sent on more than"),
    ],
    ids=["dropped", "cut", "slow", "half JSON", "deep JSON", "50 MB", "gzip bomb", "other host", "in circles"],
)
async def test_whatever_goes_wrong_is_a_value(
    said: Said | Callable[[], Said], kind: str, words: str, tmp_path: Path
) -> None:
    answer = said if isinstance(said, Said) else said()
    timeout_s = 0.3 if answer.fault == "hang" else 60
    async with Api(tmp_path, WEATHER, lambda seen: answer, timeout_s=timeout_s, max_mb=1) as api:
        found = failure(await api.call("getForecast", place="x"))
    assert found[0] == kind
    assert words in found[1]


async def test_a_server_that_is_down_is_a_value(tmp_path: Path) -> None:
    async with Api(tmp_path, WEATHER, lambda seen: None) as api:
        api.service.__exit__()
        assert failure(await api.call("getForecast", place="x"))[0] == "unavailable"


async def test_a_call_that_wrote_and_ran_out_of_time_says_that_nobody_knows(tmp_path: Path) -> None:
    async with Api(tmp_path, WEATHER, lambda seen: Said(fault="hang"), timeout_s=0.3) as api:
        assert "is unknown" in failure(await api.call("reports_add", place="x", rain=True))[1]


@pytest.mark.parametrize(
    ("auth", "header"),
    [
        ({"header": "X-Key"}, ("x-key", SECRET)),
        ({}, ("authorization", f"Bearer {SECRET}")),
        ({"scheme": "basic"}, ("authorization", "Basic czNjcmV0LW9mLXRoZS13ZWF0aGVy")),
        ({"query": "key"}, None),
    ],
)
async def test_the_secret_goes_to_the_service_and_nowhere_else(
    auth: dict[str, str], header: tuple[str, str] | None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    auth_settings = AuthSettings(secret_env="WEATHER_KEY", **auth)
    echo = lambda seen: {"headers": dict(seen.headers), "query": list(seen.query)}  # noqa: E731
    async with Api(tmp_path, WEATHER, echo, auth=auth_settings) as api:
        outcome = await api.call("getForecast", place="x")
        shown = json.dumps([tool.spec.model_dump() for tool in api.tools.values()])
    (seen,) = api.service.calls
    if header is None:
        assert ("key", SECRET) in seen.query
    else:
        assert seen.headers[header[0]] == header[1]
    assert outcome.error is None
    logged = "\n".join(f"{record.getMessage()}" for record in caplog.records)
    for text in (outcome.model_dump_json(), shown, logged):
        assert SECRET not in text
        assert "czNjcmV0" not in text


async def test_a_redirect_carries_no_secret_to_another_place(tmp_path: Path) -> None:
    with ScriptedService(lambda seen: {"caught": True}) as thief:
        leads = lambda seen: Said(307, headers={"location": f"{thief.url}/x"})  # noqa: E731
        async with Api(tmp_path, WEATHER, leads, auth=API_KEY) as api:
            kind, _ = failure(await api.call("getForecast", place="x"))
            await api.call("reports_add", place="x", rain=True)
    assert (kind, thief.calls) == ("denied", [])


async def test_a_server_that_an_operation_names_gets_no_secret(tmp_path: Path) -> None:
    with ScriptedService(lambda seen: {"ok": 1}) as other:
        operation = {**WEATHER["paths"]["/search"]["put"], "servers": [{"url": other.url}]}
        async with Api(tmp_path, WEATHER, lambda seen: {}, auth=API_KEY) as api:
            document = {**WEATHER, "servers": [{"url": api.service.url}], "paths": {"/search": {"put": operation}}}
            api.path.write_text(json.dumps(document))
            source = OpenApiSource(SourceSettings(openapi=str(api.path), auth=API_KEY))
            (tool,) = await source.open()
            outcome = await tool.call({"text": "q"}, workspace=tmp_path)
            await source.aclose()
    assert outcome.output == {"ok": 1}
    assert SECRET not in str(other.calls)


async def test_a_secret_that_is_not_there_or_not_taken_is_told_before_anything_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = AuthSettings(secret_env="WEATHER_KEY", header="X-Key", check="/me")
    with pytest.raises(UserError, match="the secret in WEATHER_KEY was refused"):
        async with Api(tmp_path, WEATHER, lambda seen: Said(401), auth=checked):
            pass
    monkeypatch.delenv("WEATHER_KEY")
    async with Api(tmp_path, WEATHER, lambda seen: {}, auth=API_KEY) as api:
        assert api.tools["getForecast"].missing() == ("the environment variable WEATHER_KEY is not set",)
        assert failure(await api.call("getForecast", place="x"))[0] == "denied"
    assert api.service.calls == []


async def test_results_come_by_their_kind(tmp_path: Path) -> None:
    said = {
        "/places/text/forecast": Said(body=b"Sun.", headers={"content-type": "text/plain; charset=utf-8"}),
        "/places/image/forecast": Said(body=b"\x89PNG\r\n\x1a\nrest", headers={"content-type": "image/png"}),
        "/places/none/forecast": Said(204),
        "/places/empty/forecast": Said(body={}),
    }
    async with Api(tmp_path, WEATHER, lambda seen: said[seen.path]) as api:
        assert (await api.call("getForecast", place="text")).output == "Sun."
        image = await api.call("getForecast", place="image")
        assert "empty" in (await api.call("getForecast", place="none")).output
        assert "{}" in (await api.call("getForecast", place="empty")).output
    (name,) = image.made
    assert image.output == {"file": name, "type": "image/png", "bytes": 12}
    assert name.endswith(".png")
    assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


async def test_the_old_version_is_read_too(tmp_path: Path) -> None:
    document = {
        "swagger": "2.0",
        "basePath": "/v1",
        "paths": {
            "/pets/{id}": {
                "post": {
                    "operationId": "savePet",
                    "parameters": [
                        {"name": "id", "in": "path", "type": "integer", "required": True},
                        {"name": "tags", "in": "query", "type": "array", "collectionFormat": "pipes"},
                        {"name": "pet", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Pet"}},
                    ],
                },
                "patch": {
                    "operationId": "fillIn",
                    "parameters": [
                        {"name": "id", "in": "path", "type": "integer", "required": True},
                        {"name": "colour", "in": "formData", "type": "string", "required": True},
                    ],
                },
            }
        },
        "definitions": {"Pet": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}},
    }
    async with Api(tmp_path, document, lambda seen: None) as api:
        assert api.tools["savePet"].spec.parameters["required"] == ["id", "name"]
        await api.call("savePet", id=7, tags=["a", "b"], name="Rex")
        await api.call("fillIn", id=7, colour="dark red")
    post, patch = api.service.calls
    assert (post.path, post.query, post.data) == ("/pets/7", (("tags", "a|b"),), {"name": "Rex"})
    assert patch.body == b"colour=dark%20red"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("just words", "it holds no mapping"),
        ("{", "neither JSON nor YAML"),
        ("a: [", "neither JSON nor YAML"),
        ("openapi: 4.0.0", "its version is '4.0.0'"),
        ("title: x", "it names no version"),
        ("openapi: 3.0.0\npaths: []", "its paths are not a mapping"),
        ("openapi: 3.0.0\npaths: {}", "holds no operation"),
        ("!!python/object/apply:os.getcwd []", "neither JSON nor YAML"),
    ],
)
async def test_what_is_no_document_is_said_in_one_line(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "api.yaml"
    path.write_text(text)
    with pytest.raises(UserError, match=words) as caught:
        await OpenApiSource(SourceSettings(openapi=str(path))).open()
    assert str(path) in str(caught.value)
    with pytest.raises(UserError, match="cannot be read"):
        await OpenApiSource(SourceSettings(openapi=str(tmp_path / "none.yaml"))).open()


async def test_a_document_behind_an_address_names_its_own_server(tmp_path: Path) -> None:
    document = {**WEATHER, "servers": [{"url": "/api/{v}", "variables": {"v": {"default": "v2"}}}]}
    answer = lambda seen: document if seen.path == "/openapi.json" else {"path": seen.path}  # noqa: E731
    with ScriptedService(answer) as service:
        source = OpenApiSource(SourceSettings(openapi=f"{service.url}/openapi.json", auth=API_KEY))
        tools = {tool.spec.name: tool for tool in await source.open()}
        outcome = await tools["getForecast"].call({"place": "x"}, workspace=tmp_path)
        await source.aclose()
    assert outcome.output == {"path": "/api/v2/places/x/forecast"}
    assert "x-key" not in service.calls[0].headers
    with (
        ScriptedService(lambda seen: Said(302, headers={"location": "/x"})) as service,
        pytest.raises(UserError, match="redirects are not followed"),
    ):
        await OpenApiSource(SourceSettings(openapi=service.url)).open()


async def test_a_cancelled_call_is_over(tmp_path: Path) -> None:
    async with Api(tmp_path, WEATHER, lambda seen: Said(fault="hang")) as api:
        task = asyncio.create_task(api.call("getForecast", place="x"))
        while not api.service.calls:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
