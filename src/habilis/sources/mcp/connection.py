"""One connection to an MCP server. A task of its own opens and closes it: the SDK wants both in one task."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any

from habilis.core.errors import UserError
from habilis.core.masker import MASKER
from habilis.core.types import CallOutcome
from habilis.sources.foreign.auth import Credentials
from habilis.sources.foreign.presenting import one_line
from habilis.sources.mcp.program import GRACE_S, Program

if TYPE_CHECKING:
    from mcp import Client

log = logging.getLogger(__name__)

MAX_TOOLS, MAX_PAGES = 1_000, 100


class Connection:
    """A client of one server, connected by `start`, and for good closed by `aclose`."""

    def __init__(self, server: Program | HttpServer, *, timeout_s: float) -> None:
        """`timeout_s` is for single requests. Seconds."""
        self._server, self._timeout_s = server, timeout_s
        self._stop = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None
        self._connected = False

    async def start(self) -> Client:
        """Connect. Raises `UserError` with what the server, or the SDK, had to say."""
        ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._keeper = asyncio.create_task(self._keep(ready))
        try:
            return await ready
        finally:
            if not ready.done() or ready.cancelled() or ready.exception() is not None:
                await self.aclose()

    async def _keep(self, ready: asyncio.Future[Client]) -> None:
        from mcp import Client
        from mcp_types import Implementation

        from habilis import __version__

        try:
            streams: Any = self._server.streams()
            us = Implementation(name="habilis", version=__version__)
            client = Client(streams, read_timeout_seconds=self._timeout_s, client_info=us, cache=None)
            async with client:
                # The SDK checks by whatever schema the server sends, for as long as it takes. A result is data here:
                # a model is shown what a server said.
                client.session.validate_tool_result = _taken_as_it_is  # type: ignore[method-assign]
                self._connected = True
                if not ready.done():
                    ready.set_result(client)
                await self._stop.wait()
        except Exception as error:  # whatever an SDK and a stranger's server come to, it ends this connection alone
            log.debug("the connection to %s ended", self._server.name, exc_info=error)
            if not ready.done():
                ready.set_exception(self._told(error))

    def _told(self, error: BaseException) -> UserError:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, UserError):
            return error
        words = self._server.last_words
        told = one_line(self._server.cleaned(str(error) or type(error).__name__), 300)
        return UserError(f"no MCP server answers: {told}{f' (its last words: {words})' if words else ''}")

    async def aclose(self) -> None:
        """Close, and end the program; when that is cut short, the program ends all the same."""
        self._stop.set()
        keeper = self._keeper
        if keeper is None:
            return
        if not self._connected:
            keeper.cancel()  # it waits for a handshake
        try:
            done, _ = await asyncio.wait([keeper], timeout=3 * GRACE_S)
        finally:
            if not keeper.done():
                self._server.kill()
                keeper.cancel()
        if not done:
            with contextlib.suppress(asyncio.CancelledError):
                await keeper


async def _taken_as_it_is(name: str, result: Any) -> None:
    """Check nothing."""


class HttpServer:
    """A server behind an address. Its answers are bounded, its secret goes to this address alone."""

    def __init__(self, name: str, url: str, asks: Credentials, *, timeout_s: float, max_bytes: int) -> None:
        self.name, self.last_words = name, ""
        self._url, self._asks, self._timeout_s, self._max_bytes = url, asks, timeout_s, max_bytes

    def streams(self) -> AbstractAsyncContextManager[tuple[Any, Any]]:
        """The streams of messages from and to it. The SDK follows redirects on the same origin alone."""
        return self._streams()

    @asynccontextmanager
    async def _streams(self) -> AsyncIterator[tuple[Any, Any]]:
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        end = self._asks.hush()
        try:
            async with (
                httpx2.AsyncClient(
                    headers={"Accept-Encoding": "identity", **self._asks.headers},
                    params=dict(self._asks.query) or None,
                    timeout=httpx2.Timeout(self._timeout_s, read=max(self._timeout_s, 300.0)),
                    event_hooks={"response": [self._bound]},
                ) as client,
                streamable_http_client(self._url, http_client=client, max_sse_event_size=self._max_bytes) as streams,
            ):
                yield streams
        finally:
            end()

    async def _bound(self, response: Any) -> None:
        """Break off a single answer that is too long; events of a stream are bounded by the SDK.

        Both count what came over the line, so nothing may come packed that is a thousand times longer unpacked.
        """
        import httpx2

        if (packing := response.headers.get("content-encoding", "identity")) not in ("", "identity"):
            raise httpx2.DecodingError(f"the answer is packed as {one_line(packing, 40)!r}, which was not asked for")
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = bounded(response.stream, self._max_bytes)

    def cleaned(self, text: str) -> str:
        """`text` without the secret."""
        return MASKER.text(text)

    def outcome(self, outcome: CallOutcome) -> CallOutcome:
        """A call's outcome without it."""
        return MASKER.outcome(outcome)

    def kill(self) -> None:
        """There is no process of ours."""


def bounded(stream: Any, limit: int) -> Any:
    """A stream of bytes that fails once more than `limit` came."""
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            seen = 0
            async for chunk in stream:
                seen += len(chunk)
                if seen > limit:
                    raise httpx2.ReadError(f"the answer is larger than {limit >> 20} MiB")
                yield chunk

        async def aclose(self) -> None:
            await stream.aclose()

    return Bounded()
