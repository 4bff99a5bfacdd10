"""What a user would lose: patience to a server that asks for an hour, or a task to a hiccup taken for an end."""

from __future__ import annotations

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
