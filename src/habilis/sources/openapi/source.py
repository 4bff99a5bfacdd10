"""A source of tools: the operations of one OpenAPI document."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from habilis.config import SourceSettings
from habilis.core.errors import UserError
from habilis.core.masker import MASKER
from habilis.core.ports import ExternalTool
from habilis.sources.foreign.auth import Credentials, credentials, hidden_names, origin
from habilis.sources.openapi.calling import Line, OpenApiTool
from habilis.sources.openapi.document import read_document
from habilis.sources.openapi.operations import home_of, operations
from habilis.sources.openapi.reaching import refusal, spelled_out

if TYPE_CHECKING:
    import httpx


class OpenApiSource:
    """The port `ToolSource` over an OpenAPI document. Several tasks may have it open at once."""

    def __init__(self, settings: SourceSettings) -> None:
        """`settings.openapi` is the path or address of the document."""
        self._settings = settings
        self._client: httpx.AsyncClient | None = None
        self._users = 0
        self._hushed: list[Callable[[], None]] = []

    async def open(self) -> Sequence[ExternalTool]:
        """Read the document and check the secret. Raises `UserError`."""
        self._users += 1
        said = self._settings
        document = await read_document(said.openapi or "", timeout_s=said.open_timeout_s)
        found = await asyncio.to_thread(operations, document, said.base_url, hidden_names(said.auth))
        if not found:
            raise UserError(f"{document.where} holds no operation")
        asks = credentials(said.auth)
        if asks is None:
            lacking = f"the environment variable {said.auth.secret_env if said.auth else ''} is not set"
            return [OpenApiTool(operation, lacking=(lacking,)) for operation in found]
        home = home_of(document, said.base_url) or next((one.url for one in found if not one.unusable), "")
        self._hushed.append(asks.hush())
        known = spelled_out(said.base_url, document.where)
        fetched = document.where.startswith(("http://", "https://"))
        line = Line(self._connected(), asks, home, said.timeout_s, said.max_mb << 20, known, fetched)
        await self._check(line, asks)
        return [OpenApiTool(operation, line) for operation in found]

    async def aclose(self) -> None:
        """Close the connections, once nobody has it open any more."""
        if self._hushed:
            self._hushed.pop()()
        self._users -= 1
        if self._users <= 0 and self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    def _connected(self) -> httpx.AsyncClient:
        import httpx

        if self._client is None:
            self._client = httpx.AsyncClient(timeout=self._settings.timeout_s, follow_redirects=False)
        return self._client

    async def _check(self, line: Line, asks: Credentials) -> None:
        """Have the service look at the secret, where settings say how."""
        import httpx

        auth = self._settings.auth
        if auth is None or auth.check is None:
            return
        url = urljoin(line.home.rstrip("/") + "/", auth.check.lstrip("/"))
        if origin(url) != origin(line.home):
            raise UserError(f"auth.check must be a path of {line.home}")
        try:
            async with asyncio.timeout(line.timeout_s):
                if inward := await refusal(url, line.known, fetched=line.fetched):
                    raise UserError(f"the secret in {asks.name} is not sent: {inward}")
                reply = await line.client.get(url, headers=dict(asks.headers), params=dict(asks.query) or None)
        except (httpx.HTTPError, httpx.InvalidURL, OSError, TimeoutError) as error:
            told = MASKER.text(str(error) or type(error).__name__)
            raise UserError(f"the secret in {asks.name} could not be checked: {told}") from None
        if reply.status_code in (401, 403):
            raise UserError(f"the secret in {asks.name} was refused (HTTP {reply.status_code} of {auth.check})")
