"""Why a model cannot be reached, for a person: which part of the connection is wrong, where it was set, what to do.

What a server says of itself is looked up once a request has failed, never before: which models it lists, whether its
API lies below another path, whether its port speaks TLS. None of that costs tokens.
"""

from __future__ import annotations

import asyncio
import difflib
import ssl
from contextlib import suppress
from urllib.parse import urljoin, urlsplit

from habilis.config import RoleSettings, proxy_for, secret
from habilis.core.errors import ModelMisconfigured, ModelUnreachable
from habilis.core.masker import MASKER
from habilis.models.failures import Failure, Part, expected, sort_out
from habilis.models.providers import address, is_loopback, names_listed

PATIENCE_S = 4.0
"""Seconds that each look at a server may take that has failed already."""
_OF_A_PERSON: frozenset[Part] = frozenset(
    {"host", "not_tls", "needs_tls", "certificate", "other_name", "proxy", "page", "path", "redirect", "key", "model"}
)
"""Parts that stand in the configuration."""
_NAMED = 5
"""Models of a server that are named in place of one that it has not."""
KEYS = {
    "sk-ant-": ("Anthropic", "anthropic.com"),
    "sk-or-": ("OpenRouter", "openrouter.ai"),
    "sk-proj-": ("OpenAI", "openai.com"),
    "gsk_": ("Groq", "groq.com"),
    "xai-": ("xAI", "x.ai"),
    "hf_": ("Hugging Face", "huggingface.co"),
    "AIza": ("Google", "googleapis.com"),
}
"""How the keys of services begin that have a form of their own, and where they are taken."""


async def list_models(settings: RoleSettings, role: str = "basic") -> list[str]:
    """The models that the server of `settings` lists. Raises `ModelUnreachable` with one clear line.

    GET /models, tried once more if the connection broke: a server may just be starting.
    """
    for attempt in (1, 2):
        try:
            return await names_listed(settings)
        except expected() as error:
            failure = await looked_into(sort_out(error), settings)
            if failure.what != "retry" or attempt == 2:
                raise await unreachable(failure, settings, role, attempts=attempt) from None
    raise AssertionError("unreachable")


async def looked_into(failure: Failure, settings: RoleSettings) -> Failure:
    """`failure`, but for a plain connection that was dropped where TLS is spoken: more tries cannot help there."""
    where = urlsplit(address(settings))
    if failure.part != "dropped" or where.scheme != "http" or not where.hostname or _proxy(settings):
        return failure
    anyone = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    anyone.check_hostname, anyone.verify_mode = False, ssl.CERT_NONE
    with suppress(OSError):  # time-outs included
        async with asyncio.timeout(PATIENCE_S / 2):
            _, writer = await asyncio.open_connection(where.hostname, where.port or 80, ssl=anyone)
        writer.transport.abort()  # a polite end of TLS waits for the server's word, with the socket open until then
        return Failure("definitive", "what listens there speaks https, not http", part="needs_tls")
    return failure


async def unreachable(
    failure: Failure, settings: RoleSettings, role: str, *, model: str = "", attempts: int = 1, log: str = ""
) -> ModelUnreachable:
    """The error that ends what `failure` ended: of a person's making, or of the server's.

    `log`: where a server that we started writes what it does.
    """
    tries = f" after {attempts} attempts" if attempts > 1 else ""
    if failure.part == "model" and settings.model is None:
        failure = Failure(failure.what, failure.text, failure.status)
    todo = await _todo(failure, settings, role)
    if log and failure.status is None:
        todo = f"what its server said is in {log}"
    who = f"model {model} at {address(settings)}" if model else address(settings)
    kind = ModelMisconfigured if _is_of_a_person(failure, settings) and not log else ModelUnreachable
    return kind(MASKER.text(f"{who}: {failure.text}{tries}; {todo}"))


def _is_of_a_person(failure: Failure, settings: RoleSettings) -> bool:
    """Whether what is set cannot be right. What a server refuses by name (401, 403, 404) is the server's word."""
    if failure.what == "retry" or failure.status in (401, 403, 404):
        return False
    if failure.part in ("functions", "form"):
        return _insisted(failure.part, settings)
    return failure.part in _OF_A_PERSON


def _insisted(part: Part, settings: RoleSettings) -> bool:
    """Whether the settings insist on what the server does not take."""
    return settings.strategy == "function_call" if part == "functions" else settings.structured_mode != "auto"


async def _todo(failure: Failure, settings: RoleSettings, role: str) -> str:
    """What a person can do about `failure`."""
    part, status = failure.part, failure.status
    base = settings.said_in("base_url", role)
    where = urlsplit(address(settings))
    proxy = _proxy(settings)
    if part == "proxy" or (proxy and part in ("host", "port", "silence", "dropped", "needs_tls", "not_tls")):
        variable, value = proxy or ("the proxy's address", "")
        by = f" ({value})" if value else ""
        return (
            f"the request goes through the proxy in {variable}{by}: mend it there, or add {where.hostname} to NO_PROXY"
        )
    if part in ("page", "path"):
        return await _right_path(settings, role)
    if part == "model":
        return await _right_model(settings, role)
    if part == "key":
        return _right_key(settings, role)
    plain: dict[Part, str] = {
        "host": f"check the name {where.hostname} in {base}",
        "port": f"start the server, or mend scheme, host and port in {base}",
        "silence": f"use a server that answers sooner, or raise models.{role}.timeout_s ({settings.timeout_s:g} s)",
        "dropped": f"is the server of {base} running, and does it speak this API?",
        "not_tls": f"write http:// in place of https:// in {base}",
        "needs_tls": f"write https:// in place of http:// in {base}",
        "certificate": "name the file of its issuer's certificate in the variable SSL_CERT_FILE, or trust any with "
        f"models.{role}.verify_ssl=false",
        "other_name": f"write the name that the certificate is for into {base}",
        "expired": "whoever runs the server must renew it, or this machine's clock is wrong",
        "redirect": f"write {_base_of(urljoin(address(settings) + '/', failure.target))} into {base}",
        "functions": f"set models.{role}.strategy to auto: calls are then asked for as text",
        "form": f"set models.{role}.structured_mode to auto: what the server takes is then found out",
        "context": f"the request is longer than the model's context: set models.{role}.token_limit",
        "account": "the account has no credit left",
        "size": f"is what answers at {base} a model's server?",
    }
    if part in plain and (part not in ("functions", "form") or _insisted(part, settings)):
        return plain[part]
    if status == 429:
        return "try again later"
    if status is not None and status >= 500:
        return "the server has a problem of its own: try again later"
    return "the server refuses such requests" if status is not None else "try again later: the fault is the server's"


def _base_of(url: str) -> str:
    """The base URL of the address of a request."""
    bare = url.partition("?")[0].rstrip("/")
    for path in ("/chat/completions", "/completions", "/v1/messages", "/v1/models", "/models"):
        if bare.endswith(path):
            return bare.removesuffix(path)
    return bare


def _proxy(settings: RoleSettings) -> tuple[str, str] | None:
    """The variable of the proxy through which the server is asked, and its value."""
    where = address(settings)
    return None if is_loopback(where) else proxy_for(where)


async def _names(settings: RoleSettings, base_url: str) -> list[str] | None:
    """The models that are listed below `base_url`; none at all where no API is, an empty list where it is closed."""
    there = settings.model_copy(update={"base_url": base_url, "timeout_s": PATIENCE_S})
    try:
        return await names_listed(there)
    except expected() as error:
        return [] if sort_out(error).part == "key" else None


async def _right_path(settings: RoleSettings, role: str) -> str:
    """What to do where nothing is at the path, or a web page."""
    base, url = settings.said_in("base_url", role), address(settings)
    listed = await _names(settings, url)
    if listed:
        if settings.model and settings.model not in listed:
            return _one_of(listed, settings, role)
        return f"the server lists its models, but answers no requests below {url}: is it one for chat?"
    other = "" if listed is not None else await other_path(settings)
    if other:
        return f"the API lies below /v1: write {other} into {base}"
    return f"no such API is at this path: mend it in {base} (most servers have it below /v1)"


async def other_path(settings: RoleSettings) -> str:
    """The base URL at the same host below which the API lies, where that is not the one that is set; else nothing."""
    url = address(settings)
    parts = urlsplit(url)
    for other in (f"{url}/v1", f"{parts.scheme}://{parts.netloc}/v1"):
        new = address(settings.model_copy(update={"base_url": other})) != url
        if new and await _names(settings, other) is not None:
            return other
    return ""


async def _right_model(settings: RoleSettings, role: str) -> str:
    """What to do where the server has not the model that is set."""
    listed = await _names(settings, address(settings))
    if listed and settings.model not in listed:
        return _one_of(listed, settings, role)
    return f"check the name in {settings.said_in('model', role)}"


def _one_of(listed: list[str], settings: RoleSettings, role: str) -> str:
    near = nearest(settings.model or "", listed)
    return (
        f"the server has no model {settings.model}: set {settings.said_in('model', role)} to one of {', '.join(near)}"
    )


def nearest(name: str, listed: list[str]) -> list[str]:
    """The few of `listed` that are most like `name`, the nearest first."""

    def likeness(other: str) -> float:
        return difflib.SequenceMatcher(None, name.lower(), other.lower()).ratio()

    return sorted(listed, key=likeness, reverse=True)[:_NAMED]


def _right_key(settings: RoleSettings, role: str) -> str:
    """What to do where the key is missing or was refused. Shows nothing of it."""
    variable = settings.api_key_env
    value = (secret(variable) or "").strip()
    if not value:
        return f"no key is set: put it into the variable {variable}"
    if value[0] in "\"'" or value[-1] in "\"'":
        return f"the key in {variable} has quotation marks round it: leave them out"
    if value.lower().startswith("bearer "):
        return f"the key in {variable} has the word Bearer before it: leave that out"
    host = urlsplit(address(settings)).hostname or ""
    for begin, (service, domain) in KEYS.items():
        if value.startswith(begin):
            if not host.endswith(domain):
                base = settings.said_in("base_url", role)
                return f"the key in {variable} begins as those of {service} do, and {base} is another service"
            break
    return f"check the key in {variable}: the server does not take it"
