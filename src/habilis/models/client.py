"""From a role's settings to a chat model that can be asked: which provider, which model, over which connection.

Nothing is read from the environment but the key that the settings name; loopback addresses are never sent through a
proxy; nothing is traced anywhere.
"""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from habilis.config import ModelsSettings, RoleSettings, secret
from habilis.core.errors import ModelUnreachable, UserError
from habilis.core.types import Role
from habilis.models.exchange import Wire
from habilis.models.failures import advice, expected, sort_out
from habilis.models.offline import MODEL_NAME

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage

OPENAI_URL = "https://api.openai.com/v1"
NO_KEY = "no-key"
"""Sent to servers that want none: the client library insists on a key."""

Factory = Callable[[Role, RoleSettings], "BaseChatModel"]


@dataclass(frozen=True)
class Client:
    """A chat model that can be asked. `where` is its address, for people and for what is remembered about it."""

    model: BaseChatModel
    name: str
    where: str
    settings: RoleSettings
    offline: bool = False
    native: bool = True
    """Takes tools and response formats as chat completions have them; else LangChain's `bind_tools` must translate."""
    compatible: bool = False
    """Is our own client of an OpenAI-compatible server."""

    @property
    def official(self) -> bool:
        """Whether this is OpenAI's own service, which alone is sent `strict` schemas."""
        return is_official(self.where)

    async def ask(self, messages: list[BaseMessage], wire: Wire, say: Callable[[str], None] | None = None) -> AIMessage:
        """One request, no retry; `say` gets the text as it comes, where that is set. Raises one of
        `failures.expected()`."""
        say = say if self.settings.stream else None
        stop = list(wire.stop) or None
        if not self.native:
            return await self._translated(messages, wire, stop, say)
        kwargs: dict[str, Any] = {"max_tokens": wire.max_tokens} if wire.max_tokens else {}
        if wire.tools:
            kwargs["tools"] = list(wire.tools)
            if self.settings.parallel_tool_calls is not None and not wire.tool_choice:
                kwargs["parallel_tool_calls"] = self.settings.parallel_tool_calls
        if wire.tool_choice:
            kwargs["tool_choice"] = wire.tool_choice
        if wire.response_format:
            kwargs["response_format"] = wire.response_format
        if self.compatible:
            kwargs |= {"completion": wire.completion, "say": say}
        # The public ainvoke adds callbacks and tracing from the environment; neither is wanted here.
        result = await self.model._agenerate(messages, stop=stop, **kwargs)
        reply: Any = result.generations[0].message
        return reply  # type: ignore[no-any-return]

    async def _translated(
        self, messages: list[BaseMessage], wire: Wire, stop: list[str] | None, say: Callable[[str], None] | None
    ) -> AIMessage:
        """The same through LangChain's own translation."""
        bound: Any = self.model
        if wire.tools:
            bound = self.model.bind_tools(list(wire.tools), tool_choice="any" if wire.tool_choice else None)
        if say is None:
            return await bound.ainvoke(messages, config={"callbacks": []}, stop=stop)  # type: ignore[no-any-return]
        whole: Any = None
        async for chunk in bound.astream(messages, config={"callbacks": []}, stop=stop):
            whole = chunk if whole is None else whole + chunk
            say(str(chunk.text))
        return whole  # type: ignore[no-any-return]


class Clients:
    """The clients of one task, made when first asked for; roles with equal settings share one."""

    def __init__(self, settings: ModelsSettings, notice: Callable[[str], None], factory: Factory | None = None) -> None:
        self._settings = settings
        self._notice = notice
        self._factory = factory
        self._lock = asyncio.Lock()
        self._made: dict[str, Client] = {}
        self._closers: list[Callable[[], Awaitable[None]]] = []
        self._offline_told = False

    def settings(self, role: Role) -> RoleSettings:
        return self._settings.role(role)

    def is_offline(self, role: Role) -> bool:
        """Whether `role` is played by the offline demonstration model."""
        return self._factory is None and plays_offline(self.settings(role))

    def known(self, role: Role) -> Client | None:
        """The client of `role` if it was made already."""
        return self._made.get(self._key(role))

    def check(self, role: Role) -> None:
        """Raises `UserError` if the settings of `role` cannot name a model."""
        settings = self.settings(role)
        if self._factory or plays_offline(settings) or settings.model or settings.base_url:
            return
        raise UserError(
            f"no model is named: set OPENAI_MODEL, or models.{role}.model, to one of your provider's models"
        )

    async def get(self, role: Role) -> Client:
        """The client of `role`. Raises `UserError` or, when the server cannot name a model, `ModelUnreachable`."""
        async with self._lock:
            key = self._key(role)
            if key not in self._made:
                self._made[key] = await self._make(role)
            return self._made[key]

    async def aclose(self) -> None:
        """Close all connections."""
        self._made.clear()
        while self._closers:
            await self._closers.pop()()

    def _key(self, role: Role) -> str:
        own = role if self._factory else ""
        return own + self.settings(role).model_dump_json()

    async def _make(self, role: Role) -> Client:
        settings = self.settings(role)
        if self._factory:
            return self._foreign(self._factory(role, settings), settings)
        if plays_offline(settings):
            from habilis.models.offline import OfflineModel
            from habilis.models.offline.faults import Faults

            if not self._offline_told:
                self._offline_told = True
                self._notice(f"No model is set up: the {MODEL_NAME} plays all roles. Set OPENAI_API_KEY or a base URL.")
            try:
                faults = Faults.named(settings.model)
            except ValueError as error:
                raise UserError(f"models.{role}.model: {error}") from None
            name = f"{MODEL_NAME}, faulty on purpose" if faults else MODEL_NAME
            return Client(OfflineModel(model_name=name, faults=faults), name, "", settings, offline=True)
        self.check(role)
        return await self._compatible(role, settings)

    def _foreign(self, model: BaseChatModel, settings: RoleSettings) -> Client:
        from langchain_core.language_models import BaseChatModel

        kind = type(model)
        offline = model._llm_type == "habilis-offline"
        # Whoever does not translate tools takes them as chat completions have them.
        native = offline or model._llm_type == "openai-chat" or kind.bind_tools is BaseChatModel.bind_tools
        name = getattr(model, "model_name", None) or getattr(model, "model", None) or kind.__name__
        return Client(model, str(name), kind.__name__, settings, offline=offline, native=native)

    async def _compatible(self, role: Role, settings: RoleSettings) -> Client:
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient

        from habilis.models.compatible import CompatibleChat

        base_url = (settings.base_url or OPENAI_URL).rstrip("/")
        key = secret(settings.api_key_env) or NO_KEY
        http = DefaultAsyncHttpxClient(
            verify=_verify(base_url, settings), trust_env=not is_loopback(base_url), timeout=settings.timeout_s
        )
        self._closers.append(http.aclose)
        name = settings.model
        if not name:
            api = AsyncOpenAI(
                base_url=base_url, api_key=key, http_client=http, max_retries=0, default_headers=settings.headers
            )
            name = await _first_model(api, role, base_url, settings)
            self._notice(f"No model is named for {base_url}: using the first that it lists, {name}.")

        async def api_key() -> str:  # as a coroutine it keeps LangChain from building a second, blocking client
            return key

        fields: dict[str, Any] = {"temperature": settings.temperature, "max_tokens": settings.max_tokens}
        model = CompatibleChat(
            model=name,
            base_url=base_url,
            api_key=api_key,
            http_async_client=http,
            openai_proxy=None,
            max_retries=0,
            timeout=settings.timeout_s,
            default_headers=settings.headers,
            extra_body=settings.options,
            official=is_official(base_url),
            use_responses_api=None if is_official(base_url) else False,
            streaming=False,
            **{field: value for field, value in fields.items() if value is not None},
        )
        return Client(model, name, base_url, settings, compatible=True)


async def list_models(settings: RoleSettings) -> list[str]:
    """The models that the server of `settings` lists. Raises `ModelUnreachable` with one clear line."""
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    base_url = (settings.base_url or OPENAI_URL).rstrip("/")
    async with DefaultAsyncHttpxClient(
        verify=_verify(base_url, settings), trust_env=not is_loopback(base_url), timeout=settings.timeout_s
    ) as http:
        api = AsyncOpenAI(
            base_url=base_url,
            api_key=secret(settings.api_key_env) or NO_KEY,
            http_client=http,
            max_retries=0,
            default_headers=settings.headers,
        )
        return await _list(api, "basic", base_url, settings)


async def _first_model(api: Any, role: Role, base_url: str, settings: RoleSettings) -> str:
    names = await _list(api, role, base_url, settings)
    if not names:
        raise ModelUnreachable(f"{base_url} lists no model: set models.{role}.model")
    return names[0]


async def _list(api: Any, role: Role, base_url: str, settings: RoleSettings) -> list[str]:
    """GET /models, tried once more if the connection broke: a server may just be starting."""
    caught: tuple[type[Exception], ...] = (*expected(), ValueError)
    for attempt in (1, 2):
        try:
            async with asyncio.timeout(settings.timeout_s):
                body = await api.get("/models", cast_to=object)
            rows = body.get("data") or body.get("models") or [] if isinstance(body, dict) else []
            return [str(row.get("id") or row.get("name")) for row in rows if isinstance(row, dict)]
        except caught as error:
            failure = sort_out(error)
            if failure.what == "retry" and attempt == 1:
                continue
            hint = advice(failure, role, settings.api_key_env, bool(secret(settings.api_key_env)))
            raise ModelUnreachable(f"{base_url}/models: {failure.text}; {hint}") from None
    raise AssertionError("unreachable")


def plays_offline(settings: RoleSettings) -> bool:
    """Whether a role is played by the offline model: asked for by name, or no key and no address are set."""
    if settings.provider == "auto":
        return not settings.base_url and not secret(settings.api_key_env)
    return settings.provider == "offline"


def is_official(base_url: str) -> bool:
    """Whether an address is OpenAI's own."""
    host = urlsplit(base_url).hostname or ""
    return host == "api.openai.com" or host.endswith(".openai.com")


def is_loopback(base_url: str) -> bool:
    """Whether an address is this machine's own, which no proxy can reach."""
    host = urlsplit(base_url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _verify(base_url: str, settings: RoleSettings) -> ssl.SSLContext | bool:
    if settings.verify_ssl is False:
        return False
    if base_url.startswith("http://"):
        # No certificate will be asked for; loading the machine's would take 20 ms. This context trusts none.
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return True
