"""Packages whose names are imported when they are first asked for: a task's first request need not wait for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_door(package: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` (PEP 562) of `package`, by its names and the modules in it that have them."""

    def found(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return getattr(import_module(f"{package}.{places[name]}"), name)

    return found
