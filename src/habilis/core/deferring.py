"""Packages of others that are imported on the way to something else and hardly ever used: each is executed once a name
in it is asked for, as `lazy import` does from Python 3.15 on (https://peps.python.org/pep-0810/).

Only for a process that is ours alone: a program that uses Habilis as a library finds its imports as they are.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import Any

UNASKED = ("langgraph_sdk", "langsmith.types", "snowballstemmer")
"""A client for a server of graphs, of which LangGraph wants one type; the types of a service for traces; the stemmers
of forty languages. Of each some module inside is imported, and that one alone is executed."""
COMMANDS = ("httpx._main", "httpx2._main")
"""The command lines of libraries, with all that they print with. Each library does without its own."""


def defer_unasked() -> None:
    """From now on in this process, nothing waits for what nobody asks for."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    for name in COMMANDS:
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]  # "not to be had": the import system's own sign


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in UNASKED:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Later(spec.loader)
        return spec


class _Later(Loader):
    """Makes a module that `loader` executes at the first name that is asked for."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Deferred(spec.name, self._loader)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing yet."""


class _Deferred(ModuleType):
    def __init__(self, name: str, loader: Loader) -> None:
        super().__init__(name)
        self.__dict__["_waiting"], self.__dict__["_turn"] = loader, RLock()

    def __getattr__(self, name: str) -> Any:
        known = self.__dict__
        if not name.startswith("__") or name in ("__all__", "__version__"):  # who looks at all modules asks for others
            with known["_turn"]:
                loader = known.pop("_waiting", None)
                if loader is not None:
                    try:
                        loader.exec_module(self)
                    except BaseException:
                        known["_waiting"] = loader
                        raise
                if name in known:
                    return known[name]
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
