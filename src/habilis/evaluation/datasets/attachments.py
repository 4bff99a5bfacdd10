"""A row's files: those that it names, below the data set's folder alone, and those that it carries inside.

Where a data set comes from somebody else, a name in it must not open the user's other files to tools: absolute names,
`..` and links that lead out of the folder are refused. Content inside a row (data URLs, base64, bytes) becomes a file
of the cache, named by its digest, so that the same image is kept once and is never half written.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import mimetypes
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from habilis.config import cache_dir
from habilis.rundir import atomic_write

MAX_INLINE = 64 << 20
"""Bytes of one file that a row may carry."""
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)?((?:;[\w.+-]+=[^;,]*)*)(;base64)?,", re.IGNORECASE)
_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", ".png"),
    (b"\xff\xd8\xff", ".jpg"),
    (b"GIF8", ".gif"),
    (b"RIFF", ".webp"),
    (b"%PDF-", ".pdf"),
    (b"PK\x03\x04", ".zip"),
)
_ENDINGS = {"image/jpeg": ".jpg", "image/webp": ".webp", "text/plain": ".txt", "application/json": ".json"}


class BadFile(ValueError):
    """A file of a row that cannot be given to a task. Its text says which and why."""


def files_of(value: Any, folder: Path) -> tuple[str, ...]:
    """The absolute paths that `value` means: a name, content, a mapping with either, or a list of these.

    Raises `BadFile`.
    """
    found: list[str] = []
    for item in _items(value):
        path = str(_file(item, folder))
        if path not in found:
            found.append(path)
    return tuple(found)


def _items(value: Any) -> list[Any]:
    """A cell of a table may hold a JSON list, or names divided by `;`."""
    if value is None or value == "":
        return []
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("["):
            try:
                value = json.loads(text)
            except (ValueError, RecursionError):
                raise BadFile(f"{_shown(text)} is not a JSON list") from None
        elif text and not text.lower().startswith("data:"):
            return [part.strip() for part in text.split(";") if part.strip()]
    return [item for item in value if item not in (None, "")] if isinstance(value, list | tuple) else [value]


def _file(item: Any, folder: Path) -> Path:
    if isinstance(item, bytes):
        return keep(item)
    if isinstance(item, Mapping):
        content = item.get("bytes") or item.get("data") or item.get("url") or item.get("image_url")
        name = next((item[key] for key in ("path", "name", "file_name") if isinstance(item.get(key), str)), "")
        if content:
            return _carried(content, name)
        if name:
            return below(folder, name)
        raise BadFile(f"no content and no name among {', '.join(map(str, item)) or 'nothing'}")
    if not isinstance(item, str):
        raise BadFile(f"a value of type {type(item).__name__} is not a file")
    if item.strip().lower().startswith("data:"):
        return _carried(item.strip(), "")
    return below(folder, item.strip())


def below(folder: Path, name: str) -> Path:
    """The file `name` of the data set in `folder`. Raises `BadFile` unless it exists and lies below that folder."""
    if _URL.match(name):
        raise BadFile(f"{_shown(name)} is an address; put the file beside the data set")
    try:
        path = (folder / name).resolve()
        inside = path.is_relative_to(folder.resolve())
        there = inside and (path.is_file() or path.is_dir())
    except (OSError, ValueError, RuntimeError):
        raise BadFile(f"{_shown(name)} is not a file name") from None
    if not inside:
        raise BadFile(f"{_shown(name)} lies outside the data set's folder {folder}")
    if not there:
        raise BadFile(f"{_shown(name)} is not there in {folder}")
    return path


def _carried(content: Any, name: str) -> Path:
    if isinstance(content, bytes):
        return keep(content, Path(name).suffix)
    if not isinstance(content, str):
        raise BadFile(f"content as a {type(content).__name__}; base64, a data: URL or bytes were expected")
    if len(content) > 2 * MAX_INLINE:
        raise BadFile(f"a file of more than {MAX_INLINE >> 20} MB inside the row")
    head = _DATA_URL.match(content)
    if head is None:
        if _URL.match(content):
            raise BadFile(f"{_shown(content)} is an address; put the file beside the data set")
        return keep(_base64(content), Path(name).suffix)
    kind = (head[1] or "").lower()
    rest = content[head.end() :]
    ending = _ENDINGS.get(kind) or mimetypes.guess_extension(kind) or ""
    return keep(_base64(rest) if head[3] else unquote_to_bytes(rest), Path(name).suffix or ending)


def _base64(text: str) -> bytes:
    try:
        return base64.b64decode(re.sub(r"\s+", "", text), validate=True)
    except (binascii.Error, ValueError):
        raise BadFile(f"{_shown(text)} is not base64") from None


def keep(content: bytes, ending: str = "") -> Path:
    """A file of the cache that holds `content`. Raises `BadFile` for too much of it, OSError when the disk refuses."""
    if not content or len(content) > MAX_INLINE:
        raise BadFile("an empty file" if not content else f"a file of more than {MAX_INLINE >> 20} MB inside the row")
    if not re.fullmatch(r"\.[A-Za-z0-9]{1,8}", ending):
        ending = next((known for magic, known in _MAGIC if content.startswith(magic)), ".bin")
    digest = hashlib.sha256(content).hexdigest()
    path = cache_dir() / "datasets" / "files" / digest[:2] / f"{digest[2:26]}{ending.lower()}"
    if not (path.is_file() and path.read_bytes() == content):
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, content)
    return path.resolve()


def _shown(name: str) -> str:
    return repr(name if len(name) <= 60 else name[:59] + "…")
