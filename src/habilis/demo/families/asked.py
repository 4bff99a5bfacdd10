"""`AskedPatterns`: a family of questions whose tools declare how they are asked for, in the file that bears its
name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar

from habilis.questions.declared import operations_of, read_family
from habilis.questions.language import counted, numbers
from habilis.questions.operations import DemoOperation, OperationSlot
from habilis.questions.prompts import SeenFile
from habilis.questions.world import MARK, CannotAnswerError, DemoCall, World, without_file

Match = re.Match[str]
Values = dict[str, Any]


class AskedPatterns:
    """Asks each pattern of each tool, in order; the first that fits wholly and whose values are all there counts."""

    words: ClassVar[Mapping[str, str]] = {}
    """Further words for the patterns."""

    def __init__(self, name: str) -> None:
        file = read_family(name)
        family = file.get("family", {})
        self.endings: tuple[str, ...] = tuple(family.get("endings", ()))
        self.needs_file = bool(family.get("needs_file"))
        self.operations = operations_of(file, self.words)
        self.reads = all(one.effects == "reads" for one in self.operations)

    def read(self, phrase: str, world: World) -> DemoCall | None:
        at_hand = MARK in phrase or any(file.named.lower().endswith(self.endings) for file in world.files)
        return self.asked(phrase, world) if at_hand or not self.needs_file else None

    def asked(self, phrase: str, world: World, file: SeenFile | None = None) -> DemoCall | None:
        """The call that `phrase` asks for; `file` is the one that it is about, where that is known already.

        Raises `CannotAnswerError` with what the first pattern that fits lacks, if no other has all.
        """
        text = self.plain(phrase)
        problem: CannotAnswerError | None = None
        for operation in self.operations:
            for view, form in operation.asked:
                if (match := pattern_of(form).fullmatch(text)) is None:
                    continue
                try:
                    values = self.about(operation, match, phrase, world, file)
                except CannotAnswerError as error:
                    problem = problem or error
                    continue
                if values is not None:
                    return self.call(DemoCall(operation, values, view), match)
        if problem:
            raise problem
        return None

    def plain(self, phrase: str) -> str:
        """`phrase` as the patterns have it: without a file that all tools take, counts asked for in one way."""
        return counted(without_file(phrase)) if self.reads else phrase

    def about(
        self, operation: DemoOperation, match: Match, phrase: str, world: World, file: SeenFile | None
    ) -> Values | None:
        """The values of a call, with the path of the file where it takes one."""
        if not any(slot.role == "path" for slot in operation.inputs):
            return self.values(operation, match, world)
        taken = (phrase, file) if file else world.take_file(phrase, self.endings)
        if taken is None:
            return None
        values = self.values(operation, match, replace(world, files=(taken[1],)))
        return None if values is None else {"path": taken[1].named, **values}

    def values(self, operation: DemoOperation, match: Match, world: World) -> Values | None:
        """What the groups of `match` say, by role but for the path; None where one of them cannot be meant. A call
        that takes a path has its file as the only one of `world`."""
        said = {**operation.default, **{role: text for role, text in match.groupdict().items() if text}}
        slots = [slot for slot in operation.inputs if slot.role != "path"]
        values = {slot.role: value_of(slot, said.get(slot.role), world) for slot in slots}
        return None if None in values.values() else values

    def call(self, call: DemoCall, match: Match) -> DemoCall:
        """The call that answers: `call`, or one that starts from it."""
        return call


@cache
def pattern_of(form: str) -> re.Pattern[str]:
    """A pattern, compiled when it is asked for the first time: there are more than `re` keeps.

    A group whose name stands in it again is numbered: `level`, `level2`, `level3`.
    """
    seen: Counter[str] = Counter()

    def named(match: re.Match[str]) -> str:
        seen[match[1]] += 1
        return f"(?P<{match[1]}{seen[match[1]] if seen[match[1]] > 1 else ''}>"

    return re.compile(re.sub(r"\(\?P<(\w+)>", named, form), re.IGNORECASE)


def said_by(match: Match) -> dict[str, str]:
    """What the groups of a match hold that hold something; one that a pattern has several times, by its one name."""
    return {key.rstrip("0123456789"): text for key, text in match.groupdict().items() if text}


def value_of(slot: OperationSlot, text: str | None, world: World) -> Any:
    """What `text` says for a parameter, maybe by a call of its own; None where it says nothing that fits."""
    if text is None or slot.type == "string":
        return text[1:-1] if text and text[0] == text[-1] and text[0] in "\"'`" else text
    if slot.type == "array_of_numbers":
        listed = numbers(text)
        return listed if listed and len(listed) > 1 else None
    value = world.amount(text)
    return None if slot.type == "integer" and isinstance(value, float) else value
