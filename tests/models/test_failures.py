"""What a user would lose: patience to a server that asks for an hour, or a task to a hiccup taken for an end."""

from __future__ import annotations

import socket
import ssl
from typing import Any

import pytest

from habilis.models.failures import BadReply, ServerSaid, backoff_s, retry_after, sort_out


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "100000"}, 120.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:30 GMT"}, 30.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({}, None),
    ],
)
def test_what_a_server_asks_for_is_read_and_bounded(headers: dict[str, str], wait: float | None) -> None:
    assert retry_after(headers, now=0.0) == wait


def test_waits_grow_to_a_limit_and_differ_between_requests() -> None:
    waits = [backoff_s(attempt, "0000") for attempt in range(1, 8)]
    assert waits == [0.5, 1, 2, 4, 8, 8, 8]
    assert backoff_s(1, "ffff") == 0.625


def untrusted(code: int) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError("certificate verify failed")
    error.verify_code, error.verify_message = code, "as OpenSSL says it"
    return error


def alert(reason: str) -> ssl.SSLError:
    """What OpenSSL says where the other side ends a handshake."""
    error = ssl.SSLError(1, "the handshake failed")
    error.reason = reason
    return error


def status(code: int, body: Any) -> Exception:
    """An error as the clients raise it."""
    error = ServerSaid(code, "said")
    error.body = body  # type: ignore[attr-defined]
    return error


@pytest.mark.parametrize(
    ("error", "what", "part"),
    [
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "definitive", "host"),
        (socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"), "retry", "host"),
        (ConnectionRefusedError(111, "refused"), "retry", "port"),
        (untrusted(18), "definitive", "certificate"),
        (alert("TLSV13_ALERT_CERTIFICATE_REQUIRED"), "definitive", "certificate"),
        (alert("TLSV1_ALERT_UNKNOWN_CA"), "definitive", "certificate"),
        (alert("UNEXPECTED_EOF_WHILE_READING"), "retry", "certificate"),
        (untrusted(20), "definitive", "certificate"),
        (untrusted(62), "definitive", "other_name"),
        (untrusted(10), "definitive", "expired"),
        (untrusted(9), "definitive", "expired"),
        (status(404, {"error": {"message": "The model `x` does not exist"}}), "definitive", "model"),
        (status(400, {"error": {"message": "x is not a valid model; no such model"}}), "definitive", "model"),
        (
            status(400, {"error": {"message": "this model does not support tools; unknown field"}}),
            "refused",
            "functions",
        ),
        (status(400, {"error": {"message": "unknown model parameter: top_k"}}), "refused", ""),
        (status(400, "<html><title>The plain HTTP request was sent to HTTPS port</title>"), "definitive", "needs_tls"),
        (status(401, "<html><title>401</title></html>"), "definitive", "key"),
        (status(403, "<html><title>Blocked</title></html>"), "definitive", "page"),
        (status(503, "<html><title>Busy</title></html>"), "retry", ""),
        (status(405, {"detail": "Method Not Allowed"}), "definitive", "path"),
    ],
)
def test_the_part_is_told_that_is_wrong(error: Exception, what: str, part: str) -> None:
    failure = sort_out(error)
    assert (failure.what, failure.part) == (what, part), failure.text


SERVICES = (
    (400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", "context"),
    (400, "Input is too long for requested model.", "context"),
    (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193.", "context"),
    (400, "This model's maximum prompt length is 131072 but the request contains 140000 tokens.", "context"),
    (400, "prompt is too long: 210000 tokens > 200000 maximum", "context"),
    (400, "Your credit balance is too low to access the Anthropic API.", "account"),
    (403, "Your team has either used all available credits or reached its monthly spending limit.", "account"),
    (402, "Insufficient Balance", "account"),
    (404, "model: claude-9", "model"),
    (400, "foo/bar is not a valid model ID", "model"),
    (404, "Unable to access model foo. Please visit the list of supported models.", "model"),
    (404, "The API deployment for this resource does not exist. If you created it now, please try again.", "model"),
    (400, "The requested model 'x' is not supported by any provider you have enabled.", "model"),
    (400, "The model `x` has been decommissioned and is no longer supported.", "model"),
    (404, "models/x is not found for API version v1beta, or is not supported for generateContent.", "model"),
    (400, "API key not valid. Please pass a valid API key.", "key"),
    (404, "File Not Found", "path"),
    (403, "Country, region, or territory not supported", "key"),
)
"""What services say in their own words, each of which leads a user to another thing to mend."""


@pytest.mark.parametrize(("code", "said", "part"), SERVICES)
def test_the_words_of_a_service_lead_to_what_is_to_be_mended(code: int, said: str, part: str) -> None:
    failure = sort_out(ServerSaid(code, said))
    assert (failure.what, failure.part) == ("definitive", part), failure.text


def test_a_model_that_is_not_for_this_account_is_no_matter_of_the_key() -> None:
    error = ServerSaid(403, "Project p does not have access to it")
    error.code = "model_not_found"  # type: ignore[attr-defined]
    assert sort_out(error).part == "model"


@pytest.mark.parametrize(
    ("error", "what"),
    [
        (BadReply("half a body"), "retry"),
        (ServerSaid(429, "slow down"), "retry"),
        (ServerSaid(None, "provider returned error"), "retry"),
        (ServerSaid(400, "maximum context length is 8192 tokens"), "definitive"),
        (ServerSaid(400, "the request exceeds the available context size"), "definitive"),
        (ServerSaid(400, "response_format is not supported"), "refused"),
        (ServerSaid(401, "no"), "definitive"),
        (ServerSaid(400, "triggered our content management policy"), "filtered"),
        (ConnectionResetError("reset"), "retry"),
        (TimeoutError(), "retry"),
    ],
)
def test_every_failure_has_its_meaning(error: Exception, what: str) -> None:
    assert sort_out(error).what == what
