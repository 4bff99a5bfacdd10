"""What rules can accept without a judge: one result of one call that does no more and no less than was asked.

A judge whose word tells nothing is not asked, and most answers are then left open. This is the one kind that is not.
It is drawn narrowly on purpose: what rules accept here nobody looks at again.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from habilis.core.parsing import tree_of
from habilis.core.patterns import lazy_pattern
from habilis.core.types import Invocation, ToolCard
from habilis.grounding import Known, founded_by, unfounded
from habilis.grounding.checking import leaves
from habilis.grounding.wording import ordinary
from habilis.library.retrieval.relevance import other_operation, unsaid
from habilis.rules.bounds import narrows_alike
from habilis.rules.evidence import plain, stands_in
from habilis.rules.number_order import order_is_told
from habilis.rules.refusing import Evidence, opened_a_file
from habilis.rules.rounding import keeps_to, rounded, rounding

MOST_LEAVES = 20
"""Values of one result that an answer may be held against."""
_WORD = lazy_pattern(r"[^\W\d_]{3,}|[^\W\d_a-z]")
_CAPITAL = lazy_pattern(r"\b[^\W\d_a-z][^\W\d_]{2,}")
_LEAVING_OUT = (
    r"without|except|exclud\w+|ignor\w+|not|no|never|other than|\w+n['’]t|ohne|ausser|nicht|kein\w*|sans|sauf|pas"
    r"|sin|excepto|не|кроме|без"
)
_LEFT_OUT = lazy_pattern(rf"\b(?:{_LEAVING_OUT})\b([^,.;:?!]*)")
_CONFINED = lazy_pattern(rf"\b(?:{_LEAVING_OUT}|only|nur|seulement|sólo|только)\b([^,.;:?!]*)")
_DEGREES = lazy_pattern(r"\bdegrees?\s+(?=(?:celsius|fahrenheit|kelvin)\b)", re.IGNORECASE)
"""The name of the scale says it."""
_TOKEN = lazy_pattern(r"[^\W_]+")


@dataclass(frozen=True)
class OwnTool:
    """A tool that was written for the task, or that answered a question of the same words before: what it says of
    itself, the single words that stand in its code, and which of the two it is."""

    card: ToolCard
    words: tuple[str, ...] = ()
    reused: bool = False


@lru_cache(maxsize=128)
def words_in(source: str) -> tuple[str, ...]:
    """The texts of a single word in the functions of a tool: names of columns and signs that it looks for."""
    tree = tree_of(source)
    made = [node for node in tree.body if isinstance(node, ast.FunctionDef)] if tree is not None else []
    texts = (node.value for function in made for node in ast.walk(function) if isinstance(node, ast.Constant))
    return tuple(text for text in texts if isinstance(text, str) and len(text.split()) == 1)


WrittenOf = Callable[[str], OwnTool | None]


def settled(evidence: Evidence, built: WrittenOf) -> str:
    """Why rules alone accept the answer, "" where they do not. Holds for answers that no rule refuses.

    All of this must hold. `built` gives a tool that was written for this task, or that answered a question of the same
    words, None for every other:

    1. Every call of this execution that succeeded is one call, or the same again: there is no choice among results.
    2. Its tool is one of those, and by its own words does not do another operation than the question asks.
    3. All that the call was given stands in the question, which names the files too, or is the one column that holds a
       cell which both name (`town` for "people who live in Bern"); and every number, date and
       quotation of the question was given to the call, or is part of what the tool says that it does. So was or is
       every word of the question that tells anything: a count of lines does not settle a count of ERROR lines. What
       the question leaves out, and the columns that it names, count however common their words are. To how many
       decimals it wants its answer is for the answer to heed.
    4. Where the question brought files, the call opened one of them.
    5. The answer states the result: all of its numbers or all of its names, where a record beside them may be left out,
       and no value that is in neither the result nor the question.
    """
    calls = {_key(call): call for call in evidence.succeeded if call.attempt == evidence.attempt}
    if len(calls) != 1:
        return ""
    (call,) = calls.values()
    evidence, written = _heeded(evidence, call), built(call.tool)
    if written is None or other_operation(written.card, evidence.question):
        return ""
    if not (_asked_for(call, written, evidence) and _states(evidence, call)):
        return ""
    if evidence.files and not opened_a_file(call, evidence):
        return ""
    stands = "which answered a question of the same words" if written.reused else "written for this question"
    return f"the result of {call.tool}, {stands}, called with what this question gives"


def plain_telling(evidence: Evidence, built: WrittenOf) -> Evidence | None:
    """`evidence` with the result of its last call as the answer, told as it came, where rules settle that; else None.

    For a model that calls the right tool rightly and cannot say what came of it.
    """
    last = max((call.attempt for call in evidence.succeeded), default=0)
    calls = {_key(call): call for call in evidence.succeeded if call.attempt == last}
    asked = rounding(evidence.question)
    results = [rounded(call.outcome.output, asked.places) if asked else call.outcome.output for call in calls.values()]
    text = as_it_came(results[0]) if len(results) == 1 else ""
    told = replace(evidence, answer=text, attempt=last)
    return told if text and settled(told, built) else None


def as_it_came(output: Any) -> str:
    """A result in words: its own values by the names of their fields, a lone one by itself. Records are left out."""
    if not isinstance(output, dict):
        return _value(output)
    fields = {key: _value(value) for key, value in output.items() if key != "error"}
    said = {key: value for key, value in fields.items() if value}
    if len(said) == 1:
        return next(iter(said.values()))
    return ", ".join(f"{key.replace('_', ' ')}: {value}" for key, value in said.items())


def _value(value: Any) -> str:
    if isinstance(value, list):
        parts = [_value(one) for one in value]
        return ", ".join(parts) if all(parts) else ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _key(call: Invocation) -> str:
    return json.dumps([call.tool, call.arguments, call.outcome.output], sort_keys=True, default=str)


def _heeded(evidence: Evidence, call: Invocation) -> Evidence:
    """`evidence` without the words of the question that the answer itself shows to be heeded."""
    asked = rounding(evidence.question)
    if asked is not None and keeps_to(asked.places, evidence.answer, list(leaves(call.outcome.output))):
        evidence = replace(evidence, question=asked.question)
    return replace(evidence, question=_DEGREES.sub("", evidence.question))


def _asked_for(call: Invocation, written: OwnTool, evidence: Evidence) -> bool:
    """Whether the call was given what stands in the question, all of it and nothing else."""
    evidence = _without_folders(evidence)
    files = {Path(file.path).name for file in evidence.files}
    given = [leaf for leaf in leaves(call.arguments) if Path(leaf).name not in files]
    text, known = evidence.question.casefold(), Known([evidence.question])
    if not all(_given(leaf, text, known) or _holds_the_cell(leaf, given, evidence) for leaf in given):
        return False
    card = written.card
    own = [*written.words, card.name, card.description, *card.parameters, *_fields(call.outcome.output)]
    if unsaid(_words_alone(evidence), " ".join([*given, *files, *own]), _counted(evidence)):
        return False
    says = " ".join([card.name, card.description, *card.parameters]).replace("_", " ")
    if not _leaves_out(evidence.asked, given, says) or not order_is_told(evidence.question, call.arguments):
        return False
    if not narrows_alike(evidence.asked, plain(" ".join([*own, *(leaf for leaf in given if not leaf.isalnum())]))):
        return False
    used = Known([*given, card.name, card.description, *files])
    return not [value for value in unfounded(evidence.question, used) if value.kind in ("number", "date", "quotation")]


def _without_folders(evidence: Evidence) -> Evidence:
    """`evidence` with files called by their names alone: the number of a folder is none that was asked or given."""
    question = evidence.question
    for text in sorted({text for file in evidence.files for text in (file.path, file.named)}, key=len, reverse=True):
        question = question.replace(text, Path(text).name)
    return replace(evidence, question=question)


def _leaves_out(asked: str, given: Sequence[str], says: str) -> bool:
    """Whether a tool `says` of itself that it leaves something out, where the call was given what the question leaves
    out. One that counts the people from Bern does not count those from elsewhere."""
    left = " ".join(found[1] for found in _LEFT_OUT.finditer(asked))
    return bool(_LEFT_OUT.search(plain(says))) or not any(stands_in(plain(leaf), left) for leaf in given)


def _counted(evidence: Evidence) -> str:
    """Words of the question that tell something however common they are: what it leaves out or confines itself to, and
    the names of columns."""
    named = [column.name for column in evidence.columns if stands_in(plain(column.name), evidence.asked)]
    return " ".join([*(found[1] for found in _CONFINED.finditer(evidence.asked)), *named])


def _words_alone(evidence: Evidence) -> str:
    """The question without numbers, dates and the names of its files, which are looked at as such."""
    text = evidence.question
    for value in unfounded(text, Known([])):
        text = text.replace(value.text, " ") if value.kind in ("number", "date") else text
    return replace(evidence, question=text).asked


def _fields(output: Any) -> list[str]:
    """The names of a result's fields, those of its records too; the one for an error says nothing of the tool."""
    if isinstance(output, list):
        return [name for one in output for name in _fields(one)]
    if not isinstance(output, dict):
        return []
    own = [name for name in output if name != "error"]
    return [*own, *(name for value in output.values() for name in _fields(value))]


def _given(leaf: str, text: str, known: Known) -> bool:
    """Whether one value of a call stands in `text`: as it is, all of its words, or as the same number or date."""
    if not any(map(str.isalnum, leaf)):
        return True  # a sign that divides, say
    values = [value for value in founded_by(leaf, known) if value.kind in ("number", "date")]
    if values and not all(value.rule for value in values):
        return False
    words = _WORD.findall(leaf.casefold())
    return all(word in text for word in words) if words else bool(values) or leaf.casefold() in text.split()


def _holds_the_cell(leaf: str, given: Sequence[str], evidence: Evidence) -> bool:
    """Whether `leaf` names the only column with a cell that the question names and the call was given as well."""
    cells = [plain(one) for one in given if len(one) > 1 and stands_in(plain(one), evidence.asked)]
    named = [column for column in evidence.columns if not column.is_numeric]
    holding = [[column for column in named if cell in map(plain, column.cells)] for cell in cells]
    return any(len(columns) == 1 and columns[0].name == leaf for columns in holding)


def _states(evidence: Evidence, call: Invocation) -> bool:
    """Whether the answer states what `call` gave, whole as far as it is of one kind, and nothing else.

    A record beside a result, such as the row that holds the highest value, may be left out. So may a name beside a
    number, and a number beside a name: of two numbers it takes more than a rule to say which was asked for.
    """
    output = call.outcome.output
    fields = {key: value for key, value in output.items() if key != "error"} if isinstance(output, dict) else output
    beside = [value for value in fields.values() if isinstance(value, dict)] if isinstance(fields, dict) else []
    own = [value for value in fields.values() if value not in beside] if isinstance(fields, dict) else fields
    values = [leaf for leaf in leaves(own) if leaf.strip()] or [leaf for leaf in leaves(beside) if leaf.strip()]
    if not 0 < len(values) <= MOST_LEAVES or unfounded(evidence.answer, Known(list(leaves(fields)), evidence.question)):
        return False
    if _strange_names(evidence.answer, " ".join([evidence.question, *leaves(fields)])):
        return False
    answer = f" {' '.join(_TOKEN.findall(evidence.answer.casefold()))} "
    told = {leaf: _told(leaf, answer, evidence.answer) for leaf in values}
    kinds = [[leaf for leaf in values if _is_number(leaf) is number] for number in (True, False)]
    return any(told.values()) and all(len({told[leaf] for leaf in kind}) < 2 for kind in kinds)


def _strange_names(answer: str, known: str) -> bool:
    """Whether `answer` holds a word with a capital that is none of the most ordinary and stands nowhere in `known`."""
    stands = set(_TOKEN.findall(known.casefold()))
    return any(word.casefold() not in stands and word.casefold() not in ordinary() for word in _CAPITAL.findall(answer))


def _is_number(leaf: str) -> bool:
    """Whether a value is a number or a date and nothing else."""
    return all(value.kind in ("number", "date") for value in founded_by(leaf, Known([leaf])))


def _told(leaf: str, words: str, answer: str) -> bool:
    """Whether the answer states one value: word for word, or as the same number or date in other digits."""
    if f" {' '.join(_TOKEN.findall(leaf.casefold()))} " in words:
        return True
    values = founded_by(answer, Known([leaf]))
    return _is_number(leaf) and any(value.rule and value.kind in ("number", "date") for value in values)
