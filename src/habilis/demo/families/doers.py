"""Who does what a verb says: which column of a table names them."""

from __future__ import annotations

import re

from habilis.demo.families.lexicon import first_column_for
from habilis.demo.questions.header import TableHeader
from habilis.demo.questions.language import root, stems, words

_DONE_BY = (
    ("send", "sender", "receive get", "recipient receiver addressee"),
    ("lend", "lender owner", "borrow return", "borrower member reader"),
    ("sell", "seller rep salesperson agent", "buy order purchase", "buyer customer client"),
    ("teach instruct", "teacher instructor tutor lecturer", "attend learn", "student pupil participant attendee"),
    ("write publish post", "author writer", "edit review", "editor reviewer"),
    ("sing perform record", "artist singer band performer", "compose", "composer"),
    ("treat examine", "vet doctor dentist therapist", "visit", "patient"),
    ("carry deliver transport", "carrier courier", "ship", "carrier courier sender"),
    ("direct", "director", "star act", "actor star"),
    ("fix repair mend", "technician contractor mechanic", "report", "reporter"),
    ("let", "landlord", "rent", "tenant"),
)
"""Verbs and the columns of those who do it, and of those on the other side, who do something else."""


def doer_of(header: TableHeader, verb: str) -> int | None:
    """The one column of those who do it: "Sender" or "Sent By" of "send", "author" of "write"."""
    done = root(verb)
    named = [i for i, name in enumerate(header.names) if _bears(name, done) and header.kind(i) in ("text", "")]
    if named:
        return named[0] if len(named) == 1 else None
    sides = [(one, names) for pair in _DONE_BY for one, names in (pair[:2], pair[2:])]
    return next((first_column_for(header, names) for one, names in sides if done in map(root, one.split())), None)


def done_by_others(header: TableHeader, verb: str) -> bool:
    """Whether the table names only those on the other side: who was sent something has not sent it."""
    done = root(verb)
    for one, names, other, others in _DONE_BY:
        for verbs, theirs in ((one, others), (other, names)):
            if done in map(root, verbs.split()) and header.with_word(*theirs.split()) is not None:
                return doer_of(header, verb) is None
    return False


def _bears(name: str, done: str) -> bool:
    last = stems(name)[-1] if stems(name) else ""
    by = len(words(name)) > 1 and words(name)[-1] == "by" and root(words(name)[0]) == done
    return by or root(re.sub("(?:er|or)$", "", last)) == done != root(last) or f"{done}er" == last
