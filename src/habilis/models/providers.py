"""Where models are asked: the address, key and connection of each provider, and which models a server lists.

Nothing is read from the environment but the key that the settings name; loopback addresses are never sent through a
proxy; nothing is traced anywhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.util
import ipaddress
import re
import ssl
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from habilis.config import RoleSettings, key, names_certificates, proxy_for, secret, users_of
from habilis.core.errors import UserError
from habilis.core.masker import MASKER
from habilis.models.failures import PageSent, no_json, unreadable
from habilis.models.transport import bound_reply

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from habilis.models.endpoint import Endpoint
    from habilis.models.quirks import KnownQuirks, Quirks

OPENAI_URL = "https://api.openai.com/v1"
ANTHROPIC_URL = "https://api.anthropic.com"
CONNECT_S = 15.0
"""Seconds that a connection may take to come about, TLS included: what does not answer by then is not there."""
NO_KEY = "no-key"
"""Sent to servers that want none: the client libraries insist on a key."""
_MOST = 1_000
"""Connections to one server at once: tasks side by side do not wait for each other here."""


def address(settings: RoleSettings) -> str:
    """Where the model of `settings` is asked, without a slash at the end. A user in it is for `connection` alone."""
    base_url = _USER.sub("", (settings.base_url or "").strip())
    if settings.provider == "anthropic":
        return (base_url or ANTHROPIC_URL).rstrip("/").removesuffix("/v1")
    return (base_url or OPENAI_URL).rstrip("/")


_USER = re.compile(r"(?<=://)[^/?#\s]*@")


def _user(settings: RoleSettings) -> tuple[str, str] | None:
    """User and password in the address of `settings`: for Basic authorisation (RFC 7617), which goes before a key."""
    found = _USER.search(settings.base_url or "")
    if found is None:
        return None
    for part in users_of(settings.base_url or ""):
        MASKER.add("base_url", part)
    user, _, password = found[0][:-1].partition(":")
    return unquote(user), unquote(password)


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


def missing_extra(settings: RoleSettings) -> str:
    """What must be installed for the provider of `settings`, as one line; empty if all is there."""
    extras = {"anthropic": "langchain_anthropic", "local": "xllamacpp"}
    module = extras.get(settings.provider or "")
    if module is None or importlib.util.find_spec(module) is not None:
        return ""
    return f"the provider {settings.provider} needs {module}; install it: pip install 'habilis[{settings.provider}]'"


def check_extra(settings: RoleSettings) -> None:
    """Raises `UserError` if what the provider needs is not installed."""
    missing = missing_extra(settings)
    if missing:
        raise UserError(missing)


def load_client(settings: RoleSettings) -> None:
    """Import what asking the model of `settings` takes. What cannot be imported is told where it is asked."""
    if settings.provider == "anthropic":
        module = "anthropic"
    else:
        module = "official" if is_official(address(settings)) else "compatible"
    with contextlib.suppress(Exception):
        importlib.import_module(f"habilis.models.{module}")


def connection(settings: RoleSettings) -> Any:
    """A new HTTP connection, of the kind that the client library wants where there is one.

    Raises `UserError` for a proxy or a file of certificates, named in the environment, that cannot be used.
    """
    where = address(settings)
    kind, timeouts, more = _kind(settings)
    try:
        return kind(
            verify=_verify(where, settings),
            trust_env=not is_loopback(where),
            timeout=timeouts(settings.timeout_s, connect=min(settings.timeout_s or CONNECT_S, CONNECT_S)),
            auth=_user(settings),
            headers={"Accept-Encoding": "gzip"},
            event_hooks={"response": [bound_reply]},
            follow_redirects=False,  # the key would go along to wherever a server points
            **more,
        )
    except (ImportError, ValueError) as error:
        variable, value = proxy_for(where) or ("the proxy's variable", "")
        if isinstance(error, ImportError):
            raise UserError(
                f"{variable}: a SOCKS proxy needs one package more; install it: pip install socksio"
            ) from None
        raise UserError(f"{variable}: {value!r} is no address of a proxy; write one such as http://HOST:PORT") from None
    except OSError as error:
        said = error.strerror or error
        raise UserError(f"SSL_CERT_FILE, or SSL_CERT_DIR: certificates cannot be read there: {said}") from None


def _kind(settings: RoleSettings) -> tuple[Any, Any, dict[str, Any]]:
    """The classes of a connection and of its time limits, and what else it takes."""
    if settings.provider == "anthropic":
        check_extra(settings)
        from anthropic import DefaultAsyncHttpxClient, Timeout

        return DefaultAsyncHttpxClient, Timeout, {}
    if is_official(address(settings)):
        import openai

        return openai.DefaultAsyncHttpxClient, openai.Timeout, {}
    import httpx

    many = httpx.Limits(max_connections=_MOST, max_keepalive_connections=_MOST)
    return httpx.AsyncClient, httpx.Timeout, {"limits": many}


def chat_model(
    settings: RoleSettings,
    name: str,
    http: Any,
    own_key: str | None = None,
    *,
    quirks: KnownQuirks,
    tell: Callable[[str], None],
) -> BaseChatModel:
    """The chat model `name` of the provider of `settings`, over the connection `http`; `own_key` in place of theirs.

    What its server takes otherwise than others is learnt in `quirks`, and told to `tell`.
    """
    sent = own_key or key(settings.api_key_env) or NO_KEY
    made = _anthropic if settings.provider == "anthropic" else _compatible
    return made(settings, name, http, sent, quirks=quirks.of(address(settings), name), tell=tell)


def _compatible(
    settings: RoleSettings, name: str, http: Any, sent: str, quirks: Quirks, tell: Callable[[str], None]
) -> BaseChatModel:
    from habilis.models.compatible import CompatibleChat, Completions

    where = address(settings)
    completions = Completions(_endpoint(settings, http, sent), quirks, tell, settings.options or {})
    fields = _set(temperature=settings.temperature, max_tokens=settings.max_tokens)
    if not is_official(where):
        return CompatibleChat(completions=completions, always={"model": name, **fields})
    from habilis.models.official import OfficialChat

    async def api_key() -> str:  # as a coroutine it keeps LangChain from building a second, blocking client
        return sent

    return OfficialChat(
        completions=completions,
        model=name,
        base_url=where,
        api_key=api_key,
        http_async_client=http,
        openai_proxy=None,
        max_retries=0,
        timeout=http.timeout,
        default_headers=settings.headers,
        extra_body=settings.options,
        streaming=False,
        **fields,
    )


def _endpoint(settings: RoleSettings, http: Any, sent: str) -> Endpoint:
    from habilis.models.endpoint import Endpoint

    return Endpoint(http, address(settings), sent, settings.headers)


def _anthropic(settings: RoleSettings, name: str, http: Any, sent: str, **learning: Any) -> BaseChatModel:
    from habilis.models.anthropic import AnthropicChat

    return AnthropicChat(
        model=name,
        base_url=address(settings),
        api_key=sent,
        max_retries=0,
        timeout=settings.timeout_s,
        default_headers=settings.headers,
        http=http,
        options=settings.options or {},
        **learning,
        **_set(temperature=settings.temperature, max_tokens=settings.max_tokens),
    )


def _set(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


async def names_listed(settings: RoleSettings) -> list[str]:
    """The models that the server of `settings` lists (GET /models), in its order. Costs nothing.

    Raises one of `failures.expected()`.
    """
    async with connection(settings) as http, asyncio.timeout(settings.timeout_s):
        body = await _listed(settings, http)
    if isinstance(body, str):
        raise no_json(body)
    lists = (
        [body[name] for name in ("data", "models") if isinstance(body.get(name), list)]
        if isinstance(body, dict)
        else []
    )
    rows = next((rows for rows in lists if rows), lists[0] if lists else None)
    if rows is None:
        raise PageSent("the server answered with something other than a list of models")
    return [MASKER.text(str(row.get("id") or row.get("name"))) for row in rows if isinstance(row, dict)]


async def _listed(settings: RoleSettings, http: Any) -> Any:
    sent = key(settings.api_key_env) or NO_KEY
    if settings.provider != "anthropic":
        return await _endpoint(settings, http, sent).get("/models")
    from anthropic import AsyncAnthropic

    heads = settings.headers
    api = AsyncAnthropic(
        base_url=address(settings), api_key=sent, http_client=http, max_retries=0, default_headers=heads
    )
    try:
        return await api.get("/v1/models", cast_to=object)
    except (ValueError, RecursionError) as error:
        raise unreadable(error) from None


def _verify(base_url: str, settings: RoleSettings) -> ssl.SSLContext | bool:
    if settings.verify_ssl is False:
        return False
    if base_url.startswith("http://"):
        # No certificate will be asked for; loading the machine's would take 20 ms. This context trusts none.
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if is_loopback(base_url):  # of the environment, what is trusted counts, the proxies do not
        return ssl.create_default_context()
    return True if names_certificates() else trusted()


def trusted() -> ssl.SSLContext | bool:
    """What this machine trusts, certificates of a company included; True, for what the client library brings, where
    that cannot be told."""
    if sys.platform == "darwin":
        with contextlib.suppress(ImportError):
            import truststore

            return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    paths = ssl.get_default_verify_paths()  # those of the compiled OpenSSL, which need not be there
    file = paths.openssl_cafile if Path(paths.openssl_cafile).is_file() else None
    folder = paths.openssl_capath if _holds_certificates(paths.openssl_capath) else None
    return ssl.create_default_context(cafile=file, capath=folder) if file or folder else True


def _holds_certificates(folder: str) -> bool:
    """Whether a folder has them under the names by which OpenSSL finds them (openssl-rehash(1))."""
    try:
        return any(re.fullmatch(r"[0-9a-f]{8}\.[0-9]+", file.name) for file in Path(folder).iterdir())
    except OSError:
        return False
