"""The sentences around a question that only say where its data are, or in which form its answer is wanted.

A sentence is taken away only where each of its words is known to say nothing of the rows: what may narrow them stays,
and then the question is not understood.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from habilis.demo.asides import is_wish, narrows, without_purpose
from habilis.questions.language import number, stems, words
from habilis.questions.nouns import UNIT
from habilis.questions.prompts import SeenFile

_ABBREVIATED = "".join(rf"(?<!\b{one})" for one in ("Dr.", "Mr.", "Mrs.", "Ms.", "St.", "No.", "e.g.", "i.e.", "vs."))
_BETWEEN = re.compile(rf"(?<=[.?!;]){_ABBREVIATED}(?: +and)? +(?=\S)|(?<=[?.!]) +(?=\()|(?<=\w) (?=\([^()]*\)[.?!]*$)")
_ASKS = re.compile(
    r"(?:(?:and|so|but|also|then|now|ok|okay|please|hi|hello|hey)\b,? )*"
    r"(?:(?:on|in|at|by|for|to|from|with|of) )?(?:what|which|who|whose|whom|when|where|why|how|is|are|was|were|do"
    r"|does|did|has|have|had|can|could|would|will|list|give|tell|show|name|count|find|add|sum|calculate|work"
    r" out)(?:['’]s)?\b",
    re.IGNORECASE,
)
_LIGHT = set(
    """a about actually again all also am an and any anyway answer are as asking at attached based be been being both by
    called can check collected come comes complete consult contained contains could csv data dataset detail details do
    document each entered everything export exported figures file files find following for found from full gathered
    get getting give given gives go going have having here holds i i'd i'll i'm i've in info information into is it
    it's its keep keeping kept let's list listed lists located look looking lot may me must my name named need needed
    noted notes now of on our overview pasted please post put putting read record recorded records refer reference
    relevant rely saved says see should show shows simply sits so source spreadsheet stands store stored tab table tell
    tells text that that's the their them there these they they're this those to track turn uploaded use using via was
    we we're we've well were what whole will with within work working would written you you'll your""".split()  # noqa: SIM905
) - {"each", "what", "not"}
"""Words that say nothing of the rows, in a sentence that names the file."""
_OURS = re.compile(r"^(?:all )?(?:my|our|the)(?: [a-z]+)? (?P<noun>[a-z]+) (?:is|are|was|were|comes?|stands?)\b", re.I)
"""A word for what is in a file: "the marks are in", "our trip log is"."""
_DESCRIBES = re.compile(
    r"(?:so |now |ok(?:ay)?,? |hi,? |hello,? )?(?:here(?:['’]s| is| are)|this is|these are|attached is"
    r"|(?:i|we)(?:['’]ve| have|['’]m| am|['’]re| are)?(?: just| also)? (?:got|have|keep|kept|keeping|put|made|wrote"
    r"|write|using|use|attached|uploaded|collected|recorded|record|log|logged|track|tracked|note|noted|looking|saved"
    r"|exported|entered|typed)\b|have|i have|we have|@ (?:is|are|has|holds?|lists?|contains?|shows?|records?|covers?)"
    r"\b)",
    re.IGNORECASE,
)
_FORM_WORDS = set(
    """a accurate an and answer as at be brackets can cent cents correct could decimal decimals digit digits do
    enough euros exact exactly figure figures final fine form format full give given good i in integer is it just like
    me nearest need no of ok okay only or output penny pence percent percentage percentages place places please plenty
    point put rest round rounded rounding show simply state sufficient suffices tell tenth hundredth that the there
    to total two-decimal unit units value want whole will with without would write written yes number numbers result
    like plain places either nicely report reported one two three four five six zero 0 1 2 3 4 5 6 %
    i'd after""".split()  # noqa: SIM905
)
"""Words of a sentence about the form of an answer."""
_DECIMALS = re.compile(
    r"\b(?P<n>[0-6]|no|zero|one|two|three|four|five|six)[ -]"
    r"(?:decimals?|decimal[ -](?:places?|digits?|figures?)|places?|digits? after)\b",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    r"\b(?:whole|integer|(?:full|nearest) (?:number|percent)|nearest (?:unit|one))\b|\bwithout decimals\b", re.I
)
_CENTS = re.compile(r"\b(?:nearest )?(?:cents?|penny|pence|hundredth)\b", re.I)
_LIKE_DAY = re.compile(
    r"(?:(?:please|just|only|and|write|written|give|show|put|state|answer|format|formatted|me|it|them|the|a|an|as|in|like"
    r"|dates?|days?|form|format|style|using|e\.g\.|for example|such as|iso|that|is|i['’]d|want|need)[ ,:]*)*"
    r"(?:\d{4}-\d\d-\d\d|yyyy-mm-dd)(?: (?:form|format|style|please))*",
    re.IGNORECASE,
)
_UNIT_ALONE = re.compile(
    rf"(?:please )?(?:and )?(?:give|write|state|answer|show)?(?: it)? ?in (?P<unit>{UNIT})(?:,? please)?", re.IGNORECASE
)


_ONCE_MORE = re.compile(
    r"(?:please )?(?:list|name|show|give)(?: me)? (?:them|all of them|their names|the names)(?: all)?"
    r"(?:,? please)?[.!]*",
    re.I,
)
"""A sentence that asks once more for what was asked for."""
_SKIPPED = re.compile(
    r"(?:you can |please |just |and |but )*(?:leave out|leaving out|leave|skip|skipping|ignore|ignoring|not counting"
    r"|don't count|forget(?: about)?|excluding|without) (?P<what>.+)",
    re.IGNORECASE,
)
_BLANK = re.compile(r"\b(?:blanks?|empty|missing|gaps?|no|nothing|without|unrecorded|not|never)\b|n't\b", re.IGNORECASE)
_BLANK_WORDS = set(
    """a all an and any anybody anyone are blank blanks cell cells column count counts day days didn't didnt down empty
    entered entry entries figure figures for forgot gap gaps have haven't has hasn't had i i've in is isn't it left
    line lines logged mark marks measured missing my no not note noted nothing number numbers of one ones or out put
    reading readings record recorded records row rows she he that the them there there's they those was wasn't we
    weren't were where which with without write written wrote value values""".split()  # noqa: SIM905
)
"""Words of a remark that rows without a value do not count."""
_OF_VALUES = re.compile(
    r"\b(?:average|mean|median|total|sum|highest|lowest|longest|shortest|largest|smallest|biggest|maximum|minimum|most"
    r"|least|range|difference|add up|how much)\b",
    re.IGNORECASE,
)


_OF_THOSE = re.compile(
    r"^(?:(?:a couple|a few|some|two|three|four|several|one|many) of|a couple of|a few|some|two|three|several) "
    r"(?:(?:the|my|our|those|these) )*(?P<rows>[\w ]+?) (?P<verb>have|has|had) (?P<said>[^.?!]+?)[.!]+ "
    r"(?P<asks>which|what|whose) (?P<what>[\w ]+?) (?:are|is|were|was) (?:those|they|these|it)\b(?P<tail>[^?]*)\??",
    re.IGNORECASE,
)
"""A statement about rows, and a question that comes back to them."""


def _of_those(question: str) -> str:
    """ "Some jobs have no price. Which customers are those?" as "Which customers have no price?"."""
    match = _OF_THOSE.match(question)
    if match is None:
        return question
    asks = f"{match['asks'].capitalize()} {match['what']} {match['verb']} {match['said']}{match['tail']}?"
    return asks + question[match.end() :]


def framed(question: str, files: Sequence[SeenFile]) -> str:
    """`question` without the sentences that only name its file or the form of its answer, with both behind it as
    other questions have them. As it is where nothing that asks is left."""
    shown = " ".join(one.begins for one in files)
    parts = [without_purpose(_unasked(part), shown) for one in _sentences(question) for part in _apart(one, files)]
    question = " ".join(parts)
    kept: list[str] = []
    file, form = "", ""
    for part in parts:
        named = [one for one in files if _names(one, part)]
        if not _asks(part, bool(kept)) and len(named) == 1 and _says_where(part, named[0]):
            file = named[0].named
        elif (kept and _ONCE_MORE.fullmatch(part)) or _skips_blanks(part, " ".join(kept) or question):
            continue
        elif kept and (said := _form(_without(part, named))) is not None:
            form, file = form + said, file or next((one.named for one in named), "")
        elif any(_ends(one) for one in kept) and is_wish(part.strip(" .!"), shown):
            continue
        else:
            kept.append(part)
    if len(kept) == len(parts) or not any(map(_ends, kept)):
        return question
    if file and not any(_names(one, part) for one in files for part in kept):
        last = max(i for i, one in enumerate(kept) if _ends(one))
        *heads, tail = kept[last].split(", ")
        if heads and (said := _form(tail)) is not None:
            kept[last], form = ", ".join(heads), said + form
        kept[last] = re.sub(r"[.?!;: ]*$", f" in {file}?", kept[last], count=1)
    text = " ".join(kept)
    return re.sub(r"[.?!;: ]*$", f"{form}?", text, count=1) if form else text


def _sentences(question: str) -> list[str]:
    """The sentences of a question, and what stands in brackets behind it."""
    found: list[str] = []
    for part in filter(None, _BETWEEN.split(_of_those(question))):
        if found and found[-1].count("(") > found[-1].count(")"):
            found[-1] = f"{found[-1]} {part}"
        else:
            found.append(part)
    return found


def _apart(part: str, files: Sequence[SeenFile]) -> list[str]:
    """A sentence without the clause that says where to look: "…, it's in x.csv", "use x.csv, …"."""
    for file in files:
        named = re.escape(file.named)
        behind = re.fullmatch(rf"(?P<one>.+), (?P<other>(?:it|they|that|all|everything|see|check)\b['’\w]*(?:"
                              rf" (?:all|is|are|of it))* "
                              rf"(?:in |from )?{named}[.?!]*)", part, re.I)  # fmt: skip
        before = re.fullmatch(
            rf"(?P<one>(?:please )?(?:use|see|check|look at|look in) {named}), (?P<other>.+)", part, re.I
        )
        if before and not is_wish(before["other"].strip(" .!"), file.begins):
            before = None
        if found := behind or before:
            return [found["one"] if not part.endswith("?") else found["one"] + "?", found["other"]]
    head, _, tail = part.rpartition(", ")
    return [head.rstrip(" ,") + "?", tail] if head and _skips_blanks(tail, head) else [part]


def _skips_blanks(part: str, asked: str) -> bool:
    """Whether a sentence only says that rows without the value that is asked for do not count: they never do."""
    match = _SKIPPED.fullmatch(part.strip(" ().!;?"))
    if match is None or not _OF_VALUES.search(asked) or re.search(r"\bhow many\b", asked, re.IGNORECASE):
        return False
    if not _BLANK.search(match["what"]):
        return False
    others = {word for word in words(match["what"].replace("'", "")) if word not in _BLANK_WORDS}
    return {one for word in others for one in stems(word)} <= {*stems(asked)}


def _without(part: str, named: Sequence[SeenFile]) -> str:
    """A sentence without the file that it names."""
    return (
        re.sub(rf",? ?(?:(?:from|in|using|of|per|see|for) )?{re.escape(named[0].named)}", "", part, flags=re.I)
        if named
        else part
    )


def _unasked(part: str) -> str:
    """A sentence without "please" at its end."""
    return re.sub(r",? (?:if you (?:can|could)|please)(?=[.?!]*$)", "", part, flags=re.I) if " " in part else part


def _names(file: SeenFile, part: str) -> bool:
    return re.search(rf"(?<![\w/.]){re.escape(file.named)}(?![\w/])", part) is not None


def _ends(part: str) -> bool:
    return part.endswith("?") or _ASKS.match(part) is not None


def _asks(part: str, behind: bool) -> bool:
    """Whether a sentence asks for something; behind a question "have a look in" and "give …" do not."""
    again = behind and re.match(r"(?:please )?(?:have|find|can|list|count)\b", part, re.I)
    return _ends(part) and not (again and not part.endswith("?"))


def _says_where(part: str, file: SeenFile) -> bool:
    """Whether a sentence says no more than that the data are in a file, or what that file is about."""
    plain = part.replace(file.named, "@").strip(" ().!;?\"'`")
    own = {*stems(PurePosixPath(file.named).stem)}
    others = [word for word in re.findall(r"[^\W_][\w'’-]*", plain.replace("’", "'")) if word.lower() not in _LIGHT]
    unknown = [word for word in others if not {*stems(word)} <= own]
    if ours := _OURS.match(plain):
        unknown = [word for word in unknown if word != ours["noun"] or _is_shown(word, file)]
    if not unknown:
        return True
    described = _DESCRIBES.match(plain) is not None and not narrows(plain.replace("@", ""))
    return described and not any(_is_shown(word, file) for word in unknown)


def _is_shown(word: str, file: SeenFile) -> bool:
    """Whether a word stands in what is shown of a file, in the names of its columns or below."""
    return bool({*stems(word)} & {*stems(file.begins)})


def _form(part: str) -> str | None:
    """What a sentence says about the form of an answer, as the end of a question; None where it says anything else."""
    plain = part.strip(" ().!;?,:").replace("’", "'")
    if _LIKE_DAY.fullmatch(plain):
        return ", as yyyy-mm-dd"
    if unit := _UNIT_ALONE.fullmatch(plain):
        return f", in {unit['unit']}"
    *heads, tail = plain.split(", ")
    if heads and (unit := _UNIT_ALONE.fullmatch(tail)):
        before = _form(", ".join(heads))
        return None if before is None else f", in {unit['unit']}{before}"
    if not words(plain) or not {*plain.lower().replace(",", "").replace("-", " ").split()} <= _FORM_WORDS:
        return None
    if found := _DECIMALS.search(plain):
        return f", to {0 if found['n'].lower() == 'no' else number(found['n'])} decimals"
    if _WHOLE.search(plain):
        return ", to a whole number"
    if _CENTS.search(plain):
        return ", to 2 decimals"
    return "" if re.search(r"\byes or no\b|\bpercent(?:age)?s?\b|\b(?:just|only) the number\b|%", plain, re.I) else None
