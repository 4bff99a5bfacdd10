"""Running the problems' functions in a process that may do little: no network, no files written, no processes.

It stands for the host where thousands of calls are to be made; `replacements.py --real` shows how far the two agree.
"""

from __future__ import annotations

import copy
import inspect
import json
import os
import random
import resource
import signal
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MEMORY = 2 << 30
TIMEOUT_S = 0.1
"""Processor time."""
CROWD_S = 2.0
"""That of a run in which a tool is called many times."""
MOST_CALLS = 40
_REFUSED = ("socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.remove", "os.rename")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_loaded: dict[str, types.ModuleType] = {}
_inside = [False]


class Late(BaseException):
    """The time is over."""


def limit() -> None:
    """From here on, for this process: little memory, and nothing but computing in what it runs."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGPROF, _late)
    sys.addaudithook(_watch)
    sys.dont_write_bytecode = True
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)


def _watch(event: str, given: tuple[Any, ...]) -> None:
    writes = event == "open" and isinstance(given[2], int) and given[2] & _WRITES
    if _inside[0] and (writes or event.startswith(_REFUSED)):
        raise PermissionError(event)


def _late(*_: Any) -> None:
    raise Late


@contextmanager
def _limited(seconds: float = TIMEOUT_S) -> Iterator[None]:
    signal.setitimer(signal.ITIMER_PROF, seconds)
    _inside[0] = True
    try:
        yield
    finally:
        _inside[0] = False
        signal.setitimer(signal.ITIMER_PROF, 0)


def record(source: str, entry: str, tests: list[str]) -> Any:
    """The names of the parameters of `entry`, and arguments and results of what `tests` call, as literals."""
    space: dict[str, Any] = {"__name__": "problem"}
    found: list[str] = []
    try:
        with _limited():
            exec(source, space)
            reference = space[entry]
            names = list(inspect.signature(reference).parameters)

            def asked(*given: Any, **named: Any) -> Any:
                bound = inspect.signature(reference).bind(*copy.deepcopy(given), **copy.deepcopy(named))
                result = reference(*given, **named)
                if len(found) < MOST_CALLS:
                    found.append(repr((dict(bound.arguments), result)))
                return result

            random.seed(0)
            space |= {entry: asked, "candidate": asked}
            for test in tests:
                exec(test, space)
    except Late:
        return {"error": "late"}
    except BaseException as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {"parameters": names, "calls": found}


def _is_crowd(path: str) -> bool:
    """Whether a module calls a tool many times (`synthesis/crowds.py`)."""
    return Path(path).name == "crowd.py"


def _module(path: str) -> types.ModuleType:
    if path not in _loaded:
        module = types.ModuleType("tool_under_test")
        sys.modules["tool_under_test"] = module
        exec(compile(Path(path).read_bytes(), path, "exec"), module.__dict__)
        if _is_crowd(path):  # runs once
            return module
        _loaded[path] = module
    return _loaded[path]


def describe(path: str) -> Any:
    try:
        module = _module(path)
        return {"input": module.InputModel.model_json_schema(), "output": module.OutputModel.model_json_schema()}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def call(path: str, arguments: dict[str, Any]) -> Any:
    kind = "crashed"
    try:
        with _limited(CROWD_S if _is_crowd(path) else TIMEOUT_S):
            module = _module(path)
            random.seed(0)
            kind = "invalid_arguments"
            given = module.InputModel(**arguments)
            kind = "crashed"
            output = module.run(given).model_dump(mode="json")
            json.dumps(output)
            return {"output": output}
    except Late:
        return {"kind": "timeout", "error": "the time is over"}
    except BaseException as error:
        name = type(error).__name__
        if kind == "crashed" and name == "ValidationError":
            kind = "bad_output"
        return {"kind": kind, "error": f"{name}: {error}"[:300]}
