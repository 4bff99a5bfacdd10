"""A library as a server of the Model Context Protocol (modelcontextprotocol.io) over standard input and output.

The official SDK's low-level server speaks the protocol, in the forms of before and since 2026-07-28; tools keep their
own JSON schemas. Each call runs in the sandbox. A new generation of the library is noticed, served, and told of.
"""

from __future__ import annotations

import asyncio
import json
import logging
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from habilis.contract.records import set_error
from habilis.core.errors import HabilisError, PlaceError
from habilis.core.signals import hearing
from habilis.core.types import CallError, CallOutcome
from habilis.exchange.stdio import Lines, Output, taken
from habilis.library import Library, Tool
from habilis.messages.naming import unique_names
from habilis.schemas.checking import checker_of

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.lowlevel.server import Server

    from habilis.exchange.calling import Caller
    from habilis.exchange.redaction import Redaction

log = logging.getLogger(__name__)
PAGE = 200
"""Tools in one reply to a client that asks for the list; it asks for the next page with the cursor of this one."""
QUICK_CHARS = 10_000
"""An output of so many characters is checked at once, a longer one in a thread."""
MAX_STEPS = 1_000_000
"""Keywords that are evaluated for one output at most."""
LOOK_S = 0.5
"""Seconds between two looks at whether the library has changed."""
AT_ONCE = 8
"""Calls that run side by side; others wait."""
SOURCES, META_SOURCE, META_DIGEST = "habilis://tools/", "habilis/source", "habilis/digest"
"""Where clients read sources, and under which keys of a tool's `_meta` they find that, and the source's SHA-256."""


class Service:
    """What is served: the tools of one generation at a time, by the names that clients take."""

    def __init__(self, caller: Caller, path: Path, *, sources: Redaction | None = None) -> None:
        """With `sources`, clients may read the source of each tool that holds nothing that looks like a secret."""
        self._caller, self._path, self._sources = caller, path, sources
        self._room = asyncio.Semaphore(AT_ONCE)
        self._sessions: set[Any] = set()
        self._stamp: object = None
        self._tools: dict[str, Tool] = {}
        self.reload()

    def reload(self) -> bool:
        """Take the library as it is now; whether anything that clients see has changed."""
        stamp = _stamp(self._path)
        if stamp == self._stamp:
            return False
        before = {name: tool.version for name, tool in self._tools.items()}
        if self._path.resolve() != self._caller.library.path:
            self._caller.library = Library(self._path)
        self._stamp = stamp
        tools = self._caller.tools()
        names = unique_names([tool.spec.name for tool in tools])
        self._tools = dict(zip(names, tools, strict=True))
        return before != {name: tool.version for name, tool in self._tools.items()}

    def server(self) -> Server[Any]:
        """The protocol's server for all this."""
        from mcp.server.lowlevel.server import Server
        from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler

        from habilis import __version__

        self._bus = InMemorySubscriptionBus()
        return Server(
            "habilis",
            version=__version__,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_read_resource=self.read_source if self._sources else None,
            on_subscriptions_listen=ListenHandler(self._bus),
        )

    async def watch(self) -> None:
        """Notice new generations, and tell clients that the list has changed."""
        from mcp.server.subscriptions import ToolsListChanged

        while True:
            await asyncio.sleep(LOOK_S)
            try:
                changed = await asyncio.to_thread(self.reload)
            except (HabilisError, OSError) as error:  # a library that is being moved, say: the next look tells
                log.warning("library %s: %s", self._path, error)
                continue
            if changed:
                log.info("library %s has changed: %s tools", self._path, len(self._tools))
                await self._bus.publish(ToolsListChanged())
                for session in list(self._sessions):
                    await session.send_tool_list_changed()

    # --- what clients ask

    async def list_tools(self, ctx: Any, params: Any) -> types.ListToolsResult:
        import mcp_types as types

        self._sessions = {ctx.session}
        cursor = params.cursor if params is not None else None
        start = int(cursor) if cursor and cursor.isascii() and cursor.isdigit() else 0
        rows = list(self._tools.items())[start : start + PAGE]
        more = str(start + PAGE) if start + PAGE < len(self._tools) else None
        listed = [_shown(name, tool, source=self._source(tool) is not None) for name, tool in rows]
        return types.ListToolsResult(tools=listed, next_cursor=more)

    async def read_source(self, ctx: Any, params: Any) -> types.ReadResourceResult:
        """The source of one tool, byte for byte, so that it can be imported as what it is."""
        import mcp_types as types
        from mcp.shared.exceptions import MCPError

        tool = self._tools.get(str(params.uri).removeprefix(SOURCES))
        text = self._source(tool) if tool is not None else None
        if text is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no source at {params.uri}")
        content = types.TextResourceContents(uri=params.uri, mime_type="text/x-python", text=text)
        return types.ReadResourceResult(contents=[content])

    def _source(self, tool: Tool) -> str | None:
        """What is handed on of a tool's source; None for what is not."""
        if self._sources is None:
            return None
        try:
            text = tool.source()
        except (OSError, UnicodeDecodeError):
            return None
        return None if self._sources.secrets_in(text) else text

    async def call_tool(self, ctx: Any, params: Any) -> types.CallToolResult:
        """One call. What goes wrong with it is a result that says so, never an error of the protocol."""
        self._sessions = {ctx.session}
        tool = self._tools.get(params.name) or self._caller.get(params.name)
        if tool is None:
            text = f"there is no tool named {params.name}"
            return _failed(CallError(kind="unknown_tool", message=text))
        if missing := self._caller.missing(tool):
            return _failed(CallError(kind="denied", message="; ".join(missing)))
        try:
            async with self._room:
                outcome = await _whole(asyncio.create_task(self._caller.call(tool, params.arguments or {})))
        except PlaceError as error:
            return _failed(CallError(kind="unavailable", message=str(error)))
        return await self._result(tool, outcome)

    async def _result(self, tool: Tool, outcome: CallOutcome) -> types.CallToolResult:
        import mcp_types as types

        if outcome.error is not None:
            return _failed(outcome.error, outcome.refused)
        heavy = isinstance(outcome.output, str)  # JSON that was too much to be read
        said = outcome.output if heavy else json.dumps(outcome.output, ensure_ascii=False)
        text = types.TextContent(type="text", text=said)
        fits = isinstance(outcome.output, dict) and await self._fits(tool, outcome.output, len(text.text))
        failed = bool(set_error(outcome.output)) or (_structured(tool) and not fits)
        return types.CallToolResult(
            content=[text], structured_content=outcome.output if fits else None, is_error=failed
        )

    async def _fits(self, tool: Tool, output: Any, chars: int) -> bool:
        """Whether an output fits its tool's schema; what is too much to check does not. Long ones hold nobody up."""
        checker = checker_of(json.dumps(tool.output_schema, sort_keys=True))
        if checker is None:
            return False
        if chars < QUICK_CHARS:
            return checker.fits(output)
        return await asyncio.to_thread(checker.fits, output, steps=MAX_STEPS)


async def serve(caller: Caller, path: Path, *, sources: Redaction | None = None) -> None:
    """Serve the library at `path` until the input ends or a signal asks for the end. Calls that run are ended then."""
    from mcp.server.lowlevel.server import NotificationOptions
    from mcp.server.stdio import stdio_server

    await caller.start()
    service = Service(caller, path, sources=sources)
    server = service.server()
    options = server.create_initialization_options(NotificationOptions(tools_changed=True))
    with taken() as (source, target):
        lines = Lines(source)
        output = Output(target, lines.close)
        with hearing({signal.SIGTERM: lines.close, signal.SIGHUP: lines.close}):  # the end of the input
            async with stdio_server(cast(Any, lines), cast(Any, output)) as (reading, writing):
                watching = asyncio.create_task(service.watch())
                try:
                    await server.run(reading, writing, options)
                finally:
                    watching.cancel()
                    await asyncio.wait([watching])
        await output.aclose()


async def _whole(call: asyncio.Task[CallOutcome]) -> CallOutcome:
    """The outcome of a call. When the client gives it up, its processes are ended before this ends: the SDK cancels
    again and again, so the wait for that is out of its reach."""
    import anyio

    try:
        return await asyncio.shield(call)
    except asyncio.CancelledError:
        call.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([call])
        raise


def _shown(name: str, tool: Tool, *, source: bool) -> types.Tool:
    import mcp_types as types

    effects = tool.effects
    return types.Tool(
        name=name,
        description=tool.description,
        input_schema=tool.input_schema if tool.input_schema.get("type") == "object" else {"type": "object"},
        output_schema=tool.output_schema if _structured(tool) else None,
        annotations=types.ToolAnnotations(
            read_only_hint=effects != "writes",
            idempotent_hint=effects == "pure",
            open_world_hint=bool(tool.manifest.capabilities.network),
        ),
        _meta={META_SOURCE: f"{SOURCES}{name}", META_DIGEST: tool.manifest.digest} if source else None,
    )


def _structured(tool: Tool) -> bool:
    """Whether clients are told the form of the output: earlier versions of the protocol take objects alone."""
    return tool.output_schema.get("type") == "object"


def _failed(error: CallError, refused: tuple[str, ...] = ()) -> types.CallToolResult:
    import mcp_types as types

    told = "".join(f"\nrefused: {reason}" for reason in refused)
    text = types.TextContent(type="text", text=f"{error.kind}: {error.message}{told}")
    return types.CallToolResult(content=[text], is_error=True)


def _stamp(path: Path) -> object:
    """What differs when the library at `path` has changed: its generation, else the time of its folder."""
    real = path.resolve()
    try:
        status = real.stat()
    except OSError:
        return (str(real), 0)
    return (str(real), status.st_ino, status.st_mtime_ns)
