"""Sharing of builds: tasks that run side by side and ask for the same tool wait for one build instead of making two.

A folder holds one entry per request under way or built: `<id>.json` (the request and, once built, where its tool lies)
and `<id>.lock`, held by the task that builds. The kernel lets go of a lock when its holder dies, so that a crashed
builder never keeps the others waiting; the same files serve tasks of one process and of many.

Whether two requests mean the same is decided by a rule that would rather miss a pair than join two (`same_request`).
What matches is only offered: the smith has it pass the gate in its own task before it takes it over.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import os
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from habilis.core.place import raise_place
from habilis.core.types import JsonSchema, ToolRequest
from habilis.library import Tool
from habilis.library.retrieval.terms import stem, terms
from habilis.rundir import atomic_write
from habilis.rundir.locks import alone, is_held, take
from habilis.rundir.plain import open_plain, plain_json, read_plain

log = logging.getLogger(__name__)

POLL_S = 0.03
MIN_SHARED_WORDS = 0.6
"""Share of all words of two descriptions that both must have."""

_SAME_WORDS = (
    ("mean", "average", "avg"),
    ("sum", "total", "add"),
    ("count", "number", "tally", "quantity"),
    ("max", "maximum", "largest", "highest", "biggest", "greatest"),
    ("min", "minimum", "smallest", "lowest", "least"),
    ("difference", "between", "delta", "apart"),
    ("row", "record"),
    ("column", "field"),
    ("table", "csv", "spreadsheet"),
    ("text", "string"),
    ("page", "html", "webpage"),
    ("regex", "pattern"),
    ("match", "occurrence"),
    ("distinct", "unique", "different"),
    ("busiest", "peak"),
    ("evaluate", "evaluation"),
)
_CANONICAL = {next(terms(word), word): group[0] for group in _SAME_WORDS for word in group}
_SAYS_NOTHING = frozenset(
    terms(
        "compute calculate determine return tool value result file path input output perform run read load single "
        "whole simple find get give work write up each every convert conversion transform change express extract list "
        "collect choose select pick look"
    )
)
_DIRECTION = re.compile(r"(?:^|[_\W])(?:to|from|into|than|minus|per|by|before|after|vs)(?:[_\W]|$)|[a-z]2[a-z]", re.I)


@dataclass(frozen=True)
class Offer:
    """A tool that another task built for nearly the same request: its source as it is now, and who made it."""

    task: str
    tool: str
    version: str
    source: str


@dataclass
class Turn:
    """One request's turn to build: what others have to offer, and the place to say what was built."""

    offers: tuple[Offer, ...] = ()
    made: Tool | None = field(default=None)

    def built(self, tool: Tool) -> None:
        self.made = tool


class BuildFolder:
    """The builds of one step, seen by task `task_id`. Any number of tasks and processes may share `folder`."""

    def __init__(
        self, folder: Path, task_id: str, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._folder, self._task, self._sleep = folder, task_id, sleep

    @contextlib.asynccontextmanager
    async def turn(self, request: ToolRequest) -> AsyncIterator[Turn]:
        """Wait until no other task builds what `request` asks for; then the request is this task's to build.

        An entry without a tool means nothing once its lock is free: its builder failed or died. What else is refused
        costs the sharing, never the build; raises `PlaceError` before anything is paid.
        """
        try:
            near, own = await self._entered(request)
        except OSError as error:
            raise_place(error)
            log.warning("builds are not shared by task %s: %s", self._task, error.strerror or error)
            yield Turn()
            return
        turn = Turn(tuple(offer for entry in near if (offer := _offer(entry)) is not None))
        try:
            yield turn
        finally:
            self._settle(own, request, turn.made)

    async def _entered(self, request: ToolRequest) -> tuple[list[dict[str, Any]], int]:
        """The finished builds that are near, and the lock of this task's own entry, once nobody near is building."""
        self._folder.mkdir(parents=True, exist_ok=True)
        while True:
            with self._registry():
                near = [entry for entry in self._entries() if self._is_near(entry, request)]
                busy = [entry for entry in near if "tool" not in entry and self._is_held(entry["id"])]
                if not busy:
                    return near, self._claim(request)
            while self._is_held(busy[0]["id"]):
                await self._sleep(POLL_S)

    def _is_near(self, entry: Mapping[str, Any], request: ToolRequest) -> bool:
        return entry["task"] != self._task and same_request(ToolRequest.model_validate(entry["request"]), request)

    @contextlib.contextmanager
    def _registry(self) -> Iterator[None]:
        """One comer at a time; held for the reading and writing of a few small files."""
        with alone(self._folder / ".lock"):
            yield

    def _entries(self) -> list[dict[str, Any]]:
        found = []
        for path in sorted(self._folder.glob("*.json")):
            with contextlib.suppress(OSError, ValueError):
                found.append(plain_json(read_plain(path)))
        return found

    def _claim(self, request: ToolRequest) -> int:
        """Enter `request` as being built by this task; the descriptor holds its lock."""
        name = _id(self._task, request)
        descriptor = open_plain(self._folder / f"{name}.lock", os.O_RDWR | os.O_CREAT)
        try:
            assert take(descriptor), "nobody else builds it under this name"
            self._write(request, None)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _settle(self, own: int, request: ToolRequest, tool: Tool | None) -> None:
        """Say what was built, or take the entry away; then let the others go on."""
        try:
            with contextlib.suppress(OSError):  # a full disk costs the sharing, not the tool
                if tool is None:
                    (self._folder / f"{_id(self._task, request)}.json").unlink(missing_ok=True)
                else:
                    self._write(request, tool)
        finally:
            os.close(own)

    def _write(self, request: ToolRequest, tool: Tool | None) -> None:
        name = _id(self._task, request)
        entry: dict[str, Any] = {"id": name, "task": self._task, "request": request.model_dump(mode="json")}
        if tool is not None:
            entry |= {"tool": tool.name, "path": str(tool.path)}
        atomic_write(self._folder / f"{name}.json", json.dumps(entry, ensure_ascii=False) + "\n", durable=False)

    def _is_held(self, name: str) -> bool:
        return is_held(self._folder / f"{name}.lock")


def _id(task: str, request: ToolRequest) -> str:
    said = json.dumps([task, request.model_dump(mode="json")], sort_keys=True)
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _offer(entry: Mapping[str, Any]) -> Offer | None:
    """The tool of a finished entry as it lies with its maker now, None when it was set aside or never built."""
    if "tool" not in entry:
        return None
    try:
        source = read_plain(Path(entry["path"]))
        text = source.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    version = hashlib.sha256(source).hexdigest()[:16]
    return Offer(entry["task"], entry["tool"], version, text)


# --- when two requests mean the same


def same_request(one: ToolRequest, other: ToolRequest) -> bool:
    """Whether two requests, named differently perhaps, ask for the same tool. Sure rather than clever:

    - the same input fields but for names (`fields_match`);
    - the same types of output fields;
    - each name's words are all said by the other, in its name or description, synonyms counted as one word;
    - a name that speaks of a direction (`a_to_b`) has its words in the same order;
    - most of all words of both are shared.
    """
    if not fields_match(one.input_schema, other.input_schema):
        return False
    if _kinds(one.output_schema) != _kinds(other.output_schema):
        return False
    first, second = _name_words(one), _name_words(other)
    if not first or not second:
        return one.name == other.name and one.description == other.description
    all_first, all_second = _all_words(one), _all_words(other)
    if not (set(first) <= all_second and set(second) <= all_first):
        return False
    if (_DIRECTION.search(one.name) or _DIRECTION.search(other.name)) and first != second:
        return False
    return len(all_first & all_second) >= MIN_SHARED_WORDS * len(all_first | all_second)


def fields_match(one: JsonSchema, other: JsonSchema) -> bool:
    """Whether two objects have the same fields but for names: each field of one has its own in the other.

    Of the same type, they go together by name, by the words of their names, by a word that no other pair shares, or by
    being alone of their type, in this order.
    """
    first, second = _typed(one), _typed(other)
    if Counter(first.values()) != Counter(second.values()):
        return False
    for goes_with in (_same_name, _same_words, _share_a_word):
        for name in list(first):
            near = [known for known, kind in second.items() if kind == first[name] and goes_with(name, known)]
            back = [
                known for known, kind in first.items() if near and kind == first[name] and goes_with(known, near[0])
            ]
            if len(near) == len(back) == 1:
                del first[name], second[near[0]]
    return all(count == 1 for count in Counter(first.values()).values())


def _same_name(one: str, other: str) -> bool:
    return one == other


def _same_words(one: str, other: str) -> bool:
    return _field_words(one) == _field_words(other) != set()


def _share_a_word(one: str, other: str) -> bool:
    return bool(_field_words(one) & _field_words(other))


def _field_words(name: str) -> set[str]:
    """The words of a field's name, `name` left out: `from_unit` and `unitFrom` are one."""
    words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name)} - {"name"}
    return {_CANONICAL.get(stem(word), word) for word in words}


def accepts(tool: JsonSchema, asked: JsonSchema) -> bool:
    """Whether a tool takes the fields that were asked for, but for names, and needs no others."""
    wanted, required = _typed(asked), tool.get("required") or ()
    found = tool.get("properties")
    fields = found if isinstance(found, dict) else {}
    used = {name: said for name, said in fields.items() if name in wanted or name in required}
    return fields_match({"properties": used}, asked) or fields_match(tool, asked)


def _typed(schema: JsonSchema) -> dict[str, str]:
    """The type of each field of an object's schema; `error`, which every result may have, left out."""
    found = schema.get("properties")
    fields = found if isinstance(found, dict) else {}
    return {name: _kind(said) for name, said in fields.items() if name != "error"}


def _kinds(schema: JsonSchema) -> Counter[str]:
    return Counter(_typed(schema).values())


def _kind(said: Any) -> str:
    """A type in one word: `string`, `array of number`; null, which only says optional, is left out."""
    if not isinstance(said, Mapping):
        return "any"
    options = said.get("anyOf")
    if isinstance(options, list):
        kinds = {_kind(option) for option in options} - {"null"}
        kinds -= {"integer"} if "number" in kinds else set()  # an integer is a number
        return " or ".join(sorted(kinds)) or "any"
    kind = str(said.get("type", "any"))
    return f"array of {_kind(said.get('items'))}" if kind == "array" else kind


def _name_words(request: ToolRequest) -> list[str]:
    return _words(request.name)


def _all_words(request: ToolRequest) -> set[str]:
    """The words of name and description."""
    return {*_words(request.name), *_words(request.description)}


def _words(text: str) -> list[str]:
    """The words that say something, in order, each group of synonyms as one word."""
    spoken = (_CANONICAL.get(term, term) for term in terms(text))
    return list(dict.fromkeys(word for word in spoken if word not in _SAYS_NOTHING))
