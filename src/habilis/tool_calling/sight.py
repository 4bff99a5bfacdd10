"""Whether the executor's model sees images: a setting, or found out by its server's refusal and remembered.

Nothing is asked beforehand: the first request shows its images, and a server that complains of them is sent the same
request without. That is remembered on disk by address and model, and noted on the tape, so that a replay asks alike.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from habilis.core.digests import digest
from habilis.core.types import Role
from habilis.rundir import atomic_write

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from habilis.models.chat import Models

ROLE: Role = "basic"
COMPLAINT = r"image|vision|multi-?modal|mmproj|content (?:part|type|must)|valid string|a string"
"""What servers say of requests with images that they cannot take."""
_NOTE = "images"

log = logging.getLogger(__name__)


class ImagesRefused(Exception):
    """The server takes no images. Argument: its reason."""


class Sight:
    """What is known of one model. `memory` is the folder that remembers what models can."""

    def __init__(self, models: Models, memory: Path) -> None:
        self._models, self._memory = models, memory

    async def able(self) -> bool:
        """Whether images are to be shown."""
        setting = self._models.settings(ROLE).images
        if setting is not None:
            return setting != "none"
        noted = self._models.tape.noted(_NOTE)
        if noted is not None or self._models.tape.replay_only:
            return noted != "no"
        client = await self._models.client(ROLE)
        able = not client.offline and not self._path(client.where, client.name).exists()
        self._models.tape.note(_NOTE, "yes" if able else "no")
        return able

    def refused(self) -> None:
        """Remember that the model takes none."""
        self._models.tape.note(_NOTE, "no")
        client = self._models.known_client(ROLE)
        if client is None or not client.compatible:
            return
        path = self._path(client.where, client.name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            row = {"where": client.where, "model": client.name, "images": False}
            atomic_write(path, json.dumps(row, ensure_ascii=False) + "\n", durable=False)
        except OSError as error:
            log.debug("that %s takes no images is not remembered: %s", client.name, error)

    def _path(self, where: str, model: str) -> Path:
        return self._memory / f"{digest([where, model])}.blind.json"


def shows_images(messages: Sequence[BaseMessage]) -> bool:
    """Whether any of `messages` holds an image."""
    return any(
        isinstance(block, dict) and block.get("type") in ("image_url", "image")
        for message in messages
        if isinstance(message.content, list)
        for block in message.content
    )


def is_complaint(refusal: str) -> bool:
    """Whether a refusal speaks of images."""
    return re.search(COMPLAINT, refusal, re.IGNORECASE) is not None


def without_images(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """`messages` with the text alone of those that show images."""
    from habilis.messages.history import text_of

    return [m.model_copy(update={"content": text_of(m)}) if shows_images([m]) else m for m in messages]
