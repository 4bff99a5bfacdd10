"""Runs a tool: arguments are checked, `run` is called, the result is the tool's output model.

In a package this is imported. As a script it runs the tool file beside it:

    python run.py '{"path": "data.csv"}'        arguments as a JSON object, or - to read them from standard input

It prints the output as JSON. Exit codes: 0 done, 1 the tool failed, 2 the arguments do not fit.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import json
import sys
from pathlib import Path
from typing import Any


class LeftOut:
    """Stands for an argument that is not given, so that the tool's own default counts."""

    def __repr__(self) -> str:
        return "LEFT_OUT"


LEFT_OUT = LeftOut()


def call(tool: Any, arguments: dict[str, Any]) -> Any:
    """Run the module `tool`. Raises pydantic.ValidationError for arguments that do not fit, and whatever the tool does.

    A tool that can wait (`async def run`) is waited for; not from within a running event loop.
    """
    given = {name: value for name, value in arguments.items() if value is not LEFT_OUT}
    result = tool.run(tool.InputModel.model_validate(given))
    if inspect.isawaitable(result):
        result = asyncio.run(_waited(result))
    if isinstance(result, tool.OutputModel):
        return result
    return tool.OutputModel.model_validate(result if isinstance(result, dict) else result.model_dump())


def plain(output: Any) -> Any:
    """An output model as JSON values; not-a-number and infinity, which JSON does not know, as null."""
    return _clean(output.model_dump(mode="json"))


async def _waited(result: Any) -> Any:
    return await result


def _clean(value: Any) -> Any:
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {str(key): _clean(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(inner) for inner in value]
    return value


def _beside() -> Any:
    """The tool file beside this script: the only other Python file there."""
    here = Path(__file__).resolve()
    (path,) = (path for path in sorted(here.parent.glob("*.py")) if path != here)
    spec = importlib.util.spec_from_file_location(f"_tool_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def main(words: list[str]) -> int:
    """Run the tool file beside this script."""
    from pydantic import ValidationError

    if len(words) != 1 or words[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if words else 2
    try:
        arguments = json.loads(sys.stdin.read() if words[0] == "-" else words[0])
        if not isinstance(arguments, dict):
            raise ValueError("expected a JSON object")
    except ValueError as error:
        print(f"arguments: {error}", file=sys.stderr)
        return 2
    tool = _beside()
    try:
        output = plain(call(tool, arguments))
    except ValidationError as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(output, ensure_ascii=False, indent=2))
    return 1 if isinstance(output, dict) and output.get("error") else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
