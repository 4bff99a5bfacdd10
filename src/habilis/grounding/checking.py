"""The values of an answer, each with the rule by which it stands on what is known, or with none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from habilis.core.patterns import lazy_pattern
from habilis.grounding.figures import Figures
from habilis.grounding.known import Known, scripts
from habilis.grounding.names import Names
from habilis.grounding.wording import SURE_WORDS, grammar, language, verdicts
from habilis.values.plain import Plain, blanked, folded, plain
from habilis.values.scanning import scan

Kind = Literal["number", "date", "quotation", "name", "words"]
LOOKED_AT = 8_000
"""Characters of an answer that are checked."""
_LONG_LINE = 24
_WORD = lazy_pattern(r"[^\W\d_]{2,}")
_UNSPACED = lazy_pattern(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True)
class Value:
    """A value of an answer as it stands there, and the `rule` by which it is known, "" where it is not."""

    kind: Kind
    text: str
    rule: str = ""


def values_of(answer: str, known: Known) -> list[Value]:
    """The values of `answer` in order of kind: quotations, identifiers, dates, numbers, names, words."""
    whole = plain(answer[:LOOKED_AT])
    copied = _copied(whole.text, known)
    rest, found = _quotations(whole, copied, known)
    values = scan(rest)
    figures = Figures(rest, known, values.moments)
    for mark in values.marks:
        found.append(Value("name", whole.as_written(mark.start, mark.end), figures.mark(mark)))
    for moment in values.moments:
        if moment.sure:
            found.append(Value("date", whole.as_written(moment.start, moment.end).strip(), figures.moment(moment)))
    found += _numbers(whole, figures, values.numbers)
    taken = [(mark.start, mark.end) for mark in values.marks]
    taken += [(moment.start, moment.end) for moment in values.moments if moment.sure]
    taken += [(n.start, n.end) for n in values.numbers if n.form != "word"]
    names = Names(blanked(rest, taken), known)
    for name in names.found():
        found.append(Value("name", whole.as_written(name.start, name.end), names.rule(name)))
    return found or ([] if copied else _words(whole.text, known))


def _numbers(whole: Plain, figures: Figures, numbers: Sequence[Any]) -> Iterator[Value]:
    """The numbers; of a quantity in two parts either the whole is known or each part."""
    wholes = [(n.start, n.end, figures.number(n)) for n in numbers if n.form == "duration"]
    for number in numbers:
        written = whole.text[number.start : number.end].lower()
        sure = number.sure or written in SURE_WORDS.get(language(whole.text), ())
        if number.form == "duration" or not sure or figures.is_label(number):
            continue
        within = next((rule for start, end, rule in wholes if start <= number.start < end and rule), "")
        yield Value("number", whole.as_written(number.start, number.end).strip(), within or figures.number(number))


def _copied(text: str, known: Known) -> list[tuple[int, int]]:
    """Lines that stand in the sources as they are; nothing in them needs a rule."""
    spans, place = [], 0
    for line in text.splitlines(keepends=True):
        bare = " ".join(folded(line).split())
        if len(bare) >= _LONG_LINE and bare in known.lines:
            spans.append((place, place + len(line)))
        place += len(line)
    return spans


def _quotations(whole: Plain, copied: list[tuple[int, int]], known: Known) -> tuple[str, list[Value]]:
    """The quotations, and the text without them and without what is copied."""
    text = blanked(whole.text, copied)
    found, spans = [], []
    for start, end, content in quotations(text):
        other = not scripts(content) & known.scripts and bool(scripts(content))
        rule = "another script" if other else "as it stands" if stands(content, known) else ""
        found.append(Value("quotation", whole.as_written(start, end), rule))
        spans.append((start, end))
    return blanked(text, spans), found


def _words(text: str, known: Known) -> list[Value]:
    """An answer without any value: its words, if they say more than a judgement, must have one in common."""
    words = [word for word in _WORD.findall(text) if folded(word) not in grammar() and word.lower() not in grammar()]
    bare = text.strip().strip(".!?。！？\"'`*")
    if not words or bare.lower() in verdicts() or not scripts("".join(words)) & known.scripts:
        return []
    asked = language(known.question)
    if known.language and asked and asked != known.language:
        return []  # a translation
    whole = " ".join(folded(bare).split())
    copied = whole and re.search(rf"(?<![^\W_]){re.escape(whole)}(?![^\W_])", known.lines)
    if copied or any(_shared(folded(word), known) for word in words):
        return [Value("words", bare, "as it stands")]
    return [Value("words", bare)]


def _shared(word: str, known: Known) -> bool:
    """Whether a word, or in scripts without spaces a pair of its signs, is one of the sources'."""
    if _UNSPACED.search(word):
        return any(word[place : place + 2] in known.text for place in range(max(len(word) - 1, 1)))
    if word in known.words or (len(word) > 3 and word[:-1] in known.text):
        return True
    return len(word) > 5 and word[:5] in known.text


def leaves(data: Any, most: int = 2_000) -> Iterator[str]:
    """The values at the ends of JSON data, as text."""
    todo: list[Any] = [data]
    while todo and most > 0:
        node = todo.pop()
        most -= 1
        if isinstance(node, dict | list):
            todo.extend(reversed(list(node.values() if isinstance(node, dict) else node)))
        elif isinstance(node, str):
            yield node
        elif isinstance(node, int | float) and not isinstance(node, bool):
            yield json.dumps(node)


__all__ = ["Kind", "Value", "leaves", "values_of", "words_of"]


_PAIRS = ('""', "“”", "„“", "„”", "«»", "»«", "‹›", "「」", "『』", "‘’", "《》", "””")
_QUOTED = lazy_pattern(
    "|".join(rf"{re.escape(a)}([^{re.escape(a + b)}\n]{{3,2000}}){re.escape(b)}" for a, b in map(tuple, _PAIRS))
    + r"|(?<![^\W_])'(?=\S)([^'\n]{3,2000}?(?:(?<=[^\W_])'(?=[^\W_])[^'\n]{1,2000}?)*)'(?![^\W_])"
)
MORE_WORDS, MORE_CHARACTERS = 2, 12
"""What is longer than either is a quotation; shorter is a name or a word in quotation marks."""
_CUT = lazy_pattern(r"\s*(?:\[?(?:\.\.\.|…)\]?)\s*")
_NOT_WORDS = lazy_pattern(r"[^\w%$€£+#&@/=<>]+")


def quotations(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and content of what stands between quotation marks, where it is long enough to be one."""
    for found in _QUOTED.finditer(text):
        content = next(group for group in found.groups() if group is not None)
        has_spaces = " " in content.strip()
        if len(content.split()) > MORE_WORDS or (len(content) > MORE_CHARACTERS and (has_spaces or len(content) > 24)):
            yield found.start(), found.end(), content


def stands(quotation: str, known: Known) -> bool:
    """Whether each part of a quotation, its ellipses taken out, stands in the sources but for case and marks."""
    parts = [bare for part in _CUT.split(quotation) if (bare := words_of(folded(plain(part).text)))]
    return all(part in _as_words(known) for part in parts)


def words_of(text: str) -> str:
    """A folded text as its words with one space between them."""
    return f" {' '.join(_NOT_WORDS.sub(' ', text).split())} " if text.strip() else ""


def _as_words(known: Known) -> str:
    cached = known.__dict__.get("_words")
    if cached is None:
        cached = known.__dict__["_words"] = words_of(known.text)
    return str(cached)
