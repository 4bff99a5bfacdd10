"""Tools that are always there: looking at an image, asking the user, saying that the task is done; in a conversation
that is longer than what the model is shown, looking up what was said before.

`ask_user` and `finish_task` are specs alone: the executor acts on them, since both change the course of the task.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.config import ToolsSettings
from habilis.contract.names import RESERVED
from habilis.contract.paths import FileRefused, read_confined
from habilis.contract.pictures import MAX_IMAGE_BYTES, can_be_seen, holds_image, image_part, media_type
from habilis.core.errors import ModelReplyUnusable, ModelUnreachable
from habilis.core.locations import here
from habilis.core.types import CallError, CallOutcome, ErrorKind, Task, ToolSpec
from habilis.messages.bounds import whole_part

if TYPE_CHECKING:
    from habilis.models.chat import Models
    from habilis.prompts import Prompts

ASK_USER = "ask_user"
FINISH_TASK = "finish_task"
IMAGE_TEXT_QUERY = "image_text_query"
RECALL = "recall"


def _spec(name: str, description: str, parameters: Mapping[str, str], required: tuple[str, ...]) -> ToolSpec:
    properties = {key: {"type": "string"} | ({"description": text} if text else {}) for key, text in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    return ToolSpec(name=name, description=description, parameters=schema)


_SPECS = {
    IMAGE_TEXT_QUERY: _spec(
        IMAGE_TEXT_QUERY,
        "Answer a question about an image file.",
        {
            "query": "what to find out about the image",
            "image_path": "path of the image, as listed",
            "image_media_type": "such as image/png; found out when left out",
        },
        ("query", "image_path"),
    ),
    RECALL: _spec(
        RECALL,
        "Find earlier questions of this conversation that are no longer shown, with their tool results and answers.",
        {"query": "words that stood in what you look for"},
        ("query",),
    ),
    ASK_USER: _spec(
        ASK_USER,
        "Ask the user one clear question, only when the task cannot be done without their answer.",
        {"question": ""},
        ("question",),
    ),
    FINISH_TASK: _spec(
        FINISH_TASK,
        "End the task with its answer.",
        {"answer": "the finding, how it was obtained, and a clear conclusion"},
        ("answer",),
    ),
}
assert set(_SPECS) == RESERVED


class Presets:
    """The presets of one task. `recall` finds earlier turns of its conversation; None where all of them are shown.
    `may_ask`: somebody answers questions, now or when the task is resumed."""

    def __init__(
        self,
        models: Models,
        prompts: Prompts,
        task: Task,
        workspace: Path,
        settings: ToolsSettings,
        *,
        recall: Callable[[str], str] | None = None,
        may_ask: bool = True,
    ) -> None:
        self._models, self._prompts, self._task = models, prompts, task
        self._workspace = workspace
        self._recall = recall
        names = [IMAGE_TEXT_QUERY, ASK_USER, *([FINISH_TASK] if settings.finish_task else [])]
        names += [RECALL] if recall else []
        self._specs = {name: _SPECS[name] for name in names}
        self._idle = set() if may_ask else {ASK_USER}
        self._seen = can_be_seen(task.files)

    def specs(self) -> list[ToolSpec]:
        """What the model is shown, in a fixed order: no look at images before there is one, and no question where
        nobody is asked."""
        self._seen = self._seen or holds_image(self._workspace)
        idle = self._idle if self._seen else self._idle | {IMAGE_TEXT_QUERY}
        return [spec for name, spec in self._specs.items() if name not in idle]

    def unshown(self) -> list[ToolSpec]:
        """Those that are not shown and yet answered: a model may ask whether anybody is there or not."""
        return [_SPECS[name] for name in self._idle]

    def has(self, name: str) -> bool:
        return name in self._specs

    async def run(self, name: str, arguments: Mapping[str, Any]) -> CallOutcome:
        """Run preset `name` with arguments that fit its schema. A failure is a value. Raises `BudgetReached`."""
        started = time.monotonic()
        if name == IMAGE_TEXT_QUERY:
            outcome = await self._look(**{key: str(value) for key, value in arguments.items() if value is not None})
        elif name == RECALL and self._recall is not None:
            outcome = CallOutcome(output=self._recall(str(arguments.get("query", ""))))
        else:
            outcome = _failed("unavailable", f"{name} is not run as a tool")
        return outcome.model_copy(update={"seconds": round(time.monotonic() - started, 3), "level": "preset"})

    async def _look(self, query: str, image_path: str, image_media_type: str = "") -> CallOutcome:
        from langchain_core.messages import HumanMessage, SystemMessage

        path = self._path(image_path)
        if not _exists(path):
            message = f"there is no file {image_path}; give the path as the task lists it"
            return _failed("invalid_arguments", message, missing_file=image_path)
        try:
            content = read_confined(
                path, [self._workspace, *(here(file.path) for file in self._task.files)], MAX_IMAGE_BYTES
            )
        except FileRefused as refused:
            return _failed("denied", f"{refused}; only the task's files and the workspace can be looked at")
        kind = media_type(content)
        if kind is None:
            told = f" ({image_media_type})" if image_media_type else ""
            return _failed("invalid_arguments", f"{image_path}{told} is no PNG, JPEG, GIF or WebP image")
        prompt = self._prompts.render("image", query=query)
        parts: list[str | dict[str, Any]] = [
            image_part(content, kind),
            {"type": "text", "text": prompt.user},
        ]
        messages = [SystemMessage(prompt.system), HumanMessage(parts)]
        try:
            reply = await self._models.chat(prompt.role, messages, purpose="answer", label="look at image")
        except (ModelUnreachable, ModelReplyUnusable) as error:
            return _failed("unavailable", f"the vision model gave no answer: {error}")
        text = whole_part(reply)
        return CallOutcome(output=text) if text else _failed("bad_output", "the vision model gave an empty answer")

    def _path(self, image_path: str) -> Path:
        named = next((file.path for file in self._task.files if image_path in (file.named, file.path)), image_path)
        return here(self._workspace / named)


def _exists(path: Path) -> bool:
    """Whether there is such a file. `Path.exists` raises for names that no file can have, a very long one say."""
    return os.path.exists(path)  # noqa: PTH110


def _failed(kind: ErrorKind, message: str, *, missing_file: str | None = None) -> CallOutcome:
    return CallOutcome(error=CallError(kind=kind, message=message, missing_file=missing_file))
