"""Numbers in words (English, German, French, Spanish), in Chinese numerals, and Roman numerals."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache


def _counted(words: str, start: int = 0, step: int = 1) -> dict[str, int]:
    return {word: start + step * place for place, word in enumerate(words.split())}


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_HUNDRED, _THOUSAND, _MILLION, _BILLION = 100, 1000, 10**6, 10**9
_ENGLISH = {
    **_counted("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"),
    **_counted("seventeen eighteen nineteen", 17),
    **_counted("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10),
    "dozen": 12,
    "hundred": _HUNDRED,
    "thousand": _THOUSAND,
    "million": _MILLION,
    "billion": _BILLION,
}
_FRENCH = {
    **_counted("zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize"),
    **_counted("vingt trente quarante cinquante soixante septante huitante nonante", 20, 10),
    "une": 1,
    "vingts": 20,
    "cent": _HUNDRED,
    "cents": _HUNDRED,
    "mille": _THOUSAND,
    "million": _MILLION,
    "millions": _MILLION,
    "milliard": _BILLION,
    "milliards": _BILLION,
}
_SPANISH = {
    **_counted("cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis"),
    **_counted("diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco", 17),
    **_counted("veintiséis veintisiete veintiocho veintinueve treinta", 26),
    **_counted("treinta cuarenta cincuenta sesenta setenta ochenta noventa", 30, 10),
    **_counted("cien doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos", 100, 100),
    "un": 1,
    "una": 1,
    "novecientos": 900,
    "ciento": 100,
    "mil": _THOUSAND,
    "doscientas": 200,
    "trescientas": 300,
    "millón": _MILLION,
    "millones": _MILLION,
}
_GERMAN_ONES = _counted("null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn")
_GERMAN_ONES |= _counted("sechzehn siebzehn achtzehn neunzehn", 16) | {"eins": 1, "eine": 1, "einen": 1, "zwo": 2}
_GERMAN_TENS = _counted("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig", 20, 10) | {"dreissig": 30}
_GERMAN_BIG = {
    **dict.fromkeys(("million", "millionen"), _MILLION),
    **dict.fromkeys(("milliarde", "milliarden"), _BILLION),
}
_MULTIPLIERS = {_THOUSAND, _MILLION, _BILLION}
_CONNECTORS = {"english": {"and"}, "french": {"et"}, "spanish": {"y"}}
_LANGUAGES: Mapping[str, Mapping[str, int]] = {"english": _ENGLISH, "french": _FRENCH, "spanish": _SPANISH}
_ENGLISH_ORDINALS = {
    **_counted("third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth", 3),
    **_counted("fifteenth sixteenth seventeenth eighteenth nineteenth twentieth", 15),
    **_counted("thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth hundredth", 30, 10),
    "first": 1,
    "second": 2,
}
_OTHER_ORDINALS = {
    **_counted("erste zweite dritte vierte fünfte sechste siebte achte neunte zehnte elfte zwölfte", 1),
    **_counted("premier deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième", 1),
    **_counted("primero segundo tercero cuarto quinto sexto séptimo octavo noveno décimo", 1),
    "première": 1,
    "seconde": 2,
    "primera": 1,
    "segunda": 2,
    "tercera": 3,
    "tercer": 3,
    "cuarta": 4,
    "quinta": 5,
}
_PARTS = {
    **dict.fromkeys(("half", "halves", "hälfte", "moitié", "mitad"), 2),
    **dict.fromkeys(("third", "thirds", "drittel", "tiers", "tercio", "tercios"), 3),
    **dict.fromkeys(("quarter", "quarters", "viertel", "quart", "quarts", "cuarto", "cuartos"), 4),
    **dict.fromkeys(("fifth", "fifths", "fünftel", "cinquième", "cinquièmes", "quinto", "quintos"), 5),
    **dict.fromkeys(("sixths", "sechstel"), 6) | dict.fromkeys(("eighths", "achtel"), 8),
    **dict.fromkeys(("tenth", "tenths", "zehntel", "dixième", "dixièmes", "décimo", "décimos"), 10),
}
_ARTICLES = _set("one a un une una uno ein eins eine einen einer zwo null")
"""Words of one that are articles or pronouns far more often than numbers; a claim only within a longer number."""
_OTHER_WORDS = _set("once neuf cent cents elf second seconde son achte quart mil dos sept zero zéro cero")
"""Number words of one language that are other words of another."""
_UNSURE = _ARTICLES | _OTHER_WORDS | _set("dozen hundred thousand million billion millions milliard mille")

_AND_HALF = re.compile(r"\s(?:and a half|y medi[oa]|et demie?)\b")
_WORD = re.compile(r"[^\W\d_]+")
_GAP = re.compile(r"[ \t-]{1,2}")


class Spelled:
    """A number in words: where it stands, its value as a fraction, whether it is an ordinal, whether it is sure."""

    __slots__ = ("end", "ordinal", "over", "start", "sure", "value")

    def __init__(self, start: int, end: int, value: int, *, over: int = 1, ordinal: bool = False, sure: bool = True):
        self.start, self.end, self.value, self.over, self.ordinal, self.sure = start, end, value, over, ordinal, sure


def spelled(text: str) -> Iterator[Spelled]:
    """The numbers in words of `text`, in order. Those that may be other words as well are not `sure`."""
    words = [(found[0].lower(), found.start(), found.end()) for found in _WORD.finditer(text)]
    place = 0
    while place < len(words):
        run, value, ordinal = _longest(words, place, text)
        if not run:
            place += 1
            continue
        start, end = words[place][1], words[place + run - 1][2]
        after = words[place + run] if place + run < len(words) else ("", 0, 0)
        alone = run == 1 and words[place][0] in _UNSURE
        if after[0] in _PARTS and _GAP.fullmatch(text[end : after[1]]) and not ordinal:
            yield Spelled(start, after[2], value, over=_PARTS[after[0]], sure=words[place][0] not in _ARTICLES)
            run += 1
        elif half := _AND_HALF.match(text, end):
            worth = _worth(value) if value >= _THOUSAND else 1
            yield Spelled(start, half.end(), 2 * value + worth, over=2)
        else:
            yield Spelled(start, end, value, ordinal=ordinal, sure=not alone and not (ordinal and value < 3))
        place += run
    for word, start, end in words:
        if word in _PARTS:
            yield Spelled(start, end, 1, over=_PARTS[word], sure=False)


def _longest(words: Sequence[tuple[str, int, int]], place: int, text: str) -> tuple[int, int, bool]:
    """How many words from `place` on make one number, its value, and whether it is an ordinal."""
    word = words[place][0]
    best = (0, 0, False)
    if not _begins(word):
        return best
    for language, values in _LANGUAGES.items():
        found = _in(language, values, words, place, text)
        best = max(best, found, key=lambda each: each[0])
    if best[0] > 1:
        return best
    german = german_number(word)
    if german is not None:
        value, run = german, 1
        if place + 1 < len(words) and (big := _GERMAN_BIG.get(words[place + 1][0])):
            value, run = value * big, 2
        return max(best, (run, value, False), key=lambda each: each[0])
    if best[0]:
        return best
    ordinal = _ENGLISH_ORDINALS.get(word) or _OTHER_ORDINALS.get(word) or _stemmed_ordinal(word)
    return (1, ordinal, True) if ordinal else best


@lru_cache(maxsize=20_000)
def _begins(word: str) -> bool:
    """Whether a number in words can begin with `word`."""
    known = any(word in values for values in _LANGUAGES.values())
    ordinal = word in _ENGLISH_ORDINALS or word in _OTHER_ORDINALS or _stemmed_ordinal(word) is not None
    return known or ordinal or german_number(word) is not None


def _in(
    language: str, values: Mapping[str, int], words: Sequence[tuple[str, int, int]], place: int, text: str
) -> tuple[int, int, bool]:
    total, current, run, best = 0, 0, 0, (0, 0, False)
    here = place
    while here < len(words):
        word = words[here][0]
        if run and not _GAP.fullmatch(text[words[here - 1][2] : words[here][1]]):
            break
        if run and word in _CONNECTORS[language] and here + 1 < len(words) and words[here + 1][0] in values:
            here, run = here + 1, run + 1
            continue
        if language == "english" and word in _ENGLISH_ORDINALS and run:
            value = _ENGLISH_ORDINALS[word]
            if current and value < 10 and current % 10 == 0:
                return run + 1, total + current + value, True
        if word not in values:
            break
        joined = _joined(language, total, current, values[word], first=not run)
        if joined is None:
            break
        total, current = joined
        here, run = here + 1, run + 1
        best = (run, total + current, False)
    return best


def _joined(language: str, total: int, current: int, value: int, *, first: bool) -> tuple[int, int] | None:
    """The number so far with the next word's value, or None where that word begins another number."""
    if value in _MULTIPLIERS:
        return (total + max(current, 1) * value, 0) if first or current or total else None
    if value == _HUNDRED and language != "spanish":
        return (total, max(current, 1) * _HUNDRED) if current < 100 else None
    if value == 12 and language == "english" and 0 < current < 12:
        return total, current * 12
    if language == "french" and value == 20 and current % 100 == 4:
        return total, current + 76
    if language == "french" and 10 <= value < 20 and current % 100 in (60, 80):
        return total, current + value
    if first or (not current and total):
        return total, value
    return (total, current + value) if value and value < _worth(current) else None


def _worth(number: int) -> int:
    """The place value of the last digit of `number` that is not zero: 120 is 10."""
    worth = 1
    while number and number % (worth * 10) == 0:
        worth *= 10
    return worth


@lru_cache(maxsize=20_000)
def german_number(word: str) -> int | None:
    """The value of a German number in one word, such as `einhundertzweiundvierzig`; None where it is none."""
    if len(word) > 60:
        return None
    if word in _GERMAN_ONES:
        return _GERMAN_ONES[word]
    if word in _GERMAN_TENS:
        return _GERMAN_TENS[word]
    for mark, worth in (("tausend", _THOUSAND), ("hundert", _HUNDRED)):
        before, found, after = word.partition(mark)
        if found:
            front = german_number(before) if before else 1
            rest = german_number(after.removeprefix("und")) if after else 0
            return None if front is None or rest is None or rest >= worth else front * worth + rest
    ones, und, tens = word.partition("und")
    if und and ones in _GERMAN_ONES and tens in _GERMAN_TENS and 0 < _GERMAN_ONES[ones] < 10:
        return _GERMAN_ONES[ones] + _GERMAN_TENS[tens]
    return None


@lru_cache(maxsize=20_000)
def _stemmed_ordinal(word: str) -> int | None:
    """The value of a German, French or long German ordinal (`neunzehnten`, `dix-neuvième` in its last part)."""
    if word.endswith("ième") and (value := _FRENCH.get(word.removesuffix("ième"), _FRENCH.get(word[:-4] + "e"))):
        return value
    bare = re.sub(r"(?:st|t)e[nmrs]?$", "", word)
    if bare == word:
        return None
    if (plain := re.sub(r"[nmrs]$", "", word)) in _OTHER_ORDINALS:
        return _OTHER_ORDINALS[plain]
    value = german_number(bare)
    return value if value and value > 12 else None


_ROMAN = re.compile(r"(?<!\w)(?=[MDCLXVI]{2})M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?!\w)")
_LETTERS = {"M": 1000, "D": 500, "C": 100, "L": 50, "X": 10, "V": 5, "I": 1}
_NO_ROMANS = _set("CD DC CV MC MD MM DI CI CC LI VI MI XL CIV MIX")


def romans(text: str) -> Iterator[Spelled]:
    """Roman numerals of two letters and more that stand as such."""
    for found in _ROMAN.finditer(text):
        values = [_LETTERS[letter] for letter in found[0]]
        value = sum(-one if one < two else one for one, two in zip(values, [*values[1:], 0], strict=True))
        yield Spelled(found.start(), found.end(), value, sure=found[0] not in _NO_ROMANS)


_HAN_DIGITS = {**_counted("〇 一 二 三 四 五 六 七 八 九"), "零": 0, "两": 2, "兩": 2}
_HAN_SMALL = {"十": 10, "百": 100, "千": 1000}
HAN_BIG = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12}
_HAN = re.compile(rf"[{''.join([*_HAN_DIGITS, *_HAN_SMALL, *HAN_BIG])}]+")
_NO_HAN = _set("十分 千万 万一 一一 百万 万千 万万 千百 一千 一百 一十 三三 三三两两 十")


def han_numerals(text: str) -> Iterator[Spelled]:
    """Chinese numerals: 三百二十, 二〇二四. One sign alone is not `sure`, it is mostly a part of a word."""
    for found in _HAN.finditer(text):
        value = _han(found[0])
        if value is not None:
            yield Spelled(found.start(), found.end(), value, sure=len(found[0]) > 1 and found[0] not in _NO_HAN)


def _han(text: str) -> int | None:
    if len(text) > 40:
        return None
    if all(sign in _HAN_DIGITS for sign in text):
        return int("".join(str(_HAN_DIGITS[sign]) for sign in text))
    total = section = digit = 0
    for sign in text:
        if sign in _HAN_DIGITS:
            digit = _HAN_DIGITS[sign]
        elif sign in _HAN_SMALL:
            section += (digit or 1) * _HAN_SMALL[sign]
            digit = 0
        else:
            total = (
                (total + section + digit or 1) * HAN_BIG[sign]
                if not total
                else total + (section + digit) * HAN_BIG[sign]
            )
            section = digit = 0
    return total + section + digit
