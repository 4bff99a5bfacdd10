"""What an answer is held against: the question, its files, the calls that were made and what they gave."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from habilis.contract.columns import Column, columns_of
from habilis.core.locations import here
from habilis.core.types import Invocation, TaskFile
from habilis.grounding import Known
from habilis.messages.truncation import as_text


@dataclass(frozen=True)
class Evidence:
    """What an answer is held against. `calls` are all of the task, `attempt` says which execution gave the answer.

    `files` are those that the question brought, `begins` what the model was shown of them, `known` texts that need no
    call: earlier turns, names of files, what the user said.
    `unseen` are names of tools of which no record tells what they read: they run elsewhere, or have packages of their
    own, which may open files without Python's knowledge. `folders` are those that the task's files lie in.
    """

    answer: str
    question: str
    calls: Sequence[Invocation]
    attempt: int
    files: Sequence[TaskFile] = ()
    known: Sequence[str] = ()
    begins: Sequence[str] = ()
    unseen: frozenset[str] = frozenset()
    folders: Sequence[str] = ()

    @property
    def succeeded(self) -> list[Invocation]:
        """Calls that gave a result, in any execution."""
        return [call for call in self.calls if call.outcome.error is None and call.verdict in ("success", None)]

    @property
    def behind(self) -> list[Invocation]:
        """The calls that the answer rests on: those of its execution that gave a result, else of the task."""
        own = [call for call in self.succeeded if call.attempt == self.attempt]
        return own or self.succeeded

    @cached_property
    def results(self) -> str:
        """All that is known without the answer, as one text."""
        return "\n".join([self.question, *self.known, *self.begins, *(call.text for call in self.succeeded)])

    @cached_property
    def given(self) -> list[str]:
        """What each call gave, as the model was shown it and whole. What is read of very long ones is bounded: short
        ones first."""
        found = {text: None for call in self.succeeded for text in (call.text, as_text(call.outcome.output)) if text}
        return sorted(found, key=len)

    @cached_property
    def called(self) -> list[str]:
        """The calls as an answer may tell of them."""
        return [f"{call.tool} {json.dumps(call.arguments, ensure_ascii=False)}" for call in self.calls]

    @cached_property
    def asked(self) -> str:
        """The question without the names of its files, folded."""
        text = self.question
        for name in sorted({Path(file.named).name for file in self.files}, key=len, reverse=True):
            text = re.sub(re.escape(name), " ", text)
        return plain(text)

    @cached_property
    def columns(self) -> list[Column]:
        """The columns of the question's tables."""
        return [column for file in self.files if not file.is_dir for column in columns_of(here(file.path))]

    @cached_property
    def found(self) -> Known:
        """What the calls gave, and nothing else."""
        return Known(self.given)


@dataclass(frozen=True)
class Refusal:
    """Why an answer is refused: the rule's name, and a sentence that the next plan is told."""

    rule: str
    reason: str


def plain(text: str) -> str:
    """`text` without case, its spaces single."""
    return " ".join(text.casefold().split())


def stands_in(word: str, text: str) -> bool:
    """Whether `word` stands in `text`, both plain, as a word or words of its own."""
    if not word or word not in text:  # most cells of a long file are not: no pattern is made for each of them
        return False
    if re.search(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0eff]", word):
        return True
    return re.search(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", text) is not None
