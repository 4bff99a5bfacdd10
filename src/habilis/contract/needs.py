"""What a tool must be given that a task cannot supply: a file where there is none, an address where none is said.

Conservative: a need is told only where nothing could meet it. What a parameter is wanted for stands in its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from habilis.contract.pictures import ENDINGS, can_be_seen
from habilis.core.patterns import lazy_pattern
from habilis.core.types import JsonSchema, Task

Need = Literal["file", "image", "address"]

_FILES = frozenset({"path", "file", "filename", "filepath", "folder", "directory", "dir"})
_IMAGES = frozenset({"image", "picture", "photo", "img", "screenshot"})
_ADDRESSES = frozenset({"url", "uri"})
_MADE = frozenset({"out", "output", "dest", "destination", "target", "save", "new", "result", "to"})
"""Words in the names of paths that a tool makes itself."""
_NO_FILE = lazy_pattern(
    r"json|xpath|xml|dotted|\bkeys?\b|graph|route|\burl\b|(?:to|be) (?:writ|sav|creat|ma[dk]e)|output", re.I
)
"""What is said of paths that lead through a document, or to what the tool makes."""
_FILE_SAID = lazy_pattern(
    r"[\w)-]\.[A-Za-z][A-Za-z0-9]{0,7}\b|[/\\~]\w|\b(?:files?|folders?|director(?:y|ies)|attach\w*)\b|文件|ファイル",
    re.I,
)
_ADDRESS_SAID = lazy_pattern(
    r"\w\.[^\W\d_]{2,}|://|\b(?:web\w*|urls?|online|internet|pages?|sites?|wikipedia|links?|download\w*|articles?)\b"
    r"|[^\x00-\u024f]",  # other scripts have their own words for these
    re.I,
)


@dataclass(frozen=True)
class Supply:
    """What a task has to give, or may have."""

    files: bool
    images: bool
    addresses: bool

    @classmethod
    def of(cls, task: Task, said: str, *, made: bool, seen: bool) -> Supply:
        """`said` is all that was said in the task. `made`: its tools made files; `seen`: one of them is an image."""
        files = made or bool(task.files or task.missing or _FILE_SAID.search(said))
        pictures = seen or can_be_seen(task.files) or any(ending in said.casefold() for ending in ENDINGS)
        return cls(files=files, images=pictures, addresses=files or bool(_ADDRESS_SAID.search(said)))

    def lacks(self, schema: JsonSchema) -> Need | None:
        """What a tool with this schema of arguments must be given, and the task has not."""
        wanted = set(_wanted(schema))
        if wanted & {"file", "image"} and not self.files:
            return "file"
        if "image" in wanted and not self.images:
            return "image"
        return "address" if "address" in wanted and not self.addresses else None


def _wanted(schema: JsonSchema) -> Iterator[Need]:
    """What the required texts of a schema stand for, as far as their names tell."""
    properties, required = schema.get("properties"), schema.get("required")
    for name in required if isinstance(required, list) and isinstance(properties, dict) else ():
        said = properties.get(name) if isinstance(properties, dict) else None
        if not isinstance(said, dict) or said.get("type") != "string":
            continue
        if need := need_of(str(name), said):
            yield need


def need_of(name: str, said: JsonSchema) -> Need | None:
    """What a text by this name, with what its schema says of it, must lead to; None where that is not plain."""
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())
    told = f"{said.get('description', '')} {said.get('title', '')}"
    if not words or _MADE & set(words):
        return None
    if words[-1] in _ADDRESSES or said.get("format") in ("uri", "url"):
        return "address"
    if words[-1] not in _FILES and words[-2:] != ["file", "name"]:
        return None
    if _NO_FILE.search(told) and "file" not in told.casefold():
        return None
    return "image" if _IMAGES & set(words) else "file"
