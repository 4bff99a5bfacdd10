"""Operations that exclude one another: who asks for the highest value is not served by an average.

Each family holds operations of one kind. A text is looked through for the words of each, in a few languages, so that
a question in one and a tool in another can still be told apart. What no table names is left open.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache

Operations = Mapping[str, frozenset[str]]
"""The operations that a text names, by family."""

_DEEDS = {
    "average": r"averag(?:e|es|ed|ing)|avg|mean(?= (?:of|value)| \w+ (?:of|in)\b)|(?<=the )mean|durchschnitt\w*"
    r"|mittelwert\w*|moyennes?|promedios?|media(?= (?:de|del|della|dei)\b)|médias?|gemiddelde?|средн\w+"
    r"|平均|평균|متوسط",
    "median": r"medians?|médianes?|medianas?|медиан\w*|中位数|中央値|중앙값",
    "highest": r"highest(?! common)|maxim(?:um|a|al)|max|largest|biggest|greatest(?! common)|longest|tallest|peaks?"
    r"|heaviest|oldest|warmest|hottest|richest|fastest|most expensive|höchst\w*|größt\w*|längst\w*"
    r"|maxima(?:le?|ler|les)|plus (?:haut|grand)e?"
    r"|más (?:alto|grande)|mayor|máximo|massimo|più (?:alto|grande)|maior|hoogste|grootste"
    r"|максим\w+|наибольш\w+|самы[йе] (?:высок|больш)\w+|最高|最大|最长|最も(?:高|大き|長)い|최고|최대|أعلى|أكبر",
    "lowest": r"lowest|minim(?:um|a|al)|min(?= (?:of|value|and max))|smallest|shortest|fewest"
    r"|cheapest|lightest|youngest|coldest|slowest|least(?! \d)(?<!at least)|niedrigst\w*|kleinst\w*"
    r"|kürzest\w*|plus (?:bas|petit)e?|más (?:bajo|pequeño)|mínimo"
    r"|minimo|più (?:basso|piccolo)|laagste|kleinste|миним\w+|наименьш\w+|最低|最小|最短|最も(?:低|小さ|短)い|최저|최소"
    r"|أدنى|أصغر",
    "sum": r"sums?|summing|totals?|altogether|overall|add(?:s|ing|ed)? (?:up|together)|plus(?= \d)|addition"
    r"|add(?:s|ing)?(?= (?:two |the )?numbers)|summen?|summieren|gesamt\w*|sommes?|totale?s?|sumas?|suma|somma|soma"
    r"|totaal|сумм\w*|итого|总和|总计|总共|合计|總和|合計|총합|합계|مجموع",
    "count": r"count(?:s|ed|ing)?|number of|how many|how often|occurrences?|frequenc(?:y|ies)|wie viele?|anzahl|combien"
    r"|nombre de|cuánt[oa]s|quant[ie]|quant[oa]s|hoeveel|aantal|сколько|количество"
    r"|多少个|几个|数量|個数|いくつ|件数|몇|개수",
    "product": r"multipl(?:y|ies|ied|ication)|product of|times(?= \d)|(?<=\d) ?[*×x] ?(?=\d)|multiplizier\w*|mal(?= \d)"
    r"|fois(?= \d)|произведени\w+|умнож\w+|乘积|乘以|掛け算|곱",
    "difference": r"difference|subtract(?:s|ed|ion|ing)?|minus|how (?:many|much) more|differenz|différence|diferencia"
    r"|разниц\w+|разност\w+|差值|差额|相差|差を|차이",
    "quotient": r"divid(?:e|es|ed|ing)|division|quotient|ratio|geteilt|dividier\w*|divisé|частное|除以|割り算",
    "spread": r"standard deviation|std(?:dev)?|stdev|variance|standardabweichung|varianz|écart[- ]type|desviación"
    r"|标准差|方差|標準偏差|分散",
    "root": r"square root|sqrt|cube root|quadratwurzel|racine carrée|raíz cuadrada|平方根",
    "power": r"to the power|exponentiation|squared|cubed|hoch(?= \d)",
    "factorial": r"factorial|fakultät|阶乘|階乗",
    "hash": r"hash(?:es|ed|ing)?|checksums?|digests?|prüfsumme|哈希|ハッシュ",
    "MD5": r"md ?5",
    "SHA-1": r"sha ?1",
    "SHA-256": r"sha ?2? ?256",
    "SHA-512": r"sha ?2? ?512",
    "CRC": r"crc(?: ?32)?",
    "encode": r"encod(?:e|es|ed|ing)",
    "decode": r"decod(?:e|es|ed|ing)",
    "encrypt": r"encrypt(?:s|ed|ing|ion)?",
    "decrypt": r"decrypt(?:s|ed|ing|ion)?",
    "compress": r"compress(?:es|ed|ing|ion)?|zip(?:s|ped|ping)?(?! codes?)",
    "decompress": r"decompress(?:es|ed|ing|ion)?|unzip(?:s|ped|ping)?|unpack(?:s|ed|ing)?",
    "reverse": r"revers(?:e|es|ed|ing)|backwards|umkehren|rückwärts|à l'envers|反转|倒序|逆順|逆に",
}
_SINCE = r"(?= (?:between|from|until|till|since|passed|lie|are there|elapsed))"
_SPANS = {
    "days": rf"days?{_SINCE}|日数|天数",
    "weeks": rf"weeks?{_SINCE}|週間|周数",
    "months": rf"months?{_SINCE}|月数",
    "years": rf"years?{_SINCE}|年数",
    "hours": rf"hours?{_SINCE}|時間数|小时数",
}
_FAMILIES = {"deed": _DEEDS, "span of time": _SPANS}
_HASHES = frozenset({"hash", "MD5", "SHA-1", "SHA-256", "SHA-512", "CRC"})
_ANYTHING = "any"

_ALSO: Mapping[str, frozenset[str]] = {
    "count": frozenset({"sum", "difference"}),
    "sum": frozenset({"count"}),
    "difference": frozenset({"sum"}),
    **dict.fromkeys(_HASHES - {"hash"}, frozenset({"hash"})),
    "hash": _HASHES,
}
"""What one word may ask for as well: "how many were sold" is a count to one tool and a sum to another."""
_ANY = r"(?<!at )most(?! expensive)|top|rank(?:s|ed|ing)?|best|worst|meisten|häufigsten|plus souvent|最多|一番"
"""Words that ask for the first of an order, of whatever quantity: every operation may serve them."""

_LANGUAGES = "English German French Spanish Italian Portuguese Dutch Cyrillic Han Japanese Hangul Arabic"
SPOKEN = frozenset(_LANGUAGES.split())
"""Languages whose words for operations are in the table (names as `tongues.language` gives them)."""
_HEADLINE = 6
"""Words of a description that say what is done."""


def operations(text: str) -> Operations:
    """The operations that `text` names, by family; identifiers are read as words."""
    return _operations(_readable(text))


def headline(name: str, description: str) -> str:
    """What a tool is said to do, without by what: its name, and the first words of its description."""
    return f"{name}\n{' '.join(description.split()[:_HEADLINE])}"


def excluded(asked: Operations, done: Operations, named: Operations) -> tuple[str, str] | None:
    """The operation that was asked for and the one that is done instead, where one excludes the other.

    `done` are the operations that a tool's whole description names, `named` those of its headline: "the highest price
    to pay", further on, is no operation.
    """
    for family, wanted in asked.items():
        meant = wanted.union(*(_ALSO.get(one, frozenset()) for one in wanted))
        offered, instead = done.get(family, frozenset()), named.get(family)
        if instead and _ANYTHING not in wanted | offered and not meant & offered:
            return min(wanted), min(instead)
    return None


def shared(asked: Operations, done: Operations) -> frozenset[str]:
    """The operations that both name."""
    both = (names & done.get(family, frozenset()) for family, names in asked.items())
    return frozenset().union(*both) - {_ANYTHING}


@lru_cache(maxsize=20_000)
def _operations(text: str) -> Operations:
    found = {
        family: frozenset(name for name, words in rows.items() if _says(words, text))
        for family, rows in _FAMILIES.items()
    }
    if _says(_ANY, text):
        found["deed"] = frozenset({_ANYTHING})
    if len(found["deed"] & _HASHES) > 1:  # "an MD5 checksum" is no other one
        found["deed"] -= {"hash"}
    return {family: names for family, names in found.items() if names}


def _says(words: str, text: str) -> bool:
    """Whether one of `words` stands in `text` as a word.

    What asks for whole words takes twenty times as long to compile, so that is done for words that stand there at all.
    """
    return _anywhere(words).search(text) is not None and _whole_words(words).search(text) is not None


@cache
def _anywhere(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE)


@cache
def _whole_words(words: str) -> re.Pattern[str]:
    """Words as such in scripts that divide them; in others wherever they stand.

    The classes have no case and are compiled without it: otherwise, each of their 31,000 letters is looked up.
    """
    return re.compile(
        rf"(?<!(?-i:[^\W\d_]))(?:{words})(?!(?-i:[^\W\d_぀-ヿ一-鿿가-힯]))|(?:{words})(?=(?-i:[぀-ヿ一-鿿가-힯]))",
        re.IGNORECASE,
    )


def _readable(text: str) -> str:
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text[:4_000])
    return re.sub(r"[_\s-]+", " ", split)
