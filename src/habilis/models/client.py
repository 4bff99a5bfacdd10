"""From a role's settings to a chat model that can be asked, one for all roles of a task with equal settings."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.config import ROLES, ModelsSettings, RoleSettings, key
from habilis.core.errors import ModelMisconfigured, ModelUnreachable, UserError
from habilis.core.types import Role
from habilis.demo import MODEL_NAME
from habilis.messages.repeating import RepetitionWatch
from habilis.models.addresses import check_address, check_headers
from habilis.models.providers import address, chat_model, check_extra, connection, is_official, load_client
from habilis.models.providers import plays_offline as plays_offline
from habilis.models.quirks import PROCESS_QUIRKS, KnownQuirks
from habilis.models.reaching import list_models
from habilis.models.request import Wire

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage

    from habilis.models.prices import Prices

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
    """Is a client of ours, which takes all that chat completions take (`compatible.py`, `anthropic.py`)."""
    log: str = ""
    """Where a server that we started writes what it does."""

    @property
    def official(self) -> bool:
        """Whether this is OpenAI's own service, which alone is sent `strict` schemas."""
        return is_official(self.where)

    async def ask(
        self,
        messages: list[BaseMessage],
        wire: Wire,
        say: Callable[[str], None] | None = None,
        *,
        in_pieces: bool = False,
    ) -> AIMessage:
        """One request, no retry; `say` gets the text as it comes, where that is set. `in_pieces`: a client of ours asks
        for it piece by piece, whoever listens. Raises one of `failures.expected()`."""
        say = say if self.settings.stream else None
        if say is None and in_pieces and self.compatible:
            say = _unheard
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
        if wire.max_tokens and self.settings.provider == "anthropic":  # others may not know the word
            bound = bound.bind(max_tokens=wire.max_tokens)
        if say is None:
            return await bound.ainvoke(messages, config={"callbacks": []}, stop=stop)  # type: ignore[no-any-return]
        whole: Any = None
        watch = RepetitionWatch(wire.max_tokens)
        async with contextlib.aclosing(bound.astream(messages, config={"callbacks": []}, stop=stop)) as chunks:
            async for chunk in chunks:
                whole = chunk if whole is None else whole + chunk
                say(str(chunk.text))
                if why := watch.sees(str(chunk.text)):
                    whole.response_metadata["finish_reason"] = why
                    break
        return whole  # type: ignore[no-any-return]


def _unheard(text: str) -> None:
    """Nobody listens."""


class Clients:
    """The clients of one task, made when first asked for; roles with equal settings share one."""

    def __init__(
        self,
        settings: ModelsSettings,
        notice: Callable[[str], None],
        factory: Factory | None = None,
        *,
        folder: Path | None = None,
        quirks: KnownQuirks = PROCESS_QUIRKS,
    ) -> None:
        """`folder`: where a model server of ours is noted and keeps its log, shared by all that name the same;
        `quirks` remembers what servers take otherwise than others."""
        self._settings = settings
        self._in_force: dict[Role, RoleSettings] = {}
        self._keys: dict[Role, str] = {}
        self._folder = folder
        self._quirks = quirks
        self._notice = notice
        self._factory = factory
        self._lock = asyncio.Lock()
        self._made: dict[str, Client] = {}
        self._closers: list[Callable[[], Awaitable[None]]] = []
        self._offline_told = False

    def settings(self, role: Role) -> RoleSettings:
        if role not in self._in_force:
            self._in_force[role] = self._settings.role(role)
        return self._in_force[role]

    def is_offline(self, role: Role) -> bool:
        """Whether `role` is played by the offline demonstration model."""
        return self._factory is None and plays_offline(self.settings(role))

    def known(self, role: Role) -> Client | None:
        """The client of `role` if it was made already."""
        return self._made.get(self._key(role))

    def load(self, role: Role) -> None:
        """Import what the first request to `role` would wait for; takes half a second where a server is asked."""
        if self._factory is None and not plays_offline(self.settings(role)):
            load_client(self.settings(role))

    def check(self, role: Role) -> None:
        """Raises `UserError` if the settings of `role` cannot name a model."""
        settings = self.settings(role)
        if self._factory or plays_offline(settings):
            return
        check_extra(settings)
        check_address(settings, role)
        check_headers(settings, role)
        key(settings.api_key_env)  # raises for one that cannot be sent
        if settings.provider == "local":
            from habilis.models.local.files import check

            check(settings.model, role, self._settings.local)
        elif not settings.model and not settings.base_url:
            name = "" if settings.provider == "anthropic" else "OPENAI_MODEL, or "
            raise UserError(f"no model is named: set {name}models.{role}.model, to one of your provider's models")

    def check_prices(self, limit: str, prices: Prices) -> None:
        """Raises `UserError` if the setting `limit` bounds money and a model's price is not known."""
        if not self._factory:  # what another makes has a name once it is made
            prices.check(limit, [self.settings(role) for role in ROLES if role != "eval"])  # scoring has no budget

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
        if role not in self._keys:
            self._keys[role] = (role if self._factory else "") + self.settings(role).model_dump_json()
        return self._keys[role]

    async def _make(self, role: Role) -> Client:
        settings = self.settings(role)
        if self._factory:
            return self._foreign(self._factory(role, settings), settings)
        if plays_offline(settings):
            from habilis.demo import OfflineModel
            from habilis.demo.faults import Faults

            if not self._offline_told:
                self._offline_told = True
                self._notice(f"No model is set up: the {MODEL_NAME} plays all roles. Set OPENAI_API_KEY or a base URL.")
            try:
                faults = Faults.named(settings.model)
            except ValueError as error:
                raise UserError(f"models.{role}.model: {error}") from None
            name = f"{MODEL_NAME}, faulty on purpose" if faults else MODEL_NAME
            return Client(OfflineModel(model_name=name, faults=faults), name, "", settings, offline=True)
        try:
            self.check(role)
            return await (self._served(settings) if settings.provider == "local" else self._connected(role, settings))
        except UserError as error:  # of a role that is asked in the middle of a task: an end of it as others are
            raise ModelMisconfigured(str(error)) from None

    def _foreign(self, model: BaseChatModel, settings: RoleSettings) -> Client:
        from langchain_core.language_models import BaseChatModel

        kind = type(model)
        offline = model._llm_type == "habilis-offline"
        # Whoever does not translate tools takes them as chat completions have them.
        native = offline or model._llm_type == "openai-chat" or kind.bind_tools is BaseChatModel.bind_tools
        name = getattr(model, "model_name", None) or getattr(model, "model", None) or kind.__name__
        return Client(model, str(name), kind.__name__, settings, offline=offline, native=native)

    async def _connected(self, role: Role, settings: RoleSettings) -> Client:
        """A client of a server that is there."""
        name, where = settings.model, address(settings)
        if not name:
            listed = await list_models(settings, role)
            if not listed:
                raise ModelUnreachable(f"{where} lists no model: set models.{role}.model")
            name = listed[0]
            self._notice(f"No model is named for {where}: using the first that it lists, {name}.")
        http = connection(settings)
        self._closers.append(http.aclose)
        model = chat_model(settings, name, http, quirks=self._quirks, tell=self._notice)
        return Client(model, name, where, settings, compatible=True)

    async def _served(self, settings: RoleSettings) -> Client:
        """A client of a server that we start for the model in a file."""
        from habilis.models.local.serving import serve

        server = await serve(settings.model or "", self._settings.local, self._folder, self._notice)
        reached = settings.model_copy(update={"provider": "openai", "base_url": server.url, "api_key_env": None})
        http = connection(reached)
        self._closers.append(http.aclose)
        model = chat_model(reached, server.name, http, server.key, quirks=self._quirks, tell=self._notice)
        return Client(model, server.name, f"local:{settings.model}", settings, compatible=True, log=str(server.log))
