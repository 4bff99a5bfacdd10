"""Proper names of an answer, and whether they stand in the sources: in another form, another script, by initials."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from habilis.core.patterns import lazy_pattern
from habilis.grounding.known import Known, scripts
from habilis.grounding.vocabulary import is_word
from habilis.grounding.wording import bare_nouns, language, ordinary
from habilis.library.retrieval.terms import shared_beginning
from habilis.values.moments import MONTHS, WEEKDAYS
from habilis.values.other_scripts import latin, same_in_another_language, skeleton
from habilis.values.plain import folded

CASED = frozenset(("LATIN", "CYRILLIC", "GREEK", "ARMENIAN"))
_HAN = r"\u3400-\u9fff"
_SURNAME = lazy_pattern(
    rf"(?:[王李张張刘劉陈陳杨楊赵趙吴吳徐孙孫朱胡郭罗羅郑鄭谢謝宋唐邓鄧冯馮韩韓彭萧蕭蔡潘袁董叶葉吕呂魏蒋蔣杜]|欧阳|司马|诸葛|上官)[{_HAN}]{{1,2}}"
)
_TITLED = lazy_pattern(rf"([{_HAN}]{{1,4}}|[\u30a0-\u30ff]{{2,12}})(?:さん|氏|様|先生|女士|市|県|省)")
_CASED_LETTER = r"A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0370-\u058f\u1e00-\u1fff"
_WORD = lazy_pattern(rf"[{_CASED_LETTER}](?:[{_CASED_LETTER}]|[’'-](?=[{_CASED_LETTER}]))*\.?")
_JOINT = lazy_pattern(
    r"[ \u00a0]{1,2}(?:(?:of|de|del|della|da|di|von|van|der|den|du|la|le|el|al|bin|ibn|y|and the)[ ]){0,2}"
)
_START = lazy_pattern(r"(?:^|[.!?:;…。！？：\n\r|>*#•–—-]|\d[.)])[\s*_\"'“„«»‹›「『(\[{`]*$")
_OPEN = lazy_pattern(r"[\"'“„«‹「『(\[{`*_]\s?$")
_GERMAN_NOUN = lazy_pattern(
    r".{2,}(?:ungs?|ungen|heit|heiten|keit|keiten|schaft|schaften|tion|tionen|tät|täten|ment|mente|nis|nisse|nissen"
    r"|ling|linge|chen|lein|tum|ismus|ist|isten|euren?|ieren?|prozent|jahre?n?|tage?n?|weise|zahl|zahlen|stelle|wert)",
    re.IGNORECASE,
)
_NAMING = frozenset(("in", "aus", "nach", "von", "bei", "durch", "heißt", "namens", "hieß"))
_COMPARABLE = frozenset(("LATIN", "CYRILLIC", "GREEK"))
_ELIDED = lazy_pattern(r"[A-Za-z]{1,2}['’][a-zà-ÿ]")
_OF_NAMES = frozenset(("new", "north", "south", "east", "west", "great", "upper", "lower", "saint", "st."))
"""Ordinary words that names of places begin with."""
_CALENDAR = frozenset((*MONTHS, *WEEKDAYS))
_LOOKBACK = 40
_FAR = 200
"""Characters between two words that may still be one name in the sources: two cells of a row."""


@dataclass(frozen=True)
class Name:
    """A proper name as it stands at `start` to `end`, with the words that must be known."""

    start: int
    end: int
    words: tuple[str, ...]


@dataclass(frozen=True)
class Names:
    """The names of one answer, `text` in plain form without its numbers and dates, against what is `known`."""

    text: str
    known: Known

    @cached_property
    def language(self) -> str:
        return language(self.text, self.known.question, *self.known.sources[:1])

    @cached_property
    def _lower(self) -> frozenset[str]:
        """Words that the answer itself writes small."""
        return frozenset(found[0].rstrip(".") for found in _WORD.finditer(self.text) if found[0].islower())

    @cached_property
    def _bare(self) -> bool:
        """Whether the answer is no sentence but a value: a few words, none of grammar."""
        words = [found[0].rstrip(".").lower() for found in _WORD.finditer(self.text)]
        return len(words) <= 4 and "\n" not in self.text.strip()

    def found(self) -> Iterator[Name]:
        """The proper names, in order."""
        run: list[re.Match[str]] = []
        for word in _WORD.finditer(self.text):
            if run and not (_is_capital(word[0]) and _JOINT.fullmatch(self.text[run[-1].end() : word.start()])):
                yield from self._name(run)
                run = []
            if _is_capital(word[0]) and (not run or not run[-1][0].endswith(".") or len(run[-1][0]) < 4):
                run.append(word)
            elif _is_capital(word[0]):
                yield from self._name(run)
                run = [word]
        yield from self._name(run)
        yield from self._of_han()

    def _of_han(self) -> Iterator[Name]:
        """Names in Chinese and Japanese that can be told: by a surname, by a title behind them."""
        for found in _TITLED.finditer(self.text):
            yield Name(found.start(1), found.end(1), (found[1],))
        for found in _SURNAME.finditer(self.text):
            signs = found[0]
            if not set(signs[:2]) & set(self.known.text):
                yield Name(found.start(), found.start() + 2, (signs[:2],))

    def _name(self, run: list[re.Match[str]]) -> Iterator[Name]:
        """The name that a run of capitalised words is; ordinary words at its ends belong to the sentence."""
        while run and not (len(run) > 1 and run[0][0].lower() in _OF_NAMES) and self._is_ordinary(run[0], first=True):
            run = run[1:]
        while run and self._is_ordinary(run[-1], first=False):
            run = run[:-1]
        if not run or (len(run) == 1 and not self._is_name(run[0])):
            return
        words = [part for word in run for part in re.split(r"['’-]", word[0].rstrip("."))]
        kept = tuple(word for word in words if len(word) > 1 and word.lower() not in ordinary())
        if kept:
            yield Name(run[0].start(), run[-1].start() + len(run[-1][0].rstrip(".")), kept)

    def _is_ordinary(self, word: re.Match[str], *, first: bool) -> bool:
        bare = word[0].rstrip(".")
        low = bare.lower()
        if low.removesuffix("s") in _CALENDAR or low in ordinary() or low in self._lower or len(bare) < 2:
            return True
        return first and self._starts(word) and not self._stands(bare) and is_word(bare)

    def _stands(self, word: str) -> bool:
        """Whether a word stands in the sources, so that nothing need be known of it."""
        return folded(word) in self.known.words

    def _starts(self, word: re.Match[str]) -> bool:
        """Whether a sentence, a line, a cell or a quotation begins with it."""
        before = self.text[max(0, word.start() - _LOOKBACK) : word.start()]
        return bool(_START.search(before) or _OPEN.search(before)) or not before.strip()

    def _is_name(self, word: re.Match[str]) -> bool:
        """Whether one capitalised word alone is a name."""
        bare = word[0].rstrip(".")
        if self._bare:
            return True
        if self.language == "german":
            return self._is_german_name(bare, word.start())
        return not (self._starts(word) and (bare.isupper() or self._stands(bare) or is_word(bare)))

    def _is_german_name(self, bare: str, start: int) -> bool:
        """Every noun has a capital; without an article behind `in`, `aus`, `von` it is a place or a person."""
        before = re.findall(r"[^\W\d_]+", self.text[max(0, start - _LOOKBACK) : start])
        if not before or before[-1].lower() not in _NAMING or "," in self.text[max(0, start - 2) : start]:
            return False
        return bare.lower() not in bare_nouns() and not _GERMAN_NOUN.fullmatch(bare)

    def rule(self, name: Name) -> str:
        """The rule by which a name is known; "" where none holds."""
        own = scripts(" ".join(name.words))
        if not own & self.known.scripts and not _comparable(own, self.known.scripts):
            return "another script"
        if own & CASED and self.known.own_scripts - CASED and not all(map(self._word, name.words)):
            return "another script"  # findings in Chinese, say: no rule writes their names in Latin letters
        rules = [self._word(word) for word in name.words]
        if all(rules):
            mixed = len(name.words) == 2 and not self._together(name.words)
            return "" if mixed else next((rule for rule in rules if rule != "as it stands"), "as it stands")
        if self.language == "german" and self._beside_a_noun(name.words, rules):
            return "inflection"
        initials = "".join(word[0] for word in name.words).lower()
        if len(name.words) > 1 and len(initials) > 1 and initials in self.known.words:
            return "abbreviation"
        return ""

    def _beside_a_noun(self, words: tuple[str, ...], rules: list[str]) -> bool:
        """Whether what is unknown is a noun before a known name, or behind its genitive: Insel Veles, Huberts Rede."""
        if len(words) < 2:
            return False
        return bool(all(rules[1:]) or (all(rules[:-1]) and words[-2].endswith(("s", "’"))))

    def _word(self, word: str) -> str:
        bare = folded(word)
        known = self.known.words
        if bare in known or (not word.isascii() and _has_no_spaces(word) and bare in self.known.text):
            return "as it stands"
        if word.isupper() and 1 < len(word) < 7 and self._abbreviates(word):
            return "abbreviation"
        if len(bare) > 3 and any(bare.removesuffix(ending) in known for ending in ("s", "n", "es", "en", "er", "e")):
            return "inflection"
        if any(is_form(bare, other) for other in self._beginning(bare[:3])):
            return "inflection"
        if same_in_another_language(bare, known):
            return "another language"
        if self._sounds_known(skeleton(bare), scripts(word)):
            return "another script"
        if not scripts(word) & self.known.own_scripts and any(_alike(latin(bare), other) for other in known):
            return "another script"
        if len(bare) > 5 and bare in self.known.letters:
            return "as it stands"
        return ""

    def _together(self, words: tuple[str, ...]) -> bool:
        """Whether two words of a name stand near each other in the sources, so that it is one name there as well."""
        one, two = folded(words[0])[:5], folded(words[1])[:5]
        asked = folded(self.known.question)
        if one in asked or two in asked or not (one in self.known.lines and two in self.known.lines):
            return True
        near = rf"(?:{re.escape(one)}.{{0,{_FAR}}}{re.escape(two)}|{re.escape(two)}.{{0,{_FAR}}}{re.escape(one)})"
        return re.search(near, self.known.text) is not None

    def _abbreviates(self, word: str) -> bool:
        initials = r"[^\W_]*[\s-]+(?:(?:of|the|and|for|de|und|der|et|y|des|du)\s+)*".join(
            rf"\b{re.escape(letter)}" for letter in folded(word)
        )
        return re.search(initials, self.known.text) is not None

    def _beginning(self, three: str) -> list[str]:
        return self._by_beginning.get(three, [])

    @cached_property
    def _by_beginning(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for word in self.known.words:
            found.setdefault(word[:3], []).append(word)
        return found

    def _sounds_known(self, shape: str, own: frozenset[str]) -> bool:
        """Whether a name sounds like a known word of another script, an ending apart."""
        if len(shape) > 3 and shape in self._by_script.get("LATIN", ()):
            return True  # Gotthard and Gothard
        ends = (len(shape), *range(max(len(shape) - 3, 4), len(shape)))
        return any(shape[:end] in self._skeletons(own) for end in ends)

    def _skeletons(self, own: frozenset[str]) -> frozenset[str]:
        """How the known words of other scripts sound, where those can be compared."""
        return frozenset().union(*(found for script, found in self._by_script.items() if script not in own))

    @cached_property
    def _by_script(self) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {script: set() for script in _COMPARABLE & self.known.scripts}
        for word in self.known.words:
            script = "LATIN" if word.isascii() else next(iter(scripts(word) & _COMPARABLE), "")
            if script in found and len(shape := skeleton(word)) > 1:
                found[script].add(shape)
        return {script: frozenset(shapes) for script, shapes in found.items()}


def _is_capital(word: str) -> bool:
    """Whether a word has a capital of its own: L'effectif has that of its sentence."""
    return word[0].isupper() and not _ELIDED.match(word)


def _has_no_spaces(word: str) -> bool:
    return re.fullmatch(rf"[{_HAN}\u3040-\u30ff]+", word) is not None


def is_form(one: str, other: str) -> bool:
    """Whether two words are forms of one: the same but for a short ending, as Москве and Москва."""
    shared = shared_beginning(one, other)
    if one.isascii() and other.isascii():
        return shared >= 4 and len(one) - shared <= 2 and len(other) - shared == 0
    return shared >= 3 and len(one) - shared <= 3 and len(other) - shared <= 2 and shared * 2 > len(one)


def _alike(one: str, other: str) -> bool:
    """Whether two words in Latin letters begin alike, for the most part: ilich and ilic."""
    shared = shared_beginning(one, other)
    return shared >= 3 and shared * 5 >= max(len(one), len(other)) * 3


def _comparable(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether names of both scripts can be compared, in Latin letters."""
    return bool(one & _COMPARABLE) and bool(other & _COMPARABLE)
