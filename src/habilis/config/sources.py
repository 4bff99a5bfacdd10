"""Where tools of other programs come from."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import Field, field_validator, model_validator

from habilis.core.types import Frozen


class AuthSettings(Frozen):
    """How a source is told who asks. Exactly one of `header`, `query` and `scheme`; without any, scheme bearer."""

    secret_env: str = Field(description="name of the environment variable that holds the secret (never the secret)")
    header: str | None = Field(None, description="header that carries the secret unchanged")
    query: str | None = Field(None, description="URL parameter that carries the secret")
    scheme: Literal["bearer", "basic"] | None = Field(
        None, description="bearer: Authorization with the secret as a token; basic: with the secret as user:password"
    )
    check: str | None = Field(None, description="path to fetch when a task begins, to check the secret")

    @field_validator("secret_env")
    @classmethod
    def _a_name(cls, name: str) -> str:
        if not re.fullmatch(_VARIABLE, name):
            raise ValueError("this is not the name of an environment variable; the secret itself does not belong here")
        return name

    @model_validator(mode="after")
    def _one_way(self) -> AuthSettings:
        if sum(way is not None for way in (self.header, self.query, self.scheme)) > 1:
            raise ValueError("give one of header, query and scheme")
        return self


_VARIABLE = r"[A-Za-z_][A-Za-z0-9_]{0,60}"


class McpSettings(Frozen):
    """An MCP server: a program that is started for each task, or an address."""

    command: tuple[str, ...] = Field((), description="program and arguments; speaks MCP on its standard streams")
    url: str | None = Field(None, description="address of a server that speaks streamable HTTP")
    env: tuple[str, ...] = Field((), description="environment variables passed to the program")
    cwd: str | None = Field(None, description="working folder of the program")
    trust_hints: bool = Field(False, description="believe the server when it says that a tool only reads")

    @model_validator(mode="after")
    def _one_server(self) -> McpSettings:
        if bool(self.command) == (self.url is not None):
            raise ValueError("give either command or url")
        return self


class SourceSettings(Frozen):
    """Where tools come from that are no modules of the library. Exactly one kind: `openapi` or `mcp`."""

    openapi: str | None = Field(None, description="path or address of an OpenAPI document (JSON or YAML)")
    mcp: McpSettings | None = Field(None, description="an MCP server")
    base_url: str | None = Field(
        None, description="for openapi: base address of the operations, instead of the document's servers"
    )
    auth: AuthSettings | None = Field(None, description="how requests authenticate")
    required: bool = Field(
        False, description="true: a task fails if this source provides no tools; false: it continues without them"
    )
    open_timeout_s: float = Field(30.0, gt=0, description="seconds that it may take to list its tools")
    timeout_s: float = Field(60.0, gt=0, description="seconds that one call may take")
    max_mb: int = Field(8, ge=1, le=256, description="size of one answer, MiB")

    @field_validator("openapi", "base_url")
    @classmethod
    def _without_user(cls, address: str | None) -> str | None:
        if address is not None and re.match(r"[a-zA-Z]+://[^/?#]*@", address):
            raise ValueError("the address holds a user's name; secrets belong into auth")
        return address

    @model_validator(mode="after")
    def _one_kind(self) -> SourceSettings:
        kinds = [name for name in SOURCE_KINDS if getattr(self, name) is not None]
        if len(kinds) != 1:
            raise ValueError(f"give exactly one of {', '.join(SOURCE_KINDS)}")
        if self.base_url is not None and self.openapi is None:
            raise ValueError("base_url belongs to openapi")
        return self


SOURCE_KINDS = ("openapi", "mcp")
"""Fields of a source that say what it is."""
