"""From a question to the tool calls that answer it, in order, later ones taking earlier results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from habilis.demo.asides import to_the_point
from habilis.demo.called import spelled_out, with_file_named
from habilis.demo.families import ALL
from habilis.demo.families.queries import Queries
from habilis.demo.families.traces import Traces
from habilis.demo.form import Form, peel
from habilis.demo.framing import framed
from habilis.questions.language import QUOTED, core, squeeze
from habilis.questions.operations import DemoOperation
from habilis.questions.prompts import SeenFile
from habilis.questions.world import MARK, CannotAnswerError, DemoCall, FilledOperation, Ref, World

LONGEST = 4000
"""Characters of a question that this model tries to understand."""

_KNOWN_ENDINGS = (
    "csv|tsv|tab|json|jsonl|ndjson|txt|text|md|markdown|rst|log|dat|ini|cfg|conf|yaml|yml|xml|html|htm|py|srt|tex"
)
_QUOTED_FILE = re.compile(r"(?<!\w)([\"'`])((?:(?!\1).)+\.[A-Za-z0-9]{1,8})\1")
_BARE_FILE = re.compile(
    rf"(?<![\w@])[^\s\"'`,;:()<>?]*[^\s\"'`,;:()<>?.]\.(?:{_KNOWN_ENDINGS})\b(?!\.?\w)", re.IGNORECASE
)
_FILE_NAME = re.compile(rf"[^\"'`<>,;]*\.(?:{_KNOWN_ENDINGS})", re.IGNORECASE)
_SHIELD = "\x00"
"""Stands around the number of a quoted text while file names are looked for, so that none is found inside it."""
_NOUN = r"(?:csv|json|text|data|log|attached|given|following|this|that|my|our|uploaded|provided)"
_BEFORE = re.compile(
    rf"(?:\b(?:the|this|that|my|our|a) )?(?:\b{_NOUN} )*\b(?:file|table|document|spreadsheet|data ?set)(?: "
    rf"(?:named|called))? (?={MARK})",
    re.IGNORECASE,
)
_AFTER = re.compile(rf"({MARK}[0-9]+) (?:csv |json |text |data )?(?:file|table|document|spreadsheet)\b", re.IGNORECASE)
_THE_FILE = re.compile(
    rf"\b(?:the|this|that|my|our) (?:{_NOUN} )*(?:file|table|document|spreadsheet|data ?set|csv|json)\b(?! of\b)",
    re.IGNORECASE,
)
_SAID_THERE = re.compile(
    r"[.?!;,] ?\(?(?:(?:I(?:'m told|'ve been told| think| believe| know| was told|'m sure)(?: that)? )?"
    r"(?:(?:it|they|she|he|this|that|these|those|all|everything|both|"
    r"(?:(?:the|my|our|all(?: the)?) (?:[a-z]+ )?)?(?:numbers?|figures?|data|details?|answers?|information|list|notes?"
    r"|file|table|results?|records?|times?|dates?|prices?|amounts?|log|spreadsheet))(?: all)?(?:'s|'re)?"
    r"(?: (?:is|are|was|were|says? so|stands?|can be found|comes?|(?:must|should|ought to|will|would) (?:all )?be))?"
    r"(?: (?:written|noted|listed|given|all|said|somewhere|there))* (?:in|on|from)|see|look in|look at|check|use|using|"
    r"according to|says|so says|going by|the (?:file|table|list|log) is(?: in| called)?|"
    r"you(?:'ll| will| can)(?: \w+)? find (?:it|them|that|this|all of (?:it|them)) in)"
    rf") ({MARK}[0-9]+)\)?[.!]?$",
    re.IGNORECASE,
)
"""A sentence of its own that only says which file is meant."""
_WRITTEN, _HAS = "(?:text|notes?|letter|report|story|article|poem|e-?mail)", "(?:have|contain|hold|include)"
_AGAIN = re.compile(
    r"(?:\?|\.|;|,)? (?:and(?: also)?|also),? (?=(?:what|which|how|on which|on"
    r" what|is|was|calculate|compute|find|count|tell)\b)|[?;] "
    r"|(?<!\bDr)(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bSt)(?<!\bNo)\. ",
    re.I,
)


@dataclass(frozen=True)
class Understood:
    """The calls of a question, in an order in which they can be made, `Ref` where an earlier result goes in; `asked`
    are those whose results answer it."""

    steps: tuple[DemoCall, ...]
    asked: tuple[int, ...]
    form: Form

    @property
    def is_guess(self) -> bool:
        """Whether a tool has still to see if a word of the question stands in a table at all."""
        return any(
            isinstance(one, str) and one.startswith("* ")
            for step in self.steps
            for one in step.values.get("conditions", ())
        )

    @property
    def is_query(self) -> bool:
        """Whether the parts of the question may have stood in any order."""
        return any(step.operation.key.startswith("query_") for step in self.steps)

    @property
    def is_column(self) -> bool:
        """Whether it asks for every row of a table: behind another question, maybe for those of that one only."""
        return any(str(step.values.get("order", "")).startswith(("all", "each")) for step in self.steps)


@dataclass(frozen=True)
class Unclear:
    """Why a question gets no plan. `known` when it was understood but something that it needs is missing."""

    reason: str
    known: bool = False


def understand(question: str, files: Sequence[SeenFile] = (), missing: Sequence[str] = ()) -> Understood | Unclear:
    """What `question` asks for. Never raises; what is not wholly understood is `Unclear`."""
    shown = " ".join(file.begins for file in files)
    text = framed(with_file_named(spelled_out(squeeze(question), shown), files), files)
    text, form = peel(to_the_point(text, shown))
    if not text or len(text) > LONGEST or MARK in text or _SHIELD in text:
        return Unclear("the question is not of a kind that it knows")
    if form.dated and not _dated_so(form.dated, files):
        return Unclear(f"the dates of the file are not all written as {form.dated}", known=True)
    if missing:
        return Unclear(f"{', '.join(missing)} does not exist", known=True)
    marked, mentions = _mark_files(text, files)
    world = World(text, tuple(files), mentions, _one, wanted=form.wanted)
    try:
        calls = _all(marked, world)
    except CannotAnswerError as problem:
        return Unclear(str(problem), known=True)
    except RecursionError:
        calls = None
    if not calls:
        return Unclear("the question is not of a kind that it knows")
    steps: list[DemoCall] = []
    asked = tuple(_flatten(call, steps) for call in calls)
    return Understood(tuple(steps), asked, form)


def all_operations() -> tuple[DemoOperation, ...]:
    """Every operation of every family."""
    return tuple(operation for family in ALL for operation in family.operations)


def _dated_so(form: str, files: Sequence[SeenFile]) -> bool:
    """Whether dates as the files show them have a form, or are brought into it: months are written yyyy-mm."""
    shown = " ".join(file.begins for file in files)
    if form == "hh:mm:ss":
        return bool(re.search(r"\b\d\d:\d\d:\d\d\b", shown)) and not re.search(r"(?<!:)\b\d{1,2}:\d\d\b(?!:)", shown)
    if form == "yyyy-mm-dd":
        return not re.search(r"\b\d{1,2}[/-]\d{1,2}[/-]\d{4}\b", shown)
    return form == "yyyy-mm" or not re.search(r"\b\d{1,2}[/.-]\d{1,2}[/.-]\d{4}\b|\b\d{1,2}\.? [A-Z][a-z]{2}", shown)


def _all(text: str, world: World) -> list[DemoCall] | None:
    """The calls of a question, which may be several questions joined by "and what …" or a full stop."""
    problem: CannotAnswerError | None = None
    try:
        if call := world.call(text):
            return [call]
    except CannotAnswerError as error:
        problem = error
    parts = [part for part in _AGAIN.split(text) if part and part.strip(" ?.!,;")]
    if 1 < len(parts) <= 4:
        world = replace(world, is_part=True)
        calls = [_inherit(part, parts[0], world).call(part) for part in parts]
        if all(calls):
            return [call for call in calls if call]
        if any(calls):
            return None
    if problem:
        raise problem
    return None


def _inherit(part: str, first: str, world: World) -> World:
    """A later question without a file of its own means the one file that the first named."""
    named = re.findall(rf"{MARK}([0-9]+)", first)
    if MARK in part or len(set(named)) != 1:
        return world
    file = world.mentioned(int(named[0]))
    return replace(world, files=(file,))


def _one(text: str, world: World) -> DemoCall | None:
    """The call that one question or phrase asks for, by the first family that reads it."""
    phrase = _file_last(core(text))
    problem: CannotAnswerError | None = None
    for family in ALL:
        if world.wanted and not isinstance(family, Queries | Traces):
            continue  # no other family has rows of which something is named
        try:
            if call := family.read(phrase, world):
                return call
        except CannotAnswerError as error:
            problem = problem or error
    if problem:
        raise problem
    return None


def _file_last(phrase: str) -> str:
    """ "in x.csv, what is …" and "x.csv: what is …" as "… in x.csv", "how many rows does x.csv have" as "how many rows
    in x.csv"."""
    phrase = _SAID_THERE.sub(r" in \1", phrase)
    opening = (
        r"(?:(?:in|from|for|using|according to|based on|going by|judging by|given|"
        r"(?:have a )?look(?:ing)? (?:at|in|into|through)|go(?:ing)? through|read|"
        r"take|open|with|of|within|inside|see|check|here is|this is|i have|about|regarding|concerning|on) )?"
        rf"({MARK}[0-9]+)(?: ?[,:.;–—-])?,? (?:and )?(?=\w)"
        r"(?!(?:has|have|is|are|was|were|contains?|holds?|lists|says?)\b)"
    )
    alone = rf"({MARK}[0-9]+)(?:[:,]| [-–—]) "
    if match := re.match(opening, phrase, re.IGNORECASE) or re.match(alone, phrase):
        phrase = f"{core(phrase[match.end() :])} in {match[1]}"
    return re.sub(
        rf"^(how many .+?|how much .+?|what) (?:does|do|did) ({MARK}[0-9]+) (?:have|contain|hold|include|consist of)\b",
        r"\1 in \2",
        phrase,
        flags=re.IGNORECASE,
    )


def _mark_files(text: str, files: Sequence[SeenFile]) -> tuple[str, tuple[str, ...]]:
    """`text` with `@F0`, `@F1` … for the files that it names, and those names."""
    mentions: list[str] = []
    shielded: list[str] = []

    def mark(name: str) -> str:
        if name not in mentions:
            mentions.append(name)
        return f"{MARK}{mentions.index(name)}"

    def shield(match: re.Match[str]) -> str:
        inner = match[0][1:-1]
        if inner in listed or _FILE_NAME.fullmatch(inner):
            return match[0]
        shielded.append(match[0])
        return f"{_SHIELD}{len(shielded) - 1}{_SHIELD}"

    listed = {file.named for file in files}
    text = re.sub(QUOTED, shield, text)

    for file in sorted(files, key=lambda file: -len(file.named)):
        quoted = rf"[\"'`]?(?<![\w/.]){re.escape(file.named)}(?![\w/])[\"'`]?"
        text = re.sub(quoted, lambda match, name=file.named: mark(name), text)  # type: ignore[misc]
    text = _QUOTED_FILE.sub(lambda match: mark(match[2]), text)
    text = _BARE_FILE.sub(lambda match: mark(match[0]), text)
    text = _AFTER.sub(r"\1", _BEFORE.sub("", text))
    if not mentions and len(files) == 1:
        text = _THE_FILE.sub(lambda match: mark(files[0].named), text)
    if not mentions and len(files) == 1:
        text = _called_by_its_name(files[0].named).sub(lambda match: f"{match[1]} {mark(files[0].named)}", text)
    return re.sub(f"{_SHIELD}([0-9]+){_SHIELD}", lambda match: shielded[int(match[1])], text), tuple(mentions)


def _called_by_its_name(named: str) -> re.Pattern[str]:
    """ "in the trip plan" for the one file trip-plan.md, "does my letter have" for any, where nothing else is meant."""
    name = r"[\W_]+".join(re.findall(r"[^\W_]+", PurePosixPath(named).stem)) or "text"
    return re.compile(
        rf"\b(in|on|from|of|within|inside|does) (?:the|this|that|my|our) (?:{name}|{_WRITTEN})"
        rf"(?=\s*[?.!]*\s*$| {_HAS}\b)",
        re.IGNORECASE,
    )


def _flatten(call: DemoCall, steps: list[DemoCall]) -> int:
    """Put `call` behind the calls that it needs; its index. Equal calls are made once."""
    values: dict[str, Any] = {}
    for role, value in call.values.items():
        if isinstance(value, DemoCall):
            values[role] = Ref(_flatten(value, steps))
        elif isinstance(value, FilledOperation):
            values[role] = FilledOperation(value.text, tuple(Ref(_flatten(inner, steps)) for inner in value.calls))
        else:
            values[role] = value
    step = DemoCall(call.operation, values, call.view)
    if step not in steps:
        steps.append(step)
    return steps.index(step)
