"""A server on loopback that answers byte by byte what a test says, and the tools of the web that may reach it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from habilis.config import CapabilitiesSettings, SandboxSettings, WebSettings
from habilis.contract.hosts import Address
from habilis.core.ports import ExternalTool
from habilis.core.types import CallOutcome
from habilis.runtime.grants import Grants
from habilis.sources.documents import Extracted, Part, Raw, decoded
from habilis.sources.documents.decoding import declared_in
from habilis.sources.web import Web
from habilis.sources.web.fetching import LIMITS
from habilis.testing import ScriptedGranter

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter, str], Awaitable[None]]


def http(body: bytes = b"", status: str = "200 OK", **fields: str) -> bytes:
    """A whole response."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


class Site:
    """What the server answers by path, and the heads and bodies of the requests that it saw."""

    def __init__(self) -> None:
        self.answers: dict[str, bytes | Answer] = {}
        self.asked: list[str] = []
        self.port = 0

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str) -> str:
        return f"http://{self.host}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            length = next(
                (line.partition(":")[2] for line in head.split("\r\n") if line[:15].lower() == "content-length:"), "0"
            )
            body = (await reader.readexactly(int(length))).decode()
            self.asked.append(head + body)
            answer = self.answers.get(head.split()[1].partition("?")[0], http(status="404 Not Found"))
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                await answer(reader, writer, head)
        except (OSError, asyncio.IncompleteReadError):
            return
        finally:
            writer.transport.abort()


class PlainReader:
    """Gives a document as its own text: what the readers do with it is another test's matter."""

    async def extract(self, documents: list[Raw]) -> list[Extracted]:
        read = [(raw.kind, decoded(raw.content, raw.declared or declared_in(raw.content))) for raw in documents]
        return [Extracted(parts=(Part(text=f"{kind}: {text.text if text else ''}"),)) for kind, text in read]


class Surfer:
    """The tools of the web under chosen settings. `names` are the addresses that its resolver knows."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.names: dict[str, list[Address]] = {}
        self.looked_up: list[str] = []
        self.granter: ScriptedGranter | None = None
        self.network = "listed"
        self.listed: tuple[str, ...] = (site.host,)
        self.reader: Any = PlainReader()
        self.web: Web | None = None
        self.limits = LIMITS

    async def tools(self, **settings: Any) -> dict[str, ExternalTool]:
        rules = CapabilitiesSettings.model_validate({"network": self.network, "network_list": self.listed})
        self.web = Web(
            WebSettings.model_validate({"read_page": True, **settings}),
            Grants(rules, granter=self.granter),
            SandboxSettings(),
            print,
            resolve=self.resolve,
            extractor=self.reader,
            limits=self.limits,
        )
        return {tool.spec.name: tool for tool in await self.web.open()}

    async def resolve(self, host: str, port: int) -> list[Address]:
        self.looked_up.append(host)
        return self.names.get(host, [])

    async def read(self, url: str, **settings: Any) -> CallOutcome:
        """What `read_page` gives."""
        tools = await self.tools(**settings)
        return await tools["read_page"].call({"url": url}, workspace=Path())

    async def failure(self, url: str, **settings: Any) -> tuple[str, str]:
        outcome = await self.read(url, **settings)
        assert outcome.error is not None, outcome.output
        return outcome.error.kind, outcome.error.message

    async def search(self, query: str, search: Mapping[str, Any]) -> CallOutcome:
        tools = await self.tools(search=search)
        return await tools["web_search"].call({"query": query}, workspace=Path())


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    site = Site()
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    yield site
    server.close()


@pytest.fixture
async def surfer(site: Site) -> AsyncIterator[Surfer]:
    surfer = Surfer(site)
    yield surfer
    if surfer.web is not None:
        await surfer.web.aclose()
