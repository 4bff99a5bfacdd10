"""Presets: pictures of the task alone are looked at, and a picture that cannot be seen says why."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from habilis.config import ToolsSettings
from habilis.context.presets import ASK_USER, FINISH_TASK, IMAGE_TEXT_QUERY, MAX_IMAGE_BYTES, RECALL, Presets
from habilis.contract.names import RESERVED
from habilis.core.errors import BudgetReached, ModelUnreachable
from habilis.core.types import Task, TaskFile
from habilis.prompts import Prompts

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 16


class Desk:
    """Presets of one task with a file of the user's."""

    def __init__(self, folder: Path, models: Any, *, finish_task: bool = False) -> None:
        self.models = models
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.picture = folder / "user" / "cat.png"
        self.picture.parent.mkdir()
        self.picture.write_bytes(PNG)
        task = Task(id="t", question="q", files=(TaskFile(named="pics/cat.png", path=str(self.picture)),))
        self.presets = Presets(models, Prompts(), task, self.workspace, ToolsSettings(finish_task=finish_task))

    async def look(self, image_path: str, **more: str) -> Any:
        return await self.presets.run(IMAGE_TEXT_QUERY, {"query": "what is it?", "image_path": image_path, **more})


@pytest.fixture
def desk(tmp_path: Path, said_models: Any) -> Desk:
    return Desk(tmp_path, said_models(["a cat"] * 5))


def test_the_presets_are_offered_in_a_fixed_order(desk: Desk, tmp_path: Path) -> None:
    assert [spec.name for spec in desk.presets.specs()] == [IMAGE_TEXT_QUERY, ASK_USER]
    assert not desk.presets.has(FINISH_TASK)
    (tmp_path / "more").mkdir()
    all_of_them = Desk(tmp_path / "more", None, finish_task=True).presets
    assert {spec.name for spec in all_of_them.specs()} == RESERVED - {RECALL}, "recall is for conversations"
    assert all(spec.parameters["required"] for spec in all_of_them.specs())


def test_only_presets_that_can_matter_are_shown(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    alone = Presets(None, Prompts(), Task(id="t", question="q"), tmp_path / "w", ToolsSettings(), may_ask=False)  # type: ignore[arg-type]
    assert alone.specs() == []
    assert [spec.name for spec in alone.unshown()] == [ASK_USER]
    asked = Presets(None, Prompts(), Task(id="t", question="q"), tmp_path / "w", ToolsSettings())  # type: ignore[arg-type]
    assert [spec.name for spec in asked.specs()] == [ASK_USER]
    (tmp_path / "w" / "chart.png").write_bytes(PNG)
    assert [spec.name for spec in asked.specs()] == [IMAGE_TEXT_QUERY, ASK_USER], "a tool may make one"


async def test_the_picture_goes_to_the_vision_model(desk: Desk) -> None:
    for name in ("pics/cat.png", str(desk.picture)):
        outcome = await desk.look(name)
        assert outcome.output == "a cat"
        role, content = desk.models.asked.pop()
        assert role == "vision"
        assert base64.b64encode(PNG).decode() in content
        assert "data:image/png;base64," in content
        assert "what is it?" in content


async def test_a_picture_that_a_tool_made_is_seen(desk: Desk) -> None:
    (desk.workspace / "chart.jpg").write_bytes(b"\xff\xd8\xff\xe0" + b"\0" * 9)
    assert (await desk.look("chart.jpg")).output == "a cat"
    assert "data:image/jpeg" in desk.models.asked[0][1]


async def test_nothing_but_pictures_of_the_task_leaves_the_machine(desk: Desk, tmp_path: Path) -> None:
    other = tmp_path / "secret.png"
    other.write_bytes(PNG)
    (desk.workspace / "link.png").symlink_to(other)
    (desk.workspace / "notes.png").write_text("not a picture")
    (desk.workspace / "big.png").write_bytes(PNG + b"\0" * MAX_IMAGE_BYTES)
    for name, kind in (
        (str(other), "denied"),
        ("../secret.png", "denied"),
        ("link.png", "denied"),
        ("big.png", "denied"),
        (".", "denied"),
        ("notes.png", "invalid_arguments"),
        ("none.png", "invalid_arguments"),
        ("x" * 5_000, "invalid_arguments"),
        ("a\0b.png", "invalid_arguments"),
    ):
        outcome = await desk.look(name, image_media_type="image/png")
        assert outcome.error is not None, name
        assert outcome.error.kind == kind, name
    assert desk.models.asked == []
    missing = await desk.look("none.png")
    assert missing.error.missing_file == "none.png"


async def test_a_vision_model_that_fails_is_a_failed_call(tmp_path: Path, said_models: Any) -> None:
    desk = Desk(tmp_path, said_models([ModelUnreachable("no vision here"), "  ", BudgetReached("tokens")]))
    outcome = await desk.look("pics/cat.png")
    assert outcome.error.kind == "unavailable"
    assert "no vision here" in outcome.error.message
    assert (await desk.look("pics/cat.png")).error.kind == "bad_output"
    with pytest.raises(BudgetReached):
        await desk.look("pics/cat.png")
