"""Writes the reference pages that follow from the code: settings, commands, exit codes, events.

`make docs` runs it, the pages are committed, and `tests/test_docs.py` fails where one no longer says what the code
says. argparse formats its help differently in each version of Python, so its parts are read instead.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from habilis.cli.parser import build
from habilis.config import BASIC_DEFAULTS, ROLES, Settings, SourceSettings
from habilis.core.events import Event
from habilis.terminal.outcome import EXIT_CODES as CODE_OF_STATUS

FOLDER = Path(__file__).resolve().parent / "reference"
NOTE = "<!-- Written by docs/generate.py from the code; run `make docs` after a change. -->"
PLAIN_TYPES = {str: "text", int: "whole number", float: "number", bool: "true or false", NoneType: "unset"}
LIMITS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


# ---- settings


def settings() -> str:
    """Every setting with its type, its default and its meaning."""
    parts = [
        NOTE,
        "# Settings",
        "A settings file is YAML with these keys. `habilis config init` writes a commented one, `habilis config show`"
        " prints each current value and where it came from. The order, strongest first: the command line (`--set"
        " limits.max_rounds=20`), settings files (a later `-c` before an earlier one), the environment"
        " (`HABILIS_LIMITS__MAX_ROUNDS=20`), the default. An unknown key is an error that names the nearest one;"
        " a setting of an earlier version is an error that says what to do instead.",
    ]
    for section, rows in _sections(Settings()).items():
        parts += [f"## {_title(section)}", *_told(section), _table(("setting", "type", "default", "meaning"), rows)]
    parts += ["## Sources", _SOURCES, _table(("setting", "type", "default", "meaning"), list(_of_a_source()))]
    return _page(parts)


_SOURCES = (
    "`sources` maps a name of your choice to one entry each. An entry has exactly one kind, `openapi` or `mcp`."
    " [Use tools of other programs](../how-to/tools-of-other-programs.md) has examples."
)


def _title(section: str) -> str:
    return (
        "Models" if section == "models.basic" else section.replace("models.local", "Local models") or "Folders, sources"
    )


def _told(section: str) -> list[str]:
    if section != "models.basic":
        return []
    others = ", ".join(f"`{role}`" for role in ROLES if role != "basic")
    return [
        f"`models.basic` applies to every role. The roles {others} have the same keys, `models.<role>.…`, and take what"
        " they leave out from `models.basic`."
    ]


def _sections(model: BaseModel) -> dict[str, list[Sequence[str]]]:
    found: dict[str, list[Sequence[str]]] = {}
    for dotted, value, info in _leaves(model):
        section, _, leaf = dotted.rpartition(".")
        if section == "models.basic":
            value = getattr(BASIC_DEFAULTS, leaf)
        elif section.startswith("models.") and section != "models.local":
            continue
        found.setdefault(section, []).append(_row(dotted, value, info))
    return found


def _leaves(model: BaseModel, prefix: str = "") -> Iterator[tuple[str, Any, FieldInfo]]:
    for name, info in type(model).model_fields.items():
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value, info


def _of_a_source(kind: type[BaseModel] = SourceSettings, prefix: str = "sources.<name>.") -> Iterator[Sequence[str]]:
    for name, info in kind.model_fields.items():
        inner = next(
            (part for part in _parts(info.annotation) if inspect.isclass(part) and issubclass(part, BaseModel)), None
        )
        if inner is not None:
            yield from _of_a_source(inner, f"{prefix}{name}.")
        else:
            yield _row(prefix + name, "must be given" if info.is_required() else info.get_default(), info)


def _parts(kind: Any) -> tuple[Any, ...]:
    return tuple(get_args(kind)) if get_origin(kind) not in (None, Literal, tuple, dict) else (kind,)


def _row(dotted: str, value: Any, info: FieldInfo) -> Sequence[str]:
    default = value if value == "must be given" else _default(value)
    return (f"`{dotted}`", _kind(info), default, info.description or "")


def _default(value: Any) -> str:
    return "unset" if value is None else f"`{json.dumps(value, ensure_ascii=False)}`"


def _kind(info: FieldInfo) -> str:
    """What a setting takes, in words, with its limits."""
    limits = [f"{word} {getattr(m, name)}" for m in info.metadata for name, word in LIMITS.items() if hasattr(m, name)]
    return ", ".join([_words(info.annotation), *limits])


def _words(kind: Any) -> str:
    if kind in PLAIN_TYPES:
        return PLAIN_TYPES[kind]
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return ", ".join(f"`{word}`" for word in inner)
    if origin is tuple:
        return f"list of {_plural(_words(inner[0]))}"
    if origin is dict or kind is dict:
        return f"mapping to {_words(inner[1])}" if inner and inner[1] is not Any else "mapping"
    if inner:
        return " or ".join(_words(part) for part in inner if part is not NoneType)
    return "see below" if inspect.isclass(kind) and issubclass(kind, BaseModel) else "any value"


def _plural(word: str) -> str:
    return f"{word}s" if word in ("text", "number") else word


# ---- commands


def commands() -> str:
    """Every command with its arguments and options."""
    parts = [
        NOTE,
        "# Commands",
        "`make setup` puts `habilis` into `.venv/bin`. `main.py` and `python -m habilis` are the same program,"
        " `evolve.py` is `habilis evolve`. `habilis COMMAND --help` prints the same text. See also the"
        " [exit codes](exit-codes.md).",
    ]
    for path, parser, summary in _commands(build()):
        parts += [f"## habilis {path}", _sentence(summary), _usage(path, parser), _plain(parser.description or "")]
        rows = [(f"`{_shown(action)}`", _help(action)) for action in _actions(parser)]
        parts += [_table(("argument", "meaning"), rows)] if rows else []
    return _page(parts)


def _commands(parser: argparse.ArgumentParser, path: str = "") -> Iterator[tuple[str, argparse.ArgumentParser, str]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            summaries = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, sub in action.choices.items():
                below = list(_commands(sub, f"{path} {name}".strip()))
                yield from below or [(f"{path} {name}".strip(), sub, summaries.get(name, ""))]


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [a for a in parser._actions if a.help != argparse.SUPPRESS and not isinstance(a, argparse._HelpAction)]


def _usage(path: str, parser: argparse.ArgumentParser) -> str:
    places = [_place(action) for action in _actions(parser) if not action.option_strings]
    return "```\n" + " ".join(["habilis", path, "[OPTIONS]", *places]) + "\n```"


def _place(action: argparse.Action) -> str:
    name = _metavar(action)
    return {"?": f"[{name}]", "*": f"[{name} …]", "+": f"{name} [{name} …]"}.get(str(action.nargs), name)


def _metavar(action: argparse.Action) -> str:
    if isinstance(action.metavar, str):
        return action.metavar
    return "|".join(map(str, action.choices)) if action.choices else action.dest.upper()


def _shown(action: argparse.Action) -> str:
    if not action.option_strings:
        return _metavar(action)
    value = "" if action.nargs == 0 else f" {_metavar(action)}"
    return ", ".join(action.option_strings) + value


def _help(action: argparse.Action) -> str:
    return _plain(action.help or "").replace("(default: %(default)s)", f"(default: {action.default})")


# ---- exit codes


def exit_codes() -> str:
    """What each command's exit code says, and which status of a task has which."""
    groups: dict[str, list[str]] = {}
    for path, parser, _ in _commands(build()):
        if parser.epilog:
            groups.setdefault(parser.epilog, []).append(f"`habilis {path}`")
    statuses = [(f"`{status}`", str(code)) for status, code in CODE_OF_STATUS.items()]
    parts = [
        NOTE,
        "# Exit codes",
        "For every command, 0 means that it worked, 2 wrong usage or configuration, 3 a model that cannot be reached,"
        " 5 that this machine failed (its disk, memory, open files, interpreter or sandbox), and 130 an interruption."
        " A command that ends with 3 or 5 says what to do, and can be resumed after that: nothing is paid for twice."
        " A command that is not listed below ends with 1 if it could not do what was asked.",
        "## By status of a task",
        _table(("status", "exit code"), statuses),
        "## By command",
    ]
    for epilog, names in groups.items():
        parts += [f"{', '.join(names)}:", _table(("exit code", "meaning"), _codes(epilog))]
    return _page(parts)


def _codes(epilog: str) -> list[tuple[str, str]]:
    text = _plain(epilog).partition("exit codes:")[2]
    found = []
    for part in filter(None, (part.strip() for part in text.split("·"))):
        number = re.match(r"(\d+) (.*)", part)
        found.append((number[1], number[2]) if number else ("other", part))
    return found


# ---- events


def events() -> str:
    """Every event with its fields."""
    parts = [
        NOTE,
        "# Events",
        "`events.jsonl` of a task or of a training run has one event per line, in order. Each also has `at`, the time"
        " in seconds since the epoch. From Python, `Team.stream` gives the same events; `sinks=[…]` takes any object"
        " with `emit(event)`.",
    ]
    for kind in get_args(get_args(Event)[0]):
        name = kind.model_fields["kind"].default
        rows = [
            (f"`{field}`", f"`{_annotation(info)}`") for field, info in kind.model_fields.items() if field != "kind"
        ]
        told = "" if not kind.__doc__ or kind.__doc__.startswith("Base") else _plain(inspect.cleandoc(kind.__doc__))
        parts += [f"## `{name}`", told, _table(("field", "type"), rows)]
    return _page(parts)


def _annotation(info: FieldInfo) -> str:
    text = inspect.formatannotation(info.annotation)
    return re.sub(r"\b(?:habilis\.[\w.]+\.|typing\.)", "", text).replace("NoneType", "None")


# ---- Markdown


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _plain(text: str) -> str:
    """Text of one paragraph on one line, with what Markdown or HTML would take for markup kept as it is."""
    return " ".join(text.split()).replace("<", "&lt;").replace("*", "\\*")


def _sentence(text: str) -> str:
    text = _plain(text)
    return text[:1].upper() + text[1:] + ("" if not text or text.endswith(".") else ".")


def _page(parts: Sequence[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "settings.md": settings,
    "commands.md": commands,
    "exit-codes.md": exit_codes,
    "events.md": events,
}


def main() -> int:
    """Write all pages; says which of them changed."""
    for name, page in PAGES.items():
        path, text = FOLDER / name, page()
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"docs/reference/{name} has changed", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
