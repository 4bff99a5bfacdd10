"""What a failed model call means: try again, try another form, or tell the person what to do.

Statuses after RFC 9110 §15; Retry-After after RFC 9110 §10.2.3, in seconds or as a date.
"""

from __future__ import annotations

import errno
import json
import re
import socket
import ssl
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from habilis.core.masker import MASKER
from habilis.core.patterns import lazy_pattern

RETRIED = frozenset({408, 409, 425, 429})
_TOO_LONG = lazy_pattern(
    r"context[ _](length|size|window)|(?:prompt|input) is too long|too many tokens|maximum (?:prompt|input) length|"
    r"token count\b.{0,60}\bexceeds|`inputs` tokens \+",
    re.IGNORECASE,
)
_NO_CREDIT = lazy_pattern(
    r"credit balance|insufficient (?:balance|credits?|funds)|out of credits|all available credits|spending limit|"
    r"due to billing",
    re.IGNORECASE,
)
_NO_KEY = lazy_pattern(r"api[ _-]?key (?:is )?(?:not valid|invalid|missing|expired)|invalid api[ _-]?key", re.I)
_OTHER_ROUTE = lazy_pattern(r"no endpoints? found that|no providers? (?:that|which)? ?support", re.IGNORECASE)
"""What a service with many providers says, with a 404, when none of them takes a request of this form."""
_OWN_FAULT = lazy_pattern(
    r"unsupported param|not (?:be )?support|not implemented|requires? --|grammar|roles? must alternate", re.IGNORECASE
)
"""What servers say, with a 5xx, of requests that they will never take in this form."""
STATUS_OF = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""Statuses of errors that come in the middle of a stream (https://docs.anthropic.com/en/api/errors)."""
MAX_WAIT_S = 120.0
"""No server can make a task wait longer than this before one retry."""

What = Literal["retry", "refused", "filtered", "definitive"]
Part = Literal[
    "",
    "host",  # its name is known to nobody
    "port",  # nobody listens there
    "silence",  # somebody listens, and says nothing
    "dropped",  # … and hangs up before a word of HTTP
    "not_tls",  # the port does not speak TLS
    "needs_tls",  # the port speaks nothing else
    "certificate",  # it is not trusted
    "other_name",  # it is for another host
    "expired",  # it was, or will be
    "proxy",
    "page",  # a web page in place of the API
    "path",
    "redirect",
    "key",
    "model",
    "functions",
    "form",
    "context",
    "account",
    "size",
]
"""Which part of a connection is wrong; none where the server fails by itself."""
_NO_MODEL = lazy_pattern(
    r"\bmodels?\b[^.,;:]{0,80}?\b(?:not exist|not found|not available|unknown|not a valid)\b|"
    r"\b(?:unknown|invalid|no such|unsupported) model\b(?! (?:param|option|output))|"
    r"\bnot a valid model\b|\bunable to access model\b|"
    r"\bmodels?\b.{0,80}\b(?:decommissioned|not supported by any provider)|"
    r"\bdeployment\b.{0,40}\bdoes not exist\b|^model: \S+$",
    re.IGNORECASE,
)
_MODEL_CODES = ("model_not_found", "model_not_available", "model_not_supported", "DeploymentNotFound")
_PLAIN_TO_TLS = lazy_pattern(r"http request (?:was sent )?to (?:an )?https|speaking plain http to an ssl", re.I)
"""What servers say, in plain HTTP, on a port where they speak TLS (Go's, nginx, Apache)."""
_TITLE = lazy_pattern(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_LOOKED_AT = 20_000
"""Characters of what a server sent that are looked at for what it says."""
_PAGE = lazy_pattern(r"\s*<(?:!doctype|html|head|body|\?xml)", re.IGNORECASE)


class BadReply(Exception):
    """The server answered with something that is no chat completion. Worth another try."""


class ReplyTooLarge(BadReply):
    """The server sent more than a reply may hold. Not worth another try."""


class PageSent(BadReply):
    """The server answered with a web page. Not worth another try."""


class ServerSaid(Exception):
    """An error that came in the body of a reply with status 200."""

    def __init__(self, status: int | None, message: str) -> None:
        super().__init__(message)
        self.status_code = status


class StatusError(Exception):
    """A reply with another status than 2xx. `body` is what it says of its error, as JSON where it is some."""

    def __init__(self, response: Any, said: str) -> None:
        """`response` has `status_code` and `headers`, `said` is its body."""
        super().__init__(f"Error code: {response.status_code}")
        self.response = response
        self.status_code: int = response.status_code
        self.body: Any = said.strip()
        with suppress(ValueError, RecursionError):
            self.body = json.loads(said)
        if isinstance(self.body, dict):
            self.body = self.body.get("error", self.body)
        told = self.body if isinstance(self.body, dict) else {}
        self.code, self.type = (None if told.get(name) is None else str(told[name]) for name in ("code", "type"))


@dataclass(frozen=True)
class Failure:
    """`retry`: may succeed as it is. `refused`: this request, in this form, never. `filtered`: the provider's content
    filter. `definitive`: nothing will succeed until a person acts. `wait_s` is what the server asked for, `part` what
    of the connection is wrong, `target` where a redirect leads."""

    what: What
    text: str
    status: int | None = None
    wait_s: float | None = None
    part: Part = ""
    target: str = ""


def expected() -> tuple[type[Exception], ...]:
    """The exceptions by which clients report a failed call, of the libraries that are loaded."""
    from langchain_core.exceptions import LangChainException

    kinds: list[type[Exception]] = [OSError, BadReply, ServerSaid, StatusError, LangChainException]
    for module, name in (
        ("openai", "OpenAIError"),
        ("anthropic", "AnthropicError"),
        ("httpx", "HTTPError"),
        ("httpx2", "HTTPError"),
    ):
        if module in sys.modules:
            kinds.append(getattr(sys.modules[module], name))
    return tuple(kinds)


def sort_out(error: Exception) -> Failure:
    """What `error`, one of `expected()`, means."""
    status = getattr(error, "status_code", None)
    streamed = isinstance(status, int) and status < 300
    if streamed:
        status = STATUS_OF.get(_type(error))
    text = _text(error)
    if isinstance(status, int) and status >= 300:
        return _by_status(status, text, error)
    for cause in _causes(error):
        if isinstance(cause, BadReply):
            return _unread(cause)
    if isinstance(error, ServerSaid) or streamed:
        return Failure("retry", f"the server reported: {text}")
    retryable = getattr(error, "is_retryable", None)
    if retryable is False and not _is_connection(error):
        return Failure("definitive", text)
    if _is_connection(error) or _is_timeout(error):
        return _by_connection(error, text)
    return Failure("retry" if retryable else "definitive", text)


def _unread(error: BadReply) -> Failure:
    """What was sent in place of a reply."""
    if isinstance(error, ReplyTooLarge):
        return Failure("definitive", str(error), part="size")
    if isinstance(error, PageSent):
        return Failure("definitive", str(error), part="page")
    return Failure("retry", str(error))


def _by_connection(error: Exception, text: str) -> Failure:
    """How far a connection came. What a name server or a certificate says will not change in a second."""
    for cause in _causes(error):
        kind = type(cause).__name__
        if isinstance(cause, ssl.SSLCertVerificationError):
            return _untrusted(cause)
        if kind == "ProxyError":
            return Failure("definitive", f"the proxy refused: {text}", part="proxy")
        if isinstance(cause, ssl.SSLError):
            if cause.reason in (
                "WRONG_VERSION_NUMBER",
                "HTTP_REQUEST",
                "RECORD_LAYER_FAILURE",
                "PACKET_LENGTH_TOO_LONG",
            ):
                return Failure("definitive", "what listens there speaks http, not https", part="not_tls")
            # A certificate that either side refuses is refused again in a second; other faults may pass.
            refused = "CERT" in (cause.reason or "") or "UNKNOWN_CA" in (cause.reason or "")
            return Failure("definitive" if refused else "retry", f"no secure connection: {text}", part="certificate")
        if isinstance(cause, socket.gaierror):
            if cause.errno == socket.EAI_AGAIN:
                return Failure("retry", "the name server does not answer, so the host cannot be found", part="host")
            return Failure("definitive", "no host has this name", part="host")
        if isinstance(cause, UnicodeError):
            return Failure("definitive", "this cannot be the name of a host", part="host")
        if isinstance(cause, ConnectionRefusedError):
            return Failure("retry", "nothing listens there (connection refused)", part="port")
        if isinstance(cause, OSError) and cause.errno in (errno.EHOSTUNREACH, errno.ENETUNREACH):
            return Failure("retry", f"no way leads there: {cause.strerror}", part="port")
        if kind == "ConnectTimeout":
            return Failure("retry", "no connection came about in time", part="port")
        if kind == "RemoteProtocolError" and "incomplete" in str(cause):
            return Failure("retry", "the server broke off in the middle of its reply")
        if kind == "RemoteProtocolError" and "\\x15\\x03" in str(cause):  # an alert of TLS (RFC 8446 §6)
            return Failure("definitive", "what listens there speaks https, not http", part="needs_tls")
    if _is_timeout(error):
        return Failure("retry", "no answer in time", part="silence")
    return Failure("retry", f"connection failed: {text}", part="dropped")


_EXPIRED, _NOT_YET, _OTHER_NAMES = 10, 9, (62, 64)
"""Codes of OpenSSL's X509_verify_cert(3)."""


def _untrusted(error: ssl.SSLCertVerificationError) -> Failure:
    code, said = error.verify_code, error.verify_message
    if code in (_EXPIRED, _NOT_YET):
        return Failure("definitive", f"the server's certificate is not valid at this time: {said}", part="expired")
    if code in _OTHER_NAMES:
        return Failure("definitive", f"the server's certificate is for another name: {said}", part="other_name")
    return Failure("definitive", f"the server's certificate is not trusted: {said}", part="certificate")


def _by_status(status: int, text: str, error: Exception) -> Failure:
    code = str(getattr(error, "code", "") or "")
    body = getattr(error, "body", None)
    page = page_told(body) if isinstance(body, str) else ""
    text = page or text
    said = f"HTTP {status}: {text}" if text else f"HTTP {status}"
    if status < 400:
        target = _headers(error).get("location", "")
        return Failure(
            "definitive", f"HTTP {status}: the server sends on to another address", status, None, "redirect", target
        )
    if "content_filter" in code or "content_policy" in code or "content management policy" in text:
        return Failure("filtered", said, status)
    quota = "insufficient_quota" in (code, str(getattr(error, "type", "")))
    if status == 402 or (status == 429 and quota) or (status in (400, 403) and _NO_CREDIT.search(text)):
        return Failure("definitive", said, status, part="account")
    if status == 501 or (status >= 500 and _OWN_FAULT.search(text)) or (status == 404 and _OTHER_ROUTE.search(text)):
        return Failure("refused", said, status, part=_form(text))
    if status in RETRIED or status >= 500 or code == "tool_use_failed":  # the model's slip, says the service
        return Failure("retry", said, status, retry_after(_headers(error)))
    if code == "context_length_exceeded" or (status in (400, 413, 422) and _TOO_LONG.search(text)):
        return Failure("definitive", said, status, part="context")
    if _PLAIN_TO_TLS.search(text):
        return Failure("definitive", "what listens there speaks https, not http", status, part="needs_tls")
    if status == 400 and _NO_KEY.search(text):
        return Failure("definitive", said, status, part="key")
    unnamed = status in (400, 404, 422) and not page and not _form(text) and _NO_MODEL.search(text)
    if unnamed or (status in (400, 403, 404, 422) and code in _MODEL_CODES):
        return Failure("definitive", said, status, part="model")
    if status in (400, 422):
        return Failure("refused", said, status, part=_form(text))
    parts: dict[int, Part] = {401: "key", 403: "page" if page else "key", 404: "path", 405: "path", 407: "proxy"}
    return Failure("definitive", said, status, part=parts.get(status, "page" if page else ""))


def _form(text: str) -> Part:
    """What of a request a refusal speaks of."""
    if re.search(r"response_format|json|schema", text, re.IGNORECASE):
        return "form"
    return "functions" if re.search(r"\btools?\b|tool_choice|function", text, re.IGNORECASE) else ""


def page_told(text: str) -> str:
    """`text` in a few words if it is a web page, else nothing."""
    if not _PAGE.match(text[:200]):
        return ""
    title = _TITLE.search(text[:_LOOKED_AT])
    named = " ".join(MASKER.text(title[1]).split())[:80] if title else ""
    return f"a web page ({named!r})" if named else "a web page"


def no_json(body: str) -> BadReply:
    """What a body is that came as text."""
    if page := page_told(body):
        return PageSent(f"the server answered with {page}")
    if not body.strip():
        return BadReply("the server sent an empty reply")
    said = " ".join(MASKER.text(body[:2_000]).split())[:120]
    return BadReply(f"the server sent plain text in place of an answer: {said}")


def unreadable(error: ValueError | RecursionError) -> BadReply:
    """What a body is that was taken for JSON and is none."""
    if isinstance(error, RecursionError):
        return BadReply("the server's reply holds things in things too deeply to be read")
    body = str(getattr(error, "doc", "-"))
    return (
        BadReply(f"the server's reply is not JSON: {error}") if body.strip() and not page_told(body) else no_json(body)
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """`error`, and what led to it."""
    left: list[BaseException | None] = [error]
    seen: set[int] = set()
    while left:
        cause = left.pop(0)
        if cause is None or id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        left += [
            *(cause.exceptions if isinstance(cause, BaseExceptionGroup) else ()),
            cause.__cause__ or cause.__context__,
        ]


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds that a server asks to wait, None if it does not say or says nonsense. Capped at `MAX_WAIT_S`."""
    raw_ms, raw = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        if raw_ms is not None:
            return min(max(0.0, float(raw_ms) / 1000), MAX_WAIT_S)
        if raw is None:
            return None
        if raw.strip().replace(".", "", 1).isdigit():
            return min(float(raw), MAX_WAIT_S)
        wait = parsedate_to_datetime(raw).timestamp() - (time.time() if now is None else now)
        return min(max(0.0, wait), MAX_WAIT_S)
    except (ValueError, TypeError, OverflowError):
        return None


def backoff_s(attempt: int, seed: str) -> float:
    """Seconds before retry `attempt` (from 1): 0.5, 1, 2, 4, 8, 8 … and up to a quarter more, spread by `seed`."""
    spread = int(seed[:4] or "0", 16) / 0xFFFF if all(c in "0123456789abcdef" for c in seed[:4]) else 0.0
    return float(min(8.0, 0.5 * 2 ** (attempt - 1)) * (1 + spread / 4))


def _headers(error: Exception) -> Mapping[str, str]:
    headers = getattr(getattr(error, "response", None), "headers", None)
    return headers if headers is not None else {}


def _type(error: Exception) -> str:
    """The kind of error that a body names."""
    body: Any = getattr(error, "body", None)
    inner = body.get("error") if isinstance(body, dict) else None
    return str(inner.get("type")) if isinstance(inner, dict) else ""


def _text(error: Exception) -> str:
    body: Any = getattr(error, "body", None)
    said = body.get("message") if isinstance(body, dict) else None
    if isinstance(body, dict) and isinstance(body.get("error"), str | dict):
        inner = body["error"]
        said = inner if isinstance(inner, str) else inner.get("message")
    if isinstance(body, str) and body.strip():
        said = body
    if not isinstance(said, str) or not said:
        said = json.dumps(body) if isinstance(body, dict) and body else str(error)
    cause = error.__cause__
    if said in ("", "Connection error.") and cause is not None:
        said = str(cause) or type(cause).__name__
    line = " ".join(MASKER.text(said[:_LOOKED_AT]).split())  # before the cut, which would leave half a key
    return line if len(line) <= 300 else line[:300] + "…"


def _is_timeout(error: Exception) -> bool:
    return isinstance(error, TimeoutError) or "Timeout" in type(error).__name__


def _is_connection(error: Exception) -> bool:
    return isinstance(error, OSError) or any(
        base.__name__ in ("APIConnectionError", "TransportError", "ModelConnectionError")
        for base in type(error).__mro__
    )
