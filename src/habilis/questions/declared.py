"""Tools as `families/*.toml` declare them: what a question looks like, what is called, what the code is.

A file has `family` (endings of its files; marks and bars for all its tools, `takes`, `gives` and `example` for most),
`files` for examples, `slots` (`role = [type, description, *names]`; `role.other` is another slot for that role),
`words` for its patterns, and a table for each tool:

- `does`: its description, with `{word}` where wordings differ; `takes`, `gives`: its slots
- `named`: name of a tool → the words of a question that ask for this name, or these and `{word}`
- `marks`, `bars`, `example`, `finding`, `checks`, `prepare`, `code`: see `DemoOperation`; `$role` is an argument
- `asked`, `asked_length`, `asked_names`: patterns of questions, by what they ask of the result

`{CAPITALS}` anywhere stand for the entry of that name in the tool or in `words`, `{KEY}` for the tool's own name. With
`like` it is one tool for each of these templates, whose entries go before its own.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

from habilis.questions.operations import DemoOperation, OperationSlot, View, Wording

Table = Mapping[str, Any]
_PARTS = ("family", "files", "slots", "words", "like", "table")
_ASKED: Mapping[str, View] = {"asked_length": "length", "asked_names": "names", "asked": "value"}
_MACRO = re.compile(r"\{([A-Z_]+)\}")


def read_family(name: str) -> dict[str, Any]:
    """The file of a family, as it stands."""
    text = resources.files("habilis.demo").joinpath("families", f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def operations_of(file: Table, words: Mapping[str, str] | None = None) -> tuple[DemoOperation, ...]:
    """The tools that a family's file declares; `words` are added to its own."""
    known = {**file.get("words", {}), **(words or {})}
    return tuple(
        _operation(str(tool.get("key", key)), tool, file)
        for key, entries in file.items()
        if key not in _PARTS
        for tool in _of_templates(key, entries, file, known)
    )


def _of_templates(key: str, entries: Table, file: Table, words: Table) -> Iterator[dict[str, Any]]:
    for template in [file["like"][name] for name in entries.get("like", ())] or [{}]:
        tool = {**entries, **template}
        yield _filled(tool, {"KEY": key, "NAME": key.replace("_", " "), **words, **tool})


def _filled(value: Any, macros: Table) -> Any:
    """`value` with every macro in it replaced, also those that stand in what replaces one."""
    if isinstance(value, Mapping):
        return {_filled(key, macros): _filled(one, macros) for key, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, macros) for one in value]
    if not isinstance(value, str):
        return value
    if (whole := _MACRO.fullmatch(value)) and whole[1] in macros:
        return _filled(macros[whole[1]], macros)
    return _MACRO.sub(lambda found: _filled(macros[found[1]], macros), value)


def _operation(key: str, tool: Table, file: Table) -> DemoOperation:
    family, files = file.get("family", {}), file.get("files", {})
    takes = tool.get("takes", family.get("takes"))
    inputs = tuple(_slot(role, file["slots"][role]) for role in takes)
    output = _slot("outcome", tool.get("gives", family.get("gives")))
    example = dict(tool.get("example", family.get("example", {})))
    if "path" in takes:
        example = {"path": next(iter(files)), **example}
    return DemoOperation(
        key=key,
        description=tool["does"],
        inputs=inputs,
        output=output,
        wordings=tuple(
            Wording(*said, {slot.role: slot.names[i % len(slot.names)] for slot in (*inputs, output)})
            for i, said in enumerate(_named(name, asked) for name, asked in tool["named"].items())
        ),
        marks=(*tool["marks"], *family.get("marks", ())),
        bars="|".join(filter(None, (tool.get("bars"), family.get("bars")))),
        example=example,
        files={name: text for name, text in files.items() if name == example.get("path")},
        finding=tool["finding"],
        checks=tuple((wrong, error) for wrong, error in tool.get("checks", ())),
        prepare=tuple(tool.get("prepare", ())),
        code=tool["code"],
        asked=tuple((view, form) for kind, view in _ASKED.items() for form in tool.get(kind, ())),
        default=tool.get("default", {}),
    )


def _slot(role: str, declared: list[Any]) -> OperationSlot:
    kind, description, *names = declared
    return OperationSlot(role.partition(".")[0], kind, description, tuple(names))


def _named(name: str, asked: str | list[str]) -> tuple[str, str, str]:
    when, word = (asked, "") if isinstance(asked, str) else asked
    return when, name, word
