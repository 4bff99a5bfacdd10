"""The connection to a model's server, tried step by step: each stands on the one before, the first wrong one ends it.

Nothing is paid before the reply; it, a call of a function and an answer by a schema cost a few tokens each.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from habilis.config import ModelsSettings, proxy_for, secret
from habilis.core.errors import ModelUnreachable, UserError
from habilis.core.types import Role
from habilis.models.client import Client, Clients
from habilis.models.failures import BadReply, Failure, expected, sort_out
from habilis.models.providers import address, connection, is_loopback, names_listed
from habilis.models.reaching import PATIENCE_S, looked_into, nearest, other_path, unreachable
from habilis.models.replies import usage_of
from habilis.models.request import Wire

MAX_TOKENS = 64
"""Tokens of each reply that is paid for."""
_FUNCTION = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Adds two numbers.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
    },
}
_SCHEMA = {
    "type": "object",
    "properties": {"sum": {"type": "integer"}},
    "required": ["sum"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class ConnectionStep:
    """One part of the connection. `problem`: nothing behind it can work; `todo` says what would mend it."""

    what: str
    state: Literal["ok", "warning", "problem"]
    text: str
    todo: str = ""


async def steps(models: ModelsSettings, role: Role) -> AsyncIterator[ConnectionStep]:
    """The steps to the model of `role`, each as soon as it is known; the last one is the first `problem`."""
    clients = Clients(models, lambda text: None)
    walk = _Walk(models, role, clients)
    try:
        for what, step in walk.all():
            try:
                yield await step()
            except (UserError, ModelUnreachable) as error:
                text, _, todo = str(error).rpartition("; ")
                yield ConnectionStep(walk.blamed or what, "problem", text or todo, todo if text else "")
                return
    finally:
        await clients.aclose()


class _Walk:
    """Where the steps to one model have come to."""

    def __init__(self, models: ModelsSettings, role: Role, clients: Clients) -> None:
        self._clients, self._role, self._settings = clients, role, models.role(role)
        self._listed: list[str] = []
        self._client: Client | None = None
        self.blamed = ""
        """The step that a later one found to be wrong."""
        where = urlsplit(address(self._settings))
        self._proxy = None if is_loopback(where.geturl()) else proxy_for(where.geturl())
        first = urlsplit(self._proxy[1]) if self._proxy else where
        self._host = first.hostname or ""
        self._secure = where.scheme == "https"
        self._first_secure = first.scheme == "https"

    def all(self) -> list[tuple[str, Callable[[], Awaitable[ConnectionStep]]]]:
        return [
            ("address", self._address),
            ("host", self._found),
            ("port", self._open),
            ("tls" if self._secure else "http", self._spoken),
            ("path", self._path),
            ("key", self._key),
            ("model", self._model),
            ("reply", self._reply),
            ("functions", self._functions),
            ("schema", self._schema),
        ]

    def _port(self) -> int:
        parts = urlsplit(self._proxy[1] if self._proxy else address(self._settings))
        return parts.port or (443 if self._first_secure else 80)

    async def _address(self) -> ConnectionStep:
        self._clients.check(self._role)
        base = self._settings.said_in("base_url", self._role) if self._settings.base_url else "the provider's own"
        by = f", through the proxy in {self._proxy[0]}" if self._proxy else ""
        return ConnectionStep("address", "ok", f"{address(self._settings)} ({base}){by}")

    async def _found(self) -> ConnectionStep:
        with_port = asyncio.get_running_loop().getaddrinfo(self._host, self._port())
        rows = await self._looked(with_port)
        found = ", ".join(dict.fromkeys(str(row[4][0]) for row in rows))
        return ConnectionStep("host", "ok", f"{self._host} is {found}")

    async def _open(self) -> ConnectionStep:
        _, writer = await self._looked(asyncio.open_connection(self._host, self._port()))
        writer.close()
        return ConnectionStep("port", "ok", f"{self._port()} takes connections")

    async def _spoken(self) -> ConnectionStep:
        """Any answer is one here."""
        async with connection(self._settings) as http:
            await self._looked(http.get(address(self._settings)), but=BadReply)
        if not self._secure:
            return ConnectionStep("http", "ok", "what listens there speaks HTTP")
        trusted = "not looked at (verify_ssl is off)" if self._settings.verify_ssl is False else "trusted"
        return ConnectionStep("tls", "ok", f"the certificate is {trusted}")

    async def _path(self) -> ConnectionStep:
        patient = self._settings.model_copy(update={"timeout_s": PATIENCE_S})
        try:
            self._listed = await names_listed(patient)
        except expected() as error:
            failure = sort_out(error)
            if failure.part == "key":
                self.blamed = "key"
            elif failure.part in ("", "path", "account") and not await other_path(self._settings):
                return ConnectionStep(
                    "path", "warning", f"no list of models is to be had ({failure.text}); some servers have none"
                )
            raise await unreachable(failure, self._settings, self._role) from None
        return ConnectionStep("path", "ok", f"models that it lists: {len(self._listed)}")

    async def _key(self) -> ConnectionStep:
        name = self._settings.api_key_env
        has = bool(secret(name))
        return ConnectionStep(
            "key", "ok", f"the key in {name} was not refused" if has else f"none in {name}, none asked for so far"
        )

    async def _model(self) -> ConnectionStep:
        name = self._settings.model
        if not name:
            first = self._listed[0] if self._listed else "none is listed"
            return ConnectionStep("model", "ok", f"none is named: the first that is listed ({first})")
        if self._listed and name not in self._listed:
            set_in = self._settings.said_in("model", self._role)
            near = ", ".join(nearest(name, self._listed))
            return ConnectionStep("model", "warning", f"{name} is not listed", f"set {set_in} to one of {near}")
        return ConnectionStep("model", "ok", name)

    async def _reply(self) -> ConnectionStep:
        self._client = await self._clients.get(self._role)
        reply = await self._asked("Say: yes", Wire(max_tokens=MAX_TOKENS))
        cost = usage_of(reply, lambda: 0).total_tokens
        return ConnectionStep("reply", "ok", f"{self._client.name} replies (it cost about {cost} tokens)")

    async def _functions(self) -> ConnectionStep:
        wire = Wire(tools=[_FUNCTION], max_tokens=MAX_TOKENS)
        reply = await self._asked("Add 2 and 3. Use the function.", wire, refusable=True)
        if reply is None:
            return ConnectionStep("functions", "warning", "the server takes none: calls are asked for as text")
        if not reply.tool_calls:
            return ConnectionStep(
                "functions", "warning", "the model made no call of one: if it never does, it is asked for text"
            )
        return ConnectionStep("functions", "ok", "the model calls them")

    async def _schema(self) -> ConnectionStep:
        form = {"type": "json_schema", "json_schema": {"name": "sum", "schema": _SCHEMA}}
        reply = await self._asked(
            "2 + 3, as JSON with the key sum", Wire(response_format=form, max_tokens=MAX_TOKENS), refusable=True
        )
        if reply is None:
            return ConnectionStep("schema", "warning", "the server takes none: answers are asked for in another form")
        return ConnectionStep("schema", "ok", "the server takes JSON schemas")

    async def _asked(self, question: str, wire: Wire, *, refusable: bool = False) -> Any:
        """The reply to one tiny request; None for one whose form is refused."""
        from langchain_core.messages import HumanMessage

        assert self._client is not None
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                return await self._client.ask([HumanMessage(question)], wire)
        except expected() as error:
            failure = sort_out(error)
            if refusable and failure.what == "refused":
                return None
            self.blamed = failure.part if failure.part in ("model", "key", "path") else ""
            raise await unreachable(failure, self._settings, self._role, model=self._client.name) from None

    async def _looked(self, work: Awaitable[Any], but: type[Exception] | tuple[()] = ()) -> Any:
        """What `work` gives, in time. Raises `ModelUnreachable`."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await work
        except but:
            return None
        except expected() as error:
            failure = sort_out(error)
            if isinstance(error, TimeoutError):
                failure = Failure("retry", f"no answer in {PATIENCE_S:g} s", part="port")
            raise await unreachable(await looked_into(failure, self._settings), self._settings, self._role) from None
