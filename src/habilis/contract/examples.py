"""The examples that a tool's writer brings: calls to try it with. A flaw of an example is no flaw of the tool.

Writers name files as users do, by whole paths or from another folder. Such names are moved below the workspace of the
trial, in the files and in the arguments alike, wherever it is plain what is meant.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from pydantic import Field

from habilis.contract.literals import NotLiteral, json_plain, storable_fault
from habilis.contract.records import with_text
from habilis.core.parsing import expression_tree, tree_of
from habilis.core.types import Frozen

MAX_EXAMPLE_BYTES = 1 << 20
MAX_NAME_BYTES = 200
META = "__TOOL_META__"
"""The name of the literal dict in which a module says what it is."""
_STARTS = 8
_FORM = 'it must be {"arguments": {...}, "files": {"name": "text"}}'
_DRIVE = re.compile(r"^[A-Za-z]:$")


class Example(Frozen):
    """A call that the tool's writer promises to work: arguments, and the text of the small files they name."""

    arguments: dict[str, Any]
    files: dict[str, str] = Field(default_factory=dict)


class ExampleFlaw(Frozen):
    """Why an example cannot be used to try the tool."""

    reason: str


def read_examples(entries: object) -> tuple[tuple[Example, ...], tuple[ExampleFlaw, ...]]:
    """The examples among `entries` that can be used, and what is wrong with the others."""
    if not entries:
        return (), ()
    if isinstance(entries, dict):
        entries = [entries]
    if not isinstance(entries, (list, tuple)):
        return (), (ExampleFlaw(reason=f"{_FORM}, in a list"),)
    read = [read_example(entry) for entry in entries]
    return (
        tuple(one for one in read if isinstance(one, Example)),
        tuple(one for one in read if isinstance(one, ExampleFlaw)),
    )


def read_example(entry: object) -> Example | ExampleFlaw:
    """One example, its files under plain relative names."""
    if not isinstance(entry, dict) or not isinstance(entry.get("arguments"), dict):
        return ExampleFlaw(reason=f"{_FORM}, with a dict of arguments")
    if fault := storable_fault(entry):
        return ExampleFlaw(reason=f"it {fault}")
    if not all(isinstance(key, str) for key in entry["arguments"]):
        return ExampleFlaw(reason=f"{_FORM}; names of arguments are strings")
    try:
        arguments = json_plain(entry["arguments"])
        files = _texts(entry.get("files") or {})
    except NotLiteral as error:
        return ExampleFlaw(reason=f"its arguments and files {error}")
    if files is None:
        return ExampleFlaw(reason=f"{_FORM}; files are texts by name")
    return _below_workspace(arguments, files)


def said_example(reply: str) -> Example | None:
    """The example in a model's reply: JSON or a Python dict, with words or a fence around it, or the bare arguments;
    None where there is none that can be used."""
    for value in _objects(reply):
        whole = value if isinstance(value.get("arguments"), dict) else {"arguments": value}
        read = read_example(whole)
        if value and isinstance(read, Example):
            return read
    return None


def with_example(source: str, example: Example) -> str:
    """`source` with `example` in the place of those that its meta data hold; as it is where there is no place."""
    return with_meta(source, "examples", repr([example.model_dump()]))


def with_meta(source: str, key: str, literal: str) -> str:
    """`source` with `literal` as the value of `key` in its meta data; as it is where there is no place."""
    tree = tree_of(source)
    for node in tree.body if tree is not None else ():
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
        if any(isinstance(target, ast.Name) and target.id == META for target in targets):
            value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
            return _put(source, value, key, literal) if isinstance(value, ast.Dict) else source
    return source


def names_a_place(text: str) -> bool:
    """Whether `text` can only be the path of something that does not lie below the working folder as it is written:
    `/a/b.csv`, `~/b.csv`, `../b.csv`, `C:\\b.csv`."""
    if not 0 < len(text) <= 1000 or "\n" in text or "://" in text:
        return False
    return not _is_plain(text) and bool(_parts(text))


def base_name(text: str) -> str:
    """The last part of a path, whichever way its slashes lean."""
    return next(reversed(_parts(text)), "")


def _put(source: str, meta: ast.Dict, name: str, literal: str) -> str:
    """`source` with `literal` as the value of the key `name`. Positions in a tree count bytes of UTF-8."""
    places = [
        value
        for key, value in zip(meta.keys, meta.values, strict=True)
        if isinstance(key, ast.Constant) and key.value == name
    ]
    lines = source.encode("utf-8").splitlines(keepends=True)

    def offset(line: int, column: int) -> int:
        return sum(map(len, lines[: line - 1])) + column

    if places:
        start = offset(places[-1].lineno, places[-1].col_offset)
        end = offset(places[-1].end_lineno or 0, places[-1].end_col_offset or 0)
        new = literal
    else:
        start = end = offset(meta.lineno, meta.col_offset) + 1
        new = f'"{name}": {literal}, '
    whole = b"".join(lines)
    return (whole[:start] + new.encode("utf-8") + whole[end:]).decode("utf-8")


def _objects(reply: str) -> Iterator[dict[str, Any]]:
    """The dicts that a reply holds: what lies between its outermost braces, else those that begin a line."""
    whole = _literal(reply[reply.find("{") : reply.rfind("}") + 1])
    if isinstance(whole, dict):
        yield whole
        return
    for start in [match.start(1) for match in re.finditer(r"^[ \t\[]*(\{)", reply, re.MULTILINE)][:_STARTS]:
        try:
            value, _ = json.JSONDecoder(strict=False).raw_decode(reply, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def _literal(text: str) -> object:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(expression_tree(text))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None


def _texts(files: object) -> dict[str, str] | None:
    """Files as texts by name, what stands there as data written as JSON; None for what is neither."""
    if not isinstance(files, dict) or not all(isinstance(name, str) for name in files):
        return None
    texts = {n: v if isinstance(v, str) else json.dumps(json_plain(v), ensure_ascii=False) for n, v in files.items()}
    return texts if all(isinstance(value, (str, dict, list, tuple)) for value in files.values()) else None


def _below_workspace(arguments: dict[str, Any], files: Mapping[str, str]) -> Example | ExampleFlaw:
    """The example with all of its files under plain relative names, and arguments that name them so."""
    plain = {name: name.removeprefix("./") for name in files}
    odd = {name: _parts(name) for name in files if not _is_plain(plain[name])}
    above = _shared([parts[:-1] for parts in odd.values()])
    names = {name: "/".join(odd[name][above:]) if name in odd else plain[name] for name in files}
    if flaw := _names_flaw(names):
        return ExampleFlaw(reason=flaw)
    if sum(len(text) for text in files.values()) > MAX_EXAMPLE_BYTES:
        return ExampleFlaw(reason="its files are larger than 1 MiB; a few lines are enough")
    folders = {tuple(parts[:end]): parts[above:end] for parts in odd.values() for end in range(above, len(parts))}

    def moved(text: str) -> str:
        if text in names:
            return names[text]
        if not names_a_place(text):
            return text
        parts = _parts(text)
        if tuple(parts) in folders:
            return "/".join(folders[tuple(parts)]) or "."
        alike = [name for name in names.values() if base_name(name) == parts[-1]]
        return alike[0] if len(alike) == 1 else text

    return Example(arguments=with_text(arguments, moved), files={names[name]: text for name, text in files.items()})


def _names_flaw(names: Mapping[str, str]) -> str:
    """What is wrong with the names under which an example's files would lie; empty if nothing is."""
    for old, new in names.items():
        if not _is_plain(new) or old.endswith(("/", "\\")):
            return f"its file {old[:80]!r} has no plain name, such as 'small.csv'"
        if any(other.startswith(f"{new}/") for other in names.values()):
            return f"its file {old!r} cannot be a folder of other files as well"
    if len(set(names.values())) < len(names):
        return "two of its files have one name"
    return ""


def _is_plain(name: str) -> bool:
    """Whether a file may lie below a workspace under `name`."""
    if {"", ".", ".."} & set(name.split("/")) or name.startswith("~") or "\\" in name:
        return False
    return name.isprintable() and len(name.encode("utf-8", "replace")) <= MAX_NAME_BYTES


def _shared(folders: Sequence[Sequence[str]]) -> int:
    """With how many equal parts all of `folders` begin."""
    return sum(1 for _ in takewhile(lambda level: len(set(level)) == 1, zip(*folders, strict=False)))


def _parts(name: str) -> list[str]:
    """The parts of a path below its root, its home or its drive."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..", "~")]
    return parts[1:] if parts and _DRIVE.match(parts[0]) else parts
