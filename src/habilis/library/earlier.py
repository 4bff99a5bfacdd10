"""A library with tools in front of it that earlier turns of a conversation made, and that it has not taken in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from habilis.contract.records import RecordedCall
from habilis.library.folder import Library
from habilis.library.tool import Tool


class WithEarlier(Library):
    """The library in the folder `path`, and before it the libraries `earlier`, the first of them first. Only read."""

    def __init__(self, path: Path, earlier: Sequence[Library]) -> None:
        super().__init__(path)
        self._earlier = tuple(earlier)

    def tools(self) -> list[Tool]:
        """All tools that can be used, by name, each once."""
        found = {tool.name: tool for tool in super().tools()}
        for library in reversed(self._earlier):
            found |= {tool.name: tool for tool in library.tools()}
        return [found[name] for name in sorted(found)]

    def get(self, name: str) -> Tool | None:
        """The tool called `name`, that of the newest turn first."""
        found = (tool for library in self._earlier if (tool := library.get(name)) is not None)
        return next(found, None) or super().get(name)

    def records(self, name: str, version: str | None = None) -> list[RecordedCall]:
        """The recorded calls of tool `name` in all of them, the library's first, each call id once."""
        found = {call.call_id: call for call in super().records(name, version)}
        for library in reversed(self._earlier):
            found |= {call.call_id: call for call in library.records(name, version)}
        return list(found.values())

    def content(self, digest: str) -> bytes | None:
        """The content of a recorded file of any of them."""
        found = (content for library in self._earlier if (content := library.content(digest)) is not None)
        return next(found, None) or super().content(digest)
