"""The environment. Nothing else reads it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from habilis.core.errors import PlaceError
from habilis.core.masker import MASKER


def secret(name: str | None) -> str | None:
    """The value of the environment variable `name`, None when unset or empty. It is masked from now on."""
    value = (os.environ.get(name) or None) if name else None
    MASKER.add(name or "", value)
    return value


def environment() -> dict[str, str]:
    """A copy of the process environment, for the few programs of the user's own that we start (uv, a code writer)."""
    return dict(os.environ)


@contextmanager
def one_thread_each() -> Iterator[None]:
    """What is loaded in the block starts no threads of its own: NumPy would, unless its user said how many."""
    name = "OPENBLAS_NUM_THREADS"
    known = name in os.environ
    os.environ.setdefault(name, "1")
    yield
    if not known:
        del os.environ[name]


def unattended() -> bool:
    """Whether a build server runs us, although it may give us a terminal (CI)."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


_HARMLESS = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "TZ", "TMPDIR")


def harmless_environment() -> dict[str, str]:
    """What every program is given: variables that programs need and that hold no secrets. All others must be named."""
    return {name: os.environ[name] for name in _HARMLESS if name in os.environ}


def otlp_endpoint() -> str | None:
    """The collector that the environment names, for all programs that speak OTLP (OpenTelemetry Protocol Exporter);
    None without one, and where OTEL_SDK_DISABLED turns telemetry off."""
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    return os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or None


def proxy_for(url: str) -> tuple[str, str] | None:
    """The variable that names a proxy for `url`, and its value without a user; None where the way is straight.

    Read as the HTTP clients read them: small letters go first, NO_PROXY takes hosts out.
    """
    from urllib.request import proxy_bypass

    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass(parts.hostname):
        return None
    names = (f"{parts.scheme}_proxy", f"{parts.scheme}_proxy".upper(), "all_proxy", "ALL_PROXY")
    name = next((name for name in names if os.environ.get(name)), None)
    if name is None:
        return None
    scheme, mark, rest = os.environ[name].rpartition("://")
    return name, f"{scheme}{mark}{rest.rpartition('@')[2]}"


def names_certificates() -> bool:
    """Whether SSL_CERT_FILE or SSL_CERT_DIR says which certificates of issuers are trusted."""
    return bool(os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR"))


def hub_address() -> str | None:
    """The address of the hub that models and data sets come from (HF_ENDPOINT); None for Hugging Face's own."""
    return os.environ.get("HF_ENDPOINT") or None


def data_dir() -> Path | None:
    """Folder for what is the user's own and cannot be made again; None for a user without a home."""
    base = os.environ.get("HABILIS_DATA_DIR")
    if base:
        return Path(base)
    try:
        return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "habilis"
    except RuntimeError:
        return None


def cache_dir() -> Path:
    """Folder for what can be made again: environments, token tables, probe results.

    Raises `PlaceError` for a user without a home who names no such folder.
    """
    base = os.environ.get("HABILIS_CACHE_DIR")
    if base:
        return Path(base)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "habilis"
    except RuntimeError:
        raise PlaceError("this user has no home folder for a cache: set HOME or HABILIS_CACHE_DIR") from None


def set_up_ray(*, joining: bool) -> None:
    """Have Ray, where it is started by us, send nothing about its use, and where we are `joining` a cluster, not end
    this process while its head is away; both unless the user said otherwise. To be called before Ray is imported."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if joining:
        os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", "3600")
