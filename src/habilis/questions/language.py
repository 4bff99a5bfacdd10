"""Small English: numbers, dates and polite words as people write them. Pure functions over text."""

from __future__ import annotations

import re
from functools import lru_cache

NUMBER = r"[-+−]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?:e[-+]?[0-9]{1,3})?"
"""A number as written: with thousands commas, a decimal point, an exponent."""

_WORDS = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
]  # fmt: skip
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
DATE = (
    r"(?:[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{4}"
    rf"|(?:the )?[0-9]{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH},? [0-9]{{4}}"
    rf"|{_MONTH} (?:the )?[0-9]{{1,2}}(?:st|nd|rd|th)?,? [0-9]{{4}})"
)
"""A date with its year, in the usual ways of writing it."""

_POLITE = re.compile(
    r"(?:please|kindly|hi|hello|hey|so|now|then|also|and|ok|okay|can you|could you|would you|will you|"
    r"i(?: would|'d) like (?:you )?to(?: know)?|i (?:want|need) (?:you )?to(?: know)?|do you know|let me know|tell me|"
    r"(?:could|can|may) (?:i|we) (?:have|get|see)|i(?:'d| would) (?:be interested in|love to (?:know|see))|"
    r"help me(?: to)?|(?:a )?quick question|quick one|(?:just )?out of (?:curiosity|interest)|just curious|i(?: was"
    r"| am|'m)? (?:just )?wonder(?:ing)?|"
    r"any idea|(?:we|i) (?:need|want) to know|i(?:'m| am) (?:looking for|trying to find)"
    r"|i(?: would|'d) like(?= (?:the|all|every) )|i (?:need|want)(?= (?:the|all|every) ))[,:!]? +",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"(?:what(?:'s|’s| is| are| was| were| will be| would be)|calculate|compute|determine|find out|find|give me|give|"
    r"show me|show|look up|work out|(?:a |the )?list of|all of|evaluate|get|report|state|print|return|name|list"
    r"|identify) +",
    re.IGNORECASE,
)


QUOTED = r"\"[^\"]*\"|`[^`]*`|(?<!\w)'[^']*'(?!\w)"
"""What a question quotes. A single quote beside a letter is an apostrophe."""


def squeeze(text: str) -> str:
    """`text` on one line with single spaces, typographic quotes made plain; what is quoted keeps its spaces."""
    text = text.translate({0x201C: '"', 0x201D: '"', 0x2018: "'", 0x2019: "'", 0xA0: " "})
    return re.sub(rf"({QUOTED})|\s+", lambda match: match[1] or " ", text).strip()


def core(question: str) -> str:
    """What is asked for, without polite words, "what is", a leading article or closing punctuation."""
    text = re.sub(r"(?:[?.:; ]|(?<![0-9)])!)+$", "", question.strip())
    text = re.sub(r"[,;]? (?:please|thanks|thank you)$", "", text, flags=re.IGNORECASE)
    while match := _POLITE.match(text):
        text = text[match.end() :]
    if match := _ASKING.match(text):
        text = text[match.end() :]
    return re.sub(r"^the +", "", text, flags=re.IGNORECASE).strip()


def number(text: str) -> int | float | None:
    """The number that `text` is, in digits or as a word up to twenty; None when it is none."""
    text = text.strip().lower()
    if text in _WORDS:
        return _WORDS.index(text)
    if len(text) > 300 or not re.fullmatch(NUMBER, text, re.IGNORECASE):
        return None
    plain = text.replace(",", "").replace("−", "-")
    if re.fullmatch(r"[-+]?[0-9]+", plain):
        return int(plain)
    value = float(plain)
    return value if abs(value) < float("inf") else None


def whole(text: str) -> int | None:
    """Like `number`, for whole numbers only."""
    value = number(text)
    return value if isinstance(value, int) else None


def numbers(text: str) -> list[int | float] | None:
    """The numbers of a list such as "3, 5 and 7" or "[1; 2.5; 4]"; None when anything else stands in it."""
    text = text.strip().strip("[](){}").strip()
    if re.fullmatch(r"[0-9.,+-]+", text) and "," in text:
        parts = text.split(",")  # no space anywhere: each comma divides
    else:
        parts = re.split(r",? and |[,;] +|;| ", text)
    found = [number(part.strip().strip(",")) for part in parts if part.strip()]
    return [value for value in found if value is not None] if found and None not in found else None


def date(text: str) -> str | None:
    """`text` as an ISO date; None when it is no date or when day and month cannot be told apart."""
    from habilis.values.moments import moments  # most questions have no date

    text = re.sub(r"\bthe |(?<=[a-z])\.", "", text.strip(), flags=re.IGNORECASE)
    found = [moment for moment in moments(text) if (moment.start, moment.end) == (0, len(text))]
    days = {day.real() for moment in found for day in moment.days}
    day = days.pop() if len(days) == 1 else None
    return day.isoformat() if day and re.search("[0-9]{4}", text) else None


_COUNTS = (
    (r"^(?:the )?(?:total )?number of |^count (?:of |up )?(?:the |all )*", "how many "),
    (r"^(?:the )?(?:total )?(word|line|row|character) count(?: for)?$", r"how many \1s"),
    (r"^how many (?:of )?the ", "how many "),
)


def counted(text: str) -> str:
    """The many ways to ask for a count as one: "how many …"."""
    for pattern, said in _COUNTS:
        text = re.sub(pattern, said, text, flags=re.IGNORECASE)
    return text


_HUMPS, _WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])"), re.compile(r"[^\W_]+")


@lru_cache(4096)  # one question asks for those of each column hundreds of times
def _words(text: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(_HUMPS.sub(" ", text)))


@lru_cache(4096)
def _stems(text: str) -> tuple[str, ...]:
    return tuple(_stem(word) for word in _words(text))


def words(text: str) -> list[str]:
    """Lower-case words of a name or phrase, underscores and capitals inside a word dividing too."""
    return [*_words(text)]


def same_name(a: str, b: str) -> bool:
    """Whether two names mean the same column or field: case, underscores and a plural s do not matter."""
    return stems(a) == stems(b) != []


def stems(text: str) -> list[str]:
    """The words of a name without a plural s."""
    return [*_stems(text)]


_PLURALS = {"loaves": "loaf", "shelves": "shelf", "knives": "knife", "children": "child", "species": "species"}


def _stem(word: str) -> str:
    if word in ("movies", "cookies", "calories", "brownies", "pies", "ties", "smoothies"):
        return word[:-1]
    if word in _PLURALS:
        return _PLURALS[word]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


_ROOTS = {
    "paid": "pay", "bought": "purchase", "buy": "purchase", "buys": "purchase", "sold": "sell", "took": "take",
    "taken": "take", "made": "make", "spent": "spend", "left": "leave", "began": "begin", "begun": "begin",
    "expiry": "expire", "sang": "sing", "sung": "sing", "taught": "teach", "drove": "drive", "driven": "drive",
    "flew": "fly", "ran": "run", "won": "win", "gave": "give", "given": "give", "swam": "swim", "rode": "ride",
    "ridden": "ride", "built": "build", "grew": "grow", "grown": "grow", "delivery": "deliver", "brought": "bring",
    "sown": "sow", "eaten": "eat", "ate": "eat", "lent": "lend", "sent": "send", "kept": "keep", "held": "hold",
    "wrote": "write",
    "written": "write", "drawn": "draw", "absence": "absent", "absences": "absent", "lain": "lie", "laid": "lay",
    "saw": "see", "seen": "see", "came": "come", "went": "go", "chose": "choose",
    "chosen": "choose", "drunk": "drink", "drank": "drink", "caught": "catch", 
    "met": "meet", "arrival": "arrive", "departure": "depart",
    "worn": "wear", "broken": "break", "hidden": "hide", "stolen": "steal", "bred": "breed", "hatched": "hatch",
}  # fmt: skip
_DERIVED = ("ions", "ion", "ments", "ment", "ances", "ance", "ings", "ing", "ees", "ee", "ed", "ly", "s")


def root(word: str) -> str:
    """What forms of one word have in common: paid, payment, pays; issued, issues; monthly, month."""
    found = word.lower().removesuffix("'s")
    found = _ROOTS.get(found, found)
    ending = next((end for end in _DERIVED if found.endswith(end) and len(found) - len(end) >= 3), "")
    found = found if found.endswith("ss") else found.removesuffix(ending)
    if len(found) > 4 and found[-1] == found[-2] and found[-1] not in "sle":
        found = found[:-1]  # planned
    return found.removesuffix("e") if len(found) > 3 else found
