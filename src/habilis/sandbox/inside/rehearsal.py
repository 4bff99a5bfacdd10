"""Runs inside the sandbox, in the server and its forks: uses once what tools use, so that no call has to load it."""

import importlib
import json
from typing import Any

WARM = (
    "bisect calendar collections.abc contextlib copy csv dataclasses datetime decimal enum fractions functools "
    "heapq io itertools linecache logging math operator pathlib random re statistics string textwrap traceback "
    "unicodedata uuid warnings"
)
"""Modules of the standard library that tools use most."""
SAMPLE = """
import csv, re
from pathlib import Path
from pydantic import BaseModel, Field

__TOOL_META__ = {"name": "sample", "description": "Counts.", "dependencies": []}

class InputModel(BaseModel):
    text: str = Field(description="the text")
    path: str | None = None
    number: float = 0.0
    flag: bool = False
    rows: list[dict[str, str | int]] = []

class OutputModel(BaseModel):
    count: int = 0
    names: list[str] = []
    error: str | None = None

def run(input: InputModel) -> OutputModel:
    names = sorted(name for row in input.rows for name in row)
    return OutputModel(count=len(input.text), names=names)
"""


WARMED: "list[bool]" = []
"""Not empty once that was done, here or where this process was forked from."""


def warm_up() -> None:
    """Use what tools use once, all the way: what is loaded and filled now, no call has to load. Does so once."""
    if WARMED:
        return
    WARMED.append(True)
    for name in WARM.split():
        importlib.import_module(name)
    rehearse()


def rehearse() -> None:
    """Load and run a tool of the usual kind. Done in a fork, it makes the memory that the real one will use the
    fork's own ahead of time: that, page by page, is most of what a call costs."""
    from pydantic import BaseModel

    namespace: dict[str, Any] = {"__name__": "_habilis_rehearsal"}
    exec(compile(SAMPLE, "<sample>", "exec", dont_inherit=True), namespace)
    given: type[BaseModel] = namespace["InputModel"]
    result = namespace["run"](given.model_validate(json.loads('{"text": "x", "rows": [{"a": 1}]}')))
    json.dumps({"step": "call", "result": result.model_dump(mode="json")})
