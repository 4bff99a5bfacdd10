"""Words of which no two ask for the same: whoever says one of them, and not the other, wants something else."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

from habilis.synthesis.vocabulary import spoken

_OPPOSITES = """
sum|add|subtotal, product, difference|subtract, quotient, remainder, mean, median, mode, max, min
| count|length|size, variance, stdev, gcd, lcm, power, factorial, sqrt
max, min / longest, shortest / newest|latest, oldest|earliest / more than|at least, less than|at most, equal
first, last, second, third, middle / before, after / start|start with, stop|end with / left, right, center
prefix, suffix / ascending, descending / row|line, column / top, bottom / horizontal, vertical / old, new
encode, decode / compress, decompress / encrypt, decrypt / escape, unescape / quote, unquote / pack, unpack
zip, unzip / indent, dedent / inclusive, exclusive / contain, without / net, gross / population, sample
upper, lower, title case, capitalise, snake case, camel case, kebab case / even, odd / valid, invalid
radian, degree / celsius, fahrenheit, kelvin / binary, octal, hexadecimal, roman / base64, hexadecimal, morse, rot13
kilometre, metre, mile, centimetre, millimetre, foot, inch, yard / kilogram, gram, pound, ounce, tonne
litre, millilitre, gallon, pint, cup / second, minute, hour, day, week, month, year, quarter, decade
second count, minute count, hour count, day count, week count, month count, year count
daily, weekly, monthly, quarterly, yearly / sha256, sha1, sha512, md5, crc32 / html, url, json, xml, yaml, csv
area, circumference, volume, diameter, hypotenuse, surface, diagonal
circle, rectangle, triangle, sphere, cylinder, cone, trapezoid, ellipse
word, letter|character, line, sentence, paragraph, digit, vowel, consonant, byte
intersection, union, difference / arithmetic, geometric, harmonic, weighted, moving
euclidean distance, manhattan distance / income, expense / deposit, withdraw
increase, decrease|discount / profit, loss, revenue, cost / buy, sell / debit, credit / cumulative, average
ceil, floor / sin, cos, tan / natural log, decimal log / square, cube, sqrt, cube root / exp, log
ipv4, ipv6 / email, url, phone / remove, replace, append|insert / split, join / sort, reverse, shuffle
unique, duplicate / vat, tip, discount, interest / present, future / simple, compound / percent, percent change
precision, recall, accuracy, specificity / covariance, correlation / permutation, combination
quartile, percentile, median / numerator, denominator / skewness, kurtosis / weekday, weekend
"""
Said = tuple[frozenset[str], frozenset[str]]
"""What a request says, and what it says or implies."""


def opposed(one: Said, other: Said) -> bool:
    """Whether each of two requests says a word that the other does not, and these two are opposites."""
    (our_words, ours), (their_words, theirs) = ((_kinds(words), _kinds(said)) for words, said in (one, other))
    only_ours, only_theirs = our_words - theirs, their_words - ours
    return not {line for line, _ in only_ours}.isdisjoint(line for line, _ in only_theirs)


def rivals(words: frozenset[str]) -> list[tuple[str, str]]:
    """Each two of `words` that are opposites."""
    return [pair for pair in combinations(sorted(words), 2) if opposed(*((frozenset({one}),) * 2 for one in pair))]


def _kinds(words: frozenset[str]) -> set[tuple[int, int]]:
    return {place for word in words for place in _places().get(word, ())}


@lru_cache(maxsize=1)
def _places() -> dict[str, list[tuple[int, int]]]:
    """By word, in which line it stands and as which of its kinds."""
    found: dict[str, list[tuple[int, int]]] = {}
    for line, text in enumerate(_OPPOSITES.replace("\n|", ",").replace("\n", "/").split("/")):
        for kind, words in enumerate(text.split(",")):
            for word in words.split("|"):
                if len(said := spoken(word)) == 1:
                    found.setdefault(said[0], []).append((line, kind))
    return found
