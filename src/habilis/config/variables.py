"""The environment. Nothing else reads it."""

from __future__ import annotations

import os
from pathlib import Path

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
