"""Images as models take them: read with care, known by their first bytes, small enough to send."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from habilis.contract.paths import FileRefused, read_confined
from habilis.core.locations import here
from habilis.core.types import TaskFile

MAX_IMAGE_BYTES = 10 << 20
ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_LOOKED_AT = 500
"""Names in a folder that are looked at for images."""
MAX_SHOWN = 8
"""Images of one question that its first request shows."""
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def media_type(content: bytes) -> str | None:
    """What an image is by its first bytes, which cannot be mistaken; None for anything that models do not take."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for signature, kind in _SIGNATURES if content.startswith(signature)), None)


def image_part(content: bytes, kind: str, detail: str | None = None) -> dict[str, Any]:
    """`content` as a part of a message, in the shape of chat completions. `detail`: low, high or auto."""
    url = f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"
    return {"type": "image_url", "image_url": {"url": url, **({"detail": detail} if detail else {})}}


def images_of(files: Sequence[TaskFile]) -> list[TaskFile]:
    """Those of `files` that are images which can be shown, at most `MAX_SHOWN`."""
    found = (file for file in files if not file.is_dir and _is_image(here(file.path)))
    return [file for file, _ in zip(found, range(MAX_SHOWN), strict=False)]


def can_be_seen(files: Iterable[TaskFile]) -> bool:
    """Whether one of `files` is an image, or a folder that seems to hold one."""
    return any(holds_image(here(file.path)) if file.is_dir else _is_image(here(file.path)) for file in files)


def holds_image(folder: Path) -> bool:
    """Whether a file in `folder` or below is called as images are; of a very large folder only a part is looked at."""
    seen = 0
    for _, folders, names in os.walk(folder):
        if any(name.casefold().endswith(ENDINGS) for name in names):
            return True
        seen += len(names) + len(folders)
        if seen > _LOOKED_AT:
            return False
    return False


def parts_of(files: Sequence[TaskFile], detail: str) -> list[dict[str, Any]]:
    """`files` as parts of a message; what cannot be read any more is left out."""
    parts = []
    for file in files:
        try:
            content = read_confined(here(file.path), [here(file.path)], MAX_IMAGE_BYTES)
        except FileRefused:
            continue
        if kind := media_type(content):
            parts.append(image_part(content, kind, detail))
    return parts


def _is_image(path: Path) -> bool:
    try:
        if not path.is_file() or path.stat().st_size > MAX_IMAGE_BYTES:
            return False
        with path.open("rb") as stream:
            return media_type(stream.read(16)) is not None
    except OSError:
        return False
