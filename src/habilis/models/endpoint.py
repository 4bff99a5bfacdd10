"""One server that speaks chat completions: a request of JSON, and its reply, whole or as server-sent events.

Protocols: https://platform.openai.com/docs/api-reference and
https://html.spec.whatwg.org/multipage/server-sent-events.html. No client library stands between: to import the one of
OpenAI took two fifths of the time until a task's first request.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx

from habilis import __version__
from habilis.models.failures import StatusError, unreadable

_END = b"[DONE]"
_END_S = 1.0
"""Seconds in which a stream ends by itself behind its last event, so that its connection can serve again."""


class Endpoint:
    """A server that is asked. All raise `StatusError`, `BadReply` for what cannot be read, and errors of httpx."""

    def __init__(self, http: Any, base_url: str, key: str, headers: Mapping[str, str] | None = None) -> None:
        """`http`: a client of httpx, or of its successor. Paths lie below `base_url`. `headers` go with each request,
        and stand above ours."""
        self._http, self._base_url = http, base_url
        ours = {"Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream"}
        ours |= {"Content-Type": "application/json", "User-Agent": f"habilis/{__version__}"}
        self._headers = httpx.Headers(ours)
        self._headers.update(headers)

    async def get(self, path: str) -> Any:
        """What is at `path`: JSON, or text where it is none."""
        async with self._sent("GET", path) as response:
            return _read(response, await response.aread())

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The reply to `body`: JSON, or text where it is none."""
        async with self._sent("POST", path, body) as response:
            return _read(response, await response.aread())

    async def events(self, path: str, body: Mapping[str, Any]) -> AsyncGenerator[Any]:
        """What the events of the reply to `body` hold, one by one; of a server that does not stream, all at once."""
        async with self._sent("POST", path, body) as response:
            if response.headers.get("content-type", "").startswith("application/json"):
                yield _read(response, await response.aread())
                return
            pieces = response.aiter_bytes()
            async for data in _data(pieces):
                if data.startswith(_END):
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(_END_S):
                            async for _ in pieces:
                                pass
                    return
                yield _parsed(data)

    @asynccontextmanager
    async def _sent(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> AsyncIterator[Any]:
        """The head of the reply, its body still to be read."""
        url = self._base_url + path
        # Half a character, which JSON can only escape, would make the rest impossible to send.
        content = None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "backslashreplace")
        try:
            async with self._http.stream(method, url, content=content, headers=self._headers) as response:
                if not response.is_success:
                    raise StatusError(response, (await response.aread()).decode("utf-8", "replace"))
                yield response
        except (httpx.InvalidURL, UnicodeError) as error:
            raise httpx.ConnectError(str(error)) from error


def _read(response: Any, content: bytes) -> Any:
    """The body of a reply. What is not called JSON may be some all the same."""
    called = response.headers.get("content-type", "").partition(";")[0].strip().endswith("json")
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        if called or isinstance(error, RecursionError):
            raise unreadable(error) from None
        return content.decode("utf-8", "replace")


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise unreadable(error) from None


async def _data(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The data of each event. An event ends with a blank line; one that the stream breaks off counts for nothing."""
    held: list[bytes] = []
    async for line in _lines(pieces):
        name, _, value = line.partition(b":")
        if not line:
            if held:
                yield b"\n".join(held)
            held = []
        elif name == b"data":
            held.append(value.removeprefix(b" "))


async def _lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The lines of a stream, which may end in LF, CR LF or CR."""
    rest: list[bytes] = []
    async for piece in pieces:
        rest.append(piece)
        if b"\n" not in piece and b"\r" not in piece:
            continue
        lines = b"".join(rest).splitlines(keepends=True)
        # Behind a CR at the end, its LF may still come.
        rest = [] if lines[-1].endswith(b"\n") else [lines.pop()]
        for line in lines:
            yield line.rstrip(b"\r\n")
    for line in b"".join(rest).splitlines():
        yield line
