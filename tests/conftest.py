"""What holds for every test: no way out to the network, no setting from the user's shell, a cache of its own."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from .marks import PROMISE
from .openfiles import count, open_files
from .toolshop import in_process_host, layered_shop, other_shop, put_tool, said_models, shop, source_of

__all__ = ["in_process_host", "layered_shop", "other_shop", "put_tool", "said_models", "shop", "source_of"]

ROOT = Path(__file__).resolve().parents[1]
LONG_TESTS = ROOT / "tests" / "long_tests.txt"
FOREIGN = ("OPENAI_", "HABILIS_", "LANGSMITH_", "LANGCHAIN_", "LANGGRAPH_", "OTEL_")
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
SHOWN = ("CI", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
"""What changes how a terminal is written to. A machine of continuous integration sets the first one."""

# Kept under a name of its own: the workers get the environment that the next lines leave.
PROFILE = os.environ.setdefault("TESTS_PROFILE", "ci" if os.environ.get("CI") else "local")

for name in list(os.environ):
    if name.upper().startswith(FOREIGN) or name.lower() in PROXIES or name in SHOWN:
        del os.environ[name]
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
# One for all workers and all runs: environments for tools are built once, and the user's own stay out of it.
os.environ["HABILIS_CACHE_DIR"] = str(ROOT / ".test_cache")
# The models of these tests play judges by a script, or are the offline one behind a server: they are believed untried.
# tests/models/test_judging.py and tests/agents/test_judged.py are about what is done without that.
os.environ["HABILIS_MODELS__PROBE_JUDGES"] = "false"
os.environ["HABILIS_DATA_DIR"] = str(ROOT / ".test_cache" / "data")

hypothesis.settings.register_profile("local", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, database=None)
hypothesis.settings.register_profile("quick", hypothesis.settings.get_profile(PROFILE), max_examples=30)


def pytest_configure(config: pytest.Config) -> None:
    """The quick run tries fewer examples of each property; how many is arbitrary, and the whole run tries them all."""
    hypothesis.settings.load_profile("quick" if config.getoption("markexpr") == "not slow" else PROFILE)


def pytest_collection() -> None:
    """Looking for garbage finds none while thousands of tests are collected."""
    gc.disable()


def pytest_collection_finish() -> None:
    """The collected tests live as long as the run: looking through them took half a second each time."""
    gc.enable()
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the long ones, and sorts the longest first: otherwise, they are what the last workers are left alone with
    for minutes."""
    long = {line for line in LONG_TESTS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")}
    for item in items:
        if item.nodeid.partition("[")[0] in long and item.get_closest_marker("slow") is None:
            for mark in PROMISE:  # those that are slow already say themselves whether they keep a promise
                item.add_marker(mark)
    items.sort(key=lambda item: not any(mark.kwargs.get("long") for mark in item.iter_markers("promise")))


SHARED_FILES = 20
"""What the first test that needs it may open for all that follow: servers, a zygote, a nursery."""
refusals: list[str] = []
"""Ways out that the running test tried. A test that tries one on purpose empties this list."""


class NetworkRefused(OSError):
    """A test tried to reach an address that is not of this machine."""


def _is_local(host: Any) -> bool:
    host = host.decode() if isinstance(host, bytes) else host
    return host in (None, "", "localhost", "::1", "0.0.0.0", "::") or str(host).startswith("127.")


def _refuse_the_world(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = arguments[0]
    elif event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        handle, address = arguments[0], arguments[1]
        if handle.family not in (socket.AF_INET, socket.AF_INET6) or not isinstance(address, tuple):
            return
        host = address[0]
    else:
        return
    if not _is_local(host):
        refusals.append(f"{event} {host}")
        raise NetworkRefused(f"tests reach nothing but this machine, and {event} asked for {host}")


sys.addaudithook(_refuse_the_world)


@pytest.fixture(autouse=True)
def _no_network() -> Iterator[None]:
    """Fails a test that tried the network, even where the code under test swallowed the refusal."""
    refusals.clear()
    yield
    tried = list(refusals)
    refusals.clear()
    assert not tried, f"the test tried to reach the network: {tried}"


@pytest.fixture(autouse=True)
def _nothing_left_open() -> Iterator[None]:
    """Fails a test that leaves many files open: so would a long training, until it may open no more."""
    before = count()
    yield
    if count() > before + SHARED_FILES:
        assert (left := open_files() - before) <= SHARED_FILES, f"the test leaves {left} files open"


@pytest.fixture(autouse=True)
def _no_secret_of_another_test() -> Iterator[None]:
    """The masker is told for as long as the process lives; what one test plants must not hide words of the next."""
    from habilis.core.masker import MASKER

    MASKER.forget()
    yield
    MASKER.forget()


@pytest.fixture(scope="session")
def refused() -> list[str]:
    """The ways out that the running test tried, for the test of this guard."""
    return refusals


@pytest.fixture(scope="session")
def sandbox_level() -> str:
    """The sandbox level of this machine; skips the test, with the reason, where no back end works."""
    from habilis.config import SandboxSettings
    from habilis.core.errors import SandboxUnavailable
    from habilis.runtime.host import ToolHost

    async def probe() -> str:
        host = ToolHost(SandboxSettings())
        try:
            return await host.level()
        finally:
            await host.aclose()

    try:
        return asyncio.run(probe())
    except SandboxUnavailable as error:
        pytest.skip(f"no sandbox back end works here: {error}")


@pytest.fixture(autouse=True)
def _sandbox_or_skip(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("sandbox"):
        request.getfixturevalue("sandbox_level")
