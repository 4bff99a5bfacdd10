"""Reading the project's prompts back: which prompt is this, and what stands between its tags."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from habilis.core.parsing import literal_value

_ODD = "  Watch the numbers: "
_SECTION = re.compile(r"^<([a-z_]+)(?: [^>\n]*)?>\n(.*?)\n?^</\1>[ ]*$", re.MULTILINE | re.DOTALL)
_KINDS: tuple[tuple[str, str], ...] = (
    ("disputed", "dispute"),
    ("tested_tool", "expect"),
    ("job", "outright"),
    ("tool_request", "build"),
    ("tool_code", "enhance"),
    ("candidates", "plan"),
    ("calls", "verdict"),
    ("records", "fixed"),
    ("differing", "differing"),
    ("invocations", "review"),
    ("findings", "answer"),
    ("work", "summarise"),
    ("tool_result", "extract"),
    ("reference", "judge"),
    ("question", "execute"),
    ("tools", "cluster"),
)


_NAMED_ALONE = re.compile(r"^- (.+?)(, begins(?: with data[^:\n]*)?:)?$", re.MULTILINE)
"""An entry of a list of files without paths."""


@dataclass(frozen=True)
class SeenFile:
    """A file as a prompt lists it: the name to call tools with, and its first lines where they were shown."""

    named: str
    begins: str = ""
    nameless: bool = False
    """Whether the prompt says that its first row looks like data, not like names of columns."""


@dataclass(frozen=True)
class Seen:
    """A prompt as read back. `kind` is what it asks for (`_KINDS`, merge, image or other), `position` its index in the
    messages; `parts` holds the text between its tags, of each the first; `text` is the whole. `earlier` are the
    questions and answers that came before it, where it is a turn of a conversation."""

    kind: str
    position: int = 0
    parts: dict[str, str] = field(default_factory=dict)
    text: str = ""
    earlier: tuple[tuple[str, str], ...] = ()

    @property
    def question(self) -> str:
        return self.parts.get("question", self.parts.get("job", ""))

    @property
    def files(self) -> tuple[SeenFile, ...]:
        listed = self.parts.get("files", "")
        return _files(_NAMED_ALONE.sub(r"- \1 (\1)\2", listed) if self.kind == "outright" else listed)

    @property
    def missing(self) -> tuple[str, ...]:
        lines = self.parts.get("missing_files", "").splitlines()
        return tuple(line.removeprefix("- ").removesuffix(" does not exist").strip() for line in lines if line.strip())


def text_of(message: BaseMessage) -> str:
    """The text of a message, content parts joined."""
    if isinstance(message.content, str):
        return message.content
    parts = [part if isinstance(part, str) else str(part.get("text", "")) for part in message.content]
    return "\n".join(part for part in parts if part)


def read_prompt(messages: Sequence[BaseMessage]) -> Seen:
    """The last prompt in `messages` whose tags are known; kind "image" when one shows a picture, else "other"."""
    for position in range(len(messages) - 1, -1, -1):
        message = messages[position]
        if not isinstance(message, HumanMessage):
            continue
        if _shows_image(message):
            return Seen("image", position)
        text = text_of(message)
        parts = sections(text)
        kind = next((kind for tag, kind in _KINDS if tag in parts), None)
        if kind == "enhance" and "calls" in parts:
            kind = "merge"
        if kind:
            earlier = _turns(parts["conversation"]) if "conversation" in parts else _exchanges(messages[:position])
            return Seen(kind, position, parts, text, tuple(earlier))
    return Seen("other", max(len(messages) - 1, 0))


def _exchanges(messages: Sequence[BaseMessage]) -> list[tuple[str, str]]:
    """The questions with their answers in messages that stand before a prompt."""
    found: list[tuple[str, str]] = []
    for message in messages:
        text = text_of(message)
        if isinstance(message, HumanMessage):
            note = sections(text).get("earlier_turns")
            found += _turns(note) if note is not None else [(text, "")]
        elif isinstance(message, AIMessage) and not message.tool_calls and found:
            found[-1] = (found[-1][0], text)
    return found


def _turns(text: str) -> list[tuple[str, str]]:
    """The `Question 3: …`, `Answer 3: …` of a section, which may have several lines each."""
    found = re.split(r"^(Question|Answer) [0-9]+: ", text, flags=re.MULTILINE)[1:]
    said = [(word, text.strip("\n")) for word, text in zip(found[::2], found[1::2], strict=True)]
    questions = [text for word, text in said if word == "Question"]
    answers = [text for word, text in said if word == "Answer"]
    return list(zip(questions, answers, strict=False))


def sections(text: str) -> dict[str, str]:
    """Text by tag; the first of a tag counts."""
    return {match[1]: match[2] for match in reversed(list(_SECTION.finditer(text)))}


def all_sections(text: str, tag: str) -> list[str]:
    """What stands between each opening tag of this name and its end, in order."""
    return [match[2] for match in _SECTION.finditer(text) if match[1] == tag]


def entries(text: str, first: str) -> list[dict[str, str]]:
    """The list `- first: …` with its indented `key: value` lines, as dictionaries; `files` takes all lines after it."""
    found: list[dict[str, str]] = []
    key = ""
    for line in text.splitlines():
        if line.startswith(f"- {first}: "):
            found.append({first: line.split(": ", 1)[1]})
            key = first
        elif found and (match := re.match(r"  ([a-z_]+):(?: (.*))?$", line)) and key != "files":
            key = match.group(1)
            found[-1][key] = match.group(2) or ""
        elif found and key:
            found[-1][key] += "\n" + line
    return found


def loads(text: str) -> Any:
    """The value in `text`, written as JSON or as a Python literal; None when it is neither."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return literal_value(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None


def first_object(text: str) -> dict[str, Any] | None:
    """The first JSON object in `text`, whatever stands around it; None when there is none."""
    decoder = json.JSONDecoder()
    for match in re.finditer(r"\{", text):
        try:
            value, _ = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    return None


def _files(text: str) -> tuple[SeenFile, ...]:
    """The `<files>` list: names, each with its path where that is another. Lines of a preview are indented."""
    files: list[SeenFile] = []
    named, lines, nameless = "", list[str](), False

    def close() -> None:
        if named:
            files.append(SeenFile(named, textwrap.dedent("\n".join(lines)).strip("\n"), nameless))

    for line in text.splitlines():
        match = re.match(r"- (.+?)(?: \((.+)\))?(?:, begins( with data[^:]*)?:)?$", line)
        if match and PurePosixPath(match[2] or match[1]).name == PurePosixPath(match[1]).name:
            close()
            named, lines, nameless = match[1], [], bool(match[3])
        elif not line.startswith(_ODD):
            lines.append(line)
    close()
    return tuple(files)


def _shows_image(message: BaseMessage) -> bool:
    parts = message.content if isinstance(message.content, list) else []
    return any(isinstance(part, dict) and part.get("type") in ("image_url", "image", "input_image") for part in parts)
