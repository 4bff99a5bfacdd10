"""What `habilis library call` is told: arguments as JSON, which tool gets which, and what is granted."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from habilis.contract.capabilities import Malformed, declared
from habilis.core.errors import UserError
from habilis.terminal.wording import seconds_of

GRANTS = {
    "network": "example.org",
    "read": "/data/tables",
    "env": "API_TOKEN",
    "subprocess": "",
    "timeout": "300",
    "memory": "2048",
}
"""Kinds of grants, each with an example of its value."""
T = TypeVar("T")


def read_arguments(given: Sequence[str]) -> list[dict[str, Any]]:
    """The arguments of each call: JSON objects, `@FILE` and `-` (standard input) with one object or one a line.

    Raises `UserError` that names the `--args` and the position in it.
    """
    found: list[dict[str, Any]] = []
    for number, text in enumerate(given, 1):
        label = "--args" if len(given) == 1 else f"--args {number}"
        if text == "-":
            found += _objects(_standard_input(), "--args -")
        elif text.startswith("@"):
            found += _objects(_file(text[1:]), f"--args {text}")
        else:
            found.append(_object(text, label))
    return found


def paired(tools: Sequence[T], arguments: Sequence[dict[str, Any]]) -> list[tuple[T, dict[str, Any]]]:
    """The calls in order: one tool with all arguments, all tools with the one, or each with its own."""
    if not arguments:
        raise UserError("no arguments: give --args JSON, for a tool that takes none --args '{}'")
    if len(tools) == 1:
        return [(tools[0], given) for given in arguments]
    if len(arguments) == 1:
        return [(tool, arguments[0]) for tool in tools]
    if len(tools) != len(arguments):
        raise UserError(
            f"{len(tools)} tools and {len(arguments)} sets of arguments: give one tool, one --args, or as many of both"
        )
    return list(zip(tools, arguments, strict=True))


def read_grants(given: Sequence[str]) -> dict[str, Any]:
    """What `--grant KIND=VALUE,…` says, by kind; a kind without a value is left out. Raises `UserError`.

    Hosts, paths and names are tuples, `subprocess` is true, `timeout` seconds, `memory` MiB.
    """
    found: dict[str, list[str]] = {}
    for text in given:
        kind, equals, values = text.partition("=")
        kind = kind.strip()
        if kind not in GRANTS:
            near = difflib.get_close_matches(kind, GRANTS, 1, 0.6)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(GRANTS)}"
            raise UserError(f"--grant {text}: unknown kind {kind!r}; {hint}")
        if bool(equals) != (kind != "subprocess"):
            form = f"{kind}=VALUE, for example {kind}={GRANTS[kind]}" if GRANTS[kind] else kind
            raise UserError(f"--grant {text}: expected {form}")
        found.setdefault(kind, []).extend(value.strip() for value in values.split(",") if value.strip())
    return {
        kind: _granted(kind, list(dict.fromkeys(values)))
        for kind, values in found.items()
        if values or not GRANTS[kind]
    }


def _granted(kind: str, values: list[str]) -> Any:
    """The values of one kind, checked as a tool's declaration of the same is. Raises `UserError`."""
    try:
        if kind == "subprocess":
            return True
        if kind in ("timeout", "memory"):
            number = seconds_of(values[-1], "--grant timeout") if kind == "timeout" else int(values[-1])
            said = declared({"timeout_s" if kind == "timeout" else "memory_mb": number})
            return said.timeout_s if kind == "timeout" else said.memory_mb
        listed = [str(Path(value).expanduser().absolute()) for value in values] if kind == "read" else values
        for path in listed if kind == "read" else ():
            if not Path(path).exists():
                raise UserError(f"--grant read={path}: no such file or folder")
        return getattr(declared({kind: listed}), kind)
    except Malformed as error:
        raise UserError(f"--grant {kind}={','.join(values)}: {str(error).partition(']: ')[2] or error}") from None
    except ValueError:
        raise UserError(f"--grant {kind}={values[-1]}: expected a whole number of MiB") from None


def _objects(text: str, label: str) -> list[dict[str, Any]]:
    """The one JSON object of `text`, or the object on each of its lines."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines:
        raise UserError(f"{label}: there is nothing in it")
    if len(lines) == 1 or not _is_json(lines[0][1]):
        return [_object(text, label)]
    return [_object(line, f"{label}: line {number}", one_line=True) for number, line in lines]


def _object(text: str, label: str, *, one_line: bool = False) -> dict[str, Any]:
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        where = f"column {error.colno}" if one_line else f"line {error.lineno}, column {error.colno}"
        hint = '; an object in shell quotes, such as \'{"path": "a.csv"}\'' if not text.strip() else ""
        raise UserError(f"{label}: {where}: {error.msg}{hint}") from None
    except (ValueError, RecursionError) as error:
        said = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise UserError(f"{label}: not usable as JSON: {said}") from None
    if not isinstance(value, dict):
        raise UserError(f"{label}: expected a JSON object of arguments by name, not {_kind(value)}")
    return value


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON value")


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _standard_input() -> str:
    if sys.stdin is None:
        raise UserError("--args -: there is no standard input")
    return _decoded(sys.stdin.buffer.read(), "--args -")


def _file(name: str) -> str:
    try:
        return _decoded(Path(name).expanduser().read_bytes(), f"--args @{name}")
    except FileNotFoundError:
        raise UserError(f"--args @{name}: no such file") from None
    except OSError as error:
        raise UserError(f"--args @{name}: {error.strerror}") from None


def _decoded(data: bytes, label: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{label}: not UTF-8 (byte {error.start})") from None
