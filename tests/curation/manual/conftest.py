"""A small library with proven tools, tended by hand over a host that runs tools in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from habilis.config import Settings, load_settings
from habilis.curation.manual.tending import Tending
from habilis.library import Library

from ..merging.conftest import Stage, adding, module

SUMS: tuple[Mapping[str, Any], ...] = tuple({"a": n, "b": 2 * n} for n in range(1, 7))
PLUS: tuple[Mapping[str, Any], ...] = tuple({"a": n, "b": 3 * n} for n in range(1, 4))
WORDS: tuple[Mapping[str, Any], ...] = ({"text": "a b"}, {"text": "one two three"})
COUNT = module(
    "count_words",
    "    return OutputModel(words=len(input.text.split()))",
    "text: str",
    "words: int | None",
    description="Count the words of a text.",
)


class Desk(Stage):
    """A library of three tools: two add, one counts words."""

    settings: Settings = load_settings(environ={})

    async def laid(self) -> Desk:
        """The library as its first step left it."""
        tools = {"add_numbers": adding(description="Add two numbers."), "count_words": COUNT}
        plus = adding("plus", gives="value: int | None", description="Add two numbers together.")
        first = await self.task("t1", tools, {"add_numbers": SUMS, "count_words": WORDS})
        second = await self.task("t2", {"plus": plus}, {"plus": PLUS})
        await self.curator(models=False).step(1, [first])
        tending = self.tending()
        await tending.promote(Path(second.folder) / "tools" / "plus.py")
        return self

    def tending(self, **more: Any) -> Tending:
        return Tending(self.library, self.settings, host=self.host, **more)  # type: ignore[arg-type]

    def now(self) -> Library:
        return Library(self.library)

    def calls(self, name: str) -> Sequence[Any]:
        return self.now().records(name)


@pytest.fixture
async def desk(tmp_path: Path) -> Desk:
    return await Desk(tmp_path).laid()
