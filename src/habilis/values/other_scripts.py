"""Names across scripts and languages: Cyrillic and Greek letters in Latin ones, and what countries are called."""

from __future__ import annotations

import re
from functools import lru_cache

from habilis.values.plain import folded

_CYRILLIC = (
    "абвгдеёжзийклмнопрстуфхцчшщъыьэюяіїєґ",
    "a b v g d e e zh z i i k l m n o p r s t u f kh ts ch sh shch _ y _ e yu ya i yi ye g",
)
_GREEK = ("αβγδεζηθικλμνξοπρσςτυφχψω", "a v g d e z i th i k l m n x o p r s s t y f ch ps o")
_LETTERS = str.maketrans(
    {
        letter: sound.replace("_", "")
        for letters, sounds in (_CYRILLIC, _GREEK)
        for letter, sound in zip(letters, sounds.split(), strict=True)
    }
)
_ALIKE = (
    *(("tch", "ch"), ("tsch", "ch"), ("sch", "sh"), ("kh", "h"), ("ch", "h"), ("zh", "j"), ("ph", "f"), ("ou", "u")),
    *(("ts", "z"), ("tz", "z"), ("x", "ks"), ("q", "k"), ("c", "k"), ("w", "v"), ("b", "v"), ("mp", "v"), ("nt", "d")),
    *(("gk", "g"), ("th", "t"), ("y", "i"), ("j", "i")),
)
_VOWELS = re.compile("[aeiouh]")
_TWICE = re.compile(r"(.)\1+")


@lru_cache(maxsize=10_000)
def latin(word: str) -> str:
    """A folded word of Cyrillic or Greek letters in Latin ones (after ISO 9 and ELOT 743, simplified)."""
    return word.translate(_LETTERS)


@lru_cache(maxsize=50_000)
def skeleton(word: str) -> str:
    """What all ways to write a name in Latin letters have in common: consonants, those of one sound as one."""
    word = latin(word)
    for one, other in _ALIKE:
        word = word.replace(one, other)
    return _TWICE.sub(r"\1", _VOWELS.sub("", word))


_SAME = """germany german germans deutschland deutsche deutscher deutschen allemagne allemand allemande alemania alemán
austria austrian österreich autriche austriaco
switzerland swiss schweiz schweizer suisse suiza
france french frankreich französisch francia français française francés
spain spanish spanien spanisch espagne españa español española espagnol
italy italian italien italienisch italie italia italiano italienne
netherlands dutch niederlande holland paysbas países países-bajos
belgium belgian belgien belgique bélgica
poland polish polen pologne polonia
russia russian russland russisch russie rusia россия российская
ukraine ukrainian ucrania украина
greece greek griechenland grèce grecia ελλάδα
turkey turkish türkei turquie turquía türkiye
sweden swedish schweden suède suecia
norway norwegian norwegen norvège noruega
denmark danish dänemark danemark dinamarca
finland finnish finnland finlande finlandia
britain british uk united kingdom großbritannien vereinigtes königreich royaume-uni reino unido england english
ireland irish irland irlande irlanda
portugal portuguese portugiesisch
hungary hungarian ungarn hongrie hungría
romania romanian rumänien roumanie rumania
czechia czech tschechien tchéquie chequia
croatia kroatien croatie croacia
usa us united states america american vereinigte staaten amerika états-unis estados unidos
canada canadian kanada canadá
mexico mexican mexiko mexique méxico
brazil brazilian brasilien brésil brasil
argentina argentinien argentine
chile chili
china chinese chinesisch chine
japan japanese japanisch japon japón
korea korean corée corea
india indian indien inde
indonesia indonesien indonésie
australia australian australien australie
egypt egyptian ägypten égypte egipto
morocco marokko maroc marruecos
algeria algerien algérie argelia
southafrica südafrika
saudi arabia saudi-arabien arabie
europe european europa europe européenne
asia asien asie
africa afrika afrique áfrica
vienna wien vienne viena
munich münchen múnich
cologne köln colonia
geneva genf genève ginebra
zurich zürich zúrich
prague prag praha praga
warsaw warschau varsovie varsovia warszawa
moscow moskau moscou moscú москва moskva
rome rom roma
milan mailand milano milán
venice venedig venise venecia venezia
naples neapel napoli nápoles
florence florenz firenze florencia
athens athen athènes atenas αθήνα
brussels brüssel bruxelles bruselas
copenhagen kopenhagen copenhague københavn
lisbon lissabon lisbonne lisboa
london londres londra
beijing peking pékin pekín
tokyo tokio
cairo kairo caire
nuremberg nürnberg
danube donau
rhine rhein rhin rin"""


@lru_cache(maxsize=1)
def _rows() -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for number, row in enumerate(_SAME.splitlines()):
        for word in row.split():
            found.setdefault(word, set()).add(number)
    return found


def same_in_another_language(word: str, words: frozenset[str]) -> bool:
    """Whether `word`, folded, is what another language calls one of `words`: Munich and München."""
    rows = _folded_rows().get(word, set())
    return bool(rows) and any(rows & other for each in words if (other := _folded_rows().get(each)))


@lru_cache(maxsize=1)
def _folded_rows() -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for word, rows in _rows().items():
        for part in folded(word).split("-"):
            found.setdefault(part, set()).update(rows)
    return found
