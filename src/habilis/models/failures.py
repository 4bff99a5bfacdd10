"""What a failed model call means: try again, try another form, or tell the person what to do.

Statuses after RFC 9110 §15; Retry-After after RFC 9110 §10.2.3, in seconds or as a date.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from habilis.core.masker import MASKER

RETRIED = frozenset({408, 409, 425, 429})
_TOO_LONG = re.compile(r"context[ _](length|size|window)|prompt is too long|too many tokens", re.IGNORECASE)
_OTHER_ROUTE = re.compile(r"no endpoints? found that|no providers? (?:that|which)? ?support", re.IGNORECASE)
"""What a service with many providers says, with a 404, when none of them takes a request of this form."""
_OWN_FAULT = re.compile(
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


class BadReply(Exception):
    """The server answered with something that is no chat completion. Worth another try."""


class ServerSaid(Exception):
    """An error that came in the body of a reply with status 200."""

    def __init__(self, status: int | None, message: str) -> None:
        super().__init__(message)
        self.status_code = status


@dataclass(frozen=True)
class Failure:
    """`retry`: may succeed as it is. `refused`: this request, in this form, never. `filtered`: the provider's content
    filter. `definitive`: nothing will succeed until a person acts. `wait_s` is what the server asked for."""

    what: What
    text: str
    status: int | None = None
    wait_s: float | None = None


def expected() -> tuple[type[Exception], ...]:
    """The exceptions by which clients report a failed call, of the libraries that are loaded."""
    from langchain_core.exceptions import LangChainException

    kinds: list[type[Exception]] = [OSError, BadReply, ServerSaid, LangChainException]
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
    streamed = isinstance(status, int) and status < 400
    if streamed:
        status = STATUS_OF.get(_type(error))
    text = _text(error)
    if isinstance(status, int) and status >= 400:
        return _by_status(status, text, error)
    if isinstance(error, ServerSaid) or streamed:
        return Failure("retry", f"the server reported: {text}")
    if isinstance(error, BadReply):
        return Failure("retry", text)
    retryable = getattr(error, "is_retryable", None)
    if retryable is False and not _is_connection(error):
        return Failure("definitive", text)
    if _is_timeout(error):
        return Failure("retry", "no answer in time")
    if _is_connection(error):
        return Failure("retry", f"connection failed: {text}")
    return Failure("retry" if retryable else "definitive", text)


def _by_status(status: int, text: str, error: Exception) -> Failure:
    code = str(getattr(error, "code", "") or "")
    said = f"HTTP {status}: {text}" if text else f"HTTP {status}"
    if "content_filter" in code or "content_policy" in code or "content management policy" in text:
        return Failure("filtered", said, status)
    if status == 429 and "insufficient_quota" in (code, str(getattr(error, "type", ""))):
        return Failure("definitive", said, status)
    if status == 501 or (status >= 500 and _OWN_FAULT.search(text)) or (status == 404 and _OTHER_ROUTE.search(text)):
        return Failure("refused", said, status)
    if status in RETRIED or status >= 500 or code == "tool_use_failed":  # the model's slip, says the service
        return Failure("retry", said, status, retry_after(_headers(error)))
    if status in (400, 422) and code != "context_length_exceeded" and not _TOO_LONG.search(text):
        return Failure("refused", said, status)
    return Failure("definitive", said, status)


def advice(failure: Failure, role: str, key_env: str | None, has_key: bool) -> str:
    """What a person can do about a failure that ended the call."""
    status, text = failure.status, failure.text
    if status in (401, 403):
        return f"check the key in {key_env}" if has_key else f"no key is set: put it into the variable {key_env}"
    if status == 404:
        return f"check models.{role}.model and models.{role}.base_url"
    if _TOO_LONG.search(text) and failure.what == "definitive":
        return f"the request is longer than the model's context: set models.{role}.token_limit"
    if status == 402:
        return "the account has no credit left"
    if status == 429:
        return "the account has no credit left" if failure.what == "definitive" else "try again later"
    if status is not None and status >= 500:
        return "the server has a problem of its own; try again later"
    if status is not None:
        return "the server refuses such requests"
    if failure.what == "retry":
        return f"is the server running, and is models.{role}.timeout_s long enough?"
    return "see the message"


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
    if not isinstance(said, str) or not said:
        said = json.dumps(body) if isinstance(body, dict) and body else str(error)
    cause = error.__cause__
    if said in ("", "Connection error.") and cause is not None:
        said = str(cause) or type(cause).__name__
    line = " ".join(MASKER.text(said).split())  # before the cut, which would leave half a key
    return line if len(line) <= 300 else line[:300] + "…"


def _is_timeout(error: Exception) -> bool:
    return isinstance(error, TimeoutError) or "Timeout" in type(error).__name__


def _is_connection(error: Exception) -> bool:
    return isinstance(error, OSError) or any(
        base.__name__ in ("APIConnectionError", "TransportError", "ModelConnectionError")
        for base in type(error).__mro__
    )
