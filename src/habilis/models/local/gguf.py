"""What the head of a GGUF file says of its model, read without loading it.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

MAGIC = b"GGUF"
_STRING, _ARRAY = 8, 9
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_SHARD = re.compile(r"(.*)-\d{5}-of-(\d{5})\.gguf")
_CACHED_BYTES = 2
"""Of one number in the cache of keys and values: 16 bits."""


class NotReadable(Exception):
    """The file is no GGUF file, or a damaged one. The text says why."""


@dataclass(frozen=True)
class Head:
    """The fields of a GGUF file that are single values, and its size in bytes with all its parts."""

    size: int
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the model calls itself; may be empty."""
        return str(self.values.get("general.name") or "")

    @property
    def has_chat_template(self) -> bool:
        return bool(self.values.get("tokenizer.chat_template"))

    def memory(self, context_tokens: int) -> int:
        """Bytes that the model needs with a context of so many tokens: weights, keys and values, and some to work."""
        return self.size + self._cache(context_tokens) + (256 << 20)

    def _cache(self, context_tokens: int) -> int:
        names = ("block_count", "embedding_length", "attention.head_count")
        layers, width, heads = map(self._number, names)
        if not layers or not width or not heads:
            return 0
        per_head = self._number("attention.key_length") or width // heads
        kept = self._number("attention.head_count_kv") or heads
        return 2 * layers * kept * per_head * _CACHED_BYTES * context_tokens

    def _number(self, name: str) -> int:
        value = self.values.get(f"{self.values.get('general.architecture')}.{name}")
        return value if isinstance(value, int) and 0 < value < 1 << 32 else 0


def read_head(path: Path) -> Head:
    """The head of the file at `path`. Raises `NotReadable`, and `OSError` where the file cannot be read."""
    size = path.stat().st_size
    with path.open("rb") as file:
        reader = _Reader(file, size)
        if reader.take(4) != MAGIC:
            raise NotReadable("it does not begin as a GGUF file does")
        (version,) = reader.unpack("I")
        if version not in (2, 3):
            raise NotReadable(f"it is of version {version} of the format; 2 and 3 can be read")
        _, count = reader.unpack("QQ")
        values: dict[str, Any] = {}
        for _ in range(count):
            name, value = reader.text(), reader.value(*reader.unpack("I"))
            if value is not None:
                values[name] = value
    return Head(_whole_size(path, size), values)


def _whole_size(path: Path, size: int) -> int:
    """Bytes of all parts of a model that is kept in several files."""
    shard = _SHARD.fullmatch(path.name)
    if shard is None:
        return size
    parts = [
        part for part in path.parent.iterdir() if (m := _SHARD.fullmatch(part.name)) and m.groups() == shard.groups()
    ]
    if len(parts) != int(shard[2]):
        raise NotReadable(f"it is one of {int(shard[2])} parts, of which {len(parts)} are there")
    return sum(part.stat().st_size for part in parts)


class _Reader:
    """Little-endian values from a file whose lengths may lie."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = size

    def take(self, count: int) -> bytes:
        data = self._file.read(count) if count <= self._size else b""
        if len(data) != count:
            raise NotReadable("it ends before its head does")
        return data

    def unpack(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(f"<{form}", self.take(struct.calcsize(f"<{form}")))

    def text(self) -> str:
        (length,) = self.unpack("Q")
        return self.take(length).decode("utf-8", "replace")

    def value(self, kind: int, depth: int = 0) -> Any:
        """A single value; None for an array, which is passed over."""
        if kind == _STRING:
            return self.text()
        if kind in _SCALARS:
            return self.unpack(_SCALARS[kind])[0]
        if kind != _ARRAY or depth > 3:
            raise NotReadable(f"it holds a value of an unknown kind, {kind}")
        inner, count = self.unpack("IQ")
        if inner in _SCALARS:
            self._skip(count * struct.calcsize(f"<{_SCALARS[inner]}"))
        elif inner == _STRING:
            for _ in range(count):
                self._skip(self.unpack("Q")[0])
        else:
            for _ in range(count):
                self.value(inner, depth + 1)
        return None

    def _skip(self, count: int) -> None:
        if self._file.tell() + count > self._size:
            raise NotReadable("it ends before its head does")
        self._file.seek(count, 1)
