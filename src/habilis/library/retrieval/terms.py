"""Texts as index terms: identifiers split, words stemmed, scripts without spaces read by pairs of letters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from habilis.core.patterns import lazy_pattern

_CASE_BORDER = lazy_pattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN = lazy_pattern(rf"[{_UNSPACED}]+|[^\W\d_{_UNSPACED}]+|\d+")
_FIRST_UNSPACED = lazy_pattern(rf"[{_UNSPACED}]")
_PART_BORDER = lazy_pattern(r"(?<=[.!?;])\s+|,\s+|\n+|\b(?:then|also|and\s+then)\b|[。！？；]", re.IGNORECASE)

_VALUE = lazy_pattern(
    r"https?://\S+|[\w.+-]+@[\w-]+\.\w+|(?<!\w)\"[^\"\n]{1,40}\"|“[^”\n]{1,40}”|(?<!\w)'[^'\n]{1,40}'(?!\w)"
    r"|`[^`\n]{1,60}`|[\w~.-]*/[\w./-]+|[A-Za-z0-9_-]+(?P<ending>\.[a-zA-Z][a-zA-Z0-9]{0,4}(?![A-Za-z0-9]))"
)
"""What a question gives as a value, which says nothing of what is to be done with it."""

_STOP_WORDS = frozenset(
    """a about all also am an and any are as at be been but by can could did do does for from given had has have how i
    if in into is it its let like me my need of on one or our out please s should so some such t than that the their
    them then there these they this those to us use used user using want was we were what when where which who why
    will with would you your""".split()  # noqa: SIM905 — a list of a hundred quoted words is harder to read
)
_FAINT_WORDS = """find get give help tell provide show know make looking look search see information info details detail
    specific based including include new create return returns retrieve value parameter parameters optional default
    tool function various id list number string true false example"""
_COMMON_WORDS = """
    account actual add addition address age all allow amount analysis analyze answer api apply area article ask
    assist available avoid base before best between both calculate call case cell certain change character check
    choose city class collect column compare complete compute condition consider contain content correct cost
    count country csv current data database date day description determine different digit directory document
    domain each either element email end enter entry even every exact excel extract fact feature field file final
    first folder follow form format found free full general generate good group happen header help high hour identify
    image index inside item json just keep key keyword kind know language large last latest length level limit
    line link local location log long lot low main many mark match mean measure message method minute mode month
    more most move much must name near next no not note now object obtain occur offer once online only open operation
    option order other output over own page part particular pdf people per perform period person place plan pm
    point popular position possible prefer price problem process product program project property public purpose
    put quality quantity query question rate reach read real really recent record relate relevant remain report
    represent request require response result right row rule run same save say score second section select send
    separate sequence series service set several short simple single site size small solve some something sort
    source space specify standard start state status step stop store style subject support sure system table take
    task term test text thing through time title together topic turn two txt type under unit until up update url
    user value version view visit want way web website week while within without word work world write xml year
    yes yet zero
"""


def terms(text: str) -> Iterator[str]:
    """The index terms of `text`: stemmed words without stop words, numbers, pairs of letters of unspaced scripts."""
    for token in _TOKEN.findall(readable(text)):
        if _FIRST_UNSPACED.match(token):
            yield from (token[i : i + 2] for i in range(max(len(token) - 1, 1)))
        elif token not in _STOP_WORDS:
            yield stem(token)


def without_values(text: str, *, endings: bool = False) -> str:
    """`text` without what it gives as values: paths, addresses, quoted texts. Of a file the ending stays, unless
    `endings` are values too."""
    return _VALUE.sub(lambda found: " " if endings else f" {found['ending'] or ''}", text)


def readable(text: str) -> str:
    """`text` with identifiers split where their case changes, in lower case, without accents and other marks."""
    return folded(_CASE_BORDER.sub(" ", text))


def parts(query: str) -> list[frozenset[str]]:
    """The terms of each wish in `query`, where it holds several: sentences, clauses, what comes `then`."""
    found = [frozenset(terms(part)) for part in _PART_BORDER.split(query) if part]
    return [part for part in found if len(part) > 1]


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """`word` without the endings of English (the Snowball project's second English stemmer); others as they are."""
    if len(word) < 3 or not word.isascii():
        return word
    return str(_stemmer().stemWord(word))


def shared_beginning(one: str, other: str) -> int:
    """How many letters `one` and `other` begin with alike."""
    for number, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return number
    return min(len(one), len(other))


@lru_cache(maxsize=1)
def faint_terms() -> frozenset[str]:
    """Words that say little in a question about tools, stemmed; they count for less."""
    return frozenset(map(stem, _FAINT_WORDS.split()))


@lru_cache(maxsize=1)
def common_terms() -> frozenset[str]:
    """Words that tools and questions of any subject share, stemmed: alone they say little of what is wanted."""
    return frozenset(map(stem, _COMMON_WORDS.split())) - faint_terms()


@lru_cache(maxsize=1)
def _stemmer():  # type: ignore[no-untyped-def]
    from snowballstemmer.english_stemmer import EnglishStemmer  # type: ignore[import-untyped]

    return EnglishStemmer()


def folded(text: str) -> str:
    """Lower case without accents and other marks, compatibility forms made plain."""
    if text.isascii():  # has none of these
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not unicodedata.combining(c)))
