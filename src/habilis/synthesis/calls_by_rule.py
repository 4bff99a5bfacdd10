"""A call to try a tool with, made of what its task gives: the task's files, and the names and numbers of its question.

Nothing is invented. Where a required argument has no value in the task there is no call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from habilis.contract.examples import base_name, names_a_place
from habilis.contract.needs import need_of
from habilis.contract.taskfiles import link_into
from habilis.core.locations import here
from habilis.core.types import JsonSchema, TaskFile

READ_BYTES, READ_KEYS = 65_536, 4_096
"""So much of a file is looked through for what the question names."""
_QUOTED = re.compile(r"[`\"“”«»]([^`\"“”«»\n]{1,100})[`\"“”«»]|(?<!\w)['‘]([^'‘’\n]{1,100})['’](?!\w)")
_NAME = re.compile(r"(?<![\w.])[^\W\d_a-zß-ÿ]\w+(?:[ -][^\W\d_a-zß-ÿ]\w+)*")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w]|\.\w)")
_CELL = re.compile(r"[^,;\t|\n\r]+")
_KEY = re.compile(r"\"([^\"\n]{1,60})\"\s*:")
_LISTS = frozenset({"paths", "files", "filenames", "filepaths"})
_COLUMNS = frozenset({"column", "columns", "field", "fields", "key", "keys", "header", "attribute", "col"})


@dataclass(frozen=True)
class TaskGround:
    """What a task gives to try a tool on: its question and the files and folders that are there."""

    question: str = ""
    files: tuple[TaskFile, ...] = ()

    @classmethod
    def of(cls, question: str, files: Sequence[Mapping[str, Any]]) -> TaskGround:
        """`files` are the task's as prompts show them (`taskfiles.view`)."""
        there = (
            TaskFile(named=str(file.get("named", "")), path=str(file.get("path", "")), is_dir=bool(file.get("is_dir")))
            for file in files
        )
        return cls(question, tuple(file for file in there if file.path and is_there(here(file.path))))

    @property
    def paths(self) -> tuple[Path, ...]:
        return tuple(Path(file.path) for file in self.files)

    def laid_out(self, workspace: Path) -> dict[str, str]:
        """Put links to the files into `workspace`, as a task has them: by path, the name under which each is found."""
        link_into(workspace, self.files)
        return {f.path: f.named if is_there(workspace / f.named) else f.path for f in self.files}

    def file(self, text: str) -> TaskFile | None:
        """The file that `text` can only mean: by its path, its name, or its name in a folder where it is not."""
        for file in self.files:
            if text in (file.path, file.named):
                return file
        if not names_a_place(text) and "/" not in text and "." not in text:
            return None
        alike = [file for file in self.files if base_name(file.path) == base_name(text)]
        return alike[0] if len(alike) == 1 and "://" not in text else None


NO_GROUND = TaskGround()


def call_from(ground: TaskGround, schema: JsonSchema, names: Mapping[str, str]) -> dict[str, Any] | None:
    """Arguments for a tool with this schema; None where the task has no value for one that is required.

    `names` are those by which the files are found, by path. Defaults stand.
    """
    properties, required = schema.get("properties"), schema.get("required")
    fields = {n: _plain(f, schema) for n, f in properties.items()} if isinstance(properties, dict) else {}
    needed = [name for name in fields if isinstance(required, list) and name in required]
    if not any(_leads_to_file(name, fields[name]) for name in needed):
        needed += [name for name in fields if _leads_to_file(name, fields[name])][:1] if ground.files else []
    supply = _Supply(ground, names)
    arguments = {name: supply.value(name, fields[name]) for name in needed}
    return None if None in arguments.values() else arguments


@dataclass
class _Supply:
    """The values of a task that are not given to an argument yet."""

    ground: TaskGround
    names: Mapping[str, str]
    _used: set[str] = field(default_factory=set)

    def value(self, name: str, said: JsonSchema) -> Any:
        """The value for a field, None where there is none."""
        for key in ("enum", "examples"):
            if isinstance(offered := said.get(key), list) and offered:
                return offered[0]
        if "const" in said:
            return said["const"]
        kind = said.get("type")
        if kind == "string":
            return self._path(name, said) if _leads_to_file(name, said) else self._text(name)
        if kind in ("integer", "number"):
            return self._number(whole=kind == "integer")
        if kind == "array":
            return self._array(name, said)
        return None

    def _path(self, name: str, said: JsonSchema) -> str | None:
        """The file that the field is called after, else the next one; a folder where one is wanted."""
        folder = bool({"folder", "directory", "dir"} & set(_words(name)))
        left = [f for f in self.ground.files if f.is_dir == folder and f.path not in self._used]
        called = [f for f in left if set(_words(name)) & set(_words(base_name(f.path)))]
        chosen = next(iter(called or left), None)
        if chosen is None:
            return None
        self._used.add(chosen.path)
        return self.names.get(chosen.path, chosen.path)

    def _array(self, name: str, said: JsonSchema) -> list[Any] | None:
        items = said.get("items")
        kind = items.get("type") if isinstance(items, dict) else None
        if kind == "string" and _words(name)[-1:] and _words(name)[-1] in _LISTS:
            return [self.names.get(f.path, f.path) for f in self.ground.files if not f.is_dir] or None
        if kind in ("integer", "number"):
            return self._numbers(whole=kind == "integer") or None
        text = self._text(name) if kind == "string" else None
        return None if text is None else [text]

    def _number(self, *, whole: bool) -> int | float | None:
        for number in self._numbers(whole=whole):
            if str(number) not in self._used:
                self._used.add(str(number))
                return number
        return None

    def _numbers(self, *, whole: bool) -> list[int | float]:
        said = _NUMBER.findall(self.ground.question)
        return [int(text) if "." not in text else float(text) for text in said if "." not in text or not whole]

    def _text(self, name: str) -> str | None:
        """A column of the file that the question speaks of, or a name in it that stands in the file as well."""
        content = "\n".join(beginning(here(file.path)) for file in self.ground.files)
        columns = _columns_spoken_of(self.ground.question, content)
        named = list(_said(self.ground.question, {base_name(f.path) for f in self.ground.files}))
        standing = [text for text in named if not content or text in content]
        found = columns if _COLUMNS & set(_words(name)) else [text for text in standing if text not in columns]
        text = next((text for text in found if text not in self._used), None)
        if text is not None:
            self._used.add(text)
        return text


def _plain(said: object, schema: JsonSchema) -> JsonSchema:
    """A field's schema without its reference and without the word that it may be null."""
    said = said if isinstance(said, dict) else {}
    kinds = said.get("anyOf") or said.get("oneOf")
    if isinstance(kinds, list):
        first = next((kind for kind in kinds if isinstance(kind, dict) and kind.get("type") != "null"), {})
        said = {**said, **first}
    reference = said.get("$ref")
    if isinstance(reference, str) and isinstance(definitions := schema.get("$defs"), dict):
        meant = definitions.get(reference.rpartition("/")[2])
        said = {**said, **meant} if isinstance(meant, dict) else said
    return said


def _leads_to_file(name: str, said: JsonSchema) -> bool:
    if said.get("type") == "array":
        return bool(_words(name)) and _words(name)[-1] in _LISTS
    return said.get("type") == "string" and need_of(name, said) in ("file", "image")


def _words(name: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())


def _said(question: str, files: set[str]) -> Iterator[str]:
    """What a question quotes, and then what it calls by a name; not its files, nor the word that it begins with."""
    for match in _QUOTED.finditer(question):
        text = (match[1] or match[2] or "").strip()
        if text and text not in files and base_name(text) not in files:
            yield text
    for match in _NAME.finditer(question):
        before = question[: match.start()].rstrip()
        if before and before[-1] not in ".?!:" and match[0] not in files:
            yield match[0]


def _columns_spoken_of(question: str, content: str) -> list[str]:
    """The columns or keys of a file that the question speaks of, those first whose every word it uses."""
    cells, spoken = _columns(content), _words(question)
    whole = [cell for cell in cells if _words(cell) and set(_words(cell)) <= set(spoken)]
    alike = [cell for cell in cells if any(_is_alike(part, word) for part in _words(cell) for word in spoken)]
    return list(dict.fromkeys([*whole, *alike]))


def _columns(content: str) -> list[str]:
    """The cells of a table's first line; of JSON, the keys of its first objects."""
    if content.lstrip()[:1] in ("{", "["):
        return _KEY.findall(content[:READ_KEYS])
    head = next((line for line in content.splitlines() if line.strip()), "")
    return [cell.strip().strip("\"'").strip() for cell in _CELL.findall(head)]


def _is_alike(part: str, word: str) -> bool:
    """Whether one word begins as the other: `temp`, `temperature`."""
    return min(len(part), len(word)) > 2 and (word.startswith(part) or part.startswith(word))


def beginning(path: Path) -> str:
    """The beginning of a text file; nothing of what is none or cannot be read."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as stream:
            head = stream.read(READ_BYTES)
    except OSError:
        return ""
    return "" if b"\0" in head else head.decode("utf-8-sig", errors="replace")


def is_there(path: Path) -> bool:
    """Whether `path` leads to a file or a folder; what is no path at all does not."""
    try:
        return path.is_file() or path.is_dir()
    except (OSError, ValueError):
        return False
