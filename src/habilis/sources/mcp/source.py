"""A source of tools: one MCP server. Whatever it says of itself is data, never an instruction of ours."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.config import SourceSettings, secret
from habilis.core.errors import UserError
from habilis.core.ports import ExternalTool
from habilis.core.types import CallOutcome, Effects, ToolSpec
from habilis.sources.foreign.answers import UNKNOWN, failed, late
from habilis.sources.foreign.auth import credentials
from habilis.sources.foreign.presenting import is_within, kept, one_line, version_of
from habilis.sources.mcp.connection import MAX_PAGES, MAX_TOOLS, Connection, HttpServer
from habilis.sources.mcp.content import outcome_of_result
from habilis.sources.mcp.program import Program

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import Tool as Listed

SHOWN_CHARS = 800
MAX_NAME_CHARS, MAX_META_CHARS = 1_000, 4_000
MAX_RESTARTS = 1


class McpSource:
    """The port `ToolSource` over an MCP server. Several tasks may have it open at once; they share the server."""

    def __init__(self, name: str, settings: SourceSettings) -> None:
        if settings.mcp is None:
            raise ValueError(f"source {name} is no MCP server")
        self._name, self._settings, self._said = name, settings, settings.mcp
        self._server: Program | HttpServer | None = None
        self._connection: Connection | None = None
        self._client: Client | None = None
        self._restarts = 0
        self._users = 0
        self._turn = asyncio.Lock()

    async def open(self) -> Sequence[ExternalTool]:
        """Connect and ask which tools there are. Raises `UserError`."""
        self._users += 1
        _sdk()
        async with self._turn:
            client = await self._connected()
        listed = await self._listed(client)
        version = client.server_info.version if client.server_info else ""
        return [
            McpTool(self, tool.name, _spec(tool), self._effects(tool), _digest(version, tool), dict(tool.meta or {}))
            for tool in listed
        ]

    async def read(self, uri: str) -> str:
        """The text at an address of the server's own. Raises `UserError`."""
        try:
            async with asyncio.timeout(self._settings.timeout_s), self._turn:
                found = await (await self._connected()).read_resource(uri)
        except Exception as error:  # see `call`
            told = one_line(self._cleaned(str(error) or type(error).__name__), 300)
            raise UserError(f"the MCP server does not give {one_line(uri, 200)}: {told}") from None
        return "".join(getattr(part, "text", "") for part in found.contents)

    async def aclose(self) -> None:
        """Disconnect and end the server, once nobody has it open any more."""
        self._users -= 1
        if self._users <= 0 and self._connection is not None:
            connection, self._connection, self._client, self._restarts = self._connection, None, None, 0
            await connection.aclose()

    async def call(self, tool: str, arguments: Mapping[str, Any], workspace: Path, effects: Effects) -> CallOutcome:
        """Call a tool of the server. A server that is gone is started again, once while it is open."""
        try:
            async with self._turn:
                client = await self._connected()
        except UserError as error:
            return failed("unavailable", f"{error}; go on without it")
        limit = self._settings.timeout_s
        try:
            async with asyncio.timeout(limit + 1):  # the SDK's own limit comes first, and tells the server
                result = await client.call_tool(tool, dict(arguments), read_timeout_seconds=limit)
        except TimeoutError:
            return late(limit, effects)
        except Exception as error:  # whatever an SDK and a stranger's server come to is a value for the model
            return await self._failed(error, client, effects)
        outcome = outcome_of_result(result, workspace)
        return self._server.outcome(outcome) if self._server is not None else outcome

    async def _failed(self, error: BaseException, client: Client, effects: Effects) -> CallOutcome:
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED, INVALID_PARAMS, REQUEST_TIMEOUT

        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        told = one_line(self._cleaned(str(error) or type(error).__name__), SHOWN_CHARS)
        if not isinstance(error, MCPError):
            if isinstance(error, RuntimeError):
                return failed("bad_output", f"the server's answer is not what it promised: {told}")
            await self._lost(client)
            return _gone(told, effects)
        if error.code == REQUEST_TIMEOUT:
            return late(self._settings.timeout_s, effects)
        if error.code == CONNECTION_CLOSED:
            await self._lost(client)
            return _gone(self._server.last_words if self._server else "", effects)
        if error.code == INVALID_PARAMS:
            return failed("invalid_arguments", f"the server refuses the arguments: {told}")
        return failed("unavailable", f"the server gave an error: {told}")

    async def _connected(self) -> Client:
        """The client, connected; again, if the connection was lost. Raises `UserError`."""
        if self._client is not None:
            return self._client
        if self._connection is not None or self._restarts > MAX_RESTARTS:
            raise UserError("the MCP server ended, and again after a restart")
        self._server = self._server or self._made()
        connection = self._connection = Connection(self._server, timeout_s=self._settings.timeout_s)
        try:
            self._client = await connection.start()
        except UserError:
            self._connection = None
            self._restarts += 1
            raise
        return self._client

    async def _lost(self, client: Client) -> None:
        """Note that the connection is of no use any more; the next call makes a new one."""
        async with self._turn:
            if self._client is client and self._connection is not None:
                connection, self._connection, self._client = self._connection, None, None
                self._restarts += 1
                await connection.aclose()

    def _made(self) -> Program | HttpServer:
        said, settings = self._said, self._settings
        absent = [name for name in said.env if secret(name) is None]
        asks = credentials(settings.auth)
        if asks is None and settings.auth is not None:
            absent.append(settings.auth.secret_env)
        if absent or asks is None:
            raise UserError(f"the environment variable {', '.join(absent)} is not set")
        size = settings.max_mb << 20
        if said.url is not None:
            return HttpServer(self._name, said.url, asks, timeout_s=settings.timeout_s, max_bytes=size)
        return Program(self._name, said.command, said.env, said.cwd, size)

    async def _listed(self, client: Client) -> list[Listed]:
        """All tools that the server lists, page by page."""
        found: dict[str, Listed] = {}
        cursor: str | None = None
        seen: set[str | None] = {None}
        try:
            for _ in range(MAX_PAGES):
                page = await client.list_tools(cursor=cursor)
                for tool in page.tools[: MAX_TOOLS - len(found)]:
                    if len(tool.name) <= MAX_NAME_CHARS:
                        found.setdefault(tool.name, _bounded(tool))
                cursor = page.next_cursor
                if cursor in seen or len(found) >= MAX_TOOLS:
                    break
                seen.add(cursor)
        except Exception as error:  # see `call`
            told = one_line(self._cleaned(str(error) or type(error).__name__), 300)
            raise UserError(f"the MCP server does not say which tools it has: {told}") from None
        return list(found.values())

    def _effects(self, tool: Listed) -> Effects:
        """`writes`, unless settings have us believe a server that says that its tool only reads."""
        said = tool.annotations
        reads = said is not None and said.read_only_hint is True
        return "reads" if reads and self._said.trust_hints else "writes"

    def _cleaned(self, text: str) -> str:
        return self._server.cleaned(text) if self._server is not None else text


@dataclass(frozen=True)
class McpTool:
    """One tool of a server (the port `ExternalTool`)."""

    source: McpSource
    own_name: str
    spec: ToolSpec
    effects: Effects
    version: str
    meta: Mapping[str, Any] = field(default_factory=dict)

    def missing(self) -> tuple[str, ...]:
        return ()

    async def call(self, arguments: Mapping[str, Any], *, workspace: Path) -> CallOutcome:
        return await self.source.call(self.own_name, arguments, workspace, self.effects)


def _sdk() -> None:
    """Raises `UserError` where the SDK is not installed."""
    try:
        import mcp  # noqa: F401
    except ImportError:
        raise UserError("MCP servers need a package that is not installed: pip install 'habilis[mcp]'") from None


def _bounded(tool: Listed) -> Listed:
    """As much of what a server lists as is kept: a page of tools may be megabytes, and there may be many."""
    said = tool.description or (tool.annotations.title if tool.annotations else None) or tool.title or ""
    spec = kept(ToolSpec(name=tool.name, description=said, parameters=tool.input_schema))
    meta = tool.meta if tool.meta is None or is_within(tool.meta, MAX_META_CHARS, 4) else None
    update = {"description": spec.description, "input_schema": spec.parameters, "output_schema": None, "meta": meta}
    return tool.model_copy(update={**update, "title": None, "icons": None})


def _spec(tool: Listed) -> ToolSpec:
    return ToolSpec(name=tool.name, description=tool.description or "", parameters=tool.input_schema)


def _digest(server_version: str, tool: Listed) -> str:
    return version_of(server_version, tool.name, tool.description, tool.input_schema)


def _gone(last_words: str, effects: Effects) -> CallOutcome:
    words = f" (its last words: {last_words})" if last_words else ""
    unknown = "" if effects == "reads" else f" {UNKNOWN}"
    return failed("unavailable", f"the server ended, or the connection to it did, during the call{words}.{unknown}")
