"""The guard of conftest.py itself: without it, a test could spend a user's money or pass only with a network."""

from __future__ import annotations

import os
import socket

import pytest


def test_no_connection_leaves_this_machine(refused: list[str]) -> None:
    with socket.socket() as client, pytest.raises(OSError, match="nothing but this machine"):
        client.connect(("192.0.2.1", 80))
    assert refused == ["socket.connect 192.0.2.1"]
    refused.clear()


def test_no_name_is_looked_up(refused: list[str]) -> None:
    with pytest.raises(OSError, match="nothing but this machine"):
        socket.getaddrinfo("example.com", 443)
    assert refused == ["socket.getaddrinfo example.com"]
    refused.clear()


def test_loopback_stays_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert client.getpeername() == server.getsockname()


def test_no_key_or_setting_of_the_user_reaches_a_test() -> None:
    allowed = {"HABILIS_CACHE_DIR", "HABILIS_DATA_DIR", "HABILIS_MODELS__PROBE_JUDGES", "LANGGRAPH_STRICT_MSGPACK"}
    assert {n for n in os.environ if n.startswith(("OPENAI_", "HABILIS_", "LANGSMITH_", "LANGGRAPH_"))} <= allowed
