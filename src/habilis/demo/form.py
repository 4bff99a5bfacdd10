"""The form of an answer: what the question asks for (decimals, scale, only the value) and values written so."""

from __future__ import annotations

import datetime
import re
import unicodedata
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from habilis.questions.language import date, number
from habilis.questions.nouns import UNIT

_COUNT = r"([0-9]{1,2}|no|one|two|three|four|five|six)"
_ROUNDING = (
    r"(?:,? ?(?:and )?(?:rounded|round(?: it| the (?:result|answer))?|correct|accurate|given|to be rounded)(?: off)?)?"
)
_ENDINGS: tuple[tuple[str, str], ...] = (
    (
        r"(?:[.?!;,] ?|(?<= )\()?(?:and )?(?:in )?(?:any order(?: is| will| would)?(?: be)?(?: fine| okay| ok| do)?"
        r"|no particular order|(?:the |their )?order (?:does not|doesn't|is not|isn't) (?:matter|important))\)?",
        "only",
    ),
    (
        r"(?:[.?!;,] ?|(?<= )\()(?:and |please )*(?:(?:list|give|name|show)(?: me)? )?(?:each|every)"
        r"(?: (?:name|one|title|of them|person|word))?(?: should| must)?(?: only| just)?"
        r"(?: appear| be| listed| named| given)*(?: only| just)? once(?: only)?\)?",
        "only",
    ),
    (
        r"(?:[.?!,;:] ?|(?<= )\()(?:please )?(?:(?:in )?(?:the |date )?(?:format|form):? |(?:dates? )?(?:as|in|like) )?"
        r"(yyyy-mm(?:-dd)?|hh:mm:ss)(?: format| form)?\)?",
        "dated",
    ),
    (
        r"[.?!,;:]? ?\(?(?:please )?(?:write|give|answer|state|show)(?: it| me| the (?:month|date|day|time))? "
        r"(?:as|in|like)(?: the)?(?: form| format)? (hh:mm:ss)(?: form| format)?\)?",
        "dated",
    ),
    (
        r"(?:[.?!;,] ?|(?<= )\()(?:and |please )*(?:(?:I'd like|I want|I need|write|give|show|state)(?: me)?"
        r"(?: it| the (?:date|day))? )?(?:to be )?(?:written |formatted )?(?:like|as in|in the form) "
        r"([0-9]{1,2} [A-Z][a-z]{2,8} [0-9]{4}|(?:1[3-9]|2[0-9]|3[01])/[0-9]{2}/[0-9]{4})\)?",
        "dated",
    ),
    (
        r"[.?!;] ?(?:please )?(?:write|give|take|copy) (?:it|them) (?:exactly |just )?as (?:in|on) "
        r"(?:the file|the table|the list|the log|(?P<as>[\w./-]+\.[a-z]{2,5}))",
        "only",
    ),
    (
        r"(?:[.?!,;:] ?|\()(?:(?:please )?(?:give|answer|round|write|state)(?: it| the (?:result|answer))?(?: rounded)?"
        rf"(?: to| with| using)? )?{_COUNT} (?:decimals?|decimal places?)"
        r"(?: (?:is|are|would be|will be) (?:enough|fine|plenty|ok|okay|good)| will do)?\)?",
        "n",
    ),
    (
        rf"{_ROUNDING},? (?:to|with|using) {_COUNT} (?:decimals?|decimal places?|digits? after the (?:decimal )?point)",
        "n",
    ),
    (rf"{_ROUNDING},? to the nearest (?:whole number|integer|unit|whole)", "0"),
    (rf"{_ROUNDING},? to (?:a|the) whole number", "0"),
    (r"[.?!;,] ?(?:please )?(?:as )?(?:an? )?whole number(?:,? please)?", "0"),
    (r",? as (?:a whole number|an integer)", "0"),
    (r"[.?!,;:]? ?\(?(?:please )?(?:(?:give|write|answer)(?: it| me)? )?in euros,? (?:with|and) cents\)?", "2"),
    (rf"{_ROUNDING},? to the nearest tenth", "1"),
    (rf"{_ROUNDING},? to the (?:nearest )?(?:hundredth|cent|penny|pence)", "2"),
    (r",? (?:and )?rounded(?: off)? to cents", "2"),
    (r",? in (thousands|millions|billions)", "scale"),
    (r"[.?!;] ?(?:the )?dates are (?:(?:written|given) )?(?:as |in )?(?:day/month/year|year-month-day)", "only"),
    (r"[.?!,;:]? ?\(?(?:please )?(?:answer |just |only |simply |with )*(?:a )?yes or no(?:,? please)?\)?", "only"),
    (
        r"[.?!,;:]? ?\(?(?:please )?(?:(?:give|write|answer|state|show)(?: it| me| the (?:month|date|day))? )?"
        r"(?:as|in)(?: the)?(?: form| format)? (yyyy-mm(?:-dd)?)(?: form| format)?\)?",
        "dated",
    ),
    (
        r"[.?!;,] ?(?:please )?(?:(?:list|give|name|sort|order|show)(?: (?:me|us|them|it|the names?))* )?"
        r"(?:each(?: name| one)?(?: only| just)? once,? ?)?(?:and )?(?:sorted |ordered |listed )?(?:in )?"
        r"alphabetical(?:ly)?(?: order)?(?: by (?:first )?names?)?(?:,? (?:and )?each(?: name| one)?(?: only|"
        r" just)? once)?",
        "letters",
    ),
    (
        r"[.?!;,]? ?(?:please )?(?:(?:list|give|name|show)(?: (?:me|us|them))* )?(?:keep(?:ing)? (?:the |its |their )?"
        r"(?:(?:same|original|file) )?order|in (?:the |their |its )?(?:(?:same|original|file) order"
        r"|order(?= (?:of|as|in|they) )))(?: (?:of|in|as in|as it is in|they (?:have|stand|appear) in)"
        r"(?: the| they appear in the)? (?:file|list|table|notes?|(?P<file>[\w./-]+\.[a-z]{2,5})))?",
        "only",
    ),
    (
        r"(?:[.?!;,]| [-–—]|(?= \()) ?\(?(?:please )?(?:(?:give|write|state|show|take|copy|quote|put|answer|use)"
        r"(?: (?:it|them|this|that|me|us))* ?)?(?:(?:the |its |with the )?(?:dates?|times?|days?|names?|numbers?"
        r"|amounts?|answer|value|spelling|(?:day )?and month) )*(?:exactly |just )?"
        r"(?:as (?:(?:it|they) (?:is|are|stands?|appears?|has|have)(?: (?:written|given|listed|shown|noted))?"
        r"|written|given|shown|listed|noted|spell?ed|spelt|in)|in the same form(?:at)?"
        r"|the way (?:it|they) (?:is|are|stands?)(?: written)?)(?: there| here)?"
        r"(?: (?:in|from|on) (?:(?:the|my|our|this) (?:file|table|list|log|notes?)|(?P<as>[\w./-]+\.[a-z]{2,5})))?"
        r"(?:,? please)?\)?",
        "only",
    ),
    (
        r",? ?\(?(?:not counting|without|excluding|ignoring|leaving out) the (?:header|heading|column names)"
        r"(?: line| row)?\)?",
        "only",
    ),
    (
        r"[.?!,;:]? ?(?:please )?(?:give|answer|reply|respond|return|write|output)?(?: me)?(?: with)? ?(?:only|just) "
        r"(?:with )?(?:the )?(?:final )?(?:number|value|answer|result|figure|date|word|name)(?: only)?",
        "only",
    ),
    (
        r"[.?!,;:]? ?\(?(?:please )?(?:give|answer|reply|respond|say)?(?: me)?(?: with)? ?(?:only |just |simply )?"
        r"(?:a )?[\"']?yes[\"']? or [\"']?no[\"']?\)?",
        "only",
    ),
)
_WANTED = re.compile(
    r"(?:[.?!;] ?|[?!]? ?\(|,? ?[-–—] (?=just|only))"
    r"(?:(?:please|just|only|simply|(?:i|we)(?: only| just)?(?: need| want| mean)"
    r"|(?:give|list|tell|name|show|write|return|take|say|answer with)(?: me| us)?),? )+(?:the |their |its )?"
    r"(?P<wanted>(?!(?:it|them|that|only|just|please|average|mean|median|total|sum|highest|lowest|most|number|top)\b)"
    r"[a-z][\w-]*(?: [\w-]+)?)(?: (?:from|in) (?P<in>[\w./-]+\.[a-z]{2,5}))?"
    r"(?: only|,? please|,? nothing else| (?:is|are) enough)*\)?[.!]*$"
    r"|,? (?:the |their )?(?P<only>[a-z][\w-]*) only[.!?]*$"
    r"|[.?!;] ?(?:the |its |their )?(?P<enough>[a-z][\w-]*(?: names?| numbers?)?) (?:is|are|will|would) "
    r"(?:be )?(?:enough|fine|do|sufficient|okay|plenty)[.!]*$"
    r"|[.?!;] (?:the |their )?(?P<bare>(?:[a-z][\w-]* )?(?:names?|titles?|numbers?|ids?|codes?|dates?))"
    r"(?: (?:from|in) (?P<of>[\w./-]+\.[a-z]{2,5}))?(?:,? please)?[.!?]*$",
    re.IGNORECASE,
)
"""A sentence behind a question that says what of the found rows is to be named."""
_ASKS = re.compile(r"\b(?:which|what|who|whose|when|where|list|top|name|show|give|(?:need|want) the)\b", re.IGNORECASE)
_HIGH = (
    r"most|highest|most expensive|largest|biggest|longest|best(?:[ -]sellers?)?|greatest|dearest|heaviest|oldest"
    r"|tallest|most popular|winner|top"
)
_LOW = r"least|lowest|cheapest|smallest|shortest|fewest|lightest|youngest"
_RANKED = re.compile(
    r"(?:[,;.?] ?|(?<= )\()(?:(?:(?:list|name|give)(?: (?:me|us|them))*|(?:starting )?with) )?(?:the )?"
    rf"(?:(?P<high>{_HIGH})|(?P<low>{_LOW}))(?: (?:one|first))+\)?[.?!]*$",
    re.IGNORECASE,
)
"""An order behind a question for the top few, who are named so anyway."""
_IN_UNIT = re.compile(rf"[?.!] (?:please )?in (?P<unit>{UNIT})(?:,? please)?[.!]*$", re.IGNORECASE)
"""The unit of an answer as a sentence of its own."""
_SAMPLES = {"d month yyyy": r"[0-9]{1,2} [A-Z][a-z]+ [0-9]{4}", "dd/mm/yyyy": r"[0-9]{2}/[0-9]{2}/[0-9]{4}"}
_LIKE = {"d month yyyy": "%d %B %Y", "dd/mm/yyyy": "%d/%m/%Y"}
"""Forms of dates that a question shows by an example."""
_ROWS = re.compile(r" \((?:the )?(?:rows|entries|lines)\)", re.IGNORECASE)
"""Words in brackets that say again what a table is made of."""
_REMARKS = re.compile(r" ?\(([^();]+;[^()]+)\)[.?!]*$")
"""What may be several remarks in brackets behind a question."""
_SCALES = {"thousands": 1_000, "millions": 1_000_000, "billions": 1_000_000_000}


@dataclass(frozen=True)
class Form:
    """How the value is to be written. `decimals` None: as many as make sense. `scale` divides the value."""

    decimals: int | None = None
    scale: int = 1
    letters: bool = False
    """Whether a list is to be in alphabetical order."""
    dated: str = ""
    """How a date is to be written: yyyy-mm or yyyy-mm-dd."""
    wanted: str = ""
    """What of the found rows is to be named, in the words of a sentence of its own."""


@cache
def _at_an_end() -> list[tuple[re.Pattern[str], str]]:
    """More patterns than `re` keeps beside all others: each would be compiled anew for every question."""
    return [(re.compile(rf"(?:{said})(?:,? please)?[.?!]*$", re.IGNORECASE), kind) for said, kind in _ENDINGS]


def peel(question: str) -> tuple[str, Form]:
    """`question` without what it says about the form of its answer, and that form."""
    form, peeled = Form(), True
    text = _REMARKS.sub(_one_by_one, _ROWS.sub("", question))
    while peeled:
        peeled = False
        for pattern, kind in _at_an_end():
            match = pattern.search(text)
            if match and match.start() > 0:
                form = _with(form, kind, match)
                named = match.groupdict().get("file") or match.groupdict().get("as")
                text = text[: match.start()].rstrip(" ,.;:") + (f" in {named}" if named else "")
                peeled = True
        if rest := _without_tail(text, form):
            text, form = rest
            peeled = True
    return text, form


def _one_by_one(remarks: re.Match[str]) -> str:
    """Remarks in brackets as sentences of their own; as they are, where one of them is none about the form."""
    said = [f". {part.strip()}" for part in remarks[1].split(";")]
    about_form = (any(re.fullmatch(pattern, one, re.IGNORECASE) for pattern, _ in _ENDINGS) for one in said)
    return "".join(said) if all(about_form) else remarks[0]


def _without_tail(text: str, form: Form) -> tuple[str, Form] | None:
    """A question without a sentence that says what to name, or the order that it has anyway."""
    if (match := _WANTED.search(text)) and not form.wanted and _ASKS.search(text[: match.start()]):
        file = match["in"] or match["of"]
        told = f" in {file}" if file else ""
        wanted = match["wanted"] or match["only"] or match["enough"] or match["bare"]
        return f"{text[: match.start()].rstrip(' ,.;:')}{told}", replace(form, wanted=wanted)
    if match := _IN_UNIT.search(text):
        return f"{text[: match.start()]}, in {match['unit']}", form
    if match := _RANKED.search(text):
        before = text[: match.start()]
        if re.search(rf"\b(?:{_HIGH + '|top' if match['high'] else _LOW})\b", before, re.IGNORECASE):
            return before.rstrip(" ,.;:"), form
    return None


def _with(form: Form, kind: str, match: re.Match[str]) -> Form:
    if kind == "letters":
        return replace(form, letters=True)
    if kind == "dated":
        like = next((one for one, sample in _SAMPLES.items() if re.fullmatch(sample, match[1])), match[1].lower())
        return replace(form, dated=like)
    if kind == "n":
        count = 0 if match[1].lower() == "no" else number(match[1])
        return replace(form, decimals=int(count or 0))
    if kind == "scale":
        return replace(form, scale=_SCALES[match[1].lower()])
    return form if kind == "only" else replace(form, decimals=int(kind))


def written(value: Any, form: Form = Form()) -> str:
    """`value` as an answer: never 12.340000000001, yes or no for truth, a list with commas."""
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, int | float):
        return _number(value, form)
    if isinstance(value, list | tuple):
        value = sorted(value, key=_letters) if form.letters and all(isinstance(one, str) for one in value) else value
        return ", ".join(written(item, form) for item in value) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {written(item, form)}" for key, item in value.items()) or "none"
    return "none" if value is None else _dated(str(value), form.dated)


def _dated(text: str, form: str) -> str:
    """`text` in a form of dates, where it is a date of which day and month can be told."""
    day = date(text) if form in ("yyyy-mm-dd", *_LIKE) else None
    return (
        text
        if day is None
        else f"{datetime.date.fromisoformat(day):{_LIKE.get(form, '%Y-%m-%d')}}".removeprefix(
            "0" if form == "d month yyyy" else ""
        )
    )


def _letters(text: str) -> str:
    """What a text is sorted by: its letters without accents."""
    return "".join(one for one in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(one))


def _number(value: int | float, form: Form) -> str:
    if form.scale != 1:
        value = value / form.scale
    if form.decimals is not None:
        return f"{round(value, form.decimals):.{form.decimals}f}"
    if isinstance(value, int):
        return str(value)
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    if value == int(value) and abs(value) < 1e16:
        return str(int(value))
    text = f"{value:.6f}" if abs(value) >= 1 else f"{value:.6g}"
    return text if "e" in text else text.rstrip("0").rstrip(".")
