"""Whether an answer says of the results what they say: rules over values that stand there, and are told of another."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import product

from habilis.core.patterns import lazy_pattern
from habilis.grounding import founded_by
from habilis.grounding.names import is_form
from habilis.grounding.wording import grammar, ordinary, verdicts
from habilis.library.retrieval.terms import terms
from habilis.library.retrieval.thesaurus import neighbours
from habilis.rules.arguments import are_kin
from habilis.rules.evidence import Evidence, plain, stands_in
from habilis.rules.leaves import Leaf, Results
from habilis.rules.quoted import QUOTED
from habilis.values.plain import plain as plain_form
from habilis.values.scanning import scan

MOST_CLAUSES = 200
_CLAUSE = lazy_pattern(
    r"[.;!?](?:\s|$)|[\n()|。；、，]|,\s|\s[-–—]\s|\b(?:and|while|but|whereas|than|und|während|aber|et|mais|y|pero|и|а|но)\b"
)
_RESPECTIVELY = lazy_pattern(r"\brespectively\b|\bjeweils\b|\brespectivement\b|\brespectivamente\b", re.IGNORECASE)
WHICH = lazy_pattern(
    r"\b(?:which|who|whose|whom|where|welche[rsnm]?|wer|wo|quel(?:le)?s?|qui|où|quién|cuál|dónde)\b"
    r"|\b(?:кто|где|куда|в как(?:ом|ой|их))\b|誰|どこ|どの|どれ|どちら",
    re.IGNORECASE,
)
_OF_ROWS = frozenset(("rows", "row_count", "n", "n_rows", "number_of_rows", "count"))
_MARK_LENGTH = 8
"""Characters of an identifier that no answer gives in other words."""
_COUNTED = lazy_pattern(r"\bhow (?:many|often)\b|\bwie\s?(?:viele|oft)\b|\bcombien\b|\bcuánt[oa]s\b", re.IGNORECASE)
_IS = lazy_pattern(
    r"^\W*(?:is|are|was|were|does|do|did|has|have|had|can|could|will|ist|sind|hat|est-ce)\b", re.IGNORECASE
)
_YES = lazy_pattern(r"^\W*(?:yes|ja|oui|sí|да|はい|是)\b", re.IGNORECASE)
_NO = lazy_pattern(r"^\W*(?:no|nein|non|нет|いいえ|否|不)\b", re.IGNORECASE)
_NOT = lazy_pattern(
    r"\b(?:not|no|never|without|none|neither|nor|un\w+|nicht|kein\w*|ne|pas|sin|не)\b|n['’]t\b", re.IGNORECASE
)
_BOUND = lazy_pattern(
    r"\b(?:less|fewer|more|greater|higher|lower|larger|smaller|longer|shorter) than|\bat (?:least|most)|\bup to"
    r"|\b(?:mehr|weniger) als|\bplus de|\bmoins de|\bmás de|\bmenos de",
    re.IGNORECASE,
)
_BETWEEN = lazy_pattern(r"\s(?:the\s)?[$€£]?$")
_WORD = lazy_pattern(r"[^\W\d_]+")


def numbers_of(text: str) -> set[Decimal]:
    """Each number of `text`, in each way that it can be read."""
    values = scan(plain_form(text).text)
    read = {reading.value for number in values.numbers for reading in number.readings}
    return read | {Decimal(digits) for mark in values.marks for digits in re.findall(r"\d+", mark.text)}


def other_record(evidence: Evidence) -> str | None:
    """A name and a number in one clause, which the results hold, but never in one record."""
    results = Results(evidence)
    if _RESPECTIVELY.search(evidence.answer):
        return None
    names, numbers = (
        [leaf for leaf in results.all if leaf.name],
        [leaf for leaf in results.all if leaf.number is not None],
    )
    asked = numbers_of(evidence.question)
    for clause in _CLAUSE.split(evidence.answer)[:MOST_CLAUSES]:
        text, said = plain(clause), numbers_of(clause) - asked
        if not said:
            continue
        named = _longest({leaf.name for leaf in names if leaf.name in text and stands_in(leaf.name, text)})
        told = {leaf.number for leaf in numbers} & said
        if len(named) != 1 or len(told) != 1:
            continue
        name, number = named.pop(), told.pop()
        here = [leaf for leaf in names if leaf.name == name]
        there = [leaf for leaf in numbers if leaf.number == number]
        if not any(results.together(one, other) for one in here for other in there):
            return f'the answer says {number} of "{name}", but no record of the results holds both'
    return None


def _longest(names: set[str]) -> set[str]:
    """Names that are no part of another one."""
    return {name for name in names if not any(name != other and name in other for other in names)}


def other_choice(evidence: Evidence) -> str | None:
    """Of what the question offers, the results name one, and the answer names another, or none."""
    if not WHICH.search(evidence.question):
        return None
    asked, answer = plain(evidence.question), plain(evidence.answer)
    results = Results(evidence)
    offered = {leaf.name for leaf in results.all if leaf.name and stands_in(leaf.name, asked)}
    offered -= grammar() | ordinary() | verdicts()
    chosen = offered & {leaf.name for leaf in results.leaves if leaf.value is not None}
    said = {name for name in offered if stands_in(name, answer)}
    if not chosen or said & chosen:
        return None
    if said:
        return f'the answer names "{min(said)}", but the results name "{min(chosen)}"'
    if _are_offered(chosen, offered - chosen, asked):
        return f'the answer names nothing of what the question offers; the results name "{min(chosen)}"'
    return None


def _are_offered(some: set[str], others: set[str], asked: str) -> bool:
    """Whether the question offers one of `some` and one of `others` side by side: `a or b`."""
    pairs = [*product(some, others), *product(others, some)]
    joined = (rf"{re.escape(one)}\W+(?:and|or|und|oder)\W+{re.escape(other)}" for one, other in pairs)
    return any(re.search(pattern, asked) for pattern in joined)


def turned_round(evidence: Evidence) -> str | None:
    """Yes where the one truth value of the results says no, or no where it says yes."""
    if not _IS.search(evidence.question) or _NOT.search(evidence.question):
        return None
    yes, no = _YES.search(evidence.answer), _NO.search(evidence.answer)
    if not yes and not no:
        return None
    truths = [leaf for leaf in Results(evidence).leaves if isinstance(leaf.value, bool)]
    asked = set(_WORD.findall(evidence.asked))
    if len({leaf.value for leaf in truths}) != 1 or not all(_is_asked(leaf.key, asked) for leaf in truths):
        return None
    if truths[0].value is bool(yes):
        return None
    word = "yes" if yes else "no"
    return f"the answer says {word}, but the result says {truths[0].key} = {str(truths[0].value).lower()}"


def _is_asked(key: str, asked: set[str]) -> bool:
    words = [word for word in _WORD.findall(key.lower().replace("_", " ")) if word not in ("is", "are", "has", "was")]
    return not words or key in ("result", "answer", "found", "value", "holds") or all(word in asked for word in words)


def bound_for_value(evidence: Evidence) -> str | None:
    """`Less than 42` where the results say 42, and no other number is told."""
    known = {reading.value for reading in evidence.found.readings}
    text = plain_form(evidence.answer).text
    asked = numbers_of(evidence.question)
    told = [n for n in scan(text).numbers if n.sure and not any(r.value in asked for r in n.readings)]
    if len(told) != 1 or not any(reading.value in known for reading in told[0].readings):
        return None
    for found in _BOUND.finditer(text):
        if _BETWEEN.fullmatch(text[found.end() : told[0].start]) and found[0].lower() not in evidence.asked:
            return f"the answer gives a bound ({text[found.start() : told[0].end].strip()}) where the result is a value"
    return None


def nothing_of_the_results(evidence: Evidence) -> str | None:
    """Numbers, none of which a call gave, where calls gave numbers or names; a number where yes or no was asked for."""
    if evidence.behind and _IS.search(evidence.question) and _says_number_alone(evidence):
        return "the answer gives a number where yes or no was asked for"
    leaves = Results(evidence).leaves
    said = scan(plain_form(evidence.answer).text)
    if _COUNTED.search(evidence.question) and not said.numbers and not said.marks and not said.moments:
        return _left_out(evidence, leaves)
    if (mark := _only_mark(leaves)) and mark not in plain(evidence.answer):
        return f"the result is {mark}, and the answer does not give it"
    if not evidence.behind or not said.numbers or said.moments:
        return None
    gave = [leaf for leaf in leaves if (leaf.number is not None or leaf.name) and leaf.value is not None]
    if not gave or len(gave) < len([leaf for leaf in leaves if leaf.value is not None]):
        return None
    answer = plain(evidence.answer)
    if any(leaf.name and stands_in(leaf.name, answer) for leaf in leaves):
        return None
    if numbers_of(evidence.answer) & {leaf.number for leaf in leaves}:
        return None
    own = [value for value in founded_by(evidence.answer, evidence.found) if value.rule]
    if own or _YES.search(answer) or _NO.search(answer):
        return None
    return "the answer states nothing that a call gave"


def _only_mark(leaves: list[Leaf]) -> str:
    """The one value of the results where that is an identifier, letters and digits in one piece; else empty."""
    values = [leaf.value for leaf in leaves if leaf.value is not None]
    text = plain(values[0]) if len(values) == 1 and isinstance(values[0], str) else ""
    mixed = re.search(r"\d", text) and re.search(r"[a-z]", text)
    return text if mixed and len(text) >= _MARK_LENGTH and text.isalnum() else ""


def _left_out(evidence: Evidence, leaves: list[Leaf]) -> str | None:
    """How many was asked for, the results say a number, and the answer says none: neither it nor a name of theirs."""
    numbers = {leaf.number for leaf in leaves if leaf.number is not None}
    answer = plain(evidence.answer)
    words = {Decimal(n) for word, n in (("once", 1), ("twice", 2), ("thrice", 3)) if stands_in(word, answer)}
    if not numbers or 0 in numbers or words & numbers or _YES.search(answer):
        return None
    names = (leaf.name for leaf in leaves if leaf.name and leaf.value is not None)
    if any(stands_in(name, answer) and not stands_in(name, evidence.asked) for name in names):
        return None
    return "the answer states no number that a call gave, and the question asks how many"


def _says_number_alone(evidence: Evidence) -> bool:
    """Whether an answer holds a number, and beside it no judgement and no word of the question."""
    words = {word for word in _WORD.findall(plain(evidence.answer)) if word not in ("the", "answer", "is", "result")}
    return bool(numbers_of(evidence.answer)) and not words & (verdicts() | set(_WORD.findall(evidence.asked)))


def other_field(evidence: Evidence) -> str | None:
    """A number that stands in a field that the question does not name, where one that it names is not told."""
    if re.search(r"\bhow (?!many\b|much\b)\w+", evidence.question, re.IGNORECASE):
        return None
    leaves = [leaf for leaf in Results(evidence).leaves if leaf.number is not None]
    said, asked = numbers_of(evidence.answer), set(_WORD.findall(evidence.asked))
    told = [leaf for leaf in leaves if leaf.number in said]
    calls = {leaf.call for leaf in told}
    meant = [leaf for leaf in leaves if leaf.call in calls and _names_field(leaf, asked)]
    if told and not meant and (stray := _stray(evidence, told) or _counted_instead(evidence, told, leaves)):
        return stray
    if not told or not meant or any(_names_field(leaf, asked) for leaf in told):
        return None
    if {leaf.number for leaf in told} - {leaf.number for leaf in meant} != {leaf.number for leaf in told}:
        return None
    if any(_is_rounded(leaf.number, said) for leaf in meant) or _names_in(evidence, leaves):
        return None
    meant_value = f"{meant[0].key} = {meant[0].value}"
    return f"the answer gives {told[0].number}, which is the {told[0].key} of the result, where that says {meant_value}"


def _stray(evidence: Evidence, told: list[Leaf]) -> str | None:
    """A number out of a row of the table, from a column that neither the question nor the answer names."""
    said = _WORD.findall(f"{evidence.asked} {plain(evidence.answer)}")
    given = plain(" ".join(str(call.arguments) for call in evidence.behind))
    cells = {plain(column.name): column.cells for column in evidence.columns}
    near = {kin for word in terms(" ".join(said)) for kin in neighbours().get(word, ())}
    for leaf in told:
        key = plain(leaf.key)
        if key not in cells or stands_in(key, given) or not any(leaf.number in numbers_of(c) for c in cells[key]):
            return None
        words = [word for word in _WORD.findall(plain(leaf.key).replace("_", " ")) if len(word) > 1]
        if any(are_kin(word, other) for word in words for other in said) or near & set(terms(" ".join(words))):
            return None
    return f"the answer gives {told[0].number}, which is the {told[0].key} of a row; that is not asked for"


def _counted_instead(evidence: Evidence, told: list[Leaf], leaves: list[Leaf]) -> str | None:
    """How many rows went into a result, told for the result that came of a column that the question names."""
    numeric = {plain(c.name) for c in evidence.columns if c.is_numeric and stands_in(plain(c.name), evidence.asked)}
    given = {plain(str(value)) for call in evidence.behind for value in call.arguments.values()}
    rest = [leaf for leaf in leaves if leaf.call == told[0].call and leaf.key not in _OF_ROWS]
    if not rest or not numeric & given or any(leaf.key not in _OF_ROWS for leaf in told):
        return None
    return f"the answer gives {told[0].number}, which is how many rows were read; the result is {rest[0].value}"


def other_row(evidence: Evidence) -> str | None:
    """A cell of the question's table that is in no result: a row was told that no call gave."""
    if not evidence.behind:
        return None
    answer, known = plain(evidence.answer), plain("\n".join([evidence.question, *evidence.given, *evidence.known]))
    given = plain("\n".join(evidence.called))
    common = grammar() | ordinary()
    forms = _strange_names(evidence.answer, f"{known} {given}")
    for column in evidence.columns:
        for cell in dict.fromkeys(column.cells):
            bare = plain(cell)
            if len(bare) < 2 or bare in common or not _WORD.search(bare):
                continue
            if not stands_in(bare, answer) and not (cell[:1].isupper() and any(is_form(one, bare) for one in forms)):
                continue
            if bare not in known and bare not in given:
                return f'the answer names "{cell}", which stands in the file, but in no result of a call'
    return None


def _strange_names(answer: str, known: str) -> list[str]:
    """Words of `answer` with a capital that are no form of a word of `known`, in letters of a language that inflects
    names."""
    names = {plain(word) for word in _WORD.findall(answer) if word[0].isupper() and not word.isascii()}
    words = set(_WORD.findall(known)) if names else set()
    return [name for name in names if not any(name == word or is_form(name, word) for word in words)]


def other_word(evidence: Evidence) -> str | None:
    """Where the question quotes what it asks about, the answer quotes another word, which nothing holds."""
    if not evidence.behind or not QUOTED.search(evidence.question):
        return None
    known = plain("\n".join([evidence.question, *evidence.given, *evidence.called, *evidence.known]))
    for found in QUOTED.finditer(evidence.answer):
        word = plain(next(filter(None, found.groups())))
        if _WORD.search(word) and not stands_in(word, known):
            return f'the answer speaks of "{word}", which the question does not ask about and no call gave'
    return None


def _names_in(evidence: Evidence, leaves: list[Leaf]) -> bool:
    """Whether the answer states a name of the results: then it may answer without the number."""
    answer = plain(evidence.answer)
    names = (leaf.name for leaf in Results(evidence).leaves if leaf.name and isinstance(leaf.value, str))
    return any(stands_in(name, answer) and not stands_in(name, evidence.asked) for name in names)


def _names_field(leaf: Leaf, asked: set[str]) -> bool:
    words = _WORD.findall(leaf.key.lower().replace("_", " "))
    return any(
        word in asked or f"{word}s" in asked or word.removesuffix("s") in asked for word in words if len(word) > 2
    )


def _is_rounded(number: Decimal | None, said: set[Decimal]) -> bool:
    return number is not None and any(abs(number - other) <= abs(number) / 100 for other in said)
