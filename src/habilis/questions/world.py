"""What a family of questions has to work with: the task's files, and a way to understand a phrase inside a phrase."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from habilis.questions.language import number, same_name
from habilis.questions.operations import DemoOperation, View
from habilis.questions.prompts import SeenFile

MARK = "@F"
"""In a marked phrase, `@F0` stands for the first file that the question names."""


class CannotAnswerError(Exception):
    """The question is understood, but something that it needs is not there; the text says what, for people."""


_FOUND_IN = (
    r"[.?!;,] (?:you(?:'ll| will| can)? find (?:it|them|that|this)"
    r"|(?:(?:the|all|my) )?(?:file|data|numbers|figures|answer|details|table|list|it|they|that|this|everything)"
    r"(?:'s| is| are| stands?| says so| can be found)(?: all)?|use|using|look(?: it up)?|see|check)"
)
"""A sentence behind a question that says which file it is about."""


@dataclass(frozen=True)
class DemoCall:
    """One tool call to make: values by role. A value may be a `DemoCall` or a `FilledOperation`, which is then made
    first."""

    operation: DemoOperation
    values: Mapping[str, Any]
    view: View = "value"

    @property
    def gives_number(self) -> bool:
        return self.view == "length" or self.operation.gives_number


def viewed(result: Any, view: View) -> Any:
    """What of `result` is asked for."""
    if view == "length" and isinstance(result, str | list | dict):
        return len(result)
    return list(result) if view == "names" and isinstance(result, dict) else result


@dataclass(frozen=True)
class Ref:
    """The result of an earlier call, by its index."""

    step: int


@dataclass(frozen=True)
class FilledOperation:
    """A text with `{0}`, `{1}` … for the results of other calls."""

    text: str
    calls: tuple[Any, ...]


class Family(Protocol):
    """One kind of question. `read` is None when it is not of this kind; its tools are `operations`."""

    @property
    def operations(self) -> tuple[DemoOperation, ...]: ...

    def read(self, phrase: str, world: World) -> DemoCall | None: ...


@dataclass(frozen=True)
class World:
    """The files of a task and the understanding of phrases. `mentions` are the files that the question names."""

    question: str
    files: tuple[SeenFile, ...]
    mentions: tuple[str, ...]
    understand: Callable[[str, World], DemoCall | None] = field(repr=False)
    is_part: bool = False
    """Whether the phrase is one of several questions that are asked at once, and may lean on the others."""

    wanted: str = ""
    """What of the found rows is to be named, where a sentence of its own says that."""

    def call(self, phrase: str) -> DemoCall | None:
        """The call that a phrase inside another asks for."""
        return self.understand(phrase, self)

    def amount(self, phrase: str) -> int | float | DemoCall | None:
        """A number, or the call that gives one; None for anything else."""
        value = number(phrase)
        if value is not None:
            return value
        call = self.call(phrase)
        return call if call and call.gives_number else None

    def take_file(self, phrase: str, endings: Sequence[str] = ()) -> tuple[str, SeenFile] | None:
        """`phrase` without its mention of a file, and that file; without a mention, the task's one fitting file.

        None when the file's ending is another family's. Raises `CannotAnswerError` when no file can be meant.
        """
        found = re.findall(rf"{MARK}([0-9]+)", phrase)
        if len(found) > 1:
            return None
        if found:
            file = self.mentioned(int(found[0]))
            return (without_file(phrase), file) if _ends(file.named, endings) else None
        fitting = [file for file in self.files if _ends(file.named, endings)]
        if len(fitting) == 1:
            return phrase, fitting[0]
        names = ", ".join(file.named for file in fitting)
        raise CannotAnswerError(f"Several files could be meant ({names}); name one." if names else "No file was given.")

    def mentioned(self, index: int) -> SeenFile:
        """The file behind the mention `@F<index>`, as the prompt lists it where it does."""
        mention = self.mentions[index]
        exact = [file for file in self.files if file.named == mention]
        alike = [file for file in self.files if file.named.rsplit("/")[-1] == mention.rsplit("/")[-1]]
        return next(iter([*exact, *alike]), SeenFile(mention))


def without_file(phrase: str) -> str:
    """`phrase` without its mention of a file."""
    at = r"(?:according to|based on|going by|going off|judging by|as per|per|as (?:given|listed|recorded|shown) in|"
    at += r"looking at|see|check|look in|in|of|from|inside|within|using|for|on|at|by|to) "
    asked = r"(?=(?:who|which|what|how|when|where|whose)\b)"
    phrase = re.sub(rf"(?<=\w) (?:{at})?{MARK}[0-9]+, {asked}", ", ", phrase, flags=re.I)
    phrase = re.sub(rf"{_FOUND_IN} (?=(?:in |at |on )?{MARK})", " in ", phrase, flags=re.I)
    at = rf",? ?(?:\((?:{at})?{MARK}[0-9]+\)|(?:{at})?(?:the (?:web ?|html )?page )?{MARK}[0-9]+(?:'s)?,?)"
    return " ".join(re.sub(at, " ", phrase, flags=re.I).replace("in in ", "in ").split())


def columns(file: SeenFile) -> list[str]:
    """Column names from a table's preview, whatever divides them; empty when there is no preview."""
    head, divider = _head(file)
    if not head or head.endswith("…"):
        return []
    row = next(csv.reader([head], delimiter=divider), [])
    return [cell.strip() for cell in row]


def is_table(file: SeenFile) -> bool:
    """Whether a file can be a table: by its ending, or because its first lines are divided alike."""
    if file.named.lower().endswith((".csv", ".tsv", ".tab", ".json", ".log")) or not file.begins:
        return True
    head, divider = _head(file)
    lines = [line for line in file.begins.splitlines() if line.strip()]
    return len(lines) > 1 and all(line.count(divider) == head.count(divider) > 0 for line in lines)


def _head(file: SeenFile) -> tuple[str, str]:
    head = next((line for line in file.begins.splitlines() if line.strip()), "")
    return head, divider_of(head)


def divider_of(head: str) -> str:
    """What divides the cells of a table with this first line; what is quoted does not count."""
    return max(",;\t|", key=re.sub(r'"[^"]*"', "", head).count)


def named_like(name: str, known: Sequence[str]) -> str | None:
    """The one of `known` that `name` means: exactly, or apart from case, underscores and plural."""
    if name in known:
        return name
    alike = [other for other in known if same_name(name, other)]
    return alike[0] if len(alike) == 1 else None


def _ends(name: str, endings: Sequence[str]) -> bool:
    return not endings or name.lower().endswith(tuple(endings))
