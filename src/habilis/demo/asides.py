"""What a question says besides what it asks: for what, or why, before it comes to the point.

Only what narrows nothing is left out: no number, no name, none of the words that say of which rows something is asked.
"""

from __future__ import annotations

import re

from habilis.questions.language import stems

_ASKING = (
    r"(?:what|which|who|whose|how|when|where|on (?:how|which|what)|in (?:how|which|what)|by how|at (?:which|what)"
    r"|for which|is|are|was|were|does|do|did|has|have|can you|could you|please|list|give|tell|show|name|count"
    r"|find|add|sum)\b"
)
_DOING = (
    r"(?:ordering|placing|booking|sending|buying|ringing|calling|packing|printing|arranging|organising|chasing|quoting"
    r"|applying|deciding|budgeting|shopping|stocking up|doing|checking|writing|preparing|planning|updating"
    r"|putting together|working on|filling in|making|trying to"
    r"|going (?:over|through)|getting ready|tidying|sorting out|curious|wondering|not sure|looking into|thinking"
    r" (?:about|of))"
)
_WHY = (
    rf"(?:(?:I|we)(?:'m| am|'re| are) (?:just |currently |now )?{_DOING}\b"
    r"|for (?:the|my|our|a|an) [a-z]+(?: [a-z]+)?(?=[,:]| (?:I|we) need\b)|just (?:out of interest|curious|wondering)"
    r"|(?:I|we) (?:need|have|want|would like|'d like|'ve got) to (?:write|ring|call|plan|prepare|order|tell|report"
    r"|check|decide|email|thank|update|finish|settle|do)\b"
    r"|(?:my|our) [a-z]+(?: [a-z]+)? (?:says?|said|thinks?|asked|asks|wants?|would like|needs?|claims?|keeps? asking"
    r"|told me|wonders?)\b|(?:I|we) (?:coach|missed|forgot|wonder)\b"
    r"|(?:it|that|this)(?:'s| is) for (?:the|my|our|a)\b)"
)
_NARROWS = re.compile(
    r"\d|\b(?:only|just the|not counting|without|except|excluding|other than|ignor\w+|interested|care about|mean|means"
    r"|meaning|refers?|count as|counts as|called|named|assum\w+|suppos\w+|consider\w*|treat\w*|focus\w*|each|every"
    r"|if|where|whose|which|who|than|before|after|since|until|between|over|under|above|below|never|always"
    r"|first|last|next|previous|this|these|those|january|february|march|april|may|june|july|august|september|october"
    r"|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|summer|winter|spring)\b|[\"'`@()]",
    re.IGNORECASE,
)
"""Words that may say of which rows something is asked, or what a word is to mean."""
_NAMED = re.compile(r"(?<=[\w,] )(?!I\b)[A-Z]")
_COMES_BACK = re.compile(
    r"\b(?:it|they|them|he|she|him|his|hers?|their|those|these|ones?|such)\b"
    r"|^how many (?:are|were|is|do|did|have|has)\b",
    re.IGNORECASE,
)
"""Words that mean what was said before."""
_SMALL = set("a an the of for in on at to by and or with from my our we i it is are was be out up too much".split())  # noqa: SIM905
_NO_WISH = (
    "know|see|find|get|count|have|include|exclude|compare|leave|skip|use|add|sum|learn|hear|understand|list|limit"
)
_NEEDED = (
    r"(?:(?:the|my|our) )?[a-z]+(?: [a-z]+)? (?:needs?|wants?|is asking for|asked for|keeps asking for)"
    r"(?: it| them| this| to know| the (?:figure|number|answer|list)s?)\b"
)
_FOR_SOMEBODY = re.compile(
    r"^((?:(?:I|we)(?:'d like| would like| need| want)|(?:could|can) (?:you|I)) .+?) for (?:my|our|the|a) (?:annual )?"
    r"(?:accountant|accounts|report|newsletter|records|boss|manager|committee|insurer|audit|editor|noticeboard|agm)\b",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:,? (?:and )?(?:it's|its|it is|this is|that's) for (?:my|our|the|a)\b|,? so (?:that )?(?:I|we) (?:can|could"
    r"|know)\b"
    rf"|, (?=(?:{_NEEDED})|(?:I|we)(?:'m|'re| am| are) (?:{_DOING})\b))(?P<why>[^.?!:;]*)[.?!]*$",
    re.IGNORECASE,
)
"""A clause behind a question that says what its answer is for."""
_WISH = re.compile(
    rf"(?:{_WHY}|{_NEEDED}|(?:(?:I|we)(?:'m|'re| am| are) )?(?:trying|planning|hoping|about|going) to [a-z]+"
    rf"|(?:I |we )?need to (?!(?:{_NO_WISH})\b)[a-z]+"
    r"|(?:I|we)(?:'d like| would like| want| need| have|'ve got| have got| hope| plan|'m going| am going) to "
    rf"(?!(?:{_NO_WISH})\b)[a-z]+\b)[^.?!:;]*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(rf"(?P<why>{_WHY}[^.?!:;]*?)"
                       r"(?P<end>[.!:;] | [-–—] |, (?:so |and )?| (?:and )?(?=I (?:need|want|wonder)\b))"
                       r"(?:so,? |and )?(?=(?P<rest>.+))", re.IGNORECASE)  # fmt: skip
_NEED = re.compile(r"(?:and )?(?:I|we) (?:need|want|wonder|'d like|would like)(?: to know)?,? "
                   r"(?=(?:the|how|what|which|who|when|where)\b)", re.IGNORECASE)  # fmt: skip


def is_wish(sentence: str, shown: str) -> bool:
    """Whether a sentence behind a question says only what its answer is for: nothing that narrows it, and nothing of
    what is `shown` of its file."""
    match = _WISH.fullmatch(sentence)
    if match is None:
        return False
    said = re.sub(r"^(?:I|we)(?:'m|'re|'d|'ve)?\b", "", sentence, flags=re.IGNORECASE)
    return not (narrows(said) or {*stems(said)} & {*stems(shown)} - _SMALL)


def without_purpose(question: str, shown: str) -> str:
    """`question` without a clause at its end that says only what its answer is for."""
    question = _FOR_SOMEBODY.sub(r"\1", question)
    match = _TAIL.search(question)
    if match is None or match.start() < len("how many") or narrows(match["why"]):
        return question
    told = {*stems(match["why"])} & {*stems(shown)} - _SMALL
    return question if told else f"{question[: match.start()].rstrip(' ,')}?"


def narrows(text: str) -> bool:
    """Whether a text may say of which rows something is asked: by a number, a name, one of the words that do."""
    return bool(_NARROWS.search(text) or _NAMED.search(text))


def to_the_point(question: str, shown: str = "") -> str:
    """`question` without a sentence or clause before it that says only why it is asked: nothing that the question comes
    back to, and nothing of what is `shown` of its file."""
    own = {*stems(shown)}
    for _ in range(2):
        match = _SENTENCE.match(question)
        if match is None:
            break
        rest = _NEED.sub("", match["rest"], count=1) if _NEED.match(match["rest"]) else match["rest"]
        wants = rest is not match["rest"] or re.match(_ASKING, rest, re.IGNORECASE)
        why = re.sub(r"^(?:I|we)(?:'m|'re|'d|'ve)?\b", "", match["why"].replace("'s", ""), flags=re.IGNORECASE)
        why = re.sub(r"n't\b", " not", why)
        said = re.split(r"[.?!] ", rest)[0]
        again = {*stems(why)} & own - {*stems(said)} - _SMALL or _COMES_BACK.search(said)
        if not wants or again or narrows(why):
            break
        question = rest[:1].upper() + rest[1:]
    return question
