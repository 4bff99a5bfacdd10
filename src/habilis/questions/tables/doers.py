"""Who does what a verb says: which column of a table names them."""

from __future__ import annotations

import re

from habilis.questions.header import TableHeader
from habilis.questions.language import root, stems, words
from habilis.questions.tables.lexicon import first_column_for

_DONE_BY = (
    ("send", "sender", "receive get", "recipient receiver addressee"),
    ("observe spot sight record", "observer spotter", "identify", "identifier"),
    ("fly travel", "passenger traveller", "pilot", "pilot"),
    ("donate", "donor giver", "benefit", "recipient beneficiary"),
    ("lend", "lender owner", "borrow return", "borrower member reader"),
    ("sell", "seller rep salesperson agent", "buy order purchase", "buyer customer client"),
    ("teach instruct", "teacher instructor tutor lecturer", "attend learn", "student pupil participant attendee"),
    ("write publish post", "author writer", "edit review", "editor reviewer"),
    ("sing perform record", "artist singer band performer", "compose", "composer"),
    ("treat examine", "vet doctor dentist therapist", "visit", "patient"),
    ("carry deliver transport", "carrier courier", "ship", "carrier courier sender"),
    ("direct", "director", "star act", "actor star"),
    ("fix repair mend", "technician contractor mechanic", "report", "reporter"),
    ("bring own adopt keep", "owner adopter keeper customer client", "foster", "foster"),
    ("win score", "winner scorer", "lose", "loser"),
    ("coach train", "coach trainer instructor", "play", "player"),
    ("cook bake", "cook chef baker", "eat taste", "guest taster"),
    ("let", "landlord", "rent", "tenant customer"),
    ("answer process", "agent handler clerk advisor operator", "call phone", "caller"),
)
"""Verbs and the columns of those who do it, and of those on the other side, who do something else."""


_SHOWN_BY = {
    "buy purchase order": "order sale purchase expense invoice cost bought budget shop ticket inventory equipment "
    "asset supplier buyer",
    "sell": "sale sold seller rep revenue order customer harvest",
    "earn": "salary wage income revenue commission sale earn earned pay",
    "receive": "received recipient donation payment rent income revenue",
    "eat": "eaten food meal recipe", "drink": "drunk drink", "lose": "lost", "win": "won score result place rank",
    "bake": "baked baking loaf bread cake recipe", "cook": "cooked recipe meal dish",
    "grow harvest": "harvest crop plant yield", "sow plant": "sowing sown planted crop seed",
    "watch": "movie film watched series", "read": "book reading page", "write publish post": "author writer title",
    "return": "returned", "hire": "hired", "build": "built", "invite": "invited",
}  # fmt: skip
"""Verbs of which a table must show something: it may be about what was rented, and nothing was bought."""


def is_shown(header: TableHeader, verb: str) -> bool:
    """Whether a table may tell of what a verb says."""
    needed = next((words for verbs, words in _SHOWN_BY.items() if root(verb) in map(root, verbs.split())), "")
    shown = {header.rows_are, header.file_is, *(word for name in header.names for word in stems(name))}
    return not needed or bool({*needed.split()} & shown) or root(verb) in {root(word) for word in shown if word}


def doer_of(header: TableHeader, verb: str) -> int | None:
    """The one column of those who do it: "Sender" or "Sent By" of "send", "author" of "write"."""
    done = root(verb)
    named = [i for i, name in enumerate(header.names) if _bears(name, done) and header.kind(i) in ("text", "")]
    if named:
        return named[0] if len(named) == 1 else None
    sides = [(one, names) for pair in _DONE_BY for one, names in (pair[:2], pair[2:])]
    column = next((first_column_for(header, names) for one, names in sides if done in map(root, one.split())), None)
    return column if column is not None and header.kind(column) in ("text", "") else None


def done_by_others(header: TableHeader, verb: str) -> bool:
    """Whether the table names only those on the other side: who was sent something has not sent it."""
    done = root(verb)
    for one, names, other, others in _DONE_BY:
        for verbs, theirs in ((one, others), (other, names)):
            if done in map(root, verbs.split()) and header.with_word(*theirs.split()) is not None:
                return doer_of(header, verb) is None
    return False


def is_role(verb: str) -> bool:
    """Whether not everybody whom a table may name does what a verb says."""
    return any(root(verb) in map(root, verbs.split()) for row in _DONE_BY for verbs in (row[0], row[2]))


def _bears(name: str, done: str) -> bool:
    last = stems(name)[-1] if stems(name) else ""
    by = len(words(name)) > 1 and words(name)[-1] == "by" and root(words(name)[0]) == done
    return by or root(re.sub("(?:er|or)$", "", last)) == done != root(last) or f"{done}er" == last
