"""What a call costs over MCP: a tool served by `habilis serve`, sandboxed, and the same function in a bare MCP server.

    python benchmarks/serve.py [CALLS]

Both are programs of their own, called by the official client over their pipes, turn by turn, each with a pause before,
as an agent makes its calls.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from host import SMALL
from measure import Figure, machine, table

CALLS, PAUSE_S = 60, 0.03
BARE = """
import asyncio, json
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from small import InputModel, run

async def list_tools(ctx, params):
    return types.ListToolsResult(tools=[types.Tool(name="small", input_schema=InputModel.model_json_schema())])

async def call_tool(ctx, params):
    output = run(InputModel.model_validate(params.arguments)).model_dump(mode="json")
    text = types.TextContent(type="text", text=json.dumps(output))
    return types.CallToolResult(content=[text], structured_content=output)

async def main():
    server = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())

asyncio.run(main())
"""
"""What a user would write by hand: no sandbox, no limits, the function in the server's own process."""


@contextlib.asynccontextmanager
async def connected(folder: Path, *words: str) -> AsyncIterator[ClientSession]:
    """The official client of the Python program `words`."""
    server = StdioServerParameters(command=sys.executable, args=list(words), env=dict(os.environ), cwd=folder)
    async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as session:
        await session.initialize()
        await session.list_tools()
        yield session


async def timed(session: ClientSession, number: int) -> float:
    """Milliseconds of one call."""
    await asyncio.sleep(PAUSE_S)
    began = time.perf_counter()
    done = await session.call_tool("small", {"n": number})
    took = 1000 * (time.perf_counter() - began)
    if done.is_error or json.loads(done.content[0].text) != {"n": number + 1}:
        raise SystemExit(f"the call failed: {done}")
    return took


async def measured(calls: int) -> list[Figure]:
    folder = Path(tempfile.mkdtemp(prefix="habilis-bench-"))
    try:
        (folder / "library").mkdir()
        (folder / "library" / "small.py").write_text(SMALL)
        (folder / "small.py").write_text(SMALL)
        (folder / "bare.py").write_text(BARE)
        served, bare, first = [], [], 0.0
        words = ("-m", "habilis", "library", "import", "library", "--library", "ours")
        process = await asyncio.create_subprocess_exec(
            sys.executable, *words, cwd=folder, stdout=asyncio.subprocess.DEVNULL
        )
        if await process.wait():
            raise SystemExit("the tool could not be imported")
        ours = connected(folder, "-m", "habilis", "serve", "--library", "ours")
        async with ours as service, connected(folder, "bare.py") as other:
            first = await timed(service, -1)
            await timed(other, -1)
            for number in range(calls):
                served.append(await timed(service, number))
                bare.append(await timed(other, number))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return [
        Figure("call over MCP, served and sandboxed", "ms", served, "bare MCP server, no sandbox", bare),
        Figure("the first call", "ms", [first]),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("calls", nargs="?", type=int, default=CALLS)
    print(machine())
    print(table(asyncio.run(measured(parser.parse_args().calls))))


if __name__ == "__main__":
    main()
