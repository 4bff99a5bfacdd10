"""What a user would lose: a picture that the model never sees, is sent again and again, or that ends the task."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from habilis import Team, load_settings
from habilis.core.types import TaskResult
from habilis.testing import Fault, RecordingSink, ScriptedServer, SeenRequest

from ..marks import PROMISE
from .conftest import World

QUESTION = "What is on the picture dot.png?"


def png() -> bytes:
    """A picture of one red dot."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0"))
        + chunk(b"IEND", b"")
    )


class Looker:
    """Looks at the picture by `image_text_query` once, whatever it was shown."""

    def __call__(self, messages: list[BaseMessage], tools: list[Any], form: Any) -> AIMessage:
        last = messages[-1]
        text = last.content if isinstance(last.content, str) else " ".join(str(p.get("text", "")) for p in last.content)
        if "<candidates>" in text:
            return AIMessage("{}")
        if "<answer>" in text:
            return AIMessage(json.dumps({"status": "FINISH", "reason": "seen"}))
        if "<findings>" in text:
            return AIMessage(json.dumps({"final_answer": "a red dot", "reasoning_summary": ""}))
        if text.strip() == "Which colour?":
            return AIMessage("red")
        if last.type == "tool":
            return AIMessage("A red dot.")
        call = {"name": "image_text_query", "args": {"query": "Which colour?", "image_path": "dot.png"}, "id": "look"}
        return AIMessage("", tool_calls=[call])


def images(seen: SeenRequest) -> list[dict[str, Any]]:
    contents = [message["content"] for message in seen.body["messages"] if isinstance(message["content"], list)]
    return [part["image_url"] for content in contents for part in content if part["type"] == "image_url"]


def steps(server: ScriptedServer) -> list[SeenRequest]:
    return [seen for seen in server.requests if seen.body.get("tools")]


def complain(seen: SeenRequest) -> Fault | None:
    blind = bool(images(seen)) and "Which colour?" not in seen.prompt
    return Fault("bad_request", text="image_url is not supported by this model") if blind else None


async def look(
    world: World, server: ScriptedServer, run: str, *settings: str, **options: Any
) -> tuple[TaskResult, Any]:
    sink = RecordingSink()
    loaded = load_settings(
        overrides=[
            f"runs_dir={world.home / 'runs'}",
            f"models.basic.base_url={server.base_url}",
            "models.basic.model=scripted",
            *settings,
        ]
    )
    team = Team(loaded, library=world.home / "library", sinks=[sink])
    return await team.run(QUESTION, base=world.home, run_dir=world.home / run, **options), sink


@pytest.fixture
def picture(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    (world.home / "dot.png").write_bytes(png())
    monkeypatch.setenv("HABILIS_CACHE_DIR", str(world.home / "cache"))
    return world


async def test_a_picture_is_shown_once_and_can_be_looked_at_again(picture: World) -> None:
    with ScriptedServer(Looker()) as server:
        result, _ = await look(picture, server, "a")
        first, second = steps(server)
    assert (result.status, result.final_answer) == ("answered", "a red dot")
    assert result.tools_used == ("image_text_query",)
    (shown,) = images(first)
    assert shown["detail"] == "low"
    assert shown["url"].startswith("data:image/png;base64,")
    content = first.body["messages"][1]["content"]
    assert [part["type"] for part in content] == ["image_url", "text"], "the picture first, then the text"
    assert images(second) == []
    assert "[image: dot.png; image_text_query looks at it]" in second.prompt


async def test_the_detail_is_a_setting_and_so_is_not_to_show_any(picture: World) -> None:
    with ScriptedServer(Looker()) as server:
        await look(picture, server, "a", "models.basic.images=high")
        assert images(steps(server)[0])[0]["detail"] == "high"
    with ScriptedServer(Looker()) as server:
        result, _ = await look(picture, server, "b", "models.basic.images=none")
        assert result.status == "answered"
        assert not any(images(seen) for seen in steps(server))
        assert "[image: dot.png;" in steps(server)[0].prompt


@pytest.mark.parametrize("strategy", ["auto", "function_call"])
async def test_a_model_that_takes_none_gets_the_text_and_is_remembered(picture: World, strategy: str) -> None:
    with ScriptedServer(Looker(), faults=complain) as server:
        result, sink = await look(picture, server, "a", f"models.basic.strategy={strategy}")
        assert (result.status, result.final_answer) == ("answered", "a red dot")
        assert [bool(images(seen)) for seen in steps(server)] == [True, False, False]
        assert any("takes no images" in notice.text for notice in sink.of("notice"))
        before = len(server.requests)
        again, _ = await look(picture, server, "b", f"models.basic.strategy={strategy}")
        assert again.status == "answered"
        assert not any(images(seen) for seen in server.requests[before:] if seen.body.get("tools"))


async def test_a_refusal_of_something_else_is_not_taken_for_blindness(picture: World) -> None:
    def refuse(seen: SeenRequest) -> Fault | None:
        return Fault("bad_request", text="seed is out of range") if seen.body.get("tools") else None

    with ScriptedServer(Looker(), faults=refuse) as server:
        result, _ = await look(picture, server, "a", "models.basic.strategy=function_call")
        assert result.status == "unreachable"
        assert "seed is out of range" in str(result.error)
    assert not list((picture.home / "cache").rglob("*.blind.json"))


@pytest.mark.parametrize("faults", [pytest.param((), marks=PROMISE), complain])
async def test_the_record_holds_no_picture_and_replays(picture: World, faults: Any) -> None:
    with ScriptedServer(Looker(), faults=faults) as server:
        await look(picture, server, "a")
        asked = len(server.requests)
        tape = (picture.home / "a" / "tasks" / "task" / "tape.jsonl").read_text(encoding="utf-8")
        assert "image/png" in tape
        assert "iVBORw0KGgo" not in tape
        if faults:  # what is known of the model by now must not change what is replayed
            assert list((picture.home / "cache").rglob("*.blind.json"))
        again, _ = await look(picture, server, "b", replay=picture.home / "a")
        assert (again.status, again.final_answer) == ("answered", "a red dot")
        assert len(server.requests) == asked


async def test_pictures_of_an_earlier_turn_are_not_sent_again(picture: World) -> None:
    with ScriptedServer(Looker()) as server:
        loaded = load_settings(
            overrides=[
                f"runs_dir={picture.home / 'runs'}",
                f"models.basic.base_url={server.base_url}",
                "models.basic.model=scripted",
            ]
        )
        team = Team(loaded, library=picture.home / "library")
        await team.run(QUESTION, base=picture.home, thread="talk")
        before = len(server.requests)
        second = await team.run("And its colour?", base=picture.home, thread="talk")
        assert (second.status, second.tools_used) == ("answered", ("image_text_query",)), "it can still be looked at"
        shown = [images(seen) for seen in server.requests[before:] if seen.body.get("tools")]
    assert shown == [[], []]


async def test_what_is_no_picture_or_too_large_is_a_file_like_any_other(world: World, tmp_path: Path) -> None:
    (world.home / "dot.png").write_text("no picture", encoding="utf-8")
    with ScriptedServer(Looker()) as server:
        await look(world, server, "a", "limits.max_attempts=1")
        assert not any(images(seen) for seen in server.requests)
