"""Tools of an MCP server as tools of a library: one module each, which speaks with the server by itself.

Such a tool asks for the server's host and for the variable that holds the secret, by name, and is held like any other:
nothing of either is granted by importing it. A server that is a program cannot be reached from inside the sandbox; only
where it serves a library of ours with its sources, these are taken over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from habilis.config import AuthSettings, McpSettings, Settings, SourceSettings
from habilis.contract.contract import MAX_SOURCE_BYTES
from habilis.contract.names import safe_name
from habilis.core.errors import UserError
from habilis.core.types import ToolSpec
from habilis.exchange.composing import asked_for, input_model, literal, meta_of, module_of, program
from habilis.exchange.serving import META_DIGEST, META_SOURCE
from habilis.exchange.surveying import ImportCandidate, Unfit
from habilis.library.tool import digest_of
from habilis.schemas.references import pointed
from habilis.sources.foreign.presenting import presented
from habilis.sources.mcp import McpSource
from habilis.sources.mcp.source import McpTool

PREFIX = "mcp:"
MAX_DEPTH = 8
PROGRAM = (
    "its server is a program, which runs outside the sandbox where no tool of a library reaches it; "
    "under sources in the settings it serves tasks"
)
IMPORTS = """from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema"""
OUTPUT = """class OutputModel(BaseModel):
    result: Any = None
    error: str | None = None"""


def is_server(source: str) -> bool:
    """Whether a source is an MCP server: `mcp:` and its address, or its name among the settings' sources."""
    return source.startswith(PREFIX)


async def tools_of_server(source: str, settings: Settings, secret_env: str = "") -> list[ImportCandidate | Unfit]:
    """The tools of the server as sources of tools. `secret_env` names the variable with the secret of an address.

    Of a library that is served with its sources these are the tools themselves. Raises `UserError` for a server that
    is not there.
    """
    said = source.removeprefix(PREFIX)
    server = _meant(said, settings, secret_env)
    assert server.mcp is not None
    opened, secret, url = McpSource(said, server), _secret(server.auth), server.mcp.url
    try:
        async with asyncio.timeout(server.open_timeout_s):
            tools = [tool for tool in await opened.open() if isinstance(tool, McpTool)]
        found: list[ImportCandidate | Unfit] = []
        for tool in tools:
            label = f"{source}#{tool.spec.name}"
            if META_SOURCE in tool.meta:
                found.append(await _handed_on(opened, tool, label))
            elif url is not None:
                found.append(_tool(tool.spec, url, secret, label))
            else:
                found.append(Unfit(label, PROGRAM, True))
    except TimeoutError:
        raise UserError(f"{source}: no answer within {server.open_timeout_s:g} s") from None
    except UserError as error:
        raise UserError(f"{source}: {error}") from None
    finally:
        await opened.aclose()
    if not found:
        raise UserError(f"{source} has no tools")
    return found


async def _handed_on(server: McpSource, tool: McpTool, label: str) -> ImportCandidate | Unfit:
    """The tool of a library that is served with its sources: the very source, by its digest."""
    source = (await server.read(str(tool.meta[META_SOURCE]))).encode("utf-8", "surrogatepass")
    if len(source) > MAX_SOURCE_BYTES:
        return Unfit(label, "it is longer than 1 MiB", True)
    if digest_of(source) != tool.meta.get(META_DIGEST):
        return Unfit(label, "its source is not what its digest says", True)
    return ImportCandidate(label, tool.spec.name, source)


def _meant(said: str, settings: Settings, secret_env: str) -> SourceSettings:
    if not said.startswith(("http://", "https://")):
        known = settings.sources.get(said)
        if known is None or known.mcp is None:
            raise UserError(f"{PREFIX}{said}: give the address of an MCP server, or the name of one under sources")
        if secret_env:
            raise UserError(f"--secret-env {secret_env}: {PREFIX}{said} has its own auth in the settings")
        return known
    if "@" in said.partition("://")[2].partition("/")[0]:
        raise UserError("the address holds a user's name; name the variable with the secret by --secret-env instead")
    try:
        auth = AuthSettings(secret_env=secret_env) if secret_env else None
        return SourceSettings(mcp=McpSettings(url=said), auth=auth)
    except ValidationError:
        raise UserError(f"--secret-env {secret_env}: expected the name of an environment variable") from None


def _secret(auth: AuthSettings | None) -> dict[str, str] | None:
    """How the server is told who asks, and the name of the variable."""
    if auth is None:
        return None
    if auth.header or auth.query:
        place, name = ("header", auth.header) if auth.header else ("query", auth.query)
        return {"env": auth.secret_env, "place": place, "name": name or "", "before": ""}
    if auth.scheme == "basic":
        return {"env": auth.secret_env, "place": "basic", "name": "Authorization", "before": "Basic "}
    return {"env": auth.secret_env, "place": "header", "name": "Authorization", "before": "Bearer "}


def _tool(spec: ToolSpec, url: str, secret: Mapping[str, str] | None, label: str) -> ImportCandidate | Unfit:
    schema = spec.parameters
    if not isinstance(schema, dict) or not isinstance(schema.get("properties", {}), dict):
        return Unfit(label, "what it takes is not described as an object", True)
    name = safe_name(spec.name)
    plain = ToolSpec(name=spec.name, description=spec.description, parameters=_inlined(schema, schema))
    source = source_of(presented(plain, spec.name), name, url, secret)
    return ImportCandidate(label, name, source.encode("utf-8"), notes=(asked_for(url, secret),))


def source_of(spec: ToolSpec, name: str, url: str, secret: Mapping[str, str] | None) -> str:
    """The source of the tool called `name`, which the server at `url` knows by its name in `spec`."""
    meta = meta_of(name, spec.description, "writes", url, secret)
    server = {"url": url, "tool": spec.name, "secret": dict(secret) if secret else None}
    parts = [
        f"SERVER: Any = {literal(server)}",
        input_model(spec.parameters, exact=True),
        OUTPUT,
        program("speaking.py"),
    ]
    title = f"The tool {spec.name} of the MCP server {url}."
    return module_of(title, IMPORTS, meta, parts, "result_of(SERVER, given)")


def _inlined(node: Any, whole: Mapping[str, Any], seen: tuple[str, ...] = ()) -> Any:
    """A schema with what its references lead to in their place; anything goes where one leads out, or in circles."""
    if isinstance(node, list):
        return [_inlined(item, whole, seen) for item in node]
    if not isinstance(node, dict):
        return node
    reference = node.get("$ref")
    if isinstance(reference, str):
        if reference in seen or len(seen) >= MAX_DEPTH or not reference.startswith("#/"):
            return {}
        try:
            found = pointed(whole, reference)
        except KeyError:
            found = None
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return _inlined({**(found if isinstance(found, dict) else {}), **beside}, whole, (*seen, reference))
    kept = {key: value for key, value in node.items() if key not in ("$defs", "definitions") or "type" not in node}
    return {key: _inlined(value, whole, seen) for key, value in kept.items()}
